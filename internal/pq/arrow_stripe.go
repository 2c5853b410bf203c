package pq

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/frazil/frazil/internal/leaf"
)

// Striper turns the Arrow arrays of one column into leaf buffers. It is not
// safe for concurrent use.
type Striper struct {
	tree    *arrowNode
	buffers []*leaf.Buffer
	rows    int
}

// NewStriper makes a striper for the column n, whose tree may come from NodeOf
// or from elsewhere.
func NewStriper(n *leaf.Node) (*Striper, error) {
	tree, err := newArrowTree(n)
	if err != nil {
		return nil, err
	}
	s := &Striper{tree: tree}
	for _, in := range (&leaf.Node{Children: []*leaf.Node{n}}).Leaves() {
		s.buffers = append(s.buffers, &leaf.Buffer{Info: in})
	}
	return s, nil
}

// Buffers returns one buffer a leaf of the column. They are the striper's until
// Reset.
func (s *Striper) Buffers() []*leaf.Buffer { return s.buffers }

// Rows returns the rows since the last Reset.
func (s *Striper) Rows() int { return s.rows }

// Reset empties the buffers and keeps their memory.
func (s *Striper) Reset() {
	s.rows = 0
	for _, b := range s.buffers {
		b.Reset()
	}
}

// Append adds the rows of arr, whose type is that of FieldOf or converts to it
// without loss: narrower integers, other widths of strings and decimals, coarser
// times, dictionaries. Fields of structs are matched by name; one that is
// missing is null. A value that does not fit is an error, after which the
// buffers must be Reset.
func (s *Striper) Append(arr arrow.Array) error {
	if err := s.items(s.tree, arr, 0, arr.Len(), 0, 0); err != nil {
		return &Error{RowGroup: -1, Column: s.tree.node.Name, Err: err}
	}
	for _, b := range s.buffers {
		if len(b.Data) > math.MaxUint32 {
			return &Error{RowGroup: -1, Column: s.tree.node.Name, Err: inputf("more than 4 GiB in one row group")}
		}
	}
	s.rows += arr.Len()
	return nil
}

// items adds the values from..to of arr as items of t, all of which have the
// repetition level rep; def is the definition level around them.
func (s *Striper) items(t *arrowNode, arr arrow.Array, from, to int, rep, def uint8) error {
	if e, ok := arr.(array.ExtensionArray); ok {
		return s.items(t, e.Storage(), from, to, rep, def)
	}
	if arr.NullN() == 0 && arr.DataType().ID() != arrow.NULL {
		return s.present(t, arr, from, to, rep, t.def)
	}
	isNull := arr.IsNull
	if arr.DataType().ID() == arrow.NULL { // it has no bitmap
		isNull = func(int) bool { return true }
	}
	for from < to {
		null := isNull(from)
		end := from + 1
		for end < to && isNull(end) == null {
			end++
		}
		if null {
			if !t.nullable {
				return inputf("null in %q, which is required", t.node.Name)
			}
			s.nulls(t, end-from, rep, def)
		} else if err := s.present(t, arr, from, end, rep, t.def); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// nulls adds n slots without a value to every leaf below t.
func (s *Striper) nulls(t *arrowNode, n int, rep, def uint8) {
	for _, b := range s.buffers[t.first:t.end] {
		s.slots(b, n, rep, def)
	}
}

func (s *Striper) slots(b *leaf.Buffer, n int, rep, def uint8) {
	b.Slots += n
	if b.MaxDef > 0 {
		b.Def.Append(def, n)
	}
	if b.MaxRep > 0 {
		b.Rep.Append(rep, n)
	}
}

// present adds items that are not null; def is their own level.
func (s *Striper) present(t *arrowNode, arr arrow.Array, from, to int, rep, def uint8) error {
	if from == to {
		return nil
	}
	switch t.kind {
	case arrowStruct:
		return s.structs(t, arr, from, to, rep, def)
	case arrowList:
		return s.lists(t, arr, from, to, rep, def)
	case arrowPrimitive:
	case arrowVariant:
		panic("BUG: a striper has no shredded Variants")
	}
	b := s.buffers[t.first]
	s.slots(b, to-from, rep, def)
	return appendArrowValues(b, arr, from, to)
}

func (s *Striper) structs(t *arrowNode, arr arrow.Array, from, to int, rep, def uint8) error {
	a, ok := arr.(*array.Struct)
	if !ok {
		return inputf("%v where %q is a struct", arr.DataType(), t.node.Name)
	}
	st := a.DataType().(*arrow.StructType)
	for k, c := range t.children {
		i, ok := st.FieldIdx(c.node.Name)
		if t.entries {
			i, ok = k, k < st.NumFields()
		}
		if !ok {
			if !c.nullable {
				return inputf("no field %q, which is required", c.node.Name)
			}
			s.nulls(c, to-from, rep, def)
			continue
		}
		// Field undoes the offset of the struct itself.
		if err := s.items(c, a.Field(i), from, to, rep, def); err != nil {
			return err
		}
	}
	return nil
}

func (s *Striper) lists(t *arrowNode, arr arrow.Array, from, to int, rep, def uint8) error {
	a, ok := arr.(array.ListLike)
	if !ok {
		return inputf("%v where %q is a list", arr.DataType(), t.node.Name)
	}
	elem, values := t.children[0], a.ListValues()
	for i := from; i < to; i++ {
		lo, hi := a.ValueOffsets(i)
		if lo == hi {
			s.nulls(t, 1, rep, def)
			continue
		}
		if err := s.items(elem, values, int(lo), int(lo)+1, rep, t.elemDef); err != nil {
			return err
		}
		if err := s.items(elem, values, int(lo)+1, int(hi), t.elemRep, t.elemDef); err != nil {
			return err
		}
	}
	return nil
}
