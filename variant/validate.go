package variant

import (
	"bytes"
	"encoding/binary"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Validate checks v in full against VariantEncoding.md, in time and memory of a
// small multiple of its size. An error Is ErrCorrupt and tells part, offset and
// rule.
//
// The metadata must have version 1, offsets that start at 0, never fall and end at
// the end of the bytes, names in UTF-8, and, if it says so, unique names in the order
// of bytes or, as older writers had it, of UTF-16 units.
//
// The value must fill its bytes to the last. Types must be known, strings UTF-8,
// decimals within the digits of their width and a scale of 38, times within a day.
// Field ids must be in the dictionary and their names ascend, in either order, so
// none comes twice. Children must
// lie inside their container and not need more bytes in sum than it has; the order
// in which they are stored is free, and so are bytes between them, which some
// writers leave. Containers nest at most MaxDepth deep. Reserved bits are ignored.
func Validate(v Value) error {
	c := validators.Get().(*validator)
	err := c.check(v)
	c.b, c.dict, c.large = nil, nil, checkedDict{}
	validators.Put(c)
	return err
}

// Value is New under a dictionary that was checked before: only the bytes of the value
// are checked, which are viewed. An error Is ErrCorrupt.
func (m *Metadata) Value(value []byte) (Value, error) {
	c := validators.Get().(*validator)
	c.large = checkedDict{view: m.view, rank: m.ranks()}
	c.dict = &c.large
	v := Value{m.raw, value}
	err := c.root(v)
	c.b, c.dict, c.large = nil, nil, checkedDict{}
	validators.Put(c)
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// Validate is the function of that name.
func (v Value) Validate() error { return Validate(v) }

// ValidateMetadata checks a dictionary in full, as Validate does.
func ValidateMetadata(b []byte) error {
	_, err := checkMetadata(b)
	return err
}

// validators holds validators between calls. Rule of the pool: what a validator
// keeps is bounded by recent, and it keeps no reference to a caller's bytes.
var validators = sync.Pool{New: func() any { return new(validator) }}

// validator checks values; it remembers the dictionaries that it found good.
type validator struct {
	b      []byte // the root
	dict   *checkedDict
	large  checkedDict // a dictionary that is not kept
	recent recent[checkedDict]
}

// checkedDict is what a check of names needs of a good dictionary. Its view is of
// a copy of the bytes or of the caller's.
type checkedDict struct {
	view dict
	rank []int32 // of name i among the names; nil when it is i
	// older is rank in the order of UTF-16 units; nil until an object asks.
	older []int32
}

func (c *validator) check(v Value) error {
	if err := c.metadata(v.metadata); err != nil {
		return err
	}
	return c.root(v)
}

// root checks the value under c.dict.
func (c *validator) root(v Value) error {
	c.dict.view.b = v.metadata
	c.b = v.value
	size, err := c.value(0, len(v.value), 0)
	if err == nil && size != len(v.value) {
		err = corruptValue(size, "bytes after the value")
	}
	c.dict.view.b = nil
	return err
}

func (c *validator) metadata(meta []byte) error {
	if c.dict = c.recent.find(meta); c.dict != nil {
		return nil
	}
	d, err := checkMetadata(meta)
	if err != nil {
		return err
	}
	if c.dict = &c.large; len(meta) <= maxRecentMeta {
		c.dict = c.recent.add(meta)
	}
	*c.dict = checkedDict{view: d}
	if !d.sorted {
		c.dict.rank = ranks(&d, bytes.Compare)
	}
	return nil
}

// checkMetadata checks a dictionary and returns a view of it. sorted is then true
// when names ascend, whatever the flag says.
func checkMetadata(b []byte) (dict, error) {
	if len(b) == 0 {
		return dict{}, corruptMeta(0, "empty")
	}
	if b[0]&0x0f != 1 {
		return dict{}, corruptMeta(0, "unknown version")
	}
	d, ok := viewDict(b)
	if !ok {
		return dict{}, corruptMeta(len(b), "truncated offsets")
	}
	w := d.width
	at, size := uint32(0), uint64(len(b)-d.names)
	for i := 0; i <= d.n; i++ {
		next := readUint(b[1+(i+1)*w:], w)
		if i == 0 && next != 0 {
			return dict{}, corruptMeta(1+w, "first offset is not 0")
		}
		if next < at || uint64(next) > size {
			return dict{}, corruptMeta(1+(i+1)*w, "offset out of order or range")
		}
		at = next
	}
	if uint64(at) != size {
		return dict{}, corruptMeta(d.names+int(at), "bytes after the last name")
	}
	return d, checkNames(&d)
}

// checkNames checks text and order of the names.
func checkNames(d *dict) error {
	ascii := isASCII(d.b[d.names:])
	claims := d.sorted && (ascii || !olderSorted(d))
	d.sorted = true
	var last []byte
	for i := range d.n {
		name, _ := d.name(i)
		if !ascii && !utf8.Valid(name) {
			return corruptMeta(cap(d.b)-cap(name), "name is not UTF-8")
		}
		if i > 0 && d.sorted && bytes.Compare(last, name) >= 0 {
			d.sorted = false
			if claims {
				return corruptMeta(cap(d.b)-cap(name), "names are not sorted, but the header says so")
			}
		}
		last = name
	}
	return nil
}

// olderSorted reports whether names ascend in the order of UTF-16 units.
func olderSorted(d *dict) bool {
	var last []byte
	for i := range d.n {
		name, _ := d.name(i)
		if i > 0 && compareUTF16(last, name) >= 0 {
			return false
		}
		last = name
	}
	return true
}

// isASCII looks at eight bytes at a time.
func isASCII(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b)&swarHigh != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// ranks returns the place of each name in an order of names; equal names have equal
// ranks.
func ranks(d *dict, compare func(a, b []byte) int) []int32 {
	order := sortedIDs(d, compare)
	rank := make([]int32, len(order))
	r := int32(-1)
	var last []byte
	for i, id := range order {
		name, _ := d.name(int(id))
		if i == 0 || !bytes.Equal(name, last) {
			r++
		}
		rank[id], last = r, name
	}
	return rank
}

// value checks the value at b[at:end] and returns its size.
func (c *validator) value(at, end, depth int) (int, error) {
	if at >= end {
		return 0, corruptValue(at, "no value where one should be")
	}
	h := c.b[at]
	n := 0
	switch h & 3 {
	case basicShort:
		n = int(h>>2) + 1
		if n <= end-at && !validUTF8(c.b[at+1:at+n]) {
			return 0, corruptValue(at, "string is not UTF-8")
		}
	case basicPrimitive:
		if n = int(fixedSizes[h>>2]); n == 0 {
			return c.long(at, end)
		}
		if uint(h>>2-primDecimal4) <= primDecimal16-primDecimal4 || h>>2 == primTime {
			return n, c.narrow(at, end, n)
		}
	default:
		return c.container(at, end, depth+1)
	}
	if n > end-at {
		return 0, corruptValue(at, "truncated value")
	}
	return n, nil
}

// validUTF8 is utf8.Valid, faster for the short ASCII strings that are common.
func validUTF8(b []byte) bool {
	var all byte
	if len(b) <= 16 {
		for _, c := range b {
			all |= c
		}
		if all < utf8.RuneSelf {
			return true
		}
	}
	return utf8.Valid(b)
}

// narrow checks a primitive whose type has values that the bytes exceed.
func (c *validator) narrow(at, end, n int) error {
	if n > end-at {
		return corruptValue(at, "truncated value")
	}
	b := c.b[at : at+n]
	if b[0] == primDecimal4<<2 && b[1] <= MaxPrecision {
		if x := int32(binary.LittleEndian.Uint32(b[2:])); x < 1e9 && x > -1e9 {
			return nil
		}
	}
	var s Scalar
	readScalar(b, &s)
	if err := s.check(); err != nil {
		return corruptValue(at, err.Error())
	}
	return nil
}

// long checks a long string or a binary.
func (c *validator) long(at, end int) (int, error) {
	var s Scalar
	n := readLong(c.b[at:end], &s)
	if n == 0 {
		if id := c.b[at] >> 2; id >= primCount {
			return 0, corruptValue(at, "unknown type")
		}
		return 0, corruptValue(at, "truncated string or binary")
	}
	if s.Kind == KindString && !utf8.Valid(s.Bytes) {
		return 0, corruptValue(at, "string is not UTF-8")
	}
	return n, nil
}

func (c *validator) container(at, end, depth int) (int, error) {
	k, ok := readContainer(c.b[at:end])
	if !ok {
		return 0, corruptValue(at, "truncated array or object")
	}
	if depth > MaxDepth {
		return 0, corruptValue(at, ErrDepth.Error())
	}
	if k.idW > 0 {
		if err := c.fieldIDs(&k, at); err != nil {
			return 0, err
		}
	}
	size, sum := len(k.b)-k.data, 0
	for i := range k.n {
		offset := int(readUint(k.b[k.offs+i*k.offW:], k.offW))
		if offset >= size {
			return 0, corruptValue(at+k.offs+i*k.offW, "offset past the end")
		}
		n, err := c.value(at+k.data+offset, at+len(k.b), depth)
		if err != nil {
			return 0, err
		}
		if sum += n; sum > size {
			return 0, corruptValue(at+k.offs+i*k.offW, "values overlap")
		}
	}
	return len(k.b), nil
}

// fieldIDs checks that ids are in the dictionary and their names ascend.
func (c *validator) fieldIDs(k *container, at int) error {
	rank, last, names := c.dict.rank, int32(-1), c.dict.view.n
	for i := range k.n {
		id := k.id(i)
		if id >= names {
			return corruptValue(at+k.ids+i*k.idW, "field id is not in the dictionary")
		}
		r := int32(id)
		if rank != nil {
			r = rank[id]
		}
		if r <= last {
			return c.olderOrder(k, at)
		}
		last = r
	}
	return nil
}

// olderOrder checks the names of an object against the order of UTF-16 units.
func (c *validator) olderOrder(k *container, at int) error {
	if c.dict.older == nil {
		c.dict.older = ranks(&c.dict.view, compareUTF16)
	}
	last := int32(-1)
	for i := range k.n {
		id := k.id(i)
		if id >= c.dict.view.n {
			return corruptValue(at+k.ids+i*k.idW, "field id is not in the dictionary")
		}
		r := c.dict.older[id]
		if r <= last {
			return corruptValue(at+k.ids+i*k.idW, "names of fields do not ascend, or repeat")
		}
		last = r
	}
	return nil
}

// compareUTF16 orders UTF-8 texts by their UTF-16 units, in which characters from
// U+10000 up come before U+E000, by the surrogates they start with.
func compareUTF16(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		x, n := utf8.DecodeRune(a)
		y, m := utf8.DecodeRune(b)
		if x != y {
			if hx, _ := utf16.EncodeRune(x); hx != utf8.RuneError {
				x = hx
			}
			if hy, _ := utf16.EncodeRune(y); hy != utf8.RuneError {
				y = hy
			}
			if x != y {
				return int(x - y)
			}
			return bytes.Compare(a, b)
		}
		a, b = a[n:], b[m:]
	}
	return len(a) - len(b)
}
