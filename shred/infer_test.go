package shred

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

func inferred(t *testing.T, rows ...string) string {
	t.Helper()
	i := NewInferer(InferOptions{MaxRows: 10_000})
	for _, r := range rows {
		require.NoError(t, i.AddJSON([]byte(r)))
	}
	return i.Schema().String()
}

// S09: the precision and scale that are inferred are valid.
func TestInfer_S09_ValidDecimals(t *testing.T) {
	require.Equal(t, "decimal(9,2)", inferred(t, `0.00`, `0.00`))
	require.Equal(t, "decimal(9,2)", inferred(t, `0.05`))
	require.Equal(t, "decimal(9,1)", inferred(t, `10.0`, `20.5`))
	require.Equal(t, "decimal(9,2)", inferred(t, `100.00`))
	require.Equal(t, "decimal(38,0)", inferred(t, `100000000000000000000`))
	require.Equal(t, "decimal(18,4)", inferred(t, `123456.7890`))
	require.Equal(t, "variant", inferred(t, strings.Repeat("9", 38), `0.0123456789`))
	require.Equal(t, "decimal(38,0)", inferred(t, strings.Repeat("9", 38), `1.0`), "zeros need no digits")
	require.Equal(t, "int", inferred(t, `1`, `-2147483648`))
	require.Equal(t, "bigint", inferred(t, `1`, `2147483648`))
}

// S12: integers and decimals are one class; a field with a few outliers is
// shredded, and has no bounds.
func TestInfer_S12_MajorityAndMixedNumbers(t *testing.T) {
	var rows []string
	for i := range 1000 {
		amount, id := "10", fmt.Sprint(i)
		if i%5 < 3 {
			amount = "10.5"
		}
		if i%20 == 0 {
			id = `"x"`
		}
		rows = append(rows, fmt.Sprintf(`{"amount":%s,"id":%s}`, amount, id))
	}
	schema := inferred(t, rows...)
	require.Equal(t, "struct<amount decimal(9,1), id int>", schema)
	w := write(t, schema, rows...)
	require.Equal(t, 1000, bufferAt(t, w, "typed_value/amount/typed_value").Values())
	require.Equal(t, 950, bufferAt(t, w, "typed_value/id/typed_value").Values())
	require.Equal(t, 50, bufferAt(t, w, "typed_value/id/value").Values())
	readBack(t, w, rows...)
	lower := boundsObject(t, w.Bounds().Lower)
	require.Equal(t, `{"$['amount']":10}`, lower.String())
	// Under nine tenths, or with nulls counted, it would not be.
	require.Equal(t, "variant", inferred(t, `1`, `1`, `1`, `1`, `1`, `1`, `1`, `1`, `"a"`))
	require.Equal(t, "int", inferred(t, `1`, `1`, `1`, `1`, `1`, `1`, `1`, `1`, `1`, `"a"`, `null`, `null`, `null`))
}

// Java's limits hold as defaults.
func TestInfer_Limits(t *testing.T) {
	var rows []string
	for i := range 100 {
		r := fmt.Sprintf(`{"common":%d`, i)
		if i < 10 {
			r += `,"tenth":1`
		}
		if i < 9 {
			r += `,"rare":1`
		}
		rows = append(rows, r+"}")
	}
	require.Equal(t, "struct<common int, tenth int>", inferred(t, rows...))
	var wide strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&wide, `,"k%04d":%d`, i, i)
	}
	s := mustParse(t, inferred(t, "{"+wide.String()[1:]+"}"))
	require.Len(t, s.Fields, 300)
	deep := strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)
	require.Equal(t, "variant", inferred(t, deep), "the leaf is deeper than 50")
	deep = strings.Repeat(`{"a":`, 50) + "1" + strings.Repeat("}", 50)
	require.Equal(t, strings.Repeat("struct<a ", 50)+"int"+strings.Repeat(">", 50), inferred(t, deep))
	i := NewInferer(InferOptions{})
	for range 150 {
		require.NoError(t, i.AddJSON([]byte(`1`)))
	}
	require.Equal(t, 100, i.Rows())
	require.Equal(t, "list<struct<a int>>", inferred(t, `[{"a":1},{"a":2},{"a":null}]`, `[]`))
	require.Equal(t, "variant", inferred(t, `[]`, `[]`))
	require.Equal(t, "struct<d string>", inferred(t, `{"d":"2026-07-01"}`))
	require.Error(t, NewInferer(InferOptions{}).AddJSON([]byte(`{`)))
}

// Texts of dates and timestamps are strings, unless the options ask for more.
func TestTemporal_OnlyWhenAsked(t *testing.T) {
	rows := []string{
		`{"d":"2026-07-01","t":"2026-07-01T01:02:03.5Z","n":"2026-07-01 01:02:03"}`,
		`{"d":"2026-02-30","t":"2026-07-01T01:02:03.1234567Z","n":"later"}`,
	}
	all := []string{rows[0], rows[0], rows[0], rows[0], rows[0], rows[0], rows[0], rows[0], rows[0], rows[0], rows[1]}
	require.Equal(t, "struct<d string, n string, t string>", inferred(t, all...))
	i := NewInferer(InferOptions{Temporal: true})
	for _, r := range all {
		require.NoError(t, i.AddJSON([]byte(r)))
	}
	require.Equal(t, "struct<d date, n timestamp_ntz, t timestamp>", i.Schema().String())
	require.Equal(t, []byte("2026-07-01"), bytesAt(bufferAt(t, write(t, "struct<d date>", rows[0]), "typed_value/d/value"), 0)[1:])
	w := NewWriter(i.Schema(), WriterOptions{Temporal: true})
	for _, r := range rows {
		require.NoError(t, w.WriteJSON([]byte(r)))
	}
	got, err := assembled(w, true)
	require.NoError(t, err)
	require.Equal(t, `{"d":"2026-07-01","n":"2026-07-01 01:02:03","t":"2026-07-01 01:02:03.5+00:00"}`, got[0].String())
	require.Equal(t, variant.KindDate, got[0].Field("d").Kind())
	require.Equal(t, mustJSON(t, rows[1]).String(), got[1].String())
}
