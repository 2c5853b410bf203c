package deletevec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// columns has a column of every type that a table can have, and of most others
// that Arrow has.
func columns() []arrow.Field {
	variant := arrow.StructOf(
		arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary},
		arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary, Nullable: true})
	types := []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean,
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Float16,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Timestamp_us,
		arrow.FixedWidthTypes.MonthDayNanoInterval,
		&arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow.Decimal256Type{Precision: 50, Scale: 2},
		&arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.FixedSizeBinaryType{ByteWidth: 16},
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary,
		arrow.BinaryTypes.StringView,
		variant,
		arrow.ListOf(arrow.BinaryTypes.String), arrow.LargeListOf(arrow.PrimitiveTypes.Int64),
		arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int16)),
		arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float64),
		arrow.MapOf(arrow.BinaryTypes.String, variant),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		extensions.NewUUIDType(),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String),
		arrow.ListViewOf(arrow.PrimitiveTypes.Int32),
	}
	fields := make([]arrow.Field, len(types))
	for i, t := range types {
		fields[i] = arrow.Field{Name: fmt.Sprint(i, " ", t), Type: t, Nullable: true}
	}
	return fields
}

// randomBatch fills the columns with random values; nulls is the fraction of
// nulls at each level.
func randomBatch(mem memory.Allocator, r *rand.Rand, rows int, nulls float64) arrow.RecordBatch {
	schema := arrow.NewSchema(columns(), nil)
	cols := make([]arrow.Array, schema.NumFields())
	for i, f := range schema.Fields() {
		b := array.NewBuilder(mem, f.Type)
		for range rows {
			appendRandom(b, r, nulls)
		}
		cols[i] = b.NewArray()
		b.Release()
		defer cols[i].Release()
	}
	return array.NewRecordBatch(schema, cols, int64(rows))
}

func appendRandom(b array.Builder, r *rand.Rand, nulls float64) {
	if r.Float64() < nulls {
		b.AppendNull()
		return
	}
	n := r.IntN(4)
	switch b := b.(type) {
	case *array.Decimal128Builder:
		b.Append(decimal128.FromI64(r.Int64()))
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			appendRandom(b.FieldBuilder(i), r, nulls)
		}
	case *array.MapBuilder:
		b.Append(true)
		for i := range n {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprint("k", i))
			appendRandom(b.ItemBuilder(), r, nulls)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range 3 {
			appendRandom(b.ValueBuilder(), r, nulls)
		}
	case *array.ListViewBuilder:
		b.AppendWithSize(true, n)
		for range n {
			appendRandom(b.ValueBuilder(), r, nulls)
		}
	case array.VarLenListLikeBuilder:
		b.Append(true)
		for range n {
			appendRandom(b.ValueBuilder(), r, nulls)
		}
	case *array.RunEndEncodedBuilder:
		b.Append(1)
		appendRandom(b.ValueBuilder(), r, nulls)
	default:
		appendScalar(b, r)
	}
}

func appendScalar(b array.Builder, r *rand.Rand) {
	text := strings.Repeat("x", r.IntN(20)) + fmt.Sprint(r.IntN(100))
	switch b := b.(type) {
	case *array.NullBuilder:
		b.AppendNull()
	case *array.BooleanBuilder:
		b.Append(r.IntN(2) == 0)
	case *array.FixedSizeBinaryBuilder:
		v := make([]byte, b.Type().(*arrow.FixedSizeBinaryType).ByteWidth)
		for i := range v {
			v[i] = byte(r.Uint32())
		}
		b.Append(v)
	case *array.ExtensionBuilder:
		appendScalar(b.StorageBuilder(), r)
	case *extensions.UUIDBuilder:
		appendScalar(b.StorageBuilder(), r)
	case *array.MonthDayNanoIntervalBuilder:
		b.Append(arrow.MonthDayNanoInterval{Months: r.Int32(), Days: r.Int32(), Nanoseconds: r.Int64()})
	case *array.BinaryBuilder:
		b.AppendString(text)
	case interface{ AppendString(string) error }:
		_ = b.AppendString(text)
	case array.StringLikeBuilder:
		b.Append(text)
	default:
		_ = b.AppendValueFromString(fmt.Sprint(r.IntN(100)))
	}
}

// live is the slow answer: the live rows one by one, joined.
func live(t *testing.T, mem memory.Allocator, c arrow.Array, v *Vector, start int64) arrow.Array {
	var rows []arrow.Array
	for i := range c.Len() {
		if !v.Contains(start + int64(i)) {
			rows = append(rows, array.NewSlice(c, int64(i), int64(i+1)))
		}
	}
	if len(rows) == 0 {
		return array.NewSlice(c, 0, 0)
	}
	defer func() {
		for _, r := range rows {
			r.Release()
		}
	}()
	out, err := array.Concatenate(rows, mem)
	require.NoError(t, err)
	return out
}

// TestFilterMatchesRowByRow filters whole batches and slices at odd offsets
// (U01, U02) and compares with taking the live rows one by one.
func TestFilterMatchesRowByRow(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	r := rand.New(rand.NewPCG(3, 4))
	for _, nulls := range []float64{0, 0.3} {
		batch := randomBatch(mem, r, 700, nulls)
		defer batch.Release()
		for _, share := range []float64{0.002, 0.02, 0.1, 0.5, 0.97} {
			var v Vector
			for p := range int64(2000) {
				if r.Float64() < share {
					require.NoError(t, v.Add(p))
				}
			}
			require.NoError(t, v.AddRange(300, 430)) // whole words
			for _, cut := range [][2]int64{{0, 700}, {5, 690}, {64, 128}, {33, 86}, {290, 440}, {699, 700}} {
				checkFilter(t, mem, batch, &v, cut)
			}
		}
	}
}

func checkFilter(t *testing.T, mem memory.Allocator, batch arrow.RecordBatch, v *Vector, cut [2]int64) {
	part := batch.NewSlice(cut[0], cut[1])
	defer part.Release()
	const start = 17 // the batch is not the first of its file
	got, err := Apply(mem, part, v, start+cut[0])
	require.NoError(t, err)
	defer got.Release()
	require.True(t, got.Schema().Equal(part.Schema()))
	for i, c := range part.Columns() {
		want := live(t, mem, c, v, start+cut[0])
		require.Equal(t, int64(want.Len()), got.NumRows())
		require.True(t, array.Equal(want, got.Column(i)), "column %s, rows %v: want %v\ngot %v",
			part.ColumnName(i), cut, want, got.Column(i))
		require.Equal(t, want.NullN(), got.Column(i).NullN(), part.ColumnName(i))
		requireCleanTail(t, got.Column(i))
		want.Release()
	}
}

// requireCleanTail checks that the bits after the last row of a validity bitmap
// are zero (U02).
func requireCleanTail(t *testing.T, c arrow.Array) {
	b := c.NullBitmapBytes()
	if n := c.Len() % 8; n != 0 && len(b) > 0 && c.Data().Offset() == 0 && len(b) == (c.Len()+7)/8 {
		require.Zero(t, b[len(b)-1]>>n, c.DataType())
	}
}

// A batch without a deleted row passes as it is.
func TestFilterWithoutDeletedRowsCopiesNothing(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	batch := randomBatch(mem, rand.New(rand.NewPCG(1, 1)), 100, 0.1)
	defer batch.Release()
	var v Vector
	require.NoError(t, v.AddMany([]int64{99, 200, 1 << 40}))
	before := mem.CurrentAlloc()
	for _, vector := range []*Vector{nil, {}, &v} {
		out, err := Apply(mem, batch, vector, 100)
		require.NoError(t, err)
		require.Same(t, batch, out)
		out.Release()
	}
	require.Equal(t, before, mem.CurrentAlloc())
	var m Mask
	m.Reset(&v, 0, 8192)
	require.Zero(t, testing.AllocsPerRun(100, func() { m.Reset(&v, 100, 8192) }))
}

func TestFilterEdges(t *testing.T) {
	batch := randomBatch(memory.DefaultAllocator, rand.New(rand.NewPCG(1, 1)), 100, 0.1)
	defer batch.Release()
	var v Vector
	require.NoError(t, v.AddRange(0, 1000))
	out, err := Apply(nil, batch, &v, 50)
	require.NoError(t, err)
	require.Zero(t, out.NumRows())
	require.Equal(t, batch.NumCols(), out.NumCols())
	_, err = v.Mask(0, 99).Filter(nil, batch)
	require.ErrorContains(t, err, "batch of 100 rows, mask of 99")
	empty := batch.NewSlice(0, 0)
	out, err = Apply(nil, empty, &v, 50)
	require.NoError(t, err)
	require.Same(t, empty, out)
}

// TestMaskMatchesContains checks masks of all shapes at ranges that begin and end
// inside, before and after their chunks.
func TestMaskMatchesContains(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var m Mask
	for name, positions := range shapes() {
		forms := map[string]*Vector{"built": builders["AddMany"](t, positions), "bitmaps": builders["Add"](t, positions)}
		for i := range forms["bitmaps"].cs {
			forms["bitmaps"].cs[i].toBitmap()
		}
		blob, err := AppendBlob(nil, forms["built"])
		require.NoError(t, err)
		forms["parsed"], err = ParseBlob(blob)
		require.NoError(t, err)
		for form, v := range forms {
			for range 40 {
				at := positions[r.IntN(len(positions))]
				start := max(0, at-r.Int64N(300))
				rows := r.IntN(400)
				if r.IntN(4) == 0 {
					rows = r.IntN(200_000)
				}
				if start > 1<<62+1000 {
					continue
				}
				m.Reset(v, start, rows)
				require.Equal(t, rows, m.Rows())
				deleted := 0
				for i := range rows {
					want := v.Contains(start + int64(i))
					if want {
						deleted++
					}
					if want != m.IsDeleted(i) {
						require.Equal(t, want, m.IsDeleted(i), "%s/%s: row %d from %d", name, form, i, start)
					}
				}
				require.Equal(t, deleted, m.Deleted())
				require.Equal(t, rows-deleted, m.Live())
				if rows%64 != 0 && len(m.Words()) > 0 {
					require.Zero(t, m.Words()[len(m.Words())-1]>>(rows%64))
				}
			}
		}
	}
}
