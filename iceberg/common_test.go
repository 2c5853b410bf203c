package iceberg

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/pq"
)

// newCatalog opens a catalog with a warehouse of its own.
func newCatalog(t testing.TB) *Catalog {
	t.Helper()
	cat, err := OpenWarehouse(context.Background(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cat.Close()) })
	return cat
}

// newTable creates a table whose columns are given as text.
func newTable(t testing.TB, cat *Catalog, columns, partition string) *Table {
	t.Helper()
	cols, err := ParseColumns(columns)
	require.NoError(t, err)
	spec := TableSpec{Columns: cols}
	if partition != "" {
		spec.Partition, err = ParsePartition(partition)
		require.NoError(t, err)
	}
	tbl, err := cat.Create(context.Background(), "ns.t", spec)
	require.NoError(t, err)
	return tbl
}

// rowsOf makes a sequence of JSON rows from lines of text.
func rowsOf(lines ...string) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		for _, l := range lines {
			if !yield([]byte(l), nil) {
				return
			}
		}
	}
}

func appendRows(t testing.TB, tbl *Table, lines ...string) *Commit {
	t.Helper()
	c, err := tbl.AppendJSON(context.Background(), rowsOf(lines...), AppendOptions{})
	require.NoError(t, err)
	return c
}

// readJSON reads a table through this package's scan, a JSON object a row.
func readJSON(t testing.TB, tbl *Table) []string {
	t.Helper()
	scan, err := tbl.Scan(context.Background(), ScanOptions{})
	require.NoError(t, err)
	r := NewRenderer(scan.Schema())
	var out []string
	for batch, err := range scan.Batches(context.Background()) {
		require.NoError(t, err)
		require.NoError(t, r.Bind(batch))
		for i := range int(batch.NumRows()) {
			row, err := r.AppendRow(nil, i)
			require.NoError(t, err)
			out = append(out, string(row))
		}
		batch.Release()
	}
	return out
}

// oracleRows reads a table through iceberg-go and arrow-go, which share no code
// with the writer, and gives the cells as text.
func oracleRows(t testing.TB, tbl *Table, columns ...string) []string {
	t.Helper()
	_, seq, err := tbl.Unwrap().Scan(table.WithSelectedFields(columns...)).ToArrowRecords(context.Background())
	require.NoError(t, err)
	var out []string
	for batch, err := range seq {
		require.NoError(t, err)
		out = append(out, cells(t, batch, columns)...)
		batch.Release()
	}
	return out
}

func cells(t testing.TB, batch arrow.RecordBatch, columns []string) []string {
	t.Helper()
	out := make([]string, batch.NumRows())
	for i := range out {
		var parts []string
		for _, name := range columns {
			at := batch.Schema().FieldIndices(name)
			require.Len(t, at, 1, name)
			parts = append(parts, batch.Column(at[0]).ValueStr(i))
		}
		out[i] = strings.Join(parts, "|")
	}
	return out
}

// dataFiles lists the Parquet files below a table's location.
func dataFiles(t testing.TB, tbl *Table) []string {
	t.Helper()
	return filesBelow(t, plainPath(tbl.Location()), ".parquet")
}

// openDataFile opens the first data file of a table.
func openDataFile(t testing.TB, tbl *Table) *pq.File {
	t.Helper()
	in, err := os.Open(dataFiles(t, tbl)[0])
	require.NoError(t, err)
	t.Cleanup(func() { in.Close() })
	info, err := in.Stat()
	require.NoError(t, err)
	f, err := pq.Open(in, info.Size(), pq.ReaderOptions{})
	require.NoError(t, err)
	return f
}

func filesBelow(t testing.TB, dir, suffix string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, suffix) {
			out = append(out, path)
		}
		return err
	})
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return out
}

// fieldByName finds a field of the current schema.
func fieldByName(t testing.TB, tbl *Table, name string) ice.NestedField {
	t.Helper()
	f, ok := tbl.Schema().FindFieldByName(name)
	require.True(t, ok, name)
	return f
}

// metadataJSON decodes the metadata file as any reader would.
func metadataJSON(t testing.TB, tbl *Table) map[string]any {
	t.Helper()
	text, err := os.ReadFile(plainPath(tbl.Unwrap().MetadataLocation()))
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// sharedDir is the folder with tables of other engines.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("FRAZIL_SHARED")
	if dir == "" {
		t.Skip("FRAZIL_SHARED is not set")
	}
	return dir
}

func numbered(n int, format string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return out
}

func filesText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(plainPath(path))
	require.NoError(t, err)
	return string(text)
}
