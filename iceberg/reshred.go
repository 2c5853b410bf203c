package iceberg

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// reshredKey is the property of the target that says how far a source has been
// copied: its snapshot id, under the source's UUID.
const reshredKey = "frazil.reshred."

// ReshredOptions configures Reshred. The zero value is the default.
type ReshredOptions struct {
	// SkipDeletes follows a source of which rows were deleted since the last call:
	// those that had been copied stay in the target. Default: ErrUnsupported.
	SkipDeletes bool

	// Append are the options of the append to the target. Properties and Check
	// are taken by Reshred.
	Append AppendOptions
}

// Reshred copies the rows that were appended to source since the last call into
// target, where their Variants are shredded with a layout inferred from what is
// there. It is the second half of a pattern: a stream writes small unshredded
// files with low latency, and a batch job makes the table that is read from them.
//
// Columns are matched by name; target needs all of source's. Each row arrives
// exactly once, whatever fails: how far the source has been copied is kept as a
// property of the target, in the same commit as the rows, and checked before it.
// Snapshots of source that only append and those that only rewrite files are
// followed, and with SkipDeletes those that delete rows; one that changes rows is
// ErrUnsupported.
func Reshred(ctx context.Context, source, target *Table, opts ReshredOptions) (*Commit, error) {
	if source.Metadata().TableUUID() == target.Metadata().TableUUID() {
		return nil, invalidf("reshred %s: source and target are one table", source.Name())
	}
	if source.cat != nil {
		if err := source.Refresh(ctx); err != nil {
			return nil, err
		}
	}
	if err := target.Refresh(ctx); err != nil {
		return nil, err
	}
	head := source.Metadata().CurrentSnapshot()
	if head == nil {
		return &Commit{}, nil
	}
	key := reshredKey + source.Metadata().TableUUID().String()
	from := target.Properties()[key]
	if from == strconv.FormatInt(head.SnapshotID, 10) {
		return &Commit{}, nil
	}
	after, err := appendedAfter(source.Metadata(), head, from, opts.SkipDeletes)
	if err != nil {
		return nil, fmt.Errorf("reshred %s: %w", source.Name(), err)
	}
	opts.Append.Properties = map[string]string{key: strconv.FormatInt(head.SnapshotID, 10)}
	opts.Append.Check = func(_ context.Context, t *Table) error {
		if t.Properties()[key] != from {
			return fmt.Errorf("%w: another job has copied from %s", ErrConflict, source.Name())
		}
		return nil
	}
	return copyAfter(ctx, source, target, head, after, opts.Append)
}

// appendedAfter gives the sequence number after which source's rows are new, and
// makes sure that the snapshots since then changed no row.
func appendedAfter(meta table.Metadata, head *table.Snapshot, from string, skipDeletes bool) (int64, error) {
	for s := head; ; {
		if strconv.FormatInt(s.SnapshotID, 10) == from {
			return s.SequenceNumber, nil
		}
		op := table.Operation("")
		if s.Summary != nil {
			op = s.Summary.Operation
		}
		switch {
		case from == "", op == table.OpAppend, op == table.OpReplace, op == table.OpDelete && skipDeletes:
		case op == table.OpDelete:
			return 0, unsupportedf("snapshot %d deletes rows that may have been copied; with SkipDeletes they stay in the target", s.SnapshotID)
		default:
			return 0, unsupportedf("snapshot %d (%s) changes rows that may have been copied; copy into a new table", s.SnapshotID, op)
		}
		if s.ParentSnapshotID == nil {
			break
		}
		parent := meta.SnapshotByID(*s.ParentSnapshotID)
		if parent == nil {
			break
		}
		s = parent
	}
	if from != "" {
		return 0, invalidf("snapshot %s, up to which rows were copied, is no longer in the history", from)
	}
	return 0, nil // the first copy takes everything
}

// copyAfter appends the rows of source whose last change is after the given
// sequence number. A rewritten row keeps the number of its last change, so that
// compaction of the source makes no row new.
func copyAfter(ctx context.Context, source, target *Table, head *table.Snapshot, after int64, opts AppendOptions) (*Commit, error) {
	columns, err := sharedColumns(source.Schema(), target.Schema())
	if err != nil {
		return nil, err
	}
	scan, err := source.Scan(ctx, ScanOptions{Columns: columns, SnapshotID: head.SnapshotID, Lineage: true, Workers: opts.Workers})
	if err != nil {
		return nil, err
	}
	var tasks []fileTask
	for _, task := range scan.plan.tasks {
		if task.seq > after {
			tasks = append(tasks, task)
		}
	}
	scan.plan.tasks = tasks
	w, err := target.NewAppender(ctx, opts)
	if err != nil {
		return nil, err
	}
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			return nil, w.fail(err)
		}
		err = writeAfter(w, batch, len(columns), after)
		batch.Release()
		if err != nil {
			return nil, w.fail(err)
		}
	}
	return w.Commit(ctx)
}

// sharedColumns are the columns of source, all of which target must have.
func sharedColumns(source, target *ice.Schema) ([]string, error) {
	var names []string
	var errs []error
	for _, f := range source.Fields() {
		names = append(names, f.Name)
		if _, ok := target.FindFieldByName(f.Name); !ok {
			errs = append(errs, invalidf("the target has no column %q", f.Name))
		}
	}
	return names, errors.Join(errs...)
}

// writeAfter appends the runs of rows of a batch that are new. The columns of
// the lineage follow the first ones.
func writeAfter(w *Appender, batch arrow.RecordBatch, columns int, after int64) error {
	last, ok := batch.Column(columns + 1).(*array.Int64)
	if !ok {
		return corruptf("column %s is of type %s", lastUpdatedName, batch.Column(columns+1).DataType())
	}
	schema := arrow.NewSchema(batch.Schema().Fields()[:columns], nil)
	rows := array.NewRecordBatch(schema, batch.Columns()[:columns], batch.NumRows())
	defer rows.Release()
	isNew := func(i int) bool { return last.IsNull(i) || last.Value(i) > after }
	for i := 0; i < last.Len(); i++ {
		if !isNew(i) {
			continue
		}
		start := i
		for i < last.Len() && isNew(i) {
			i++
		}
		run := rows.NewSlice(int64(start), int64(i))
		err := w.WriteBatch(run)
		run.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
