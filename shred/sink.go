package shred

import (
	"fmt"

	"github.com/frazil/frazil/variant"
)

// rowSink is the variant.Sink of a Writer. It keeps a stack of the shredded
// containers that are open, and where the next value goes: to a node's leaf, to
// its residual, or, inside a residual, to the tape.
type rowSink struct {
	w       *Writer
	node    *node  // where the next value goes; nil: to an item of the object
	slot    uint32 // of node, unless in a list, where each element is a new slot
	inList  bool
	frames  []frame
	tape    tape
	deep    int   // open containers of the residual that is being taped
	pending *edge // the key of the item, when node is nil
	done    bool  // the row's value is complete
	err     error
	items   []item
	waiting []waiting
	keys    edges // of residuals
	prev    *edge // the last key in a residual
}

// frame is an open shredded container.
type frame struct {
	node  *node
	slot  uint32 // Object: of its fields; List: slots of the element when it began
	prev  *edge  // Object: its last key
	first int32  // Object: its first and last unshredded field, -1 without
	last  int32
}

// item is an unshredded field of a shredded object: a value on the tape.
type item struct {
	key      *key
	from, to int32
	next     int32 // the object's next item, or -1
}

// waiting is a residual to be encoded at the end of the row, when its dictionary
// is known: a value on the tape, or the object of a chain of items.
type waiting struct {
	node     *node
	items    int32 // the first one, or -1
	from, to int32
}

func (k *rowSink) init(w *Writer) {
	k.w = w
	k.keys.all = map[string]*edge{}
}

func (k *rowSink) begin() {
	k.node, k.slot, k.inList = k.w.root, k.w.present.n, false
	k.frames, k.items, k.waiting = k.frames[:0], k.items[:0], k.waiting[:0]
	k.tape.reset()
	k.deep, k.done, k.err = 0, false, nil
	k.prev = &k.keys.start
}

func (k *rowSink) forget() {
	k.keys.start = edge{}
	clear(k.keys.all)
}

// errEvents is returned when a producer's events make no single value.
var errEvents = fmt.Errorf("%w: events do not make one value", variant.ErrUsage)

func (k *rowSink) finish() error {
	if k.err == nil && (!k.done || len(k.frames) > 0 || k.deep > 0) {
		k.err = errEvents
	}
	return k.err
}

// Err implements variant.Sink.
func (k *rowSink) Err() error { return k.err }

// Key implements variant.Sink.
func (k *rowSink) Key(name []byte) {
	if k.err != nil {
		return
	}
	if k.deep > 0 {
		e := k.w.keys.follow(&k.keys, k.prev, name)
		k.prev = e
		k.w.keys.use(e.key)
		k.tape.key(e.key)
		return
	}
	if k.inList || len(k.frames) == 0 {
		k.err = errEvents
		return
	}
	f := &k.frames[len(k.frames)-1]
	e := k.w.keys.follow(&f.node.keys, f.prev, name)
	f.prev = e
	k.w.keys.use(e.key)
	k.node, k.slot, k.pending = e.child, f.slot, e
}

// Scalar implements variant.Sink.
func (k *rowSink) Scalar(s *variant.Scalar) {
	if k.deep > 0 {
		k.tape.scalar(s)
		return
	}
	n, slot, ok := k.target()
	if !ok {
		return
	}
	if n == nil {
		from := k.tape.len()
		k.tape.scalar(s)
		k.addItem(from)
		return
	}
	if n.leaf.put(s) {
		n.typed.mark(slot)
	} else {
		k.residual(n, slot, s)
	}
	k.after()
}

// target returns the node and slot of the next value and takes the slot.
func (k *rowSink) target() (n *node, slot uint32, ok bool) {
	if k.err != nil {
		return nil, 0, false
	}
	n, slot = k.node, k.slot
	if n == nil {
		if k.pending == nil {
			k.err = errEvents
			return nil, 0, false
		}
		return nil, 0, true
	}
	if k.inList {
		slot = n.slots
		if n.slots++; n.slots >= maxSlots {
			k.err = ErrFull
			return nil, 0, false
		}
	}
	if slot < n.seen {
		k.err = k.refilled()
		return nil, 0, false
	}
	n.seen = slot + 1
	return n, slot, true
}

// refilled is the error of a second value for one slot.
func (k *rowSink) refilled() error {
	if len(k.frames) == 0 || k.pending == nil {
		return errEvents
	}
	return fmt.Errorf("%w %q", ErrDuplicateKey, k.pending.key.name)
}

// after closes a value that is not a container.
func (k *rowSink) after() {
	if k.inList {
		return
	}
	if len(k.frames) == 0 {
		k.done = true
	}
	k.pending = nil
}

// residual stores a scalar in the value column. It needs no dictionary, so it
// is encoded at once, unless an earlier residual of the same column waits.
func (k *rowSink) residual(n *node, slot uint32, s *variant.Scalar) {
	n.value.mark(slot)
	if s.Kind != variant.KindNull {
		n.mixed = true
	}
	if n.open > 0 {
		from := k.tape.len()
		k.tape.scalar(s)
		k.wait(n, -1, from)
		return
	}
	b := n.res
	if len(b.Offsets) == 0 {
		b.Offsets = append(b.Offsets, 0)
	}
	b.Data = variant.AppendScalar(b.Data, s)
	b.Offsets = append(b.Offsets, uint32(len(b.Data)))
}

func (k *rowSink) wait(n *node, items, from int32) {
	n.open++
	k.waiting = append(k.waiting, waiting{node: n, items: items, from: from, to: k.tape.len()})
}

// addItem gives the tape from an index on to the innermost object as a field.
func (k *rowSink) addItem(from int32) {
	f := &k.frames[len(k.frames)-1]
	i := int32(len(k.items))
	k.items = append(k.items, item{key: k.pending.key, from: from, to: k.tape.len(), next: -1})
	if f.first < 0 {
		f.first = i
	} else {
		k.items[f.last].next = i
	}
	f.last = i
	k.pending = nil
}

// Begin implements variant.Sink.
func (k *rowSink) Begin(kind variant.Kind) {
	if k.deep > 0 {
		k.deep++
		k.tape.begin(kind)
		return
	}
	n, slot, ok := k.target()
	if !ok {
		return
	}
	switch {
	case n != nil && kind == variant.KindObject && n.shape == Object:
		n.typed.mark(slot)
		k.frames = append(k.frames, frame{node: n, slot: n.typed.n - 1, prev: &n.keys.start, first: -1, last: -1})
		k.node, k.inList, k.pending = nil, false, nil
	case n != nil && kind == variant.KindArray && n.shape == List:
		n.typed.mark(slot)
		k.frames = append(k.frames, frame{node: n, slot: n.elem.slots})
		k.node, k.inList = n.elem, true
	default:
		if n != nil {
			n.value.mark(slot)
			n.mixed = true
		}
		k.frames = append(k.frames, frame{node: n, slot: uint32(k.tape.len()), first: -1})
		k.deep = 1
		k.tape.begin(kind)
	}
}

// End implements variant.Sink.
func (k *rowSink) End() {
	if k.err != nil {
		return
	}
	if k.deep > 0 {
		k.tape.end()
		if k.deep--; k.deep == 0 {
			k.endResidual()
		}
		return
	}
	if len(k.frames) == 0 {
		k.err = errEvents
		return
	}
	f := k.frames[len(k.frames)-1]
	k.frames = k.frames[:len(k.frames)-1]
	if f.node.shape == List {
		f.node.lists.append(f.node.elem.slots - f.slot)
	} else if f.first >= 0 {
		f.node.value.mark(f.node.seen - 1)
		k.wait(f.node, f.first, 0)
	}
	k.resume()
}

// endResidual closes the frame of a residual.
func (k *rowSink) endResidual() {
	f := k.frames[len(k.frames)-1]
	k.frames = k.frames[:len(k.frames)-1]
	if f.node == nil {
		k.addItem(int32(f.slot))
	} else {
		k.wait(f.node, -1, int32(f.slot))
	}
	k.resume()
}

// resume restores the target of the container that is innermost again.
func (k *rowSink) resume() {
	k.pending = nil
	if len(k.frames) == 0 {
		k.node, k.inList, k.done = nil, false, true
		return
	}
	f := &k.frames[len(k.frames)-1]
	k.node, k.inList = nil, f.node.shape == List
	if k.inList {
		k.node = f.node.elem
	}
}

// flush encodes the waiting residuals over the row's dictionary.
func (k *rowSink) flush(m *variant.Metadata) error {
	for i := range k.waiting {
		wt := &k.waiting[i]
		v, err := k.encode(wt, m)
		if err != nil {
			return err
		}
		wt.node.res.AppendBytes(v.Bytes())
		wt.node.open = 0
	}
	return nil
}

func (k *rowSink) encode(wt *waiting, m *variant.Metadata) (variant.Value, error) {
	b := k.w.builder
	b.ResetMetadata(m)
	if wt.items < 0 {
		k.tape.replay(b, wt.from, wt.to)
		return b.Value()
	}
	b.Begin(variant.KindObject)
	for i := wt.items; i >= 0; {
		it := &k.items[i]
		b.Key(it.key.bytes)
		k.tape.replay(b, it.from, it.to)
		i = it.next
	}
	b.End()
	return b.Value()
}
