package pq

import (
	"encoding/binary"
	"math"
)

// slack is the number of readable bytes that every page buffer has behind its
// content, so that unpacking may load eight bytes at its last one.
const slack = 8

// spread1 maps a byte to its eight bits as eight bytes, the lowest first.
var spread1 = func() (t [256]uint64) {
	for b := range t {
		for i := range 8 {
			t[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return t
}()

// hybridReader decodes a hybrid-encoded sequence (Encodings.md, RLE = 3) of
// values of width bits, as many at a time as the caller wants: a few bytes can
// stand for two billion values, which must never be held at once.
//
// Invariant: the current run has left values; they equal value, or, when packed
// is not nil, the first of them is at bit position bit of packed. src and
// packed have slack behind them.
type hybridReader struct {
	src    []byte
	width  uint
	left   int
	value  uint32
	packed []byte
	bit    uint
}

// nextRun starts the next run.
func (h *hybridReader) nextRun() error {
	header, k := binary.Uvarint(h.src)
	if k <= 0 || header>>1 == 0 || header>>1 > math.MaxInt32 {
		return corruptf("bad run header in a sequence of %d-bit values", h.width)
	}
	h.src = h.src[k:]
	if header&1 == 1 {
		return h.packedRun(header >> 1)
	}
	size := int(h.width+7) / 8
	if size > len(h.src) {
		return corruptf("a run of %d-bit values ends early", h.width)
	}
	h.value, h.packed, h.left = 0, nil, int(header>>1)
	for i, b := range h.src[:size] {
		h.value |= uint32(b) << (8 * i)
	}
	h.src = h.src[size:]
	return nil
}

// packedRun starts a bit-packed run. Some writers cut the zeros that pad the
// last group, so the last run may have fewer bytes than its groups need.
func (h *hybridReader) packedRun(groups uint64) error {
	h.left = int(min(groups*8, math.MaxInt32))
	size := groups * uint64(h.width)
	if size > uint64(len(h.src)) {
		size = uint64(len(h.src))
		h.left = int(size * 8 / uint64(h.width))
		if h.left == 0 {
			return corruptf("a sequence of %d-bit values ends early", h.width)
		}
	}
	h.packed, h.bit = h.src[:size], 0
	h.src = h.src[size:]
	return nil
}

// take makes sure of a current run and takes at most n values of it.
func (h *hybridReader) take(n int) (int, error) {
	if h.left == 0 {
		if err := h.nextRun(); err != nil {
			return 0, err
		}
	}
	n = min(n, h.left)
	h.left -= n
	return n, nil
}

// levels fills dst with the next levels, which must be at most highest.
func (h *hybridReader) levels(dst []uint8, highest uint8) error {
	for len(dst) > 0 {
		n, err := h.take(len(dst))
		if err != nil {
			return err
		}
		if h.packed == nil {
			if h.value > uint32(highest) {
				return corruptf("level %d is above %d", h.value, highest)
			}
			fill(dst[:n], uint8(h.value))
		} else {
			h.unpackLevels(dst[:n])
			if uint(highest)+1 != 1<<h.width && !allAtMost(dst[:n], highest) {
				return corruptf("a level is above %d", highest)
			}
		}
		dst = dst[n:]
	}
	return nil
}

func fill[T uint8 | int32 | bool](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

func allAtMost(levels []uint8, highest uint8) bool {
	top := uint8(0)
	for _, l := range levels {
		top = max(top, l)
	}
	return top <= highest
}

// unpackLevels unpacks the next len(dst) values, of 1 to 8 bits.
func (h *hybridReader) unpackLevels(dst []uint8) {
	packed, width := h.packed[:len(h.packed)+slack], h.width
	mask := uint64(1)<<width - 1
	for ; len(dst) > 0 && h.bit&7 != 0; h.bit += width {
		dst[0] = uint8(binary.LittleEndian.Uint64(packed[h.bit>>3:]) >> (h.bit & 7) & mask)
		dst = dst[1:]
	}
	p := packed[h.bit>>3:]
	h.bit += width * uint(len(dst))
	if width == 1 {
		for ; len(dst) >= 8; dst, p = dst[8:], p[1:] {
			binary.LittleEndian.PutUint64(dst, spread1[p[0]])
		}
	}
	for ; len(dst) >= 8; dst, p = dst[8:], p[width:] {
		v := binary.LittleEndian.Uint64(p)
		d := (*[8]uint8)(dst)
		d[0], d[1] = uint8(v&mask), uint8(v>>width&mask)
		d[2], d[3] = uint8(v>>(2*width)&mask), uint8(v>>(3*width)&mask)
		d[4], d[5] = uint8(v>>(4*width)&mask), uint8(v>>(5*width)&mask)
		d[6], d[7] = uint8(v>>(6*width)&mask), uint8(v>>(7*width)&mask)
	}
	if len(dst) == 0 {
		return
	}
	v := binary.LittleEndian.Uint64(p)
	for i := range dst {
		dst[i] = uint8(v & mask)
		v >>= width
	}
}

// indexes fills dst with the next dictionary indexes, which must be below limit.
func (h *hybridReader) indexes(dst []int32, limit int) error {
	for len(dst) > 0 {
		n, err := h.take(len(dst))
		if err != nil {
			return err
		}
		top := h.value
		if h.packed == nil {
			fill(dst[:n], int32(h.value))
		} else {
			top = h.unpackIndexes(dst[:n])
		}
		if int64(top) >= int64(limit) {
			return corruptf("dictionary index %d of %d", top, limit)
		}
		dst = dst[n:]
	}
	return nil
}

// unpackIndexes unpacks the next len(dst) values, of 0 to 32 bits, and returns
// the largest.
func (h *hybridReader) unpackIndexes(dst []int32) (top uint32) {
	packed, width := h.packed[:len(h.packed)+slack], h.width
	mask := uint64(1)<<width - 1
	if h.bit&7 == 0 && width <= 8 {
		p := packed[h.bit>>3:]
		for ; len(dst) >= 8; dst, p = dst[8:], p[width:] {
			v := binary.LittleEndian.Uint64(p)
			d := (*[8]int32)(dst)
			for i := range d {
				x := uint32(v & mask)
				d[i] = int32(x)
				top = max(top, x)
				v >>= width
			}
			h.bit += 8 * width
		}
	}
	bit := h.bit
	for i := range dst {
		x := uint32(binary.LittleEndian.Uint64(packed[bit>>3:]) >> (bit & 7) & mask)
		dst[i] = int32(x)
		top = max(top, x)
		bit += width
	}
	h.bit = bit
	return top
}

// bools fills dst with the next values of a sequence of width 1.
func (h *hybridReader) bools(dst []bool) error {
	for len(dst) > 0 {
		n, err := h.take(len(dst))
		if err != nil {
			return err
		}
		if h.packed == nil {
			fill(dst[:n], h.value&1 == 1)
		} else {
			unpackBools(dst[:n], h.packed, h.bit)
			h.bit += uint(n)
		}
		dst = dst[n:]
	}
	return nil
}

// unpackBools reads bits, from position bit on, the lowest of a byte first.
func unpackBools(dst []bool, packed []byte, bit uint) {
	for i := range dst {
		dst[i] = packed[bit>>3]>>(bit&7)&1 == 1
		bit++
	}
}

// skip passes over n values.
func (h *hybridReader) skip(n int) error {
	for n > 0 {
		k, err := h.take(n)
		if err != nil {
			return err
		}
		h.bit += uint(k) * h.width
		n -= k
	}
	return nil
}

// unpackLegacyLevels fills dst with levels in the deprecated encoding
// BIT_PACKED, whose values start at the highest bit of each byte, from value
// number from on. src holds them all.
func unpackLegacyLevels(dst []uint8, src []byte, from int, width uint, highest uint8) error {
	bit := uint(from) * width
	for i := range dst {
		v := uint8(0)
		for range width {
			v = v<<1 | src[bit>>3]>>(7-bit&7)&1
			bit++
		}
		if v > highest {
			return corruptf("level %d is above %d", v, highest)
		}
		dst[i] = v
	}
	return nil
}
