package pq

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
)

// buildPrimitive makes the array of a leaf.
func (a *Assembler) buildPrimitive(t *arrowNode, b *leaf.Batch) (arrow.ArrayData, error) {
	s := t.spread(b)
	switch t.typ.ID() {
	case arrow.NULL:
		s.nulls = s.items
		return newData(t.typ, s.validity, []*memory.Buffer{nil}, nil), nil
	case arrow.STRING, arrow.BINARY:
		offsets, data, err := a.offsetsOf(b, &s)
		if err != nil {
			return nil, err
		}
		return newData(t.typ, s.validity, []*memory.Buffer{a.bitmap(s.validity), offsets, data}, nil), nil
	default:
	}
	values := memory.NewResizableBuffer(a.mem)
	if t.typ.ID() == arrow.BOOL {
		values.Resize(int(bitutil.BytesForBits(int64(s.items))))
	} else {
		values.Resize(s.items * t.typ.(arrow.FixedWidthDataType).BitWidth() / 8)
	}
	if s.full != nil || t.typ.ID() == arrow.BOOL {
		clear(values.Bytes())
	}
	if err := fillFixed(values.Bytes(), t, b, &s); err != nil {
		values.Release()
		return nil, err
	}
	return newData(t.typ, s.validity, []*memory.Buffer{a.bitmap(s.validity), values}, nil), nil
}

// fillFixed writes the values of a fixed-width array to out.
func fillFixed(out []byte, t *arrowNode, b *leaf.Batch, s *spread) error {
	switch typ := t.typ.(type) {
	case *arrow.BooleanType:
		fillBools(out, b.Bools, s)
	case *arrow.Int8Type, *arrow.Uint8Type:
		spreadNarrow(arrow.Int8Traits.CastFromBytes(out), b.Int32s, s)
	case *arrow.Int16Type, *arrow.Uint16Type:
		spreadNarrow(arrow.Int16Traits.CastFromBytes(out), b.Int32s, s)
	case *arrow.Int32Type, *arrow.Uint32Type, *arrow.Date32Type:
		spreadValues(arrow.Int32Traits.CastFromBytes(out), b.Int32s, s)
	case *arrow.Int64Type, *arrow.Uint64Type:
		spreadValues(arrow.Int64Traits.CastFromBytes(out), b.Int64s, s)
	case *arrow.Float32Type:
		spreadValues(arrow.Float32Traits.CastFromBytes(out), b.Floats, s)
	case *arrow.Float64Type:
		spreadValues(arrow.Float64Traits.CastFromBytes(out), b.Doubles, s)
	case *arrow.Time64Type, *arrow.TimestampType:
		return fillTimes(arrow.Int64Traits.CastFromBytes(out), t.node, b, s)
	case *arrow.Decimal128Type:
		return fillDecimals(arrow.Decimal128Traits.CastFromBytes(out), t.node, b, s)
	case *arrow.FixedSizeBinaryType:
		k := 0
		for i := range s.items {
			if s.full == nil || s.full[i] {
				copy(out[i*typ.ByteWidth:(i+1)*typ.ByteWidth], b.Bytes(k))
				k++
			}
		}
	default:
		panic("BUG: an Arrow type that primitiveType does not give")
	}
	return nil
}

func fillBools(out []byte, v []bool, s *spread) {
	k := 0
	for i := range s.items {
		if s.full == nil || s.full[i] {
			if v[k] {
				bitutil.SetBit(out, i)
			}
			k++
		}
	}
}

func spreadNarrow[T int8 | int16](dst []T, v []int32, s *spread) {
	k := 0
	for i := range s.items {
		if s.full == nil || s.full[i] {
			dst[i] = T(v[k])
			k++
		}
	}
}

// fillTimes writes times and timestamps: milliseconds become microseconds, an
// INT96 the microseconds since 1970.
func fillTimes(dst []int64, n *leaf.Node, b *leaf.Batch, s *spread) error {
	switch {
	case n.Type == leaf.Int96:
		return fillInt96(dst, b, s)
	case n.Type == leaf.Int32: // TIME_MILLIS
		k := 0
		for i := range s.items {
			if s.full == nil || s.full[i] {
				dst[i] = int64(b.Int32s[k]) * 1000
				k++
			}
		}
		return nil
	}
	spreadValues(dst, b.Int64s, s)
	if n.Unit != leaf.Millis {
		return nil
	}
	for i, v := range dst {
		if v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
			return corruptf("the time of %d milliseconds does not fit microseconds", v)
		}
		dst[i] = v * 1000
	}
	return nil
}

// fillInt96 decodes nanoseconds of the day and the Julian day (Impala's
// timestamps).
func fillInt96(dst []int64, b *leaf.Batch, s *spread) error {
	const julian1970, dayMicros = 2_440_588, 86_400_000_000
	k := 0
	for i := range s.items {
		if s.full != nil && !s.full[i] {
			continue
		}
		v := b.Bytes(k)
		k++
		days := int64(binary.LittleEndian.Uint32(v[8:])) - julian1970
		if days > math.MaxInt64/dayMicros-1 || days < math.MinInt64/dayMicros+1 {
			return corruptf("the Julian day of an INT96 timestamp is %d days from 1970", days)
		}
		dst[i] = days*dayMicros + floorDiv(int64(binary.LittleEndian.Uint64(v)), 1000)
	}
	return nil
}

// fillDecimals widens decimals of any physical type to 128 bits.
func fillDecimals(dst []decimal128.Num, n *leaf.Node, b *leaf.Batch, s *spread) error {
	k := 0
	for i := range s.items {
		if s.full != nil && !s.full[i] {
			continue
		}
		switch n.Type {
		case leaf.Int32:
			dst[i] = decimal128.FromI64(int64(b.Int32s[k]))
		case leaf.Int64:
			dst[i] = decimal128.FromI64(b.Int64s[k])
		default:
			v, ok := decimalOf(b.Bytes(k))
			if !ok {
				return corruptf("a decimal of %d bytes does not fit 128 bits", len(b.Bytes(k)))
			}
			dst[i] = v
		}
		k++
	}
	return nil
}

// decimalOf decodes big-endian two's complement of any length.
func decimalOf(v []byte) (decimal128.Num, bool) {
	negative := len(v) > 0 && v[0] >= 0x80
	v = trimSign(v, negative)
	if len(v) > 16 || len(v) == 0 {
		return decimal128.Num{}, false
	}
	var be [16]byte
	if negative {
		for i := range be {
			be[i] = 0xff
		}
	}
	copy(be[16-len(v):], v)
	return decimal128.New(int64(binary.BigEndian.Uint64(be[:8])), binary.BigEndian.Uint64(be[8:])), true
}
