package deletevec

import (
	"encoding/binary"
	"math/bits"
)

// le reads and writes the bytes of containers; the Roaring format is
// little-endian throughout.
var le = binary.LittleEndian

const (
	chunkBits  = 16
	chunkSize  = 1 << chunkBits // positions of one container
	chunkMask  = chunkSize - 1
	chunkWords = chunkSize / 64
	bitsBytes  = chunkSize / 8
	maxArray   = 4096 // the largest cardinality that the format stores as an array
	maxRuns    = (bitsBytes - 2) / 4
)

type kind uint8

const (
	kindArray kind = iota
	kindBitmap
	kindRuns
)

// container is the set of the low 16 bits of the positions of one chunk. Its
// data are the bytes that the Roaring format stores, so that reading a blob
// makes views and writing one copies:
//
//	array   card values, ascending, 2 bytes each; card <= maxArray
//	bitmap  chunkWords words of 8 bytes, position p at bit p%64 of word p/64
//	runs    pairs (first, length-1), ascending and not adjacent, 2+2 bytes
//
// A bitmap in memory may hold maxArray positions or fewer, which the format
// forbids; encoding chooses the form again.
type container struct {
	kind kind
	view bool // data belong to the caller of ParseBlob: copy before a change
	card int32
	data []byte
}

func (c *container) len() int          { return len(c.data) / 2 }
func (c *container) at(i int) uint16   { return le.Uint16(c.data[2*i:]) }
func (c *container) runs() int         { return len(c.data) / 4 }
func (c *container) word(i int) uint64 { return le.Uint64(c.data[8*i:]) }

// run returns the first and the last position of run i.
func (c *container) run(i int) (first, last int) {
	v := le.Uint32(c.data[4*i:])
	first = int(v & chunkMask)
	return first, first + int(v>>16)
}

// search returns the index of the first array value that is >= low.
func (c *container) search(low int) int {
	i, j := 0, c.len()
	for i < j {
		m := int(uint(i+j) >> 1)
		if int(c.at(m)) < low {
			i = m + 1
		} else {
			j = m
		}
	}
	return i
}

// searchRun returns the index of the first run that ends at or after low.
func (c *container) searchRun(low int) int {
	i, j := 0, c.runs()
	for i < j {
		m := int(uint(i+j) >> 1)
		if _, last := c.run(m); last < low {
			i = m + 1
		} else {
			j = m
		}
	}
	return i
}

func (c *container) contains(low int) bool {
	switch c.kind {
	case kindArray:
		i := c.search(low)
		return i < c.len() && int(c.at(i)) == low
	case kindBitmap:
		return c.word(low>>6)>>(low&63)&1 == 1
	case kindRuns:
		i := c.searchRun(low)
		if i == c.runs() {
			return false
		}
		first, _ := c.run(i)
		return first <= low
	}
	panic("BUG: deletevec: unknown container kind")
}

// max returns the largest position; the container is not empty.
func (c *container) max() int {
	switch c.kind {
	case kindArray:
		return int(c.at(c.len() - 1))
	case kindBitmap:
		for i := chunkWords - 1; i >= 0; i-- {
			if w := c.word(i); w != 0 {
				return i<<6 + 63 - bits.LeadingZeros64(w)
			}
		}
	case kindRuns:
		_, last := c.run(c.runs() - 1)
		return last
	}
	panic("BUG: deletevec: empty or unknown container")
}

// own makes the data writable.
func (c *container) own() {
	if c.view {
		c.data = append([]byte(nil), c.data...)
		c.view = false
	}
}

func (c *container) clone() container {
	out := *c
	out.data = append([]byte(nil), c.data...)
	out.view = false
	return out
}

func (c *container) add(low int) {
	switch c.kind {
	case kindArray:
		c.addToArray(low)
	case kindBitmap:
		c.own()
		w := c.word(low >> 6)
		bit := uint64(1) << (low & 63)
		c.card += int32(1 - w>>(low&63)&1)
		le.PutUint64(c.data[low>>6<<3:], w|bit)
	case kindRuns:
		if !c.contains(low) {
			c.toBitmap()
			c.add(low)
		}
	}
}

func (c *container) addToArray(low int) {
	n := c.len()
	i := n
	if n > 0 && low <= int(c.at(n-1)) {
		if i = c.search(low); int(c.at(i)) == low {
			return
		}
	}
	if n == maxArray {
		c.toBitmap()
		c.add(low)
		return
	}
	c.own()
	c.data = append(c.data, 0, 0)
	copy(c.data[2*i+2:], c.data[2*i:])
	le.PutUint16(c.data[2*i:], uint16(low))
	c.card++
}

// addRange adds the positions first..last of the chunk.
func (c *container) addRange(first, last int) {
	if first == 0 && last == chunkMask {
		*c = rangeContainer(first, last)
		return
	}
	if c.kind == kindRuns && c.appendRun(first, last) {
		return
	}
	c.toBitmap()
	c.setBits(first, last)
}

func rangeContainer(first, last int) container {
	return container{kind: kindRuns, card: int32(last - first + 1), data: le.AppendUint32(nil, pairOf(first, last))}
}

func pairOf(first, last int) uint32 { return uint32(last-first)<<16 | uint32(first) }

// appendRun adds a range that begins in or after the last run.
func (c *container) appendRun(first, last int) bool {
	n := c.runs()
	f, l := c.run(n - 1)
	switch {
	case first < f || first > l+1 && n == maxRuns:
		return false
	case first > l+1:
		c.own()
		c.data = le.AppendUint32(c.data, pairOf(first, last))
		c.card += int32(last - first + 1)
	case last > l:
		c.own()
		le.PutUint32(c.data[4*(n-1):], pairOf(f, last))
		c.card += int32(last - l)
	}
	return true
}

// setBits adds first..last to a bitmap, word by word.
func (c *container) setBits(first, last int) {
	for i := first >> 6; i <= last>>6; i++ {
		m := wordMask(i<<6, first, last+1)
		w := c.word(i)
		c.card += int32(bits.OnesCount64(m &^ w))
		le.PutUint64(c.data[8*i:], w|m)
	}
}

// countBits counts the positions of a bitmap.
func (c *container) countBits() int {
	n := 0
	for b := c.data; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(le.Uint64(b))
	}
	return n
}

// wordMask has the bits of the positions from..to-1 in the word that begins at
// position base; the range meets the word.
func wordMask(base, from, to int) uint64 {
	m := ^uint64(0)
	if from > base {
		m <<= from - base
	}
	if to < base+64 {
		m &= 1<<(to-base) - 1
	}
	return m
}

// toBitmap gives the container writable bitmap form.
func (c *container) toBitmap() {
	if c.kind == kindBitmap {
		c.own()
		return
	}
	out := container{kind: kindBitmap, data: make([]byte, bitsBytes)}
	out.or(c)
	*c = out
}

// or adds the positions of o to a writable bitmap.
func (c *container) or(o *container) {
	switch o.kind {
	case kindArray:
		for b := o.data; len(b) >= 2; b = b[2:] {
			c.add(int(le.Uint16(b)))
		}
	case kindBitmap:
		card := 0
		a, b := c.data[:bitsBytes], o.data[:bitsBytes]
		for i := 0; i < bitsBytes; i += 8 {
			w := le.Uint64(a[i:]) | le.Uint64(b[i:])
			card += bits.OnesCount64(w)
			le.PutUint64(a[i:], w)
		}
		c.card = int32(card)
	case kindRuns:
		for i := range o.runs() {
			first, last := o.run(i)
			c.setBits(first, last)
		}
	}
}

func (c *container) union(o *container) {
	if c.card == chunkSize {
		return
	}
	if c.kind == kindArray && o.kind == kindArray && c.len()+o.len() <= maxArray {
		c.mergeArrays(o)
		return
	}
	c.toBitmap()
	c.or(o)
}

func (c *container) mergeArrays(o *container) {
	out := make([]byte, 0, len(c.data)+len(o.data))
	a, b := c.data, o.data
	for len(a) > 0 && len(b) > 0 {
		x, y := le.Uint16(a), le.Uint16(b)
		out = le.AppendUint16(out, min(x, y))
		if x <= y {
			a = a[2:]
		}
		if y <= x {
			b = b[2:]
		}
	}
	out = append(append(out, a...), b...)
	*c = container{kind: kindArray, card: int32(len(out) / 2), data: out}
}

// all yields the positions base+low, ascending, and reports whether the
// consumer wants more.
func (c *container) all(base int64, yield func(int64) bool) bool {
	switch c.kind {
	case kindArray:
		for b := c.data; len(b) >= 2; b = b[2:] {
			if !yield(base + int64(le.Uint16(b))) {
				return false
			}
		}
	case kindBitmap:
		for i := range chunkWords {
			if !allBits(c.word(i), base+int64(i<<6), yield) {
				return false
			}
		}
	case kindRuns:
		for i := range c.runs() {
			first, last := c.run(i)
			if !allBetween(base, first, last, yield) {
				return false
			}
		}
	}
	return true
}

// allBits is all for the set bits of one word.
func allBits(w uint64, base int64, yield func(int64) bool) bool {
	for ; w != 0; w &= w - 1 {
		if !yield(base + int64(bits.TrailingZeros64(w))) {
			return false
		}
	}
	return true
}

// allBetween is all for the run first..last.
func allBetween(base int64, first, last int, yield func(int64) bool) bool {
	for p := first; p <= last; p++ {
		if !yield(base + int64(p)) {
			return false
		}
	}
	return true
}

// equal compares sets, whatever their forms.
func (c *container) equal(o *container) bool {
	if c.card != o.card {
		return false
	}
	if c.kind == o.kind && string(c.data) == string(o.data) {
		return true
	}
	var a, b container
	a, b = *c, *o
	a.toBitmap()
	b.toBitmap()
	return string(a.data) == string(b.data)
}
