package shred

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// loadTree takes the batches of the tree and returns the slot of each row.
func (a *answer) loadTree() (slot func(row int) int, err error) {
	if a.tree.root == nil {
		return func(int) int { return -1 }, a.asm.dicts.load(a.r.meta.batch)
	}
	slots := a.r.rows
	slot = func(row int) int { return row }
	if k := a.picker[0]; k != nil {
		source := a.tree.root.direct()
		if source == nil {
			source = a.tree.columns[0]
		}
		if err := k.load(a.r.batch(source.column), a.r.rows); err != nil {
			return nil, err
		}
		slots, slot = k.slots(), k.slot
	}
	if err := a.tree.load(a.r.batches, a.r.plan.at, slots); err != nil {
		return nil, err
	}
	return slot, a.asm.dicts.load(a.r.meta.batch)
}

// append assembles one row into a.asm.out; false: the value is missing, or, at
// the root, the row is SQL NULL.
func (a *answer) append(row, slot int) (bool, error) {
	m := &a.r.meta
	if m.batch != nil {
		i := m.index(row)
		if i < 0 {
			return false, nil
		}
		d, err := a.asm.dicts.row(i)
		if err != nil {
			return false, a.fail(row, err)
		}
		if d != a.asm.dict {
			a.asm.dict = d
		}
	} else if a.asm.dict != a.asm.dicts.own {
		a.asm.dict = a.asm.dicts.own
	}
	if slot < 0 && !a.root {
		return false, nil
	}
	ok := false
	if slot >= 0 {
		var err error
		if ok, err = a.asm.value(a.tree.root, slot); err != nil {
			return false, a.fail(row, err)
		}
	}
	if !ok && (a.root || len(a.picks) > 0 && a.picks[len(a.picks)-1].list.elem == a.at) {
		// A value that must be there and is not is a Variant null.
		a.asm.out = append(a.asm.out, headNull)
		ok = true
	}
	return ok, nil
}

// readTree assembles a value for each row.
func (a *answer) readTree() (arrow.Array, error) {
	slot, err := a.loadTree()
	if err != nil {
		return nil, err
	}
	if a.req.Type.ID == variant.TypeVariant {
		return a.readVariants(slot)
	}
	b := array.NewBuilder(a.r.mem, ArrowType(a.req.Type))
	defer b.Release()
	b.Reserve(a.r.rows)
	for row := range a.r.rows {
		a.asm.out = a.asm.out[:0]
		ok, err := a.append(row, slot(row))
		if err != nil {
			return nil, err
		}
		v := variant.Value{}
		if ok {
			v = variant.Unchecked(a.asm.dict.meta.Bytes(), a.asm.out)
		}
		if err := a.appendCast(b, row, v); err != nil {
			return nil, err
		}
	}
	return b.NewArray(), a.checkConsumed()
}

func (a *answer) checkConsumed() error {
	if a.asm.picked || a.tree.root == nil {
		return nil
	}
	return a.tree.consumed()
}

// readVariants builds the struct of metadata and value. Values are written where
// they stay, in memory of the size that the batch before asks for; metadata are
// gathered first and copied once.
func (a *answer) readVariants(slot func(int) int) (arrow.Array, error) {
	rows := a.r.rows
	valid := make([]byte, (rows+7)/8)
	nulls, size := 0, 0
	offsets, metaOffsets := make([]int32, rows+1), make([]int32, rows+1)
	a.asm.out, a.metas = make([]byte, 0, a.room(rows)), a.metas[:0]
	defer func() { a.asm.out = nil }() // it is the result's
	for row := range rows {
		ok, err := a.append(row, slot(row))
		if err != nil {
			return nil, err
		}
		if ok {
			valid[row>>3] |= 1 << (row & 7)
			meta := a.asm.dict.meta.Bytes()
			a.metas = append(a.metas, meta)
			size += len(meta)
		} else {
			nulls++
		}
		if len(a.asm.out) > maxArrowBytes || size > maxArrowBytes {
			return nil, fmt.Errorf("shred: more than %d bytes of values in one batch; read fewer rows", maxArrowBytes)
		}
		offsets[row+1], metaOffsets[row+1] = int32(len(a.asm.out)), int32(size)
	}
	if err := a.checkConsumed(); err != nil {
		return nil, err
	}
	m := binaryData(metaOffsets, bytes.Join(a.metas, nil))
	defer m.Release()
	v := binaryData(offsets, a.asm.out)
	defer v.Release()
	a.lastBytes = len(a.asm.out)
	a.rowBytes = a.lastBytes/max(rows, 1) + 1
	buffers := []*memory.Buffer{nil}
	if nulls > 0 {
		buffers[0] = memory.NewBufferBytes(valid)
	}
	d := array.NewData(variantStruct, rows, buffers, []arrow.ArrayData{m, v}, nulls, 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}

// minRoom is a size of memory that is taken without thought.
const minRoom = 1 << 20

// room is the memory for the values of rows: an eighth more than so many rows of
// the last batch had, but not more than that whole batch, as its rows say little
// about the next when they were few.
func (a *answer) room(rows int) int {
	n := min(rows*a.rowBytes, max(a.lastBytes, minRoom))
	return n + n/8
}

func binaryData(offsets []int32, data []byte) *array.Data {
	return array.NewData(arrow.BinaryTypes.Binary, len(offsets)-1, []*memory.Buffer{
		nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(data),
	}, nil, 0, 0)
}

// Assembler gives back whole values, whatever engine wrote the file. It is for
// one goroutine.
type Assembler struct {
	r *Reader
	a *answer
}

// NewAssembler returns an Assembler for the Variant group of a file; allNull is
// that of Project. The error Is ErrSchema.
func NewAssembler(group *leaf.Node, ctx Context, allNull func(column int) bool) (*Assembler, error) {
	p, err := Project(group, ctx, []Request{{}}, allNull)
	if err != nil {
		return nil, err
	}
	r := p.NewReader(nil)
	return &Assembler{r: r, a: r.answers[0]}, nil
}

// Columns returns the ordinals, among the leaves of the group, of the columns
// that must be read.
func (a *Assembler) Columns() []int { return a.r.plan.columns }

// Assemble takes one batch for each of Columns and calls fn for each row, or,
// in a nested Context, for each slot of the group, in order. The value is missing
// where the column is SQL NULL, and valid during the call. It stops at the first
// error of fn.
func (a *Assembler) Assemble(batches []*leaf.Batch, rows int, fn func(row int, v variant.Value) error) error {
	r := a.r
	if len(batches) != len(r.plan.columns) {
		return errBatches
	}
	r.batches, r.rows = batches, rows
	if err := r.meta.load(r.plan.file, r.batch(r.plan.file.meta), rows); err != nil {
		return err
	}
	slot, err := a.a.loadTree()
	if err != nil {
		return err
	}
	for row := range rows {
		a.a.asm.out = a.a.asm.out[:0]
		ok, err := a.a.append(row, slot(row))
		if err != nil {
			return err
		}
		v := variant.Value{}
		if ok {
			v = variant.Unchecked(a.a.asm.dict.meta.Bytes(), a.a.asm.out)
		}
		if err := fn(row, v); err != nil {
			return err
		}
	}
	return a.a.checkConsumed()
}
