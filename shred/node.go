package shred

import (
	"math"
	"slices"

	"github.com/frazil/frazil/internal/leaf"
)

// node is a layout pair that is being written.
//
// A node's slots are the places where its value may be: for a field, the
// present objects of its parent; for an element, the elements of all lists; for
// the root, the rows that are not SQL NULL.
type node struct {
	at     *layout
	shape  Shape
	typed  track // presence of typed_value
	value  track // presence of value
	leaf   typedLeaf
	res    *leaf.Buffer
	seen   uint32 // one after the slot that was filled last
	open   int32  // residuals of this row that are still on the tape
	mixed  bool   // value held something other than Variant null
	slots  uint32 // of an element or the root; a field's follow from its parent
	lists  lengths
	keys   edges
	fields []*node
	elem   *node

	own     levels         // List: levels of the elements' slots
	next    leaf.Levels    // Object, List: definition levels of typed_value
	full    leaf.Levels    // levels of a child that is present wherever the parent is
	columns [2]leaf.Levels // of value and of the typed leaf, unless shared

	seenTracks []seenTrack // memory of slotLevels.seen
}

func newNode(l *layout, w *Writer) *node {
	buffers, t := w.buffers, w.keys
	n := &node{at: l, shape: l.shape, res: &buffers[l.value]}
	switch l.shape {
	case Opaque:
	case Leaf:
		n.leaf = newTypedLeaf(l.typ, l.width, &buffers[l.typed])
		_, temporal := temporalTypes[l.typ.Kind]
		n.leaf.texts = w.opts.Temporal && temporal
	case Object:
		n.keys.all = make(map[string]*edge, len(l.fields))
		for _, f := range l.fields {
			c := newNode(f, w)
			k := t.intern(f.name)
			n.fields = append(n.fields, c)
			n.keys.all[k.name] = &edge{key: k, name: k.name, child: c}
		}
	case List:
		n.elem = newNode(l.elem, w)
	}
	return n
}

// truncate forgets all slots from the given one on, in this node and below.
func (n *node) truncate(slots uint32) {
	n.value.truncate(slots)
	dropValues(n.res, int(n.value.n))
	n.typed.truncate(slots)
	n.leaf.drop(int(n.typed.n))
	n.slots = min(n.slots, slots)
	n.seen = min(n.seen, slots)
	n.open = 0
	for _, f := range n.fields {
		f.truncate(n.typed.n)
	}
	if n.elem != nil {
		n.lists.truncate(n.typed.n)
		n.elem.truncate(n.lists.total)
	}
}

func (n *node) reset() {
	n.value.reset()
	n.typed.reset()
	n.slots, n.seen = 0, 0
	for _, f := range n.fields {
		f.reset()
	}
	if n.elem != nil {
		n.lists.reset()
		n.elem.reset()
	}
}

// forget drops the keys that the schema does not have.
func (n *node) forget() {
	n.keys.start = edge{}
	for name, e := range n.keys.all {
		e.next, e.older = nil, [3]*edge{}
		if e.child == nil {
			delete(n.keys.all, name)
		}
	}
	for _, f := range n.fields {
		f.forget()
	}
	if n.elem != nil {
		n.elem.forget()
	}
}

// finish composes the levels of the node's columns from those of its slots.
func (n *node) finish(slots *slotLevels, buffers []leaf.Buffer) {
	n.column(0, &buffers[n.at.value], &n.value, slots)
	switch n.shape {
	case Opaque:
	case Leaf:
		n.column(1, &buffers[n.at.typed], &n.typed, slots)
	case Object:
		own := slotLevels{levels: levels{def: slots.child(&n.typed, &n.next), rep: slots.rep}, present: n.at.typedDef, count: n.typed.n}
		n.full = raise(n.full, &own.def, own.present)
		own.full = n.full
		own.seen = n.seenTracks[:0]
		for _, f := range n.fields {
			f.finish(&own, buffers)
		}
		n.seenTracks = own.seen[:0]
	case List:
		list := levels{def: slots.child(&n.typed, &n.next), rep: slots.rep}
		n.lists.elements(&n.own, &list, n.at.typedDef, n.elem.at.rep)
		n.full = raise(n.full, &n.own.def, n.elem.at.def)
		n.elem.finish(&slotLevels{levels: n.own, present: n.elem.at.def, count: n.lists.total, full: n.full}, buffers)
	}
}

// column sets the levels of one column.
func (n *node) column(i int, b *leaf.Buffer, t *track, slots *slotLevels) {
	b.Slots = slots.def.Len()
	if b.MaxRep > 0 {
		b.Rep.Share(&slots.rep)
	}
	def := slots.child(t, &n.columns[i])
	b.Def.Share(&def)
}

// slotLevels are the levels of a set of slots, and those of the columns below
// that were composed from them. Columns with the same presence share one list: a
// field that is there in every object, one that never is, and fields that come and
// go together.
type slotLevels struct {
	levels
	present uint8       // definition level of a slot that is there
	count   uint32      // of those
	full    leaf.Levels // of a column that is there in all of them
	seen    []seenTrack
}

type seenTrack struct {
	track  *track
	levels leaf.Levels
}

// child returns the definition levels of a column, in the memory of mem if they
// are not those of another one.
func (s *slotLevels) child(t *track, mem *leaf.Levels) leaf.Levels {
	switch t.n {
	case 0:
		return s.def
	case s.count:
		return s.full
	}
	for i := range s.seen {
		if o := s.seen[i].track; o.n == t.n && o.next == t.next && slices.Equal(o.gaps, t.gaps) {
			return s.seen[i].levels
		}
	}
	mem.Reset()
	t.compose(mem, &s.def, s.present)
	s.seen = append(s.seen, seenTrack{t, *mem})
	return *mem
}

// raise returns the levels with the greatest one, which is present, raised by
// one, in the memory of dst.
func raise(dst leaf.Levels, slots *leaf.Levels, present uint8) leaf.Levels {
	dst.Reset()
	for _, r := range slots.Runs {
		level := r.Level
		if level == present {
			level++
		}
		dst.Append(level, int(r.N))
	}
	return dst
}

// maxSlots bounds the slots of a row group: they are counted in 32 bits.
const maxSlots = math.MaxInt32
