package variant

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// key is a name that was seen before. There is one per distinct name of a
// keyTable, so keys compare by address.
type key struct {
	name    []byte // valid UTF-8 unless bad
	pattern []byte // ,"name": where JSON needs no escapes for the name; else empty
	span    int    // len(pattern), as if there were one
	prefix  uint64 // first eight bytes of the name, big-endian: orders most names without a call

	owner int32 // depth of the innermost open object that claimed this key; see keyTable.claim
	index int32 // in keyTable.keys
	bad   bool  // not UTF-8: remembered, so that it is refused each time
}

// keyNote is what a builder notes of a key for the dictionary of a document. Notes
// lie side by side, since those of all names of a document are read at its end.
type keyNote struct {
	hash uint64 // of the name
	mark uint64 // serial of the document that collected the key last
	id   int32  // in the dictionary that was numbered last
	rank int32  // in keyTable.ranked; -1: not there yet
}

// keyTable interns names: an open-addressing hash table, seeded so that names
// from outside cannot be chosen to collide.
//
//	len(slots) is a power of two, at least twice len(keys)
//	slots[i] is 0, or 1 + an index of keys
//	len(notes) == len(keys)
//	ranked holds the indexes of all but the youngest keys, in order of name
type keyTable struct {
	seed   maphash.Seed
	keys   []*key
	notes  []keyNote
	ranked []int32
	slots  []int32
	bytes  int // sum of the lengths of the names

	claimed []claim // by the open objects, innermost last
}

// claim remembers who owned a key before the current object did.
type claim struct {
	key   *key
	owner int32
}

// Limits beyond which a table starts anew between two documents, so that a
// stream of ever new names does not grow it without end.
const (
	maxTableKeys  = 1 << 14
	maxTableBytes = 1 << 20
)

func (t *keyTable) reset() {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
		t.slots = make([]int32, 64)
	}
	clear(t.slots)
	clear(t.keys)
	t.keys, t.notes, t.ranked = t.keys[:0], t.notes[:0], t.ranked[:0]
	t.claimed, t.bytes = t.claimed[:0], 0
}

func (t *keyTable) full() bool {
	return len(t.keys) > maxTableKeys || t.bytes > maxTableBytes
}

// intern returns the key of a name, which it copies when it is new.
func (t *keyTable) intern(name []byte) *key {
	h := maphash.Bytes(t.seed, name)
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s == 0 {
			return t.add(name, h, i)
		}
		if k := t.keys[s-1]; bytes.Equal(k.name, name) {
			return k
		}
	}
}

// add inserts a name into the free slot that intern found.
func (t *keyTable) add(name []byte, hash, slot uint64) *key {
	k := newKey(name)
	k.index = int32(len(t.keys))
	t.keys = append(t.keys, k)
	t.notes = append(t.notes, keyNote{hash: hash, rank: -1})
	t.bytes += len(name)
	t.slots[slot] = k.index + 1
	if 2*len(t.keys) > len(t.slots) {
		t.grow()
	}
	return k
}

func (t *keyTable) grow() {
	t.slots = make([]int32, 4*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for j, k := range t.keys {
		i := t.notes[j].hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = k.index + 1
	}
}

// newKey makes a key whose name and pattern share one allocation.
func newKey(name []byte) *key {
	k := &key{span: len(name) + 4}
	pattern := make([]byte, 0, k.span)
	pattern = append(pattern, ',', '"')
	pattern = append(pattern, name...)
	pattern = append(pattern, '"', ':')
	k.name = pattern[2 : len(name)+2 : len(name)+2]
	var b [8]byte
	copy(b[:], name)
	k.prefix = binary.BigEndian.Uint64(b[:])
	if plainText(name) {
		k.pattern = pattern
	}
	return k
}

// plainText reports whether JSON writes these bytes as they are.
func plainText(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// less orders keys by the bytes of their names.
func (k *key) less(o *key) bool {
	if k.prefix != o.prefix {
		return k.prefix < o.prefix
	}
	return bytes.Compare(k.name, o.name) < 0
}

func (k *key) compare(o *key) int {
	switch {
	case k == o:
		return 0
	case k.less(o):
		return -1
	}
	return 1
}

// claim gives a key to the open object at a depth. It is false when that object
// has it already. An inner object takes a key over from an outer one; release
// gives it back, so that the outer one still finds its own.
//
//	k.owner == the depth of the innermost open object that claimed k, or 0
func (t *keyTable) claim(k *key, depth int32) bool {
	if k.owner == depth {
		return false
	}
	t.claimed = append(t.claimed, claim{k, k.owner})
	k.owner = depth
	return true
}

// release undoes the claims made since there were mark of them.
func (t *keyTable) release(mark int) {
	for i := len(t.claimed) - 1; i >= mark; i-- {
		t.claimed[i].key.owner = t.claimed[i].owner
	}
	t.claimed = t.claimed[:mark]
}
