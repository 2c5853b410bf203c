package variant

import (
	"encoding/binary"
	"math"
)

// The methods below are the parser's way into a builder: they write a value whose
// place is made and whose content is checked.

// putInt writes the smallest integer that holds x.
func (b *Builder) putInt(x int64) {
	n := len(b.buf)
	b.grow(9)
	dst := b.buf[n : n+9]
	binary.LittleEndian.PutUint64(dst[1:], uint64(x))
	switch {
	case x == int64(int8(x)):
		dst[0] = primInt8 << 2
		n += 2
	case x == int64(int16(x)):
		dst[0] = primInt16 << 2
		n += 3
	case x == int64(int32(x)):
		dst[0] = primInt32 << 2
		n += 5
	default:
		dst[0] = primInt64 << 2
		n += 9
	}
	b.buf = b.buf[:n]
}

// putDouble writes a double.
func (b *Builder) putDouble(x float64) {
	n := len(b.buf)
	b.grow(9)
	dst := b.buf[n : n+9]
	dst[0] = primDouble << 2
	binary.LittleEndian.PutUint64(dst[1:], math.Float64bits(x))
	b.buf = b.buf[:n+9]
}

// putDecimal writes the smallest decimal for x, of magnitude mag < 10^18, whose scale is
// at most 18; see Decimal.kind.
func (b *Builder) putDecimal(x int64, mag uint64, scale uint8) {
	n := len(b.buf)
	b.grow(10)
	dst := b.buf[n : n+10]
	dst[1] = scale
	binary.LittleEndian.PutUint64(dst[2:], uint64(x))
	if mag < 1e9 && scale <= 9 {
		dst[0] = primDecimal4 << 2
		b.buf = b.buf[:n+6]
		return
	}
	dst[0] = primDecimal8 << 2
	b.buf = b.buf[:n+10]
}

// putText writes a string.
func (b *Builder) putText(s []byte) {
	b.buf = append(appendTextHeader(b.buf, len(s)), s...)
}

// putByte writes a value of one byte.
func (b *Builder) putByte(h byte) { b.buf = append(b.buf, h) }

// scalarForm tells how a kind lies in its bytes.
type scalarForm uint8

const (
	formOther   scalarForm = iota
	formInt                // header, Int cut to the kind's size
	formDecimal            // header, scale, coefficient cut to the kind's size
	formDouble
	formText
)

// kindForms has what putScalar needs to know of a kind: its form, size in bytes with
// the header, and, for formInt, the bits that Int may use.
var kindForms = [KindObject + 1]struct {
	form scalarForm
	size uint8
	bits uint8
}{
	KindInt8: {formInt, 2, 8}, KindInt16: {formInt, 3, 16}, KindInt32: {formInt, 5, 32}, KindInt64: {formInt, 9, 64},
	KindDate: {formInt, 5, 32}, KindTimestamp: {formInt, 9, 64}, KindTimestampNTZ: {formInt, 9, 64},
	KindTimestampNanos: {formInt, 9, 64}, KindTimestampNTZNanos: {formInt, 9, 64},
	KindDecimal4: {formDecimal, 6, 0}, KindDecimal8: {formDecimal, 10, 0}, KindDecimal16: {formDecimal, 18, 0},
	KindDouble: {formDouble, 9, 0}, KindString: {formText, 0, 0},
}

// putScalar writes a scalar after checking its content. Numbers are written as whole
// words, of which the part beyond their size is cut off.
func (b *Builder) putScalar(s *Scalar) {
	f := &kindForms[min(s.Kind, KindObject)]
	b.grow(18)
	n := len(b.buf)
	dst := b.buf[n : n+18]
	switch f.form {
	case formInt:
		if bits := f.bits - 1; s.Int>>(bits&63) != s.Int>>63 {
			b.fail(s.check())
			return
		}
		binary.LittleEndian.PutUint64(dst[1:], uint64(s.Int))
	case formDecimal:
		if uint64(s.Int+999_999_999) > 2*999_999_999 || s.Hi != s.Int>>63 || s.Scale > MaxPrecision {
			if err := s.checkDecimal(); err != nil {
				b.fail(err)
				return
			}
		}
		dst[1] = s.Scale
		binary.LittleEndian.PutUint64(dst[2:], uint64(s.Int))
		binary.LittleEndian.PutUint64(dst[10:], uint64(s.Hi))
	case formDouble:
		binary.LittleEndian.PutUint64(dst[1:], math.Float64bits(s.Float))
	case formText:
		if !validUTF8(s.Bytes) {
			b.fail(errText)
			return
		}
		b.putText(s.Bytes)
		return
	case formOther:
		if err := s.check(); err != nil {
			b.fail(err)
			return
		}
		b.buf = AppendScalar(b.buf, s)
		return
	}
	dst[0] = kindHeaders[s.Kind]
	b.buf = b.buf[:n+int(f.size)]
}

// putSmall writes a decimal4.
func (b *Builder) putSmall(x int64, scale int) {
	n := len(b.buf)
	b.grow(10)
	dst := b.buf[n : n+10]
	dst[0], dst[1] = primDecimal4<<2, byte(scale)
	binary.LittleEndian.PutUint64(dst[2:], uint64(x))
	b.buf = b.buf[:n+6]
}
