package variant

import (
	"encoding/binary"
	"slices"
)

// objectShape is a node of a tree whose paths from the root are the sequences of
// keys that objects had: the hidden class of an object whose fields so far are the
// path. What depends on the sequence alone is computed once and kept here: that its
// keys are unique, the order of its names, where its header ends.
//
// What a parser reads at every key is in the node itself, which fills one cache
// line; the rest is behind a pointer.
type objectShape struct {
	// The first 16 bytes of the key's pattern, little-endian, but for the first of
	// them. A key without pattern has a word that matches no text.
	word0, word1 uint64
	name         []byte       // of the last field
	next         *objectShape // the child to expect; nil: ask pick, if there is one
	span         int32        // of the key
	index        int32        // of the key
	*shapeInfo
}

// shapeInfo is the cooler part of a shape.
type shapeInfo struct {
	key    *key         // of the last field; nil at the root
	parent *objectShape // the same object one field before
	n      int32        // fields

	kids []*objectShape
	many map[*key]*objectShape // the children, once there are many
	pick *picker               // the children to expect, once there are several

	first *objectShape // of an object in the last field, or among its elements: the first step from the root

	// Predicted sizes of container headers, in bytes: of the container that is
	// the value of the last field, and of containers that are its elements.
	header, element int32

	order []int32 // order[j] is the position, as written, of the field that is j-th by name
	keys  []int32 // keys[j] is the index in keyTable.keys of that field's key
	plain bool    // order is 0, 1, 2 ...
	ended uint64  // serial of the document in which an object of this shape ended last

	from, to *rowShape // the transition that this shape made last

	ids      []byte      // field ids, each of width bytes, in order of name
	width    int         // of an id
	numbered *dictionary // whose ids they are
}

// spanMasks has, by the span of a pattern up to 16, ones for the bytes that count in
// its two words.
var spanMasks = func() (m [32][2]uint64) {
	for span := range m {
		for i := 1; i < min(span, 16); i++ {
			m[span][i/8] |= 0xff << (8 * (i % 8))
		}
	}
	return m
}()

// newShape makes the node of s after one more field.
func newShape(s *objectShape, k *key) *objectShape {
	c := &objectShape{name: k.name, span: int32(k.span), index: k.index}
	c.shapeInfo = &shapeInfo{key: k, parent: s, n: s.n + 1, width: 1}
	var b [16]byte
	copy(b[1:], k.pattern[min(1, len(k.pattern)):])
	if len(k.pattern) == 0 {
		b[1] = 0xff // where text has a quote
	}
	c.word0, c.word1 = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	return c
}

// follows reports whether 16 bytes of text, from a comma or brace on, are those of
// the pattern of s's last key, or as many as it has.
func (s *objectShape) follows(text []byte) bool {
	m := &spanMasks[min(s.span, 16)&31]
	w0, w1 := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])
	return (w0^s.word0)&m[0]|(w1^s.word1)&m[1] == 0
}

// Limits of a tree. A shape beyond them is nil: objects then go the general way,
// which sorts and compares each time.
const (
	maxShapes      = 1 << 14
	maxShapeFields = 256
	maxShapeOrder  = 1 << 19 // entries of all orders
	manyKids       = 8
	relearnAfter   = 1 << 16 // objects that went the general way
)

// shapeTree holds the shapes of one builder or parser, over the names of one
// keyTable.
type shapeTree struct {
	keyTable
	root *objectShape
	// Places for predictions about containers that are no field's value.
	document *objectShape // the document itself
	lost     *objectShape // fields of objects without shape
	shapes   int
	ordered  int // entries of all orders
	general  int // objects without shape since the tree filled up
}

func newShapeTree() *shapeTree {
	t := &shapeTree{}
	t.clear()
	return t
}

// clear forgets every name and shape.
func (t *shapeTree) clear() {
	t.keyTable.reset()
	t.root = &objectShape{shapeInfo: &shapeInfo{width: 1}}
	t.document = &objectShape{shapeInfo: &shapeInfo{width: 1}}
	t.lost = &objectShape{shapeInfo: &shapeInfo{width: 1}}
	t.shapes, t.ordered, t.general = 1, 0, 0
}

// orLost returns s, or where there is none the place for its predictions.
func (t *shapeTree) orLost(s *objectShape) *objectShape {
	if s == nil {
		return t.lost
	}
	return s
}

// stale reports whether the tree should start anew: it is full of names, or of
// shapes that no longer come.
func (t *shapeTree) stale() bool {
	return t.keyTable.full() || t.general > relearnAfter
}

const pickSlots = 16

// picker finds the child to expect by the first bytes of the next key in a text,
// quote and colon included if the key is short: four bytes are passed, three count.
type picker struct {
	slots [pickSlots]*objectShape
	mul   uint32 // of the hash, odd: one under which the children do not collide
}

func (p *picker) slot(text []byte) uint32 {
	return (binary.LittleEndian.Uint32(text) << 8) * p.mul >> 28
}

// nameSlot is slot of the text that a name without escapes has.
func (p *picker) nameSlot(name []byte) uint32 {
	var b [4]byte
	if n := copy(b[:3], name); n < 3 {
		copy(b[n:3], "\":")
	}
	return p.slot(b[:])
}

// fill places children. Two that begin alike share a slot under any hash, so a few
// attempts must do.
func (p *picker) fill(kids []*objectShape) {
	p.mul = 0x9e3779b1
	for range 32 {
		clear(p.slots[:])
		clash := false
		for _, c := range kids {
			at := p.nameSlot(c.name)
			clash = clash || p.slots[at] != nil
			p.slots[at] = c
		}
		if !clash {
			return
		}
		p.mul = p.mul*0x2c9277b5 + 2
	}
}

// took makes c, a child of s, the one to expect after s.
func (s *objectShape) took(c *objectShape) {
	if s.pick == nil {
		s.next = c
		return
	}
	s.pick.slots[s.pick.nameSlot(c.name)] = c
}

// guess returns the child of s to expect when the text after the quote of a key is
// known; nil when there is none.
func (s *objectShape) guess(text []byte) *objectShape {
	if s.pick == nil {
		return s.next
	}
	return s.pick.slots[s.pick.slot(text)]
}

// guessName is guess when the name is known.
func (s *objectShape) guessName(name []byte) *objectShape {
	if s.pick == nil {
		return s.next
	}
	return s.pick.slots[s.pick.nameSlot(name)]
}

// child returns the shape of s after one more field; nil when the tree is full
// or s is nil. dup is true when s has the key already.
func (t *shapeTree) child(s *objectShape, k *key) (c *objectShape, dup bool) {
	if s == nil {
		return nil, false
	}
	if s.many != nil {
		if c = s.many[k]; c != nil {
			s.took(c)
			return c, false
		}
	}
	for _, c := range s.kids {
		if c.key == k {
			s.took(c)
			return c, false
		}
	}
	for p := s; p.key != nil; p = p.parent {
		if p.key == k {
			return nil, true
		}
	}
	return t.branch(s, k), false
}

// advance returns the shape of s, an object at a depth, after one more field; nil
// where there is no shape. From there on the object's keys are claimed instead,
// which the caller releases at the object's end. dup is true when the object has
// the key already.
func (t *shapeTree) advance(s *objectShape, k *key, depth int) (c *objectShape, dup bool) {
	if c, dup = t.child(s, k); c != nil || dup {
		return c, dup
	}
	for p := s; p != nil && p.key != nil; p = p.parent {
		t.claim(p.key, int32(depth))
	}
	return nil, !t.claim(k, int32(depth))
}

// branch adds a child to s; nil when the tree is full.
func (t *shapeTree) branch(s *objectShape, k *key) *objectShape {
	if t.shapes >= maxShapes || s.n >= maxShapeFields {
		return nil
	}
	t.shapes++
	c := newShape(s, k)
	switch {
	case s.many != nil:
		s.many[k] = c
	case len(s.kids) < manyKids:
		s.kids = append(s.kids, c)
	default:
		s.many = make(map[*key]*objectShape, 2*manyKids)
		for _, kid := range s.kids {
			s.many[kid.key] = kid
		}
		s.many[k], s.kids = c, nil
	}
	if len(s.kids) > 1 {
		if s.pick == nil {
			s.pick, s.next = new(picker), nil
		}
		s.pick.fill(s.kids)
	}
	s.took(c)
	return c
}

// sort fills in the order of a shape whose object ended. It is false when the
// tree may not keep more of them.
func (t *shapeTree) sort(s *objectShape) bool {
	if s.order != nil || s.n == 0 {
		s.plain = s.plain || s.n == 0
		return true
	}
	if t.ordered += int(s.n); t.ordered > maxShapeOrder {
		return false
	}
	keys := make([]*key, s.n)
	order := make([]int32, s.n)
	for p := s; p.key != nil; p = p.parent {
		keys[p.n-1] = p.key
		order[p.n-1] = p.n - 1
	}
	slices.SortFunc(order, func(a, b int32) int { return keys[a].compare(keys[b]) })
	s.order, s.plain = order, slices.IsSorted(order)
	s.keys = make([]int32, s.n)
	for j, i := range order {
		s.keys[j] = keys[i].index
	}
	return true
}

// renumberGiven puts the ids of a given dictionary into s.ids. It returns the key
// that the dictionary lacks, or nil. scratch holds n ids.
func (t *shapeTree) renumberGiven(s *objectShape, d *dictionary, scratch []int32) (missing *key) {
	s.numbered = nil
	largest := int32(0)
	for j, i := range s.keys {
		id, ok := d.idOf(t.keys[i])
		if !ok {
			return t.keys[i]
		}
		largest = max(largest, id)
		scratch[j] = id
	}
	ids := s.resize(uintWidth(uint32(largest)))
	for j := range s.keys {
		putUint(ids[j*s.width:], uint32(scratch[j]), s.width)
	}
	s.numbered = d
	return nil
}

// renumber puts the ids of an own dictionary, whose keys are numbered, into s.ids.
// They follow the order of names, so that the last is the largest.
func (t *shapeTree) renumber(s *objectShape, d *dictionary) {
	largest := int32(0)
	if n := len(s.keys); n > 0 {
		largest = t.notes[s.keys[n-1]].id
	}
	ids := s.resize(uintWidth(uint32(largest)))
	if s.width == 1 {
		for j, i := range s.keys {
			ids[j] = byte(t.notes[i].id)
		}
	} else {
		for j, i := range s.keys {
			putUint(ids[j*s.width:], uint32(t.notes[i].id), s.width)
		}
	}
	s.numbered = d
}

// resize makes room for ids of a width.
func (s *objectShape) resize(width int) []byte {
	size := int(s.n) * width
	if cap(s.ids) < max(size, 16) { // room for putIDs to read words
		s.ids = make([]byte, max(size, 16))
	}
	s.width, s.ids = width, s.ids[:size]
	return s.ids
}
