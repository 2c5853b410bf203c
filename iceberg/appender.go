package iceberg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"

	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/variant"
)

// Appender writes rows into new data files and commits them at the end. Its
// methods must not be called concurrently; it uses more goroutines by itself.
// It must be ended by Commit or Abort.
//
// The caller's goroutine finds the columns and the partition of each row and
// packs rows into chunks; a pool of workers turns the chunks of a partition, in
// order, into the columns of its file, and full row groups into bytes.
type Appender struct {
	t           *Table
	opts        AppendOptions
	ctx         context.Context
	fields      []ice.NestedField // columns of the files, in order
	whole       bool              // a row is the value of the single Variant column
	variants    int               // top-level Variant columns
	shredding   bool
	parse       variant.ParseOptions
	metrics     []metricsMode
	spec        ice.PartitionSpec
	partitioner *partitioner
	scanner     *rowScanner
	check       *checker
	fs          iceio.WriteFileIO
	locations   table.LocationProvider
	pqOptions   pq.WriterOptions
	chunks      sync.Pool
	id          string // part of the files' names
	names       atomic.Int64

	line    int64 // rows seen
	key     []byte
	nextKey []byte
	parts   map[string]*part
	order   []*part
	pool    *pool
	closed  bool
	err     error // sticky; nil while failed is false

	failed atomic.Bool
	mu     sync.Mutex // guards the rest
	first  error      // of the bad row with the lowest number, or of the files
	at     int64      // number of that row, 0 for an error of the files
	bad    int64      // rows rejected
	files  []writtenFile
	paths  []string // of all files created
}

// writtenFile is a finished data file and its place in the order of rows.
type writtenFile struct {
	part, seq int
	file      ice.DataFile
	shredded  bool
}

// Defaults of AppendOptions.
const (
	defaultTargetFile = 512 << 20
	defaultRowGroup   = 32 << 20
	maxRowGroup       = 1 << 30
	defaultMemory     = 256 << 20
	defaultSample     = 100
	queueBytes        = 16 << 20
	maxOpenFiles      = 200
)

// NewAppender starts an append to the table's current schema and partition
// spec. ctx bounds the writing of files; Commit has its own.
func (t *Table) NewAppender(ctx context.Context, opts AppendOptions) (*Appender, error) {
	if err := t.writable(); err != nil {
		return nil, err
	}
	a := &Appender{t: t, opts: opts, ctx: ctx, id: uuid.NewString(), parts: map[string]*part{}, check: newChecker()}
	if a.opts.CommitID == "" {
		a.opts.CommitID = a.id
	}
	a.chunks.New = func() any { return &chunk{} }
	tbl := t.Unwrap()
	if err := a.prepare(ctx, tbl); err != nil {
		return nil, fmt.Errorf("append to %s: %w", t.Name(), err)
	}
	a.pool = newPool(a.opts.Workers, a.process)
	return a, nil
}

// needsSample reports that a file's layout depends on its first rows.
func (a *Appender) needsSample() bool { return a.shredding }

// WriteJSON adds one JSON row. A blank line is counted, but is no row. line is
// not kept. Unless Reject is set, a bad row, this one or an earlier one, ends
// the append with a *RowError.
func (a *Appender) WriteJSON(line []byte) error {
	if err := a.ready(); err != nil {
		return err
	}
	a.line++
	row := trimSpace(line)
	if len(row) == 0 {
		return nil
	}
	var spans []span
	a.key = a.key[:0]
	if !a.whole {
		if err := a.scanner.scan(row); err != nil {
			a.reject(a.line, row, &RowError{Line: a.line, Err: err})
			return a.ready()
		}
		spans = a.scanner.spans
		a.key = a.partitioner.jsonKey(a.key, row, spans)
	}
	p, err := a.partition(a.key)
	if err != nil {
		return a.stop(err)
	}
	if p.pending == nil {
		p.pending = a.chunks.Get().(*chunk)
	}
	p.pending.add(a.line, row, spans)
	if p.pending.full() {
		return a.send(p)
	}
	return nil
}

// ready fails once the append has failed or ended.
func (a *Appender) ready() error {
	switch {
	case a.err != nil:
		return a.err
	case a.closed:
		return ErrClosed
	case a.failed.Load():
		return a.stop(nil)
	}
	return nil
}

// partition finds or starts the partition with the key; the partitioner is at
// a row of it.
func (a *Appender) partition(key []byte) (*part, error) {
	if p := a.parts[string(key)]; p != nil {
		p.lastUse = a.line
		return p, nil
	}
	if len(a.parts) >= maxOpenFiles {
		if err := a.evict(); err != nil {
			return nil, err
		}
	}
	p := &part{tuple: a.partitioner.tuple(), ordinal: len(a.order), lastUse: a.line}
	p.folder = a.partitioner.path(p.tuple)
	a.parts[string(key)] = p
	a.order = append(a.order, p)
	return p, nil
}

// evict closes the file of the partition that was written least recently, so
// that the number of open files is bounded. Its next row starts a new one.
func (a *Appender) evict() error {
	var oldKey string
	var old *part
	for k, p := range a.parts {
		if old == nil || p.lastUse < old.lastUse {
			oldKey, old = k, p
		}
	}
	delete(a.parts, oldKey)
	return a.finishPart(old)
}

func (a *Appender) finishPart(p *part) error {
	c := p.pending
	if c == nil {
		c = &chunk{}
	}
	c.act = actClose
	p.pending = c
	return a.send(p)
}

// send queues the pending rows of a partition and keeps memory within bounds.
func (a *Appender) send(p *part) error {
	c := p.pending
	p.pending = nil
	if err := a.ctx.Err(); err != nil {
		return a.stop(err)
	}
	a.pool.submit(p, c, queueBytes)
	for a.pool.buffered.Load() > a.opts.MemoryBytes && !a.failed.Load() {
		largest := slices.MaxFunc(a.order, func(x, y *part) int { return int(x.buffered.Load() - y.buffered.Load()) })
		if largest.buffered.Load() > 0 {
			a.pool.submit(largest, &chunk{act: actGroup}, queueBytes)
		}
		a.pool.below(a.opts.MemoryBytes)
		if largest.buffered.Load() == 0 && a.pool.idle() {
			break
		}
	}
	return nil
}

// process does the work of a chunk, on a worker.
func (a *Appender) process(p *part, c *chunk) {
	if p.file != nil && p.file.last {
		a.closeFile(p)
	}
	act := c.act
	if c.count() > 0 {
		if p.file == nil {
			p.file = a.newDataFile(p)
		}
		p.file.add(c) // c may have new rows by now
	}
	switch {
	case p.file == nil:
	case act == actGroup && p.file.cols != nil:
		p.file.endGroup()
	case act == actClose:
		a.closeFile(p)
	}
}

func (a *Appender) closeFile(p *part) {
	f := p.file
	p.file = nil
	entry, err := f.close()
	switch {
	case err != nil:
		a.ioError(err)
	case entry != nil:
		a.mu.Lock()
		a.files = append(a.files, writtenFile{part: p.ordinal, seq: p.seq, file: entry, shredded: f.isShredded()})
		a.mu.Unlock()
	}
}

// account adds to the bytes that are buffered for a partition.
func (a *Appender) account(p *part, delta int64) {
	p.buffered.Add(delta)
	a.pool.buffered.Add(delta)
}

// reject reports a bad row to the caller's function, or ends the append. The
// error of the lowest row wins.
func (a *Appender) reject(line int64, row []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opts.Reject != nil {
		if err = a.opts.Reject(line, row, err); err == nil {
			a.bad++
			return
		}
	}
	if a.first == nil || a.at > line {
		a.first, a.at = err, line
	}
	a.failed.Store(true)
}

// ioError ends the append because of the files.
func (a *Appender) ioError(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.first == nil {
		a.first, a.at = err, 0
	}
	a.failed.Store(true)
}

// newPath names the next file of a partition.
func (a *Appender) newPath(p *part) (string, error) {
	n := a.names.Add(1)
	name := fmt.Sprintf("%05d-%s.parquet", n, a.id)
	if p.folder != "" {
		name = p.folder + "/" + name
	}
	path := a.locations.NewDataLocation(name)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paths = append(a.paths, path)
	return path, nil
}

// stop ends the append after err or the error of a worker. Rows that came
// before the first bad one may still be with the workers; they are looked at
// first, so that the lowest bad row is reported.
func (a *Appender) stop(err error) error {
	if err != nil {
		a.ioError(err)
	}
	a.finishAll()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = a.first
	return a.err
}

// finishAll sends everything that is pending and waits for the workers.
func (a *Appender) finishAll() {
	for _, p := range a.order {
		c := p.pending
		if c == nil {
			c = &chunk{}
		}
		c.act, p.pending = actClose, nil
		a.pool.submit(p, c, queueBytes)
	}
	a.pool.wait()
}

// Flush writes out and closes all data files and returns them, in the order of
// their first rows within each partition. They are part of no snapshot yet.
// More rows may follow; they go into new files.
func (a *Appender) Flush(ctx context.Context) ([]ice.DataFile, error) {
	if err := a.ready(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, a.stop(err)
	}
	a.finishAll()
	if err := a.ready(); err != nil {
		return nil, err
	}
	slices.SortFunc(a.files, func(x, y writtenFile) int {
		if x.part != y.part {
			return x.part - y.part
		}
		return x.seq - y.seq
	})
	out := make([]ice.DataFile, len(a.files))
	for i, f := range a.files {
		out[i] = f.file
	}
	return out, nil
}

// Rejected is the number of rows left out by Reject so far.
func (a *Appender) Rejected() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bad
}

// Commit flushes and commits all rows in one snapshot. An append without rows
// makes none, unless Properties are to be set. After an error the data files
// are removed, except when the outcome of the commit is not known.
func (a *Appender) Commit(ctx context.Context) (*Commit, error) {
	files, err := a.Flush(ctx)
	if err != nil {
		return nil, a.fail(err)
	}
	c, err := a.t.commitChange(ctx, change{
		branch:     a.opts.Branch,
		id:         a.opts.CommitID,
		summary:    a.opts.Summary,
		properties: a.properties(),
		check:      a.opts.Check,
		build:      func(context.Context, *Table) (*delta, error) { return &delta{rows: files}, nil },
	})
	if err != nil {
		if errors.Is(err, ErrUnknownOutcome) {
			a.end()
			return nil, err
		}
		return nil, a.fail(err)
	}
	a.end()
	c.Rejected = a.Rejected()
	if c.Attempts == 0 { // an earlier process had committed these rows in its own files
		err = a.removeFiles()
	}
	return c, err
}

// properties are the caller's, and those without which a table must not hold
// shredded files.
func (a *Appender) properties() map[string]string {
	props := a.opts.Properties
	if !a.shredding || !slices.ContainsFunc(a.files, func(f writtenFile) bool { return f.shredded }) {
		return props
	}
	if a.t.Properties()[propVectorizedReads] == "false" {
		return props
	}
	if props == nil {
		props = map[string]string{}
	}
	if _, set := props[propVectorizedReads]; !set {
		props[propVectorizedReads] = strconv.FormatBool(false)
	}
	return props
}

// Abort drops the rows and removes their files. It does nothing after Commit.
func (a *Appender) Abort() error {
	if a.closed {
		return nil
	}
	a.failed.Store(true)
	a.finishAll()
	a.end()
	return a.removeFiles()
}

func (a *Appender) end() {
	if !a.closed {
		a.closed = true
		a.pool.close()
	}
}

func (a *Appender) removeFiles() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, p := range a.paths {
		if err := a.fs.Remove(p); err != nil && !isNotExist(err) {
			errs = append(errs, err)
		}
	}
	a.paths = nil
	return errors.Join(errs...)
}

// fail aborts because of err and returns it.
func (a *Appender) fail(err error) error { return errors.Join(err, a.Abort()) }

// WriteBatch adds the rows of an Arrow batch. Columns are matched by name; one
// that is missing gets its write default. The batch is not kept.
func (a *Appender) WriteBatch(batch arrow.RecordBatch) error {
	if err := a.ready(); err != nil {
		return err
	}
	return a.routeBatch(batch)
}
