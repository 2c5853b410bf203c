package shred

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// flat writes objects all of whose fields are only typed leaves of a fixed size,
// but for one string at most: a sensitivity per tenor, a point of a surface. Which
// fields there are, the row's dictionary and the length of the string determine
// every byte but those of the values, so that an object is a copy of a template
// with the values stored at known places.
//
// Fields that come and go together are one group of a batch. Invariant: bit g of
// a mask is set where group g is there; templates of older groups are of another
// generation.
type flat struct {
	at         *pair
	id         int // index into dictionary.templates
	columns    []flatColumn
	groups     []flatGroup
	generation int
	text       int  // the column of the string, -1 without one
	off        bool // this batch has too many groups
	spare      template
}

// flatColumn is a field. Its number is x where x+bias <= span, as decimals have
// fewer digits than their memory could hold.
type flatColumn struct {
	*cursor
	name       int // index into tree.names
	group      int
	head       [2]byte // of the value
	prefix     int     // bytes of head
	size       int     // of the number behind it
	ints       []int32
	bias, span uint32
}

// flatGroup are the fields with the same levels.
type flatGroup struct {
	def  []uint8 // nil: always there
	max  uint8
	used int // values taken of each
}

// template is an object without its values.
type template struct {
	generation int
	mask       uint64
	text       int // length of the string
	bytes      []byte
	cells      []cell // of INT32 columns
	others     []cell
	next       *template // of the same dictionary and place
}

// cell is the place of a field's number, or of its text.
type cell struct{ column, at int }

const (
	maxGroups    = 64 // of one object, bits of a mask
	maxTemplates = 8  // of one dictionary at one place
	maxTextKept  = 63 // bytes of the string of a template that is kept

	maxTemplateBytes = 16 << 20
)

// newFlat returns nil for objects of another kind.
func newFlat(p *pair, id int) *flat {
	f := &flat{at: p, id: id, text: -1}
	if p.value != nil {
		return nil
	}
	for i, c := range p.fields {
		if !c.plain {
			return nil
		}
		col := flatColumn{cursor: c.typed, name: c.name, prefix: 1, span: math.MaxUint32}
		switch c.kind {
		case variant.KindInt32:
			col.head, col.size = [2]byte{headInt32}, 4
		case variant.KindInt64:
			col.head, col.size = [2]byte{headInt64}, 8
		case variant.KindDouble:
			col.head, col.size = [2]byte{headDouble}, 8
		case variant.KindDecimal4:
			col.head, col.prefix, col.size = [2]byte{headDecimal4, c.scale}, 2, 4
			col.bias, col.span = 1e9-1, 2e9-2
		case variant.KindString:
			if f.text >= 0 {
				return nil
			}
			f.text = i
		default:
			return nil
		}
		f.columns = append(f.columns, col)
	}
	return f
}

// load groups the columns of a batch.
func (f *flat) load() {
	f.groups, f.off = f.groups[:0], false
	changed := false
	for i := range f.columns {
		c := &f.columns[i]
		g := slices.IndexFunc(f.groups, func(g flatGroup) bool {
			return g.max == c.max && (g.def == nil) == (c.def == nil) && bytes.Equal(g.def, c.def)
		})
		if g < 0 && len(f.groups) == maxGroups {
			f.off = true
			f.generation++
			return
		}
		if g < 0 {
			g = len(f.groups)
			f.groups = append(f.groups, flatGroup{def: c.def, max: c.max})
		}
		changed = changed || g != c.group
		c.group = g
		if c.batch.Node.Type == leaf.Int32 {
			c.ints = c.batch.Int32s
		}
	}
	if changed {
		f.generation++
	}
}

// settle tells the columns how many of their values were taken.
func (f *flat) settle() {
	if f.off {
		return
	}
	for i := range f.columns {
		c := &f.columns[i]
		c.used = f.groups[c.group].used
	}
}

// flat appends the object of a slot.
func (a *assembler) flat(f *flat, slot int) error {
	mask := uint64(0)
	for i := range f.groups {
		if g := &f.groups[i]; g.def == nil || g.def[slot] == g.max {
			mask |= 1 << i
		}
	}
	text := 0
	if f.text >= 0 {
		if c := &f.columns[f.text]; mask>>c.group&1 != 0 {
			text = c.batch.Len(f.groups[c.group].used)
		}
	}
	t, err := a.template(f, mask, text)
	if err != nil {
		return err
	}
	out := a.extend(len(t.bytes))
	copy(out, t.bytes)
	for _, c := range t.cells {
		col := &f.columns[c.column]
		x := uint32(col.ints[f.groups[col.group].used])
		if x+col.bias > col.span {
			return corruptf(f.at.fields[c.column].at, "a decimal of more digits than its type")
		}
		binary.LittleEndian.PutUint32(out[c.at:], x)
	}
	for _, c := range t.others {
		f.put(out[c.at:], &f.columns[c.column])
	}
	for i := range f.groups {
		f.groups[i].used += int(mask >> i & 1)
	}
	return nil
}

// put stores a value that is no INT32.
func (f *flat) put(dst []byte, c *flatColumn) {
	i := f.groups[c.group].used
	switch c.batch.Node.Type {
	case leaf.Int64:
		binary.LittleEndian.PutUint64(dst, uint64(c.batch.Int64s[i]))
	case leaf.Double:
		binary.LittleEndian.PutUint64(dst, math.Float64bits(c.batch.Doubles[i]))
	default:
		copy(dst, c.batch.Bytes(i))
	}
}

// template finds the template of an object in the current dictionary.
func (a *assembler) template(f *flat, mask uint64, text int) (*template, error) {
	if text > maxTextKept {
		return &f.spare, a.learn(&f.spare, f, mask, text)
	}
	n := 0
	var last *template
	for t := a.dict.template(f.id); t != nil; t = t.next {
		if t.mask == mask && t.text == text && t.generation == f.generation {
			return t, nil
		}
		last = t
		n++
	}
	t := last
	if n < maxTemplates {
		t = a.newTemplate(f)
	}
	return t, a.learn(t, f, mask, text)
}

// template returns the first template of a place.
func (d *dictionary) template(id int) *template {
	if id < len(d.templates) {
		return d.templates[id]
	}
	return nil
}

// newTemplate adds a template to the current dictionary. What templates take is
// bounded: beyond it all of them, and the dictionaries, are learnt again.
func (a *assembler) newTemplate(f *flat) *template {
	const each, column = 200, 40
	if a.kept += each + column*len(f.columns); a.kept > maxTemplateBytes {
		a.dicts.forget()
		a.dict.templates, a.kept = nil, 0
	}
	d := a.dict
	if len(d.templates) == 0 {
		d.templates = make([]*template, len(a.tree.flats))
	}
	t := &template{next: d.templates[f.id]}
	d.templates[f.id] = t
	return t
}

// learn writes a template.
func (a *assembler) learn(t *template, f *flat, mask uint64, text int) error {
	t.generation, t.mask, t.text = -1, mask, text
	t.cells, t.others = t.cells[:0], t.others[:0]
	outer, first := a.out, len(a.slots)
	a.out = t.bytes[:0]
	largest := int32(0)
	for i := range f.columns {
		c := &f.columns[i]
		if mask>>c.group&1 == 0 {
			continue
		}
		id := a.dict.ids[c.name]
		if id < 0 {
			a.out = outer
			return corruptf(f.at.fields[i].at, "the name is not in the metadata")
		}
		largest = max(largest, id)
		a.slots = append(a.slots, fieldSlot{uint32(id), uint32(len(a.out))})
		at := cell{column: i}
		if i == f.text {
			a.textHead(text)
			at.at = len(a.out)
			a.extend(text)
		} else {
			a.out = append(a.out, c.head[:c.prefix]...)
			at.at = len(a.out)
			a.extend(c.size)
		}
		if c.batch.Node.Type == leaf.Int32 {
			t.cells = append(t.cells, at)
		} else {
			t.others = append(t.others, at)
		}
	}
	head := a.header(0, 0, first, largest)
	for i := range t.cells {
		t.cells[i].at += head
	}
	for i := range t.others {
		t.others[i].at += head
	}
	t.bytes, t.generation = a.out, f.generation
	a.out, a.slots = outer, a.slots[:first]
	return nil
}
