package iceberg

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bloomed makes the table of the predicate tests with bloom filters for all columns
// and the leaves of its Variant.
func bloomed(t testing.TB) *Table {
	tbl := newTable(t, newCatalog(t), whereColumns, "")
	props := map[string]string{}
	for _, c := range []string{"id", "n", "f", "g", "s", "d", "ts", "dec", "b", "bin", "st.x", "st.y"} {
		props[propBloomColumn+c] = "true"
	}
	for _, f := range []string{"a", "s", "f", "mixed"} {
		props[propBloomColumn+"v.typed_value."+f+".typed_value"] = "true"
	}
	require.NoError(t, tbl.SetProperties(bg, props))
	return tbl
}

// scatteredRow makes a row whose values do not rise with id, so that bounds rule out
// nothing; k tells the values.
func scatteredRow(id, k int) string {
	mixed := []string{"5", `"z"`, "2.5", "null"}[k%4]
	return fmt.Sprintf(`{"id":%d,"n":%d,"f":%d.5,"g":%d.25,"s":"k%d","d":"2026-07-%02d","ts":"2026-07-%02dT%02d:00:00Z","dec":"%d.25",`+
		`"bin":"%s","st":{"x":%d,"y":"y%d"},"v":{"a":%d,"s":"w%d","f":%d.5e0,"mixed":%s}}`,
		id, 3*k, 2*k, 2*k, 7*k, 1+k%28, 1+k%28, k%24, k, []string{"AQI=", "AAAA", "/w=="}[k%3], 5*k, 2*k, 3*k, 11*k, k, mixed)
}

// TestBloomFiltersAreSound: whatever bloom filters rule out, a scan keeps the rows
// that a look at every row keeps, for equalities of every type.
func TestBloomFiltersAreSound(t *testing.T) {
	tbl := bloomed(t)
	r := rand.New(rand.NewPCG(5, 12))
	for file := range 4 {
		var rows []string
		for id := range 20 {
			rows = append(rows, scatteredRow(10+20*file+id, r.IntN(40)))
		}
		appendRows(t, tbl, rows...)
	}
	appendRows(t, tbl, whereRows...) // NaN, zeros, extremes, nulls
	kept := 0
	for range 3 {
		k := r.IntN(40)
		for _, text := range []string{
			fmt.Sprintf("n = %d", k), fmt.Sprintf("n <=> %d", 3*k), fmt.Sprintf("n <> %d", 3*k), fmt.Sprintf("n IN (%d, %d, NULL)", k, 1000+k),
			fmt.Sprintf("f = %d.5", k), "f = 0", "f = 'NaN'", fmt.Sprintf("g IN (%d.25, 0.1)", k), fmt.Sprintf("g = %d.25", 2*k),
			fmt.Sprintf("s = 'k%d'", k), fmt.Sprintf("NOT s = 'k%d'", 7*k), fmt.Sprintf("s NOT IN ('k%d')", 7*k),
			fmt.Sprintf("d = DATE '2026-07-%02d'", 1+k%31), fmt.Sprintf("ts = TIMESTAMP '2026-07-%02d %02d:00:00'", 1+k%28, k%24),
			fmt.Sprintf("dec = %d.25", k), "dec = 9999999.99", fmt.Sprintf("bin = X'%02d02'", k%3), fmt.Sprintf("st.x = %d", k), fmt.Sprintf("st.y <=> 'y%d'", k),
			fmt.Sprintf("try_variant_get(v, '$.a', 'int') = %d", k), fmt.Sprintf("try_variant_get(v, '$.a', 'bigint') IN (%d, %d)", k, 3*k),
			fmt.Sprintf("try_variant_get(v, '$.a', 'decimal(9,2)') = %d", k), fmt.Sprintf("try_variant_get(v, '$.a', 'string') = '%d'", 3*k),
			fmt.Sprintf("try_variant_get(v, '$.a', 'tinyint') = %d", k), fmt.Sprintf("try_variant_get(v, '$.s', 'string') = 'w%d'", k),
			fmt.Sprintf("try_variant_get(v, '$.f', 'double') = %d.5", k), fmt.Sprintf("try_variant_get(v, '$.f', 'float') = %d.5", k),
			"try_variant_get(v, '$.mixed', 'int') = 5", "try_variant_get(v, '$.mixed', 'string') = 'z'", "try_variant_get(v, '$.mixed', 'double') = 2.5",
			fmt.Sprintf("NOT (try_variant_get(v, '$.a', 'int') = %d) OR n = %d", 3*k, k),
		} {
			want := bruteForce(t, tbl, text)
			require.Equal(t, want, sortedIDs(idsWhere(t, tbl, text)), text)
			kept += len(strings.Fields(want))
		}
	}
	require.Greater(t, kept, 100)
}

// TestBloomFiltersSkipRowGroups: an equality that no row satisfies reads the bloom
// filters of its leaf and no page, plain or by a path of a Variant. A filter of
// another column, or a leaf whose values may be elsewhere, changes nothing.
func TestBloomFiltersSkipRowGroups(t *testing.T) {
	tbl := bloomed(t)
	r := rand.New(rand.NewPCG(6, 13))
	var rows []string
	for id := range 2000 {
		rows = append(rows, scatteredRow(id, r.IntN(1000)))
	}
	appendRows(t, tbl, rows...)
	scanned := func(text string) ScanStats {
		return drainScan(t, tbl, ScanOptions{Columns: []string{"id"}, Where: where(t, text)})
	}
	for _, text := range []string{
		"n = 100", "n <=> 101", "f = 777", "s IN ('k1', 'k2', 'k3')", "dec = 500.5", "st.y = 'y1'", "g = 0.1",
		"variant_get(v, '$.a', 'int') = 100", "variant_get(v, '$.s', 'string') IN ('w1', 'w2')", "try_variant_get(v, '$.f', 'double') = 100.25",
	} {
		stats := scanned(text)
		require.Zero(t, stats.PageBytes, text)
		require.Empty(t, stats.ColumnsRead, text)
	}
	for _, text := range []string{"n <> 100", "NOT n = 100 AND n < 1000", "try_variant_get(v, '$.mixed', 'int') = 77", "try_variant_get(v, '$.a', 'string') = 'x'"} {
		require.NotEmpty(t, scanned(text).ColumnsRead, text)
	}
}
