package deletevec

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"
)

// AddMany puts many positions into the set, in any order and with any
// repetition. A negative one is an [ErrPosition], and then nothing is added.
func (v *Vector) AddMany(positions []int64) error {
	var fresh Vector
	err := fresh.build(positions)
	if err != nil {
		return err
	}
	if v.IsEmpty() {
		*v = fresh
		return nil
	}
	v.Union(&fresh)
	return nil
}

// build fills an empty vector. Ascending positions are cut into chunks where they
// stand; dense ones set bits; the rest is sorted chunk by chunk.
func (v *Vector) build(positions []int64) error {
	if v.buildSorted(positions) || v.buildDense(positions) {
		return nil
	}
	if len(positions) >= fewChunks && v.buildBuckets(positions, 0, fewChunks) {
		return nil
	}
	lo, hi := positions[0], positions[0]
	for _, p := range positions {
		lo, hi = min(lo, p), max(hi, p)
	}
	if lo < 0 {
		return fmt.Errorf("%w: %d", ErrPosition, lo)
	}
	if chunks := hi>>chunkBits - lo>>chunkBits + 1; chunks <= int64(len(positions)) {
		v.buildBuckets(positions, uint64(lo)>>chunkBits, int(chunks))
		return nil
	}
	// Fewer positions than chunks between the extremes: counting per chunk
	// would cost more than sorting.
	sorted := slices.Clone(positions)
	slices.Sort(sorted)
	v.buildSorted(sorted)
	return nil
}

// fewChunks is the number of chunks of 2^32 rows, more than a data file has. So
// many positions are counted per chunk without looking for their extremes first.
const fewChunks = 1 << 16

type order uint8

const (
	unordered order = iota
	repeating       // never descends, may repeat
	ascending       // strictly
)

// orderOf tells the order of positions without a branch for each: the sign bits
// of all differences meet in one word. One that is negative has no order, so
// that a difference cannot overflow unseen.
func orderOf(positions []int64) order {
	last := positions[0]
	falls, stays := last, int64(0)
	for _, p := range positions[1:] {
		d := p - last
		falls |= d | p
		stays |= d - 1
		last = p
	}
	switch {
	case falls < 0:
		return unordered
	case stays < 0:
		return repeating
	}
	return ascending
}

// buildSorted fills an empty vector from positions that never descend. When they
// do, or one is negative, it leaves the vector empty and reports false. It looks
// at the order chunk by chunk, so that the positions pass through the processor's
// cache once.
func (v *Vector) buildSorted(positions []int64) bool {
	var a arena
	last := int64(-1)
	for len(positions) > 0 {
		key := positions[0] >> chunkBits
		n := chunkEnd(positions, key)
		c, ok := a.containerOfChunk(positions[:n])
		if !ok || key <= last {
			*v = Vector{}
			return false
		}
		v.keys = append(v.keys, uint64(key))
		v.cs = append(v.cs, c)
		last = key
		positions = positions[n:]
	}
	return true
}

// chunkEnd counts the leading positions of the chunk key. It gallops, as a
// chunk may hold one position or 65,536.
func chunkEnd(positions []int64, key int64) int {
	step, n := 1, 0
	for n+step <= len(positions) && positions[n+step-1]>>chunkBits == key {
		n += step
		step *= 2
	}
	return n + sort.Search(min(step, len(positions)-n), func(i int) bool {
		return positions[n+i]>>chunkBits != key
	})
}

// arenaBytes is what an arena takes at once: 8 bitmaps.
const arenaBytes = 8 * bitsBytes

// arena hands out the data of containers from larger pieces of memory, which is
// cheaper than one piece for each of thousands of short arrays.
type arena struct{ free []byte }

// take returns n zero bytes that nothing else has, nor appends into.
func (a *arena) take(n int) []byte {
	if n > len(a.free) {
		a.free = make([]byte, max(n, arenaBytes))
	}
	out := a.free[:n:n]
	a.free = a.free[n:]
	return out
}

// containerOfChunk makes the container of positions, the first and the last of
// which are known to be of one chunk; false when they descend.
func (a *arena) containerOfChunk(positions []int64) (container, bool) {
	if len(positions) > maxArray {
		if c := a.bitmapOfSorted(positions); c.countBits() == len(positions) {
			return c, true
		}
	}
	switch orderOf(positions) {
	case unordered:
		return container{}, false
	case repeating:
		positions = slices.Compact(slices.Clone(positions))
	}
	if len(positions) > maxArray {
		return a.bitmapOfSorted(positions), true
	}
	return a.arrayOfSorted(positions), true
}

func (a *arena) arrayOfSorted(positions []int64) container {
	data := a.take(2 * len(positions))
	c := container{kind: kindArray, card: int32(len(positions)), data: data}
	for ; len(positions) >= 4 && len(data) >= 8; positions, data = positions[4:], data[8:] {
		w := uint64(uint16(positions[0])) | uint64(uint16(positions[1]))<<16
		w |= uint64(uint16(positions[2]))<<32 | uint64(positions[3])<<48
		le.PutUint64(data, w)
	}
	for i, p := range positions {
		le.PutUint16(data[2*i:], uint16(p))
	}
	return c
}

// bitmapOfSorted makes a bitmap of ascending positions of one chunk. The word at
// hand stays in a register until the positions leave it.
//
// The order need not be known: no bit is set but those of the positions, and a
// word to which positions return loses what it had. So the bitmap is right
// exactly when it has as many bits as there are positions, and counting bits is
// cheaper than comparing positions.
func (a *arena) bitmapOfSorted(positions []int64) container {
	data := a.take(bitsBytes)
	first := positions[0] >> chunkBits << (chunkBits - 6) // word of the chunk's first row
	for i := 0; i < len(positions); {
		word, w := positions[i]>>6, uint64(0)
		base, at := word<<6, uint64(word-first)
		if at >= chunkWords {
			break // of another chunk
		}
		for ; i+8 <= len(positions); i += 8 {
			p := (*[8]int64)(positions[i:])
			if ((p[0]^base)|(p[1]^base)|(p[2]^base)|(p[3]^base)|(p[4]^base)|(p[5]^base)|(p[6]^base)|(p[7]^base))>>6 != 0 {
				break
			}
			w |= 1<<(p[0]&63) | 1<<(p[1]&63) | 1<<(p[2]&63) | 1<<(p[3]&63)
			w |= 1<<(p[4]&63) | 1<<(p[5]&63) | 1<<(p[6]&63) | 1<<(p[7]&63)
		}
		for ; i < len(positions) && positions[i]>>6 == word; i++ {
			w |= 1 << (positions[i] & 63)
		}
		le.PutUint64(data[8*at:8*at+8], w)
	}
	return container{kind: kindBitmap, card: int32(len(positions)), data: data}
}

const (
	// densePositions is how many positions a chunk must have on average for
	// one bitmap per chunk to be the way to build: 8 bytes a position at most.
	densePositions = 1024
	samples        = 64
)

// buildDense fills an empty vector by setting bits in one bitmap per chunk. It
// gives up, and leaves the vector empty, when the positions spread too far or one
// is negative.
func (v *Vector) buildDense(positions []int64) bool {
	budget := len(positions) / densePositions
	if budget == 0 {
		return false
	}
	lo, hi := positions[0], positions[0]
	for i := 0; i < len(positions); i += max(len(positions)/samples, 1) {
		lo, hi = min(lo, positions[i]), max(hi, positions[i])
	}
	if lo < 0 {
		return false
	}
	// The sample may miss the outermost chunks.
	first := max(lo>>chunkBits-1, 0)
	last := hi>>chunkBits + 1
	if last-first >= int64(budget) {
		return false
	}
	data := make([]byte, (last-first+1)*bitsBytes)
	if !setBits(data, positions, first<<chunkBits) {
		return false
	}
	for i := range int(last - first + 1) {
		c := container{kind: kindBitmap, data: data[i*bitsBytes : (i+1)*bitsBytes : (i+1)*bitsBytes]}
		if c.card = int32(c.countBits()); c.card <= maxArray {
			c = c.as(kindArray)
		}
		if c.card > 0 {
			v.keys = append(v.keys, uint64(first)+uint64(i))
			v.cs = append(v.cs, c)
		}
	}
	return true
}

// setBits sets the bit of each position, counted from base; false when one lies
// outside.
func setBits(data []byte, positions []int64, base int64) bool {
	for _, p := range positions {
		i := uint64(p-base) >> 6 << 3
		if i >= uint64(len(data)) {
			return false
		}
		w := data[i : i+8]
		le.PutUint64(w, le.Uint64(w)|1<<(p&63))
	}
	return true
}

// buildBuckets fills an empty vector from positions in any order: it scatters
// their low halves by chunk, then sorts each chunk by setting bits. It reports
// false, and leaves the vector empty, when a position lies outside the chunks.
func (v *Vector) buildBuckets(positions []int64, firstKey uint64, chunks int) bool {
	ends := make([]int, chunks+1)
	for _, p := range positions {
		i := uint64(p)>>chunkBits - firstKey
		if i >= uint64(chunks) {
			return false
		}
		ends[i+1]++
	}
	used := 0
	for i := 1; i <= chunks; i++ {
		if ends[i] > 0 {
			used++
		}
		ends[i] += ends[i-1]
	}
	lows := make([]uint16, len(positions))
	for _, p := range positions {
		e := &ends[uint64(p)>>chunkBits-firstKey]
		lows[*e] = uint16(p)
		*e++
	}
	// ends[i] has moved from the start of bucket i to its end.
	v.keys, v.cs = make([]uint64, 0, used), make([]container, 0, used)
	s := new(sorter)
	start := 0
	for i := range chunks {
		if end := ends[i]; end > start {
			v.keys = append(v.keys, firstKey+uint64(i))
			v.cs = append(v.cs, s.container(lows[start:end]))
			start = end
		}
	}
	return true
}

// sorter makes containers of positions in any order. Its words are all zero
// between calls.
type sorter struct {
	words [chunkWords]uint64
	used  [chunkWords / 64]uint64 // bit i%64 of word i/64: words[i] is not zero
	mem   arena
}

func (s *sorter) container(lows []uint16) container {
	if len(lows) <= maxArray {
		return s.array(lows)
	}
	for _, x := range lows {
		s.words[x>>6] |= 1 << (x & 63)
	}
	c := container{kind: kindBitmap, data: s.mem.take(bitsBytes)}
	for i, w := range s.words {
		le.PutUint64(c.data[8*i:8*i+8], w)
		c.card += int32(bits.OnesCount64(w))
	}
	clear(s.words[:])
	if c.card <= maxArray { // many positions more than once
		c = c.as(kindArray)
	}
	return c
}

// array sorts at most maxArray positions. Only words that are not zero are
// visited, and the first two positions of each are written without asking
// whether there is a second: the next word overwrites what is not one. That
// takes four bytes, the last two beyond the array.
func (s *sorter) array(lows []uint16) container {
	for _, x := range lows {
		s.words[x>>6] |= 1 << (x & 63)
		s.used[x>>12] |= 1 << (x >> 6 & 63)
	}
	data := s.mem.take(2*len(lows) + 2)
	n := 0
	for i, used := range s.used {
		for ; used != 0; used &= used - 1 {
			at := (i<<6 + bits.TrailingZeros64(used)) & (chunkWords - 1)
			w := s.words[at]
			s.words[at] = 0
			pair := data[n : n+4]
			n += 2 * bits.OnesCount64(w)
			le.PutUint16(pair, uint16(at<<6+bits.TrailingZeros64(w)))
			w &= w - 1
			le.PutUint16(pair[2:], uint16(at<<6+bits.TrailingZeros64(w)))
			if w &= w - 1; w != 0 {
				putLast(data[:n], at<<6, w)
			}
		}
		s.used[i] = 0
	}
	return container{kind: kindArray, card: int32(n / 2), data: data[:n:n]}
}

// putLast writes the positions of w, counted from base, to the end of data.
func putLast(data []byte, base int, w uint64) {
	for n := len(data); w != 0; {
		top := 63 - bits.LeadingZeros64(w)
		n -= 2
		le.PutUint16(data[n:], uint16(base+top))
		w &^= 1 << top
	}
}
