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
	keys    *keyTable
	mode    mode
	node    *node // where the next value goes, or in an object the last one; nil for an unshredded field
	cur     frame // the innermost shredded container
	frames  []frame
	pending bool // modeObject: the value of cur.prev comes next
	stable  bool // names at one address are one name

	tape    tape
	deep    int   // modeTape: open containers of the residual
	start   int32 // modeTape: where the residual starts
	items   []item
	waiting []waiting
	taped   edges // the keys in residuals
	prev    *edge // the last key in a residual
	err     error
}

// mode is what the next event may be.
type mode uint8

const (
	modeValue  mode = iota // the row's value, at node and slot cur.slot
	modeObject             // a key, its value, or the end of a shredded object
	modeList               // an element, at node, or the end of a shredded list
	modeTape               // anything inside a residual
	modeDone               // nothing: the row is complete
	modeFailed             // whatever comes is ignored
)

// frame is an open shredded container.
type frame struct {
	node  *node
	slot  uint32 // Object: of its fields; List: slots of the element when it began
	mode  mode   // modeObject or modeList
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
	k.w, k.keys = w, w.keys
	k.taped.all = map[string]*edge{}
}

func (k *rowSink) begin(stable bool) {
	k.mode, k.node, k.pending, k.stable = modeValue, k.w.root, false, stable
	k.cur = frame{slot: k.w.present.n}
	k.frames, k.items, k.waiting = k.frames[:0], k.items[:0], k.waiting[:0]
	k.tape.reset()
	k.err = nil
	k.prev = &k.taped.start
}

func (k *rowSink) forget() {
	k.taped.start = edge{}
	clear(k.taped.all)
}

// errEvents is returned when a producer's events make no single value.
var errEvents = fmt.Errorf("%w: events do not make one value", variant.ErrUsage)

func (k *rowSink) fail(err error) {
	k.mode, k.err = modeFailed, err
}

// finish checks that the row is complete.
func (k *rowSink) finish() error {
	if k.mode != modeDone && k.err == nil {
		k.err = errEvents
	}
	return k.err
}

// Err implements variant.Sink.
func (k *rowSink) Err() error { return k.err }

// Key implements variant.Sink.
func (k *rowSink) Key(name []byte) {
	switch k.mode {
	case modeObject:
		e := k.cur.prev.next
		if e == nil || !k.stable || len(name) == 0 || e.at != &name[0] {
			e = k.keys.follow(&k.cur.node.keys, k.cur.prev, name, k.stable)
		}
		k.cur.prev, k.pending = e, true
		k.keys.use(e.key)
	case modeTape:
		e := k.keys.follow(&k.taped, k.prev, name, k.stable)
		k.prev = e
		k.keys.use(e.key)
		k.tape.key(e.key)
	case modeFailed:
	case modeValue, modeList, modeDone:
		k.fail(errEvents)
	}
}

// Scalar implements variant.Sink.
func (k *rowSink) Scalar(s *variant.Scalar) {
	// The usual case first: a shredded field that was not seen in this object.
	if k.mode != modeObject || !k.pending {
		k.other(s)
		return
	}
	n, slot := k.cur.prev.child, k.cur.slot
	if n == nil || slot < n.seen {
		k.other(s)
		return
	}
	n.seen = slot + 1
	k.pending = false
	if n.leaf.put(s) {
		n.typed.mark(slot)
	} else {
		k.residual(n, slot, s)
	}
}

func (k *rowSink) other(s *variant.Scalar) {
	if k.mode == modeTape {
		k.tape.scalar(s)
		return
	}
	slot, ok := k.take()
	if !ok {
		return
	}
	n := k.node
	switch {
	case n == nil:
		from := k.tape.len()
		k.tape.scalar(s)
		k.addItem(from)
		return
	case n.leaf.put(s):
		n.typed.mark(slot)
	default:
		k.residual(n, slot, s)
	}
	k.pending = false
	if k.mode == modeValue {
		k.mode = modeDone
	}
}

// take returns the slot of the next value and marks it as taken; false if no
// value may come.
func (k *rowSink) take() (slot uint32, ok bool) {
	n := k.node
	switch k.mode {
	case modeObject:
		if !k.pending {
			k.fail(errEvents)
			return 0, false
		}
		n = k.cur.prev.child
		k.node = n
		if n == nil {
			return 0, true
		}
		if slot = k.cur.slot; slot < n.seen {
			k.fail(fmt.Errorf("%w %q", ErrDuplicateKey, k.cur.prev.key.name))
			return 0, false
		}
	case modeList:
		if slot = n.slots; slot >= maxSlots {
			k.fail(ErrFull)
			return 0, false
		}
		n.slots++
	case modeValue:
		slot = k.cur.slot
	default:
		if k.mode != modeFailed {
			k.fail(errEvents)
		}
		return 0, false
	}
	n.seen = slot + 1
	return slot, true
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
	if kind := residualKind(s); kind != s.Kind {
		wide := *s
		wide.Kind = kind
		s = &wide
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
	i := int32(len(k.items))
	k.items = append(k.items, item{key: k.cur.prev.key, from: from, to: k.tape.len(), next: -1})
	if k.cur.first < 0 {
		k.cur.first = i
	} else {
		k.items[k.cur.last].next = i
	}
	k.cur.last = i
	k.pending = false
}

// Begin implements variant.Sink.
func (k *rowSink) Begin(kind variant.Kind) {
	if k.mode == modeTape {
		k.deep++
		k.tape.begin(kind)
		return
	}
	slot, ok := k.take()
	if !ok {
		return
	}
	n := k.node
	switch {
	case n != nil && kind == variant.KindObject && n.shape == Object:
		n.typed.mark(slot)
		k.push(frame{node: n, slot: n.typed.n - 1, mode: modeObject, prev: &n.keys.start, first: -1})
	case n != nil && kind == variant.KindArray && n.shape == List:
		n.typed.mark(slot)
		k.push(frame{node: n, slot: n.elem.slots, mode: modeList})
		k.node = n.elem
	default:
		if n != nil {
			n.value.mark(slot)
			n.mixed = true
		}
		k.start, k.deep = k.tape.len(), 1
		k.mode = modeTape
		k.tape.begin(kind)
	}
}

func (k *rowSink) push(f frame) {
	k.frames = append(k.frames, k.cur)
	k.cur, k.mode, k.pending = f, f.mode, false
}

// End implements variant.Sink.
func (k *rowSink) End() {
	switch k.mode {
	case modeTape:
		k.tape.end()
		if k.deep--; k.deep == 0 {
			k.endTape()
		}
	case modeObject:
		if k.pending {
			k.fail(errEvents)
			return
		}
		if n := k.cur.node; k.cur.first >= 0 {
			n.value.mark(n.seen - 1)
			k.wait(n, k.cur.first, 0)
		}
		k.pop()
	case modeList:
		n := k.cur.node
		n.lists.append(n.elem.slots - k.cur.slot)
		k.pop()
	case modeFailed:
	case modeValue, modeDone:
		k.fail(errEvents)
	}
}

func (k *rowSink) pop() {
	last := len(k.frames) - 1
	k.cur, k.frames = k.frames[last], k.frames[:last]
	k.resume()
}

// resume goes on in the container that is innermost again.
func (k *rowSink) resume() {
	k.mode, k.pending = k.cur.mode, false
	switch {
	case k.cur.node == nil:
		k.mode = modeDone
	case k.mode == modeList:
		k.node = k.cur.node.elem
	}
}

// endTape closes a residual.
func (k *rowSink) endTape() {
	if k.node != nil {
		k.wait(k.node, -1, k.start)
	} else {
		k.addItem(k.start)
	}
	k.resume()
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
