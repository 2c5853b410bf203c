package iceberg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	ice "github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// CompactOptions says which data files Compact rewrites. The zero value is the
// default.
type CompactOptions struct {
	// Where limits the work to files that may hold a row for which it is true.
	// All rows of such a file are kept.
	Where Expr

	// TargetFileBytes is the size of the new files. Files below three quarters of
	// it are small. Default: write.target-file-size-bytes, else 512 MiB.
	TargetFileBytes int64

	// All rewrites every file, so that all rows are shredded anew.
	All bool

	// Summary entries are added to the snapshot's summary.
	Summary map[string]string

	// Workers is the number of goroutines. Default: one per processor.
	Workers int
}

// Compaction says what Compact has done.
type Compaction struct {
	Commit
	Removed []ice.DataFile // data files that were replaced
}

// Compact rewrites small files of a partition into larger ones, and files with
// deleted rows without them, in one snapshot. Variants are shredded with a layout
// inferred anew. Rows keep their ids and the sequence number of their last
// change. The deletion vectors of the rewritten files go, and no others: also
// when a Puffin file is shared.
func (t *Table) Compact(ctx context.Context, opts CompactOptions) (*Compaction, error) {
	if opts.TargetFileBytes <= 0 {
		opts.TargetFileBytes = t.Properties().GetInt64(propTargetFileBytes, defaultTargetFile)
	}
	c := &compactor{t: t, opts: opts, id: uuid.NewString()}
	done, err := t.commitChange(ctx, change{
		id: c.id, summary: opts.Summary, properties: c.properties(), build: c.build, replace: true,
		abandon: func() error { c.refused = true; return nil },
	})
	if err != nil {
		if !errors.Is(err, ErrUnknownOutcome) {
			err = errors.Join(err, c.discard())
		}
		return nil, err
	}
	if c.writer != nil {
		c.writer.end()
	}
	return &Compaction{Commit: *done, Removed: c.delta.oldRows}, nil
}

// compactor builds one compaction, again on each attempt unless the files that
// it read are still as they were.
type compactor struct {
	t      *Table
	opts   CompactOptions
	id     string
	writer *Appender
	inputs string // identifies the files that were read and their deletes
	delta  delta

	// refused says that the last attempt cannot come true any more, so that its
	// files may be removed when they are of no use.
	refused bool
}

// properties are those without which a table must not hold shredded files.
func (c *compactor) properties() map[string]string {
	props := c.t.Properties()
	if !props.GetBool(propShredVariants, false) || props[propVectorizedReads] == "false" {
		return nil
	}
	return map[string]string{propVectorizedReads: "false"}
}

// forget begins anew. The files of an attempt that may still come true stay.
func (c *compactor) forget() error {
	if c.refused {
		return c.discard()
	}
	if c.writer != nil {
		c.writer.end()
	}
	c.writer, c.inputs, c.delta = nil, "", delta{}
	return nil
}

// discard removes the files of the last build.
func (c *compactor) discard() error {
	if c.writer == nil {
		return nil
	}
	w := c.writer
	c.writer, c.inputs, c.delta = nil, "", delta{}
	return w.Abort()
}

func (c *compactor) build(ctx context.Context, cur *Table) (*delta, error) {
	plan, err := cur.plan(ctx, version{}, c.opts.Where, max(c.opts.Workers, 1))
	if err != nil {
		return nil, err
	}
	tasks := c.choose(plan.tasks)
	inputs := identify(tasks)
	if c.writer != nil && inputs == c.inputs {
		return &c.delta, nil // another writer was faster, but not with these files
	}
	if err := c.forget(); err != nil {
		return nil, err
	}
	if len(tasks) == 0 {
		return &delta{}, nil
	}
	c.inputs, c.refused = inputs, false
	for i := range tasks {
		c.delta.oldRows = append(c.delta.oldRows, tasks[i].file)
		if tasks[i].vector != nil {
			c.delta.oldMarks = append(c.delta.oldMarks, tasks[i].vector)
		}
	}
	c.delta.rows, err = c.rewrite(ctx, cur, tasks)
	return &c.delta, err
}

// rewrite copies the live rows of the files into new ones.
func (c *compactor) rewrite(ctx context.Context, cur *Table, tasks []fileTask) ([]ice.DataFile, error) {
	scan, err := cur.Scan(ctx, ScanOptions{Lineage: true, Workers: c.opts.Workers})
	if err != nil {
		return nil, err
	}
	scan.plan.tasks = tasks
	c.writer, err = cur.NewAppender(ctx, AppendOptions{
		TargetFileBytes: c.opts.TargetFileBytes, Workers: c.opts.Workers, lineage: true,
	})
	if err != nil {
		return nil, err
	}
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		err = c.writer.WriteBatch(batch)
		batch.Release()
		if err != nil {
			return nil, err
		}
	}
	return c.writer.Flush(ctx)
}

// smallShare is the share of the target size below which a file is small.
const smallShare = 0.75

// choose picks the files to rewrite: those with deleted rows, and the small
// ones of a partition if there are two of them, or one beside a file that is
// rewritten anyway.
func (c *compactor) choose(tasks []fileTask) []fileTask {
	small := map[string]int{}
	for i := range tasks {
		if c.isSmall(&tasks[i]) || hasDeletes(&tasks[i]) {
			small[partitionID(tasks[i].file)]++
		}
	}
	var out []fileTask
	for i := range tasks {
		task := &tasks[i]
		if c.opts.All || hasDeletes(task) || c.isSmall(task) && small[partitionID(task.file)] > 1 {
			out = append(out, *task)
		}
	}
	return out
}

func (c *compactor) isSmall(t *fileTask) bool {
	return float64(t.file.FileSizeBytes()) < smallShare*float64(c.opts.TargetFileBytes)
}

func hasDeletes(t *fileTask) bool { return t.vector != nil || len(t.positions)+len(t.equality) > 0 }

func partitionID(f ice.DataFile) string {
	ids := make([]int, 0, len(f.Partition()))
	for id := range f.Partition() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var b strings.Builder
	fmt.Fprint(&b, f.SpecID())
	for _, id := range ids {
		fmt.Fprintf(&b, "/%d=%v", id, f.Partition()[id])
	}
	return b.String()
}

// identify tells whether two plans read the same rows of the same files.
func identify(tasks []fileTask) string {
	var b strings.Builder
	for i := range tasks {
		t := &tasks[i]
		fmt.Fprintln(&b, t.file.FilePath())
		if t.vector != nil {
			fmt.Fprintln(&b, t.vector.FilePath(), *t.vector.ContentOffset())
		}
		for _, d := range slices.Concat(t.positions, t.equality) {
			fmt.Fprintln(&b, d.FilePath())
		}
	}
	return b.String()
}
