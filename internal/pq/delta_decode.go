package pq

import (
	"encoding/binary"
	"math"
)

// maxDeltaBlock is the largest block that is read; 128 and 256 are usual.
const maxDeltaBlock = 1 << 16

// deltaReader decodes one DELTA_BINARY_PACKED sequence from src, which has
// slack behind it.
type deltaReader struct {
	src   []byte
	mini  int // values in a miniblock
	minis int // miniblocks in a block
	total int
	first int64

	packed []byte // of the miniblock that was taken last
}

func (d *deltaReader) uvarint() (uint64, error) {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		return 0, corruptf("delta-encoded values end early")
	}
	d.src = d.src[n:]
	return v, nil
}

func (d *deltaReader) varint() (int64, error) {
	v, err := d.uvarint()
	return int64(v>>1) ^ -int64(v&1), err
}

// header reads the sequence's header and checks it before anything is sized by it.
func (d *deltaReader) header() error {
	var h [3]uint64
	for i := range h {
		v, err := d.uvarint()
		if err != nil {
			return err
		}
		h[i] = v
	}
	block, minis, total := h[0], h[1], h[2]
	if block == 0 || block%128 != 0 || block > maxDeltaBlock || minis == 0 || block%minis != 0 || block/minis%32 != 0 {
		return corruptf("delta blocks of %d values in %d miniblocks", block, minis)
	}
	// A block takes two bytes at least, which bounds what the count may claim.
	if total > min(block*(uint64(len(d.src))/2+1)+1, math.MaxInt32) {
		return corruptf("%d delta-encoded values in %d bytes", total, len(d.src))
	}
	d.mini, d.minis, d.total = int(block/minis), int(minis), int(total)
	var err error
	if d.first, err = d.varint(); err != nil && total == 0 {
		err = nil // some writers end an empty sequence here
	}
	return err
}

// decodeDelta decodes a sequence of at most limit values into dst's memory and
// returns them and the bytes behind the sequence.
func decodeDelta[T integer](dst []T, src []byte, limit int) (_ []T, rest []byte, err error) {
	d := deltaReader{src: src}
	if err := d.header(); err != nil {
		return dst, nil, err
	}
	if d.total > limit {
		return dst, nil, corruptf("%d delta-encoded values where at most %d belong", d.total, limit)
	}
	dst = grow(dst, d.total)
	if d.total > 0 {
		dst[0] = T(d.first)
		err = readBlocks(&d, dst[1:], dst[0])
	}
	return dst, d.src, err
}

func readBlocks[T integer](d *deltaReader, dst []T, last T) error {
	for len(dst) > 0 {
		least, err := d.varint()
		if err != nil {
			return err
		}
		if d.minis > len(d.src) {
			return corruptf("a delta block ends early")
		}
		widths := d.src[:d.minis]
		d.src = d.src[d.minis:]
		for _, width := range widths {
			if len(dst) == 0 {
				break
			}
			n := min(d.mini, len(dst))
			if err := d.miniblock(uint(width)); err != nil {
				return err
			}
			last = sumDeltas(dst[:n], last, T(least), d.packed, uint(width))
			dst = dst[n:]
		}
	}
	return nil
}

// miniblock takes the bytes of the next miniblock.
func (d *deltaReader) miniblock(width uint) error {
	size := d.mini / 8 * int(width)
	if width > 64 || size > len(d.src) {
		return corruptf("a delta miniblock of %d-bit values ends early", width)
	}
	d.packed, d.src = d.src[:size], d.src[size:]
	return nil
}

// sumDeltas fills dst from packed deltas of 0 to 64 bits and returns the last
// value. packed has slack behind it.
func sumDeltas[T integer](dst []T, last, least T, packed []byte, width uint) T {
	packed = packed[:len(packed)+slack]
	mask := ^uint64(0) >> (64 - width)
	bit := uint(0)
	if width <= 56 {
		for i := range dst {
			last += least + T(binary.LittleEndian.Uint64(packed[bit>>3:])>>(bit&7)&mask)
			dst[i] = last
			bit += width
		}
		return last
	}
	for i := range dst {
		at, shift := bit>>3, bit&7
		v := binary.LittleEndian.Uint64(packed[at:]) >> shift
		if shift > 0 {
			v |= uint64(packed[at+8]) << (64 - shift)
		}
		last += least + T(v&mask)
		dst[i] = last
		bit += width
	}
	return last
}

// decodeDeltaLength decodes at most limit byte strings in
// DELTA_LENGTH_BYTE_ARRAY. offsets gets one entry more; the data is a view of src.
func decodeDeltaLength(offsets []uint32, lengths []int32, src []byte, limit int) (_ []uint32, _ []int32, data []byte, err error) {
	lengths, rest, err := decodeDelta(lengths, src, limit)
	if err != nil {
		return offsets, lengths, nil, err
	}
	offsets = append(offsets[:0], 0)
	end := uint64(0)
	for _, l := range lengths {
		if l < 0 || end+uint64(l) > uint64(len(rest)) {
			return offsets, lengths, nil, corruptf("byte strings are longer than their page")
		}
		end += uint64(l)
		offsets = append(offsets, uint32(end))
	}
	return offsets, lengths, rest[:end], nil
}

// deltaBytes decodes at most limit byte strings in DELTA_BYTE_ARRAY, of at most
// size bytes in sum: prefixes that repeat can stand for far more than the page.
func (s *pageScratch) deltaBytes(src []byte, limit, size int) error {
	prefixes, rest, err := decodeDelta[int32](nil, src, limit)
	if err != nil {
		return err
	}
	suffixes, lengths, bytes, err := decodeDeltaLength(nil, s.lengths, rest, limit)
	s.lengths = lengths
	if err != nil {
		return err
	}
	if len(prefixes) != len(lengths) {
		return corruptf("%d prefixes for %d suffixes", len(prefixes), len(lengths))
	}
	s.offsets, s.data = append(s.offsets[:0], 0), s.data[:0]
	start, end := 0, 0 // of the value before
	for i, p := range prefixes {
		suffix := bytes[suffixes[i]:suffixes[i+1]]
		if p < 0 || int(p) > end-start || len(s.data)+int(p)+len(suffix) > size {
			return corruptf("a prefix of %d bytes after a value of %d", p, end-start)
		}
		s.data = append(s.data, s.data[start:start+int(p)]...)
		s.data = append(s.data, suffix...)
		start, end = end, len(s.data)
		s.offsets = append(s.offsets, uint32(end))
	}
	return nil
}

// joinStreams undoes BYTE_STREAM_SPLIT for values of width bytes.
func joinStreams(dst, src []byte, width int) {
	n := len(src) / width
	for k := range width {
		stream := src[k*n : (k+1)*n]
		for i, b := range stream {
			dst[i*width+k] = b
		}
	}
}
