package shred

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/frazil/frazil/variant"
)

// assembler writes the Variant bytes of a tree's values.
type assembler struct {
	tree   *tree
	dicts  dictionaries
	sorter sorter
	picked bool // slots are visited in order, but not all of them

	out   []byte
	slots []fieldSlot
	dict  *dictionary // of the current row
	kept  int         // bytes of templates
}

// fieldSlot is a field of an object that is being written: its id, and where its
// bytes start, from the first field's.
type fieldSlot struct{ id, at uint32 }

func newAssembler(t *tree) *assembler {
	return &assembler{tree: t, dicts: dictionaries{names: t.names}}
}

// value appends the value of a pair at a slot; false: it is missing.
func (a *assembler) value(p *pair, slot int) (bool, error) {
	has := p.value != nil && p.value.has(slot)
	typed := false
	switch p.at.shape {
	case Opaque:
	case Leaf:
		typed = p.typed != nil && p.typed.has(slot)
	case Object:
		typed = p.level(slot) >= p.at.typedDef
	case List:
		typed = p.elem != nil && p.def[p.starts[slot]] >= p.at.typedDef
	}
	if !typed {
		if !has {
			return false, nil
		}
		b, err := a.residual(p, slot)
		a.out = append(a.out, b...)
		return true, err
	}
	if has && p.at.shape != Object {
		return false, corruptf(p.at, "value and typed_value are both set")
	}
	switch p.at.shape {
	case Leaf:
		return true, a.leaf(p, slot)
	case List:
		return true, a.list(p, slot)
	}
	if p.flat != nil && !p.flat.off {
		return true, a.flat(p.flat, slot)
	}
	return true, a.object(p, slot, has)
}

// residual returns the bytes of the value column, their fields in order.
func (a *assembler) residual(p *pair, slot int) ([]byte, error) {
	if a.picked {
		p.value.skipTo(slot)
	}
	b := p.value.batch.Bytes(p.value.take())
	if len(b) == 0 {
		return nil, corruptf(p.at, "an empty value")
	}
	b, err := a.sorter.sorted(a.dict, b)
	if err != nil {
		return nil, within(p.at, err)
	}
	return b, nil
}

// Headers of primitive values (VariantEncoding.md, "Encoding types").
const (
	headNull     = 0
	headTrue     = 1 << 2
	headFalse    = 2 << 2
	headInt32    = 5 << 2
	headInt64    = 6 << 2
	headDouble   = 7 << 2
	headDecimal4 = 8 << 2
	headDecimal8 = 9 << 2
	headString   = 16 << 2
	basicShort   = 1
	basicObject  = 2
	basicArray   = 3
)

// leaf appends the value of a typed leaf in its declared type.
func (a *assembler) leaf(p *pair, slot int) error {
	if a.picked {
		p.typed.skipTo(slot)
	}
	i := p.typed.take()
	b := p.typed.batch
	switch p.kind {
	case variant.KindBool:
		if b.Bools[i] {
			a.out = append(a.out, headTrue)
		} else {
			a.out = append(a.out, headFalse)
		}
	case variant.KindInt32:
		x := b.Int32s[i]
		a.out = append(a.out, headInt32, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	case variant.KindInt64:
		a.put8(headInt64, uint64(b.Int64s[i]))
	case variant.KindDouble:
		a.put8(headDouble, math.Float64bits(b.Doubles[i]))
	case variant.KindDecimal4:
		x := b.Int32s[i]
		if x >= 1e9 || x <= -1e9 {
			return corruptf(p.at, "a decimal of more digits than its type")
		}
		a.out = append(a.out, headDecimal4, p.scale, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	case variant.KindDecimal8:
		x := b.Int64s[i]
		if x >= 1e18 || x <= -1e18 {
			return corruptf(p.at, "a decimal of more digits than its type")
		}
		a.out = append(a.out, headDecimal8)
		a.put8(p.scale, uint64(x))
	case variant.KindString:
		text := b.Bytes(i)
		a.textHead(len(text))
		copy(a.extend(len(text)), text)
	default:
		s, err := p.at.scalar(p.typed, i)
		if err != nil {
			return err
		}
		a.out = variant.AppendScalar(a.out, &s)
	}
	return nil
}

// extend appends n bytes of any content and returns them. Where there is memory it
// stores no pointer, as append of a slice would.
func (a *assembler) extend(n int) []byte {
	at := len(a.out)
	if cap(a.out)-at < n {
		a.out = slices.Grow(a.out, n)
	}
	a.out = a.out[:at+n]
	return a.out[at:]
}

// textHead appends what precedes a string of n bytes.
func (a *assembler) textHead(n int) {
	if n < 64 {
		a.out = append(a.out, byte(n)<<2|basicShort)
	} else {
		a.out = binary.LittleEndian.AppendUint32(append(a.out, headString), uint32(n))
	}
}

// put8 appends a byte and a little-endian word. It appends to the field in place,
// which stores no pointer.
func (a *assembler) put8(head byte, x uint64) {
	a.out = append(a.out, head, byte(x), byte(x>>8), byte(x>>16), byte(x>>24),
		byte(x>>32), byte(x>>40), byte(x>>48), byte(x>>56))
}

// scalar returns value i of a typed leaf in its declared type.
func (l *layout) scalar(c *cursor, i int) (variant.Scalar, error) {
	b := c.batch
	s := variant.Scalar{Kind: l.typ.Kind, Scale: uint8(l.typ.Scale)}
	switch l.typ.Kind {
	case variant.KindBool:
		if b.Bools[i] {
			s.Int = 1
		}
	case variant.KindInt8, variant.KindInt16:
		s.Int = int64(b.Int32s[i])
		if limit := int64(math.MaxInt8); l.typ.Kind == variant.KindInt8 && (s.Int > limit || s.Int < -limit-1) ||
			s.Int > math.MaxInt16 || s.Int < math.MinInt16 {
			return s, corruptf(l, "an integer outside of its type")
		}
	case variant.KindTime:
		const day = 86_400_000_000
		if s.Int = b.Int64s[i]; s.Int < 0 || s.Int >= day {
			return s, corruptf(l, "a time outside of a day")
		}
	case variant.KindInt32, variant.KindDecimal4, variant.KindDate:
		s.Int = int64(b.Int32s[i])
	case variant.KindFloat:
		s.Float = float64(b.Floats[i])
	case variant.KindDouble:
		s.Float = b.Doubles[i]
	case variant.KindDecimal16:
		raw := b.Bytes(i)
		if len(raw) == 0 || len(raw) > 16 {
			return s, corruptf(l, "a decimal of %d bytes", len(raw))
		}
		d := decimalFromBytes(raw, s.Scale)
		if d.Precision() > variant.MaxPrecision {
			return s, corruptf(l, "a decimal of more than 38 digits")
		}
		s.Int, s.Hi = int64(d.Lo), d.Hi
		return s, nil
	case variant.KindString, variant.KindBinary, variant.KindUUID:
		s.Bytes = b.Bytes(i)
		return s, nil
	default:
		s.Int = b.Int64s[i]
	}
	s.Hi = s.Int >> 63
	return s, nil
}

// list appends an array. An element without a value is a Variant null.
func (a *assembler) list(p *pair, slot int) error {
	from, to := int(p.starts[slot]), int(p.starts[slot+1])
	if p.def[from] == p.at.typedDef {
		to = from
	}
	first := len(a.slots)
	start := len(a.out)
	a.extend(p.guess)
	body := len(a.out)
	for s := from; s < to; s++ {
		a.slots = append(a.slots, fieldSlot{at: uint32(len(a.out) - body)})
		ok, err := a.value(p.elem, s)
		if err != nil {
			return err
		}
		if !ok {
			a.out = append(a.out, headNull)
		}
	}
	p.guess = a.header(start, body, first, -1)
	a.slots = a.slots[:first]
	return nil
}

// object appends an object: the shredded fields, and those of the residual.
func (a *assembler) object(p *pair, slot int, residual bool) error {
	first := len(a.slots)
	start := len(a.out)
	a.extend(p.guess)
	body := len(a.out)
	largest := int32(0)
	for _, f := range p.fields {
		at := len(a.out)
		if f.plain {
			// Most fields: a typed leaf and nothing else.
			if c := f.typed; c.def != nil && c.def[slot] != c.max {
				continue
			}
			if err := a.leaf(f, slot); err != nil {
				return err
			}
		} else {
			ok, err := a.value(f, slot)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		id := a.dict.ids[f.name]
		if id < 0 {
			return corruptf(f.at, "the name is not in the metadata")
		}
		largest = max(largest, id)
		a.slots = append(a.slots, fieldSlot{uint32(id), uint32(at - body)})
	}
	if residual {
		var err error
		if largest, err = a.merge(p, slot, first, body, largest); err != nil {
			return err
		}
	}
	p.guess = a.header(start, body, first, largest)
	a.slots = a.slots[:first]
	return nil
}

// merge adds the fields of the residual object to those that were appended.
func (a *assembler) merge(p *pair, slot, first, body int, largest int32) (int32, error) {
	raw, err := a.residual(p, slot)
	if err != nil {
		return 0, err
	}
	if raw[0]&3 != basicObject {
		return 0, corruptf(p.at, "the residual beside shredded fields is not an object")
	}
	o, ok := openContainer(raw)
	if !ok {
		return 0, corruptf(p.at, "the residual is truncated")
	}
	m := a.dict.meta
	for i := range o.n {
		id, child := o.field(i)
		if child == nil || id >= uint32(m.Len()) {
			return 0, corruptf(p.at, "the residual is truncated, or names an id that the metadata does not have")
		}
		// Where a file has a field on both sides, the shredded side counts.
		if p.at.field(m.Name(int(id))) != nil {
			continue
		}
		a.slots = append(a.slots, fieldSlot{id, uint32(len(a.out) - body)})
		a.out = append(a.out, child...)
		largest = max(largest, int32(id))
	}
	slices.SortFunc(a.slots[first:], func(x, y fieldSlot) int {
		return cmp.Or(strings.Compare(m.Name(int(x.id)), m.Name(int(y.id))), cmp.Compare(x.at, y.at))
	})
	return largest, nil
}

// header writes the header of the container whose children are the slots from
// first on and whose bytes start at body. The space between start and body is
// what the last header of the place took; other sizes move the children. largest
// is the largest id of an object, -1 for an array.
func (a *assembler) header(start, body, first int, largest int32) int {
	fields := a.slots[first:]
	n := len(fields)
	size := len(a.out) - body
	ow, iw, nw := uintWidth(uint32(size)), 0, 1
	head := byte(basicArray) | byte(ow-1)<<2
	if n > math.MaxUint8 {
		nw = 4
	}
	if largest >= 0 {
		iw = uintWidth(uint32(largest))
		head = basicObject | byte(ow-1)<<2 | byte(iw-1)<<4
		if nw > 1 {
			head |= 1 << 6
		}
	} else if nw > 1 {
		head |= 1 << 4
	}
	need := 1 + nw + n*iw + (n+1)*ow
	if grow := need - (body - start); grow > 0 {
		a.extend(grow)
		copy(a.out[start+need:], a.out[body:body+size])
	} else if grow < 0 {
		copy(a.out[start+need:], a.out[body:])
		a.out = a.out[:len(a.out)+grow]
	}
	b := a.out[start : start+need]
	b[0] = head
	putUint(b[1:], uint32(n), nw)
	ids, offsets := b[1+nw:], b[1+nw+n*iw:]
	if iw == 1 && ow == 2 { // nearly all objects
		for i, f := range fields {
			ids[i] = byte(f.id)
			binary.LittleEndian.PutUint16(offsets[2*i:], uint16(f.at))
		}
	} else {
		for i, f := range fields {
			if iw > 0 {
				putUint(ids[i*iw:], f.id, iw)
			}
			putUint(offsets[i*ow:], f.at, ow)
		}
	}
	putUint(offsets[n*ow:], uint32(size), ow)
	return need
}

func uintWidth(x uint32) int {
	switch {
	case x < 1<<8:
		return 1
	case x < 1<<16:
		return 2
	case x < 1<<24:
		return 3
	}
	return 4
}

func putUint(b []byte, x uint32, width int) {
	switch width {
	case 1:
		b[0] = byte(x)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(x))
	default:
		for i := range width {
			b[i] = byte(x >> (8 * i))
		}
	}
}
