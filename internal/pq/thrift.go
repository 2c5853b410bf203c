package pq

import (
	"encoding/binary"
	"errors"
)

// Wire types of Thrift's compact protocol.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// maxThriftDepth bounds the nesting of structures; the format needs seven.
const maxThriftDepth = 32

// errThriftShort means that the bytes end inside a structure, so that more
// bytes might complete it.
var errThriftShort = errors.New("metadata ends early")

// thriftReader decodes the compact protocol from b. Its error is sticky, and
// after an error every method returns zeros, so that loops end.
//
// Invariant: 0 <= pos <= len(b).
type thriftReader struct {
	b     []byte
	pos   int
	depth int
	err   error
}

func (r *thriftReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.pos = len(r.b)
}

// field reads the header of the next field, given the id of the field before
// it. The type is thriftStop at the end of the structure and after an error.
func (r *thriftReader) field(last int16) (id int16, typ byte) {
	c := r.byte()
	typ = c & 0x0f
	if typ == thriftStop || r.err != nil {
		return 0, thriftStop
	}
	if delta := int16(c >> 4); delta != 0 {
		return last + delta, typ
	}
	return int16(r.varint()), typ
}

func (r *thriftReader) byte() byte {
	if r.pos >= len(r.b) {
		r.fail(errThriftShort)
		return 0
	}
	c := r.b[r.pos]
	r.pos++
	return c
}

func (r *thriftReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b[r.pos:])
	if n <= 0 {
		if n == 0 {
			r.fail(errThriftShort)
		} else {
			r.fail(corruptf("metadata holds a number of more than 64 bits"))
		}
		return 0
	}
	r.pos += n
	return v
}

func (r *thriftReader) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// int reads a value of an integer type; other types are an error.
func (r *thriftReader) int(typ byte) int64 {
	switch typ {
	case thriftByte:
		return int64(int8(r.byte()))
	case thriftI16, thriftI32, thriftI64:
		return r.varint()
	}
	r.fail(corruptf("metadata field has type %d where an integer belongs", typ))
	return 0
}

// bool reads a boolean field, which is its own type.
func (r *thriftReader) bool(typ byte) bool {
	if typ != thriftTrue && typ != thriftFalse {
		r.fail(corruptf("metadata field has type %d where a boolean belongs", typ))
	}
	return typ == thriftTrue
}

// binary reads a byte string as a view of the input.
func (r *thriftReader) binary(typ byte) []byte {
	if typ != thriftBinary {
		r.fail(corruptf("metadata field has type %d where bytes belong", typ))
		return nil
	}
	n := r.uvarint()
	if n > uint64(len(r.b)-r.pos) {
		r.fail(errThriftShort)
		return nil
	}
	v := r.b[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return v
}

// list reads the header of a list. The count is at most the bytes that are
// left, because every element takes one, so that it can size an allocation.
func (r *thriftReader) list(typ byte) (elem byte, n int) {
	if typ != thriftList && typ != thriftSet {
		r.fail(corruptf("metadata field has type %d where a list belongs", typ))
		return 0, 0
	}
	c := r.byte()
	count := uint64(c >> 4)
	if count == 15 {
		count = r.uvarint()
	}
	if r.err != nil {
		return 0, 0
	}
	if count > uint64(len(r.b)-r.pos) {
		r.fail(errThriftShort)
		return 0, 0
	}
	return c & 0x0f, int(count)
}

// structure calls field for each field of a structure; field returns false for
// one that it does not know, which is then skipped.
func (r *thriftReader) structure(typ byte, field func(id int16, typ byte) bool) {
	if typ != thriftStruct {
		r.fail(corruptf("metadata field has type %d where a structure belongs", typ))
		return
	}
	if r.depth++; r.depth > maxThriftDepth {
		r.fail(corruptf("metadata is nested more than %d deep", maxThriftDepth))
		return
	}
	var last int16
	for {
		id, typ := r.field(last)
		if typ == thriftStop {
			break
		}
		if !field(id, typ) {
			r.skip(typ)
		}
		last = id
	}
	r.depth--
}

// skip passes over a value.
func (r *thriftReader) skip(typ byte) {
	switch typ {
	case thriftTrue, thriftFalse:
	case thriftByte:
		r.byte()
	case thriftI16, thriftI32, thriftI64:
		r.uvarint()
	case thriftDouble:
		r.advance(8)
	case thriftUUID:
		r.advance(16)
	case thriftBinary:
		r.binary(typ)
	case thriftList, thriftSet:
		elem, n := r.list(typ)
		r.skipElements(elem, n)
	case thriftMap:
		r.skipMap()
	case thriftStruct:
		r.structure(typ, func(int16, byte) bool { return false })
	default:
		r.fail(corruptf("metadata holds the unknown type %d", typ))
	}
}

func (r *thriftReader) advance(n int) {
	if n > len(r.b)-r.pos {
		r.fail(errThriftShort)
		return
	}
	r.pos += n
}

// skipElements passes over n values of a collection, in which a boolean takes
// a byte.
func (r *thriftReader) skipElements(elem byte, n int) {
	if r.depth++; r.depth > maxThriftDepth {
		r.fail(corruptf("metadata is nested more than %d deep", maxThriftDepth))
		return
	}
	if elem == thriftTrue || elem == thriftFalse {
		elem = thriftByte
	}
	for i := 0; i < n && r.err == nil; i++ {
		r.skip(elem)
	}
	r.depth--
}

func (r *thriftReader) skipMap() {
	n := r.uvarint()
	if n == 0 || r.err != nil {
		return
	}
	types := r.byte()
	if n > uint64(len(r.b)-r.pos) {
		r.fail(errThriftShort)
		return
	}
	for i := uint64(0); i < n && r.err == nil; i++ {
		r.skipElements(types>>4, 1)
		r.skipElements(types&0x0f, 1)
	}
}

// thriftWriter appends the compact protocol to b. Structures nest: last is the
// id of the field written before in the innermost open structure.
type thriftWriter struct {
	b     []byte
	last  int16
	outer []int16
}

func (w *thriftWriter) begin() {
	w.outer = append(w.outer, w.last)
	w.last = 0
}

func (w *thriftWriter) end() {
	w.b = append(w.b, thriftStop)
	w.last = w.outer[len(w.outer)-1]
	w.outer = w.outer[:len(w.outer)-1]
}

func (w *thriftWriter) header(id int16, typ byte) {
	if delta := id - w.last; delta > 0 && delta <= 15 {
		w.b = append(w.b, byte(delta)<<4|typ)
	} else {
		w.b = append(w.b, typ)
		w.b = binary.AppendVarint(w.b, int64(id))
	}
	w.last = id
}

func (w *thriftWriter) i32(id int16, v int) {
	w.header(id, thriftI32)
	w.b = binary.AppendVarint(w.b, int64(v))
}

func (w *thriftWriter) i64(id int16, v int64) {
	w.header(id, thriftI64)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *thriftWriter) i8(id int16, v int8) {
	w.header(id, thriftByte)
	w.b = append(w.b, byte(v))
}

func (w *thriftWriter) bool(id int16, v bool) {
	if v {
		w.header(id, thriftTrue)
	} else {
		w.header(id, thriftFalse)
	}
}

func (w *thriftWriter) string(id int16, v string) {
	w.header(id, thriftBinary)
	w.element(v)
}

func (w *thriftWriter) bytes(id int16, v []byte) {
	w.header(id, thriftBinary)
	w.b = binary.AppendUvarint(w.b, uint64(len(v)))
	w.b = append(w.b, v...)
}

// element appends a string that is an element of a list.
func (w *thriftWriter) element(v string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(v)))
	w.b = append(w.b, v...)
}

func (w *thriftWriter) structure(id int16) {
	w.header(id, thriftStruct)
	w.begin()
}

// empty writes a structure without fields.
func (w *thriftWriter) empty(id int16) {
	w.structure(id)
	w.end()
}

func (w *thriftWriter) list(id int16, elem byte, n int) {
	w.header(id, thriftList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|elem)
		return
	}
	w.b = append(w.b, 0xf0|elem)
	w.b = binary.AppendUvarint(w.b, uint64(n))
}
