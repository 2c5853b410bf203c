package pq

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
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

// Seeds of the hashes of byte strings: foreign values must not be able to collide.
var (
	bytesSeed = maphash.MakeSeed()
	keySeed   = rand.Uint64()
)

// bytesDict is a dictionary of byte strings, kept as the positions of their
// first occurrences. Most texts that repeat are short, such as currencies and
// tenors: up to seven bytes and the length are the key itself, so that equal keys
// are equal values. Longer values have a hash as their key.
type bytesDict struct {
	table hashTable
	first []uint32 // entry -> number of the value that is its first occurrence
	keys  []uint64 // entry -> key
}

// maxShort is the length up to which a key tells the value. The uppermost byte of
// a key is the length, and longKey above it for all others.
const (
	maxShort = 7
	longKey  = 0xff << 56
)

// key returns the key of a value.
func (v byteValues) key(i int, value []byte) uint64 {
	if len(value) > maxShort {
		return maphash.Bytes(bytesSeed, value) | longKey
	}
	n := uint64(len(value))
	if rest := v.data[v.offsets[i]:]; len(rest) >= 8 {
		return binary.LittleEndian.Uint64(rest)&(1<<(8*n)-1) | n<<56
	}
	k := n << 56
	for j, b := range value {
		k |= uint64(b) << (8 * j)
	}
	return k
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
	d.first, d.keys = d.first[:0], d.keys[:0]
}

// build is as that of numberDict; limit counts the bytes of the plain page.
func (d *bytesDict) build(index []uint32, v byteValues, limit int) (_ []uint32, ok bool) {
	d.reset()
	n := v.len()
	index = grow(index, n)
	for i := range n {
		value := v.at(i)
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
	key := v.key(i, value)
	hash := hashNumber(key ^ keySeed)
	mask := uint64(len(t.slots) - 1)
	at := hash >> t.shift
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		e := t.slots[at] - 1
		if d.keys[e] == key && (key < longKey || bytes.Equal(v.at(int(d.first[e])), value)) {
			return e, false
		}
	}
	d.first, d.keys = append(d.first, uint32(i)), append(d.keys, key)
	t.insert(at, hash)
	return uint32(len(d.first) - 1), true
}
