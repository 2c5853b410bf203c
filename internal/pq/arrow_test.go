package pq

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

// arrowSchema has every Iceberg type, alone and nested.
func arrowSchema() *arrow.Schema {
	f := func(name string, typ arrow.DataType, nullable bool) arrow.Field {
		return arrow.Field{Name: name, Type: typ, Nullable: nullable}
	}
	dec := func(p, s int32) arrow.DataType { return &arrow.Decimal128Type{Precision: p, Scale: s} }
	str, i32, i64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	point := arrow.StructOf(f("x", arrow.PrimitiveTypes.Float64, false), f("tag", str, true))
	fields := []arrow.Field{
		f("req", i64, false),
		f("bool", arrow.FixedWidthTypes.Boolean, true),
		f("i32", i32, true),
		f("i64", i64, true),
		f("f32", arrow.PrimitiveTypes.Float32, true),
		f("f64", arrow.PrimitiveTypes.Float64, true),
		f("d9", dec(9, 2), true),
		f("d18", dec(18, 6), true),
		f("d20", dec(20, 0), true),
		f("d38", dec(38, 10), true),
		f("date", arrow.FixedWidthTypes.Date32, true),
		f("time", arrow.FixedWidthTypes.Time64us, true),
		f("ts", &arrow.TimestampType{Unit: arrow.Microsecond}, true),
		f("tstz", arrow.FixedWidthTypes.Timestamp_us, true),
		f("tsns", &arrow.TimestampType{Unit: arrow.Nanosecond}, true),
		f("tstzns", arrow.FixedWidthTypes.Timestamp_ns, true),
		f("str", str, true),
		f("bin", arrow.BinaryTypes.Binary, true),
		f("fix", &arrow.FixedSizeBinaryType{ByteWidth: 7}, true),
		f("i8", arrow.PrimitiveTypes.Int8, true),
		f("u32", arrow.PrimitiveTypes.Uint32, true),
		f("u64", arrow.PrimitiveTypes.Uint64, true),
		f("st", point, true),
		f("streq", point, false),
		f("nest", arrow.StructOf(f("in", point, true), f("n", i32, true)), true),
		f("list", arrow.ListOf(i32), true),
		f("listreq", arrow.ListOfNonNullable(str), false),
		f("lists", arrow.ListOf(arrow.ListOf(str)), true),
		f("points", arrow.ListOf(point), true),
		f("map", arrow.MapOf(str, i64), true),
		f("maps", arrow.MapOf(str, arrow.ListOf(point)), true),
		f("deep", arrow.StructOf(f("l", arrow.ListOf(arrow.StructOf(f("m", arrow.MapOf(i32, point), true), f("q", i64, false))), true)), true),
	}
	for i := range fields {
		fields[i].Metadata = arrow.NewMetadata([]string{FieldIDKey}, []string{fmt.Sprint(i + 1)})
	}
	return arrow.NewSchema(fields, nil)
}

// randomJSON makes a random value of the type as arrow's JSON reader takes it.
func randomJSON(r *rand.Rand, typ arrow.DataType, nullable bool) string {
	if nullable && r.IntN(4) == 0 {
		return "null"
	}
	switch typ := typ.(type) {
	case *arrow.BooleanType:
		return fmt.Sprint(r.IntN(2) == 0)
	case *arrow.Int8Type:
		return fmt.Sprint(int8(r.Uint32()))
	case *arrow.Uint32Type:
		return fmt.Sprint(r.Uint32())
	case *arrow.Int32Type, *arrow.Date32Type:
		return fmt.Sprint(int32(r.Uint32()) >> r.UintN(30))
	case *arrow.Uint64Type:
		return fmt.Sprint(r.Uint64() >> r.UintN(60))
	case *arrow.Int64Type, *arrow.TimestampType:
		return fmt.Sprint(int64(r.Uint64()) >> (12 + r.UintN(48)))
	case *arrow.Time64Type:
		return fmt.Sprint(r.Int64N(86_400_000_000))
	case *arrow.Float32Type, *arrow.Float64Type:
		return fmt.Sprint(float32(r.NormFloat64()))
	case *arrow.Decimal128Type:
		digits := fmt.Sprint(1+r.IntN(9)) + strings.Repeat(fmt.Sprint(r.IntN(10)), r.IntN(int(typ.Precision)))
		return fmt.Sprintf(`"%s%se-%d"`, []string{"", "-"}[r.IntN(2)], digits, typ.Scale)
	case *arrow.StringType:
		return fmt.Sprintf("%q", strings.Repeat("é", r.IntN(3))+fmt.Sprint(r.IntN(50)))
	case *arrow.BinaryType:
		return fmt.Sprintf("%q", []string{"", "AAEC", "/w=="}[r.IntN(3)])
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("%q", []string{"AAECAwQFBg==", "/wECAwQFBg=="}[r.IntN(2)])
	case *arrow.StructType:
		var parts []string
		for _, f := range typ.Fields() {
			parts = append(parts, fmt.Sprintf("%q:%s", f.Name, randomJSON(r, f.Type, f.Nullable)))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case *arrow.MapType:
		var parts []string
		for range r.IntN(4) {
			parts = append(parts, fmt.Sprintf(`{"key":%s,"value":%s}`, randomJSON(r, typ.KeyType(), false), randomJSON(r, typ.ItemType(), true)))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *arrow.ListType:
		var parts []string
		for range r.IntN(4) {
			parts = append(parts, randomJSON(r, typ.Elem(), typ.ElemField().Nullable))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	panic(typ)
}

func randomRecord(t testing.TB, seed uint64, rows int) arrow.RecordBatch {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	s := arrowSchema()
	var text strings.Builder
	text.WriteString("[")
	for i := range rows {
		if i > 0 {
			text.WriteString(",")
		}
		text.WriteString(randomJSON(r, arrow.StructOf(s.Fields()...), false))
	}
	text.WriteString("]")
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(text.String()))
	require.NoError(t, err)
	return rec
}

// writeArrow writes records with this package.
func writeArrow(t testing.TB, opts WriterOptions, recs ...arrow.RecordBatch) []byte {
	t.Helper()
	root, err := RootOf(recs[0].Schema())
	require.NoError(t, err)
	var out bytes.Buffer
	w, err := NewWriter(&out, root, opts)
	require.NoError(t, err)
	var cols []*leaf.Buffer
	rows := 0
	for i, n := range root.Children {
		s, err := NewStriper(n)
		require.NoError(t, err)
		for _, rec := range recs {
			require.NoError(t, s.Append(rec.Column(i)))
		}
		rows = s.Rows()
		cols = append(cols, s.Buffers()...)
	}
	require.NoError(t, w.WriteRowGroup(cols, rows))
	_, err = w.Close()
	require.NoError(t, err)
	return out.Bytes()
}

// readArrow reads all columns with this package, in batches of step rows.
func readArrow(t testing.TB, data []byte, step int) []arrow.RecordBatch {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	f := openTest(t, data, ReaderOptions{})
	var out []arrow.RecordBatch
	var fields []arrow.Field
	for _, n := range f.Schema().Children {
		field, err := FieldOf(n)
		require.NoError(t, err)
		fields = append(fields, field)
	}
	schema := arrow.NewSchema(fields, nil)
	for g := range f.RowGroups() {
		rows := int(f.RowGroup(g).Rows)
		readers := make([]*ColumnReader, len(f.Leaves()))
		for j := range readers {
			var err error
			readers[j], err = f.Column(g, j)
			require.NoError(t, err)
		}
		for from := 0; from < rows; from += step {
			n := min(step, rows-from)
			j := 0
			var cols []arrow.Array
			for _, c := range f.Schema().Children {
				leaves := len((&leaf.Node{Children: []*leaf.Node{c}}).Leaves())
				var batches []*leaf.Batch
				for range leaves {
					b := &leaf.Batch{}
					require.NoError(t, readers[j].Read(b, n))
					batches = append(batches, b)
					j++
				}
				a, err := NewAssembler(c, mem)
				require.NoError(t, err)
				arr, err := a.Assemble(batches, n)
				require.NoError(t, err)
				cols = append(cols, arr)
			}
			rec := array.NewRecordBatch(schema, cols, int64(n))
			for _, c := range cols {
				c.Release()
			}
			out = append(out, rec)
		}
	}
	t.Cleanup(func() {
		for _, r := range out {
			r.Release()
		}
		mem.AssertSize(t, 0)
	})
	return out
}

// readPQArrow reads a file with arrow-go's own reader.
func readPQArrow(t testing.TB, data []byte) arrow.Table {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	require.NoError(t, err)
	table, err := fr.ReadTable(context.Background())
	require.NoError(t, err)
	return table
}

// joined concatenates one column of records.
func joined(t testing.TB, recs []arrow.RecordBatch, i int) arrow.Array {
	t.Helper()
	var parts []arrow.Array
	for _, r := range recs {
		parts = append(parts, r.Column(i))
	}
	out, err := array.Concatenate(parts, memory.DefaultAllocator)
	require.NoError(t, err)
	return out
}

// requireSameValues compares by content: names and metadata of nested fields
// may differ between libraries.
func requireSameValues(t testing.TB, name string, want, got arrow.Array) {
	t.Helper()
	require.Equal(t, want.Len(), got.Len(), name)
	for i := range want.Len() {
		require.Equal(t, want.ValueStr(i), got.ValueStr(i), "%s row %d", name, i)
	}
	require.NoError(t, array.ValidateFull(got), name)
}

// TestArrowRoundTrip checks each direction against arrow-go's own reader and
// writer.
func TestArrowRoundTrip(t *testing.T) {
	rec := randomRecord(t, 1, 400)
	ours := writeArrow(t, WriterOptions{PageRows: 60}, rec)
	t.Run("own reader", func(t *testing.T) {
		for _, step := range []int{400, 33, 5} {
			recs := readArrow(t, ours, step)
			for i, f := range rec.Schema().Fields() {
				requireSameValues(t, f.Name, rec.Column(i), joined(t, recs, i))
			}
		}
	})
	t.Run("arrow-go reader", func(t *testing.T) {
		table := readPQArrow(t, ours)
		for i, f := range rec.Schema().Fields() {
			got, err := array.Concatenate(table.Column(i).Data().Chunks(), memory.DefaultAllocator)
			require.NoError(t, err)
			requireSameValues(t, f.Name, rec.Column(i), got)
			id, ok := table.Schema().Field(i).Metadata.GetValue(FieldIDKey)
			require.True(t, ok)
			require.Equal(t, fmt.Sprint(i+1), id)
		}
	})
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		t.Run(fmt.Sprintf("arrow-go writer %v", version), func(t *testing.T) {
			var out bytes.Buffer
			w, err := pqarrow.NewFileWriter(rec.Schema(), &out, parquet.NewWriterProperties(parquet.WithDataPageVersion(version), parquet.WithDataPageSize(300)), pqarrow.DefaultWriterProps())
			require.NoError(t, err)
			require.NoError(t, w.Write(rec))
			require.NoError(t, w.Close())
			recs := readArrow(t, out.Bytes(), 51)
			for i, f := range rec.Schema().Fields() {
				requireSameValues(t, f.Name, rec.Column(i), joined(t, recs, i))
			}
		})
	}
}

// TestArrowSlices: fault U01, offsets of slices at every level are respected.
func TestArrowSlices(t *testing.T) {
	rec := randomRecord(t, 2, 120)
	var parts []arrow.RecordBatch
	for _, at := range []int64{0, 1, 3, 11, 12, 64, 65, 120} {
		from := int64(0)
		for _, p := range parts {
			from += p.NumRows()
		}
		parts = append(parts, rec.NewSlice(from, at))
	}
	recs := readArrow(t, writeArrow(t, WriterOptions{}, parts...), 50)
	for i, f := range rec.Schema().Fields() {
		requireSameValues(t, f.Name, rec.Column(i), joined(t, recs, i))
	}
}

// TestReader_ValuesInPageHeaders: some writers put the smallest and largest value
// of a page into its header whole, however long; a document of some megabytes made
// a header that was refused as cut off.
func TestReader_ValuesInPageHeaders(t *testing.T) {
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	b.Append(bytes.Repeat([]byte("long"), 1_000_000))
	b.Append([]byte("short"))
	sc := arrow.NewSchema([]arrow.Field{{Name: "doc", Type: arrow.BinaryTypes.Binary}}, nil)
	rec := array.NewRecordBatch(sc, []arrow.Array{b.NewArray()}, 2)
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		var out bytes.Buffer
		props := parquet.NewWriterProperties(parquet.WithDataPageVersion(version), parquet.WithDictionaryDefault(false), parquet.WithMaxStatsSize(16<<20))
		w, err := pqarrow.NewFileWriter(sc, &out, props, pqarrow.DefaultWriterProps())
		require.NoError(t, err)
		require.NoError(t, w.Write(rec))
		require.NoError(t, w.Close())
		require.Greater(t, out.Len(), 8_000_000, "values in the page and in its header")
		requireSameValues(t, "doc", rec.Column(0), joined(t, readArrow(t, out.Bytes(), 2), 0))
	}
}
