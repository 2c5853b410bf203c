package shred

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// corruptf makes an error that Is ErrCorrupt and names the place.
func corruptf(l *layout, format string, args ...any) error {
	return fmt.Errorf("%w: at %s: %s", ErrCorrupt, l.path(), fmt.Sprintf(format, args...))
}

// within names the place of an error that Is ErrCorrupt.
func within(l *layout, err error) error {
	return fmt.Errorf("at %s: %w", l.path(), err)
}

// cursor reads the values of one column in order.
type cursor struct {
	column int
	space  *pair // the List whose elements the slots are; nil: the group's slots
	batch  *leaf.Batch
	def    []uint8
	max    uint8
	used   int // values taken
	values int
	pos    int // picked trees: slots before it are accounted for in used
}

func (c *cursor) load(b *leaf.Batch) {
	c.batch, c.def, c.max, c.used, c.pos = b, b.Def, b.MaxDef, 0, 0
	c.values = b.Slots - b.Nulls
}

// has reports whether the slot has a value.
func (c *cursor) has(slot int) bool { return c.def == nil || c.def[slot] == c.max }

// take returns the index of the slot's value. It is in range, as each slot with
// a value is taken at most once and checkBatch has counted them.
func (c *cursor) take() int {
	c.used++
	return c.used - 1
}

// skipTo accounts for the values of slots that were not visited.
func (c *cursor) skipTo(slot int) {
	if c.def == nil {
		c.used = slot
		return
	}
	for _, d := range c.def[c.pos:slot] {
		if d == c.max {
			c.used++
		}
	}
	c.pos = slot + 1
}

// pair is a pair of a layout with the columns that are read, nil for those that
// are not because they hold nothing.
type pair struct {
	at     *layout
	name   int // of a field: index into tree.names
	value  *cursor
	typed  *cursor // Leaf
	fields []*pair // Object: those that may be there, sorted by name
	elem   *pair   // List
	guess  int     // Object, List: size of the last header
	plain  bool    // Leaf: only typed is read
	flat   *flat   // Object: how it is written, if all fields are plain
	kind   variant.Kind
	scale  uint8

	// Object: where the levels of its slots are read, a column with the same
	// slots or else a List below.
	levels *cursor
	via    *pair

	// List: the slots of the elements are starts[s] .. starts[s+1]-1 for the
	// list's slot s, at least one, with definition levels def.
	source *cursor
	space  *pair
	starts []int32
	def    []uint8
	own    []uint8 // memory of def, if no column has these slots
}

// tree is a pair and all below it.
type tree struct {
	root    *pair
	columns []*cursor
	lists   []*pair // outer ones first
	flats   []*flat // none if slots are picked
	names   []string
}

// newTree compiles l and all below it. used says which columns are read, at least
// one below each Object and List that may be present. picked says that not all
// slots will be visited.
func newTree(l *layout, used func(column int) bool, picked bool) *tree {
	t := &tree{}
	t.root = t.compile(l, nil, used)
	slices.Sort(t.names)
	t.names = slices.Compact(t.names)
	t.number(t.root, !picked)
	return t
}

func (t *tree) cursor(column int, space *pair, used func(int) bool) *cursor {
	if column == noColumn || !used(column) {
		return nil
	}
	c := &cursor{column: column, space: space}
	t.columns = append(t.columns, c)
	return c
}

// compile returns nil when nothing of the pair is read.
func (t *tree) compile(l *layout, space *pair, used func(int) bool) *pair {
	first := len(t.columns)
	p := &pair{at: l, space: space, value: t.cursor(l.value, space, used)}
	switch l.shape {
	case Opaque:
	case Leaf:
		p.typed = t.cursor(l.typed, space, used)
		p.plain = p.value == nil && p.typed != nil
		p.kind, p.scale = l.typ.Kind, uint8(l.typ.Scale)
	case Object:
		for _, f := range l.fields {
			if c := t.compile(f, space, used); c != nil {
				p.fields = append(p.fields, c)
				t.names = append(t.names, f.name)
			}
		}
		p.levels, p.via = p.presence()
	case List:
		t.lists = append(t.lists, p)
		below := len(t.columns)
		if p.elem = t.compile(l.elem, p, used); p.elem == nil {
			t.lists = t.lists[:len(t.lists)-1]
			break
		}
		if p.source = p.elem.direct(); p.source == nil {
			p.source = t.columns[below]
		}
	}
	if len(t.columns) == first {
		return nil
	}
	return p
}

// direct returns a column with the slots of the pair, or nil.
func (p *pair) direct() *cursor {
	switch {
	case p.value != nil:
		return p.value
	case p.typed != nil:
		return p.typed
	}
	return p.levels
}

// presence finds where the levels of an object's slots can be read.
func (p *pair) presence() (*cursor, *pair) {
	var via *pair
	for _, f := range p.fields {
		if c := f.direct(); c != nil {
			return c, nil
		}
		if f.source != nil {
			via = f
		} else if f.via != nil {
			via = f.via
		}
	}
	return nil, via
}

// number numbers the names of fields, and finds the flat objects.
func (t *tree) number(p *pair, flats bool) {
	if p == nil {
		return
	}
	for _, f := range p.fields {
		f.name, _ = slices.BinarySearch(t.names, f.at.name)
		t.number(f, flats)
	}
	if flats && p.at.shape == Object {
		if p.flat = newFlat(p, len(t.flats)); p.flat != nil {
			t.flats = append(t.flats, p.flat)
		}
	}
	t.number(p.elem, flats)
}

// level returns the definition level of an object's slot.
func (p *pair) level(slot int) uint8 {
	if c := p.levels; c != nil {
		if c.def == nil {
			return p.at.typedDef
		}
		return c.def[slot]
	}
	if p.via == nil {
		return 0
	}
	return p.via.def[p.via.starts[slot]]
}

// load takes the batches of the columns and checks that their slots agree. slots
// is the number of the group's slots.
func (t *tree) load(batches []*leaf.Batch, at []int, slots int) error {
	for _, c := range t.columns {
		b := batches[at[c.column]]
		c.load(b)
		if err := checkBatch(b); err != nil {
			return err
		}
	}
	for _, p := range t.lists {
		if err := p.spread(); err != nil {
			return err
		}
		if len(p.starts)-1 != p.space.count(slots) {
			return corruptf(p.at, "columns disagree on the number of lists")
		}
	}
	for _, c := range t.columns {
		if c.batch.Slots != c.space.count(slots) && (c.space == nil || c.batch.MaxRep == c.space.at.elem.rep) {
			return fmt.Errorf("%w: column %v has %d slots, not %d", ErrCorrupt, c.batch.Path, c.batch.Slots, c.space.count(slots))
		}
		if s := c.space; s != nil && s.source != c && !bytes.Equal(c.batch.Rep, s.source.batch.Rep) &&
			s.source.batch.MaxRep == c.batch.MaxRep {
			return fmt.Errorf("%w: column %v disagrees with its neighbours on the lengths of lists", ErrCorrupt, c.batch.Path)
		}
	}
	for _, f := range t.flats {
		f.load()
	}
	return nil
}

// countLevel returns how many levels are equal to one.
func countLevel(def []uint8, level uint8) (n int) {
	want := uint64(level) * everyByte
	i := 0
	for ; i+8 <= len(def); i += 8 {
		n += bits.OnesCount64(equalBytes(binary.LittleEndian.Uint64(def[i:]), want))
	}
	for ; i < len(def); i++ {
		if def[i] == level {
			n++
		}
	}
	return n
}

const everyByte = 0x0101010101010101

// equalBytes returns a word with 1 in each byte in which x and y are equal.
func equalBytes(x, y uint64) uint64 {
	const low = 0x7f * everyByte
	x ^= y
	return ^((x&low + low) | x | low) >> 7
}

// count returns the number of slots of a space, nil being the group's.
func (p *pair) count(group int) int {
	if p == nil {
		return group
	}
	return len(p.def)
}

// checkBatch checks what the arithmetic on a batch relies on.
func checkBatch(b *leaf.Batch) error {
	n := b.Slots - b.Nulls
	ok := n >= 0 && n <= b.Slots
	if b.MaxDef > 0 {
		ok = ok && len(b.Def) == b.Slots && countLevel(b.Def, b.MaxDef) == n
	}
	if b.MaxRep > 0 {
		ok = ok && len(b.Rep) == b.Slots
	}
	switch b.Node.Type {
	case leaf.Bool:
		ok = ok && len(b.Bools) >= n
	case leaf.Int32:
		ok = ok && len(b.Int32s) >= n
	case leaf.Int64:
		ok = ok && len(b.Int64s) >= n
	case leaf.Float:
		ok = ok && len(b.Floats) >= n
	case leaf.Double:
		ok = ok && len(b.Doubles) >= n
	case leaf.Bytes, leaf.Fixed, leaf.Int96:
		if b.Dict != nil {
			ok = ok && len(b.Index) >= n
		} else {
			ok = ok && (n == 0 || len(b.Offsets) > n)
		}
	case leaf.Group:
		ok = false
	}
	if !ok {
		return fmt.Errorf("%w: column %v: levels and values disagree", ErrCorrupt, b.Path)
	}
	return nil
}

// spread computes where the elements of each list are, from one column below.
func (p *pair) spread() error {
	b := p.source.batch
	p.starts = p.starts[:0]
	outer, inner := p.at.rep, p.at.elem.rep
	if len(b.Rep) > 0 && b.Rep[0] > outer {
		return corruptf(p.at, "the first slot continues a list")
	}
	if b.MaxRep == inner {
		for i, r := range b.Rep {
			if r <= outer {
				p.starts = append(p.starts, int32(i))
			}
		}
		p.def = b.Def
		p.starts = append(p.starts, int32(b.Slots))
		return nil
	}
	p.own = p.own[:0]
	for i, r := range b.Rep {
		if r > inner {
			continue
		}
		if r <= outer {
			p.starts = append(p.starts, int32(len(p.own)))
		}
		p.own = append(p.own, b.Def[i])
	}
	p.def = p.own
	p.starts = append(p.starts, int32(len(p.own)))
	return nil
}

// consumed checks that every value was taken: levels that disagree between
// columns would leave some behind, and give values to the wrong rows.
func (t *tree) consumed() error {
	for _, f := range t.flats {
		f.settle()
	}
	for _, c := range t.columns {
		if c.used != c.values {
			return fmt.Errorf("%w: column %v has values where its neighbours have none", ErrCorrupt, c.batch.Path)
		}
	}
	return nil
}
