package deletevec

import (
	"fmt"
	"iter"
	"slices"
)

// Vector is a set of row positions, 0 .. 2^63-1. The zero value is the empty
// set, ready to use. Any number of goroutines may read a Vector at once; a
// change needs it alone.
type Vector struct {
	// cs[i] holds the positions p with p>>16 == keys[i]. keys ascend strictly
	// and no container is empty.
	keys []uint64
	cs   []container
}

// Add puts pos into the set. A negative position is an [ErrPosition]. Adding
// in ascending order is fast; for many positions in any order see
// [Vector.AddMany].
func (v *Vector) Add(pos int64) error {
	if pos < 0 {
		return fmt.Errorf("%w: %d", ErrPosition, pos)
	}
	c, fresh := v.chunk(uint64(pos) >> chunkBits)
	if fresh {
		*c = container{kind: kindArray}
	}
	c.add(int(pos & chunkMask))
	return nil
}

// AddRange puts the positions from, from+1, .. to-1 into the set, in time that
// does not depend on their number within a chunk of 65,536. An empty range adds
// nothing; a negative bound is an [ErrPosition].
func (v *Vector) AddRange(from, to int64) error {
	if from < 0 || to < 0 {
		return fmt.Errorf("%w: range [%d, %d)", ErrPosition, from, to)
	}
	for from < to {
		first := int(from & chunkMask)
		last := int(min(to-from, int64(chunkSize-first))) + first - 1
		c, fresh := v.chunk(uint64(from) >> chunkBits)
		if fresh {
			*c = rangeContainer(first, last)
		} else {
			c.addRange(first, last)
		}
		from += int64(last - first + 1)
	}
	return nil
}

// chunk returns the container of key, which it makes when there is none; the
// caller then fills it.
func (v *Vector) chunk(key uint64) (c *container, fresh bool) {
	n := len(v.keys)
	if n > 0 && v.keys[n-1] == key {
		return &v.cs[n-1], false
	}
	i, found := n, false
	if n > 0 && v.keys[n-1] > key {
		i, found = slices.BinarySearch(v.keys, key)
	}
	if !found {
		v.keys = slices.Insert(v.keys, i, key)
		v.cs = slices.Insert(v.cs, i, container{})
	}
	return &v.cs[i], !found
}

// Contains reports whether pos is in the set.
func (v *Vector) Contains(pos int64) bool {
	if pos < 0 {
		return false
	}
	i, found := slices.BinarySearch(v.keys, uint64(pos)>>chunkBits)
	return found && v.cs[i].contains(int(pos&chunkMask))
}

// Union puts every position of o into the set. o does not change and shares no
// memory with v afterwards.
func (v *Vector) Union(o *Vector) {
	if v == o {
		return
	}
	keys := make([]uint64, 0, len(v.keys)+len(o.keys))
	cs := make([]container, 0, len(v.keys)+len(o.keys))
	i, j := 0, 0
	for i < len(v.keys) || j < len(o.keys) {
		switch {
		case j == len(o.keys) || i < len(v.keys) && v.keys[i] < o.keys[j]:
			keys, cs = append(keys, v.keys[i]), append(cs, v.cs[i])
			i++
		case i == len(v.keys) || o.keys[j] < v.keys[i]:
			keys, cs = append(keys, o.keys[j]), append(cs, o.cs[j].clone())
			j++
		default:
			v.cs[i].union(&o.cs[j])
			keys, cs = append(keys, v.keys[i]), append(cs, v.cs[i])
			i++
			j++
		}
	}
	v.keys, v.cs = keys, cs
}

// Cardinality is the number of positions in the set.
func (v *Vector) Cardinality() int64 {
	var n int64
	for i := range v.cs {
		n += int64(v.cs[i].card)
	}
	return n
}

// IsEmpty reports whether the set has no position.
func (v *Vector) IsEmpty() bool { return len(v.keys) == 0 }

// Max is the largest position; false when the set is empty.
func (v *Vector) Max() (int64, bool) {
	n := len(v.keys)
	if n == 0 {
		return 0, false
	}
	return int64(v.keys[n-1]<<chunkBits) + int64(v.cs[n-1].max()), true
}

// All yields the positions in ascending order.
func (v *Vector) All() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range v.cs {
			if !v.cs[i].all(int64(v.keys[i]<<chunkBits), yield) {
				return
			}
		}
	}
}

// Clone returns a copy that shares no memory with v, nor with the bytes that v
// was parsed from.
func (v *Vector) Clone() *Vector {
	out := &Vector{keys: slices.Clone(v.keys), cs: make([]container, len(v.cs))}
	for i := range v.cs {
		out.cs[i] = v.cs[i].clone()
	}
	return out
}

// Equal reports whether both sets hold the same positions.
func (v *Vector) Equal(o *Vector) bool {
	if !slices.Equal(v.keys, o.keys) {
		return false
	}
	for i := range v.cs {
		if !v.cs[i].equal(&o.cs[i]) {
			return false
		}
	}
	return true
}
