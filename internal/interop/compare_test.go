//go:build interop

package interop

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
)

const catalogName = "frazil" // the catalog_name that iceberg.OpenCatalog writes into SQLite

// scanRows reads a table as JSON texts, one a row, with its row lineage.
func scanRows(t *testing.T, tbl *iceberg.Table) []string {
	t.Helper()
	require.NoError(t, tbl.Refresh(context.Background()))
	return readRows(t, tbl, iceberg.ScanOptions{Lineage: true})
}

func readRows(t *testing.T, tbl *iceberg.Table, o iceberg.ScanOptions) []string {
	t.Helper()
	ctx := context.Background()
	scan, err := tbl.Scan(ctx, o)
	require.NoError(t, err)
	r := iceberg.NewRenderer(scan.Schema())
	var rows []string
	for batch, err := range scan.Batches(ctx) {
		require.NoError(t, err)
		require.NoError(t, r.Bind(batch))
		for i := range int(batch.NumRows()) {
			row, err := r.AppendRow(nil, i)
			require.NoError(t, err)
			rows = append(rows, string(row))
		}
		batch.Release()
	}
	return rows
}

// requireSameRows compares rows of two engines as JSON: numbers by value, objects
// without regard to the order of their keys, rows in the order of their ids.
func requireSameRows(t *testing.T, want, got []string) {
	t.Helper()
	a, b := parseRows(t, want), parseRows(t, got)
	require.Len(t, b, len(a), "number of rows")
	for i := range a {
		require.Empty(t, difference(a[i], b[i], "$"), "row %d\nwant %s\ngot  %s", i, want[i], got[i])
	}
}

// requireSameSet compares rows of two engines in no order.
func requireSameSet(t *testing.T, want, got []string) {
	t.Helper()
	require.Len(t, got, len(want), "number of rows")
	got = slices.Clone(got)
	for _, w := range want {
		i := slices.IndexFunc(got, func(g string) bool { return differenceOfTexts(w, g) == "" })
		require.GreaterOrEqual(t, i, 0, "no row is %s in\n%v", w, got)
		got = slices.Delete(got, i, i+1)
	}
}

// sortedBy orders rows, given as JSON texts, by a whole number in them.
func sortedBy(t *testing.T, rows []string, column string) []string {
	t.Helper()
	keys := map[string]int64{}
	for _, row := range rows {
		var x map[string]any
		require.NoError(t, decodeJSON(row, &x))
		n, _ := x[column].(json.Number)
		keys[row], _ = strconv.ParseInt(string(n), 10, 64)
	}
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(keys[a], keys[b]) })
	return out
}

// decodeJSON keeps numbers as they are written.
func decodeJSON(text string, to any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(to)
}

// differenceOfTexts is difference for JSON texts.
func differenceOfTexts(a, b string) string {
	var values [2]any
	for i, text := range []string{a, b} {
		if err := decodeJSON(text, &values[i]); err != nil {
			return fmt.Sprintf("%s: %v", text, err)
		}
	}
	return difference(values[0], values[1], "$")
}

func parseRows(t *testing.T, rows []string) []map[string]any {
	t.Helper()
	out := make([]map[string]any, len(rows))
	for i, row := range rows {
		require.NoError(t, decodeJSON(row, &out[i]), row)
	}
	slices.SortStableFunc(out, func(a, b map[string]any) int { return cmp.Compare(rowID(a), rowID(b)) })
	return out
}

func rowID(row map[string]any) int64 {
	n, _ := row["_row_id"].(json.Number)
	id, _ := strconv.ParseInt(string(n), 10, 64)
	return id
}

// difference describes the first place where two JSON values differ, or "".
func difference(a, b any, path string) string {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return fmt.Sprintf("%s: %v and %v", path, a, b)
		}
		for k, v := range x {
			if d := difference(v, y[k], path+"."+k); d != "" {
				return d
			}
		}
		return ""
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return fmt.Sprintf("%s: %v and %v", path, a, b)
		}
		for i := range x {
			if d := difference(x[i], y[i], fmt.Sprintf("%s[%d]", path, i)); d != "" {
				return d
			}
		}
		return ""
	case json.Number:
		if y, ok := b.(json.Number); ok && sameNumber(string(x), string(y)) {
			return ""
		}
	default:
		if a == b {
			return ""
		}
	}
	return fmt.Sprintf("%s: %v and %v", path, a, b)
}

// sameNumber compares exactly, or, where one is in exponent form and thus a
// double, as doubles.
func sameNumber(a, b string) bool {
	x, okx := new(big.Rat).SetString(a)
	y, oky := new(big.Rat).SetString(b)
	if okx && oky && x.Cmp(y) == 0 {
		return true
	}
	if !strings.ContainsAny(a+b, "eE.") {
		return false
	}
	f, errf := strconv.ParseFloat(a, 64)
	g, errg := strconv.ParseFloat(b, 64)
	return errf == nil && errg == nil && f == g
}

// warehouse opens a new warehouse whose catalog Spark can open as well.
func warehouse(t *testing.T) (string, *iceberg.Catalog) {
	t.Helper()
	dir := t.TempDir()
	cat, err := iceberg.OpenWarehouse(context.Background(), dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cat.Close()) })
	return dir, cat
}
