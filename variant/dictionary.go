package variant

import "slices"

// dictionary numbers keys for one document: ids by the order of its own names,
// or those of a given Metadata.
type dictionary struct {
	meta  []byte
	keys  []*key    // own: in order of name; the id is the index
	given *Metadata // else
	known []int32   // given: id by key.index; notAsked, absent or the id
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
)

// ownDicts keeps the dictionaries of documents seen before.
type ownDicts struct {
	start  *rowShape
	states int
	byMeta map[string]*dictionary
	bytes  int

	current *dictionary // whose ids the keys hold in key.id
	scratch dictionary  // for a document that the cache has no room for
	set     []*key      // scratch of collect
	meta    []byte      // scratch of own
	given   []*dictionary
}

func (c *ownDicts) clear() {
	*c = ownDicts{
		start:  &rowShape{},
		byMeta: map[string]*dictionary{},
		set:    c.set[:0],
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

// number puts the ids of an own dictionary into its keys.
func (c *ownDicts) number(d *dictionary) {
	if c.current == d {
		return
	}
	c.current = d
	for i, k := range d.keys {
		k.id = int32(i)
	}
}

// own returns the dictionary of a set of keys, which it sorts. Its bytes are new or
// those of an equal dictionary, never those of another one written over.
func (c *ownDicts) own(set []*key) *dictionary {
	slices.SortFunc(set, (*key).compare)
	c.meta = appendKeyMetadata(c.meta[:0], set)
	if d := c.byMeta[string(c.meta)]; d != nil {
		return d
	}
	if len(c.byMeta) >= maxDicts || c.bytes+len(c.meta) > maxDictBytes {
		c.scratch.meta = slices.Clone(c.meta)
		c.scratch.keys = append(c.scratch.keys[:0], set...)
		return &c.scratch
	}
	d := &dictionary{meta: slices.Clone(c.meta), keys: slices.Clone(set)}
	c.byMeta[string(c.meta)] = d
	c.bytes += len(c.meta)
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
func appendKeyMetadata(dst []byte, sorted []*key) []byte {
	size := 0
	for _, k := range sorted {
		size += len(k.name)
	}
	w := uintWidth(uint32(max(size, len(sorted))))
	dst = append(dst, 0x11|byte(w-1)<<6)
	dst = appendUint(dst, uint32(len(sorted)), w)
	at := uint32(0)
	dst = appendUint(dst, at, w)
	for _, k := range sorted {
		at += uint32(len(k.name))
		dst = appendUint(dst, at, w)
	}
	for _, k := range sorted {
		dst = append(dst, k.name...)
	}
	return dst
}
