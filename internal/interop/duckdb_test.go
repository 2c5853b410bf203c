//go:build interop

package interop

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
)

// duckDB returns the interpreter that has a version of DuckDB.
func duckDB(t *testing.T, engine string) string {
	t.Helper()
	if engine == duckdbOld {
		return python(t, engine, "duckdb-old", duckdbOldPackage)
	}
	return python(t, engine, "duckdb", duckdbPackage)
}

// TestDuckDBReadsOurFiles: the Parquet files of a table, shredded and plain, give
// the same documents in both majors of DuckDB.
func TestDuckDBReadsOurFiles(t *testing.T) {
	for _, engine := range []string{duckdb, duckdbOld} {
		t.Run(engine, func(t *testing.T) {
			py := duckDB(t, engine)
			works(t, engine, "reads the Parquet files of our tables, shredded and plain, document by document")
			for file, texts := range documents(t, engine) {
				if strings.HasPrefix(file, "json-test-suite") { // texts in base64, nothing to shred
					continue
				}
				t.Run(file, func(t *testing.T) { duckDBReads(t, py, texts, false) })
				t.Run(file+"/plain", func(t *testing.T) { duckDBReads(t, py, texts, true) })
			}
		})
	}
}

func duckDBReads(t *testing.T, py string, texts [][]byte, unshredded bool) {
	_, cat := warehouse(t)
	tbl, err := cat.Create(t.Context(), "docs.d", iceberg.TableSpec{Columns: columns(t, "doc:variant"), Unshredded: unshredded})
	require.NoError(t, err)
	var rows, want []string
	for _, text := range texts {
		rows = append(rows, string(text))
		want = append(want, `{"doc":`+strings.TrimSpace(string(text))+`}`)
	}
	commit, err := tbl.AppendJSON(context.Background(), lines(rows...), iceberg.AppendOptions{})
	require.NoError(t, err)
	args := []string{"testdata/duckdb_json.py", "doc"}
	for _, f := range commit.Files {
		args = append(args, strings.TrimPrefix(f.FilePath(), "file://"))
	}
	requireSameRows(t, want, outputLines(output(t, py, args...)))
}

// TestWeReadDuckDBFiles: real documents that both majors of DuckDB shred as they
// decide are the same documents to us, whole, and their top-level fields by path.
// DuckDB 1.5 writes empty strings for some below lists, which all readers see; its
// files are compared with what DuckDB 2.0 reads from them.
func TestWeReadDuckDBFiles(t *testing.T) {
	for _, engine := range []string{duckdb, duckdbOld} {
		t.Run(engine, func(t *testing.T) {
			py := duckDB(t, engine)
			works(t, engine, "writes Parquet files, shredded as it decides, that we read document by document")
			reader := ""
			if engine == duckdbOld {
				reader = duckDB(t, duckdb)
			}
			for file, texts := range documents(t, engine) {
				if strings.HasSuffix(file, ".ndjson") {
					t.Run(file, func(t *testing.T) { weReadDuckDB(t, py, reader, texts) })
				}
			}
		})
	}
}

// weReadDuckDB compares with the texts, or, where there is one, with what the
// reader, another DuckDB, reads.
func weReadDuckDB(t *testing.T, py, reader string, texts [][]byte) {
	dir := t.TempDir()
	lines, out := filepath.Join(dir, "lines"), filepath.Join(dir, "out.parquet")
	require.NoError(t, os.WriteFile(lines, bytes.Join(texts, []byte("\n")), 0o600))
	output(t, py, "testdata/duckdb_variant.py", lines, out)
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	f, err := pq.Open(bytes.NewReader(data), int64(len(data)), pq.ReaderOptions{})
	require.NoError(t, err)
	shredded := slices.ContainsFunc(f.Leaves(), func(l leaf.Info) bool { return slices.Contains(l.Path, "typed_value") })
	require.True(t, shredded)
	var want, got []string
	for _, text := range texts {
		want = append(want, `{"doc":`+string(text)+`}`)
	}
	if reader != "" {
		want = outputLines(output(t, reader, "testdata/duckdb_json.py", "doc", out))
	}
	whole, err := wholeValues(f)
	require.NoError(t, err)
	for _, v := range whole {
		got = append(got, `{"doc":`+v.String()+`}`)
	}
	requireSameRows(t, want, got)
	for key := range whole[0].Fields() {
		for i, v := range fieldValues(t, f, key) {
			require.Equal(t, whole[i].Field(key).String(), v.String(), "row %d: %s", i, key)
		}
	}
}

// TestDuckDBIcebergReadsOurTables: DuckDB's iceberg extension, which comes from a
// host of its own, reads a table with a Variant and deleted rows.
func TestDuckDBIcebergReadsOurTables(t *testing.T) {
	py := duckDB(t, duckdbIce)
	if _, err := tryOutput(t, py, "testdata/duckdb_iceberg.py"); err != nil {
		skip(t, duckdbIce, "the extension cannot be installed: %s", tail(err.Error(), 200))
	}
	works(t, duckdbIce, "reads our tables: rows, Variants, deleted rows")
	_, cat := warehouse(t)
	tbl, err := cat.Create(t.Context(), "demo.d", iceberg.TableSpec{Columns: columns(t, "id:bigint,doc:variant")})
	require.NoError(t, err)
	appendRows(t, tbl, `{"id":1,"doc":{"a":[1,2.5,"x"]}}`, `{"id":2,"doc":null}`, `{"id":3,"doc":"text"}`)
	_, err = tbl.Delete(t.Context(), where(t, "id = 3"), iceberg.WriteOptions{})
	require.NoError(t, err)
	requireSameSet(t, plainRows(t, tbl), outputLines(output(t, py, "testdata/duckdb_iceberg.py", tbl.Unwrap().MetadataLocation())))
}
