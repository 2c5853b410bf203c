package pq

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
)

// Assembler turns the leaf batches of one column into Arrow arrays. It is not
// safe for concurrent use.
type Assembler struct {
	tree    *arrowNode
	mem     memory.Allocator
	batches []*leaf.Batch
}

// NewAssembler makes an assembler for the column n. The levels of its batches
// count from the root of the schema, of which n is a child.
func NewAssembler(n *leaf.Node, mem memory.Allocator) (*Assembler, error) {
	tree, err := newArrowTree(n)
	if err != nil {
		return nil, err
	}
	return &Assembler{tree: tree, mem: mem}, nil
}

// Field returns the Arrow field of the arrays, which is FieldOf the column.
func (a *Assembler) Field() arrow.Field { return a.tree.field() }

// Assemble makes one array of the given rows from one batch a leaf of the
// column, all of the same rows. The caller releases it. Batches whose levels do
// not agree with each other, and values that do not fit the type, are
// ErrCorrupt: they come from the file.
func (a *Assembler) Assemble(batches []*leaf.Batch, rows int) (_ arrow.Array, err error) {
	if len(batches) != a.tree.end {
		return nil, inputf("%d batches for %d leaves", len(batches), a.tree.end)
	}
	defer recoverCorrupt(&err)
	a.batches = batches
	data, err := a.build(a.tree)
	if err != nil {
		return nil, &Error{RowGroup: -1, Column: a.tree.node.Name, Err: err}
	}
	defer data.Release()
	if data.Len() != rows {
		return nil, &Error{RowGroup: -1, Column: a.tree.node.Name, Err: corruptf("%d values in %d rows", data.Len(), rows)}
	}
	return array.MakeFromData(data), nil
}

// build makes the array of all items of t.
func (a *Assembler) build(t *arrowNode) (arrow.ArrayData, error) {
	switch t.kind {
	case arrowStruct:
		return a.buildStruct(t)
	case arrowList:
		return a.buildList(t)
	case arrowVariant:
		return a.buildVariant(t)
	case arrowPrimitive:
	}
	return a.buildPrimitive(t, a.batches[t.first])
}

// validity is a bitmap of items that are not null; bits is nil when all are.
type validity struct {
	items int
	nulls int
	bits  []byte
}

// slot returns the levels of slot i; a leaf without levels has zeros.
func slotLevels(b *leaf.Batch, i int) (def, rep uint8) {
	if b.MaxDef > 0 {
		def = b.Def[i]
	}
	if b.MaxRep > 0 {
		rep = b.Rep[i]
	}
	return def, rep
}

// items finds the items of t in the levels of a leaf below it.
func (t *arrowNode) items(b *leaf.Batch) validity {
	if b.MaxDef == 0 || b.MaxRep == 0 && (!t.nullable || b.Nulls == 0) {
		return validity{items: b.Slots}
	}
	v := validity{bits: make([]byte, bitutil.BytesForBits(int64(b.Slots)))}
	for i := range b.Slots {
		def, rep := slotLevels(b, i)
		if rep > t.itemRep || def < t.itemDef {
			continue
		}
		if def >= t.def {
			bitutil.SetBit(v.bits, v.items)
		} else {
			v.nulls++
		}
		v.items++
	}
	if v.nulls == 0 || !t.nullable {
		v.bits, v.nulls = nil, 0
	}
	return v
}

// bitmap copies the validity into a buffer, nil when there are no nulls.
func (a *Assembler) bitmap(v validity) *memory.Buffer {
	if v.nulls == 0 {
		return nil
	}
	b := memory.NewResizableBuffer(a.mem)
	b.Resize(int(bitutil.BytesForBits(int64(v.items))))
	copy(b.Bytes(), v.bits)
	return b
}

// newData makes the data of an array and takes over the buffers and children.
func newData(typ arrow.DataType, v validity, buffers []*memory.Buffer, children []arrow.ArrayData) arrow.ArrayData {
	data := array.NewData(typ, v.items, buffers, children, v.nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return data
}

func (a *Assembler) buildStruct(t *arrowNode) (arrow.ArrayData, error) {
	if t.first == t.end {
		return nil, unsupportedf("%q is a group without leaves", t.node.Name)
	}
	v := t.items(a.batches[t.first])
	children := make([]arrow.ArrayData, 0, len(t.children))
	fail := func(err error) (arrow.ArrayData, error) {
		for _, c := range children {
			c.Release()
		}
		return nil, err
	}
	for _, c := range t.children {
		data, err := a.build(c)
		if err != nil {
			return fail(err)
		}
		children = append(children, data)
		if data.Len() != v.items {
			return fail(corruptf("the levels of %q and its siblings disagree", c.node.Name))
		}
	}
	return newData(t.typ, v, []*memory.Buffer{a.bitmap(v)}, children), nil
}

func (a *Assembler) buildList(t *arrowNode) (arrow.ArrayData, error) {
	if t.first == t.end {
		return nil, unsupportedf("%q is a group without leaves", t.node.Name)
	}
	b := a.batches[t.first]
	v := t.items(b)
	child, err := a.build(t.children[0])
	if err != nil {
		return nil, err
	}
	offsets := memory.NewResizableBuffer(a.mem)
	offsets.Resize(4 * (v.items + 1))
	out := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	items, elements := 0, int32(0)
	for i := range b.Slots {
		def, rep := slotLevels(b, i)
		if rep <= t.itemRep && def >= t.itemDef {
			out[items] = elements
			items++
		}
		if rep <= t.elemRep && def >= t.elemDef {
			elements++
		}
	}
	out[items] = elements
	if int(elements) != child.Len() {
		child.Release()
		offsets.Release()
		return nil, corruptf("the levels of the leaves of %q disagree", t.node.Name)
	}
	return newData(t.typ, v, []*memory.Buffer{a.bitmap(v), offsets}, []arrow.ArrayData{child}), nil
}

// spread is how the dense values of a leaf lie among the items of its node.
type spread struct {
	validity
	// full is nil when every item has a value; otherwise it tells for each item
	// whether it has one. It differs from the validity where a required leaf is
	// below a null.
	full   []bool
	values int
}

func (t *arrowNode) spread(b *leaf.Batch) spread {
	s := spread{validity: t.items(b), values: b.Slots - b.Nulls}
	if s.values == s.items {
		return s
	}
	s.full = make([]bool, 0, s.items)
	for i := range b.Slots {
		if def := b.Def[i]; def >= t.itemDef {
			s.full = append(s.full, def == b.MaxDef)
		}
	}
	return s
}

// spreadValues writes the dense values v to dst, one an item; the items without
// a value stay zero.
func spreadValues[T any](dst, v []T, s *spread) {
	if s.full == nil {
		copy(dst, v)
		return
	}
	k := 0
	for i, full := range s.full {
		if full {
			dst[i] = v[k]
			k++
		}
	}
}

// offsetsOf makes the offsets and data of a binary array.
func (a *Assembler) offsetsOf(b *leaf.Batch, s *spread) (offsets, data *memory.Buffer, err error) {
	size := 0
	if b.Dict == nil {
		size = len(b.Data)
	} else {
		for _, x := range b.Index {
			size += int(b.Dict.Offsets[x+1] - b.Dict.Offsets[x])
		}
	}
	if size > math.MaxInt32 {
		return nil, nil, inputf("%d bytes in one array: read fewer rows", size)
	}
	offsets, data = memory.NewResizableBuffer(a.mem), memory.NewResizableBuffer(a.mem)
	offsets.Resize(4 * (s.items + 1))
	data.Resize(size)
	out := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	out[0] = 0
	if b.Dict == nil {
		copy(data.Bytes(), b.Data)
		fillOffsets(out, b.Offsets, s)
		return offsets, data, nil
	}
	end, k := 0, 0
	bytes := data.Bytes()
	for i := range s.items {
		if s.full == nil || s.full[i] {
			end += copy(bytes[end:], b.Dict.Value(int(b.Index[k])))
			k++
		}
		out[i+1] = int32(end)
	}
	return offsets, data, nil
}

func fillOffsets(out []int32, offsets []uint32, s *spread) {
	if len(offsets) == 0 {
		clear(out)
		return
	}
	k := 0
	for i := range s.items {
		if s.full == nil || s.full[i] {
			k++
		}
		out[i+1] = int32(offsets[k])
	}
}
