package udf

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Value is a Go type that a column can be seen as. The numbers, dates,
// timestamps and decimals are the memory of the column itself; bool, string and
// []byte are laid out anew, chunk by chunk, and a string or []byte shares the
// bytes of its column: it is valid during the call, and clones to be kept.
type Value interface {
	bool | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 |
		string | []byte | arrow.Date32 | arrow.Timestamp | decimal128.Num
}

// codec moves the values of one Go type in and out of columns.
type codec[T Value] struct {
	dtype arrow.DataType // of results, unless the options say otherwise
	id    arrow.Type     // of columns
	// load returns the values of rows from..to-1; it may use buf, which has
	// room for them.
	load func(a arrow.Array, from, to int, buf []T) []T
	// view returns the memory of a fixed-width result as values; nil for the
	// types that build does.
	view func([]byte) []T
	// build makes a result of values; the bits that are not set in valid,
	// when there is one, are null.
	build func(mem memory.Allocator, t arrow.DataType, values []T, valid []byte) arrow.Array
}

// codecOf finds the codec of T. It runs when a function is made, not when it is
// called.
func codecOf[T Value]() codec[T] {
	var c any
	switch any(*new(T)).(type) {
	case bool:
		c = codec[bool]{dtype: arrow.FixedWidthTypes.Boolean, id: arrow.BOOL, load: loadBools, build: buildBools}
	case int8:
		c = fixed(arrow.PrimitiveTypes.Int8, arrow.Int8Traits.CastFromBytes)
	case int16:
		c = fixed(arrow.PrimitiveTypes.Int16, arrow.Int16Traits.CastFromBytes)
	case int32:
		c = fixed(arrow.PrimitiveTypes.Int32, arrow.Int32Traits.CastFromBytes)
	case int64:
		c = fixed(arrow.PrimitiveTypes.Int64, arrow.Int64Traits.CastFromBytes)
	case uint8:
		c = fixed(arrow.PrimitiveTypes.Uint8, arrow.Uint8Traits.CastFromBytes)
	case uint16:
		c = fixed(arrow.PrimitiveTypes.Uint16, arrow.Uint16Traits.CastFromBytes)
	case uint32:
		c = fixed(arrow.PrimitiveTypes.Uint32, arrow.Uint32Traits.CastFromBytes)
	case uint64:
		c = fixed(arrow.PrimitiveTypes.Uint64, arrow.Uint64Traits.CastFromBytes)
	case float32:
		c = fixed(arrow.PrimitiveTypes.Float32, arrow.Float32Traits.CastFromBytes)
	case float64:
		c = fixed(arrow.PrimitiveTypes.Float64, arrow.Float64Traits.CastFromBytes)
	case string:
		c = codec[string]{dtype: arrow.BinaryTypes.String, id: arrow.STRING, load: loadStrings, build: buildStrings}
	case []byte:
		c = codec[[]byte]{dtype: arrow.BinaryTypes.Binary, id: arrow.BINARY, load: loadBinary, build: buildBinary}
	case arrow.Date32:
		c = fixed(arrow.FixedWidthTypes.Date32, arrow.Date32Traits.CastFromBytes)
	case arrow.Timestamp:
		c = fixed(arrow.FixedWidthTypes.Timestamp_us, arrow.TimestampTraits.CastFromBytes)
	case decimal128.Num:
		c = fixed(arrow.DataType(&arrow.Decimal128Type{Precision: 38}), arrow.Decimal128Traits.CastFromBytes)
	}
	return c.(codec[T])
}

func fixed[T Value](t arrow.DataType, view func([]byte) []T) codec[T] {
	return codec[T]{
		dtype: t,
		id:    t.ID(),
		load: func(a arrow.Array, from, to int, _ []T) []T {
			d := a.Data()
			return view(d.Buffers()[1].Bytes())[d.Offset()+from : d.Offset()+to]
		},
		view: view,
	}
}

func loadBools(a arrow.Array, from, to int, buf []bool) []bool {
	bits, at := a.Data().Buffers()[1].Bytes(), a.Data().Offset()+from
	buf = buf[:to-from]
	for i := range buf {
		buf[i] = bitutil.BitIsSet(bits, at+i)
	}
	return buf
}

func loadStrings(a arrow.Array, from, to int, buf []string) []string {
	s := a.(*array.String)
	buf = buf[:to-from]
	for i := range buf {
		buf[i] = s.Value(from + i)
	}
	return buf
}

func loadBinary(a arrow.Array, from, to int, buf [][]byte) [][]byte {
	s := a.(*array.Binary)
	buf = buf[:to-from]
	for i := range buf {
		buf[i] = s.Value(from + i)
	}
	return buf
}

func buildBools(mem memory.Allocator, _ arrow.DataType, values []bool, valid []byte) arrow.Array {
	b := array.NewBooleanBuilder(mem)
	defer b.Release()
	b.Reserve(len(values))
	for i, x := range values {
		if valid != nil && !bitutil.BitIsSet(valid, i) {
			b.AppendNull()
			continue
		}
		b.Append(x)
	}
	return b.NewArray()
}

func buildStrings(mem memory.Allocator, _ arrow.DataType, values []string, valid []byte) arrow.Array {
	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.Reserve(len(values))
	for i, x := range values {
		if valid != nil && !bitutil.BitIsSet(valid, i) {
			b.AppendNull()
			continue
		}
		b.Append(x)
	}
	return b.NewArray()
}

func buildBinary(mem memory.Allocator, t arrow.DataType, values [][]byte, valid []byte) arrow.Array {
	b := array.NewBinaryBuilder(mem, t.(arrow.BinaryDataType))
	defer b.Release()
	b.Reserve(len(values))
	for i, x := range values {
		if valid != nil && !bitutil.BitIsSet(valid, i) {
			b.AppendNull()
			continue
		}
		b.Append(x)
	}
	return b.NewArray()
}

// check reports whether a column of type t can be seen as T.
func (c codec[T]) check(t arrow.DataType) error {
	if t.ID() != c.id {
		return fmt.Errorf("%w: %v, the function takes %v", ErrType, t, c.dtype)
	}
	if ts, ok := t.(*arrow.TimestampType); ok && ts.Unit != arrow.Microsecond {
		return fmt.Errorf("%w: %v, the function takes microseconds", ErrType, t)
	}
	return nil
}
