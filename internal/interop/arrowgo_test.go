//go:build interop

package interop

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
	"github.com/frazil/frazil/variant/arrowvariant"
)

// arrowGoFiles is arrow-go, in this process. What it is known to get wrong is left
// out of the columns that it is compared on, by readable and writable, and has
// tests of its own below.
type arrowGoFiles struct{}

func (arrowGoFiles) read(t *testing.T, file string) (values []variant.Value, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("arrow-go panics: %v", p)
		}
	}()
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	table, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(data), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer table.Release()
	for _, chunk := range table.Column(0).Data().Chunks() {
		docs := chunk.(*extensions.VariantArray)
		for i := range docs.Len() {
			if docs.Storage().IsNull(i) { // its own IsNull counts Variant null as well
				values = append(values, variant.Value{})
				continue
			}
			theirs, err := docs.Value(i)
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", i, err)
			}
			v, err := arrowvariant.FromValue(theirs)
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", i, err)
			}
			values = append(values, v.Clone())
		}
	}
	return values, nil
}

func (arrowGoFiles) write(t *testing.T, file string, values []variant.Value, schema *shred.Schema) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("arrow-go panics: %v", p)
		}
	}()
	typ := extensions.NewDefaultVariantType()
	if schema != nil {
		typ = extensions.NewShreddedVariantType(arrowType(schema))
	}
	b := extensions.NewVariantBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	for _, v := range values {
		if v.IsMissing() {
			b.AppendNull()
			continue
		}
		theirs, err := arrowvariant.ToValue(v)
		if err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
		b.Append(theirs)
	}
	docs := b.NewArray()
	defer docs.Release()
	sc := arrow.NewSchema([]arrow.Field{{Name: "doc", Type: typ, Nullable: true}}, nil)
	batch := array.NewRecordBatch(sc, []arrow.Array{docs}, int64(docs.Len()))
	defer batch.Release()
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	w, err := pqarrow.NewFileWriter(sc, out, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd)), pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	if err := w.Write(batch); err != nil {
		return err
	}
	return w.Close()
}

// arrowGoOffsets is the size of a dictionary's header and offsets up to which
// arrow-go reads it: behind, a cursor of eight bits wraps.
const arrowGoOffsets = 255

// readable leaves out what arrow-go panics on.
func readable(list []corpus) (out []corpus) {
	for _, c := range list {
		c.values = slices.DeleteFunc(c.values, func(v variant.Value) bool {
			if v.IsMissing() {
				return false
			}
			m := v.Metadata()
			width := int(m[0]>>6) + 1
			names := 0
			for i := range width {
				names |= int(m[1+i]) << (8 * i)
			}
			return 1+width*(names+2) > arrowGoOffsets
		})
		out = append(out, c)
	}
	return out
}

// writable leaves out of the schemas what arrow-go shreds wrongly: lists, and
// floats and doubles where both occur.
func writable(list []corpus) (out []corpus) {
	for _, c := range readable(list) {
		if c.schema != nil {
			c.schema = withoutLists(c.schema)
		}
		if c.name != "leaf float" && c.name != "leaf double" {
			out = append(out, c)
		}
	}
	return out
}

func withoutLists(s *shred.Schema) *shred.Schema {
	if s.Shape != shred.Object {
		if s.Shape == shred.List {
			return nil
		}
		return s
	}
	var fields []shred.Field
	for _, f := range s.Fields {
		if kept := withoutLists(f.Schema); kept != nil {
			fields = append(fields, shred.Field{Name: f.Name, Schema: kept})
		}
	}
	if fields == nil {
		return nil
	}
	return shred.ObjectOf(fields)
}

// arrowType is the type of what a schema shreds, as NewShreddedVariantType takes it.
func arrowType(s *shred.Schema) arrow.DataType {
	switch s.Shape {
	case shred.Object:
		var fields []arrow.Field
		for _, f := range s.Fields {
			fields = append(fields, arrow.Field{Name: f.Name, Type: arrowType(f.Schema), Nullable: true})
		}
		return arrow.StructOf(fields...)
	case shred.List:
		return arrow.ListOf(arrowType(s.Elem))
	case shred.Leaf:
		return arrowLeaf(s.Type)
	case shred.Opaque:
	}
	panic("BUG: a node without type: " + s.String())
}

func arrowLeaf(t shred.Type) arrow.DataType {
	switch t.Kind {
	case variant.KindBool:
		return arrow.FixedWidthTypes.Boolean
	case variant.KindInt8:
		return arrow.PrimitiveTypes.Int8
	case variant.KindInt16:
		return arrow.PrimitiveTypes.Int16
	case variant.KindInt32:
		return arrow.PrimitiveTypes.Int32
	case variant.KindInt64:
		return arrow.PrimitiveTypes.Int64
	case variant.KindFloat:
		return arrow.PrimitiveTypes.Float32
	case variant.KindDouble:
		return arrow.PrimitiveTypes.Float64
	case variant.KindDecimal4, variant.KindDecimal8, variant.KindDecimal16: // pqarrow writes one width only
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case variant.KindDate:
		return arrow.FixedWidthTypes.Date32
	case variant.KindTime:
		return arrow.FixedWidthTypes.Time64us
	case variant.KindTimestamp:
		return arrow.FixedWidthTypes.Timestamp_us
	case variant.KindTimestampNTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case variant.KindTimestampNanos:
		return arrow.FixedWidthTypes.Timestamp_ns
	case variant.KindTimestampNTZNanos:
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	case variant.KindString:
		return arrow.BinaryTypes.String
	case variant.KindBinary:
		return arrow.BinaryTypes.Binary
	case variant.KindUUID:
		return extensions.NewUUIDType()
	default:
		panic("BUG: no leaf: " + t.Kind.String())
	}
}

// TestArrowGoReadsOurFiles: every type of leaf, shape and document is the same
// value in arrow-go, but for those with many names.
func TestArrowGoReadsOurFiles(t *testing.T) {
	works(t, arrowGo, readsFiles)
	theyRead(t, arrowGoFiles{}, readable(corpora(t, arrowGo)))
}

// TestArrowGoPanicsOnManyNames: a dictionary whose offsets take more than 255 bytes
// ends its reader.
func TestArrowGoPanicsOnManyNames(t *testing.T) {
	fails(t, arrowGo, "reads documents with more than some 120 names", "it panics")
	var doc strings.Builder
	for i := range 126 {
		fmt.Fprintf(&doc, `,"k%06d":%d`, i, i)
	}
	v, err := variant.ParseJSON([]byte("{" + doc.String()[1:] + "}"))
	require.NoError(t, err)
	_, err = arrowGoFiles{}.read(t, ourFile(t, []variant.Value{v}, nil))
	require.ErrorContains(t, err, "slice bounds out of range")
}

// TestWeReadArrowGoFiles: what arrow-go shreds is the same value to us, but for
// lists.
func TestWeReadArrowGoFiles(t *testing.T) {
	works(t, arrowGo, writesFiles)
	weReadTheirs(t, arrowGoFiles{}, writable(corpora(t, arrowGo)))
}

// TestArrowGoShredsListsWrongly: a field that is missing becomes the list [null],
// whose name is not in the row's dictionary, and an empty list takes two entries, so
// that the lists of later rows are those of others. Both are on disk; the
// specification knows a missing field by null in value and typed_value.
func TestArrowGoShredsListsWrongly(t *testing.T) {
	fails(t, arrowGo, "shreds lists", "missing ones become [null], and after empty ones rows get the lists of others")
	write := func(schema string, texts ...string) string {
		s, err := shred.Parse(schema)
		require.NoError(t, err)
		var values []variant.Value
		for _, text := range texts {
			v, err := variant.ParseJSON([]byte(text))
			require.NoError(t, err)
			values = append(values, v)
		}
		file := filepath.Join(t.TempDir(), "theirs.parquet")
		require.NoError(t, arrowGoFiles{}.write(t, file, values, s))
		return file
	}
	_, _, err := tryRead(t, write("struct<l list<bigint>, s string>", `{"s":"no list"}`))
	require.ErrorIs(t, err, shred.ErrCorrupt)
	require.ErrorContains(t, err, "the name is not in the metadata")

	got, _, err := tryRead(t, write("struct<l list<bigint>, s string>", `{"s":"no list"}`, `{"l":[1],"s":"a"}`))
	require.ErrorIs(t, err, shred.ErrCorrupt, "%v", got)

	got, _, err = tryRead(t, write("list<list<bigint>>", "[[]]", "[[1]]", "[[2,3]]"))
	require.NoError(t, err)
	require.NotEqual(t, []string{"[[]]", "[[1]]", "[[2,3]]"}, []string{got[0].String(), got[1].String(), got[2].String()})
}

// TestArrowGoMixesFloatsAndDoubles: it shreds a float into a leaf of doubles, and a
// double into one of floats, which loses digits. They are different types of the
// encoding, so either belongs into value.
func TestArrowGoMixesFloatsAndDoubles(t *testing.T) {
	fails(t, arrowGo, "keeps floats and doubles apart", "a double in a leaf of floats loses digits")
	types := leafTypes(t)
	for leaf, misfit := range map[string]variant.Value{"float": types["double"][0], "double": types["float"][0]} {
		s, err := shred.Parse(leaf)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "theirs.parquet")
		require.NoError(t, arrowGoFiles{}.write(t, file, []variant.Value{misfit}, s))
		got, _ := weRead(t, file)
		require.NotEqual(t, misfit.Kind(), got[0].Kind())
	}
}
