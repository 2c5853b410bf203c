package iceberg

import (
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	ice "github.com/apache/iceberg-go"
)

// avroPut appends a value as the Avro library decodes it, nil for null, and
// returns its size in bytes. The library boxes every value; files in this format
// are few, and not worth a decoder of their own.
type avroPut func(v any) (int, error)

// avroPutter returns the function that appends values of a type to its builder.
func avroPutter(t ice.Type, b array.Builder) (avroPut, error) {
	put, err := avroValue(t, b)
	if err != nil {
		return nil, err
	}
	return func(v any) (int, error) {
		if v == nil {
			b.AppendNull()
			return 1, nil
		}
		return put(v)
	}, nil
}

func avroValue(t ice.Type, b array.Builder) (avroPut, error) {
	switch t := t.(type) {
	case *ice.StructType:
		return avroStruct(t, b.(*array.StructBuilder))
	case ice.VariantType:
		return avroVariant(b.(*array.StructBuilder)), nil
	case *ice.ListType:
		return avroList(t, b.(*array.ListBuilder))
	case *ice.MapType:
		return avroMap(t, b.(*array.MapBuilder))
	case ice.DecimalType:
		return avroDecimal(t, b.(*array.Decimal128Builder)), nil
	}
	return avroPrimitive(t, b)
}

// scalarPut appends values of one Go type.
func scalarPut[T any](size int, add func(T)) avroPut {
	return func(v any) (int, error) {
		x, ok := v.(T)
		if !ok {
			return 0, corruptf("avro: a value of type %T", v)
		}
		add(x)
		return size, nil
	}
}

func avroPrimitive(t ice.Type, b array.Builder) (avroPut, error) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return scalarPut(1, b.Append), nil
	case *array.Int32Builder:
		return scalarPut(4, b.Append), nil
	case *array.Int64Builder:
		return scalarPut(8, b.Append), nil
	case *array.Float32Builder:
		return scalarPut(4, b.Append), nil
	case *array.Float64Builder:
		return scalarPut(8, b.Append), nil
	case *array.Date32Builder:
		return scalarPut(4, func(v int32) { b.Append(arrow.Date32(v)) }), nil
	case *array.Time64Builder:
		return scalarPut(8, func(v int64) { b.Append(arrow.Time64(v)) }), nil
	case *array.TimestampBuilder:
		return scalarPut(8, func(v int64) { b.Append(arrow.Timestamp(v)) }), nil
	case *array.StringBuilder:
		return sized(func(v string) int { b.Append(v); return len(v) }), nil
	case *array.BinaryBuilder:
		return sized(func(v []byte) int { b.Append(v); return len(v) }), nil
	case *array.FixedSizeBinaryBuilder:
		return sized(func(v []byte) int { b.Append(v); return len(v) }), nil
	}
	return nil, unsupportedf("avro: %s", t)
}

// sized appends values whose size differs.
func sized[T any](add func(T) int) avroPut {
	return func(v any) (int, error) {
		x, ok := v.(T)
		if !ok {
			return 0, corruptf("avro: a value of type %T", v)
		}
		return add(x), nil
	}
}

// avroDecimal takes coefficients in big-endian two's complement.
func avroDecimal(t ice.DecimalType, b *array.Decimal128Builder) avroPut {
	return func(v any) (int, error) {
		raw, ok := v.([]byte)
		if !ok || len(raw) == 0 {
			return 0, corruptf("avro: a decimal of type %T", v)
		}
		n, ok := coefficient(raw)
		if !ok || !n.FitsInPrecision(int32(t.Precision())) {
			return 0, corruptf("avro: a decimal of more than %d digits", t.Precision())
		}
		b.Append(n)
		return len(raw), nil
	}
}

// coefficient reads an integer of at most 128 bits, however many bytes it takes.
func coefficient(raw []byte) (decimal128.Num, bool) {
	sign := byte(int8(raw[0]) >> 7)
	for len(raw) > 16 {
		if raw[0] != sign || (raw[1]^sign)&0x80 != 0 {
			return decimal128.Num{}, false
		}
		raw = raw[1:]
	}
	hi, lo := int64(int8(sign)), uint64(int64(int8(sign)))
	for _, c := range raw {
		hi, lo = hi<<8|int64(lo>>56), lo<<8|uint64(c)
	}
	return decimal128.New(hi, lo), true
}

func avroStruct(t *ice.StructType, b *array.StructBuilder) (avroPut, error) {
	kids := make([]avroPut, len(t.FieldList))
	for i, f := range t.FieldList {
		var err error
		if kids[i], err = avroPutter(f.Type, b.FieldBuilder(i)); err != nil {
			return nil, err
		}
	}
	return func(v any) (int, error) {
		fields, ok := v.(map[string]any)
		if !ok {
			return 0, corruptf("avro: a struct of type %T", v)
		}
		b.Append(true)
		total := 0
		for i, kid := range kids {
			n, err := kid(fields[t.FieldList[i].Name])
			if err != nil {
				return 0, err
			}
			total += n
		}
		return total, nil
	}, nil
}

func avroVariant(b *array.StructBuilder) avroPut {
	metadata, value := b.FieldBuilder(0).(*array.BinaryBuilder), b.FieldBuilder(1).(*array.BinaryBuilder)
	return func(v any) (int, error) {
		fields, _ := v.(map[string]any)
		m, ok := fields["metadata"].([]byte)
		x, ok2 := fields["value"].([]byte)
		if !ok || !ok2 {
			return 0, corruptf("avro: a variant without metadata or value")
		}
		b.Append(true)
		metadata.Append(m)
		value.Append(x)
		return len(m) + len(x), nil
	}
}

func avroList(t *ice.ListType, b *array.ListBuilder) (avroPut, error) {
	kid, err := avroPutter(t.Element, b.ValueBuilder())
	if err != nil {
		return nil, err
	}
	return func(v any) (int, error) {
		items, ok := v.([]any)
		if !ok {
			return 0, corruptf("avro: a list of type %T", v)
		}
		b.Append(true)
		total := 0
		for _, item := range items {
			n, err := kid(item)
			if err != nil {
				return 0, err
			}
			total += n
		}
		return total, nil
	}, nil
}

// avroMap takes both forms: Avro's map, whose order is lost, by key, and an
// array of entries.
func avroMap(t *ice.MapType, b *array.MapBuilder) (avroPut, error) {
	key, err := avroPutter(t.KeyType, b.KeyBuilder())
	if err != nil {
		return nil, err
	}
	value, err := avroPutter(t.ValueType, b.ItemBuilder())
	if err != nil {
		return nil, err
	}
	entry := func(k, v any) (int, error) {
		if k == nil {
			return 0, corruptf("avro: a map with a null key")
		}
		n, err := key(k)
		if err != nil {
			return 0, err
		}
		m, err := value(v)
		return n + m, err
	}
	return func(v any) (int, error) {
		b.Append(true)
		total := 0
		switch m := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(m)) {
				n, err := entry(k, m[k])
				if err != nil {
					return 0, err
				}
				total += n
			}
		case []any:
			for _, item := range m {
				fields, _ := item.(map[string]any)
				n, err := entry(fields["key"], fields["value"])
				if err != nil {
					return 0, err
				}
				total += n
			}
		default:
			return 0, corruptf("avro: a map of type %T", v)
		}
		return total, nil
	}, nil
}
