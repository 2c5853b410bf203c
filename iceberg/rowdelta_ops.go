package iceberg

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	ice "github.com/apache/iceberg-go"
)

// Delete removes the rows for which where is true, in one snapshot. The zero
// Expr removes all rows. Files of which every row goes are dropped from the
// table, without being read when their partition decides; of the others the rows
// are marked in deletion vectors, or the files are rewritten when the property
// write.delete.mode is copy-on-write.
func (t *Table) Delete(ctx context.Context, where Expr, opts WriteOptions) (*Changes, error) {
	c := &rowChange{t: t, opts: opts, mode: propDeleteMode}
	c.run = func(ctx context.Context, a *attempt) error { return a.deleteRows(ctx, where) }
	out, err := c.commit(ctx)
	if err != nil {
		return nil, fmt.Errorf("delete from %s: %w", t.Name(), err)
	}
	return out, nil
}

func (a *attempt) deleteRows(ctx context.Context, where Expr) error {
	plan, err := a.plan(ctx, where)
	if err != nil || len(plan.tasks) == 0 {
		return err
	}
	rest := make([]fileTask, 0, len(plan.tasks))
	for i := range plan.tasks {
		task := &plan.tasks[i]
		if len(task.equality)+len(task.positions) == 0 && a.wholly(plan, task) {
			a.removeFile(task)
			a.changes.Deleted += liveRows(task)
			continue
		}
		rest = append(rest, *task)
	}
	if len(rest) == 0 {
		return nil
	}
	run, err := a.newRun(ctx, plan.filter, plan.schema, nil, rest)
	if err != nil {
		return err
	}
	for res := range run.results(ctx) {
		if res.err != nil {
			return res.err
		}
		res.rec.Release()
		a.remove(res.task, res.positions)
		a.changes.Deleted += int64(len(res.positions))
	}
	if a.copying {
		return a.copyRest(ctx)
	}
	return nil
}

// liveRows is the number of rows of a file that its vector leaves.
func liveRows(task *fileTask) int64 {
	n := task.file.Count()
	if task.vector != nil {
		n -= task.vector.Count()
	}
	return n
}

// wholly reports whether metadata shows that the predicate is true for every
// row of a file: it looks only at identity partition columns.
func (a *attempt) wholly(plan *plannedScan, task *fileTask) bool {
	if plan.filter == nil {
		return true
	}
	inputs := make([]arrow.Array, len(plan.filter.columns))
	defer func() {
		for _, arr := range inputs {
			if arr != nil {
				arr.Release()
			}
		}
	}()
	if len(plan.filter.extracts) > 0 {
		return false
	}
	for i, f := range plan.filter.columns {
		arr, ok := identityValue(a, task, f)
		if !ok {
			return false
		}
		inputs[i] = arr
	}
	truth, err := (&evaluator{filter: plan.filter}).eval(inputs, 1)
	return err == nil && truth[0] == triTrue
}

// identityValue gives the value that all rows of a file have in a column, if it
// is an identity partition column.
func identityValue(a *attempt, task *fileTask, f ice.NestedField) (arrow.Array, bool) {
	spec := a.t.Metadata().PartitionSpecByID(int(task.file.SpecID()))
	if spec == nil {
		return nil, false
	}
	partition := task.file.Partition()
	for _, p := range spec.Fields() {
		_, identity := p.Transform.(ice.IdentityTransform)
		v, present := partition[p.FieldID]
		if !identity || !present || !slices.Contains(p.SourceIDs, f.ID) {
			continue
		}
		if v == nil {
			return array.MakeArrayOfNull(a.mem, arrowType(f.Type), 1), true
		}
		s, err := partitionScalar(f.Type, v)
		if err != nil {
			return nil, false
		}
		arr, err := constantArray(a.mem, f.Type, &s, 1)
		return arr, err == nil
	}
	return nil, false
}

// Update sets columns of the rows for which where is true, in one snapshot.
// Updated rows keep their _row_id; their _last_updated_sequence_number becomes
// that of the commit.
func (t *Table) Update(ctx context.Context, sets []Assignment, where Expr, opts WriteOptions) (*Changes, error) {
	c := &rowChange{t: t, opts: opts, mode: propUpdateMode}
	c.run = func(ctx context.Context, a *attempt) error { return a.updateRows(ctx, sets, where) }
	out, err := c.commit(ctx)
	if err != nil {
		return nil, fmt.Errorf("update %s: %w", t.Name(), err)
	}
	return out, nil
}

func (a *attempt) updateRows(ctx context.Context, sets []Assignment, where Expr) error {
	schema := a.t.Schema()
	outputs, extra, err := updateOutputs(schema, sets)
	if err != nil {
		return err
	}
	setters, err := newSetters(schema, sets, outputs, a.mem)
	if err != nil {
		return err
	}
	columns := len(outputs) - extra
	err = a.find(ctx, where, outputs, func(res scanResult) error {
		a.remove(res.task, res.positions)
		a.changes.Updated += res.rec.NumRows()
		out, err := setters.apply(res.rec, columns)
		if err != nil {
			return err
		}
		defer out.Release()
		return a.write(ctx, out)
	})
	if err != nil || !a.copying {
		return err
	}
	return a.copyRest(ctx)
}

// write adds rows with their lineage columns.
func (a *attempt) write(ctx context.Context, rec arrow.RecordBatch) error {
	w, err := a.rows(ctx)
	if err != nil {
		return err
	}
	return w.WriteBatch(rec)
}

// copyRest writes the rows of the touched files that stay into new files, with
// their row ids and sequence numbers.
func (a *attempt) copyRest(ctx context.Context) error {
	outputs := tableOutputs(a.t.Schema())
	tasks := make([]fileTask, 0, len(a.order))
	gone := map[string]map[int64]struct{}{}
	for _, f := range a.order {
		if f.all {
			continue
		}
		tasks = append(tasks, *f.task)
		set := make(map[int64]struct{}, len(f.gone))
		for _, pos := range f.gone {
			set[pos] = struct{}{}
		}
		gone[f.task.file.FilePath()] = set
	}
	if len(tasks) == 0 {
		return nil
	}
	run, err := a.newRun(ctx, nil, a.t.Schema(), outputs, tasks)
	if err != nil {
		return err
	}
	for res := range run.results(ctx) {
		if res.err != nil {
			return res.err
		}
		err := a.copyRows(ctx, res, gone[res.task.file.FilePath()])
		res.rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// copyRows writes the rows of a batch that stay, run by run.
func (a *attempt) copyRows(ctx context.Context, res scanResult, gone map[int64]struct{}) error {
	rows := len(res.positions)
	for from := 0; from < rows; {
		if _, ok := gone[res.positions[from]]; ok {
			from++
			continue
		}
		to := from + 1
		for to < rows {
			if _, ok := gone[res.positions[to]]; ok {
				break
			}
			to++
		}
		part := res.rec.NewSlice(int64(from), int64(to))
		err := a.write(ctx, part)
		part.Release()
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// tableOutputs are all columns of the table and those of row lineage.
func tableOutputs(schema *ice.Schema) []need {
	var out []need
	for _, f := range append(schema.Fields(), lineageFields()...) {
		out = append(out, need{field: f})
	}
	return out
}
