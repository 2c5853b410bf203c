package shred

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

// S01: the residual of a partially shredded object holds the other fields, in
// raw bytes; rows do not share memory.
func TestWriter_S01_PartialObjectKeepsTheRest(t *testing.T) {
	var rows []string
	for i := range 50 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"user_%d","city":"city_%d"}`, i, i, i))
	}
	for _, schema := range []string{"struct<id int>", "struct<id int, absent string>"} {
		w := write(t, schema, rows...)
		readBack(t, w, rows...)
		residual := bufferAt(t, w, "value")
		require.Equal(t, len(rows), residual.Values())
		for i := range rows {
			raw := bytesAt(residual, i)
			require.Contains(t, string(raw), fmt.Sprintf("user_%d", i))
			require.Contains(t, string(raw), fmt.Sprintf("city_%d", i))
			require.NotContains(t, string(raw), "\x0c", "the shredded id")
		}
		require.Equal(t, []int32{0, 1, 2}, bufferAt(t, w, "typed_value/id/typed_value").Int32s[:3])
	}
}

// S02: residuals use the ids of the row's own dictionary.
func TestWriter_S02_ResidualKeepsTheRowsIds(t *testing.T) {
	w := write(t, "struct<x int>", `{"z":1,"y":2,"x":3,"a":4}`)
	meta := bufferAt(t, w, "metadata")
	m, err := variant.ParseMetadata(bytesAt(meta, 0))
	require.NoError(t, err)
	require.Equal(t, 4, m.Len())
	for i, name := range []string{"a", "x", "y", "z"} {
		require.Equal(t, name, m.Name(i))
	}
	raw := bytesAt(bufferAt(t, w, "value"), 0)
	require.Equal(t, []byte{2, 3, 0, 2, 3}, raw[:5], "object of 3 fields with ids 0, 2, 3")
	// A value whose dictionary has another order is written over a sorted one.
	odd := variant.Unchecked([]byte{0x01, 4, 0, 1, 2, 3, 4, 'z', 'y', 'x', 'a'}, []byte{0x02, 3, 3, 2, 0, 0, 2, 4, 6, 12, 1, 12, 2, 12, 3})
	require.NoError(t, odd.Validate())
	require.NoError(t, w.WriteValue(odd))
	readBack(t, w, `{"z":1,"y":2,"x":3,"a":4}`, `{"a":1,"x":2,"z":3}`)
}

// residualOf shreds one value into a schema and returns its root residual, nil if
// it was typed.
func residualOf(t *testing.T, schema string, v variant.Value) []byte {
	t.Helper()
	w := NewWriter(mustParse(t, schema), WriterOptions{})
	require.NoError(t, w.WriteValue(v))
	got, err := oracleOfWriter(w)
	require.NoError(t, err)
	require.Equal(t, v.String(), got[0].String())
	b := bufferAt(t, w, "value")
	if b.Values() == 0 {
		require.Equal(t, 1, bufferAt(t, w, "typed_value").Values())
		return nil
	}
	return bytesAt(b, 0)
}

// S04: only conversions within a class, and without loss, are made; everything
// else stays, byte for byte.
func TestWriter_S04_OnlyLosslessConversions(t *testing.T) {
	for _, c := range []struct {
		schema, text string
		typed        bool
	}{
		{"tinyint", `true`, false},
		{"tinyint", `"1"`, false},
		{"tinyint", `1.0`, true},
		{"tinyint", `1e0`, false},
		{"tinyint", `300`, false},
		{"tinyint", `-129`, false},
		{"tinyint", `-128`, true},
		{"tinyint", `127`, true},
		{"smallint", `32768`, false},
		{"smallint", `-32768`, true},
		{"int", `2147483648`, false},
		{"int", `1.5`, false},
		{"int", `-2147483648`, true},
		{"bigint", `9223372036854775807`, true},
		{"bigint", `9223372036854775808`, false},
		{"bigint", `true`, false},
		{"bigint", `1e0`, false},
		{"bigint", `12.00`, true},
		{"string", `1`, false},
		{"double", `1`, false},
		{"double", `1.5`, false},
		{"double", `1.5e0`, true},
		{"boolean", `1`, false},
		{"float", `1.5e0`, false},
		{"decimal(9,2)", `1.2`, true},
		{"decimal(9,2)", `1`, true},
		{"decimal(9,2)", `1.234`, false},
		{"decimal(9,2)", `1.230`, true},
		{"decimal(9,2)", `9999999.99`, true},
		{"decimal(9,2)", `10000000`, false},
		{"decimal(18,0)", `999999999999999999`, true},
		{"decimal(18,0)", `-1000000000000000000`, false},
		{"decimal(38,2)", `123456789012345678901234567890123456.78`, true},
		{"decimal(38,2)", `1234567890123456789012345678901234567`, false},
		{"decimal(20,0)", `-99999999999999999999`, true},
		{"decimal(20,0)", `100000000000000000000`, false},
		{"decimal(9,2)", `1e0`, false},
		{"decimal(9,2)", `"1.2"`, false},
		{"decimal(18,9)", `10.0000000001`, false},
		{"date", `"2026-07-01"`, false},
		{"list<int>", `{}`, false},
		{"struct<a int>", `[]`, false},
		{"int", `[]`, false},
		{"int", `null`, false},
	} {
		v := mustJSON(t, c.text)
		raw := residualOf(t, c.schema, v)
		if c.typed {
			require.Nil(t, raw, "%s into %s", c.text, c.schema)
		} else {
			require.Equal(t, v.Bytes(), raw, "%s into %s", c.text, c.schema)
		}
	}
}

// TestWriter_DecimalsOfLongScales: the encoding allows a decimal4 of scale 10, but
// Spark and arrow-rs refuse the value, and with it the file. A residual takes a width
// that has as many digits as the scale; what it means stays the same.
func TestWriter_DecimalsOfLongScales(t *testing.T) {
	for text, header := range map[string]byte{
		`0.123456789`: 8 << 2, `0.0000000001`: 9 << 2, `-0.000000000000000001`: 9 << 2,
		`0.0000000000000000001`: 10 << 2, `0.1234567890123456789`: 10 << 2, `1.2345678901234567`: 9 << 2,
	} {
		v := mustJSON(t, text)
		raw := residualOf(t, "variant", v)
		require.Equal(t, header, raw[0], text)
		got, err := variant.New(v.Metadata(), raw)
		require.NoError(t, err)
		require.True(t, variant.Equal(v, got), text)
		inside := residualOf(t, "variant", mustJSON(t, `{"a":[`+text+`]}`))
		require.Contains(t, string(inside), string(raw), "in containers too")
	}
}

// S05: float and double are two classes.
func TestWriter_S05_NoNarrowing(t *testing.T) {
	double := scalarValue(variant.Scalar{Kind: variant.KindDouble, Float: 0.1})
	float := scalarValue(variant.Scalar{Kind: variant.KindFloat, Float: float64(float32(0.1))})
	require.Equal(t, double.Bytes(), residualOf(t, "float", double))
	require.Equal(t, float.Bytes(), residualOf(t, "double", float))
	require.Nil(t, residualOf(t, "float", float))
	require.Nil(t, residualOf(t, "double", double))
}

// S08: a FIXED decimal has exactly the bytes of its width, big-endian and
// sign-extended.
func TestWriter_S08_FixedDecimals(t *testing.T) {
	for _, digits := range []int{19, 20, 28, 35, 36, 38} {
		schema := fmt.Sprintf("decimal(%d,0)", digits)
		nines := strings.Repeat("9", digits)
		rows := []string{nines, "-" + nines, "0", "-1", "1"}
		w := write(t, schema, rows...)
		b := bufferAt(t, w, "typed_value")
		require.Equal(t, len(rows), b.Values())
		width := b.Node.Width
		require.GreaterOrEqual(t, width, 9)
		for i := range rows {
			require.Len(t, bytesAt(b, i), width)
		}
		require.Equal(t, strings.Repeat("\xff", width), string(bytesAt(b, 3)))
		require.Equal(t, strings.Repeat("\x00", width-1)+"\x01", string(bytesAt(b, 4)))
		require.Equal(t, byte(0xff), bytesAt(b, 1)[0]|0x7f)
		readBack(t, w, rows...)
	}
}

// S10: a price column is columnar: every value is rescaled without loss.
func TestWriter_S10_MixedScalesFillTheColumn(t *testing.T) {
	rows := []string{`{"t":21.69}`, `{"t":22.1}`, `{"t":22}`, `{"t":22.125}`}
	schema := inferred(t, rows...)
	require.Equal(t, "struct<t decimal(9,3)>", schema)
	w := write(t, schema, rows...)
	require.Equal(t, []int32{21690, 22100, 22000, 22125}, bufferAt(t, w, "typed_value/t/typed_value").Int32s)
	require.Zero(t, bufferAt(t, w, "typed_value/t/value").Values())
	readBack(t, w, rows...)
}
