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
	if o := orderOf(positions); o != unordered {
		if len(positions) > 0 && positions[0] < 0 {
			return fmt.Errorf("%w: %d", ErrPosition, positions[0])
		}
		v.buildSorted(positions, o == ascending)
		return nil
	}
	if done, err := v.buildDense(positions); done || err != nil {
		return err
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
	v.buildSorted(sorted, false)
	return nil
}

type order uint8

const (
	unordered order = iota
	repeating       // never descends, may repeat
	ascending       // strictly
)

func orderOf(positions []int64) order {
	o := ascending
	for i := 1; i < len(positions); i++ {
		if positions[i] <= positions[i-1] {
			if positions[i] < positions[i-1] {
				return unordered
			}
			o = repeating
		}
	}
	return o
}

// buildSorted fills an empty vector from positions that never descend; strict
// says that they do not repeat.
func (v *Vector) buildSorted(positions []int64, strict bool) {
	for len(positions) > 0 {
		key := positions[0] >> chunkBits
		n := chunkEnd(positions, key)
		v.keys = append(v.keys, uint64(key))
		v.cs = append(v.cs, containerOfSorted(positions[:n], strict))
		positions = positions[n:]
	}
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

// containerOfSorted makes the container of the positions of one chunk, which
// never descend.
func containerOfSorted(positions []int64, strict bool) container {
	if !strict {
		positions = slices.Compact(slices.Clone(positions))
	}
	n := len(positions)
	if n <= maxArray {
		data := make([]byte, 2*n)
		for i, p := range positions {
			le.PutUint16(data[2*i:2*i+2], uint16(p))
		}
		return container{kind: kindArray, card: int32(n), data: data}
	}
	data := make([]byte, bitsBytes)
	for i := 0; i < n; {
		// The word at hand stays in a register until the positions leave it.
		word, w := positions[i]>>6, uint64(0)
		for ; i < n && positions[i]>>6 == word; i++ {
			w |= 1 << (positions[i] & 63)
		}
		le.PutUint64(data[word*8&(bitsBytes-8):], w)
	}
	return container{kind: kindBitmap, card: int32(n), data: data}
}

const (
	// densePositions is how many positions a chunk must have on average for
	// one bitmap per chunk to be the way to build: 8 bytes a position at most.
	densePositions = 1024
	samples        = 64
)

// buildDense fills an empty vector by setting bits in one bitmap per chunk. It
// gives up, and leaves the vector empty, when the positions spread too far.
func (v *Vector) buildDense(positions []int64) (done bool, err error) {
	budget := len(positions) / densePositions
	if budget == 0 {
		return false, nil
	}
	lo, hi := positions[0], positions[0]
	for i := 0; i < len(positions); i += max(len(positions)/samples, 1) {
		lo, hi = min(lo, positions[i]), max(hi, positions[i])
	}
	if lo < 0 {
		return false, fmt.Errorf("%w: %d", ErrPosition, lo)
	}
	// The sample may miss the outermost chunks.
	first := max(lo>>chunkBits-1, 0)
	last := hi>>chunkBits + 1
	if last-first >= int64(budget) {
		return false, nil
	}
	words := make([]uint64, (last-first+1)*chunkWords)
	base := first << chunkBits
	for _, p := range positions {
		i := uint64(p-base) >> 6
		if i >= uint64(len(words)) {
			return false, nil
		}
		words[i] |= 1 << (p & 63)
	}
	for i := range int(last - first + 1) {
		c := containerOf((*[chunkWords]uint64)(words[i*chunkWords:]))
		if c.card > 0 {
			v.keys = append(v.keys, uint64(first)+uint64(i))
			v.cs = append(v.cs, c)
		}
	}
	return true, nil
}

// containerOf makes the container of the set bits.
func containerOf(words *[chunkWords]uint64) container {
	card := 0
	for _, w := range words {
		card += bits.OnesCount64(w)
	}
	if card <= maxArray {
		data := make([]byte, 0, 2*card)
		for i, w := range words {
			for ; w != 0; w &= w - 1 {
				data = le.AppendUint16(data, uint16(i<<6+bits.TrailingZeros64(w)))
			}
		}
		return container{kind: kindArray, card: int32(card), data: data}
	}
	data := make([]byte, bitsBytes)
	for i, w := range words {
		le.PutUint64(data[8*i:8*i+8], w)
	}
	return container{kind: kindBitmap, card: int32(card), data: data}
}

// buildBuckets fills an empty vector from positions in any order: it scatters
// their low halves by chunk, then sorts each chunk by setting bits.
func (v *Vector) buildBuckets(positions []int64, firstKey uint64, chunks int) {
	ends := make([]int32, chunks+1)
	for _, p := range positions {
		ends[uint64(p)>>chunkBits-firstKey+1]++
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
	start := int32(0)
	for i := range chunks {
		if end := ends[i]; end > start {
			v.keys = append(v.keys, firstKey+uint64(i))
			v.cs = append(v.cs, s.container(lows[start:end]))
			start = end
		}
	}
}

// sorter makes containers of positions in any order. It is all zero between
// calls.
type sorter struct {
	words [chunkWords]uint64
	used  [chunkWords / 64]uint64 // bit i%64 of word i/64: words[i] is not zero
}

func (s *sorter) container(lows []uint16) container {
	if len(lows) > maxArray {
		for _, x := range lows {
			s.words[x>>6] |= 1 << (x & 63)
		}
		c := containerOf(&s.words)
		clear(s.words[:])
		return c
	}
	for _, x := range lows {
		s.words[x>>6] |= 1 << (x & 63)
		s.used[x>>12] |= 1 << (x >> 6 & 63)
	}
	data := make([]byte, 2*len(lows))
	n := 0
	for i, used := range s.used {
		for used != 0 {
			at := i<<6 + bits.TrailingZeros64(used)
			w := s.words[at]
			le.PutUint16(data[n:n+2], uint16(at<<6+bits.TrailingZeros64(w)))
			n += 2
			w &= w - 1
			s.words[at] = w
			if w == 0 {
				used &= used - 1
			}
		}
		s.used[i] = 0
	}
	return container{kind: kindArray, card: int32(n / 2), data: data[:n:n]}
}
