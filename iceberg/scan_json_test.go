package iceberg

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// printedScan prints a scan of memory that is checked for leaks; it stops after
// some steps, if they are not 0.
func printedScan(t testing.TB, ctx context.Context, tbl *Table, opts ScanOptions, form JSONForm, steps int) (string, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	opts.Allocator = mem
	scan, err := tbl.Scan(ctx, opts)
	require.NoError(t, err)
	out := ""
	for lines, err := range scan.JSON(ctx, form) {
		if err != nil {
			return out, err
		}
		out += string(lines)
		if steps--; steps == 0 {
			return out, nil
		}
	}
	return out, nil
}

// TestJSONKeepsOrder prints several files with many workers and small batches.
func TestJSONKeepsOrder(t *testing.T) {
	ctx := context.Background()
	tbl := newTable(t, newCatalog(t), "id:bigint,s:string", "")
	var want, ids strings.Builder
	for f := range 4 {
		var rows []string
		for i := range 500 {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"s":"x"}`, f*500+i))
			want.WriteString(rows[i] + "\n")
			fmt.Fprintln(&ids, f*500+i)
		}
		appendRows(t, tbl, rows...)
	}
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // the catalog's connection stays
	for _, workers := range []int{1, 2, 7} {
		opts := ScanOptions{Workers: workers, BatchRows: 70}
		got, err := printedScan(t, ctx, tbl, opts, JSONRows, 0)
		require.NoError(t, err)
		require.Equal(t, want.String(), got)

		got, err = printedScan(t, ctx, tbl, opts, JSONCells, 0)
		require.NoError(t, err)
		require.Equal(t, ids.String(), got)

		got, err = printedScan(t, ctx, tbl, opts, JSONRows, 3) // broken off
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(want.String(), got))

		opts.Limit = 101
		got, err = printedScan(t, ctx, tbl, opts, JSONRows, 0)
		require.NoError(t, err)
		require.Equal(t, 101, strings.Count(got, "\n"))
		require.True(t, strings.HasPrefix(want.String(), got))
	}
}

func TestJSONStopsWithItsContext(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint", "")
	appendRows(t, tbl, numbered(1000, `{"id":%d}`)...)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // the catalog's connection stays
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	scan, err := tbl.Scan(ctx, ScanOptions{BatchRows: 10, Workers: 2})
	require.NoError(t, err)
	last := error(nil)
	for _, err := range scan.JSON(ctx, JSONRows) {
		cancel(cause)
		last = err
	}
	require.ErrorIs(t, last, cause)
}

// TestJSONEndsAtTheRowThatDoesNotCast keeps the batches before it.
func TestJSONEndsAtTheRowThatDoesNotCast(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,v:variant", "")
	rows := numbered(100, `{"id":%d,"v":1}`)
	rows[77] = `{"id":77,"v":"no number"}`
	appendRows(t, tbl, rows...)
	opts := ScanOptions{BatchRows: 10, Workers: 3, Extractions: []Extraction{extraction(t, "v", "$", "int")}}
	got, err := printedScan(t, context.Background(), tbl, opts, JSONCells, 0)
	var row *RowError
	require.ErrorAs(t, err, &row)
	require.EqualValues(t, 77, row.Row)
	require.Equal(t, 70, strings.Count(got, "\n"))
}
