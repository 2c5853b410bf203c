package iceberg

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/frazil/frazil/variant"
)

// missingArray gives rows of a field that a file lacks: its initial default,
// else null. The default of a struct is only whether it is there; its fields
// bring their own (Iceberg spec, "Default values").
func missingArray(mem memory.Allocator, f ice.NestedField, rows int) (arrow.Array, error) {
	typ := arrowType(f.Type)
	if f.InitialDefault == nil {
		return array.MakeArrayOfNull(mem, typ, rows), nil
	}
	st, ok := f.Type.(*ice.StructType)
	if !ok {
		s, err := defaultScalar(f.Type, f.InitialDefault)
		if err != nil {
			return nil, corruptf("initial default of column %q: %v", f.Name, err)
		}
		return constantArray(mem, f.Type, &s, rows)
	}
	var children []arrow.ArrayData
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	for _, child := range st.FieldList {
		arr, err := missingArray(mem, child, rows)
		if err != nil {
			return nil, err
		}
		arr.Data().Retain()
		children = append(children, arr.Data())
		arr.Release()
	}
	d := array.NewData(typ, rows, []*memory.Buffer{nil}, children, 0, 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}

// constantArray gives the same value in every row.
func constantArray(mem memory.Allocator, t ice.Type, s *variant.Scalar, rows int) (arrow.Array, error) {
	b := array.NewBuilder(mem, arrowType(t))
	defer b.Release()
	b.Reserve(rows)
	for range rows {
		if err := appendScalar(b, t, s); err != nil {
			return nil, err
		}
	}
	return b.NewArray(), nil
}

// appendScalar appends a value that has the column's type.
func appendScalar(b array.Builder, t ice.Type, s *variant.Scalar) error {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(s.Int != 0)
	case *array.Int32Builder:
		b.Append(int32(s.Int))
	case *array.Int64Builder:
		b.Append(s.Int)
	case *array.Float32Builder:
		b.Append(float32(s.Float))
	case *array.Float64Builder:
		b.Append(s.Float)
	case *array.Date32Builder:
		b.Append(arrow.Date32(s.Int))
	case *array.Time64Builder:
		b.Append(arrow.Time64(s.Int))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(s.Int))
	case *array.StringBuilder:
		b.BinaryBuilder.Append(s.Bytes)
	case *array.BinaryBuilder:
		b.Append(s.Bytes)
	case *array.FixedSizeBinaryBuilder:
		b.Append(s.Bytes)
	case *array.Decimal128Builder:
		dec, ok := t.(ice.DecimalType)
		if !ok {
			return unsupportedf("a decimal for type %s", t)
		}
		d, ok := s.Dec().Rescale(uint8(dec.Scale()))
		if !ok {
			return corruptf("%s does not fit %s", variant.AppendScalarJSON(nil, s), t)
		}
		b.Append(decimal128.New(d.Hi, d.Lo))
	default:
		return unsupportedf("a constant of type %s", t)
	}
	return nil
}

// partitionScalar reads an identity partition value as a manifest holds it.
func partitionScalar(t ice.Type, v any) (variant.Scalar, error) {
	switch x := v.(type) {
	case ice.Date:
		return variant.Scalar{Kind: variant.KindDate, Int: int64(x)}, nil
	case ice.Time:
		return variant.Scalar{Kind: variant.KindTime, Int: int64(x)}, nil
	case ice.Timestamp:
		return variant.Scalar{Kind: variant.KindTimestamp, Int: int64(x)}, nil
	case ice.TimestampNano:
		return variant.Scalar{Kind: variant.KindTimestampNanos, Int: int64(x)}, nil
	case ice.Decimal:
		return scalarOfDecimal(x.Val, x.Scale), nil
	case ice.DecimalLiteral:
		return scalarOfDecimal(x.Val, x.Scale), nil
	case uuid.UUID:
		return variant.Scalar{Kind: variant.KindUUID, Bytes: x[:]}, nil
	case []byte:
		return variant.Scalar{Kind: variant.KindBinary, Bytes: x}, nil
	case string:
		return variant.Scalar{Kind: variant.KindString, Bytes: []byte(x)}, nil
	case int32:
		return variant.Scalar{Kind: variant.KindInt32, Int: int64(x)}, nil
	case int64:
		return variant.Scalar{Kind: variant.KindInt64, Int: x}, nil
	case float32:
		return variant.Scalar{Kind: variant.KindFloat, Float: float64(x)}, nil
	case float64:
		return variant.Scalar{Kind: variant.KindDouble, Float: x}, nil
	case bool:
		return variant.Scalar{Kind: variant.KindBool, Int: int64(triOf(x) / 2)}, nil
	}
	return variant.Scalar{}, fmt.Errorf("%w: partition value of type %T for %s", ErrUnsupported, v, t)
}

func scalarOfDecimal(n decimal128.Num, scale int) variant.Scalar {
	var s variant.Scalar
	s.SetDecimal(variant.Decimal{Lo: n.LowBits(), Hi: n.HighBits(), Scale: uint8(scale)})
	return s
}
