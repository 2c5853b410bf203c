package shred

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// Reader answers the requests of a Plan, batch by batch. It is for one goroutine.
type Reader struct {
	plan    *Plan
	mem     memory.Allocator
	answers []*answer
	meta    metaColumn
	batches []*leaf.Batch
	rows    int
	ignored func(row int) bool
}

// Ignore names rows of the next batches whose results nobody looks at, such as
// deleted ones: a value of theirs that does not cast gives null and is no error.
// A nil func ends it.
func (r *Reader) Ignore(rows func(row int) bool) { r.ignored = rows }

// errBatches is the misuse of Read.
var errBatches = errors.New("shred: Read needs one batch for each column of the plan")

// Read takes one batch for each of the plan's Columns, all of the same rows, and
// returns one array for each request. Missing values, Variant nulls and SQL NULL
// are null, but a Variant null is a value where the type is variant. The batches
// are not needed afterwards; the caller releases the arrays.
//
// A value that does not cast is an *Error that Is ErrCast unless the request says
// Try; leaves that contradict each other are an error that Is ErrCorrupt.
func (r *Reader) Read(batches []*leaf.Batch, rows int) ([]arrow.Array, error) {
	if len(batches) != len(r.plan.columns) {
		return nil, errBatches
	}
	r.batches, r.rows = batches, rows
	if err := r.meta.load(r.plan.file, r.batch(r.plan.file.meta), rows); err != nil {
		return nil, err
	}
	out := make([]arrow.Array, 0, len(r.answers))
	for _, a := range r.answers {
		arr, err := a.read()
		if err != nil {
			for _, o := range out {
				o.Release()
			}
			return nil, err
		}
		out = append(out, arr)
	}
	return out, nil
}

// batch returns the batch of a column, nil if the plan does not read it.
func (r *Reader) batch(column int) *leaf.Batch {
	if column == noColumn || r.plan.at[column] < 0 {
		return nil
	}
	return r.batches[r.plan.at[column]]
}

// metaColumn is the metadata of a batch by row.
type metaColumn struct {
	batch *leaf.Batch
	base  uint8
	ranks []int32 // value of each row, if some have none
}

func (m *metaColumn) load(f *file, b *leaf.Batch, rows int) error {
	m.batch, m.base, m.ranks = b, f.base, m.ranks[:0]
	if b == nil {
		return nil
	}
	if err := checkBatch(b); err != nil {
		return err
	}
	if b.Slots != rows {
		return fmt.Errorf("%w: %d metadata values for %d rows", ErrCorrupt, b.Slots, rows)
	}
	if b.Nulls == 0 || b.Def == nil {
		return nil
	}
	n := int32(0)
	for _, d := range b.Def {
		switch {
		case d == b.MaxDef:
			m.ranks = append(m.ranks, n)
			n++
		case d >= f.base:
			return fmt.Errorf("%w: a value without metadata", ErrCorrupt)
		default:
			m.ranks = append(m.ranks, -1)
		}
	}
	return nil
}

// index returns the value of a row, -1 if the row is SQL NULL.
func (m *metaColumn) index(row int) int {
	if len(m.ranks) > 0 {
		return int(m.ranks[row])
	}
	return row
}

// bytes returns the metadata of a row, nil if the row is SQL NULL or the column
// is not read.
func (m *metaColumn) bytes(row int) []byte {
	if m.batch == nil {
		return nil
	}
	if i := m.index(row); i >= 0 {
		return m.batch.Bytes(i)
	}
	return nil
}

// answer reads one request.
type answer struct {
	*target
	r      *Reader
	picker [2]*picker // of the typed leaf, or tree; of the value
	asm    *assembler
	tree   *tree
	metas  [][]byte // scratch: the metadata of each row
	// What the values of the last batch took, together and each; 0 before the first.
	lastBytes, rowBytes int
	dicts               dictionaries
	sorter              sorter
}

func newAnswer(r *Reader, t *target) *answer {
	a := &answer{target: t, r: r, sorter: sorter{off: r.plan.file.ordered}}
	if len(t.picks) > 0 {
		a.picker = [2]*picker{newPicker(t.picks), newPicker(t.picks)}
	}
	if t.kind == targetTree {
		a.tree = newTree(t.at, func(c int) bool { return r.plan.at[c] >= 0 }, len(t.picks) > 0)
		a.asm = newAssembler(a.tree)
		a.asm.sorter.off = a.sorter.off
		a.asm.picked = len(t.picks) > 0
	}
	return a
}

func (a *answer) read() (arrow.Array, error) {
	if a.r.meta.batch != nil {
		if err := a.dicts.load(a.r.meta.batch); err != nil {
			return nil, err
		}
	}
	switch a.kind {
	case targetTree:
		return a.readTree()
	case targetResidual:
		value, err := a.column(1, a.value, a.at.value)
		if err != nil {
			return nil, err
		}
		return a.readResidual(value)
	case targetLeaf:
	}
	typed, err := a.column(0, a.typed, a.at.typed)
	if err != nil {
		return nil, err
	}
	value, err := a.column(1, a.value, a.at.value)
	if err != nil {
		return nil, err
	}
	return a.readLeaf(typed, value)
}

// column returns the batch of a column with one slot a row, nil if it is not
// read or has no values.
func (a *answer) column(which int, read bool, column int) (*leaf.Batch, error) {
	if !read {
		return nil, nil
	}
	b := a.r.batch(column)
	if err := checkBatch(b); err != nil {
		return nil, err
	}
	if a.picker[which] != nil {
		var err error
		if b, err = a.picker[which].reduce(b, a.r.rows); err != nil {
			return nil, err
		}
	} else if b.Slots != a.r.rows {
		return nil, corruptf(a.at, "%d slots of %d rows", b.Slots, a.r.rows)
	}
	if b.Nulls == b.Slots {
		return nil, nil
	}
	return b, nil
}

// readLeaf answers from a typed leaf, from its residual, or from both, row by
// row.
func (a *answer) readLeaf(typed, value *leaf.Batch) (arrow.Array, error) {
	v, ok := a.at.convert(&a.req.Type, typed, a.r.rows)
	if ok {
		if value != nil {
			if err := a.patch(v, value); err != nil {
				return nil, err
			}
		}
		return v.array(), nil
	}
	if value == nil && typed != nil && a.sameBytes() {
		return texts(v.typ, typed, a.r.rows)
	}
	return a.readRows(v.typ, typed, value)
}

// sameBytes reports whether the leaf holds what is asked for as bytes.
func (a *answer) sameBytes() bool {
	k := a.at.typ.Kind
	return a.req.Type.ID == variant.TypeString && k == variant.KindString ||
		a.req.Type.ID == variant.TypeBinary && (k == variant.KindBinary || k == variant.KindString)
}

// patch sets the rows whose value is in the residual.
func (a *answer) patch(v *vector, value *leaf.Batch) error {
	k := 0
	for row := range a.r.rows {
		if value.Def != nil && value.Def[row] != value.MaxDef {
			continue
		}
		if v.isSet(row) {
			return a.fail(row, corruptf(a.at, "value and typed_value are both set"))
		}
		s, err := a.residual(row, value.Bytes(k))
		k++
		if err != nil {
			return err
		}
		if s.Kind != variant.KindNull {
			v.fill(row, &s)
		}
	}
	return nil
}

func (a *answer) cast(row int, s *variant.Scalar) (variant.Scalar, error) {
	if a.req.Try {
		if out, ok := variant.TryCastScalar(s, a.req.Type); ok {
			return out, nil
		}
		return variant.Scalar{Kind: variant.KindNull}, nil
	}
	out, err := variant.CastScalar(s, a.req.Type)
	if err != nil && a.r.ignored != nil && a.r.ignored(row) {
		return variant.Scalar{Kind: variant.KindNull}, nil
	}
	if err != nil {
		return out, a.refuse(row, variant.Unchecked(nil, variant.AppendScalar(nil, s)), err)
	}
	return out, nil
}

func (a *answer) castValue(row int, v variant.Value) (variant.Value, error) {
	if a.req.Try {
		out, ok := variant.TryCast(v, a.req.Type)
		if !ok {
			return variant.Value{}, nil
		}
		return out, nil
	}
	out, err := variant.Cast(v, a.req.Type)
	if err != nil && a.r.ignored != nil && a.r.ignored(row) {
		return variant.Value{}, nil
	}
	if err != nil {
		return out, a.refuse(row, v, err)
	}
	return out, nil
}

// refuse makes the error of a value that does not cast.
func (a *answer) refuse(row int, v variant.Value, err error) error {
	const limit = 100
	text := v.String()
	if len(text) > limit {
		text = text[:limit] + "..."
	}
	return &Error{Row: row, Path: a.path, Value: text, Err: err}
}

func (a *answer) fail(row int, err error) error {
	return &Error{Row: row, Path: a.path, Err: err}
}

// readRows answers by one call a row: for casts that may fail.
func (a *answer) readRows(dt arrow.DataType, typed, value *leaf.Batch) (arrow.Array, error) {
	b := array.NewBuilder(a.r.mem, dt)
	defer b.Release()
	b.Reserve(a.r.rows)
	null := variant.Scalar{Kind: variant.KindNull}
	c := cursor{}
	if typed != nil {
		c.load(typed)
	}
	k := 0
	for row := range a.r.rows {
		s := null
		set := typed != nil && c.has(row)
		var err error
		if set {
			i := c.take()
			if s, err = a.at.scalar(&c, i); err == nil {
				s, err = a.cast(row, &s)
			}
		}
		if value != nil && (value.Def == nil || value.Def[row] == value.MaxDef) {
			if set {
				return nil, a.fail(row, corruptf(a.at, "value and typed_value are both set"))
			}
			s, err = a.residual(row, value.Bytes(k))
			k++
		}
		if err != nil {
			return nil, err
		}
		appendScalar(b, &a.req.Type, &s)
	}
	return b.NewArray(), nil
}

// appendCast appends a value after casting it.
func (a *answer) appendCast(b array.Builder, row int, v variant.Value) error {
	if v.IsMissing() {
		b.AppendNull()
		return nil
	}
	if a.req.Type.ID == variant.TypeVariant {
		return appendValue(b, &a.req.Type, v)
	}
	if !a.req.Type.IsNested() {
		if s, ok := v.Scalar(); ok {
			out, err := a.cast(row, &s)
			if err == nil {
				appendScalar(b, &a.req.Type, &out)
			}
			return err
		}
	}
	out, err := a.castValue(row, v)
	if err != nil {
		return err
	}
	return appendValue(b, &a.req.Type, out)
}
