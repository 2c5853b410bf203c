package variant

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
)

// dict is a view of metadata bytes that checks each access and nothing else:
// what reads of single values use. The zero dict has no names.
type dict struct {
	b      []byte
	n      int // names
	width  int // of an offset, 1..4
	names  int // where the bytes of the names start
	sorted bool
}

// viewDict reads the header of metadata (VariantEncoding.md, "Metadata
// encoding"). It fails when the offsets do not fit into b.
func viewDict(b []byte) (dict, bool) {
	if len(b) == 0 || b[0]&0x0f != 1 {
		return dict{}, false
	}
	w := int(b[0]>>6) + 1
	if len(b) < 1+2*w {
		return dict{}, false
	}
	n := readUint(b[1:], w)
	names := 1 + (uint64(n)+2)*uint64(w)
	if names > uint64(len(b)) {
		return dict{}, false
	}
	return dict{b: b, n: int(n), width: w, names: int(names), sorted: b[0]&0x10 != 0}, true
}

// name returns name i.
func (d *dict) name(i int) ([]byte, bool) {
	if uint(i) >= uint(d.n) {
		return nil, false
	}
	at := 1 + (i+1)*d.width
	lo := uint64(d.names) + uint64(readUint(d.b[at:], d.width))
	hi := uint64(d.names) + uint64(readUint(d.b[at+d.width:], d.width))
	if lo > hi || hi > uint64(len(d.b)) {
		return nil, false
	}
	return d.b[lo:hi:hi], true
}

// bisect returns the id of a name in a sorted dictionary.
func (d *dict) bisect(name string) (id int, ok bool) {
	lo, hi := 0, d.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		s, ok := d.name(mid)
		switch {
		case !ok:
			return 0, false
		case string(s) == name:
			return mid, true
		case string(s) < name:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// readUint reads a little-endian unsigned integer of w bytes, 1..4.
func readUint(b []byte, w int) uint32 {
	switch w {
	case 1:
		return uint32(b[0])
	case 2:
		return uint32(b[0]) | uint32(b[1])<<8
	case 3:
		return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	default:
		return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	}
}

// putUint writes v in w bytes at the start of b.
func putUint(b []byte, v uint32, w int) {
	for i := range w {
		b[i] = byte(v >> (8 * i))
	}
}

// appendUint appends v in w bytes.
func appendUint(dst []byte, v uint32, w int) []byte {
	for i := range w {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// uintWidth returns the bytes that v needs, 1..4.
func uintWidth(v uint32) int {
	switch {
	case v < 1<<8:
		return 1
	case v < 1<<16:
		return 2
	case v < 1<<24:
		return 3
	}
	return 4
}

// Metadata is a checked dictionary of names. It is immutable, and safe for
// concurrent use.
type Metadata struct {
	raw    []byte
	text   string // the same bytes, so that names are substrings of it
	view   dict
	byName atomic.Pointer[[]int32] // ids in order of name, once an unsorted dictionary was searched
	rank   atomic.Pointer[[]int32] // of each name, once a value over an unsorted one was checked
}

// ParseMetadata checks metadata bytes in full and copies them. An error Is
// ErrCorrupt. A dictionary that claims to be sorted and is not is an error.
func ParseMetadata(b []byte) (*Metadata, error) {
	m := &Metadata{raw: bytes.Clone(b), text: string(b)}
	var err error
	if m.view, err = checkMetadata(m.raw); err != nil {
		return nil, err
	}
	return m, nil
}

// Len returns the number of names.
func (m *Metadata) Len() int { return m.view.n }

// Bytes returns the encoded dictionary; it must not be changed.
func (m *Metadata) Bytes() []byte { return m.raw }

// Name returns name i, 0 <= i < Len.
func (m *Metadata) Name(i int) string {
	d := &m.view
	at := 1 + (i+1)*d.width
	lo := readUint(d.b[at:], d.width)
	hi := readUint(d.b[at+d.width:], d.width)
	return m.text[d.names+int(lo) : d.names+int(hi)]
}

// ID returns the id of a name: the lowest, should an unsorted dictionary hold
// it twice.
func (m *Metadata) ID(name string) (int, bool) {
	if !m.view.sorted {
		return m.search(name)
	}
	return m.view.bisect(name)
}

// search finds a name through the order of an unsorted dictionary.
func (m *Metadata) search(name string) (int, bool) {
	order := m.order()
	i, ok := slices.BinarySearchFunc(order, name, func(id int32, name string) int {
		return strings.Compare(m.Name(int(id)), name)
	})
	if !ok {
		return 0, false
	}
	return int(order[i]), true
}

// order returns the ids of an unsorted dictionary in order of name, then id.
func (m *Metadata) order() []int32 {
	if p := m.byName.Load(); p != nil {
		return *p
	}
	ids := sortedIDs(&m.view, bytes.Compare)
	m.byName.Store(&ids)
	return ids
}

// ranks returns the place of each name in the order of names; nil where it is the id.
func (m *Metadata) ranks() []int32 {
	if m.view.sorted {
		return nil
	}
	if p := m.rank.Load(); p != nil {
		return *p
	}
	r := ranks(&m.view, bytes.Compare)
	m.rank.Store(&r)
	return r
}

// sortedIDs returns the ids of a good dictionary in an order of names, then of id.
func sortedIDs(d *dict, compare func(a, b []byte) int) []int32 {
	ids := make([]int32, d.n)
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortFunc(ids, func(a, b int32) int {
		x, _ := d.name(int(a))
		y, _ := d.name(int(b))
		return cmp.Or(compare(x, y), cmp.Compare(a, b))
	})
	return ids
}

// emptyMetadata is the dictionary without names.
var emptyMetadata = []byte{0x11, 0, 0}

// AppendMetadata appends the dictionary of names, which must be unique and in
// the order of their bytes; otherwise the sorted flag would lie.
func AppendMetadata(dst []byte, sortedNames []string) []byte {
	size := 0
	for _, s := range sortedNames {
		size += len(s)
	}
	w := uintWidth(uint32(max(size, len(sortedNames))))
	dst = append(dst, 0x11|byte(w-1)<<6)
	dst = appendUint(dst, uint32(len(sortedNames)), w)
	at := uint32(0)
	dst = appendUint(dst, at, w)
	for _, s := range sortedNames {
		at += uint32(len(s))
		dst = appendUint(dst, at, w)
	}
	for _, s := range sortedNames {
		dst = append(dst, s...)
	}
	return dst
}
