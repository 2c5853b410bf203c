package pq

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/frazil/frazil/internal/leaf"
)

// appendArrowValues appends the values from..to of arr, none of them null.
func appendArrowValues(b *leaf.Buffer, arr arrow.Array, from, to int) error {
	if d, ok := arr.(*array.Dictionary); ok {
		return appendDictionaryValues(b, d, from, to)
	}
	if b.Node.Logical == leaf.Decimal {
		return appendDecimals(b, arr, from, to)
	}
	ok := false
	switch b.Node.Type {
	case leaf.Bool:
		if a, is := arr.(*array.Boolean); is {
			ok = true
			for i := from; i < to; i++ {
				b.Bools = append(b.Bools, a.Value(i))
			}
		}
	case leaf.Int32:
		return appendArrowInt32s(b, arr, from, to)
	case leaf.Int64:
		return appendArrowInt64s(b, arr, from, to)
	case leaf.Float:
		if a, is := arr.(*array.Float32); is {
			ok = true
			b.Floats = append(b.Floats, a.Float32Values()[from:to]...)
		}
	case leaf.Double:
		switch a := arr.(type) {
		case *array.Float64:
			ok = true
			b.Doubles = append(b.Doubles, a.Float64Values()[from:to]...)
		case *array.Float32:
			ok = true
			for _, v := range a.Float32Values()[from:to] {
				b.Doubles = append(b.Doubles, float64(v))
			}
		}
	case leaf.Bytes:
		ok = appendArrowBytes(b, arr, from, to)
	case leaf.Fixed:
		if a, is := arr.(*array.FixedSizeBinary); is && a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth == b.Node.Width {
			ok = true
			for i := from; i < to; i++ {
				b.AppendBytes(a.Value(i))
			}
		}
	case leaf.Int96, leaf.Group:
	}
	if !ok {
		return errArrowType(b, arr)
	}
	return nil
}

func errArrowType(b *leaf.Buffer, arr arrow.Array) error {
	want, err := primitiveType(b.Node)
	if err != nil {
		return err
	}
	return inputf("%v where %q holds %v", arr.DataType(), b.Node.Name, want)
}

func appendDictionaryValues(b *leaf.Buffer, d *array.Dictionary, from, to int) error {
	values := d.Dictionary()
	for i := from; i < to; i++ {
		at := d.GetValueIndex(i)
		if values.IsNull(at) {
			return inputf("null in the dictionary of %q", b.Node.Name)
		}
		if err := appendArrowValues(b, values, at, at+1); err != nil {
			return err
		}
	}
	return nil
}

// appendWidened appends numbers to a list of a wider type.
func appendWidened[To, From int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []To, v []From) []To {
	for _, x := range v {
		dst = append(dst, To(x))
	}
	return dst
}

func appendArrowInt32s(b *leaf.Buffer, arr arrow.Array, from, to int) error {
	unsigned := isUnsigned(b.Node)
	date := b.Node.Logical == leaf.Date
	switch a := arr.(type) {
	case *array.Int32:
		if !unsigned && !date {
			b.Int32s = append(b.Int32s, a.Int32Values()[from:to]...)
			return nil
		}
	case *array.Int8:
		if !unsigned && !date {
			b.Int32s = appendWidened(b.Int32s, a.Int8Values()[from:to])
			return nil
		}
	case *array.Int16:
		if !unsigned && !date {
			b.Int32s = appendWidened(b.Int32s, a.Int16Values()[from:to])
			return nil
		}
	case *array.Uint8:
		b.Int32s = appendWidened(b.Int32s, a.Uint8Values()[from:to])
		return nil
	case *array.Uint16:
		b.Int32s = appendWidened(b.Int32s, a.Uint16Values()[from:to])
		return nil
	case *array.Uint32:
		if unsigned {
			b.Int32s = appendWidened(b.Int32s, a.Uint32Values()[from:to])
			return nil
		}
	case *array.Date32:
		if date {
			for _, v := range a.Date32Values()[from:to] {
				b.Int32s = append(b.Int32s, int32(v))
			}
			return nil
		}
	case *array.Date64:
		if date {
			for _, v := range a.Date64Values()[from:to] {
				b.Int32s = append(b.Int32s, int32(floorDiv(int64(v), 86_400_000)))
			}
			return nil
		}
	}
	return errArrowType(b, arr)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func appendArrowInt64s(b *leaf.Buffer, arr arrow.Array, from, to int) error {
	switch b.Node.Logical {
	case leaf.Timestamp, leaf.Time:
		return appendTimes(b, arr, from, to)
	default:
	}
	unsigned := isUnsigned(b.Node)
	switch a := arr.(type) {
	case *array.Int64:
		if !unsigned {
			b.Int64s = append(b.Int64s, a.Int64Values()[from:to]...)
			return nil
		}
	case *array.Int32:
		if !unsigned {
			b.Int64s = appendWidened(b.Int64s, a.Int32Values()[from:to])
			return nil
		}
	case *array.Int16:
		if !unsigned {
			b.Int64s = appendWidened(b.Int64s, a.Int16Values()[from:to])
			return nil
		}
	case *array.Int8:
		if !unsigned {
			b.Int64s = appendWidened(b.Int64s, a.Int8Values()[from:to])
			return nil
		}
	case *array.Uint8:
		b.Int64s = appendWidened(b.Int64s, a.Uint8Values()[from:to])
		return nil
	case *array.Uint16:
		b.Int64s = appendWidened(b.Int64s, a.Uint16Values()[from:to])
		return nil
	case *array.Uint32:
		b.Int64s = appendWidened(b.Int64s, a.Uint32Values()[from:to])
		return nil
	case *array.Uint64:
		if unsigned {
			b.Int64s = appendWidened(b.Int64s, a.Uint64Values()[from:to])
			return nil
		}
	}
	return errArrowType(b, arr)
}

// perSecond are the ticks of a unit in a second.
func perSecond(u arrow.TimeUnit) int64 {
	switch u {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1e3
	case arrow.Microsecond:
		return 1e6
	case arrow.Nanosecond:
	}
	return 1e9
}

// appendTimes converts between units: to a finer one if it does not overflow, to
// a coarser one if nothing is lost. Timestamps with a zone and without do not
// convert.
func appendTimes(b *leaf.Buffer, arr arrow.Array, from, to int) error {
	target := int64(1e6)
	switch b.Node.Unit {
	case leaf.Millis:
		target = 1e3
	case leaf.Micros:
	case leaf.Nanos:
		target = 1e9
	}
	if (b.Node.Logical == leaf.Timestamp) != (arr.DataType().ID() == arrow.TIMESTAMP) {
		return errArrowType(b, arr)
	}
	at := len(b.Int64s)
	ticks := int64(0)
	switch a := arr.(type) {
	case *array.Timestamp:
		typ := a.DataType().(*arrow.TimestampType)
		if b.Node.UTC != (typ.TimeZone != "") {
			return errArrowType(b, arr)
		}
		ticks = perSecond(typ.Unit)
		for _, v := range a.TimestampValues()[from:to] {
			b.Int64s = append(b.Int64s, int64(v))
		}
	case *array.Time64:
		ticks = perSecond(a.DataType().(*arrow.Time64Type).Unit)
		for _, v := range a.Time64Values()[from:to] {
			b.Int64s = append(b.Int64s, int64(v))
		}
	case *array.Time32:
		ticks = perSecond(a.DataType().(*arrow.Time32Type).Unit)
		for _, v := range a.Time32Values()[from:to] {
			b.Int64s = append(b.Int64s, int64(v))
		}
	default:
		return errArrowType(b, arr)
	}
	return rescaleTicks(b.Int64s[at:], ticks, target, b.Node.Name)
}

func rescaleTicks(v []int64, from, to int64, name string) error {
	if to >= from {
		factor := to / from
		for i, x := range v {
			if x > math.MaxInt64/factor || x < math.MinInt64/factor {
				return inputf("%d in %q overflows at %d ticks a second", x, name, to)
			}
			v[i] = x * factor
		}
		return nil
	}
	factor := from / to
	for i, x := range v {
		if x%factor != 0 {
			return inputf("%d in %q has a fraction at %d ticks a second", x, name, to)
		}
		v[i] = x / factor
	}
	return nil
}

// appendArrowBytes appends strings or binaries of any width of offsets.
func appendArrowBytes(b *leaf.Buffer, arr arrow.Array, from, to int) bool {
	switch a := arr.(type) {
	case *array.String:
		appendOffsets32(b, a.ValueOffsets(), a.ValueBytes(), from, to)
	case *array.Binary:
		appendOffsets32(b, a.ValueOffsets(), a.ValueBytes(), from, to)
	case *array.LargeString:
		for i := from; i < to; i++ {
			appendString(b, a.Value(i))
		}
	case *array.LargeBinary:
		for i := from; i < to; i++ {
			b.AppendBytes(a.Value(i))
		}
	case *array.StringView:
		for i := from; i < to; i++ {
			appendString(b, a.Value(i))
		}
	case *array.BinaryView:
		for i := from; i < to; i++ {
			b.AppendBytes(a.Value(i))
		}
	default:
		return false
	}
	return true
}

func appendString(b *leaf.Buffer, v string) {
	if len(b.Offsets) == 0 {
		b.Offsets = append(b.Offsets, 0)
	}
	b.Data = append(b.Data, v...)
	b.Offsets = append(b.Offsets, uint32(len(b.Data)))
}

// appendOffsets32 copies values in one piece. data are the bytes of the whole
// array; they start at its first offset.
func appendOffsets32(b *leaf.Buffer, offsets []int32, data []byte, from, to int) {
	if len(b.Offsets) == 0 {
		b.Offsets = append(b.Offsets, 0)
	}
	base := uint32(len(b.Data)) - uint32(offsets[from])
	b.Data = append(b.Data, data[offsets[from]-offsets[0]:offsets[to]-offsets[0]]...)
	for _, o := range offsets[from+1 : to+1] {
		b.Offsets = append(b.Offsets, base+uint32(o))
	}
}

// appendDecimals appends decimals of the same scale, checked against the
// precision.
func appendDecimals(b *leaf.Buffer, arr arrow.Array, from, to int) error {
	typ, ok := arr.DataType().(arrow.DecimalType)
	if !ok {
		return errArrowType(b, arr)
	}
	if int(typ.GetScale()) != b.Node.Scale {
		return inputf("scale %d where %q has %d", typ.GetScale(), b.Node.Name, b.Node.Scale)
	}
	check := int(typ.GetPrecision()) > b.Node.Precision
	for i := from; i < to; i++ {
		var v decimal128.Num
		switch a := arr.(type) {
		case *array.Decimal128:
			v = a.Value(i)
		case *array.Decimal64:
			v = decimal128.FromI64(int64(a.Value(i)))
		case *array.Decimal32:
			v = decimal128.FromI64(int64(a.Value(i)))
		default:
			return errArrowType(b, arr)
		}
		if check && !v.FitsInPrecision(int32(b.Node.Precision)) {
			return inputf("%s in %q has more than %d digits", v.ToString(int32(b.Node.Scale)), b.Node.Name, b.Node.Precision)
		}
		appendDecimal(b, v)
	}
	return nil
}

// appendDecimal appends one decimal in the leaf's physical type: big-endian two's
// complement of exactly the declared width, or of the fewest bytes.
func appendDecimal(b *leaf.Buffer, v decimal128.Num) {
	switch b.Node.Type {
	case leaf.Int32:
		b.Int32s = append(b.Int32s, int32(v.LowBits()))
		return
	case leaf.Int64:
		b.Int64s = append(b.Int64s, int64(v.LowBits()))
		return
	case leaf.Fixed, leaf.Bytes, leaf.Group, leaf.Bool, leaf.Int96, leaf.Float, leaf.Double:
	}
	var be [16]byte
	binary.BigEndian.PutUint64(be[:8], uint64(v.HighBits()))
	binary.BigEndian.PutUint64(be[8:], v.LowBits())
	if b.Node.Type == leaf.Bytes {
		b.AppendBytes(trimSign(be[:], v.Sign() < 0))
		return
	}
	if len(b.Offsets) == 0 {
		b.Offsets = append(b.Offsets, 0)
	}
	for i := 16; i < b.Node.Width; i++ { // wider than any decimal128: repeat the sign
		b.Data = append(b.Data, byte(v.HighBits()>>63))
	}
	b.Data = append(b.Data, be[max(16-b.Node.Width, 0):]...)
	b.Offsets = append(b.Offsets, uint32(len(b.Data)))
}
