package shred

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// readResidual answers from inside the value column.
func (a *answer) readResidual(value *leaf.Batch) (arrow.Array, error) {
	b := array.NewBuilder(a.r.mem, ArrowType(a.req.Type))
	defer b.Release()
	b.Reserve(a.r.rows)
	k := 0
	for row := range a.r.rows {
		if value == nil || value.Def != nil && value.Def[row] != value.MaxDef {
			b.AppendNull()
			continue
		}
		v, err := a.lookup(row, value.Bytes(k))
		k++
		if err != nil {
			return nil, a.fail(row, within(a.at, err))
		}
		if err := a.appendCast(b, row, v); err != nil {
			return nil, err
		}
	}
	return b.NewArray(), nil
}

// lookup follows the rest of the path inside a value.
func (a *answer) lookup(row int, b []byte) (variant.Value, error) {
	v, err := variant.Unchecked(a.r.meta.bytes(row), b).Lookup(a.rest)
	if err != nil {
		return v, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return a.sorted(row, v)
}

// sorted returns a value of a row, or a part of one, with the fields of all objects
// in order. It is valid until the next call.
func (a *answer) sorted(row int, v variant.Value) (variant.Value, error) {
	if a.sorter.off || !v.Kind().IsContainer() {
		return v, nil
	}
	d, err := a.dictionary(row)
	if err != nil {
		return v, err
	}
	b, err := a.sorter.sorted(d, v.Bytes())
	return variant.Unchecked(d.meta.Bytes(), b), err
}

// dictionary returns the metadata of a row.
func (a *answer) dictionary(row int) (*dictionary, error) {
	i := a.r.meta.index(row)
	if i < 0 {
		return nil, fmt.Errorf("%w: a value without metadata", ErrCorrupt)
	}
	return a.dicts.row(i)
}

// residual casts a value of the value column to a scalar type. What is null, and
// in try mode what does not cast, is a scalar of KindNull.
func (a *answer) residual(row int, b []byte) (variant.Scalar, error) {
	v := variant.Unchecked(a.r.meta.bytes(row), b)
	s, ok := v.Scalar()
	if ok {
		return a.cast(row, &s)
	}
	if !v.Kind().IsContainer() {
		return s, a.fail(row, corruptf(a.at, "value is truncated or of an unknown type"))
	}
	v, err := a.sorted(row, v)
	if err != nil {
		return s, a.fail(row, within(a.at, err))
	}
	out, err := a.castValue(row, v)
	if err != nil || out.IsMissing() || out.IsNull() {
		return variant.Scalar{Kind: variant.KindNull}, err
	}
	s, ok = out.Scalar()
	if !ok {
		return s, a.fail(row, corruptf(a.at, "value is truncated or of an unknown type"))
	}
	return s, nil
}
