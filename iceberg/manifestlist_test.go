package iceberg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/stretchr/testify/require"
	"github.com/twmb/avro/ocf"
)

// listBytes are those of the current manifest list.
func listBytes(t *testing.T, tbl *Table) []byte {
	t.Helper()
	fs, err := tbl.FS(bg)
	require.NoError(t, err)
	f, err := fs.Open(tbl.Unwrap().CurrentSnapshot().ManifestList)
	require.NoError(t, err)
	defer f.Close()
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	return data
}

// boundsText shows the summaries of one field, oldest manifest first: bounds and
// whether there are nulls.
func boundsText(t *testing.T, tbl *Table, field int) []string {
	t.Helper()
	data := listBytes(t, tbl)
	manifests, err := ice.ReadManifestList(bytes.NewReader(data))
	require.NoError(t, err)
	show := func(b *[]byte) string {
		if b == nil {
			return "none"
		}
		return fmt.Sprintf("%q", *b)
	}
	var out []string
	for _, m := range manifests {
		s := m.Partitions()[field]
		out = append([]string{fmt.Sprintf("%s %s %t", show(s.LowerBound), show(s.UpperBound), s.ContainsNull)}, out...)
	}
	require.Equal(t, out, plainBounds(t, data, field))
	return out
}

// plainBounds is boundsText by the Avro library alone.
func plainBounds(t *testing.T, data []byte, field int) []string {
	t.Helper()
	r, err := ocf.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	show := func(b any) string {
		if b == nil {
			return "none"
		}
		return fmt.Sprintf("%q", b)
	}
	var out []string
	for {
		var m map[string]any
		err := r.Decode(&m)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		s := m["partitions"].([]any)[field].(map[string]any)
		out = append([]string{fmt.Sprintf("%s %s %t", show(s["lower_bound"]), show(s["upper_bound"]), s["contains_null"])}, out...)
	}
}

// iceberg-go writes a bound that is an empty text as none, which Spark takes for
// "no values": it missed the rows of such manifests.
func TestEmptyTextsCountForBounds(t *testing.T) {
	commits := []struct {
		rows []string
		want string
	}{
		{[]string{`{"id":1,"s":""}`, `{"id":2,"s":"x"}`}, `"" "x" false`},
		{[]string{`{"id":3,"s":""}`}, `"" "" false`},
		{[]string{`{"id":4,"s":""}`, `{"id":5}`}, `"" "" true`},
		{[]string{`{"id":6}`}, `none none true`},
		{[]string{`{"id":7,"s":"k"}`, `{"id":8}`}, `"k" "k" true`},
		{[]string{`{"id":9,"s":""}`, `{"id":10,"s":"y"}`, `{}`}, `"" "y" true`},
	}
	for _, partition := range []string{"s", "truncate(2,s)"} {
		tbl := newTable(t, newCatalog(t), "id bigint, s string, n int", partition+",n")
		var want, ints []string
		for i, c := range commits { // later lists keep what earlier ones said
			appendRows(t, tbl, c.rows...)
			want, ints = append(want, c.want), append(ints, "none none true")
			require.Equal(t, want, boundsText(t, tbl, 0), "%s, commit %d", partition, i)
			require.Equal(t, ints, boundsText(t, tbl, 1))
		}
		appendRows(t, tbl, `{"s":"z","n":0}`, `{"s":"z","n":7}`)
		require.Equal(t, append(want, `"z" "z" false`), boundsText(t, tbl, 0))
		require.Equal(t, append(ints, `"\x00\x00\x00\x00" "\a\x00\x00\x00" false`), boundsText(t, tbl, 1))
		require.NoError(t, tbl.Verify(bg))
	}
}

func TestEmptyBytesCountForBounds(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "b binary", "b")
	appendRows(t, tbl, `{"b":""}`, `{"b":null}`)
	appendRows(t, tbl, `{"b":""}`, `{"b":"YQ=="}`)
	require.Equal(t, []string{`"" "" true`, `"" "a" false`}, boundsText(t, tbl, 0))
}

// The manifest that a merge of manifests writes is looked at like any other.
func TestEmptyTextsCountInMergedManifests(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id bigint, s string", "s")
	appendRows(t, tbl, `{"id":1,"s":""}`)
	appendRows(t, tbl, `{"id":2}`)
	require.NoError(t, tbl.MergeManifests(bg))
	require.Equal(t, []string{`"" "" true`}, boundsText(t, tbl, 0))
}

// Only tables with partitions by texts or bytes need the care.
func TestTextPartitions(t *testing.T) {
	for partition, want := range map[string]bool{
		"": false, "n": false, "bucket(4,s)": false, "truncate(4,n)": false, "n,truncate(1,s)": true, "b": true, "truncate(1,b)": true,
	} {
		tbl := newTable(t, newCatalog(t), "n int, s string, b binary", partition)
		require.Equal(t, want, hasTextPartitions(tbl.Metadata()), partition)
	}
	tbl := newTable(t, newCatalog(t), "st struct<s string>", "st.s")
	require.True(t, hasTextPartitions(tbl.Metadata()))
}

// readsIO counts files that are opened.
type readsIO struct {
	iceio.IO
	n int
}

func (r *readsIO) Open(name string) (iceio.File, error) { r.n++; return r.IO.Open(name) }

// unbounded is the list of a table as iceberg-go writes it: without bounds that
// are empty.
func unbounded(t *testing.T, list []byte) []byte {
	t.Helper()
	r, err := ocf.NewReader(bytes.NewReader(list))
	require.NoError(t, err)
	var manifests []map[string]any
	for {
		var m map[string]any
		if err := r.Decode(&m); errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for _, s := range m["partitions"].([]any) {
			for _, b := range []string{"lower_bound", "upper_bound"} {
				if v, ok := s.(map[string]any)[b].([]byte); ok && len(v) == 0 {
					s.(map[string]any)[b] = nil
				}
			}
		}
		manifests = append(manifests, m)
	}
	out, err := encodeList(r, manifests)
	require.NoError(t, err)
	return out
}

// A list keeps its header and all but the bounds, and one that says nothing wrong
// its bytes, without a look into manifests.
func TestCloseBoundsKeepsTheRest(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id bigint, s string", "s,bucket(4,id)")
	appendRows(t, tbl, `{"id":1,"s":"a"}`, `{"s":null}`)
	appendRows(t, tbl, `{"id":1,"s":""}`, `{"id":2,"s":"x"}`)
	files, err := tbl.FS(bg)
	require.NoError(t, err)
	fs := &readsIO{IO: files}
	good := listBytes(t, tbl)
	same, err := closeBounds(fs, "list", good)
	require.NoError(t, err)
	require.Same(t, &good[0], &same[0])
	require.Zero(t, fs.n)

	bad := unbounded(t, good)
	require.Equal(t, `none "x" false`, plainBounds(t, bad, 0)[1])
	again, err := closeBounds(fs, "list", bad)
	require.NoError(t, err)
	require.Equal(t, 1, fs.n)
	require.Equal(t, decodedList(t, good), decodedList(t, again))
}

// decodedList is the header and the entries of a list.
func decodedList(t *testing.T, list []byte) []any {
	t.Helper()
	r, err := ocf.NewReader(bytes.NewReader(list))
	require.NoError(t, err)
	require.Contains(t, string(r.Metadata()["avro.schema"]), `"field-id":510`)
	require.Equal(t, "deflate", string(r.Metadata()["avro.codec"]))
	out := []any{r.Metadata()}
	for {
		var m any
		if err := r.Decode(&m); errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		out = append(out, m)
	}
}

// Bytes that are no manifest list, or no manifest, are errors.
func TestCloseBoundsOfForeignBytes(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "s string", "s")
	appendRows(t, tbl, `{"s":""}`)
	fs, err := tbl.FS(bg)
	require.NoError(t, err)
	list := unbounded(t, listBytes(t, tbl))
	header := bytes.Index(list, list[len(list)-16:]) + 16 // up to the first sync marker
	for n := range list {
		_, err := closeBounds(fs, "list", list[:n])
		if n == header {
			require.NoError(t, err, "a list without entries")
		} else {
			require.ErrorIs(t, err, ErrCorrupt, "%d of %d bytes", n, len(list))
		}
	}
	for i := 0; i < len(list); i += 13 {
		damaged := bytes.Clone(list)
		damaged[i] ^= 0xff
		_, _ = closeBounds(fs, "list", damaged) // no panic
	}
	manifests, err := ice.ReadManifestList(bytes.NewReader(list))
	require.NoError(t, err)
	wfs := fs.(iceio.WriteFileIO)
	for _, text := range []string{"", "Obj\x01", strings.Repeat("x", 100)} {
		require.NoError(t, wfs.WriteFile(manifests[0].FilePath(), []byte(text)))
		_, err = closeBounds(fs, "list", list)
		require.ErrorIs(t, err, ErrCorrupt)
	}
	require.NoError(t, fs.Remove(manifests[0].FilePath()))
	_, err = closeBounds(fs, "list", list)
	require.True(t, isNotExist(err))
}
