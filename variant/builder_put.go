package variant

import "encoding/binary"

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

// putDecimal writes the smallest decimal that holds x, of magnitude mag < 10^18.
func (b *Builder) putDecimal(x int64, mag uint64, scale uint8) {
	n := len(b.buf)
	b.grow(10)
	dst := b.buf[n : n+10]
	dst[1] = scale
	binary.LittleEndian.PutUint64(dst[2:], uint64(x))
	if mag < 1e9 {
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
