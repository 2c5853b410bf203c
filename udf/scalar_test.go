package udf

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func floats(mem memory.Allocator, values []float64, valid []bool) arrow.Array {
	b := array.NewFloat64Builder(mem)
	defer b.Release()
	b.AppendValues(values, valid)
	return b.NewArray()
}

// eval calls a function for whole columns, which it releases, and returns the
// result as text.
func eval(t *testing.T, mem memory.Allocator, f *Scalar, args ...arrow.Array) string {
	out, err := f.Eval(context.Background(), mem, args[0].Len(), args...)
	for _, a := range args {
		a.Release()
	}
	require.NoError(t, err)
	defer out.Release()
	requireSound(t, out)
	return out.(interface{ String() string }).String()
}

// requireSound checks what U02 is about: the null count is that of the bits, and
// no bit is set after the last row.
func requireSound(t *testing.T, a arrow.Array) {
	nulls := 0
	for i := range a.Len() {
		if a.IsNull(i) {
			nulls++
		}
	}
	require.Equal(t, nulls, a.NullN())
	bits := a.NullBitmapBytes()
	if n := a.Len() % 8; n != 0 && len(bits) == (a.Len()+7)/8 {
		require.Zero(t, bits[len(bits)-1]>>n)
	}
}

// slice cuts rows out of an array and releases the whole.
func slice(a arrow.Array, from, to int64) arrow.Array {
	defer a.Release()
	return array.NewSlice(a, from, to)
}

// U01: a function respects the offset of a slice.
func TestU01SliceOffset(t *testing.T) {
	mem := checked(t)
	round := Scalar1("round", Each(math.Round), ScalarOptions{})
	in := floats(mem, []float64{5.1, 0, 6.8, 0, 7.2}, []bool{true, false, true, false, true})
	require.Equal(t, "[(null) 7 (null) 7]", eval(t, mem, round, slice(in, 1, 5)))

	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.AppendValues([]string{"hello", " ", "world", ""}, []bool{true, true, true, false})
	upper := Scalar1("upper", Each(strings.ToUpper), ScalarOptions{})
	require.Equal(t, `[" " "WORLD"]`, eval(t, mem, upper, slice(b.NewArray(), 1, 3)))
	b.AppendValues([]string{"hello", " ", "world", ""}, []bool{true, true, true, false})
	require.Equal(t, `["WORLD" (null)]`, eval(t, mem, upper, slice(b.NewArray(), 2, 4)))

	bools := array.NewBooleanBuilder(mem)
	defer bools.Release()
	bools.AppendValues([]bool{true, false, false, true, true, true, false, true, false, true, true}, nil)
	not := Scalar1("not", Each(func(x bool) bool { return !x }), ScalarOptions{})
	require.Equal(t, "[true false true false]", eval(t, mem, not, slice(bools.NewArray(), 6, 10)))

	nested := array.NewListBuilder(mem, arrow.PrimitiveTypes.Int64)
	defer nested.Release()
	for i := range int64(5) {
		nested.Append(true)
		for j := range i {
			nested.ValueBuilder().(*array.Int64Builder).Append(10*i + j)
		}
	}
	length := NewScalar("length", nil, arrow.PrimitiveTypes.Int64, func(c *Call, rows int, args []arrow.Array) (arrow.Array, error) {
		out := array.NewInt64Builder(c.Mem)
		defer out.Release()
		for i := range rows {
			from, to := args[0].(*array.List).ValueOffsets(i)
			out.Append(to - from)
		}
		return out.NewArray(), nil
	})
	require.Equal(t, "[2 3 4]", eval(t, mem, length, slice(nested.NewArray(), 2, 5)))
}

// U02: null counts and tail bits over slices that end in the middle of words,
// across chunks.
func TestU02NullCountsAndTailBits(t *testing.T) {
	mem := checked(t)
	nullif := NewScalar("nullif", nil, arrow.PrimitiveTypes.Float64, func(c *Call, rows int, args []arrow.Array) (arrow.Array, error) {
		b := array.NewFloat64Builder(c.Mem)
		defer b.Release()
		a := args[0].(*array.Float64)
		for i := range rows {
			if a.IsNull(i) || a.Value(i) == 3 {
				b.AppendNull()
				continue
			}
			b.Append(a.Value(i))
		}
		return b.NewArray(), nil
	})
	plus := Scalar1("plus", Each(func(x float64) float64 { return x + 1 }), ScalarOptions{})
	values, valid := make([]float64, 3000), make([]bool, 3000)
	for i := range values {
		values[i], valid[i] = float64(i%7), i%5 != 0
	}
	for _, cut := range [][2]int64{{5, 805}, {33, 86}, {0, 1024}, {1, 2}, {1, 2500}, {4, 4}, {5, 6}} {
		in := slice(floats(mem, values, valid), cut[0], cut[1])
		for _, f := range []*Scalar{nullif, plus} {
			out, err := f.Eval(context.Background(), mem, in.Len(), in)
			require.NoError(t, err)
			requireSound(t, out)
			for i := range out.Len() {
				row := int(cut[0]) + i
				null := !valid[row] || f == nullif && values[row] == 3
				require.Equal(t, null, out.IsNull(i))
				if !null && f == plus {
					require.Equal(t, values[row]+1, out.(*array.Float64).Value(i))
				}
			}
			out.Release()
		}
		in.Release()
	}
	// All valid: no bitmap and a bitmap of ones are the same column.
	a := floats(mem, []float64{1, 2}, nil)
	b := floats(mem, []float64{1, 2}, []bool{true, true})
	require.Equal(t, eval(t, mem, plus, a), eval(t, mem, plus, b))
}

// U05: a function of a selection gives what a selection of its results gives.
func TestU05SelectionCommutes(t *testing.T) {
	mem := checked(t)
	all := batchOf(mem, randomTrades(1, 4000))
	defer all.Release()
	pick := func(a arrow.Array) arrow.Array { // rows 1, 3, 5, ...
		var parts []arrow.Array
		for i := int64(1); i < int64(a.Len()); i += 2 {
			parts = append(parts, array.NewSlice(a, i, i+1))
		}
		out, err := array.Concatenate(parts, mem)
		require.NoError(t, err)
		for _, p := range parts {
			p.Release()
		}
		return out
	}
	whole, err := double().Eval(context.Background(), mem, 4000, all.Column(2))
	require.NoError(t, err)
	want := pick(whole)
	in := pick(all.Column(2))
	got, err := double().Eval(context.Background(), mem, in.Len(), in)
	require.NoError(t, err)
	require.True(t, array.Equal(want, got))
	for _, a := range []arrow.Array{whole, want, in, got} {
		a.Release()
	}
}

// A Variant column is a struct of two binaries to a function.
func TestVariantStorageColumn(t *testing.T) {
	mem := checked(t)
	storage := arrow.StructOf(arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary},
		arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary})
	b := array.NewStructBuilder(mem, storage)
	defer b.Release()
	for i := range byte(6) {
		b.Append(true)
		b.FieldBuilder(0).(*array.BinaryBuilder).Append([]byte{1, 0, 0})
		b.FieldBuilder(1).(*array.BinaryBuilder).Append([]byte{12, i}) // int8
	}
	f := NewScalar("int8", []arrow.DataType{storage}, arrow.PrimitiveTypes.Int8,
		func(c *Call, rows int, args []arrow.Array) (arrow.Array, error) {
			out := array.NewInt8Builder(c.Mem)
			defer out.Release()
			values := args[0].(*array.Struct).Field(1).(*array.Binary)
			for i := range rows {
				out.Append(int8(values.Value(i)[1]))
			}
			return out.NewArray(), nil
		})
	require.Equal(t, "[3 4]", eval(t, mem, f, slice(b.NewArray(), 3, 5)))
}

func TestNullPolicies(t *testing.T) {
	mem := checked(t)
	arg := func() (arrow.Array, arrow.Array) {
		b := array.NewInt64Builder(mem)
		defer b.Release()
		b.AppendValues([]int64{10, 20, 30, 40}, []bool{true, true, false, true})
		c := array.NewInt64Builder(mem)
		defer c.Release()
		c.AppendValues([]int64{2, 4, 5, 7}, []bool{true, false, true, true})
		return b.NewArray(), c.NewArray()
	}
	seen := 0
	// A null's slot is never divided by: the function does not see the row.
	divide := func(out, a, b []int64) error {
		seen += len(out)
		for i, x := range a {
			out[i] = x / b[i]
		}
		return nil
	}
	a, b := arg()
	require.Equal(t, "[5 (null) (null) 5]", eval(t, mem, Scalar2("divide", divide, ScalarOptions{}), a, b))
	require.Equal(t, 2, seen)

	add := Each2(func(a, b int64) int64 { return a + b })
	a, b = arg()
	require.Equal(t, "[12 20 5 47]", eval(t, mem, Scalar2("add", add, ScalarOptions{Nulls: ZeroValue}), a, b))

	a, b = arg()
	defer a.Release()
	defer b.Release()
	_, err := Scalar2("add", add, ScalarOptions{Nulls: Refuse}).Eval(context.Background(), mem, 4, a, b)
	require.ErrorIs(t, err, ErrNull)
	require.EqualError(t, err, "function add, batch 0, row 1: udf: null argument")
}

// Every Go type goes through a column and back, in chunks and with nulls.
func TestEveryValueType(t *testing.T) {
	identity[bool](t, true, ScalarOptions{})
	identity[int8](t, -8, ScalarOptions{})
	identity[int16](t, -16, ScalarOptions{})
	identity[int32](t, -32, ScalarOptions{})
	identity[int64](t, -64, ScalarOptions{})
	identity[uint8](t, 8, ScalarOptions{})
	identity[uint16](t, 16, ScalarOptions{})
	identity[uint32](t, 32, ScalarOptions{})
	identity[uint64](t, 64, ScalarOptions{})
	identity[float32](t, 1.5, ScalarOptions{})
	identity[float64](t, 2.5, ScalarOptions{})
	identity[string](t, "text", ScalarOptions{})
	identity[[]byte](t, []byte{1, 2}, ScalarOptions{})
	identity[arrow.Date32](t, 20000, ScalarOptions{})
	identity[arrow.Timestamp](t, 1_700_000_000_000_000, ScalarOptions{Out: &arrow.TimestampType{Unit: arrow.Microsecond}})
	identity[decimal128.Num](t, decimal128.FromI64(-12345), ScalarOptions{Out: &arrow.Decimal128Type{Precision: 9, Scale: 2}})
}

func identity[T Value](t *testing.T, x T, o ScalarOptions) {
	mem := checked(t)
	same := Scalar1("same", func(out, a []T) error { copy(out, a); return nil }, o)
	c := codecOf[T]()
	if o.Out == nil {
		o.Out = c.dtype
	}
	values := make([]T, 2*chunkRows+5)
	valid := make([]byte, len(values)/8+1)
	for i := range values {
		values[i] = x
		if i%3 > 0 {
			valid[i/8] |= 1 << (i % 8)
		}
	}
	in := columnOf(mem, o.Out, values, valid)
	defer in.Release()
	out, err := same.Eval(context.Background(), mem, in.Len(), in)
	require.NoError(t, err)
	defer out.Release()
	requireSound(t, out)
	require.True(t, array.Equal(in, out), "%T", x)
	require.True(t, arrow.TypeEqual(in.DataType(), out.DataType()))
}

func columnOf[T Value](mem memory.Allocator, t arrow.DataType, vs []T, valid []byte) arrow.Array {
	c := codecOf[T]()
	if c.build != nil {
		return c.build(mem, t, vs, valid)
	}
	out, view := values(mem, c, t, len(vs))
	defer out.Release()
	copy(view, vs)
	bits := memory.NewResizableBuffer(mem)
	defer bits.Release()
	bits.Resize(len(valid))
	copy(bits.Bytes(), valid)
	return finish(t, len(vs), out, bits, -1)
}

// Misuse is an error that says what is wrong, and leaks nothing.
func TestScalarMisuse(t *testing.T) {
	mem := checked(t)
	in := floats(mem, []float64{1, 2, 3}, nil)
	defer in.Release()
	ctx := context.Background()
	length := Scalar1("length", Each(func(s string) int64 { return int64(len(s)) }), ScalarOptions{})
	_, err := length.Eval(ctx, mem, 3, in)
	require.ErrorIs(t, err, ErrType)
	require.ErrorContains(t, err, "function length: udf: wrong column: float64, the function takes utf8")
	_, err = double().Eval(ctx, mem, 3, in, in)
	require.ErrorContains(t, err, "2 arguments, the function takes 1")
	_, err = double().Eval(ctx, mem, 4, in)
	require.ErrorContains(t, err, "3 values in a batch of 4 rows")
	_, err = Scalar1("wrong out", Each(math.Abs), ScalarOptions{Out: arrow.BinaryTypes.String}).Eval(ctx, mem, 3, in)
	require.ErrorIs(t, err, ErrType)

	ns := array.NewTimestampBuilder(mem, &arrow.TimestampType{Unit: arrow.Nanosecond})
	defer ns.Release()
	_, err = Scalar1("hour", Each(func(x arrow.Timestamp) int64 { return 0 }), ScalarOptions{}).Result(ns.Type())
	require.ErrorContains(t, err, "the function takes microseconds")

	for name, f := range map[string]func(c *Call, rows int, args []arrow.Array) (arrow.Array, error){
		"short": func(_ *Call, _ int, args []arrow.Array) (arrow.Array, error) {
			return array.NewSlice(args[0], 0, 1), nil
		},
		"nil": func(*Call, int, []arrow.Array) (arrow.Array, error) { return nil, nil },
		"type": func(c *Call, rows int, _ []arrow.Array) (arrow.Array, error) {
			return array.MakeArrayOfNull(c.Mem, arrow.PrimitiveTypes.Int8, rows), nil
		},
	} {
		_, err := NewScalar(name, nil, arrow.PrimitiveTypes.Float64, f).Eval(ctx, mem, 3, in)
		require.ErrorIs(t, err, ErrType, name)
	}
	boom := errors.New("no such curve")
	_, err = Scalar1("curve", func(_, _ []float64) error { return boom }, ScalarOptions{}).Eval(ctx, mem, 3, in)
	require.ErrorIs(t, err, boom)
	require.EqualError(t, err, "function curve, batch 0: no such curve")
}

// A slice function over numbers allocates the result and a handful of small
// things, whatever the number of rows.
func TestScalarAllocations(t *testing.T) {
	in := floats(memory.DefaultAllocator, make([]float64, 100_000), nil)
	f := double()
	allocs := testing.AllocsPerRun(20, func() {
		out, err := f.Eval(context.Background(), nil, in.Len(), in)
		if err != nil {
			t.Fatal(err)
		}
		out.Release()
	})
	require.LessOrEqual(t, allocs, 20.0)
}
