package iceberg

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// choose divides pairs into those for which a condition is true, and the rest.
// A nil target stands for no row of the table.
func (m *merger) choose(ctx context.Context, f *filter, target arrow.RecordBatch, pairs rowPairs) (chosen, rest rowPairs, err error) {
	if f == nil {
		return pairs, rowPairs{}, nil
	}
	rows := len(pairs.source)
	inputs := make([]arrow.Array, len(f.columns))
	defer func() {
		for _, arr := range inputs {
			if arr != nil {
				arr.Release()
			}
		}
	}()
	for i, c := range f.columns {
		switch {
		case c.Name == "source":
			inputs[i], err = structRows(ctx, m, m.src.rec, arrowType(c.Type), pairs.source)
		case target == nil:
			inputs[i] = array.MakeArrayOfNull(m.a.mem, arrowType(c.Type), rows)
		default:
			inputs[i], err = structRows(ctx, m, target, arrowType(c.Type), pairs.target)
		}
		if err != nil {
			return chosen, rest, err
		}
	}
	truth, err := (&evaluator{filter: f}).eval(inputs, rows)
	if err != nil {
		return chosen, rest, err
	}
	for i, t := range truth {
		side := &rest
		if t == triTrue {
			side = &chosen
		}
		side.source = append(side.source, pairs.source[i])
		if target != nil {
			side.target = append(side.target, pairs.target[i])
		}
	}
	return chosen, rest, nil
}

// structRows gathers rows of a batch as one struct array.
func structRows(ctx context.Context, m *merger, rec arrow.RecordBatch, typ arrow.DataType, rows []int64) (arrow.Array, error) {
	var children []arrow.ArrayData
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	for i := range int(rec.NumCols()) {
		arr, err := takeRows(ctx, m.a.mem, rec.Column(i), rows)
		if err != nil {
			return nil, err
		}
		arr.Data().Retain()
		children = append(children, arr.Data())
		arr.Release()
	}
	d := array.NewData(typ, len(rows), []*memory.Buffer{nil}, children, 0, 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}

// updated makes the new rows of matched pairs: the columns that the source has
// replace those of the table.
func (m *merger) updated(ctx context.Context, target arrow.RecordBatch, pairs rowPairs) (arrow.RecordBatch, error) {
	cols := make([]arrow.Array, 0, len(m.outputs))
	defer func() { releaseAll(cols) }()
	for i := range m.outputs {
		arr, err := m.updatedColumn(ctx, i, target, pairs)
		if err != nil {
			return nil, err
		}
		cols = append(cols, arr)
	}
	return newRecord(arrow.NewSchema(m.fields, nil), cols, int64(len(pairs.target))), nil
}

func (m *merger) updatedColumn(ctx context.Context, i int, target arrow.RecordBatch, pairs rowPairs) (arrow.Array, error) {
	from := m.plan[i]
	switch {
	case m.outputs[i].field.ID == lastUpdatedField: // the commit's own
		return array.MakeArrayOfNull(m.a.mem, arrow.PrimitiveTypes.Int64, len(pairs.target)), nil
	case from < 0:
		return takeRows(ctx, m.a.mem, target.Column(i), pairs.target)
	}
	var present []bool
	if m.src.present != nil {
		present = m.src.present[from]
	}
	if present == nil {
		return takeRows(ctx, m.a.mem, m.src.rec.Column(from), pairs.source)
	}
	both, err := array.Concatenate([]arrow.Array{target.Column(i), m.src.rec.Column(from)}, m.a.mem)
	if err != nil {
		return nil, err
	}
	defer both.Release()
	rows := make([]int64, len(pairs.target))
	for k, t := range pairs.target {
		rows[k] = t
		if present[pairs.source[k]] {
			rows[k] = target.NumRows() + pairs.source[k]
		}
	}
	return takeRows(ctx, m.a.mem, both, rows)
}
