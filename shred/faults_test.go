package shred

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// bufferAt returns the buffer of a path below the group, such as
// "typed_value/a/value".
func bufferAt(t *testing.T, w *Writer, path string) *leaf.Buffer {
	t.Helper()
	for _, b := range w.Buffers() {
		if strings.Join(b.Path[1:], "/") == path {
			return b
		}
	}
	require.Fail(t, "no column", path)
	return nil
}

func bytesAt(b *leaf.Buffer, i int) []byte { return b.Data[b.Offsets[i]:b.Offsets[i+1]] }

func write(t *testing.T, schema string, rows ...string) *Writer {
	t.Helper()
	w := NewWriter(mustParse(t, schema), WriterOptions{Optional: true})
	for _, r := range rows {
		require.NoError(t, w.WriteJSON([]byte(r)))
	}
	return w
}

// readBack requires that the assembler and the oracle give the rows back.
func readBack(t *testing.T, w *Writer, rows ...string) {
	t.Helper()
	got, err := assembled(w, true)
	require.NoError(t, err)
	byOracle, err := oracleOfWriter(w)
	require.NoError(t, err)
	require.Len(t, got, len(rows))
	for i, r := range rows {
		want := mustJSON(t, r).String()
		require.Equal(t, want, got[i].String())
		require.Equal(t, want, byOracle[i].String())
	}
}

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

func scalarValue(s variant.Scalar) variant.Value {
	return variant.Unchecked(variant.AppendMetadata(nil, nil), variant.AppendScalar(nil, &s))
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

// S07, S19: timestamps are INT64 of micros or nanos; what the spec does not list is an
// error when the schema is made or read.
func TestSchema_S07_S19_TypesOfTheSpec(t *testing.T) {
	for text, want := range map[string]leaf.Node{
		"timestamp":        {Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Micros, UTC: true},
		"timestamp_ntz":    {Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Micros},
		"timestamp_ns":     {Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Nanos, UTC: true},
		"timestamp_ntz_ns": {Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Nanos},
		"time":             {Type: leaf.Int64, Logical: leaf.Time, Unit: leaf.Micros},
		"date":             {Type: leaf.Int32, Logical: leaf.Date},
		"tinyint":          {Type: leaf.Int32, Logical: leaf.Integer, Bits: 8, Signed: true},
		"smallint":         {Type: leaf.Int32, Logical: leaf.Integer, Bits: 16, Signed: true},
		"int":              {Type: leaf.Int32},
		"bigint":           {Type: leaf.Int64},
		"boolean":          {Type: leaf.Bool},
		"float":            {Type: leaf.Float},
		"double":           {Type: leaf.Double},
		"string":           {Type: leaf.Bytes, Logical: leaf.String},
		"binary":           {Type: leaf.Bytes},
		"uuid":             {Type: leaf.Fixed, Width: 16, Logical: leaf.UUID},
		"decimal(9,2)":     {Type: leaf.Int32, Logical: leaf.Decimal, Precision: 9, Scale: 2},
		"decimal(18,2)":    {Type: leaf.Int64, Logical: leaf.Decimal, Precision: 18, Scale: 2},
		"decimal(19,0)":    {Type: leaf.Fixed, Width: 9, Logical: leaf.Decimal, Precision: 19},
		"decimal(20,0)":    {Type: leaf.Fixed, Width: 9, Logical: leaf.Decimal, Precision: 20},
		"decimal(38,38)":   {Type: leaf.Fixed, Width: 16, Logical: leaf.Decimal, Precision: 38, Scale: 38},
	} {
		s := mustParse(t, text)
		group := s.Group("v", false, 0)
		want.Name, want.Repetition = "typed_value", leaf.Optional
		require.Equal(t, &want, group.Child("typed_value"), text)
		back, err := FromGroup(group)
		require.NoError(t, err)
		require.True(t, s.Equal(back), text)
	}
	for _, text := range []string{
		"uint8", "uint64", "float16", "date64", "int96", "decimal(39,0)", "decimal(0,0)", "decimal(2,3)", "decimal(-1,0)", "decimal(1,2)",
		"timestamp_ms", "duration", "struct<>", "list<>", "struct<a int, a int>", "int int", "struct<a int", "",
	} {
		_, err := Parse(text)
		require.ErrorIs(t, err, ErrSchema, text)
	}
	bad := []leaf.Node{
		{Type: leaf.Int32, Logical: leaf.Integer, Bits: 32},
		{Type: leaf.Int32, Logical: leaf.Integer, Bits: 8},
		{Type: leaf.Int64, Logical: leaf.Integer, Bits: 64},
		{Type: leaf.Int96},
		{Type: leaf.Fixed, Width: 4},
		{Type: leaf.Fixed, Width: 2, Logical: leaf.Float16},
		{Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Millis, UTC: true},
		{Type: leaf.Int32, Logical: leaf.Time, Unit: leaf.Millis},
		{Type: leaf.Int64, Logical: leaf.Time, Unit: leaf.Nanos},
		{Type: leaf.Fixed, Width: 17, Logical: leaf.Decimal, Precision: 38},
		{Type: leaf.Int32, Logical: leaf.Decimal, Precision: 10},
		{Type: leaf.Int64, Logical: leaf.Decimal, Precision: 19},
		{Type: leaf.Bytes, Logical: leaf.Decimal, Precision: 39},
		{Type: leaf.Int32, Logical: leaf.Decimal, Precision: 2, Scale: 3},
		{Type: leaf.Bytes, Logical: leaf.JSON},
		{Type: leaf.Bytes, Logical: leaf.Enum},
		{Type: leaf.Group, Logical: leaf.Map},
		{Type: leaf.Fixed, Width: 15, Logical: leaf.UUID},
		{Type: leaf.Int32, Logical: leaf.Other},
		{Type: leaf.Group},
	}
	for _, n := range bad {
		n.Name, n.Repetition = "typed_value", leaf.Optional
		group := (&Schema{}).Group("v", false, 0)
		group.Children = append(group.Children, &n)
		_, err := FromGroup(group)
		require.ErrorIs(t, err, ErrSchema, describeNode(&n))
	}
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

// S11: the text of a value does not depend on the layout.
func TestReader_S11_SameTextInEveryLayout(t *testing.T) {
	rows := []string{`{"p":1.50}`, `{"p":0.05}`, `{"p":22}`, `{"p":1.0}`, `{"p":"x"}`, `{"p":2.5e0}`, `{"p":true}`, `{"p":-0.0}`}
	want := []string{"1.5", "0.05", "22", "1", "x", "2.5", "true", "0"}
	for _, schema := range []string{"variant", "struct<p decimal(18,2)>", "struct<p decimal(38,20)>", "struct<p double>", "struct<p string>", "struct<p int>", "int"} {
		arrays, err := extract(write(t, schema, rows...), []Request{request(t, "$.p", "string", false)})
		require.NoError(t, err)
		for i, s := range want {
			require.Equal(t, s, arrays[0].(*array.String).Value(i), schema)
		}
	}
}

func request(t testing.TB, path, typ string, try bool) Request {
	t.Helper()
	p, err := variant.ParsePath(path)
	require.NoError(t, err)
	ty, err := variant.ParseType(typ)
	require.NoError(t, err)
	return Request{Path: p, Type: ty, Try: try}
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

func boundsObject(t *testing.T, b []byte) variant.Value {
	t.Helper()
	n := metadataSize(b)
	require.NotZero(t, n)
	v, err := variant.New(b[:n], b[n:])
	require.NoError(t, err)
	return v
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

// S14: names are nodes, not text: odd ones change nothing.
func TestWriter_S14_OddKeys(t *testing.T) {
	keys := []string{"", " ", "a.b", "value", "typed_value", "metadata", "list", "element", "é", "日本", strings.Repeat("k", 300), "`", "'", `"`, "\n", "a", "b"}
	var rows []string
	for i := range 30 {
		var parts []string
		for k, key := range keys {
			parts = append(parts, fmt.Sprintf("%s:{%s:%d}", quote(key), quote(keys[(k+i)%len(keys)]), i))
		}
		rows = append(rows, "{"+strings.Join(parts, ",")+"}")
	}
	i := NewInferer(InferOptions{MinFrequency: -1})
	for _, r := range rows {
		require.NoError(t, i.AddJSON([]byte(r)))
	}
	s := i.Schema()
	require.Equal(t, len(keys)*len(keys), s.Leaves())
	require.True(t, s.Equal(mustParse(t, s.String())))
	w := write(t, s.String(), rows...)
	readBack(t, w, rows...)
	for _, b := range w.Buffers() {
		if b.Node.Name == "value" {
			require.Zero(t, b.Values(), "%q", b.Path)
		}
	}
	for _, key := range keys {
		path := variant.NewPath(variant.Step{Name: key}, variant.Step{Name: key})
		ty, _ := variant.ParseType("int")
		out, err := extract(w, []Request{{Path: path, Type: ty}})
		require.NoError(t, err)
		require.False(t, out[0].IsNull(0), "%q", key)
	}
}

func quote(s string) string {
	b, _ := variant.AppendJSON(nil, scalarValue(variant.Scalar{Kind: variant.KindString, Bytes: []byte(s)}))
	return string(b)
}

// S15: an array element that is null is a Variant null in value, a missing field
// is two nulls, SQL NULL is no group; by physical columns.
func TestWriter_S15_PhysicalNulls(t *testing.T) {
	w := NewWriter(mustParse(t, "struct<a int, l list<int>>"), WriterOptions{Optional: true})
	require.NoError(t, w.WriteNull())
	for _, r := range []string{`null`, `{}`, `{"a":null}`, `{"a":1,"l":[]}`, `{"l":[null,7]}`} {
		require.NoError(t, w.WriteJSON([]byte(r)))
	}
	levels := func(path string) []uint8 {
		b := bufferAt(t, w, path)
		return expand(&b.Def, b.Slots)
	}
	require.Equal(t, []uint8{0, 1, 1, 1, 1, 1}, levels("metadata"))
	require.Equal(t, []uint8{0, 2, 1, 1, 1, 1}, levels("value"))
	require.Equal(t, []uint8{0, 1, 2, 3, 2, 2}, levels("typed_value/a/value"))
	require.Equal(t, []uint8{0, 1, 2, 2, 3, 2}, levels("typed_value/a/typed_value"))
	require.Equal(t, []uint8{0, 1, 2, 2, 3, 5, 4}, levels("typed_value/l/typed_value/list/element/value"))
	require.Equal(t, []uint8{0, 1, 2, 2, 3, 4, 5}, levels("typed_value/l/typed_value/list/element/typed_value"))
	rep := bufferAt(t, w, "typed_value/l/typed_value/list/element/typed_value")
	require.Equal(t, []uint8{0, 0, 0, 0, 0, 0, 1}, expand(&rep.Rep, rep.Slots))
	require.Equal(t, []byte{0}, bytesAt(bufferAt(t, w, "typed_value/a/value"), 0))
	require.Equal(t, []byte{0}, bytesAt(bufferAt(t, w, "typed_value/l/typed_value/list/element/value"), 0))
	required := NewWriter(&Schema{}, WriterOptions{})
	require.Error(t, required.WriteNull())
	require.Zero(t, required.Rows())
}

// S20: rows that were read whole and written again, twice, are the same.
func TestAssemble_S20_RewriteTwice(t *testing.T) {
	rows := []string{`{"a":1,"b":{"c":"x","d":[1,2,{"e":null}]}}`, `{"a":"s","z":{"y":[]}}`, `[1]`, `null`}
	schema := mustParse(t, "struct<a int, b struct<c string, d list<int>>>")
	w := NewWriter(schema, WriterOptions{Optional: true})
	for _, r := range rows {
		require.NoError(t, w.WriteJSON([]byte(r)))
	}
	for range 2 {
		values, err := assembled(w, true)
		require.NoError(t, err)
		next := NewWriter(schema, WriterOptions{Optional: true})
		for _, v := range values {
			require.NoError(t, next.WriteValue(v))
		}
		readBack(t, next, rows...)
		for i, b := range w.Buffers() {
			require.Equal(t, columnOfBuffer(b), columnOfBuffer(next.Buffers()[i]), b.Path)
		}
		w = next
	}
}

// S22: nodes inside the group have no field ids, and the group has the one given.
func TestSchema_S22_NoInnerFieldIDs(t *testing.T) {
	g := mustParse(t, "struct<a int, b list<struct<c string>>>").Group("v", true, 7)
	require.Equal(t, 7, g.FieldID)
	require.Equal(t, leaf.Variant, g.Logical)
	var walk func(n *leaf.Node)
	walk = func(n *leaf.Node) {
		for _, c := range n.Children {
			require.Zero(t, c.FieldID)
			walk(c)
		}
	}
	walk(g)
}

// S30, S27: bounds of leaves whose residual holds nothing but Variant nulls, outside
// arrays, by normalized path, of one type on both sides.
func TestBounds_S30_S27(t *testing.T) {
	w := write(t, "struct<`user.name` bigint, tags string, long string, mixed int, nulls int, list list<int>, d double, nan double, dec decimal(9,2), big decimal(38,2), flag boolean, o struct<x int>>",
		`{"user.name":1,"tags":"a","long":"prefix-that-is-long-a","mixed":1,"nulls":5,"list":[1],"d":-1.5e0,"dec":1.5,"big":12345678901234567890.5,"flag":true,"o":{"x":3},"other":1}`)
	w.Bounds()
	w.Reset()
	nan := variant.NewBuilder()
	nan.Reset()
	nan.Begin(variant.KindObject)
	nan.Key([]byte("nan"))
	nan.Double(math.NaN())
	nan.End()
	v, err := nan.Value()
	require.NoError(t, err)
	require.NoError(t, w.WriteValue(v))
	require.NoError(t, w.WriteJSON([]byte(`{"user.name":9,"tags":"é","long":"prefix-that-is-long-z","mixed":"n/a","nulls":null,"d":2e0,"dec":-7,"big":1,"flag":false,"o":5}`)))
	b := w.Bounds()
	require.Equal(t, `{"$['big']":1,"$['d']":-1.5,"$['dec']":-7,"$['long']":"prefix-that-is-l","$['nulls']":5,"$['o']['x']":3,"$['tags']":"a","$['user.name']":1}`,
		boundsObject(t, b.Lower).String())
	require.Equal(t, `{"$['big']":12345678901234567890.5,"$['d']":2.0,"$['dec']":1.5,"$['long']":"prefix-that-is-m","$['nulls']":5,"$['o']['x']":3,"$['tags']":"é","$['user.name']":9}`,
		boundsObject(t, b.Upper).String())
	require.Equal(t, kinds(boundsObject(t, b.Lower)), kinds(boundsObject(t, b.Upper)))
	require.Equal(t, Bounds{}, write(t, "struct<a int>", `{}`).Bounds())
	root := write(t, "string", `"b"`, `"a"`, `null`).Bounds()
	require.Equal(t, `{"$":"a"}`, boundsObject(t, root.Lower).String())
	// Bounds of another engine, or garbage, say nothing and do not fail.
	for n := range b.Lower {
		Bounds{b.Lower[:n], b.Upper}.Range(request(t, "$.tags", "string", false))
	}
}

// S30: texts are cut by characters, never below the value, and given up where
// nothing is above them.
func TestBounds_Cut(t *testing.T) {
	top := strings.Repeat("\U0010ffff", 20)
	for _, c := range []struct{ in, lower, upper string }{
		{"short", "short", "short"},
		{strings.Repeat("é", 17), strings.Repeat("é", 16), strings.Repeat("é", 15) + "ê"},
		{strings.Repeat("a", 15) + "\U0010ffff" + "z", strings.Repeat("a", 15) + "\U0010ffff", strings.Repeat("a", 14) + "b"},
		{strings.Repeat("a", 15) + "\ud7ff" + "z", strings.Repeat("a", 15) + "\ud7ff", strings.Repeat("a", 15) + "\ue000"},
	} {
		w := write(t, "string", quote(c.in))
		lower, _ := boundsObject(t, w.Bounds().Lower).Field("$").Text()
		upper, _ := boundsObject(t, w.Bounds().Upper).Field("$").Text()
		require.Equal(t, c.lower, lower)
		require.Equal(t, c.upper, upper)
		require.LessOrEqual(t, lower, c.in)
		require.GreaterOrEqual(t, upper, c.in)
	}
	require.Equal(t, Bounds{}, write(t, "string", quote(top)).Bounds())
}

// S33: the whole value, and a path of it, in one read; null rows stay null.
func TestReader_S33_WholeAndPath(t *testing.T) {
	w := NewWriter(mustParse(t, "struct<a int>"), WriterOptions{Optional: true})
	require.NoError(t, w.WriteJSON([]byte(`{"a":1,"b":2}`)))
	require.NoError(t, w.WriteNull())
	require.NoError(t, w.WriteJSON([]byte(`null`)))
	out, err := extract(w, []Request{request(t, "$", "variant", false), request(t, "$.a", "int", false), request(t, "$", "variant", false), request(t, "$.a", "variant", false)})
	require.NoError(t, err)
	whole := variantType()
	require.Equal(t, []string{`{"a":1,"b":2}`, "NULL", "null"}, render(t, out[0], whole))
	require.Equal(t, []string{"1", "NULL", "NULL"}, render(t, out[1], request(t, "$", "int", false).Type))
	require.Equal(t, render(t, out[0], whole), render(t, out[2], whole))
	require.Equal(t, []string{"1", "NULL", "NULL"}, render(t, out[3], whole))
	require.Equal(t, 1, out[0].NullN())
}

func variantType() variant.Type { return variant.Type{} }

// S34: one path of fifty leaves reads its own columns and no others.
func TestProject_S34_ReadsOnlyWhatIsAsked(t *testing.T) {
	var parts []string
	for i := range 50 {
		parts = append(parts, fmt.Sprintf(`"f%02d":%d`, i, i))
	}
	row := "{" + strings.Join(parts, ",") + "}"
	w := write(t, inferred(t, row), row, row)
	leaves := w.Buffers()
	names := func(p *Plan) (out []string) {
		for _, c := range p.Columns() {
			out = append(out, strings.Join(leaves[c].Path[1:], "/"))
		}
		return out
	}
	plan := func(path, typ string, null func(int) bool) *Plan {
		p, err := Project(w.Group(), Context{}, []Request{request(t, path, typ, false)}, null)
		require.NoError(t, err)
		return p
	}
	require.Equal(t, []string{"typed_value/f07/typed_value"}, names(plan("$.f07", "bigint", allNull(leaves))))
	require.Equal(t, []string{"typed_value/f07/typed_value"}, names(plan("$.f07", "variant", allNull(leaves))))
	require.Equal(t, []string{"metadata", "typed_value/f07/value", "typed_value/f07/typed_value"}, names(plan("$.f07", "bigint", nil)))
	require.Equal(t, []string{"metadata", "value"}, names(plan("$.other", "bigint", nil)))
	require.Empty(t, names(plan("$.other", "bigint", allNull(leaves))))
	require.Len(t, names(plan("$", "variant", allNull(leaves))), 51)
	require.Len(t, names(plan("$", "variant", nil)), 102)
}

// U05: filtering rows before or after an extraction gives the same.
func TestReader_U05_InterleavedInRowOrder(t *testing.T) {
	w := write(t, "struct<a int>", `{"a":1}`, `{"a":"2"}`, `{"a":3}`, `{}`, `{"a":null}`, `{"a":6.0}`, `{"a":"7"}`)
	for _, typ := range []string{"int", "bigint", "double", "string", "decimal(9,2)", "float", "smallint"} {
		out, err := extract(w, []Request{request(t, "$.a", typ, false)})
		require.NoError(t, err)
		require.Equal(t, 7, out[0].Len())
		require.Equal(t, []bool{false, false, false, true, true, false, false}, nullsOf(out[0]))
		for i, want := range map[int]string{0: "1", 1: "2", 2: "3", 5: "6", 6: "7"} {
			require.Equal(t, want, strings.TrimSuffix(out[0].ValueStr(i), ".00"), typ)
		}
	}
	_, err := extract(w, []Request{request(t, "$.a", "boolean", false)})
	var e *Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, ErrCast)
	require.Equal(t, 1, e.Row)
	require.Equal(t, "$['a']", e.Path)
	require.Equal(t, `"2"`, e.Value)
	out, err := extract(w, []Request{request(t, "$.a", "boolean", true)})
	require.NoError(t, err)
	require.Equal(t, []bool{false, true, false, true, true, false, true}, nullsOf(out[0]))
}

func nullsOf(arr interface {
	IsNull(int) bool
	Len() int
},
) (out []bool) {
	for i := range arr.Len() {
		out = append(out, arr.IsNull(i))
	}
	return out
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
