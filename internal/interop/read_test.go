//go:build interop

package interop

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
)

// TestWeReadDuckDBFiles: real documents that both majors of DuckDB shred as they
// decide are the same documents to us, whole, and their top-level fields by path.
// DuckDB 1.5 writes empty strings for some below lists, which all readers see; its
// files are compared with what DuckDB 2.0 reads from them.
func TestWeReadDuckDBFiles(t *testing.T) {
	docs := documents(t)
	for _, version := range []string{duckdbVersion, duckdbOldVersion} {
		py := python(t, "duckdb-"+version, "duckdb=="+version)
		reader := ""
		if version == duckdbOldVersion {
			reader = python(t, "duckdb-"+duckdbVersion, "duckdb=="+duckdbVersion)
		}
		for file, texts := range docs {
			if !strings.HasSuffix(file, ".ndjson") {
				continue
			}
			t.Run(version+"/"+file, func(t *testing.T) { weReadDuckDB(t, py, reader, texts) })
		}
	}
}

// weReadDuckDB compares with the texts, or, where there is one, with what the
// reader, another DuckDB, reads.
func weReadDuckDB(t *testing.T, py, reader string, texts [][]byte) {
	dir := t.TempDir()
	lines, out := filepath.Join(dir, "lines"), filepath.Join(dir, "out.parquet")
	require.NoError(t, os.WriteFile(lines, bytes.Join(texts, []byte("\n")), 0o600))
	cmd := exec.Command(py, "testdata/duckdb_variant.py", lines, out)
	_, err := cmd.Output()
	require.NoError(t, err, stderrOf(err))
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
		read, err := exec.Command(reader, "testdata/duckdb_json.py", "doc", out).Output()
		require.NoError(t, err, stderrOf(err))
		want = strings.Split(strings.TrimSpace(string(read)), "\n")
	}
	whole := wholeValues(t, f)
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

// wholeValues reads the file's only column, a Variant, through the assembler.
func wholeValues(t *testing.T, f *pq.File) (values []variant.Value) {
	t.Helper()
	for g := range f.RowGroups() {
		a, err := shred.NewAssembler(f.Schema().Children[0], shred.Context{}, allNull(f, g))
		require.NoError(t, err)
		err = a.Assemble(readColumns(t, f, g, a.Columns()), int(f.RowGroup(g).Rows), func(_ int, v variant.Value) error {
			values = append(values, v.Clone())
			return nil
		})
		require.NoError(t, err)
	}
	return values
}

// fieldValues reads one field of the documents through a plan; a document without
// it gives a missing value.
func fieldValues(t *testing.T, f *pq.File, name string) (values []variant.Value) {
	t.Helper()
	path, err := variant.ParsePath("$[" + strconv.Quote(name) + "]")
	require.NoError(t, err)
	for g := range f.RowGroups() {
		p, err := shred.Project(f.Schema().Children[0], shred.Context{}, []shred.Request{{Path: path}}, allNull(f, g))
		require.NoError(t, err)
		answer, err := p.NewReader(nil).Read(readColumns(t, f, g, p.Columns()), int(f.RowGroup(g).Rows))
		require.NoError(t, err)
		rows := answer[0].(*array.Struct)
		for i := range rows.Len() {
			if rows.IsNull(i) {
				values = append(values, variant.Value{})
				continue
			}
			// Unchecked, as objects that DuckDB 1.5 left unshredded are not sorted.
			v := variant.Unchecked(rows.Field(0).(*array.Binary).Value(i), rows.Field(1).(*array.Binary).Value(i))
			values = append(values, v.Clone())
		}
		rows.Release()
	}
	return values
}

func allNull(f *pq.File, group int) func(int) bool {
	return func(c int) bool { return f.RowGroup(group).Column(c).AllNull() }
}

func readColumns(t *testing.T, f *pq.File, group int, columns []int) (batches []*leaf.Batch) {
	t.Helper()
	for _, c := range columns {
		r, err := f.Column(group, c)
		require.NoError(t, err)
		b := &leaf.Batch{}
		require.NoError(t, r.Read(b, int(f.RowGroup(group).Rows)))
		batches = append(batches, b)
	}
	return batches
}
