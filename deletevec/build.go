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
	lo, hi, ascending := survey(positions)
	if lo < 0 {
		return fmt.Errorf("%w: %d", ErrPosition, lo)
	}
	if len(positions) == 0 {
		return nil
	}
	var fresh Vector
	switch chunks := hi>>chunkBits - lo>>chunkBits + 1; {
	case ascending:
		fresh.buildSorted(positions)
	case chunks <= int64(len(positions)):
		fresh.buildBuckets(positions, uint64(lo)>>chunkBits, int(chunks))
	default:
		// Fewer positions than chunks between the extremes: counting per
		// chunk would cost more than sorting.
		sorted := slices.Clone(positions)
		slices.Sort(sorted)
		fresh.buildSorted(sorted)
	}
	if v.IsEmpty() {
		*v = fresh
		return nil
	}
	v.Union(&fresh)
	return nil
}

// survey finds the extremes, and whether the positions never descend.
func survey(positions []int64) (lo, hi int64, ascending bool) {
	if len(positions) == 0 {
		return 0, 0, true
	}
	lo, hi, ascending = positions[0], positions[0], true
	for _, p := range positions {
		ascending = ascending && p >= hi
		lo, hi = min(lo, p), max(hi, p)
	}
	return lo, hi, ascending
}

// buildSorted fills an empty vector from positions that never descend.
func (v *Vector) buildSorted(positions []int64) {
	for len(positions) > 0 {
		key := positions[0] >> chunkBits
		n := chunkEnd(positions, key)
		v.keys = append(v.keys, uint64(key))
		v.cs = append(v.cs, containerOfSorted(positions[:n]))
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
// never descend but may repeat.
func containerOfSorted(positions []int64) container {
	if len(positions) > maxArray {
		c := container{kind: kindBitmap, data: make([]byte, bitsBytes)}
		for _, p := range positions {
			i := uint(p&chunkMask) >> 6 * 8
			le.PutUint64(c.data[i:], le.Uint64(c.data[i:])|1<<(p&63))
		}
		c.count()
		return c
	}
	data := make([]byte, 2*len(positions))
	n, last := 0, int64(-1)
	for _, p := range positions {
		le.PutUint16(data[2*n:], uint16(p))
		if p != last {
			n++
		}
		last = p
	}
	return container{kind: kindArray, card: int32(n), data: data[:2*n]}
}

func (c *container) count() {
	n := 0
	for i := range chunkWords {
		n += bits.OnesCount64(c.word(i))
	}
	c.card = int32(n)
}

// buildBuckets fills an empty vector from positions in any order: it scatters
// their low halves by chunk, then sorts each chunk by setting bits.
func (v *Vector) buildBuckets(positions []int64, firstKey uint64, chunks int) {
	ends := make([]int, chunks+1)
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
	var scratch [chunkWords]uint64
	start := 0
	for i := range chunks {
		if end := ends[i]; end > start {
			v.keys = append(v.keys, firstKey+uint64(i))
			v.cs = append(v.cs, containerOf(lows[start:end], &scratch))
			start = end
		}
	}
}

// containerOf makes the container of lows, in any order; scratch is zero
// before and after.
func containerOf(lows []uint16, scratch *[chunkWords]uint64) container {
	for _, x := range lows {
		scratch[x>>6] |= 1 << (x & 63)
	}
	card := 0
	for _, w := range scratch {
		card += bits.OnesCount64(w)
	}
	c := container{kind: kindBitmap, card: int32(card)}
	if card > maxArray {
		c.data = make([]byte, bitsBytes)
		for i, w := range scratch {
			le.PutUint64(c.data[8*i:], w)
		}
	} else {
		c.kind, c.data = kindArray, appendArray(make([]byte, 0, 2*card), scratch[:])
	}
	clear(scratch[:])
	return c
}

// appendArray appends the positions of the set bits as an array container.
func appendArray(dst []byte, words []uint64) []byte {
	n := len(dst)
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			dst = dst[:n+2]
			le.PutUint16(dst[n:], uint16(i<<6+bits.TrailingZeros64(w)))
			n += 2
		}
	}
	return dst
}
