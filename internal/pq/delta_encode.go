package pq

import (
	"encoding/binary"
	"math/bits"
)

// The shape of our delta blocks, that of parquet-java: 128 values in four
// miniblocks, each with a width of its own.
const (
	deltaBlock = 128
	deltaMini  = 32
	deltaMinis = deltaBlock / deltaMini
)

// integer is a physical integer type. Deltas wrap around in its own width, so
// that they never need more bits than a plain value (Encodings.md,
// DELTA_BINARY_PACKED).
type integer interface{ int32 | int64 }

// appendDelta appends v in DELTA_BINARY_PACKED.
func appendDelta[T integer](dst []byte, v []T) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaMinis)
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	if len(v) == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, int64(v[0]))
	var deltas [deltaBlock]uint64
	for last, rest := v[0], v[1:]; len(rest) > 0; {
		n := min(deltaBlock, len(rest))
		least := blockDeltas(&deltas, last, rest[:n])
		last = rest[n-1]
		rest = rest[n:]
		dst = binary.AppendVarint(dst, int64(least))
		dst = appendMiniblocks(dst, &deltas, n)
	}
	return dst
}

// blockDeltas sets deltas to the differences of the values above their least
// one, which it returns; the rest of deltas is 0.
func blockDeltas[T integer](deltas *[deltaBlock]uint64, last T, v []T) (least T) {
	least = v[0] - last
	prev := last
	for _, x := range v {
		least = min(least, x-prev)
		prev = x
	}
	mask := ^uint64(0)
	if _, narrow := any(least).(int32); narrow {
		mask = 1<<32 - 1
	}
	for i, x := range v {
		deltas[i] = uint64(x-last-least) & mask
		last = x
	}
	clear(deltas[len(v):])
	return least
}

func appendMiniblocks(dst []byte, deltas *[deltaBlock]uint64, n int) []byte {
	var widths [deltaMinis]uint8
	for i := range widths {
		or := uint64(0)
		for _, d := range deltas[i*deltaMini : (i+1)*deltaMini] {
			or |= d
		}
		widths[i] = uint8(bits.Len64(or))
	}
	dst = append(dst, widths[:]...)
	for i := 0; i*deltaMini < n; i++ {
		dst = appendPacked32(dst, (*[deltaMini]uint64)(deltas[i*deltaMini:]), uint(widths[i]))
	}
	return dst
}

// appendPacked32 packs 32 values of 0 to 64 bits.
func appendPacked32(dst []byte, v *[deltaMini]uint64, width uint) []byte {
	if width == 0 {
		return dst
	}
	var acc uint64
	filled := uint(0)
	for _, x := range v {
		acc |= x << filled
		if filled += width; filled >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			filled -= 64
			acc = x >> (width - filled)
		}
	}
	if filled > 0 { // 32 values of an odd width end in the middle of a word
		dst = binary.LittleEndian.AppendUint32(dst, uint32(acc))
	}
	return dst
}

// deltaSize returns the bytes that appendDelta would use for v, but for its
// header.
func deltaSize[T integer](v []T) int {
	size := 0
	var deltas [deltaBlock]uint64
	for len(v) > 1 {
		n := min(deltaBlock, len(v)-1)
		blockDeltas(&deltas, v[0], v[1:n+1])
		v = v[n:]
		size += 3 + deltaMinis
		for i := 0; i*deltaMini < n; i++ {
			or := uint64(0)
			for _, d := range deltas[i*deltaMini : (i+1)*deltaMini] {
				or |= d
			}
			size += bits.Len64(or) * deltaMini / 8
		}
	}
	return size
}
