package pq

import (
	"encoding/binary"

	"github.com/frazil/frazil/internal/leaf"
)

// maxLiteralGroups keeps the header of a bit-packed run in one byte.
const maxLiteralGroups = 63

// hybridEncoder appends the RLE / bit-packed hybrid (Encodings.md, RLE = 3) of
// values that are given as runs, for widths of 1 to 8 bits: levels and booleans.
//
// Invariants: acc holds the pending < 8 values of an unfinished group; header
// is the position of the open bit-packed run's header and groups its finished
// groups, header < 0 when none is open.
type hybridEncoder struct {
	dst     []byte
	width   uint
	unit    uint64 // a 1 in each of eight fields of width bits
	minRun  int    // shorter runs are packed: their own header would cost more
	acc     uint64
	pending int
	header  int
	groups  int
}

func newHybridEncoder(dst []byte, width uint) hybridEncoder {
	e := hybridEncoder{dst: dst, width: width, header: -1, minRun: 8}
	for i := range uint(8) {
		e.unit |= 1 << (i * width)
	}
	if width <= 2 {
		e.minRun = int(32 / width)
	}
	return e
}

// run adds n times v.
func (e *hybridEncoder) run(v uint8, n int) {
	repeated := uint64(v) * e.unit
	if e.pending > 0 {
		k := min(n, 8-e.pending)
		e.acc |= (repeated & fieldMask(uint(k)*e.width)) << (uint(e.pending) * e.width)
		e.pending += k
		n -= k
		if e.pending < 8 {
			return
		}
		e.group(e.acc)
		e.acc, e.pending = 0, 0
	}
	if n >= e.minRun {
		e.close()
		e.dst = binary.AppendUvarint(e.dst, uint64(n)<<1)
		e.dst = append(e.dst, v)
		return
	}
	for ; n >= 8; n -= 8 {
		e.group(repeated)
	}
	e.acc, e.pending = repeated&fieldMask(uint(n)*e.width), n
}

func fieldMask(n uint) uint64 { return 1<<n - 1 }

// group appends eight packed values.
func (e *hybridEncoder) group(v uint64) {
	if e.header < 0 || e.groups == maxLiteralGroups {
		e.close()
		e.header = len(e.dst)
		e.dst = append(e.dst, 0)
	}
	e.groups++
	n := len(e.dst) + int(e.width)
	e.dst = binary.LittleEndian.AppendUint64(e.dst, v)[:n]
}

// close ends the open bit-packed run.
func (e *hybridEncoder) close() {
	if e.header >= 0 {
		e.dst[e.header] = byte(e.groups<<1 | 1)
	}
	e.header, e.groups = -1, 0
}

// finish pads the last group with zeros and returns the bytes.
func (e *hybridEncoder) finish() []byte {
	if e.pending > 0 {
		e.group(e.acc)
	}
	e.close()
	return e.dst
}

// runCursor is a position in a list of runs: used levels of runs[at] are passed.
type runCursor struct {
	runs []leaf.Run
	at   int
	used uint32
}

// take returns at most n equal levels; 0 at the end of the list.
func (c *runCursor) take(n int) (level uint8, count int) {
	for c.at < len(c.runs) {
		r := c.runs[c.at]
		left := r.N - c.used
		if uint64(left) <= uint64(n) {
			c.at++
			c.used = 0
			if left == 0 {
				continue
			}
			return r.Level, int(left)
		}
		c.used += uint32(n)
		return r.Level, n
	}
	return 0, 0
}

// appendLevels appends n levels from the cursor and returns how many of them
// equal highest.
func appendLevels(dst []byte, c *runCursor, n int, highest uint8) (_ []byte, full int) {
	e := newHybridEncoder(dst, levelWidth(highest))
	for n > 0 {
		level, k := c.take(n)
		if k == 0 {
			panic("BUG: a buffer has fewer levels than slots")
		}
		if level == highest {
			full += k
		}
		e.run(level, k)
		n -= k
	}
	return e.finish(), full
}

// appendIndexes appends the hybrid of dictionary indexes of the given width,
// 0 to 32 bits.
func appendIndexes(dst []byte, idx []uint32, width uint) []byte {
	header, groups := -1, 0
	closeRun := func() {
		if header >= 0 {
			dst[header] = byte(groups<<1 | 1)
		}
		header, groups = -1, 0
	}
	for len(idx) > 0 {
		if n := equalPrefix(idx); n >= 8 || width == 0 {
			closeRun()
			dst = binary.AppendUvarint(dst, uint64(n)<<1)
			dst = appendFixedWidth(dst, uint64(idx[0]), (width+7)/8)
			idx = idx[n:]
			continue
		}
		if header < 0 || groups == maxLiteralGroups {
			closeRun()
			header = len(dst)
			dst = append(dst, 0)
		}
		groups++
		if len(idx) < 8 {
			var last [8]uint32
			copy(last[:], idx)
			dst = appendPacked8(dst, &last, width)
			break
		}
		dst = appendPacked8(dst, (*[8]uint32)(idx), width)
		idx = idx[8:]
	}
	closeRun()
	return dst
}

func equalPrefix(idx []uint32) int {
	n := 1
	for n < len(idx) && idx[n] == idx[0] {
		n++
	}
	return n
}

func appendFixedWidth(dst []byte, v uint64, n uint) []byte {
	for range n {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

// appendPacked8 packs eight values of width bits, the first in the lowest bits.
func appendPacked8(dst []byte, v *[8]uint32, width uint) []byte {
	var acc uint64
	filled := uint(0)
	for _, x := range v {
		acc |= uint64(x) << filled
		if filled += width; filled >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(acc))
			acc >>= 32
			filled -= 32
		}
	}
	return appendFixedWidth(dst, acc, filled/8)
}
