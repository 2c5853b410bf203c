package variant

import (
	"math/bits"
	"slices"
)

// keyOrder sorts sets of keys without comparing their names: a key of a table has a
// rank among all of them, a set is a bit set of ranks, and reading it in order is
// sorting it. Young keys have no rank; they are sorted by name and merged in.
type keyOrder struct {
	bits   []uint64 // by rank; all zero between calls
	young  []int32
	sorted []int32
}

// sort returns a set of keys, given by index, in order of name; valid until the next
// call.
func (o *keyOrder) sort(t *keyTable, set []int32) []int32 {
	if young := len(t.keys) - len(t.ranked); young > len(t.ranked)/8+8 {
		o.rank(t)
	}
	o.bits = slices.Grow(o.bits[:0], len(t.ranked)/64+1)[:len(t.ranked)/64+1]
	o.young, o.sorted = o.young[:0], o.sorted[:0]
	for _, i := range set {
		if r := t.notes[i].rank; r >= 0 {
			o.bits[r/64] |= 1 << (r % 64)
		} else {
			o.young = append(o.young, i)
		}
	}
	t.sortByName(o.young)
	young := o.young
	for w, word := range o.bits {
		for ; word != 0; word &= word - 1 {
			i := t.ranked[w*64+bits.TrailingZeros64(word)]
			for len(young) > 0 && t.keys[young[0]].less(t.keys[i]) {
				o.sorted, young = append(o.sorted, young[0]), young[1:]
			}
			o.sorted = append(o.sorted, i)
		}
		o.bits[w] = 0
	}
	o.sorted = append(o.sorted, young...)
	return o.sorted
}

// rank gives every key of a table its rank. It merges the young ones into the others,
// so that a table that grows is not sorted again and again.
func (o *keyOrder) rank(t *keyTable) {
	old := len(t.ranked)
	o.young = o.young[:0]
	for i := range t.notes {
		if t.notes[i].rank < 0 {
			o.young = append(o.young, int32(i))
		}
	}
	t.sortByName(o.young)
	t.ranked = slices.Grow(t.ranked, len(o.young))[:len(t.keys)]
	for at, young := len(t.ranked)-1, len(o.young)-1; at >= 0; at-- {
		if young < 0 || old > 0 && t.keys[o.young[young]].less(t.keys[t.ranked[old-1]]) {
			old--
			t.ranked[at] = t.ranked[old]
		} else {
			t.ranked[at] = o.young[young]
			young--
		}
		t.notes[t.ranked[at]].rank = int32(at)
	}
}

func (t *keyTable) sortByName(set []int32) {
	slices.SortFunc(set, func(a, b int32) int { return t.keys[a].compare(t.keys[b]) })
}

// marked reports whether all keys of a set have the mark of a document.
func (t *keyTable) marked(set []int32, serial uint64) bool {
	for _, i := range set {
		if t.notes[i].mark != serial {
			return false
		}
	}
	return true
}
