package deletevec

import (
	"math/bits"
	"slices"
)

// Mask is the deleted rows of one range of rows: bit i%64 of word i/64 is set
// when row start+i is deleted. The zero value is a mask of no rows; Reset fills
// it again and keeps its memory.
type Mask struct {
	words   []uint64 // the bits from rows on are zero
	rows    int
	deleted int
}

// Mask returns the deleted rows among start .. start+rows-1, the positions of a
// batch in its data file. rows may be 0.
func (v *Vector) Mask(start int64, rows int) *Mask {
	m := new(Mask)
	m.Reset(v, start, rows)
	return m
}

// Reset makes m the mask of the rows start .. start+rows-1. A nil v deletes
// nothing.
func (m *Mask) Reset(v *Vector, start int64, rows int) {
	n := (rows + 63) / 64
	m.words = slices.Grow(m.words[:0], n)[:n]
	clear(m.words)
	m.rows, m.deleted = rows, 0
	if v == nil || rows == 0 {
		return
	}
	end := start + int64(rows)
	i, _ := slices.BinarySearch(v.keys, uint64(start)>>chunkBits)
	for ; i < len(v.keys); i++ {
		base := int64(v.keys[i] << chunkBits)
		if base >= end {
			break
		}
		from := int(max(start-base, 0))
		to := int(min(end-base, chunkSize))
		v.cs[i].fill(m.words, int(base-start), from, to)
	}
	for _, w := range m.words {
		m.deleted += bits.OnesCount64(w)
	}
}

// Rows is the number of rows of the range.
func (m *Mask) Rows() int { return m.rows }

// Deleted is the number of deleted rows of the range.
func (m *Mask) Deleted() int { return m.deleted }

// Live is the number of rows that are left.
func (m *Mask) Live() int { return m.rows - m.deleted }

// Words are the bits of the deleted rows, the first row in the lowest bit of
// the first word. They belong to the mask and are valid until Reset.
func (m *Mask) Words() []uint64 { return m.words }

// IsDeleted reports whether row i of the range is deleted.
func (m *Mask) IsDeleted(i int) bool { return m.words[i>>6]>>(i&63)&1 == 1 }

// fill sets the bits of the positions from..to-1 of the container. Position p
// is bit p+shift of words; shift may be negative.
func (c *container) fill(words []uint64, shift, from, to int) {
	switch c.kind {
	case kindArray:
		for b := c.data[2*c.search(from):]; len(b) >= 2; b = b[2:] {
			p := int(le.Uint16(b))
			if p >= to {
				return
			}
			p += shift
			words[p>>6] |= 1 << (p & 63)
		}
	case kindBitmap:
		c.fillBits(words, shift, from, to)
	case kindRuns:
		for i := c.searchRun(from); i < c.runs(); i++ {
			first, last := c.run(i)
			if first >= to {
				return
			}
			setRange(words, max(first, from)+shift, min(last+1, to)+shift)
		}
	}
}

// fillBits is fill for a bitmap: each of its words falls into two of words.
func (c *container) fillBits(words []uint64, shift, from, to int) {
	for i := from >> 6; i <= (to-1)>>6; i++ {
		w := c.word(i) & wordMask(i<<6, from, to)
		if w == 0 {
			continue
		}
		at := i<<6 + shift // bit of words where w begins; may be negative
		s := uint(at & 63)
		if lo := w << s; lo != 0 {
			words[at>>6] |= lo
		}
		if hi := w >> 1 >> (63 - s); hi != 0 {
			words[at>>6+1] |= hi
		}
	}
}

// setRange sets the bits from..to-1.
func setRange(words []uint64, from, to int) {
	for i := from >> 6; i <= (to-1)>>6; i++ {
		words[i] |= wordMask(i<<6, from, to)
	}
}

// KeepOnly marks every row whose bit in keep is not set, in addition to the
// deleted ones: the rows that a predicate does not let through. keep has the
// layout of Words; bits beyond the rows are ignored.
func (m *Mask) KeepOnly(keep []uint64) {
	m.deleted = 0
	for i := range m.words {
		w := m.words[i] | ^keep[i]
		if rest := m.rows - i<<6; rest < 64 {
			w &= 1<<rest - 1
		}
		m.words[i] = w
		m.deleted += bits.OnesCount64(w)
	}
}
