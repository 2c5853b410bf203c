package pq

import (
	"bytes"
	"hash/maphash"
	"math/bits"
)

// hashTable is an open-addressing table from a hash to an entry number. It
// doubles before it is half full.
//
// Invariant: slots[i] is 0 or an entry number plus 1; len(slots) is a power of
// two; hashes[e] is the hash of entry e.
type hashTable struct {
	slots  []uint32
	hashes []uint64
	shift  uint
}

func (t *hashTable) reset() {
	const initial = 1 << 10
	if len(t.slots) == 0 || len(t.slots) > initial<<6 {
		t.slots = make([]uint32, initial)
	}
	clear(t.slots)
	t.hashes = t.hashes[:0]
	t.shift = uint(64 - bits.TrailingZeros(uint(len(t.slots))))
}

// insert adds an entry with the hash at a free slot.
func (t *hashTable) insert(at uint64, hash uint64) {
	t.hashes = append(t.hashes, hash)
	t.slots[at] = uint32(len(t.hashes))
	if 2*len(t.hashes) > len(t.slots) {
		t.double()
	}
}

func (t *hashTable) double() {
	t.slots = make([]uint32, 2*len(t.slots))
	t.shift--
	mask := uint64(len(t.slots) - 1)
	for e, h := range t.hashes {
		at := h >> t.shift
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = uint32(e + 1)
	}
}

// hashNumber spreads a number's bits over the upper bits of a word.
func hashNumber(v uint64) uint64 {
	v *= 0x9e3779b97f4a7c15
	return v ^ v<<32
}

// numberDict is a dictionary of numbers as their plain bits.
type numberDict struct {
	table   hashTable
	entries []uint64
}

// build finds the distinct values and the index of each value; it gives up
// with false when there are more than limit.
func (d *numberDict) build(index []uint32, values []uint64, limit int) (_ []uint32, ok bool) {
	d.table.reset()
	d.entries = d.entries[:0]
	index = grow(index, len(values))
	last, lastEntry := uint64(0), uint32(0)
	for i, v := range values {
		if i == 0 || v != last {
			e, fits := d.entry(v, limit)
			if !fits {
				return index, false
			}
			last, lastEntry = v, e
		}
		index[i] = lastEntry
	}
	return index, true
}

func (d *numberDict) entry(v uint64, limit int) (e uint32, ok bool) {
	t := &d.table
	hash := hashNumber(v)
	mask := uint64(len(t.slots) - 1)
	at := hash >> t.shift
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		if e := t.slots[at] - 1; d.entries[e] == v {
			return e, true
		}
	}
	if len(d.entries) >= limit {
		return 0, false
	}
	d.entries = append(d.entries, v)
	t.insert(at, hash)
	return uint32(len(d.entries) - 1), true
}

var bytesSeed = maphash.MakeSeed()

// bytesDict is a dictionary of byte strings, kept as the positions of their
// first occurrences.
type bytesDict struct {
	table hashTable
	first []uint32 // entry -> number of the value that is its first occurrence
}

// byteValues are byte strings: value i is data[offsets[i]:offsets[i+1]].
type byteValues struct {
	offsets []uint32
	data    []byte
}

func (v byteValues) len() int { return max(len(v.offsets)-1, 0) }

func (v byteValues) at(i int) []byte { return v.data[v.offsets[i]:v.offsets[i+1]] }

func (v byteValues) slice(from, to int) byteValues {
	if from == to {
		return byteValues{}
	}
	return byteValues{offsets: v.offsets[from : to+1], data: v.data}
}

// size returns the bytes of all values.
func (v byteValues) size() int {
	if len(v.offsets) == 0 {
		return 0
	}
	return int(v.offsets[len(v.offsets)-1] - v.offsets[0])
}

func (d *bytesDict) reset() {
	d.table.reset()
	d.first = d.first[:0]
}

// build is as that of numberDict; limit counts the bytes of the plain page.
func (d *bytesDict) build(index []uint32, v byteValues, limit int) (_ []uint32, ok bool) {
	d.reset()
	n := v.len()
	index = grow(index, n)
	for i := range n {
		value := v.at(i)
		if i > 0 && bytes.Equal(value, v.at(i-1)) {
			index[i] = index[i-1]
			continue
		}
		e, added := d.entry(v, value, i)
		if added {
			if limit -= len(value) + 4; limit < 0 {
				return index, false
			}
		}
		index[i] = e
	}
	return index, true
}

func (d *bytesDict) entry(v byteValues, value []byte, i int) (e uint32, added bool) {
	t := &d.table
	hash := hashNumber(maphash.Bytes(bytesSeed, value))
	mask := uint64(len(t.slots) - 1)
	at := hash >> t.shift
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		e := t.slots[at] - 1
		if t.hashes[e] == hash && bytes.Equal(v.at(int(d.first[e])), value) {
			return e, false
		}
	}
	d.first = append(d.first, uint32(i))
	t.insert(at, hash)
	return uint32(len(d.first) - 1), true
}
