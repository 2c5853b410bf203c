package deletevec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
)

const (
	blobMagic    = "\xD1\xD3\x39\x64"
	lengthBytes  = 4
	crcBytes     = 4
	minBlob      = lengthBytes + len(blobMagic) + 8 + crcBytes
	cookieRuns   = 12347 // some container is stored as runs
	cookieNoRuns = 12346
	// With the runs cookie, fewer containers than this have no offset table.
	minOffsets = 4
)

// AppendBlob appends v as a blob of type deletion-vector-v1: the bytes that lie
// between the offset and the length that a Puffin footer gives. Each container
// takes the smallest of its three forms. The error is [ErrTooLarge].
func AppendBlob(dst []byte, v *Vector) ([]byte, error) {
	start := len(dst)
	dst = append(slices.Grow(dst, v.sizeHint()), 0, 0, 0, 0)
	dst = append(dst, blobMagic...)
	countAt := len(dst)
	dst = le.AppendUint64(dst, 0)
	maps := uint64(0)
	for i := 0; i < len(v.keys); maps++ {
		key := v.keys[i] >> chunkBits
		j := i + 1
		for j < len(v.keys) && v.keys[j]>>chunkBits == key {
			j++
		}
		dst = le.AppendUint32(dst, uint32(key))
		dst = appendBitmap32(dst, v.keys[i:j], v.cs[i:j])
		i = j
	}
	le.PutUint64(dst[countAt:], maps)
	body := dst[start+lengthBytes:]
	if len(body) > math.MaxInt32-lengthBytes-crcBytes {
		return dst[:start], fmt.Errorf("%w: %d bytes", ErrTooLarge, len(body))
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(len(body)))
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(body)), nil
}

// sizeHint is at least the size of the blob, and close to it.
func (v *Vector) sizeHint() int {
	n := minBlob
	for i := range v.cs {
		n += len(v.cs[i].data) + 10
		if i == 0 || v.keys[i]>>chunkBits != v.keys[i-1]>>chunkBits {
			n += 13
		}
	}
	return n
}

// appendBitmap32 appends the containers of one 32-bit key in the portable form
// of a 32-bit Roaring bitmap.
func appendBitmap32(dst []byte, keys []uint64, cs []container) []byte {
	start := len(dst)
	hasRuns := false
	wire := make([]container, len(cs))
	for i := range cs {
		wire[i] = cs[i].smallest()
		hasRuns = hasRuns || wire[i].kind == kindRuns
	}
	if hasRuns {
		dst = le.AppendUint32(dst, cookieRuns|uint32(len(cs)-1)<<16)
		flags := len(dst)
		dst = append(dst, make([]byte, (len(cs)+7)/8)...)
		for i := range wire {
			if wire[i].kind == kindRuns {
				dst[flags+i/8] |= 1 << (i % 8)
			}
		}
	} else {
		dst = le.AppendUint32(dst, cookieNoRuns)
		dst = le.AppendUint32(dst, uint32(len(cs)))
	}
	for i := range wire {
		dst = le.AppendUint16(dst, uint16(keys[i]))
		dst = le.AppendUint16(dst, uint16(wire[i].card-1))
	}
	if !hasRuns || len(cs) >= minOffsets {
		offset := len(dst) - start + 4*len(cs)
		for i := range wire {
			dst = le.AppendUint32(dst, uint32(offset))
			offset += wire[i].wireSize()
		}
	}
	for i := range wire {
		if wire[i].kind == kindRuns {
			dst = le.AppendUint16(dst, uint16(wire[i].runs()))
		}
		dst = append(dst, wire[i].data...)
	}
	return dst
}

func (c *container) wireSize() int {
	if c.kind == kindRuns {
		return 2 + len(c.data)
	}
	return len(c.data)
}

// smallest returns the container in the form that takes the fewest bytes: the
// same one when it has that form already.
func (c *container) smallest() container {
	plain := min(2*int(c.card), bitsBytes)
	if n := c.countRuns((plain - 2) / 4); 2+4*n < plain {
		return c.as(kindRuns)
	}
	if c.card <= maxArray {
		return c.as(kindArray)
	}
	return c.as(kindBitmap)
}

// countRuns counts the runs of consecutive positions; it may stop at any count
// above limit.
func (c *container) countRuns(limit int) int {
	n := 0
	switch c.kind {
	case kindArray:
		n = c.len() - adjacent(c.data)
	case kindBitmap:
		carry := uint64(0)
		for i := 0; i < chunkWords && n <= limit; i++ {
			w := c.word(i)
			n += bits.OnesCount64(w &^ (w<<1 | carry))
			carry = w >> 63
		}
	case kindRuns:
		n = c.runs()
	}
	return n
}

// adjacent counts the values of an ascending array that follow their neighbour
// without a gap, four at a time: y-x-1 is 0 in their lane, and no lane borrows.
func adjacent(b []byte) int {
	const (
		top   = 0x8000_8000_8000_8000
		below = 0x7FFF_7FFF_7FFF_7FFF
		ones  = 0x0001_0001_0001_0001
	)
	n := 0
	for ; len(b) >= 10; b = b[8:] {
		gap := le.Uint64(b[2:10]) - le.Uint64(b) - ones
		n += bits.OnesCount64(^(gap&below + below | gap) & top)
	}
	for ; len(b) >= 4; b = b[2:] {
		if le.Uint16(b)+1 == le.Uint16(b[2:]) {
			n++
		}
	}
	return n
}

func (c *container) as(k kind) container {
	if c.kind == k {
		return *c
	}
	out := *c
	out.toBitmap()
	if k == kindBitmap {
		return out
	}
	words := out.data
	out.kind, out.data, out.view = k, nil, false
	if k == kindArray {
		out.data = make([]byte, 0, 2*c.card)
	}
	next := 0 // first position after the last run
	for i := range chunkWords {
		for w := le.Uint64(words[8*i:]); w != 0; w &= w - 1 {
			p := i<<6 + bits.TrailingZeros64(w)
			switch {
			case k == kindArray:
				out.data = le.AppendUint16(out.data, uint16(p))
			case p == next && len(out.data) > 0:
				// One more position: the length is the upper half.
				last := out.data[len(out.data)-4:]
				le.PutUint32(last, le.Uint32(last)+1<<16)
			default:
				out.data = le.AppendUint32(out.data, pairOf(p, p))
			}
			next = p + 1
		}
	}
	return out
}
