package pq

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

// chunkEncodings returns the encodings that the footer names, by arrow-go.
func chunkEncodings(t testing.TB, data []byte, group, j int) string {
	t.Helper()
	fr, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	c, err := fr.MetaData().RowGroup(group).ColumnChunk(j)
	require.NoError(t, err)
	return fmt.Sprint(c.Encodings())
}

// TestWriter_ChoosesEncodings asserts the physical encoding by kind of data.
func TestWriter_ChoosesEncodings(t *testing.T) {
	const rows = 20_000
	r := rand.New(rand.NewPCG(4, 4))
	ints := func(f func(i int) int32) *leaf.Buffer {
		b := &leaf.Buffer{Info: leaf.Info{Node: testNode("x", 0, leaf.Int32), Path: []string{"x"}}, Slots: rows}
		for i := range rows {
			b.Int32s = append(b.Int32s, f(i))
		}
		return b
	}
	texts := func(f func(i int) string) *leaf.Buffer {
		b := &leaf.Buffer{Info: leaf.Info{Node: testNode("x", 0, leaf.Bytes), Path: []string{"x"}}, Slots: rows}
		for i := range rows {
			b.AppendBytes([]byte(f(i)))
		}
		return b
	}
	for _, x := range []struct {
		name string
		b    *leaf.Buffer
		opts WriterOptions
		want string
	}{
		{"few ints", ints(func(int) int32 { return r.Int32N(50) * 999_983 }), WriterOptions{}, "[RLE_DICTIONARY RLE PLAIN]"},
		{"sorted ints", ints(func(i int) int32 { return int32(i) * 3 }), WriterOptions{}, "[DELTA_BINARY_PACKED RLE]"},
		{"random ints", ints(func(int) int32 { return r.Int32N(900_000) }), WriterOptions{}, "[DELTA_BINARY_PACKED RLE]"},
		{"plain only", ints(func(int) int32 { return r.Int32N(900_000) }), WriterOptions{PlainOnly: true}, "[PLAIN RLE]"},
		{"wide ints", ints(func(int) int32 { return int32(r.Uint32()) }), WriterOptions{}, "[PLAIN RLE]"},
		{"no dictionaries", ints(func(int) int32 { return r.Int32N(3) * 999_983 }), WriterOptions{DictionaryBytes: -1, PlainOnly: true}, "[PLAIN RLE]"},
		{"few texts", texts(func(int) string { return strings.Repeat("x", r.IntN(30)) }), WriterOptions{}, "[RLE_DICTIONARY RLE PLAIN]"},
		{"keys", texts(func(i int) string { return fmt.Sprint("trade-", i) }), WriterOptions{}, "[DELTA_LENGTH_BYTE_ARRAY RLE]"},
		{"keys, plain only", texts(func(i int) string { return fmt.Sprint("trade-", i) }), WriterOptions{PlainOnly: true}, "[PLAIN RLE]"},
		{"dictionary too large", texts(func(i int) string { return fmt.Sprint(i%100, strings.Repeat("y", 100)) }), WriterOptions{DictionaryBytes: 5000}, "[DELTA_LENGTH_BYTE_ARRAY RLE]"},
	} {
		root := testGroup("schema", leaf.Required, x.b.Node)
		data, _ := writeTest(t, root, x.opts, rows, []*leaf.Buffer{x.b})
		require.Equal(t, x.want, chunkEncodings(t, data, 0, 0), x.name)
		requireSameBuffer(t, x.b, readColumn(t, openTest(t, data, ReaderOptions{}), 0, 0, 4096))
	}
}

// TestWriter_Indexed: a buffer with its own dictionary gives the file that the
// plain buffer gives, whether the dictionary pays or not.
func TestWriter_Indexed(t *testing.T) {
	for _, entries := range []int{1, 40, 900} {
		in := leaf.Info{Node: testNode("x", leaf.Optional, leaf.Bytes), Path: []string{"x"}, MaxDef: 1}
		plain, indexed := &leaf.Buffer{Info: in}, &leaf.Buffer{Info: in, Indexed: true}
		for i := range entries {
			indexed.AppendBytes([]byte(fmt.Sprint("entry", i)))
		}
		for i := range 1000 {
			e := uint32(min(i, (i*i)%entries))
			plain.Slots, indexed.Slots = plain.Slots+1, indexed.Slots+1
			if i%10 == 3 {
				plain.Def.Append(0, 1)
				continue
			}
			plain.Def.Append(1, 1)
			plain.AppendBytes([]byte(fmt.Sprint("entry", e)))
			indexed.Index = append(indexed.Index, e)
		}
		indexed.Def.Share(&plain.Def)
		root := testGroup("schema", leaf.Required, in.Node)
		data, meta := writeTest(t, root, WriterOptions{PageRows: 128}, 1000, []*leaf.Buffer{indexed})
		_, want := writeTest(t, root, WriterOptions{PageRows: 128}, 1000, []*leaf.Buffer{plain})
		require.Equal(t, want.Columns[0].Min, meta.Columns[0].Min)
		require.Equal(t, want.Columns[0].Max, meta.Columns[0].Max)
		requireSameBuffer(t, plain, readColumn(t, openTest(t, data, ReaderOptions{}), 0, 0, 333))
	}
}

// TestWriter_SharedLevels: leaves that share their levels are written as if
// they did not.
func TestWriter_SharedLevels(t *testing.T) {
	n := testGroup("l", leaf.Optional, testGroup("list", leaf.Repeated, testNode("a", leaf.Optional, leaf.Int32), testNode("b", leaf.Optional, leaf.Int32)))
	root := testGroup("schema", leaf.Required, n)
	leaves := root.Leaves()
	r := rand.New(rand.NewPCG(6, 6))
	a := testBuffer(r, leaves[0], 500, 0, 0.3)
	b := &leaf.Buffer{Info: leaves[1], Slots: a.Slots, Int32s: a.Int32s}
	b.Def.Share(&a.Def)
	b.Rep.Share(&a.Rep)
	data, _ := writeTest(t, root, WriterOptions{PageRows: 33}, 500, []*leaf.Buffer{a, b}, []*leaf.Buffer{a, b})
	f := openTest(t, data, ReaderOptions{})
	for g := range 2 {
		for j := range 2 {
			requireSameBuffer(t, a, readColumn(t, f, g, j, 64))
		}
	}
}

// TestWriter_Workers: the bytes do not depend on the number of workers.
func TestWriter_Workers(t *testing.T) {
	root, g := flatColumns(9, 2000)
	want, meta := writeTest(t, root, WriterOptions{}, 2000, g, g)
	for _, workers := range []int{2, 5, 20, -1} {
		got, _ := writeTest(t, root, WriterOptions{Workers: workers}, 2000, g, g)
		require.True(t, bytes.Equal(want, got), "%d workers", workers)
	}
	require.Equal(t, []int64{4, meta.RowGroups[1].Offset}, meta.SplitOffsets())
	require.Equal(t, meta.RowGroups[0].Offset+meta.RowGroups[0].Size, meta.RowGroups[1].Offset)
	require.EqualValues(t, 4000, meta.Rows)
	require.EqualValues(t, 4000, meta.Columns[0].Slots)
}

// TestWriter_Misuse: buffers that break their invariants are an error, not a
// wrong file.
func TestWriter_Misuse(t *testing.T) {
	opt := leaf.Info{Node: testNode("x", leaf.Optional, leaf.Int32), Path: []string{"x"}, MaxDef: 1}
	root := testGroup("schema", leaf.Required, opt.Node)
	levels := func(n int) (l leaf.Levels) {
		l.Append(1, n)
		return l
	}
	for name, b := range map[string]*leaf.Buffer{
		"too few levels":       {Info: opt, Slots: 3, Def: levels(2), Int32s: []int32{1, 2, 3}},
		"too few values":       {Info: opt, Slots: 3, Def: levels(3), Int32s: []int32{1, 2}},
		"too many values":      {Info: opt, Slots: 3, Def: levels(3), Int32s: []int32{1, 2, 3, 4}},
		"other rows":           {Info: opt, Slots: 2, Def: levels(2), Int32s: []int32{1, 2}},
		"another leaf":         {Info: leaf.Info{Node: testNode("x", leaf.Optional, leaf.Int64), MaxDef: 1}, Slots: 3, Def: levels(3)},
		"another leaf's level": {Info: leaf.Info{Node: opt.Node, MaxDef: 2}, Slots: 3, Def: levels(3)},
	} {
		w, err := NewWriter(io.Discard, root, WriterOptions{})
		require.NoError(t, err)
		require.ErrorIs(t, w.WriteRowGroup([]*leaf.Buffer{b}, 3), ErrInput, name)
		_, err = w.Close()
		require.ErrorIs(t, err, ErrInput, "the error is sticky")
	}
	fixed := testNode("f", leaf.Required, leaf.Fixed, func(n *leaf.Node) { n.Width = 4 })
	b := &leaf.Buffer{Info: leaf.Info{Node: fixed}, Slots: 1}
	b.AppendBytes([]byte("abc"))
	w, err := NewWriter(io.Discard, testGroup("schema", 0, fixed), WriterOptions{Workers: 2})
	require.NoError(t, err)
	require.ErrorContains(t, w.WriteRowGroup([]*leaf.Buffer{b}, 1), "row group 0: column f: invalid input for a Parquet file: value 0 has 3 bytes where the type has 4")
	require.ErrorIs(t, w.WriteRowGroup(nil, 1), ErrInput)

	w, err = NewWriter(io.Discard, root, WriterOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, w.WriteRowGroup(nil, 1), ErrInput)
	require.NoError(t, w.WriteRowGroup(nil, 0))
	_, err = w.Close()
	require.NoError(t, err)
	_, err = w.Close()
	require.ErrorIs(t, err, errClosed)
	require.ErrorIs(t, w.WriteRowGroup(nil, 1), errClosed)
}

// failAfter fails when more than n bytes are written.
type failAfter struct{ n int }

func (f *failAfter) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// TestWriter_FailingSink: the sink's error comes back, at whichever write.
func TestWriter_FailingSink(t *testing.T) {
	root, g := flatColumns(3, 100)
	data, _ := writeTest(t, root, WriterOptions{}, 100, g)
	for n := 0; n < len(data); n += 97 {
		w, err := NewWriter(&failAfter{n}, root, WriterOptions{})
		if err == nil {
			err = w.WriteRowGroup(g, 100)
		}
		if w != nil {
			_, closing := w.Close()
			err = errors.Join(err, closing)
		}
		require.ErrorIs(t, err, io.ErrClosedPipe, "at %d", n)
	}
}

// TestWriter_LargeValues: pages are cut by bytes as well as by rows, and a
// value larger than a page is whole.
func TestWriter_LargeValues(t *testing.T) {
	n := testNode("x", leaf.Required, leaf.Bytes)
	b := &leaf.Buffer{Info: leaf.Info{Node: n, Path: []string{"x"}}, Slots: 64}
	for i := range 64 {
		b.AppendBytes(bytes.Repeat([]byte{byte(i)}, 10_000))
	}
	data, _ := writeTest(t, testGroup("schema", 0, n), WriterOptions{PageBytes: 25_000}, 64, []*leaf.Buffer{b})
	f := openTest(t, data, ReaderOptions{})
	x, err := f.PageIndex(0, 0)
	require.NoError(t, err)
	require.Greater(t, len(x.Pages), 20)
	requireSameBuffer(t, b, readColumn(t, f, 0, 0, 5))

	// Large values that stand together among small ones.
	b.Reset()
	b.Slots = 10_000
	for i := range 10_000 {
		size := 1
		if i >= 5000 && i < 5030 {
			size = 20_000
		}
		b.AppendBytes(bytes.Repeat([]byte{byte(i)}, size))
	}
	data, _ = writeTest(t, testGroup("schema", 0, n), WriterOptions{PageBytes: 50_000, Codec: Uncompressed}, 10_000, []*leaf.Buffer{b})
	f = openTest(t, data, ReaderOptions{})
	x, err = f.PageIndex(0, 0)
	require.NoError(t, err)
	for _, p := range x.Pages {
		require.Less(t, p.Size, int64(110_000))
	}
	requireSameBuffer(t, b, readColumn(t, f, 0, 0, 999))
}

// TestStriper_Converts: arrays of other widths are taken when nothing is lost.
func TestStriper_Converts(t *testing.T) {
	mem := memory.DefaultAllocator
	from := func(typ arrow.DataType, text string) arrow.Array {
		a, _, err := array.FromJSON(mem, typ, strings.NewReader(text))
		require.NoError(t, err)
		return a
	}
	micros := &arrow.TimestampType{Unit: arrow.Microsecond}
	for _, x := range []struct {
		name string
		to   arrow.DataType
		arr  arrow.Array
		want string
	}{
		{"int32 to int64", arrow.PrimitiveTypes.Int64, from(arrow.PrimitiveTypes.Int32, "[1,null,-3]"), "[1,null,-3]"},
		{"int16 to int64", arrow.PrimitiveTypes.Int64, from(arrow.PrimitiveTypes.Int16, "[1,null,-3]"), "[1,null,-3]"},
		{"int8 to int64", arrow.PrimitiveTypes.Int64, from(arrow.PrimitiveTypes.Int8, "[1,null,-3]"), "[1,null,-3]"},
		{"uint8 to int64", arrow.PrimitiveTypes.Int64, from(arrow.PrimitiveTypes.Uint8, "[1,null,255]"), "[1,null,255]"},
		{"uint16 to int64", arrow.PrimitiveTypes.Int64, from(arrow.PrimitiveTypes.Uint16, "[1,null,65535]"), "[1,null,65535]"},
		{"uint32 to int64", arrow.PrimitiveTypes.Int64, from(arrow.PrimitiveTypes.Uint32, "[1,null,4294967295]"), "[1,null,4294967295]"},
		{"int16 to int32", arrow.PrimitiveTypes.Int32, from(arrow.PrimitiveTypes.Int16, "[1,null,-3]"), "[1,null,-3]"},
		{"uint16 to int32", arrow.PrimitiveTypes.Int32, from(arrow.PrimitiveTypes.Uint16, "[1,null,65535]"), "[1,null,65535]"},
		{"int16", arrow.PrimitiveTypes.Int16, from(arrow.PrimitiveTypes.Int16, "[1,null,-3]"), "[1,null,-3]"},
		{"uint8", arrow.PrimitiveTypes.Uint8, from(arrow.PrimitiveTypes.Uint8, "[1,null,255]"), "[1,null,255]"},
		{"date64 to date32", arrow.FixedWidthTypes.Date32, from(arrow.FixedWidthTypes.Date64, `["1969-12-31",null,"2026-07-01"]`), `["1969-12-31",null,"2026-07-01"]`},
		{"time of millis", arrow.FixedWidthTypes.Time64us, from(arrow.FixedWidthTypes.Time32ms, "[1,null]"), "[1000,null]"},
		{"time of nanos", arrow.FixedWidthTypes.Time64ns, from(arrow.FixedWidthTypes.Time64us, "[1,null]"), "[1000,null]"},
		{"large binary", arrow.BinaryTypes.Binary, from(arrow.BinaryTypes.LargeBinary, `["AA==",null]`), `["AA==",null]`},
		{"binary view", arrow.BinaryTypes.Binary, from(arrow.BinaryTypes.BinaryView, `["AA==",null]`), `["AA==",null]`},
		{"decimal64", &arrow.Decimal128Type{Precision: 9, Scale: 2}, from(&arrow.Decimal64Type{Precision: 9, Scale: 2}, `["1.25",null]`), `["1.25",null]`},
		{"decimal32", &arrow.Decimal128Type{Precision: 20, Scale: 2}, from(&arrow.Decimal32Type{Precision: 9, Scale: 2}, `["-1.25",null]`), `["-1.25",null]`},
		{"int8 to int32", arrow.PrimitiveTypes.Int32, from(arrow.PrimitiveTypes.Int8, "[1,null,-3]"), "[1,null,-3]"},
		{"float to double", arrow.PrimitiveTypes.Float64, from(arrow.PrimitiveTypes.Float32, "[0.5,null]"), "[0.5,null]"},
		{"large string", arrow.BinaryTypes.String, from(arrow.BinaryTypes.LargeString, `["a",null,""]`), `["a",null,""]`},
		{"string view", arrow.BinaryTypes.String, from(arrow.BinaryTypes.StringView, `["a",null,"longer than twelve bytes"]`), `["a",null,"longer than twelve bytes"]`},
		{"dictionary", arrow.BinaryTypes.String, from(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["b",null,"a","b"]`), `["b",null,"a","b"]`},
		{"millis to micros", micros, from(&arrow.TimestampType{Unit: arrow.Millisecond}, "[1,null]"), "[1000,null]"},
		{"whole nanos to micros", micros, from(&arrow.TimestampType{Unit: arrow.Nanosecond}, "[5000,null]"), "[5,null]"},
		{"nothing but null", arrow.PrimitiveTypes.Int32, array.NewNull(3), "[null,null,null]"},
		{"large list", arrow.ListOf(arrow.PrimitiveTypes.Int32), from(arrow.LargeListOf(arrow.PrimitiveTypes.Int32), "[[1],[],null]"), "[[1],[],null]"},
		{"fixed list", arrow.ListOf(arrow.PrimitiveTypes.Int32), from(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), "[[1,2],null]"), "[[1,2],null]"},
		{"missing field", arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), from(arrow.StructOf(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32}), `[{"b":1}]`), `[{"a":null,"b":1}]`},
	} {
		n, err := NodeOf(arrow.Field{Name: "x", Type: x.to, Nullable: true})
		require.NoError(t, err)
		s, err := NewStriper(n)
		require.NoError(t, err)
		require.NoError(t, s.Append(x.arr), x.name)
		var out bytes.Buffer
		w, err := NewWriter(&out, testGroup("schema", 0, n), WriterOptions{})
		require.NoError(t, err)
		require.NoError(t, w.WriteRowGroup(s.Buffers(), s.Rows()))
		_, err = w.Close()
		require.NoError(t, err)
		requireSameValues(t, x.name, from(x.to, x.want), joined(t, readArrow(t, out.Bytes(), 100), 0))
	}
}

// TestStriper_Refuses: what would lose something is an error.
func TestStriper_Refuses(t *testing.T) {
	from := func(typ arrow.DataType, text string) arrow.Array {
		a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(text))
		require.NoError(t, err)
		return a
	}
	micros := &arrow.TimestampType{Unit: arrow.Microsecond}
	for _, x := range []struct {
		name     string
		to       arrow.DataType
		nullable bool
		arr      arrow.Array
	}{
		{"null", arrow.PrimitiveTypes.Int64, false, from(arrow.PrimitiveTypes.Int64, "[1,null]")},
		{"narrowing", arrow.PrimitiveTypes.Int32, true, from(arrow.PrimitiveTypes.Int64, "[1]")},
		{"sign", arrow.PrimitiveTypes.Int32, true, from(arrow.PrimitiveTypes.Uint32, "[1]")},
		{"fraction of a micro", micros, true, from(&arrow.TimestampType{Unit: arrow.Nanosecond}, "[5001]")},
		{"overflow", micros, true, from(&arrow.TimestampType{Unit: arrow.Second}, "[9223372036855]")},
		{"zone", micros, true, from(arrow.FixedWidthTypes.Timestamp_us, "[1]")},
		{"time for timestamp", micros, true, from(arrow.FixedWidthTypes.Time64us, "[1]")},
		{"scale", &arrow.Decimal128Type{Precision: 9, Scale: 2}, true, from(&arrow.Decimal128Type{Precision: 9, Scale: 3}, `["1"]`)},
		{"precision", &arrow.Decimal128Type{Precision: 3, Scale: 1}, true, from(&arrow.Decimal128Type{Precision: 9, Scale: 1}, `["1000"]`)},
		{"width", &arrow.FixedSizeBinaryType{ByteWidth: 4}, true, from(&arrow.FixedSizeBinaryType{ByteWidth: 3}, `["AAAA"]`)},
		{"text for number", arrow.PrimitiveTypes.Int32, true, from(arrow.BinaryTypes.String, `["1"]`)},
		{"struct for list", arrow.ListOf(arrow.PrimitiveTypes.Int32), true, from(arrow.StructOf(), `[{}]`)},
		{"list for struct", arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}), true, from(arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[]]`)},
		{"required field", arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}), true, from(arrow.StructOf(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32}), `[{"b":1}]`)},
	} {
		n, err := NodeOf(arrow.Field{Name: "x", Type: x.to, Nullable: x.nullable})
		require.NoError(t, err)
		s, err := NewStriper(n)
		require.NoError(t, err)
		require.ErrorIs(t, s.Append(x.arr), ErrInput, x.name)
	}
}

// TestWriter_LevelBlocks: levels and values of a page are compressed apart, in
// one frame that arrow-go reads, and near their entropy.
func TestWriter_LevelBlocks(t *testing.T) {
	const rows = 20_000
	in := leaf.Info{Node: testNode("x", leaf.Optional, leaf.Int32), Path: []string{"x"}, MaxDef: 1}
	b := &leaf.Buffer{Info: in, Slots: rows}
	r := rand.New(rand.NewPCG(8, 8))
	for range rows {
		if r.IntN(10) > 0 {
			b.Def.Append(0, 1)
			continue
		}
		b.Def.Append(1, 1)
		b.Int32s = append(b.Int32s, int32(r.Uint32()))
	}
	root := testGroup("schema", leaf.Required, in.Node)
	data, meta := writeTest(t, root, WriterOptions{}, rows, []*leaf.Buffer{b})
	requireSameBuffer(t, b, readColumn(t, openTest(t, data, ReaderOptions{}), 0, 0, 1000))
	fr, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	got, err := oracleColumn(fr, 0, 0, in)
	require.NoError(t, err)
	requireSameBuffer(t, b, got)
	// 0.47 bits a level are 1,172 bytes; the values are noise of 4 bytes each.
	require.Less(t, meta.Columns[0].CompressedSize, int64(4*len(b.Int32s)+1600))
}
