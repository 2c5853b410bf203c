package shred

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/frazil/frazil/variant"
)

// variantStruct is the storage of Variant values in Arrow.
var variantStruct = arrow.StructOf(
	arrow.Field{Name: metadataName, Type: arrow.BinaryTypes.Binary},
	arrow.Field{Name: valueName, Type: arrow.BinaryTypes.Binary},
)

// variantField marks a field as a Variant by Arrow's canonical extension name,
// without the extension type, which would need a Parquet library.
var variantField = arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{"arrow.parquet.variant"})

var (
	microsUTC = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	microsNTZ = &arrow.TimestampType{Unit: arrow.Microsecond}
)

// ArrowType returns the Arrow type that holds values of a SQL type: decimals are
// decimal128, timestamps are microseconds, a variant is a struct of metadata and
// value, both binary and not null.
func ArrowType(t variant.Type) arrow.DataType {
	switch t.ID {
	case variant.TypeVariant:
		return variantStruct
	case variant.TypeBoolean:
		return arrow.FixedWidthTypes.Boolean
	case variant.TypeTinyint:
		return arrow.PrimitiveTypes.Int8
	case variant.TypeSmallint:
		return arrow.PrimitiveTypes.Int16
	case variant.TypeInt:
		return arrow.PrimitiveTypes.Int32
	case variant.TypeBigint:
		return arrow.PrimitiveTypes.Int64
	case variant.TypeFloat:
		return arrow.PrimitiveTypes.Float32
	case variant.TypeDouble:
		return arrow.PrimitiveTypes.Float64
	case variant.TypeDecimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case variant.TypeString:
		return arrow.BinaryTypes.String
	case variant.TypeBinary:
		return arrow.BinaryTypes.Binary
	case variant.TypeDate:
		return arrow.FixedWidthTypes.Date32
	case variant.TypeTimestamp:
		return microsUTC
	case variant.TypeTimestampNTZ:
		return microsNTZ
	case variant.TypeArray:
		return arrow.ListOfField(ArrowField("element", *t.Elem))
	case variant.TypeMap:
		value := ArrowField("value", *t.Elem)
		m := arrow.MapOf(arrow.BinaryTypes.String, value.Type)
		m.SetItemNullable(true)
		return m
	case variant.TypeStruct:
		fields := make([]arrow.Field, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = ArrowField(f.Name, f.Type)
		}
		return arrow.StructOf(fields...)
	}
	panic("BUG: shred: no Arrow type for " + t.String())
}

// ArrowField returns the nullable Arrow field that holds values of a SQL type; that of
// a variant carries the extension name arrow.parquet.variant in its metadata.
func ArrowField(name string, t variant.Type) arrow.Field {
	f := arrow.Field{Name: name, Type: ArrowType(t), Nullable: true}
	if t.ID == variant.TypeVariant {
		f.Metadata = variantField
	}
	return f
}

// appendScalar appends a scalar that was cast to t.
func appendScalar(b array.Builder, t *variant.Type, s *variant.Scalar) {
	if s.Kind == variant.KindNull || s.Kind == variant.KindMissing {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(s.Int != 0)
	case *array.Int8Builder:
		b.Append(int8(s.Int))
	case *array.Int16Builder:
		b.Append(int16(s.Int))
	case *array.Int32Builder:
		b.Append(int32(s.Int))
	case *array.Int64Builder:
		b.Append(s.Int)
	case *array.Float32Builder:
		b.Append(float32(s.Float))
	case *array.Float64Builder:
		b.Append(s.Float)
	case *array.Decimal128Builder:
		b.Append(decimal128.New(s.Hi, uint64(s.Int)))
	case *array.StringBuilder:
		b.BinaryBuilder.Append(s.Bytes)
	case *array.BinaryBuilder:
		b.Append(s.Bytes)
	case *array.Date32Builder:
		b.Append(arrow.Date32(s.Int))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(s.Int))
	default:
		panic("BUG: shred: no builder for " + t.String())
	}
}

// appendValue appends a value that was cast to t: missing and null are null,
// except that a Variant null is a value of type variant.
func appendValue(b array.Builder, t *variant.Type, v variant.Value) error {
	if v.IsMissing() || v.IsNull() && t.ID != variant.TypeVariant {
		b.AppendNull()
		return nil
	}
	switch t.ID {
	case variant.TypeVariant:
		s := b.(*array.StructBuilder)
		s.Append(true)
		s.FieldBuilder(0).(*array.BinaryBuilder).Append(v.Metadata())
		s.FieldBuilder(1).(*array.BinaryBuilder).Append(v.Bytes())
		return nil
	case variant.TypeArray:
		l := b.(*array.ListBuilder)
		l.Append(true)
		for _, e := range v.Elements() {
			if err := appendValue(l.ValueBuilder(), t.Elem, e); err != nil {
				return err
			}
		}
		return nil
	case variant.TypeMap:
		m := b.(*array.MapBuilder)
		m.Append(true)
		for name, f := range v.Fields() {
			m.KeyBuilder().(*array.StringBuilder).Append(name)
			if err := appendValue(m.ItemBuilder(), t.Elem, f); err != nil {
				return err
			}
		}
		return nil
	case variant.TypeStruct:
		s := b.(*array.StructBuilder)
		s.Append(true)
		for i := range t.Fields {
			if err := appendValue(s.FieldBuilder(i), &t.Fields[i].Type, v.Field(t.Fields[i].Name)); err != nil {
				return err
			}
		}
		return nil
	}
	s, ok := v.Scalar()
	if !ok {
		return fmt.Errorf("%w: %v where %s was expected", ErrCorrupt, v.Kind(), t)
	}
	appendScalar(b, t, &s)
	return nil
}
