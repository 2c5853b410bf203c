package arrowvariant

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/frazil/frazil/variant"
)

// shredded is a pair of value and typed_value (VariantShredding.md, "Value
// Shredding"). Not both are nil.
type shredded struct {
	value byteArray // nil when the column is absent
	typed *typed    // nil when the column is absent
}

// typed is a typed_value column: exactly one of scalar, list and object is set.
type typed struct {
	arr    arrow.Array
	scalar scalarReader
	list   *listColumn
	object []objectField
	names  map[string]bool // of object
}

type listColumn struct {
	arr  array.ListLike
	elem *shredded
}

type objectField struct {
	name  []byte
	group *array.Struct
	pair  *shredded
}

// newShredded reads the fields of a group below so many others; the top one has the
// metadata, too.
func newShredded(group *array.Struct, depth int) (*shredded, error) {
	if depth > variant.MaxDepth {
		return nil, fmt.Errorf("%w: %w", ErrType, variant.ErrDepth)
	}
	s := &shredded{}
	typ := group.DataType().(*arrow.StructType)
	for i, f := range typ.Fields() {
		var err error
		switch f.Name {
		case "value":
			if s.value = bytesOf(group.Field(i)); s.value == nil {
				err = fmt.Errorf("%w: value of type %s", ErrType, f.Type)
			}
		case "typed_value":
			s.typed, err = newTyped(group.Field(i), depth)
		default:
			if depth > 0 || f.Name != "metadata" {
				err = fmt.Errorf("%w: field %s in a shredded group", ErrType, f.Name)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if s.value == nil && s.typed == nil {
		return nil, fmt.Errorf("%w: a group without value and typed_value", ErrType)
	}
	return s, nil
}

func newTyped(arr arrow.Array, depth int) (*typed, error) {
	t := &typed{arr: arr}
	switch arr := arr.(type) {
	case *array.Struct:
		t.names = map[string]bool{}
		for i, f := range arr.DataType().(*arrow.StructType).Fields() {
			group, ok := arr.Field(i).(*array.Struct)
			if !ok {
				return nil, fmt.Errorf("%w: shredded field %s of type %s", ErrType, f.Name, f.Type)
			}
			pair, err := newShredded(group, depth+1)
			if err != nil {
				return nil, err
			}
			t.object = append(t.object, objectField{[]byte(f.Name), group, pair})
			t.names[f.Name] = true
		}
		if t.object == nil {
			return nil, fmt.Errorf("%w: a shredded object without fields", ErrType)
		}
		return t, nil
	case array.ListLike:
		group, ok := arr.ListValues().(*array.Struct)
		if !ok {
			return nil, fmt.Errorf("%w: shredded elements of type %s", ErrType, arr.ListValues().DataType())
		}
		elem, err := newShredded(group, depth+1)
		t.list = &listColumn{arr, elem}
		return t, err
	}
	if t.scalar = scalarReaderOf(arr); t.scalar == nil {
		return nil, fmt.Errorf("%w: typed_value of type %s", ErrType, arr.DataType())
	}
	return t, nil
}

// emit passes row i of a pair. Both NULL, where something has to be, is a Variant
// null; where nothing has to be, the caller asked absent first. Both set is legal
// for objects only, whose fields are then in both.
func (s *shredded) emit(b *variant.Builder, dict *variant.Metadata, i, depth int) error {
	if depth > variant.MaxDepth {
		return variant.ErrDepth
	}
	hasValue := s.value != nil && !s.value.IsNull(i)
	hasTyped := s.typed != nil && !s.typed.arr.IsNull(i)
	switch {
	case hasTyped && s.typed.object != nil:
		return s.emitObject(b, dict, i, depth, hasValue)
	case hasTyped && hasValue:
		return corrupt("value and typed_value are both set")
	case hasTyped && s.typed.list != nil:
		return s.typed.list.emit(b, dict, i, depth)
	case hasTyped:
		var x variant.Scalar
		s.typed.scalar(i, &x)
		b.Scalar(&x)
	case hasValue:
		rest, err := dict.Value(s.value.Value(i))
		if err != nil {
			return err
		}
		if s.typed != nil && s.typed.object != nil && rest.Kind() == variant.KindObject {
			return corrupt("an object without typed_value in a column of objects")
		}
		b.AppendValue(rest)
	default:
		b.Null()
	}
	return nil
}

// absent reports whether row i of an object's field is not there.
func (s *shredded) absent(i int) bool {
	return (s.value == nil || s.value.IsNull(i)) && (s.typed == nil || s.typed.arr.IsNull(i))
}

func (s *shredded) emitObject(b *variant.Builder, dict *variant.Metadata, i, depth int, partial bool) error {
	b.Begin(variant.KindObject)
	for k := range s.typed.object {
		f := &s.typed.object[k]
		if f.group.IsNull(i) || f.pair.absent(i) {
			continue
		}
		b.Key(f.name)
		if err := f.pair.emit(b, dict, i, depth+1); err != nil {
			return err
		}
	}
	if partial {
		rest, err := dict.Value(s.value.Value(i))
		if err != nil {
			return err
		}
		if rest.Kind() != variant.KindObject {
			return corrupt("typed_value is an object and value is none")
		}
		for name, x := range rest.Fields() {
			if s.typed.names[name] {
				return corrupt(fmt.Sprintf("field %q is shredded and in value as well", name))
			}
			b.Key([]byte(name))
			b.AppendValue(x)
		}
	}
	b.End()
	return nil
}

func (l *listColumn) emit(b *variant.Builder, dict *variant.Metadata, i, depth int) error {
	b.Begin(variant.KindArray)
	start, end := l.arr.ValueOffsets(i)
	for at := start; at < end; at++ {
		if err := l.elem.emit(b, dict, int(at), depth+1); err != nil {
			return err
		}
	}
	b.End()
	return nil
}

// scalarReader stores row i, which is not NULL.
type scalarReader func(i int, s *variant.Scalar)

// scalarReaderOf returns the reader of a primitive typed_value (VariantShredding.md,
// "Shredded Value Types"); nil for types that the spec does not list.
func scalarReaderOf(arr arrow.Array) scalarReader {
	switch arr := arr.(type) {
	case *array.Boolean:
		return func(i int, s *variant.Scalar) {
			s.Kind, s.Int = variant.KindBool, 0
			if arr.Value(i) {
				s.Int = 1
			}
		}
	case *array.Int8:
		return func(i int, s *variant.Scalar) { setInt(s, variant.KindInt8, int64(arr.Value(i))) }
	case *array.Int16:
		return func(i int, s *variant.Scalar) { setInt(s, variant.KindInt16, int64(arr.Value(i))) }
	case *array.Int32:
		return func(i int, s *variant.Scalar) { setInt(s, variant.KindInt32, int64(arr.Value(i))) }
	case *array.Int64:
		return func(i int, s *variant.Scalar) { setInt(s, variant.KindInt64, arr.Value(i)) }
	case *array.Float32:
		return func(i int, s *variant.Scalar) { s.Kind, s.Float = variant.KindFloat, float64(arr.Value(i)) }
	case *array.Float64:
		return func(i int, s *variant.Scalar) { s.Kind, s.Float = variant.KindDouble, arr.Value(i) }
	case *array.Date32:
		return func(i int, s *variant.Scalar) { setInt(s, variant.KindDate, int64(arr.Value(i))) }
	case *array.Time64:
		if arr.DataType().(*arrow.Time64Type).Unit == arrow.Microsecond {
			return func(i int, s *variant.Scalar) { setInt(s, variant.KindTime, int64(arr.Value(i))) }
		}
		return nil
	case *array.Timestamp:
		return timestampReader(arr)
	case array.ExtensionArray:
		if storage, ok := arr.Storage().(*array.FixedSizeBinary); ok && arr.DataType().(arrow.ExtensionType).ExtensionName() == "arrow.uuid" {
			return uuidReader(storage)
		}
		return nil
	case *array.FixedSizeBinary:
		return uuidReader(arr)
	}
	if r := decimalReader(arr); r != nil {
		return r
	}
	return textReader(arr)
}

func setInt(s *variant.Scalar, k variant.Kind, x int64) { s.Kind, s.Int, s.Hi = k, x, x>>63 }

func timestampReader(arr *array.Timestamp) scalarReader {
	typ := arr.DataType().(*arrow.TimestampType)
	kind := variant.KindTimestamp
	switch {
	case typ.Unit == arrow.Nanosecond && typ.TimeZone == "":
		kind = variant.KindTimestampNTZNanos
	case typ.Unit == arrow.Nanosecond:
		kind = variant.KindTimestampNanos
	case typ.Unit != arrow.Microsecond:
		return nil
	case typ.TimeZone == "":
		kind = variant.KindTimestampNTZ
	}
	return func(i int, s *variant.Scalar) { setInt(s, kind, int64(arr.Value(i))) }
}

func uuidReader(arr *array.FixedSizeBinary) scalarReader {
	if arr.DataType().(*arrow.FixedSizeBinaryType).ByteWidth != 16 {
		return nil
	}
	return func(i int, s *variant.Scalar) { s.Kind, s.Bytes = variant.KindUUID, arr.Value(i) }
}

// decimalReader gives decimals the width of their column's precision.
func decimalReader(arr arrow.Array) scalarReader {
	typ, ok := arr.DataType().(arrow.DecimalType)
	if !ok || typ.GetScale() < 0 || typ.GetScale() > variant.MaxPrecision {
		return nil
	}
	kind, scale := variant.KindDecimal16, uint8(typ.GetScale())
	switch p := typ.GetPrecision(); {
	case p <= 9:
		kind = variant.KindDecimal4
	case p <= 18:
		kind = variant.KindDecimal8
	}
	set := func(s *variant.Scalar, x decimal128.Num) {
		s.Kind, s.Scale, s.Int, s.Hi = kind, scale, int64(x.LowBits()), x.HighBits()
	}
	switch arr := arr.(type) {
	case *array.Decimal32:
		return func(i int, s *variant.Scalar) { set(s, decimal128.FromI64(int64(arr.Value(i)))) }
	case *array.Decimal64:
		return func(i int, s *variant.Scalar) { set(s, decimal128.FromI64(int64(arr.Value(i)))) }
	case *array.Decimal128:
		return func(i int, s *variant.Scalar) { set(s, arr.Value(i)) }
	}
	return nil
}

func textReader(arr arrow.Array) scalarReader {
	if b := bytesOf(arr); b != nil {
		return func(i int, s *variant.Scalar) { s.Kind, s.Bytes = variant.KindBinary, b.Value(i) }
	}
	text, ok := arr.(array.StringLike)
	if !ok {
		return nil
	}
	var buf []byte
	return func(i int, s *variant.Scalar) {
		buf = append(buf[:0], text.Value(i)...)
		s.Kind, s.Bytes = variant.KindString, buf
	}
}
