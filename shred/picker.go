package shred

import (
	"github.com/frazil/frazil/internal/leaf"
)

// picker finds the slots of array elements that a path names by index, from the
// levels of one column below the lists.
type picker struct {
	lists []*pair
	index []int
	out   leaf.Batch // of a column, reduced to one slot a row
	def   []uint8
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
func (k *picker) reduce(b *leaf.Batch, rows int) *leaf.Batch {
	out := &k.out
	out.Info = leaf.Info{Node: b.Node, Path: b.Path, MaxDef: 1}
	out.Rows, out.Slots = rows, rows
	out.Bools, out.Int32s, out.Int64s = out.Bools[:0], out.Int32s[:0], out.Int64s[:0]
	out.Floats, out.Doubles = out.Floats[:0], out.Doubles[:0]
	out.Dict, out.Index = b.Dict, out.Index[:0]
	out.Offsets, out.Data = append(out.Offsets[:0], 0), out.Data[:0]
	k.def = append(k.def[:0], make([]uint8, rows)...)
	c := cursor{}
	c.load(b)
	n := 0
	for row := range rows {
		slot := k.slot(row)
		if slot < 0 || !c.has(slot) {
			continue
		}
		c.skipTo(slot)
		i := c.take()
		k.def[row] = 1
		n++
		out.AppendFrom(b, i)
	}
	out.Def, out.Nulls = k.def, rows-n
	return out
}
