package variant

import (
	"encoding/binary"
	"slices"
)

// widen writes the value again, because ids do not have the width that objects
// expected. Each object gets the width that its largest id needs; more than a byte,
// if the dictionary has more than 256 names.
func (b *Builder) widen() {
	slices.SortFunc(b.patches, func(x, y patch) int { return x.start - y.start })
	w := widener{b: b, src: b.buf, dst: b.wideBuf[:0], starts: b.wideStarts[:0], order: b.wideOrder[:0], keys: b.cache.set[:0]}
	w.value(b.head)
	b.head = 0
	b.buf, b.wideBuf, b.wideStarts, b.wideOrder, b.cache.set = w.dst, w.src, w.starts, w.order, w.keys[:0]
}

// widener copies a value whose objects have ids that mean nothing.
// Its slices are stacks: a container pops what it pushed.
type widener struct {
	b      *Builder
	src    []byte
	dst    []byte
	starts []uint32
	order  []int32
	keys   []int32 // indexes in keyTable.keys
}

// value copies the value at src[at:]. Values stay in the order they lie in, so that
// the bytes of a text do not depend on whether they were written twice.
func (w *widener) value(at int) {
	src := w.src[at:]
	if src[0]&3 < basicObject {
		w.dst = append(w.dst, src[:valueSize(src)]...)
		return
	}
	c, ok := readContainer(src)
	if !ok {
		panic("BUG: variant: a container that the builder wrote does not read back")
	}
	keys, starts := len(w.keys), len(w.starts)
	if c.idW > 0 {
		c.idW = w.objectKeys(at)
	}
	start := len(w.dst)
	w.extend(c.ids + c.n*c.idW + (c.n+1)*c.offW)
	data := len(w.dst)
	w.starts = slices.Grow(w.starts, c.n)[:starts+c.n]
	order := w.pushOrder(&c)
	for j := range c.n {
		i := int(w.order[order+j])
		w.starts[starts+i] = uint32(len(w.dst) - data)
		w.value(at + c.data + offsetOf(&c, i))
	}
	w.header(&c, start, data, w.keys[keys:], w.starts[starts:])
	w.keys, w.starts, w.order = w.keys[:keys], w.starts[:starts], w.order[:order]
}

// pushOrder pushes the numbers of a container's values in the order they lie in, and
// returns where they start.
func (w *widener) pushOrder(c *container) int {
	from, sorted := len(w.order), true
	for i := range c.n {
		w.order = append(w.order, int32(i))
		sorted = sorted && (i == 0 || offsetOf(c, i-1) < offsetOf(c, i))
	}
	if !sorted {
		slices.SortFunc(w.order[from:], func(i, j int32) int { return offsetOf(c, int(i)) - offsetOf(c, int(j)) })
	}
	return from
}

func offsetOf(c *container, i int) int {
	return int(readUint(c.b[c.offs+i*c.offW:], c.offW))
}

// objectKeys pushes the keys of the object at src[at:] in order of name and
// returns the width of their ids.
func (w *widener) objectKeys(at int) int {
	i, ok := slices.BinarySearchFunc(w.b.patches, at, func(p patch, at int) int { return p.start - at })
	if !ok {
		panic("BUG: variant: an object without keys")
	}
	p, from := &w.b.patches[i], len(w.keys)
	if p.shape != nil {
		w.keys = append(w.keys, p.shape.keys...)
	} else {
		for _, k := range w.b.log[p.from : p.from+p.n] {
			w.keys = append(w.keys, k.index)
		}
	}
	largest := int32(0)
	for _, i := range w.keys[from:] {
		largest = max(largest, w.b.tree.notes[i].id)
	}
	return uintWidth(uint32(largest))
}

func (w *widener) extend(n int) {
	w.dst = slices.Grow(w.dst, n)[:len(w.dst)+n]
}

// header writes the header of a container into dst[start:data], which was sized
// for the old width of its offsets.
func (w *widener) header(c *container, start, data int, keys []int32, starts []uint32) {
	size := len(w.dst) - data
	width := uintWidth(uint32(size))
	if grown := (c.n + 1) * (width - c.offW); grown != 0 {
		w.extend(grown)
		copy(w.dst[data+grown:], w.dst[data:data+size])
	}
	h := c.b[0]&^0x0c | byte(width-1)<<2
	if c.idW > 0 {
		h = h&^0x30 | byte(c.idW-1)<<4
	}
	dst := w.dst[start:]
	dst[0] = h
	if c.ids == 2 {
		dst[1] = byte(c.n)
	} else {
		binary.LittleEndian.PutUint32(dst[1:], uint32(c.n))
	}
	at := c.ids
	for _, i := range keys {
		putUint(dst[at:], uint32(w.b.tree.notes[i].id), c.idW)
		at += c.idW
	}
	for _, s := range starts {
		putUint(dst[at:], s, width)
		at += width
	}
	putUint(dst[at:], uint32(size), width)
}
