package variant

import (
	"encoding/binary"
	"iter"
)

// container is the decoded header of an array or object, with all positions
// relative to the value's first byte and checked to lie inside it.
//
//	header | num_elements | ids (objects) | offsets (n+1) | values
//	                        ^ids            ^offs           ^data   end^
type container struct {
	b    []byte // from the header to the end of the last value
	n    int
	ids  int
	offs int
	data int
	idW  int // 0 for arrays
	offW int
}

// readContainer decodes the header of the array or object at the start of b.
// It fails when the header, the ids or the offsets do not fit, or the last
// offset points past b; it allocates nothing.
func readContainer(b []byte) (c container, ok bool) {
	ok = c.read(b)
	return c, ok
}

// read is readContainer in place: a container is too large to be returned in
// registers.
func (c *container) read(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	h := b[0]
	large := h&0x40 != 0
	c.offW = int(h>>2&3) + 1
	switch h & 3 {
	case basicObject:
		c.idW = int(h>>4&3) + 1
	case basicArray:
		large, c.idW = h&0x10 != 0, 0
	default:
		return false
	}
	n, at := uint64(b[1]), uint64(2)
	if large {
		if len(b) < 5 {
			return false
		}
		n, at = uint64(binary.LittleEndian.Uint32(b[1:])), 5
	}
	offs := at + n*uint64(c.idW)
	data := offs + (n+1)*uint64(c.offW)
	if data > uint64(len(b)) {
		return false
	}
	c.n, c.ids, c.offs, c.data = int(n), int(at), int(offs), int(data)
	end := data + uint64(readUint(b[data-uint64(c.offW):], c.offW))
	if end > uint64(len(b)) {
		return false
	}
	c.b = b[:end] // capacity stays: errors tell offsets by it
	return true
}

// id returns the field id at position i of an object.
func (c *container) id(i int) int {
	return int(readUint(c.b[c.ids+i*c.idW:], c.idW))
}

// child returns the bytes from value i on to the end of the container; its own
// end follows from its header. It is empty when the offset is out of range.
func (c *container) child(i int) []byte {
	at := uint64(c.data) + uint64(readUint(c.b[c.offs+i*c.offW:], c.offW))
	if at > uint64(len(c.b)) {
		return nil
	}
	return c.b[at:]
}

// valueSize returns the size of the value at the start of b, or 0 when b does
// not hold it whole, as far as its own header tells.
func valueSize(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	h := b[0]
	switch h & 3 {
	case basicShort:
		if n := int(h>>2) + 1; n <= len(b) {
			return n
		}
		return 0
	case basicPrimitive:
		if n := int(fixedSizes[h>>2]); n != 0 {
			if n <= len(b) {
				return n
			}
			return 0
		}
		var s Scalar
		return readLong(b, &s)
	}
	c, ok := readContainer(b)
	if !ok {
		return 0
	}
	return len(c.b)
}

// exact cuts b to the one value at its start; nil when it is not whole.
func exact(b []byte) []byte {
	n := valueSize(b)
	if n == 0 {
		return nil
	}
	return b[:n:n]
}

// find returns the position of the field with a name; where there is none, the
// position at which it would stand.
//
// The spec orders fields by the bytes of their names, so a bisection comes first.
// But writers exist that left another order: that of UTF-16 units
// (apache/parquet-java#3735), or the one in which the fields came (DuckDB, in some
// residuals of shredded columns). No field may get lost for that, so where the
// bisection fails, the rest is looked at: ids only, when a sorted dictionary gives
// the name's one id, or says at once that there is no such name; else names.
func (c *container) find(d *dict, name string) (pos int, state walkState) {
	pos, state = c.bisect(d, name)
	if state != walkMissing || c.n == 0 {
		return pos, state
	}
	if d.sorted && !isWide(name) {
		id, ok := d.bisect(name)
		if !ok {
			return pos, walkMissing
		}
		if at := indexID(c.b[c.ids:c.offs], c.idW, uint32(id)); at >= 0 {
			return at, walkFound
		}
		return pos, walkMissing
	}
	for i := range c.n {
		field, ok := d.name(c.id(i))
		switch {
		case !ok:
			return 0, walkBadID
		case string(field) == name:
			return i, walkFound
		}
	}
	return pos, walkMissing
}

// bisect is find in an object whose fields are in order.
func (c *container) bisect(d *dict, name string) (pos int, state walkState) {
	lo, hi := 0, c.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		field, ok := d.name(c.id(mid))
		switch {
		case !ok:
			return 0, walkBadID
		case string(field) == name:
			return mid, walkFound
		case string(field) < name:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, walkMissing
}

// isWide reports whether a name holds a character from U+E000 on. Among others the
// order of UTF-16 units is that of UTF-8 bytes, so that a name which is not wide
// stands at the same place in either.
func isWide(name string) bool {
	for i := range len(name) {
		if name[i] >= 0xee { // lead byte of U+E000 and above
			return true
		}
	}
	return false
}

// Len returns the number of elements of an array or fields of an object, 0 for
// any other value.
func (v Value) Len() int {
	c, ok := readContainer(v.value)
	if !ok {
		return 0
	}
	return c.n
}

// Index returns element i of an array; missing when v is no array, i is out of
// range, or the bytes are corrupt.
func (v Value) Index(i int) Value {
	if len(v.value) == 0 || v.value[0]&3 != basicArray {
		return Value{}
	}
	c, ok := readContainer(v.value)
	if !ok || uint(i) >= uint(c.n) {
		return Value{}
	}
	return v.sub(c.child(i))
}

// Field returns the field of an object with a name, which is case-sensitive;
// missing when v is no object, has no such field, or is corrupt. It finds a field
// that is there in any order of fields, quickest in the order that the spec asks
// for.
func (v Value) Field(name string) Value {
	if len(v.value) == 0 || v.value[0]&3 != basicObject {
		return Value{}
	}
	c, ok := readContainer(v.value)
	if !ok {
		return Value{}
	}
	d, ok := viewDict(v.metadata)
	if !ok {
		return Value{}
	}
	pos, state := c.find(&d, name)
	if state != walkFound {
		return Value{}
	}
	return v.sub(c.child(pos))
}

// sub returns the value at the start of b under v's dictionary.
func (v Value) sub(b []byte) Value {
	if b = exact(b); b == nil {
		return Value{}
	}
	return Value{v.metadata, b}
}

// Fields iterates over the fields of an object in the order they are stored,
// which is the order of their names' bytes. It ends early at a corrupt field;
// New or Validate finds such bytes before.
func (v Value) Fields() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != KindObject {
			return
		}
		c, ok := readContainer(v.value)
		d, okd := viewDict(v.metadata)
		if !ok || !okd {
			return
		}
		for i := range c.n {
			name, ok := d.name(c.id(i))
			child := v.sub(c.child(i))
			if !ok || child.IsMissing() || !yield(string(name), child) {
				return
			}
		}
	}
}

// Elements iterates over the elements of an array in order, and ends early at a
// corrupt one.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != KindArray {
			return
		}
		c, ok := readContainer(v.value)
		if !ok {
			return
		}
		for i := range c.n {
			child := v.sub(c.child(i))
			if child.IsMissing() || !yield(i, child) {
				return
			}
		}
	}
}
