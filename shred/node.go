package shred

import (
	"math"

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

	own     levels      // List: levels of the elements' slots
	next    leaf.Levels // Object, List: definition levels of typed_value
	full    leaf.Levels // levels of a child that is present wherever the parent is
	columns [2]leaf.Levels
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
		e.next, e.alt = nil, nil
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

// finish composes the levels of the node's columns from those of its slots, n
// of which are present; full are the levels of a column present in all of them.
func (n *node) finish(slots *levels, count uint32, buffers []leaf.Buffer, full *leaf.Levels) {
	n.column(0, &buffers[n.at.value], &n.value, slots, count, full)
	switch n.shape {
	case Opaque:
	case Leaf:
		n.column(1, &buffers[n.at.typed], &n.typed, slots, count, full)
	case Object:
		n.next.Reset()
		n.typed.compose(&n.next, &slots.def, n.at.def)
		own := levels{def: n.next, rep: slots.rep}
		n.full = raise(n.full, &own.def, n.at.typedDef)
		for _, f := range n.fields {
			f.finish(&own, n.typed.n, buffers, &n.full)
		}
	case List:
		n.next.Reset()
		n.typed.compose(&n.next, &slots.def, n.at.def)
		n.lists.elements(&n.own, &levels{def: n.next, rep: slots.rep}, n.at.typedDef, n.elem.at.rep)
		n.full = raise(n.full, &n.own.def, n.elem.at.def)
		n.elem.finish(&n.own, n.lists.total, buffers, &n.full)
	}
}

// column sets the levels of one column. Columns that are present nowhere, or
// everywhere, share the levels of their slots and of full.
func (n *node) column(i int, b *leaf.Buffer, t *track, slots *levels, count uint32, full *leaf.Levels) {
	b.Slots = slots.def.Len()
	if b.MaxRep > 0 {
		b.Rep.Share(&slots.rep)
	}
	switch {
	case t.n == 0:
		b.Def.Share(&slots.def)
	case t.n == count:
		b.Def.Share(full)
	default:
		n.columns[i].Reset()
		t.compose(&n.columns[i], &slots.def, n.at.def)
		b.Def.Share(&n.columns[i])
	}
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
