package iceberg

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scan of a data file that had been cut, by a full disk or a broken copy, ended
// the process: the file was to be closed through a reader that was not made.
func TestCutDataFilesAreErrors(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id bigint, v variant", "")
	appendRows(t, tbl, numbered(50, `{"id":%d,"v":{"a":1}}`)...)
	path := dataFiles(t, tbl)[0]
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, keep := range []int{0, 1, 4, 7, 8, len(whole) / 2, len(whole) - 9, len(whole) - 8, len(whole) - 1} {
		require.NoError(t, os.WriteFile(path, whole[:keep], 0o600))
		for _, workers := range []int{1, 4} {
			_, err := tryScanJSON(tbl, ScanOptions{Workers: workers})
			require.ErrorIs(t, err, ErrCorrupt, "%d bytes", keep)
			require.Equal(t, 1, strings.Count(err.Error(), path), err.Error())
		}
		err = tbl.Verify(bg)
		require.ErrorIs(t, err, ErrCorrupt)
		require.Equal(t, 1, strings.Count(err.Error(), path), err.Error())
	}
	require.NoError(t, os.Remove(path))
	_, err = tryScanJSON(tbl, ScanOptions{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, 1, strings.Count(err.Error(), path), err.Error())
}

// The message of a full disk named the file twice.
func TestPathsAreNamedOnce(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/w/f.parquet", Err: syscall.ENOSPC}
	require.EqualError(t, pathError("/w/f.parquet", full), "iceberg: write /w/f.parquet: no space left on device")
	require.EqualError(t, pathError("/w/f.parquet", errors.New("no space")), "iceberg: /w/f.parquet: no space")
	require.EqualError(t, pathError("/w/f.parquet", corruptf("/w/f.parquet is short")), "iceberg: corrupt table: /w/f.parquet is short")
}

// Messages said where in the text twice, with two counts of lines, and repeated a
// long predicate whole.
func TestMessagesSayWhereOnce(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id bigint, v variant", "")
	_, err := tbl.AppendJSON(bg, rowsOf(`{"id":1}`, `{"id":2,"v":{"legs":[1,{"n":1e999}]}}`), AppendOptions{})
	require.EqualError(t, err, `line 2, column "v", at $.legs[1].n: number out of range near "{\"legs\":[1,{\"n\":1e999}]}"`)

	long := strings.Repeat("id = 1 OR ", 50)
	_, err = tbl.Scan(bg, ScanOptions{Where: where(t, long+"nope = 2")})
	require.EqualError(t, err, `predicate "nope = 2" at 500: no column nope`)
	_, err = ParseWhere(long + "id = = 3")
	require.ErrorContains(t, err, `id = = 3" at 505: "="`)
	require.Less(t, len(err.Error()), 200)

	for text, problem := range map[string]string{
		"id = id * 2":   "nothing is computed",
		`v = {"a":1}`:   "JSON is written in quotes",
		"v = [1]":       "JSON is written in quotes",
		"v = 1 OR TRUE": "nothing is computed",
	} {
		_, err = ParseSet(text)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, "assignment ")
		require.ErrorContains(t, err, problem)
	}
	_, err = tbl.Update(bg, []Assignment{set(t, "id = 'x'")}, Expr{}, WriteOptions{})
	require.ErrorContains(t, err, `assignment "id = 'x'" at 0: 'x' does not fit column id of type long`)
}

// A key that is a Variant, or no column, is refused before the source is read.
func TestMergeKeysAreChecked(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id bigint, v variant, s struct<x:int>", "")
	for _, key := range []string{"v", "s", "nope"} {
		_, err := tbl.MergeJSON(bg, rowsOf(), MergeOptions{On: []string{"id", key}})
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, `merge: "`+key+`" is no column with single values`)
	}
}
