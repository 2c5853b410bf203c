package variant

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// close ends the innermost container: it knows its size now, so its header can be
// written, into the gap if the prediction was right.
//
//	buf:  ... | gap | value value value |
//	          ^start ^data              ^len
func (b *Builder) close() {
	if b.top.object {
		b.endObject(b.top.shape)
	} else {
		b.endArray()
	}
}

// endObject closes the innermost container, an object of shape s, nil when there is
// none.
func (b *Builder) endObject(s *objectShape) {
	f := b.top
	f.shape = s
	b.closeObject(f, b.fields[f.fields:])
	if s == nil {
		b.tree.release(f.claims)
	}
	b.pop(f)
}

// endArray closes the innermost container, an array.
func (b *Builder) endArray() {
	f := b.top
	fields, size := b.fields[f.fields:], len(b.buf)-f.data
	width := uintWidth(uint32(size))
	at := b.header(f, basicArray, len(fields) > 255, 0, width)
	putOffsets(b.buf[at:f.data], fields, width, size)
	b.pop(f)
}

func (b *Builder) pop(f *frame) {
	b.fields = b.fields[:f.fields]
	b.frames = b.frames[:len(b.frames)-1]
	b.top = &b.frames[len(b.frames)-1]
	b.data = b.top.data
}

// header writes the first byte and the count of f's container, after moving the
// values if the gap has another size, and returns the position after the count.
func (b *Builder) header(f *frame, h byte, large bool, ids, width int) (at int) {
	n := len(b.fields) - f.fields
	size := 2 + ids + (n+1)*width
	if large {
		size += 3
	}
	if gap := f.data - f.start; gap != size {
		b.fit(f, gap, size)
	}
	h |= byte(width-1) << 2
	if !large {
		b.buf[f.start], b.buf[f.start+1] = h, byte(n)
		return f.start + 2
	}
	if h&3 == basicObject {
		h |= 0x40
	} else {
		h |= 0x10
	}
	b.buf[f.start] = h
	binary.LittleEndian.PutUint32(b.buf[f.start+1:], uint32(n))
	return f.start + 5
}

// fit makes the gap for f's header size bytes long. The outermost container, whose
// fields vary most, leaves what it does not need in front of the value; others must
// be contiguous, so their values move.
func (b *Builder) fit(f *frame, gap, size int) {
	if len(b.frames) == 2 && size < gap && gap <= 2*size+64 {
		f.start = f.data - size
		b.head = f.start
		return
	}
	b.move(f, f.start+size)
	*f.header = int32(size)
}

// move shifts the values of f so that they start at data.
func (b *Builder) move(f *frame, data int) {
	size := len(b.buf) - f.data
	if data > f.data {
		b.grow(data - f.data)
	}
	b.buf = b.buf[:max(data+size, len(b.buf))]
	copy(b.buf[data:data+size], b.buf[f.data:f.data+size])
	b.buf = b.buf[:data+size]
	for i := range b.patches[f.patches:] {
		p := &b.patches[f.patches+i]
		p.start += data - f.data
		p.ids += data - f.data
	}
	f.data = data
}

func (b *Builder) closeObject(f *frame, fields []field) {
	s := f.shape
	if s == nil || s.order == nil && !b.tree.sort(s) {
		b.closeGeneral(f, fields)
		return
	}
	size := len(b.buf) - f.data
	if b.dict != nil && s.numbered != b.dict {
		if k := b.tree.renumberGiven(s, b.dict, b.ids[:]); k != nil {
			b.fail(fmt.Errorf("%w: %q", ErrUnknownKey, k.name))
			return
		}
	}
	n, width, idW := len(fields), uintWidth(uint32(size)), s.width
	at := b.header(f, basicObject|byte(idW-1)<<4, n > 255, n*idW, width)
	if b.dict == nil {
		b.patchLater(f, s, at)
	}
	if len(s.ids) > 0 {
		putIDs(b.buf[at:f.data], s.ids)
	}
	offsets := b.buf[at+n*idW : f.data]
	if s.plain {
		putOffsets(offsets, fields, width, size)
	} else {
		putOrdered(offsets, fields, s.order, width, size)
	}
}

// patchLater notes an object over an own dictionary. The ids it has now, and their
// width, are those of the last document with an object of its shape, which most often
// are right.
func (b *Builder) patchLater(f *frame, s *objectShape, at int) {
	p := b.patch()
	p.start, p.ids, p.shape, p.dict, p.width, p.from, p.n = f.start, at, s, s.numbered, s.width, 0, 0
	if s.ended != b.serial {
		s.ended = b.serial
		b.shapes = append(b.shapes, s)
		b.row = b.cache.next(b.row, s)
	}
}

// putIDs writes the ids of a shape at the start of dst, which reaches to the end of
// the header: what whole words write too much the offsets replace.
func putIDs(dst, ids []byte) {
	switch n := len(ids); {
	case n <= 8 && len(dst) >= 8:
		*(*[8]byte)(dst) = *(*[8]byte)(ids[:8])
	case n <= 16 && len(dst) >= 16:
		*(*[16]byte)(dst) = *(*[16]byte)(ids[:16])
	default:
		copy(dst, ids)
	}
}

// patch makes room for a patch.
func (b *Builder) patch() *patch {
	n := len(b.patches)
	if n == cap(b.patches) {
		b.patches = slices.Grow(b.patches, n+16)
	}
	b.patches = b.patches[:n+1]
	return &b.patches[n]
}

// closeGeneral ends an object that has no shape: its fields are sorted here.
func (b *Builder) closeGeneral(f *frame, fields []field) {
	b.tree.general++
	keys := b.tree.keys
	slices.SortFunc(fields, func(x, y field) int { return keys[x.key()].compare(keys[y.key()]) })
	size := len(b.buf) - f.data
	n, width, idW := len(fields), uintWidth(uint32(size)), 1
	if b.dict != nil {
		largest := int32(0)
		for i := range fields {
			id, ok := b.dict.idOf(keys[fields[i].key()])
			if !ok {
				b.fail(fmt.Errorf("%w: %q", ErrUnknownKey, keys[fields[i].key()].name))
				return
			}
			largest = max(largest, id)
		}
		idW = uintWidth(uint32(largest))
	}
	at := b.header(f, basicObject|byte(idW-1)<<4, n > 255, n*idW, width)
	if b.dict != nil {
		for i := range fields {
			putUint(b.buf[at+i*idW:], uint32(b.dict.known[fields[i].key()]), idW)
		}
	} else {
		p := b.patch()
		p.start, p.ids, p.shape, p.dict, p.width, p.from, p.n = f.start, at, nil, nil, 1, len(b.log), n
		for i := range fields {
			b.log = append(b.log, keys[fields[i].key()])
		}
		b.row = nil
	}
	putOffsets(b.buf[at+n*idW:f.data], fields, width, size)
}

// putOffsets writes the offsets of fields in their order, and the end.
func putOffsets(dst []byte, fields []field, width, end int) {
	switch width {
	case 1:
		dst = dst[:len(fields)+1]
		for i := range fields {
			dst[i] = byte(fields[i].at())
		}
		dst[len(fields)] = byte(end)
	case 2:
		for i := range fields {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(fields[i].at()))
		}
		binary.LittleEndian.PutUint16(dst[2*len(fields):], uint16(end))
	default:
		for i := range fields {
			putUint(dst[i*width:], fields[i].at(), width)
		}
		putUint(dst[len(fields)*width:], uint32(end), width)
	}
}

// putOrdered is putOffsets in another order.
func putOrdered(dst []byte, fields []field, order []int32, width, end int) {
	switch width {
	case 1:
		for j, i := range order {
			dst[j] = byte(fields[i].at())
		}
		dst[len(order)] = byte(end)
	case 2:
		for j, i := range order {
			binary.LittleEndian.PutUint16(dst[2*j:], uint16(fields[i].at()))
		}
		binary.LittleEndian.PutUint16(dst[2*len(order):], uint16(end))
	default:
		for j, i := range order {
			putUint(dst[j*width:], fields[i].at(), width)
		}
		putUint(dst[len(order)*width:], uint32(end), width)
	}
}

// resolve gives the ids of the document's own dictionary to its objects.
func (b *Builder) resolve() {
	d := (*dictionary)(nil)
	if b.row != nil {
		d = b.row.dict
	}
	if d == nil {
		d = b.collect()
		b.cache.learn(b.row, d)
	}
	b.done = d
	fits := true
	for i := range b.patches {
		if p := &b.patches[i]; p.dict != d || p.shape == nil {
			fits = b.fillIn(p, d) && fits
		}
	}
	if !fits {
		b.number(d)
		b.widen()
	}
	if d == &b.cache.scratch {
		b.unnumber()
	}
}

// number puts the ids of an own dictionary into the notes of its keys.
func (b *Builder) number(d *dictionary) {
	if b.cache.current == d {
		return
	}
	b.cache.current = d
	for id, i := range d.keys {
		b.tree.notes[i].id = int32(id)
	}
}

// fillIn gives an object its ids. It is false when they need another width than what
// was kept free for them.
func (b *Builder) fillIn(p *patch, d *dictionary) bool {
	if s := p.shape; s != nil {
		if s.numbered != d {
			b.number(d)
			b.tree.renumber(s, d)
		}
		if s.width != p.width {
			return false
		}
		copy(b.buf[p.ids:], s.ids)
		return true
	}
	b.number(d)
	largest := int32(0)
	for j, k := range b.log[p.from : p.from+p.n] {
		id := b.tree.notes[k.index].id
		largest = max(largest, id)
		b.buf[p.ids+j] = byte(id)
	}
	return largest <= 255
}

// unnumber drops ids that shapes hold of the scratch dictionary, whose next use is
// another one.
func (b *Builder) unnumber() {
	b.cache.current = nil
	for _, s := range b.shapes {
		s.numbered = nil
	}
}

// collect returns the dictionary of the distinct keys of the document's objects.
func (b *Builder) collect() *dictionary {
	set, notes, sum := b.cache.set[:0], b.tree.notes, uint64(0)
	mark := func(i int32) {
		if n := &notes[i]; n.mark != b.serial {
			n.mark = b.serial
			sum += n.hash
			set = append(set, i)
		}
	}
	for _, s := range b.shapes {
		for _, i := range s.keys {
			mark(i)
		}
	}
	for _, k := range b.log {
		mark(k.index)
	}
	b.cache.set = set
	return b.cache.own(&b.tree.keyTable, set, sum, b.serial)
}
