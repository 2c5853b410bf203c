package shred

import "github.com/frazil/frazil/internal/leaf"

// picker finds the slots of array elements that a path names by index, from the
// levels of one column below the lists.
type picker struct {
	lists []*pair
	index []int

	// A column reduced to one slot a row.
	out    leaf.Batch
	def    []uint8
	values []int32 // the ordinals of its values
}

func newPicker(picks []pick) *picker {
	k := &picker{}
	for _, p := range picks {
		k.lists = append(k.lists, &pair{at: p.list, source: &cursor{}})
		k.index = append(k.index, p.index)
	}
	return k
}

// load reads the levels of a column.
func (k *picker) load(b *leaf.Batch, rows int) error {
	for i, p := range k.lists {
		p.source.load(b)
		if err := p.spread(); err != nil {
			return err
		}
		want := rows
		if i > 0 {
			want = len(k.lists[i-1].def)
		}
		if len(p.starts)-1 != want {
			return corruptf(p.at, "columns disagree on the number of lists")
		}
	}
	return nil
}

// slots returns the number of slots of the innermost list's elements.
func (k *picker) slots() int { return len(k.lists[len(k.lists)-1].def) }

// slot returns the slot of the element in a row, -1 if there is none.
func (k *picker) slot(row int) int {
	s := row
	for i, p := range k.lists {
		from, to := int(p.starts[s]), int(p.starts[s+1])
		if p.def[from] <= p.at.typedDef || k.index[i] >= to-from {
			return -1
		}
		s = from + k.index[i]
	}
	return s
}

// reduce returns the column with one slot a row: level 1 where the element has
// a value, else 0. It is valid until the next call.
func (k *picker) reduce(b *leaf.Batch, rows int) (*leaf.Batch, error) {
	k.def = append(k.def[:0], make([]uint8, rows)...)
	k.values = k.values[:0]
	var err error
	if len(k.lists) == 1 && b.MaxDef > 0 && b.MaxRep == k.lists[0].at.elem.rep {
		err = k.reduceOne(b, rows)
	} else {
		err = k.reduceAny(b, rows)
	}
	if err != nil {
		return nil, err
	}
	out := &k.out
	out.Info = leaf.Info{Node: b.Node, Path: b.Path, MaxDef: 1}
	out.Rows, out.Slots, out.Nulls, out.Def = rows, rows, rows-len(k.values), k.def
	k.gather(b)
	return out, nil
}

// reduceOne finds the values for an index into one list, in one pass.
func (k *picker) reduceOne(b *leaf.Batch, rows int) error {
	outer, max := k.lists[0].at.rep, b.MaxDef
	row, elem, value := -1, 0, int32(0)
	def := b.Def[:len(b.Rep)]
	for i, r := range b.Rep {
		elem++
		if r <= outer {
			row++
			elem = 0
			if row == rows {
				break
			}
		}
		if def[i] != max {
			continue
		}
		if elem == k.index[0] {
			if row < 0 {
				break
			}
			k.def[row] = 1
			k.values = append(k.values, value)
		}
		value++
	}
	if row != rows-1 || len(b.Rep) > 0 && b.Rep[0] > outer {
		return corruptf(k.lists[0].at, "columns disagree on the number of lists")
	}
	return nil
}

func (k *picker) reduceAny(b *leaf.Batch, rows int) error {
	if err := k.load(b, rows); err != nil {
		return err
	}
	if k.slots() != b.Slots {
		return corruptf(k.lists[len(k.lists)-1].at, "%d slots of %d elements", b.Slots, k.slots())
	}
	c := cursor{}
	c.load(b)
	for row := range rows {
		slot := k.slot(row)
		if slot < 0 || !c.has(slot) {
			continue
		}
		c.skipTo(slot)
		k.def[row] = 1
		k.values = append(k.values, int32(c.take()))
	}
	return nil
}

// gather copies the chosen values.
func (k *picker) gather(b *leaf.Batch) {
	out := &k.out
	out.Bools, out.Int32s, out.Int64s = out.Bools[:0], out.Int32s[:0], out.Int64s[:0]
	out.Floats, out.Doubles = out.Floats[:0], out.Doubles[:0]
	out.Dict, out.Index = b.Dict, out.Index[:0]
	out.Offsets, out.Data = append(out.Offsets[:0], 0), out.Data[:0]
	if b.Node.Type == leaf.Int32 {
		for _, i := range k.values {
			out.Int32s = append(out.Int32s, b.Int32s[i])
		}
		return
	}
	for _, i := range k.values {
		out.AppendFrom(b, int(i))
	}
}
