package variant

import "slices"

// objectShape is a node of a tree whose paths from the root are the sequences of keys
// that objects had: the hidden class of an object whose fields so far are the
// path. What depends on the sequence alone is computed once and kept here: that
// its keys are unique, the order of its names, where its header ends.
type objectShape struct {
	key    *key         // of the last field; nil at the root
	parent *objectShape // the same object one field before
	n      int32        // fields

	next *objectShape // the child that was taken last: the prediction
	kids []*objectShape
	many map[*key]*objectShape // the children, once there are many

	// Predicted sizes of container headers, in bytes: of the container that is
	// the value of the last field, and of containers that are its elements.
	header, element int32

	order []int32 // order[j] is the position, as written, of the field that is j-th by name
	plain bool    // order is 0, 1, 2 ...
	ended uint64  // serial of the document in which an object of this shape ended last

	ids      []byte      // field ids, each of width bytes, in order of name
	width    int         // of an id
	numbered *dictionary // whose ids they are
}

// Limits of a tree. A shape beyond them is nil: objects then go the general way,
// which sorts and compares each time.
const (
	maxShapes      = 1 << 14
	maxShapeFields = 256
	maxShapeOrder  = 1 << 20 // entries of all orders
	manyKids       = 8
	relearnAfter   = 1 << 16 // objects that went the general way
)

// shapeTree holds the shapes of one builder or parser, over the names of one
// keyTable.
type shapeTree struct {
	keyTable
	root    *objectShape
	shapes  int
	ordered int // entries of all orders
	general int // objects without shape since the tree filled up
}

func newShapeTree() *shapeTree {
	t := &shapeTree{}
	t.clear()
	return t
}

// clear forgets every name and shape.
func (t *shapeTree) clear() {
	t.keyTable.reset()
	t.root = &objectShape{}
	t.shapes, t.ordered, t.general = 1, 0, 0
}

// stale reports whether the tree should start anew: it is full of names, or of
// shapes that no longer come.
func (t *shapeTree) stale() bool {
	return t.keyTable.full() || t.general > relearnAfter
}

// child returns the shape of s after one more field; nil when the tree is full
// or s is nil. dup is true when s has the key already.
func (t *shapeTree) child(s *objectShape, k *key) (c *objectShape, dup bool) {
	if s == nil {
		return nil, false
	}
	if s.many != nil {
		if c = s.many[k]; c != nil {
			s.next = c
			return c, false
		}
	}
	for _, c := range s.kids {
		if c.key == k {
			s.next = c
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
	c := &objectShape{key: k, parent: s, n: s.n + 1}
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
	s.next = c
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
	return true
}

// appendKeys appends the keys of a shape's fields, in order of name.
func (s *objectShape) appendKeys(dst []*key) []*key {
	at := len(dst)
	dst = slices.Grow(dst, int(s.n))[:at+int(s.n)]
	rank := dst[at:]
	for p := s; p.key != nil; p = p.parent {
		rank[p.n-1] = p.key
	}
	slices.SortFunc(rank, (*key).compare)
	return dst
}

// renumber puts the ids of a dictionary into s.ids: of a given one, or of an own
// one whose keys are numbered. It returns the key that a given one lacks, or nil.
// scratch holds n ids.
func (s *objectShape) renumber(d *dictionary, scratch []int32) (missing *key) {
	s.numbered = nil
	largest := int32(0)
	for p := s; p.key != nil; p = p.parent {
		id := p.key.id
		if d.given != nil {
			var ok bool
			if id, ok = d.idOf(p.key); !ok {
				return p.key
			}
		}
		largest = max(largest, id)
		scratch[p.n-1] = id
	}
	s.width = uintWidth(uint32(largest))
	size := int(s.n) * s.width
	s.ids = slices.Grow(s.ids[:0], size)[:size]
	for j, i := range s.order {
		putUint(s.ids[j*s.width:], uint32(scratch[i]), s.width)
	}
	s.numbered = d
	return nil
}
