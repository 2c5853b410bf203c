// Package ipccheck guards a reader of Arrow IPC messages against lengths that no
// bytes back: the Arrow library takes memory for as many fields, buffers and
// bytes as the head of a message claims to have.
//
// A message head is a flatbuffer (Arrow's Message.fbs and Schema.fbs); [Head]
// walks the vectors that the library allocates for. [NewReader] does so for each
// message of a stream (Arrow columnar format, "IPC Streaming Format"):
//
//	+----------+------+------------+------+
//	| FFFFFFFF | size | head, size | body |
//	+----------+------+------------+------+
//	     4        4
package ipccheck

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// MaxMessage is the size in bytes of the largest head and of the largest body
// that are let through.
const MaxMessage = 256 << 20

// ErrHead is returned when a message head contradicts itself.
var ErrHead = errors.New("ipccheck: a message head that contradicts itself")

// reader passes a stream on, message by message.
type reader struct {
	r    io.Reader
	head bytes.Reader // of the message at hand, with its frame
	buf  bytes.Buffer
	body int64 // bytes of it that are still to come
	err  error
}

// NewReader returns a reader of the same stream. It ends with an error before
// the first message that is broken or larger than [MaxMessage].
func NewReader(r io.Reader) io.Reader { return &reader{r: r} }

// smallBody is the size of a body that the library may take memory for without
// more ado.
const smallBody = 1 << 20

func (f *reader) Read(b []byte) (int, error) {
	for {
		switch {
		case f.head.Len() > 0:
			return f.head.Read(b)
		case f.body > 0:
			n, err := f.r.Read(b[:min(int64(len(b)), f.body)])
			f.body -= int64(n)
			return n, err
		case f.err != nil:
			return 0, f.err
		}
		f.err = f.next()
		f.head.Reset(f.buf.Bytes())
	}
}

// next reads the next message up to its body, or with it when it is large, into
// buf. After an error nothing of the message is passed on: the library would
// take memory for it first.
func (f *reader) next() error {
	f.buf.Reset()
	err := f.message()
	if err != nil && !errors.Is(err, io.EOF) {
		f.buf.Reset()
	}
	return err
}

func (f *reader) message() error {
	if err := f.take(4); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(f.buf.Bytes())
	if size == 0xFFFFFFFF {
		if err := f.take(4); err != nil {
			return noEOF(err)
		}
		size = binary.LittleEndian.Uint32(f.buf.Bytes()[4:])
	}
	if size == 0 {
		return io.EOF // the mark of the end is passed on
	}
	if size > MaxMessage {
		return fmt.Errorf("message head of %d bytes, at most %d are taken", size, MaxMessage)
	}
	start := f.buf.Len()
	if err := f.take(int64(size)); err != nil {
		return noEOF(err)
	}
	body, err := Head(f.buf.Bytes()[start:])
	if err != nil {
		return err
	}
	if body <= smallBody {
		f.body = body
		return nil
	}
	return noEOF(f.take(body))
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// take reads n bytes into buf, which grows with what is there and not with n.
func (f *reader) take(n int64) error {
	got, err := io.CopyN(&f.buf, f.r, n)
	if errors.Is(err, io.EOF) && got > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Slots of the tables of Arrow's Message.fbs and Schema.fbs, in vtables.
const (
	messageType   = 6
	messageHeader = 8
	messageBody   = 10
	messageMeta   = 12

	headerSchema     = 1 // values of messageType
	headerDictionary = 2
	headerBatch      = 3

	schemaFields = 6
	schemaMeta   = 8
	fieldName    = 4
	fieldKids    = 14
	fieldMeta    = 16
	batchNodes   = 6
	batchBuffers = 8
	batchCounts  = 12
	dictBatch    = 6

	maxFieldDepth = 64
)

// Head checks the vectors of a message head and returns the length of the body
// that it announces.
func Head(b []byte) (body int64, err error) {
	defer func() {
		if recover() != nil { // an offset outside of the head
			err = ErrHead
		}
	}()
	h := &head{b: b}
	m := h.at(0)
	if p := h.slot(m, messageBody); p > 0 {
		body = int64(binary.LittleEndian.Uint64(b[p:]))
	}
	if body < 0 || body > MaxMessage {
		return 0, fmt.Errorf("message body of %d bytes, at most %d are taken", body, MaxMessage)
	}
	kind, p := 0, h.slot(m, messageType)
	if p > 0 {
		kind = int(b[p])
	}
	p = h.slot(m, messageHeader)
	if p == 0 {
		return 0, ErrHead
	}
	h.vector(m, messageMeta, 4)
	t := h.at(p)
	switch kind {
	case headerSchema:
		h.vector(t, schemaMeta, 4)
		h.fields(t, schemaFields, 0)
	case headerDictionary:
		if p := h.slot(t, dictBatch); p > 0 {
			h.batch(h.at(p))
		}
	case headerBatch:
		h.batch(t)
	}
	if h.bad {
		return 0, ErrHead
	}
	return body, nil
}

// head walks the flatbuffer of a message head. Its methods panic on an offset
// outside of it.
type head struct {
	b    []byte
	seen int // fields
	bad  bool
}

func (h *head) uint32(p int) int { return int(binary.LittleEndian.Uint32(h.b[p:])) }

// at follows the offset at p.
func (h *head) at(p int) int { return p + h.uint32(p) }

// slot is the place of a field of the table at t; 0 when it is not there.
func (h *head) slot(t, slot int) int {
	vt := t - int(int32(h.uint32(t)))
	if slot >= int(binary.LittleEndian.Uint16(h.b[vt:])) { // as the library: an odd size counts
		return 0
	}
	if off := int(binary.LittleEndian.Uint16(h.b[vt+slot:])); off > 0 {
		return t + off
	}
	return 0
}

// vector is the place and length of a vector, whose elements of width bytes must
// lie within the head.
func (h *head) vector(t, slot, width int) (first, n int) {
	p := h.slot(t, slot)
	if p == 0 {
		return 0, 0
	}
	p = h.at(p)
	n = h.uint32(p)
	if n > (len(h.b)-p-4)/width {
		h.bad = true
		return 0, 0
	}
	return p + 4, n
}

func (h *head) batch(t int) {
	h.vector(t, batchNodes, 16)
	h.vector(t, batchBuffers, 16)
	h.vector(t, batchCounts, 8)
}

// fields checks the fields of a schema or of a field. No field takes fewer than
// 8 bytes, so more of them than that means that tables are used twice.
func (h *head) fields(t, slot, depth int) {
	first, n := h.vector(t, slot, 4)
	if h.seen += n; depth > maxFieldDepth || h.seen > len(h.b)/8 {
		h.bad = true
	}
	for i := 0; i < n && !h.bad; i++ {
		f := h.at(first + 4*i)
		h.vector(f, fieldName, 1)
		h.vector(f, fieldMeta, 4)
		h.fields(f, fieldKids, depth+1)
	}
}
