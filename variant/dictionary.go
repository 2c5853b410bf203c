package variant

import "slices"

// dictionary numbers keys for one document: ids by the order of its own names,
// or those of a given Metadata.
type dictionary struct {
	meta  []byte
	keys  []int32   // own: indexes in keyTable.keys in order of name; the id is the place
	given *Metadata // else
	known []int32   // given: id by key.index; notAsked, absent or the id

	next *dictionary // own: another one with the same sum of hashes
}

const (
	notAsked = -1
	absent   = -2
)

// idOf returns the id of a key in a given dictionary.
func (d *dictionary) idOf(k *key) (int32, bool) {
	for int(k.index) >= len(d.known) {
		d.known = append(d.known, notAsked)
	}
	id := d.known[k.index]
	if id == notAsked {
		id = absent
		if i, ok := d.given.ID(string(k.name)); ok {
			id = int32(i)
		}
		d.known[k.index] = id
	}
	return id, id >= 0
}

// rowShape is a state of a machine that consumes the shapes of the objects of a
// document, each when its first object ends. Documents that reach the same state
// have the same set of shapes, hence of names, hence the same dictionary.
type rowShape struct {
	all  map[*objectShape]*rowShape
	dict *dictionary // once a document ended here
}

// Limits of what a builder remembers between documents.
const (
	maxRowShapes  = 1 << 12
	maxDicts      = 1 << 10
	maxDictBytes  = 1 << 20
	maxGivenDicts = 16
	maxStrays     = 1 << 10
)

// ownDicts keeps the dictionaries of documents seen before.
type ownDicts struct {
	start  *rowShape // nil: shapes that end tell too little about the dictionary
	states int
	strays int                    // documents that left the states, less those that did not
	bySum  map[uint64]*dictionary // by the sum of the hashes of their names
	dicts  int
	bytes  int

	current *dictionary // whose ids the notes of keys hold
	scratch dictionary  // for a document that the cache has no room for
	set     []int32     // scratch of collect
	order   keyOrder    // scratch of own
	given   []*dictionary
}

func (c *ownDicts) clear() {
	*c = ownDicts{
		start: &rowShape{},
		bySum: map[uint64]*dictionary{},
		set:   c.set[:0],
		order: c.order,
	}
	c.start.dict = &dictionary{meta: emptyMetadata}
}

// next returns the state after s; nil when there are too many. A shape tends to come
// in one state only, so it remembers its transition.
func (c *ownDicts) next(r *rowShape, s *objectShape) *rowShape {
	switch r {
	case nil:
		return nil
	case s.from:
		return s.to
	}
	to := r.all[s]
	if to == nil {
		if c.states >= maxRowShapes {
			return nil
		}
		c.states++
		to = &rowShape{}
		if r.all == nil {
			r.all = map[*objectShape]*rowShape{}
		}
		r.all[s] = to
	}
	s.from, s.to = r, to
	return to
}

// learn notes the dictionary of the state in which a document ended, nil when it left
// the states. Documents that do so most often are not followed any more.
func (c *ownDicts) learn(r *rowShape, d *dictionary) {
	switch {
	case r == nil:
		if c.strays++; c.strays > maxStrays {
			c.start = nil
		}
	case d != &c.scratch:
		r.dict = d
	}
}

// own returns the dictionary of a set of keys, whose notes have the mark of the
// document, and the sum of whose hashes is given. Its bytes are new or those of an
// equal dictionary, never those of another one written over.
func (c *ownDicts) own(t *keyTable, set []int32, sum, serial uint64) *dictionary {
	for d := c.bySum[sum]; d != nil; d = d.next {
		if len(d.keys) == len(set) && t.marked(d.keys, serial) {
			return d
		}
	}
	sorted := c.order.sort(t, set)
	meta := appendKeyMetadata(nil, t, sorted)
	if c.dicts >= maxDicts || c.bytes+len(meta) > maxDictBytes {
		c.scratch.meta = meta
		c.scratch.keys = append(c.scratch.keys[:0], sorted...)
		return &c.scratch
	}
	d := &dictionary{meta: meta, keys: slices.Clone(sorted), next: c.bySum[sum]}
	c.bySum[sum] = d
	c.dicts++
	c.bytes += len(meta)
	return d
}

// of returns the dictionary of a given Metadata.
func (c *ownDicts) of(m *Metadata) *dictionary {
	for i, d := range c.given {
		if d.given == m {
			if i > 0 {
				c.given[i], c.given[i-1] = c.given[i-1], d
			}
			return d
		}
	}
	d := &dictionary{meta: m.Bytes(), given: m}
	if len(c.given) < maxGivenDicts {
		c.given = append(c.given, d)
	} else {
		c.given[len(c.given)-1] = d
	}
	return d
}

// appendKeyMetadata is AppendMetadata over keys.
func appendKeyMetadata(dst []byte, t *keyTable, sorted []int32) []byte {
	size := 0
	for _, i := range sorted {
		size += len(t.keys[i].name)
	}
	w := uintWidth(uint32(max(size, len(sorted))))
	dst = slices.Grow(dst, 1+(2+len(sorted))*w+size)
	dst = append(dst, 0x11|byte(w-1)<<6)
	dst = appendUint(dst, uint32(len(sorted)), w)
	at := uint32(0)
	dst = appendUint(dst, at, w)
	for _, i := range sorted {
		at += uint32(len(t.keys[i].name))
		dst = appendUint(dst, at, w)
	}
	for _, i := range sorted {
		dst = append(dst, t.keys[i].name...)
	}
	return dst
}
