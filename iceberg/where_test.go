package iceberg

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// whereColumns is the table of the predicate tests: one column a domain.
const whereColumns = "id:bigint,n:int,f:double,g:float,s:string,d:date,ts:timestamp,dec:decimal(9,2),b:boolean,bin:binary,st:struct<x:int,y:string>,v:variant"

var whereRows = []string{
	`{"id":0,"n":1,"f":1.5,"g":0.1,"s":"apple","d":"2026-07-01","ts":"2026-07-01T01:02:03.5Z","dec":"1.50","b":true,"bin":"AQI=","st":{"x":1,"y":"p"},"v":{"a":1,"s":"x","t":true}}`,
	`{"id":1,"n":-5,"f":"NaN","g":"NaN","s":"apricot","d":"1969-12-31","ts":"1969-12-31T23:59:59.999999Z","dec":"-2.25","b":false,"bin":"","st":{"x":2},"v":{"a":"1","s":7}}`,
	`{"id":2}`,
	`{"id":3,"n":7,"f":-0.0,"g":2.5,"s":"100%_\\","d":"2026-07-02","ts":"2026-07-02T00:00:00Z","dec":"0.00","b":true,"st":{"y":"q"},"v":null}`,
	`{"id":4,"n":2147483647,"f":1e300,"g":-1,"s":"","d":"0001-01-01","ts":"2026-07-01T00:00:00Z","dec":"9999999.99","b":false,"v":[1,2]}`,
}

// TestWhereSemantics states by hand which rows each predicate keeps.
func TestWhereSemantics(t *testing.T) {
	tbl := newTable(t, newCatalog(t), whereColumns, "")
	appendRows(t, tbl, whereRows...)
	for _, c := range []struct{ text, ids string }{
		{"TRUE", "0 1 2 3 4"},
		{"FALSE", ""},
		{"NULL", ""},
		{"NOT NULL", ""},
		{"NULL OR id = 1", "1"},
		{"n = 1", "0"},
		{"n <> 1", "1 3 4"},
		{"NOT n = 1", "1 3 4"},
		{"NOT (n = 1 OR n = 7)", "1 4"},
		{"n = 1 OR s IS NULL", "0 2"},
		{"n IS NULL", "2"},
		{"n IS NOT NULL AND NOT b", "1 4"},
		{"n <=> NULL", "2"},
		{"NOT (n <=> 1)", "1 2 3 4"},
		{"n IN (1, 7, NULL)", "0 3"},
		{"n NOT IN (1, 7)", "1 4"},
		{"n NOT IN (1, NULL)", ""},
		{"n BETWEEN -5 AND 1", "0 1"},
		{"n NOT BETWEEN -5 AND 1", "3 4"},
		{"n < 1.5", "0 1"},
		{"n = 1.5", ""},
		{"n <> 1.5", "0 1 3 4"},
		{"n >= 0.999", "0 3 4"},
		{"n < 99999999999999999999", "0 1 3 4"},
		{"n > -1e30", "0 1 3 4"},
		{"n = '7'", "3"},
		{"5 < n", "3 4"},
		{"f > 1", "0 1 4"}, // NaN is above all
		{"f = 'NaN'", "1"},
		{"f >= 'NaN'", "1"},
		{"f < 'NaN'", "0 3 4"},
		{"f = 0", "3"},
		{"g = 0.1", ""}, // compared as doubles, as Spark does
		{"g > 0.1", "0 1 3"},
		{"g < 0.1000001", "0 4"},
		{"s = \"apple\"", "0"},
		{"s LIKE 'ap%'", "0 1"},
		{"s LIKE '%p%t'", "1"},
		{"s LIKE '_pple'", "0"},
		{"s LIKE '100\\%\\_\\\\'", "3"},
		{"s LIKE '%'", "0 1 3 4"},
		{"s NOT LIKE 'a%'", "3 4"},
		{"s > 'apple'", "1"},
		{"s = ''", "4"},
		{"d >= DATE '2026-07-01'", "0 3"},
		{"d < '1970-01-01'", "1 4"},
		{"d = TIMESTAMP '2026-07-01 00:00:00'", "0"},
		{"d >= TIMESTAMP '2026-07-01 00:00:01'", "3"},
		{"ts < '1970-01-01 00:00:00'", "1"},
		{"ts = DATE '2026-07-02'", "3"},
		{"ts > '2026-07-01T01:02:03.4+00:00'", "0 3"},
		{"ts >= '2026-07-01 03:02:03.5+02:00' AND ts < '2026-07-02'", "0"},
		{"dec = 1.5", "0"},
		{"dec > 1.499", "0 4"},
		{"dec <= -2.25", "1"},
		{"dec IN (0, 1.5, 1.501)", "0 3"},
		{"dec < 1e9", "0 1 3 4"},
		{"b", "0 3"},
		{"NOT b", "1 4"},
		{"b = 'false'", "1 4"},
		{"bin = X'0102'", "0"},
		{"bin = X''", "1"},
		{"st IS NULL", "2 4"},
		{"st.x IS NULL", "2 3 4"},
		{"st.x = 2 OR st.y = 'q'", "1 3"},
		{"v IS NULL", "2"}, // a Variant null is a value
		{"try_variant_get(v, '$.a', 'int') = 1", "0 1"},
		{"try_variant_get(v, '$.s', 'int') = 7", "1"},
		{"try_variant_get(v, '$.s', 'int') IS NULL", "0 2 3 4"},
		{"variant_get(v, '$.s', 'string') = 'x'", "0"},
		{"variant_get(v, '$.t', 'boolean')", "0"},
		{"variant_get(v, '$[1]', 'int') = 2", "4"},
		{"variant_get(v, '$.nope', 'variant') IS NULL", "0 1 2 3 4"},
		{"id = n", ""},
		{"n <> id", "0 1 3 4"},
		{"id < f", "0 1 4"},
		{"dec > id", "0 4"},
		{"n <=> st.x", "0 2"},
		{"`id` = 1 AND `s` LIKE 'apri%'", "1"},
		{"_row_id >= 3", "3 4"},
	} {
		t.Run(c.text, func(t *testing.T) {
			require.Equal(t, c.ids, idsWhere(t, tbl, c.text))
			again, err := ParseWhere(where(t, c.text).String())
			require.NoError(t, err)
			require.Equal(t, where(t, c.text).String(), again.String(), "printing is stable")
			require.Equal(t, c.ids, idsWhere(t, tbl, again.String()))
		})
	}
}

func idsWhere(t testing.TB, tbl *Table, text string) string {
	t.Helper()
	var ids []string
	for _, row := range scanJSON(t, tbl, ScanOptions{Columns: []string{"id"}, Where: where(t, text)}) {
		ids = append(ids, strings.TrimSuffix(strings.TrimPrefix(row, `{"id":`), "}"))
	}
	return strings.Join(ids, " ")
}

func TestWhereErrors(t *testing.T) {
	tbl := newTable(t, newCatalog(t), whereColumns, "")
	appendRows(t, tbl, whereRows...)
	for _, text := range []string{
		"", "n =", "= 1", "n == == 1", "n = 1 AND", "(n = 1", "n = 1)", "n IN ()", "n IN (n)", "n LIKE 1", "n BETWEEN 1", "n IS 1",
		"'open", "n = 1 2", "1", "'x'", "n NOT = 1", "AND", "variant_get(v)", "variant_get(v, '$.a')", "variant_get(v, '$a', 'int') = 1",
		"variant_get(v, '$.a', 'nope') = 1", "f(n)", "n = 1e999", "d = DATE 'x'", "bin = X'0'", "n # 1", "n = \x80",
		strings.Repeat("(", 1000) + "n = 1" + strings.Repeat(")", 1000),
	} {
		_, err := ParseWhere(text)
		require.ErrorIs(t, err, ErrInvalid, "%q", text)
		var p *PredicateError
		require.ErrorAs(t, err, &p)
	}
	for _, text := range []string{
		"nope = 1", "N = 1", "n = 'x'", "s = 1", "v = 1", "st = 1", "st.z = 1", "n = TRUE", "b = 1", "d = 5", "s < n", "n LIKE 'x%'",
		"variant_get(n, '$.a', 'int') = 1", "variant_get(v, '$.a', 'variant') = 1", "1 = 1", "ts = 'noon'", "d < n",
	} {
		_, err := tryScanJSON(tbl, ScanOptions{Where: where(t, text)})
		require.ErrorIs(t, err, ErrInvalid, text)
	}
	_, err := tryScanJSON(tbl, ScanOptions{Where: where(t, "variant_get(v, '$.s', 'int') = 7")})
	var row *RowError
	require.ErrorAs(t, err, &row, "a strict cast ends the scan")
	require.EqualValues(t, 0, row.Row)
	require.Equal(t, "v", row.Column)
	require.Regexp(t, `\.parquet row 0, column "v": shred: path \$\['s'\], value "x": variant: string "x" does not cast to int$`, err.Error())
}

// randomPredicate makes a predicate over the columns of whereColumns.
func randomPredicate(r *rand.Rand, depth int) string {
	if depth > 0 && r.IntN(3) > 0 {
		a, b := randomPredicate(r, depth-1), randomPredicate(r, depth-1)
		switch r.IntN(5) {
		case 0, 1:
			return "(" + a + " AND " + b + ")"
		case 2, 3:
			return "(" + a + " OR " + b + ")"
		}
		return "NOT (" + a + ")"
	}
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	op := pick("=", "<>", "<", "<=", ">", ">=", "<=>")
	switch r.IntN(12) {
	case 0:
		return fmt.Sprintf("id %s %d", op, r.IntN(60))
	case 1:
		return fmt.Sprintf("n %s %s", op, pick("-3", "0", "2.5", "4", "NULL", "9999999999"))
	case 2:
		return fmt.Sprintf("f %s %s", op, pick("-1", "0", "0.5", "2", "'NaN'", "'Infinity'"))
	case 3:
		return fmt.Sprintf("g %s %s", op, pick("0.1", "0.5", "-2"))
	case 4:
		return pick("s LIKE 'k1%'", "s NOT LIKE 'k2%'", "s IS NULL", "s IS NOT NULL", "s IN ('k1', 'k20', NULL)", "s NOT IN ('k1', 'k3')", "s > 'k30'", "s LIKE '%5'")
	case 5:
		return fmt.Sprintf("d %s DATE '2026-07-%02d'", op, 1+r.IntN(28))
	case 6:
		return fmt.Sprintf("dec %s %d.%d", op, r.IntN(6), r.IntN(100))
	case 7:
		return pick("b", "NOT b", "b IS NULL", "b = FALSE")
	case 8:
		return fmt.Sprintf("st.x %s %d", op, r.IntN(5))
	case 9:
		return fmt.Sprintf("try_variant_get(v, '$.a', '%s') %s %d", pick("int", "bigint", "double", "decimal(9,2)"), op, r.IntN(40))
	case 10:
		return pick("try_variant_get(v, '$.s', 'string') LIKE 'w1%'", "try_variant_get(v, '$.s', 'string') IS NULL", "try_variant_get(v, '$.mixed', 'int') > 3", "try_variant_get(v, '$.mixed', 'string') = 'z'")
	}
	return fmt.Sprintf("ts %s TIMESTAMP '2026-07-%02d 12:00:00'", op, 1+r.IntN(28))
}

// randomRow makes a row whose values rise with id, so that bounds separate
// files, row groups and pages.
func randomRow(r *rand.Rand, id int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"id":%d`, id)
	add := func(share int, format string, args ...any) {
		if r.IntN(10) < share {
			fmt.Fprintf(&b, format, args...)
		}
	}
	add(8, `,"n":%d`, id/10-3+r.IntN(3))
	if r.IntN(15) == 0 {
		b.WriteString(`,"f":"NaN"`)
	} else {
		add(8, `,"f":%d.5`, id/20)
	}
	add(8, `,"g":%s`, []string{"0.1", "0.5", "-2", "7"}[r.IntN(4)])
	add(8, `,"s":"k%d"`, id)
	add(8, `,"d":"2026-07-%02d"`, 1+id/3%28)
	add(8, `,"ts":"2026-07-%02dT%02d:00:00Z"`, 1+id/3%28, r.IntN(24))
	add(8, `,"dec":"%d.%02d"`, id/12, r.IntN(100))
	add(7, `,"b":%t`, r.IntN(2) == 0)
	add(7, `,"st":{"x":%d}`, id/15)
	mixed := []string{"5", `"z"`, "2.5", "null"}[r.IntN(4)]
	add(8, `,"v":{"a":%d,"s":"w%d","mixed":%s}`, id/2, id, mixed)
	b.WriteString("}")
	return b.String()
}

// S27: whatever planning and pruning leave out, a scan keeps the rows that a
// look at every row keeps.
func TestPruningIsSoundS27(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for _, partition := range []string{"", "n", "truncate(2,s)", "d,b", "bucket(4,id),month(ts)"} {
		tbl := newTable(t, newCatalog(t), whereColumns, partition)
		id := 0
		for range 3 {
			var rows []string
			for range 20 {
				rows = append(rows, randomRow(r, id))
				id++
			}
			_, err := tbl.AppendJSON(context.Background(), rowsOf(rows...), AppendOptions{RowGroupBytes: 400})
			require.NoError(t, err)
		}
		for range 40 {
			text := randomPredicate(r, 3)
			require.Equal(t, bruteForce(t, tbl, text), sortedIDs(idsWhere(t, tbl, text)), "%s partitioned by %q", text, partition)
		}
	}
}

// bruteForce evaluates a predicate on all rows, without any statistics.
func bruteForce(t testing.TB, tbl *Table, text string) string {
	t.Helper()
	f, err := where(t, text).bind(tbl.Schema())
	require.NoError(t, err)
	opts := ScanOptions{Columns: []string{"id"}, Extractions: f.extracts}
	for _, c := range f.columns {
		opts.Columns = append(opts.Columns, c.Name)
	}
	scan, err := tbl.Scan(context.Background(), opts)
	require.NoError(t, err)
	var ids []string
	for rec, err := range scan.Batches(context.Background()) {
		require.NoError(t, err)
		truth, err := (&evaluator{filter: f}).eval(rec.Columns()[1:], int(rec.NumRows()))
		require.NoError(t, err)
		for i, v := range truth {
			if v == triTrue {
				ids = append(ids, rec.Column(0).ValueStr(i))
			}
		}
		rec.Release()
	}
	return sortedIDs(strings.Join(ids, " "))
}

func sortedIDs(ids string) string {
	parts := strings.Fields(ids)
	slices.Sort(parts)
	return strings.Join(parts, " ")
}
