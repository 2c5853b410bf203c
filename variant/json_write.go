package variant

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"
)

// AppendJSON appends v as JSON text, without blank space, fields in stored order.
// Numbers are written as AppendScalarText has them, values that JSON lacks as
// strings, as AppendScalarJSON says. It allocates only to grow dst. Corrupt bytes
// are an error that Is ErrCorrupt, a missing value one that Is ErrUsage; dst then
// comes back as it was.
//
// Names are stored once and written often, so that a value made for it could have
// thousands of times its size as text. A text of more than 16 MiB and 64 times the
// bytes of v is an error that Is ErrTooLarge.
func AppendJSON(dst []byte, v Value) ([]byte, error) {
	if v.IsMissing() {
		return dst, fmt.Errorf("%w: a missing value has no JSON", ErrUsage)
	}
	out, err := appendJSON(dst, v, textLimit(v))
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Limits of AppendJSON.
const (
	minTextLimit = 16 << 20
	maxExpansion = 64
)

// textLimit returns the number of bytes that the texts of a value, or of its parts
// together, may have.
func textLimit(v Value) int {
	return max(minTextLimit, maxExpansion*(len(v.metadata)+len(v.value)))
}

// appendJSON is AppendJSON of up to limit bytes, and those that come at once, before
// the error that Is ErrTooLarge. What was written is returned with any error.
func appendJSON(dst []byte, v Value, limit int) ([]byte, error) {
	w := jsonWriters.Get().(*jsonWriter)
	w.begin(v)
	w.limit = len(dst) + limit
	out, err := w.value(dst, v.value, 0)
	w.root, w.dict, w.kept = nil, dict{}, nil
	jsonWriters.Put(w)
	return out, err
}

// jsonWriter walks encoded bytes. It keeps the names of recent dictionaries in the
// form that JSON writes them, because values that come one after another tend to
// share theirs.
type jsonWriter struct {
	root   []byte // the value, for offsets of errors
	dict   dict
	budget int          // as that of emitter
	limit  int          // of the text
	kept   *quotedNames // of dict; nil when it is not kept
	recent recent[quotedNames]
}

// quotedNames holds the names of a dictionary as ,"name": one after another.
type quotedNames struct {
	text []byte   // and quotedPad bytes
	ends []uint32 // name i is text[ends[i]:ends[i+1]]
}

// quotedPad is the number of bytes behind the start of a name that may be read.
const quotedPad = 32

// jsonWriters holds writers between calls. Rule of the pool: what a writer keeps is
// bounded by recent, and it keeps no reference to a caller's bytes.
var jsonWriters = sync.Pool{New: func() any { return new(jsonWriter) }}

func (w *jsonWriter) begin(v Value) {
	w.root, w.budget = v.value, len(v.value)
	if v.value[0]&3 < basicObject {
		return
	}
	w.dict, _ = viewDict(v.metadata)
	if w.kept = w.recent.find(v.metadata); w.kept == nil && len(v.metadata) <= maxRecentMeta {
		w.kept = w.recent.add(v.metadata)
		if !w.kept.fill(&w.dict) {
			w.recent.drop()
			w.kept = nil
		}
	}
}

// fill quotes the names of a dictionary; it is false when one is no name, or when
// they share so many bytes that they would not stay small.
func (q *quotedNames) fill(d *dict) bool {
	q.text, q.ends = q.text[:0], append(q.ends[:0], 0)
	for i := range d.n {
		name, ok := d.name(i)
		if !ok || len(q.text) > 8*maxRecentMeta {
			return false
		}
		var plain bool
		if q.text, plain = appendPlain(append(q.text, ','), name); !plain {
			if !utf8.Valid(name) {
				return false
			}
			q.text = appendQuoted(q.text, name)
		}
		q.text = append(q.text, ':')
		q.ends = append(q.ends, uint32(len(q.text)))
	}
	q.text = extend(q.text, quotedPad)
	return true
}

// put appends name id with the comma before it. Most names are short: they are
// copied as two words of 16 bytes, of which the part behind the name is cut off
// again, because a copy of a length that changes every time branches.
func (q *quotedNames) put(dst []byte, id int) []byte {
	lo, hi := int(q.ends[id]), int(q.ends[id+1])
	n := hi - lo
	if at := len(dst); n <= quotedPad && cap(dst)-at >= quotedPad {
		*(*[quotedPad]byte)(dst[at : at+quotedPad]) = *(*[quotedPad]byte)(q.text[lo : lo+quotedPad])
		return dst[:at+n]
	}
	return append(dst, q.text[lo:hi]...)
}

// corrupt makes the error for the value at b, a part of root that reaches its end
// or less.
func (w *jsonWriter) corrupt(b []byte, reason string) error {
	return corruptValue(cap(w.root)-cap(b), reason)
}

// writeClass tells by the first byte of a value how it is written. As in Parser.value
// one dense switch stands for a row of branches.
type writeClass uint8

const (
	writeOther writeClass = iota
	writeShort
	writeObject
	writeArray
	writeDecimal4
	writeDecimal8
	writeInt8
	writeInt16
	writeInt32
	writeInt64
	writeDouble
	writeNull
	writeTrue
	writeFalse
)

var writeClasses = func() (t [256]writeClass) {
	for i := range t {
		t[i] = [4]writeClass{writeOther, writeShort, writeObject, writeArray}[i&3]
	}
	t[primNull<<2], t[primTrue<<2], t[primFalse<<2] = writeNull, writeTrue, writeFalse
	t[primInt8<<2], t[primInt16<<2], t[primInt32<<2] = writeInt8, writeInt16, writeInt32
	t[primDecimal4<<2], t[primDecimal8<<2] = writeDecimal4, writeDecimal8
	t[primInt64<<2], t[primDouble<<2] = writeInt64, writeDouble
	return t
}()

// value appends the value at the start of b.
func (w *jsonWriter) value(dst, b []byte, depth int) ([]byte, error) {
	if w.budget--; w.budget < 0 || len(dst) > w.limit {
		return dst, w.exceeded()
	}
	if len(b) < 6 {
		return w.other(dst, b, depth)
	}
	switch writeClasses[b[0]] {
	case writeShort:
		n := int(b[0]>>2) + 1
		if len(b) < n {
			return dst, w.corrupt(b, "truncated string")
		}
		return w.text(dst, b[1:n])
	case writeObject:
		return w.object(dst, b, depth+1)
	case writeArray:
		return w.array(dst, b, depth+1)
	case writeDecimal4:
		x := int32(binary.LittleEndian.Uint32(b[2:]))
		if b[1] <= MaxPrecision && x < 1e9 && x > -1e9 {
			return appendSmallDecimal(dst, int64(x), b[1]), nil
		}
	case writeDecimal8:
		if len(b) < 10 {
			break
		}
		x := int64(binary.LittleEndian.Uint64(b[2:]))
		if b[1] <= MaxPrecision && x < 1e18 && x > -1e18 {
			return appendSmallDecimal(dst, x, b[1]), nil
		}
	case writeInt8:
		return appendInt(dst, int64(int8(b[1]))), nil
	case writeInt16:
		return appendInt(dst, int64(int16(binary.LittleEndian.Uint16(b[1:])))), nil
	case writeInt32:
		return appendInt(dst, int64(int32(binary.LittleEndian.Uint32(b[1:])))), nil
	case writeInt64:
		if len(b) >= 9 {
			return appendInt(dst, int64(binary.LittleEndian.Uint64(b[1:]))), nil
		}
	case writeDouble:
		if len(b) < 9 {
			break
		}
		if f := math.Float64frombits(binary.LittleEndian.Uint64(b[1:])); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return appendFloat(dst, f, 64), nil
		}
	case writeNull:
		return append(dst, "null"...), nil
	case writeTrue:
		return append(dst, "true"...), nil
	case writeFalse:
		return append(dst, "false"...), nil
	case writeOther:
	}
	return w.other(dst, b, depth)
}

// exceeded makes the error of a value that costs too much.
func (w *jsonWriter) exceeded() error {
	if w.budget < 0 {
		return corruptValue(0, "values overlap")
	}
	return fmt.Errorf("variant: %w as text", ErrTooLarge)
}

// other appends a value of any kind.
func (w *jsonWriter) other(dst, b []byte, depth int) ([]byte, error) {
	if len(b) == 0 {
		return dst, corruptValue(len(w.root), "truncated")
	}
	switch b[0] & 3 {
	case basicObject:
		return w.object(dst, b, depth+1)
	case basicArray:
		return w.array(dst, b, depth+1)
	}
	var s Scalar
	if readScalar(b, &s) == 0 {
		return dst, w.corrupt(b, "truncated or of unknown type")
	}
	if s.Kind == KindString {
		return w.text(dst, s.Bytes)
	}
	if err := s.check(); err != nil {
		return dst, w.corrupt(b, err.Error())
	}
	if s.Kind == KindBinary {
		if w.budget -= len(s.Bytes); w.budget < 0 {
			return dst, w.exceeded()
		}
	}
	return AppendScalarJSON(dst, &s), nil
}

// text appends a string.
func (w *jsonWriter) text(dst, b []byte) ([]byte, error) {
	if w.budget -= len(b); w.budget < 0 {
		return dst, w.exceeded()
	}
	dst, ok := appendPlain(dst, b)
	if ok {
		return dst, nil
	}
	if !utf8.Valid(b) {
		return dst, w.corrupt(b, errText.Error())
	}
	return appendEscaped(dst, b), nil
}

// badContainer makes the error for a container that does not fit or is too deep.
func (w *jsonWriter) badContainer(b []byte, depth int) error {
	if depth > MaxDepth {
		return w.corrupt(b, ErrDepth.Error())
	}
	return w.corrupt(b, "truncated container")
}

func (w *jsonWriter) array(dst, b []byte, depth int) ([]byte, error) {
	var c container
	if !c.read(b) || depth > MaxDepth {
		return dst, w.badContainer(b, depth)
	}
	dst = append(dst, '[')
	for i := range c.n {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.value(dst, c.child(i), depth); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func (w *jsonWriter) object(dst, b []byte, depth int) ([]byte, error) {
	var c container
	if !c.read(b) || depth > MaxDepth {
		return dst, w.badContainer(b, depth)
	}
	var err error
	if c.n == 0 {
		return append(dst, '{', '}'), nil
	}
	brace := len(dst)
	for i := range c.n {
		id := c.id(i)
		if uint(id) >= uint(w.dict.n) {
			return dst, w.corrupt(b[c.ids+i*c.idW:], "field id is not in the dictionary")
		}
		if w.kept != nil {
			dst = w.kept.put(dst, id)
		} else if dst, err = w.looseName(dst, id); err != nil {
			return dst, err
		}
		if dst, err = w.value(dst, c.child(i), depth); err != nil {
			return dst, err
		}
	}
	dst[brace] = '{'
	return append(dst, '}'), nil
}

// looseName is put for a dictionary that is not kept.
func (w *jsonWriter) looseName(dst []byte, id int) ([]byte, error) {
	name, ok := w.dict.name(id)
	out, plain := appendPlain(append(dst, ','), name)
	if !plain {
		if !utf8.Valid(name) {
			ok = false
		}
		out = appendEscaped(out, name)
	}
	if !ok {
		return dst, corruptMeta(1+(id+1)*w.dict.width, "name is out of range or not UTF-8")
	}
	return append(out, ':'), nil
}

// appendPlain appends text in quotes if it is ASCII without escapes; else it
// returns dst as it was and false. It writes whole words, and cuts off what was too
// much.
func appendPlain(dst, b []byte) ([]byte, bool) {
	at, n := len(dst), len(b)
	if cap(dst)-at < n+24 {
		dst = slices.Grow(dst, n+24)
	}
	out := dst[at : at+n+24]
	out[0] = '"'
	if n <= 16 && cap(b) >= 16 {
		b = b[:16]
		x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		m := &textMasks[n]
		if special(x&m[0]|swarSpace&^m[0])|special(y&m[1]|swarSpace&^m[1]) != 0 {
			return dst[:at], false
		}
		binary.LittleEndian.PutUint64(out[1:], x)
		binary.LittleEndian.PutUint64(out[9:], y)
		out[n+1] = '"'
		return dst[:at+n+2], true
	}
	return appendPlainLong(dst[:at], out, b)
}

// textMasks has, by length, ones for the bytes of a text in two words.
var textMasks = func() (m [17][2]uint64) {
	for n := range m {
		for i := range n {
			m[n][i/8] |= 0xff << (8 * (i % 8))
		}
	}
	return m
}()

// appendPlainLong is appendPlain for the text behind the quote in out, which is the
// room behind dst.
func appendPlainLong(dst, out, b []byte) ([]byte, bool) {
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if special(x) != 0 {
			return dst, false
		}
		binary.LittleEndian.PutUint64(out[i+1:], x)
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return dst, false
		}
		out[i+1] = c
	}
	out[i+1] = '"'
	return dst[:len(dst)+i+2], true
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends text in quotes with the escapes that RFC 8259 asks for; what
// is not UTF-8 becomes U+FFFD.
func appendQuoted(dst, b []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(b); {
		c := b[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, b[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = appendEscape(append(dst, b[from:i]...), c)
		i++
		from = i
	}
	return append(append(dst, b[from:]...), '"')
}

// appendEscaped is appendQuoted for text that is UTF-8. It passes over eight bytes at a
// time.
func appendEscaped(dst, b []byte) []byte {
	dst = append(slices.Grow(dst, len(b)+len(b)/8+2), '"')
	from, i := 0, 0
	for len(b)-i >= 8 {
		m := mustEscape(binary.LittleEndian.Uint64(b[i:]))
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		dst = appendEscape(append(dst, b[from:i]...), b[i])
		i++
		from = i
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' {
			dst = appendEscape(append(dst, b[from:i]...), c)
			from = i + 1
		}
	}
	return append(append(dst, b[from:]...), '"')
}

// mustEscape sets the high bit of the first byte of x that JSON writes as an escape; bits
// of later bytes mean nothing.
func mustEscape(x uint64) uint64 {
	quote, escape := x^swarQuote, x^swarEscape
	return ((quote-swarOnes)&^quote | (escape-swarOnes)&^escape | (x-swarSpace)&^x) & swarHigh
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
