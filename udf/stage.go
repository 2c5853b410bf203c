package udf

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Stage is one step of a [Plan]: it takes a stream of batches and makes another.
// The constructors are [With], [Select], [Table], [Iterator] and [GroupBy].
type Stage struct {
	name string
	bind func(in *arrow.Schema) (bound, error)
}

// Name is the name of the stage's function in errors and profiles.
func (s Stage) Name() string { return s.name }

// bound is a stage that knows its columns. Exactly one of the functions is set.
type bound struct {
	name string
	out  *arrow.Schema
	// batch makes the results of one batch, on any worker. It does not
	// release b; emit takes the ownership of what it is given.
	batch func(c *Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error
	// stream makes the results of the whole stream, in one goroutine.
	stream func(c *Call, in iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[arrow.RecordBatch, error]
	// group aggregates: each batch on any worker, then all in order.
	group *grouping
}

// With adds a column, or replaces the one of that name: the results of f for the
// named columns.
func With(column string, f *Scalar, args ...string) Stage {
	return Stage{name: f.name, bind: func(in *arrow.Schema) (bound, error) {
		at, err := columnIndexes(in, args)
		if err != nil {
			return bound{}, err
		}
		types := make([]arrow.DataType, len(at))
		for i, j := range at {
			types[i] = in.Field(j).Type
		}
		t, err := f.Result(types...)
		if err != nil {
			return bound{}, err
		}
		fields := slices.Clone(in.Fields())
		field := arrow.Field{Name: column, Type: t, Nullable: true}
		to := slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == column })
		if to < 0 {
			to = len(fields)
			fields = append(fields, field)
		} else {
			fields[to] = field
		}
		meta := in.Metadata()
		out := arrow.NewSchema(fields, &meta)
		return bound{name: f.name, out: out, batch: func(c *Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
			inputs := make([]arrow.Array, len(at))
			for i, j := range at {
				inputs[i] = b.Column(j)
			}
			res, err := f.call(c, int(b.NumRows()), inputs, t)
			if err != nil {
				return err
			}
			defer res.Release()
			cols := append(slices.Clone(b.Columns()), nil)[:len(fields)]
			cols[to] = res
			return emit(array.NewRecordBatch(out, cols, b.NumRows()))
		}}, nil
	}}
}

// Select keeps the named columns, in that order.
func Select(columns ...string) Stage {
	return Stage{name: "select", bind: func(in *arrow.Schema) (bound, error) {
		at, err := columnIndexes(in, columns)
		if err != nil {
			return bound{}, err
		}
		fields := make([]arrow.Field, len(at))
		for i, j := range at {
			fields[i] = in.Field(j)
		}
		meta := in.Metadata()
		out := arrow.NewSchema(fields, &meta)
		return bound{name: "select", out: out, batch: func(_ *Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
			cols := make([]arrow.Array, len(at))
			for i, j := range at {
				cols[i] = b.Column(j)
			}
			return emit(array.NewRecordBatch(out, cols, b.NumRows()))
		}}, nil
	}}
}

// Table makes a table function: any number of rows, of the schema out, from the
// rows of one batch. f may call emit any number of times and gives it batches
// that it owns; it returns emit's error. Batches are worked on at the same time,
// so f keeps nothing between calls; see [Iterator] for functions that do.
func Table(name string, out *arrow.Schema,
	f func(c *Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error,
) Stage {
	return Stage{name: name, bind: func(*arrow.Schema) (bound, error) {
		return bound{name: name, out: out, batch: func(c *Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
			return f(c, b, func(res arrow.RecordBatch) error {
				if !sameTypes(res.Schema(), out) {
					err := fmt.Errorf("%w: result %v, want %v", ErrType, res.Schema(), out)
					res.Release()
					return err
				}
				if err := c.Context().Err(); err != nil {
					res.Release()
					return err
				}
				return emit(res)
			})
		}}, nil
	}}
}

// Iterator makes a function of the whole stream, which may keep state from batch
// to batch. It sees the batches in order, in one goroutine. It owns the batches
// that it receives, and those that it yields belong to who gets them. It passes
// errors on and stops. out gives the schema of its results; nil keeps the schema.
func Iterator(name string, out func(in *arrow.Schema) (*arrow.Schema, error),
	f func(c *Call, in iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[arrow.RecordBatch, error],
) Stage {
	return Stage{name: name, bind: func(in *arrow.Schema) (bound, error) {
		schema := in
		if out != nil {
			var err error
			if schema, err = out(in); err != nil {
				return bound{}, err
			}
		}
		return bound{name: name, out: schema, stream: f}, nil
	}}
}

// columnIndexes finds columns by name.
func columnIndexes(in *arrow.Schema, names []string) ([]int, error) {
	at := make([]int, len(names))
	var errs []error
	for i, name := range names {
		switch found := in.FieldIndices(name); len(found) {
		case 1:
			at[i] = found[0]
		case 0:
			errs = append(errs, fmt.Errorf("%w: there is no column %q", ErrType, name))
		default:
			errs = append(errs, fmt.Errorf("%w: there are %d columns %q", ErrType, len(found), name))
		}
	}
	return at, errors.Join(errs...)
}

// sameTypes compares schemas as far as functions depend on them.
func sameTypes(a, b *arrow.Schema) bool {
	if a == b {
		return true
	}
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i := range a.NumFields() {
		if x, y := a.Field(i), b.Field(i); x.Name != y.Name || !arrow.TypeEqual(x.Type, y.Type) {
			return false
		}
	}
	return true
}
