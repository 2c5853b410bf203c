package iceberg

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"

	"github.com/frazil/frazil/deletevec"
)

// WriteOptions configures Delete, Update and Merge. The zero value is the
// default.
type WriteOptions struct {
	// Branch is the branch to change. Default "main".
	Branch string

	// Summary entries are added to the snapshot's summary.
	Summary map[string]string

	// Properties are set on the table in the same commit.
	Properties map[string]string

	// Check is called with the newest version of the table before each attempt,
	// and an error from it ends the operation. The attempt succeeds only on
	// exactly that version of the branch.
	Check func(ctx context.Context, t *Table) error

	// CommitID identifies the commit over retries, as for an append.
	CommitID string

	// Workers is the number of goroutines that read and write. Default: one per
	// processor.
	Workers int
}

// Changes describes what a row-level operation has done. SnapshotID is 0 when
// there was nothing to do.
type Changes struct {
	Commit
	Deleted  int64
	Updated  int64
	Inserted int64
	Vectors  []ice.DataFile // deletion vectors written
	Dropped  []ice.DataFile // data files that went as a whole
}

// Table properties that choose how rows are changed, and their values. Unlike
// in Spark, the default is merge-on-read.
const (
	propDeleteMode  = "write.delete.mode"
	propUpdateMode  = "write.update.mode"
	propMergeMode   = "write.merge.mode"
	modeCopyOnWrite = "copy-on-write"
)

// rowChange is one row-level operation. Every attempt to commit it runs the
// whole operation anew on the newest version of the table: so whatever order
// commits take, each looks as if it had run alone (isolation level
// serializable, which includes snapshot), a row that another writer has moved is
// found where it is now, and two writers never leave two vectors on one file.
type rowChange struct {
	t    *Table
	opts WriteOptions
	mode string // the property that chooses the mode
	// run does the operation on one version.
	run func(ctx context.Context, a *attempt) error

	last *attempt
}

// attempt is the operation on one version of the table.
type attempt struct {
	t       *Table
	opts    *WriteOptions
	mem     memory.Allocator
	fs      iceio.WriteFileIO
	copying bool // copy-on-write
	touched map[string]*touchedFile
	order   []*touchedFile
	writer  *Appender // of new rows; nil until there is one
	puffin  string    // location of the Puffin file, once it is begun
	changes Changes
}

// touchedFile is a data file of which rows go.
type touchedFile struct {
	task *fileTask
	old  *deletevec.Vector // deleted before; nil for none
	gone []int64           // positions that go now
	all  bool              // every row goes
}

func (c *rowChange) commit(ctx context.Context) (*Changes, error) {
	if c.opts.Workers <= 0 {
		c.opts.Workers = runtime.GOMAXPROCS(0)
	}
	if c.opts.CommitID == "" {
		c.opts.CommitID = uuid.NewString()
	}
	done, err := c.t.commitChange(ctx, change{
		branch:     c.opts.Branch,
		id:         c.opts.CommitID,
		summary:    c.opts.Summary,
		properties: c.properties(),
		check:      c.opts.Check,
		build:      c.build,
		abandon:    c.abandon,
	})
	if err != nil {
		if !errors.Is(err, ErrUnknownOutcome) {
			err = errors.Join(err, c.abandon())
		}
		return nil, err
	}
	if done.Attempts == 0 { // an earlier process had done it
		return &Changes{Commit: *done}, c.abandon()
	}
	out := &c.last.changes
	if c.last.writer != nil {
		c.last.writer.end()
	}
	out.Commit = *done
	return out, nil
}

// properties are the caller's, and the one without which a table must not hold
// shredded files (see TableSpec).
func (c *rowChange) properties() map[string]string {
	have := c.t.Properties()
	if !have.GetBool(propShredVariants, false) || have[propVectorizedReads] == "false" {
		return c.opts.Properties
	}
	out := map[string]string{propVectorizedReads: "false"}
	maps.Copy(out, c.opts.Properties)
	return out
}

// abandon removes what an attempt has written that was not committed.
func (c *rowChange) abandon() error {
	a := c.last
	c.last = nil
	if a == nil {
		return nil
	}
	var errs []error
	if a.writer != nil {
		errs = append(errs, a.writer.Abort())
	}
	if a.puffin != "" {
		if err := a.fs.Remove(a.puffin); err != nil && !isNotExist(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// leave ends the last build and keeps its files: the catalog may still make
// that attempt come true.
func (c *rowChange) leave() {
	if c.last != nil && c.last.writer != nil {
		c.last.writer.end()
	}
}

func (c *rowChange) build(ctx context.Context, cur *Table) (*delta, error) {
	fs, err := cur.FS(ctx)
	if err != nil {
		return nil, err
	}
	wfs, ok := fs.(iceio.WriteFileIO)
	if !ok {
		return nil, table.ErrWriteIORequired
	}
	if v := cur.Metadata().Version(); v < 3 {
		return nil, unsupportedf("changing rows of a table of format version %d; upgrade it to 3", v)
	}
	a := &attempt{
		t: cur, opts: &c.opts, fs: wfs, mem: memory.DefaultAllocator, touched: map[string]*touchedFile{},
		copying: cur.Properties()[c.mode] == modeCopyOnWrite,
	}
	c.leave()
	c.last = a
	if err := c.run(ctx, a); err != nil {
		return nil, err
	}
	return a.delta(ctx)
}

// find reads the rows for which where is true: the outputs, with positions. fn
// takes each batch, which is released afterwards.
func (a *attempt) find(ctx context.Context, where Expr, outputs []need, fn func(res scanResult) error) error {
	plan, err := a.plan(ctx, where)
	if err != nil || len(plan.tasks) == 0 {
		return err
	}
	run, err := a.newRun(ctx, plan.filter, plan.schema, outputs, plan.tasks)
	if err != nil {
		return err
	}
	for res := range run.results(ctx) {
		if res.err != nil {
			return res.err
		}
		err := fn(res)
		res.rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *attempt) plan(ctx context.Context, where Expr) (*plannedScan, error) {
	v := version{ref: a.opts.Branch}
	if v.ref == "" {
		v.ref = table.MainBranch
	}
	return a.t.plan(ctx, v, where, a.opts.Workers)
}

func (a *attempt) newRun(ctx context.Context, f *filter, schema *ice.Schema, outputs []need, tasks []fileTask) (*scanRun, error) {
	spec, index := newReadSpec(f, outputs)
	spec.mem, spec.batchRows, spec.stats = a.mem, defaultBatchRows, &scanStats{}
	if err := a.t.fillSpec(ctx, spec, schema); err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(outputs))
	for i := range outputs {
		fields[i] = outputs[i].arrowField()
	}
	return &scanRun{
		spec: spec, schema: arrow.NewSchema(fields, nil), index: index, tasks: tasks,
		workers: a.opts.Workers, positions: true,
	}, nil
}

// remove marks rows of a data file as gone.
func (a *attempt) remove(task *fileTask, positions []int64) {
	path := task.file.FilePath()
	f := a.touched[path]
	if f == nil {
		f = &touchedFile{task: task}
		a.touched[path] = f
		a.order = append(a.order, f)
	}
	f.gone = append(f.gone, positions...)
}

// removeFile marks all rows of a data file as gone, without a look at them.
func (a *attempt) removeFile(task *fileTask) {
	a.remove(task, nil)
	a.order[len(a.order)-1].all = true
}

// rows is the writer of new rows.
func (a *attempt) rows(ctx context.Context) (*Appender, error) {
	if a.writer != nil {
		return a.writer, nil
	}
	var err error
	a.writer, err = a.t.NewAppender(ctx, AppendOptions{Branch: a.opts.Branch, Workers: a.opts.Workers, lineage: true})
	return a.writer, err
}

// delta turns what was marked and written into a change of files.
func (a *attempt) delta(ctx context.Context) (*delta, error) {
	d := &delta{}
	if a.writer != nil {
		files, err := a.writer.Flush(ctx)
		if err != nil {
			return nil, err
		}
		d.rows = files
	}
	if len(a.order) == 0 {
		return d, nil
	}
	if !a.copying {
		if err := a.convertPositions(ctx, d); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(a.order, func(x, y *touchedFile) int { return compareTasks(x.task, y.task) })
	if err := a.loadOld(ctx); err != nil {
		return nil, err
	}
	if a.dropsWhole(d) {
		a.dropFiles(d)
		return d, nil
	}
	return d, a.writeVectors(ctx, d)
}

func compareTasks(x, y *fileTask) int {
	return cmp.Or(cmp.Compare(x.seq, y.seq), cmp.Compare(x.file.FilePath(), y.file.FilePath()))
}

// loadOld reads what was deleted of the touched files before: the old vector,
// or else the position delete files.
func (a *attempt) loadOld(ctx context.Context) error {
	cache := newDeleteCache(a.fs, tableParts{schema: a.t.Schema(), older: a.t.Metadata().Schemas(), spec: a.t.Metadata().PartitionSpecByID}, &scanStats{})
	for _, f := range a.order {
		if f.task.vector == nil && len(f.task.positions) == 0 {
			continue
		}
		v, err := cache.vector(ctx, f.task)
		if err != nil {
			return err
		}
		f.old = v
	}
	for _, f := range a.order {
		deleted := int64(len(f.gone))
		if f.old != nil {
			deleted += f.old.Cardinality()
		}
		f.all = f.all || deleted == f.task.file.Count()
	}
	return nil
}

// dropsWhole reports whether the change can do without vectors: all touched
// files go as a whole, or files are copied anyway. When some stay in part, those
// that go get a vector as well: iceberg-go has no commit that removes data files
// and adds vectors, unless these replace others of their age.
func (a *attempt) dropsWhole(d *delta) bool {
	if a.copying {
		return true
	}
	return len(d.oldMarks) == 0 && !slices.ContainsFunc(a.order, func(f *touchedFile) bool { return !f.all })
}

// dropFiles removes data files and the vectors that belong to them, by the data
// file they name and not by their Puffin file, which others may share.
func (a *attempt) dropFiles(d *delta) {
	for _, f := range a.order {
		d.oldRows = append(d.oldRows, f.task.file)
		a.changes.Dropped = append(a.changes.Dropped, f.task.file)
		if f.task.vector != nil {
			d.oldMarks = append(d.oldMarks, f.task.vector)
		}
	}
}
