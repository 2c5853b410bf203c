package pq

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

func timeNode(l leaf.Logical, u leaf.Unit, utc bool) func(*leaf.Node) {
	return func(n *leaf.Node) { n.Logical, n.Unit, n.UTC = l, u, utc }
}

// annotatedSchema has every annotation that is written.
func annotatedSchema() *leaf.Node {
	root := testGroup("table", leaf.Required,
		testNode("string", leaf.Optional, leaf.Bytes, annotated(leaf.String)),
		testNode("enum", leaf.Optional, leaf.Bytes, annotated(leaf.Enum)),
		testNode("json", leaf.Optional, leaf.Bytes, annotated(leaf.JSON)),
		testNode("bson", leaf.Optional, leaf.Bytes, annotated(leaf.BSON)),
		testNode("uuid", leaf.Optional, leaf.Fixed, annotated(leaf.UUID), func(n *leaf.Node) { n.Width = 16 }),
		testNode("half", leaf.Optional, leaf.Fixed, annotated(leaf.Float16), func(n *leaf.Node) { n.Width = 2 }),
		testNode("unknown", leaf.Optional, leaf.Int32, annotated(leaf.Unknown)),
		testNode("d9", leaf.Optional, leaf.Int32, decimalNode(leaf.Int32, 0, 9, 3)),
		testNode("d38", leaf.Required, leaf.Fixed, decimalNode(leaf.Fixed, 16, 38, 10)),
		testNode("date", leaf.Optional, leaf.Int32, annotated(leaf.Date)),
	)
	for _, u := range []leaf.Unit{leaf.Millis, leaf.Micros, leaf.Nanos} {
		for _, utc := range []bool{true, false} {
			typ := leaf.Int64
			if u == leaf.Millis {
				typ = leaf.Int32
			}
			root.Children = append(root.Children,
				testNode(fmt.Sprint("time", u, utc), leaf.Optional, typ, timeNode(leaf.Time, u, utc)),
				testNode(fmt.Sprint("timestamp", u, utc), leaf.Optional, leaf.Int64, timeNode(leaf.Timestamp, u, utc)))
		}
	}
	for _, bits := range []int{8, 16, 32, 64} {
		for _, signed := range []bool{true, false} {
			typ := leaf.Int32
			if bits == 64 {
				typ = leaf.Int64
			}
			root.Children = append(root.Children, testNode(fmt.Sprint("int", bits, signed), leaf.Required, typ, integerNode(bits, signed)))
		}
	}
	for i, c := range root.Children {
		c.FieldID = i + 1
	}
	list := testGroup("list", leaf.Optional, testGroup("list", leaf.Repeated, testNode("element", leaf.Optional, leaf.Int32)))
	list.Logical, list.FieldID = leaf.List, 1000
	dict := testGroup("map", leaf.Optional, testGroup("key_value", leaf.Repeated, testNode("key", leaf.Required, leaf.Bytes), testNode("value", leaf.Optional, leaf.Int32)))
	dict.Logical, dict.FieldID = leaf.Map, 1001
	variant := testGroup("v.with dot", leaf.Optional, testNode("metadata", leaf.Required, leaf.Bytes), testNode("value", leaf.Required, leaf.Bytes))
	variant.Logical, variant.FieldID = leaf.Variant, 1002
	root.Children = append(root.Children, list, dict, variant)
	return root
}

// emptyFile writes a file without rows.
func emptyFile(t testing.TB, root *leaf.Node) []byte {
	t.Helper()
	data, meta := writeTest(t, root, WriterOptions{CreatedBy: "test version 1", Metadata: []KeyValue{{"k", "v"}, {"empty", ""}}}, 0)
	require.Zero(t, meta.Rows)
	require.Empty(t, meta.SplitOffsets())
	return data
}

// TestSchema_RoundTrip: what is written is read, and arrow-go reads it too.
func TestSchema_RoundTrip(t *testing.T) {
	root := annotatedSchema()
	data := emptyFile(t, root)
	f := openTest(t, data, ReaderOptions{})
	require.Equal(t, root, f.Schema())
	require.Equal(t, "test version 1", f.CreatedBy())
	require.Equal(t, []KeyValue{{"k", "v"}, {"empty", ""}}, f.Metadata())
	require.Zero(t, f.RowGroups())

	fr, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	theirs := fr.MetaData().Schema.Root()
	require.Equal(t, len(root.Children), theirs.NumFields())
	for i, n := range root.Children {
		c := theirs.Field(i)
		require.Equal(t, n.Name, c.Name())
		require.EqualValues(t, n.FieldID, c.FieldID())
		require.Equal(t, arrowGoLogical(n), c.LogicalType().String(), n.Name)
	}
	variant := theirs.Field(len(root.Children) - 1).(*schema.GroupNode)
	require.EqualValues(t, -1, variant.Field(0).FieldID(), "no ids inside of a Variant")
}

// arrowGoLogical spells an annotation as arrow-go does.
func arrowGoLogical(n *leaf.Node) string {
	unit := map[leaf.Unit]string{leaf.Millis: "milliseconds", leaf.Micros: "microseconds", leaf.Nanos: "nanoseconds"}[n.Unit]
	switch n.Logical {
	case leaf.Decimal:
		return fmt.Sprintf("Decimal(precision=%d, scale=%d)", n.Precision, n.Scale)
	case leaf.Integer:
		return fmt.Sprintf("Int(bitWidth=%d, isSigned=%v)", n.Bits, n.Signed)
	case leaf.Time:
		return fmt.Sprintf("Time(isAdjustedToUTC=%v, timeUnit=%s)", n.UTC, unit)
	case leaf.Timestamp:
		return fmt.Sprintf("Timestamp(isAdjustedToUTC=%v, timeUnit=%s, is_from_converted_type=false, force_set_converted_type=false)", n.UTC, unit)
	case leaf.Unknown:
		return "Null"
	default:
		return map[leaf.Logical]string{leaf.String: "String", leaf.Enum: "Enum", leaf.JSON: "JSON", leaf.BSON: "BSON", leaf.UUID: "UUID", leaf.Float16: "Float16", leaf.Date: "Date", leaf.List: "List", leaf.Map: "Map", leaf.Variant: "Variant"}[n.Logical]
	}
}

// TestSchema_ConvertedTypes: annotations of old writers mean the same.
func TestSchema_ConvertedTypes(t *testing.T) {
	for converted := convertedUTF8; converted <= convertedInterval; converted++ {
		e := schemaElement{node: &leaf.Node{Repetition: leaf.Optional}, converted: converted}
		e.convert()
		n := e.node
		require.NotEqual(t, leaf.None, n.Logical)
		if n.Logical == leaf.Other || converted == convertedMapKeyValue {
			continue
		}
		require.Equal(t, converted, convertedOf(n))
	}
	inner := schemaElement{node: &leaf.Node{Repetition: leaf.Repeated}, converted: convertedMapKeyValue}
	inner.convert()
	require.Equal(t, leaf.None, inner.node.Logical)
}

// TestSchema_Invalid: trees that are no Parquet schema are refused.
func TestSchema_Invalid(t *testing.T) {
	for name, n := range map[string]*leaf.Node{
		"leaf as root":  testNode("x", 0, leaf.Int32),
		"same name":     testGroup("r", 0, testNode("a", 0, leaf.Int32), testNode("a", 0, leaf.Int32)),
		"no width":      testGroup("r", 0, testNode("a", 0, leaf.Fixed)),
		"no digits":     testGroup("r", 0, testNode("a", 0, leaf.Int32, decimalNode(leaf.Int32, 0, 0, 0))),
		"scale above":   testGroup("r", 0, testNode("a", 0, leaf.Int32, decimalNode(leaf.Int32, 0, 1, 2))),
		"too precise":   testGroup("r", 0, testNode("a", 0, leaf.Int32, decimalNode(leaf.Int32, 0, 10, 2))),
		"fixed short":   testGroup("r", 0, testNode("a", 0, leaf.Fixed, decimalNode(leaf.Fixed, 8, 19, 2))),
		"leaf and more": testGroup("r", 0, &leaf.Node{Name: "a", Type: leaf.Int32, Children: []*leaf.Node{testNode("b", 0, leaf.Int32)}}),
	} {
		_, err := NewWriter(&bytes.Buffer{}, n, WriterOptions{})
		require.ErrorIs(t, err, ErrInput, name)
	}
	_, err := NewWriter(&bytes.Buffer{}, nil, WriterOptions{})
	require.ErrorIs(t, err, ErrInput)
	err = WriterOptions{Codec: Brotli, PageRows: -1, StatisticsBytes: -1}.Validate()
	for _, part := range []string{"BROTLI", "PageRows", "StatisticsBytes"} {
		require.ErrorContains(t, err, part)
	}
}

// TestDecimalWidth_S08: a fixed decimal has as many bytes as its precision
// needs, and every value fills them.
func TestDecimalWidth_S08(t *testing.T) {
	for precision, width := range map[int32]int{19: 9, 20: 9, 21: 9, 22: 10, 28: 12, 35: 15, 36: 16, 38: 16} {
		typ := &arrow.Decimal128Type{Precision: precision, Scale: 2}
		n, err := NodeOf(arrow.Field{Name: "d", Type: typ})
		require.NoError(t, err)
		require.Equal(t, leaf.Fixed, n.Type)
		require.Equal(t, width, n.Width, "precision %d", precision)
		nines := strings.Repeat("9", int(precision)-2) + ".99"
		arr, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(`["`+nines+`","-`+nines+`","-0.01","0.00"]`))
		require.NoError(t, err)
		s, err := NewStriper(n)
		require.NoError(t, err)
		require.NoError(t, s.Append(arr))
		b := s.Buffers()[0]
		require.Len(t, b.Data, 4*width)
		rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "d", Type: typ}}, nil), []arrow.Array{arr}, 4)
		data := writeArrow(t, WriterOptions{}, rec)
		requireSameValues(t, "own", arr, joined(t, readArrow(t, data, 4), 0))
		theirs := readPQArrow(t, data).Column(0).Data().Chunk(0)
		requireSameValues(t, "arrow-go", arr, theirs)
	}
}

// legacyList makes the nodes of a list as old writers did.
func legacyList(repeated *leaf.Node) *leaf.Node {
	n := testGroup("l", leaf.Optional, repeated)
	n.Logical = leaf.List
	return n
}

// TestLegacyLists follows the rules of LogicalTypes.md for lists of two levels.
func TestLegacyLists(t *testing.T) {
	str := testNode("str", leaf.Required, leaf.Bytes, annotated(leaf.String))
	num := testNode("num", leaf.Required, leaf.Int32)
	for _, x := range []struct {
		want string
		node *leaf.Node
	}{
		{"list<element: int32>", legacyList(testNode("element", leaf.Repeated, leaf.Int32))},
		{"list<element: struct<str: utf8, num: int32>>", legacyList(testGroup("element", leaf.Repeated, str, num))},
		{"list<element: struct<str: utf8>>", legacyList(testGroup("array", leaf.Repeated, str))},
		{"list<element: struct<str: utf8>>", legacyList(testGroup("l_tuple", leaf.Repeated, str))},
		{"list<element: utf8>", legacyList(testGroup("bag", leaf.Repeated, str))},
		{"list<element: int32>", testNode("bare", leaf.Repeated, leaf.Int32)},
	} {
		f, err := FieldOf(x.node)
		require.NoError(t, err)
		require.Equal(t, x.want, f.Type.String())
	}
}

// TestVariantField: the storage struct, its extension name, and no shredded ones.
func TestVariantField(t *testing.T) {
	root := annotatedSchema()
	n := root.Children[len(root.Children)-1]
	f, err := FieldOf(n)
	require.NoError(t, err)
	name, _ := f.Metadata.GetValue(ExtensionKey)
	require.Equal(t, VariantExtension, name)
	require.Equal(t, "struct<metadata: binary, value: binary>", f.Type.String())
	back, err := NodeOf(f)
	require.NoError(t, err)
	require.Equal(t, n, back)
	shredded := testGroup("v", leaf.Optional, testNode("metadata", leaf.Required, leaf.Bytes), testNode("value", leaf.Optional, leaf.Bytes), testNode("typed_value", leaf.Optional, leaf.Int32))
	shredded.Logical = leaf.Variant
	_, err = FieldOf(shredded)
	require.ErrorIs(t, err, ErrUnsupported)
}

// shreddedInt is a Variant shredded as int32.
func shreddedInt(name string, rep leaf.Repetition) *leaf.Node {
	n := testGroup(name, rep, testNode("metadata", leaf.Required, leaf.Bytes), testNode("value", leaf.Optional, leaf.Bytes), testNode("typed_value", leaf.Optional, leaf.Int32))
	n.Logical = leaf.Variant
	return n
}

// TestVariantAssembler: shredded Variants in lists and structs, one value a
// slot, with empty and missing parents.
func TestVariantAssembler(t *testing.T) {
	list := testGroup("l", leaf.Optional, testGroup("list", leaf.Repeated, shreddedInt("element", leaf.Optional)))
	list.Logical = leaf.List
	st := testGroup("s", leaf.Optional, shreddedInt("v", leaf.Required), testNode("n", leaf.Optional, leaf.Int32))
	for _, x := range []struct {
		node     *leaf.Node
		def, rep uint8
		levels   []uint8 // definition levels of the metadata leaf
		reps     []uint8
		rows     int
		want     string
	}{
		{
			list, 2, 1,
			[]uint8{3, 2, 3, 1, 0, 3},
			[]uint8{0, 1, 1, 0, 0, 0},
			4,
			`[[mv0 null mv2] [] null [mv5]]`,
		},
		{
			st, 1, 0,
			[]uint8{1, 0, 1},
			nil, 3,
			`[[mv0] null [mv2]]`,
		},
	} {
		_, err := NewAssembler(x.node, memory.DefaultAllocator)
		require.ErrorIs(t, err, ErrUnsupported)
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		a, err := NewVariantAssembler(x.node, mem, func(group *leaf.Node, def, rep uint8) (VariantValues, error) {
			require.Equal(t, leaf.Variant, group.Logical)
			require.Equal(t, []uint8{x.def, x.rep}, []uint8{def, rep})
			return func(batches []*leaf.Batch, slots int, each func(int, []byte, []byte) error) error {
				require.Len(t, batches, 3)
				for i := range slots {
					m, v := []byte("m"), []byte(fmt.Sprint("v", i))
					if batches[0].Def[i] < batches[0].MaxDef {
						m, v = nil, nil
					}
					if err := each(i, m, v); err != nil {
						return err
					}
				}
				return nil
			}, nil
		})
		require.NoError(t, err)
		var batches []*leaf.Batch
		for _, in := range (&leaf.Node{Children: []*leaf.Node{x.node}}).Leaves() {
			b := &leaf.Batch{Info: in, Rows: x.rows, Slots: len(x.levels), Nulls: len(x.levels), Def: x.levels, Rep: x.reps}
			batches = append(batches, b)
		}
		arr, err := a.Assemble(batches, x.rows)
		require.NoError(t, err)
		require.NoError(t, array.ValidateFull(arr))
		require.Equal(t, x.want, variantText(arr))
		arr.Release()
		mem.AssertSize(t, 0)
	}
}

// variantText prints an array of Variants, alone or nested.
func variantText(arr arrow.Array) string {
	var parts []string
	switch a := arr.(type) {
	case *array.List:
		for i := range a.Len() {
			if a.IsNull(i) {
				parts = append(parts, "null")
				continue
			}
			lo, hi := a.ValueOffsets(i)
			part := array.NewSlice(a.ListValues(), lo, hi)
			parts = append(parts, variantText(part))
			part.Release()
		}
	case *array.Struct:
		value, isVariant := a.Field(a.NumField() - 1).(*array.Binary)
		for i := range a.Len() {
			switch {
			case a.IsNull(i):
				parts = append(parts, "null")
			case isVariant:
				parts = append(parts, string(a.Field(0).(*array.Binary).Value(i))+string(value.Value(i)))
			default:
				part := array.NewSlice(a.Field(0), int64(i), int64(i+1))
				parts = append(parts, variantText(part))
				part.Release()
			}
		}
	}
	return "[" + strings.Join(parts, " ") + "]"
}
