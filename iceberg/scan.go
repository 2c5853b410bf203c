package iceberg

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/frazil/frazil/internal/pq"
)

// defaultBatchRows is the most rows of a batch: enough to amortize the work per
// batch, few enough for a batch's columns to stay in the processor's caches.
const defaultBatchRows = 16 << 10

// ScanOptions says what to read. The zero value reads all columns of all rows
// of the main branch.
type ScanOptions struct {
	// Columns are the names of top-level columns, in the order of the result.
	// Default: all of them, or none when there are Extractions.
	Columns []string

	// Extractions are parts of Variant columns; they follow the Columns.
	Extractions []Extraction

	// Where keeps the rows for which it is true.
	Where Expr

	// SnapshotID reads a snapshot of the table's history, with the schema of its
	// time. At most one of SnapshotID, Ref and AsOf may be set.
	SnapshotID int64

	// Ref reads the head of a branch with the table's schema, or a tag with that
	// of its time.
	Ref string

	// AsOf reads the snapshot that was current at a time.
	AsOf time.Time

	// After reads only the rows that append snapshots after this one have added,
	// up to the version that is read, as they were added: what later snapshots
	// delete is still there. The snapshot must be an ancestor of that version.
	// 0: all rows.
	After int64

	// Limit ends the scan after so many rows. Deleted rows and those that the
	// filter takes out do not count. 0: no limit.
	Limit int64

	// Lineage adds the columns _row_id and _last_updated_sequence_number at the
	// end. They are null for rows that were written before the table had them.
	Lineage bool

	// BatchRows is the most rows of a batch. Default 16,384.
	BatchRows int

	// Workers is the number of goroutines that read. Default: one per processor.
	Workers int

	// Unordered delivers batches as they are ready. By default rows come in one
	// order: data files by sequence number, then manifest order, then position.
	Unordered bool

	// Allocator provides the memory of the batches. Default: Go's heap.
	Allocator memory.Allocator
}

func (o *ScanOptions) validate() error {
	var errs []error
	if o.Limit < 0 {
		errs = append(errs, invalidf("scan: Limit %d is negative", o.Limit))
	}
	if o.BatchRows < 0 || o.BatchRows > 1<<24 {
		errs = append(errs, invalidf("scan: BatchRows %d is not 0 to 2^24", o.BatchRows))
	}
	if o.Workers < 0 {
		errs = append(errs, invalidf("scan: Workers %d is negative", o.Workers))
	}
	return errors.Join(errs...)
}

func (o *ScanOptions) withDefaults() {
	if o.BatchRows == 0 {
		o.BatchRows = defaultBatchRows
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
}

// Scan reads one version of a table. It may be read several times, one after
// the other; it is not safe for concurrent use.
type Scan struct {
	meta   table.Metadata
	opts   ScanOptions
	plan   *plannedScan
	schema *arrow.Schema
	spec   *readSpec
	index  []int // of each column among the needs
	stats  scanStats
}

// Scan plans the reading of a table: it reads manifests, no data. A column that
// does not exist and a predicate that does not fit are errors that Is
// ErrInvalid.
func (t *Table) Scan(ctx context.Context, opts ScanOptions) (*Scan, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	opts.withDefaults()
	v := version{snapshotID: opts.SnapshotID, ref: opts.Ref, asOf: opts.AsOf, after: opts.After}
	plan, err := t.plan(ctx, v, opts.Where, opts.Workers)
	if err != nil {
		return nil, err
	}
	return t.newScan(ctx, opts, plan)
}

// newScan prepares the reading of what was planned.
func (t *Table) newScan(ctx context.Context, opts ScanOptions, plan *plannedScan) (*Scan, error) {
	outputs, err := opts.outputs(plan.schema)
	if err != nil {
		return nil, err
	}
	s := &Scan{opts: opts, plan: plan, meta: t.Metadata()}
	s.spec, s.index = newReadSpec(plan.filter, outputs)
	s.spec.mem, s.spec.batchRows, s.spec.stats = opts.Allocator, opts.BatchRows, &s.stats
	fields := make([]arrow.Field, len(outputs))
	for i := range outputs {
		fields[i] = outputs[i].arrowField()
	}
	s.schema = arrow.NewSchema(fields, nil)
	return s, t.fillSpec(ctx, s.spec, plan.schema)
}

// fillSpec adds what a read needs of the table.
func (t *Table) fillSpec(ctx context.Context, s *readSpec, schema *ice.Schema) error {
	fs, err := t.FS(ctx)
	if err != nil {
		return fmt.Errorf("iceberg: scan: %w", err)
	}
	mapping, err := nameMapping(t.Properties())
	if err != nil {
		return err
	}
	s.fs = fs
	s.meta = tableParts{schema: schema, older: t.Metadata().Schemas(), mapping: mapping, spec: t.Metadata().PartitionSpecByID}
	s.deletes = newDeleteCache(fs, s.meta, s.stats)
	return nil
}

// outputs lists the columns of the result.
func (o *ScanOptions) outputs(schema *ice.Schema) ([]need, error) {
	var out []need
	if o.Columns == nil && len(o.Extractions) == 0 {
		for _, f := range schema.Fields() {
			out = append(out, need{field: f})
		}
	}
	for _, name := range o.Columns {
		f, ok := topField(schema, name)
		if !ok {
			return nil, invalidf("scan: no column %q", name)
		}
		out = append(out, need{field: f})
	}
	for i := range o.Extractions {
		x := &o.Extractions[i]
		f, ok := topField(schema, x.Column)
		switch {
		case !ok:
			return nil, invalidf("scan: no column %q", x.Column)
		case !isVariant(f.Type):
			return nil, invalidf("scan: column %q is %s, not variant", x.Column, f.Type)
		}
		out = append(out, need{extract: x})
	}
	if o.Lineage {
		out = slices.DeleteFunc(out, func(n need) bool { return n.field.ID == rowIDField || n.field.ID == lastUpdatedField })
		for _, f := range lineageFields() {
			out = append(out, need{field: f})
		}
	}
	return out, nil
}

// Schema is the schema of the batches. Variants are struct<metadata: binary,
// value: binary> with the extension name in the field's metadata.
func (s *Scan) Schema() *arrow.Schema { return s.schema }

// SnapshotID is the snapshot that is read, 0 for an empty table.
func (s *Scan) SnapshotID() int64 {
	if s.plan.snapshot == nil {
		return 0
	}
	return s.plan.snapshot.SnapshotID
}

// Stats says what was read so far.
func (s *Scan) Stats() ScanStats { return s.stats.snapshot() }

// Batches reads the rows. A batch belongs to the consumer, who releases it.
// After an error there are no further batches. Breaking off the loop or
// cancelling ctx ends all reading before the loop returns.
func (s *Scan) Batches(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		left := s.opts.Limit
		run := &scanRun{
			spec: s.spec, schema: s.schema, index: s.index, tasks: s.plan.tasks,
			workers: s.opts.Workers, unordered: s.opts.Unordered,
		}
		for res := range run.results(ctx) {
			if res.err != nil {
				yield(nil, res.err)
				return
			}
			rec := res.rec
			if s.opts.Limit > 0 && rec.NumRows() > left {
				cut := rec.NewSlice(0, left)
				rec.Release()
				rec = cut
			}
			left -= rec.NumRows()
			s.stats.addRows(rec.NumRows())
			if !yield(rec, nil) || s.opts.Limit > 0 && left == 0 {
				return
			}
		}
	}
}

// newRecord makes a record batch that owns its own reference to the columns.
func newRecord(schema *arrow.Schema, cols []arrow.Array, rows int64) arrow.RecordBatch {
	return array.NewRecordBatch(schema, cols, rows)
}

// ScanStats counts what a scan has read.
type ScanStats struct {
	Rows        int64    // rows delivered
	Files       int64    // data and delete files opened
	BytesRead   int64    // bytes of data and delete files: footers, indexes, bloom filters, pages, vectors
	PageBytes   int64    // the part of BytesRead that is column pages
	ColumnsRead []string // dotted paths of the leaves of which pages were read, sorted
}

// scanStats gathers ScanStats from all workers.
type scanStats struct {
	mu      sync.Mutex
	stats   ScanStats
	columns map[string]struct{}
}

// addFile takes the counts of a file that is about to be closed. An Avro file
// has been read whole.
func (s *scanStats) addFile(f *pq.File, entry ice.DataFile) {
	got := f.Stats()
	if entry.FileFormat() == ice.AvroFile {
		got.BytesRead, got.PageBytes = entry.FileSizeBytes(), 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Files++
	s.stats.BytesRead += got.BytesRead
	s.stats.PageBytes += got.PageBytes
	if s.columns == nil {
		s.columns = map[string]struct{}{}
	}
	leaves := f.Leaves()
	for _, i := range got.Columns {
		s.columns[dotted(leaves[i].Path)] = struct{}{}
	}
}

// addBytes counts a read beside the data files.
func (s *scanStats) addBytes(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Files++
	s.stats.BytesRead += n
}

func (s *scanStats) addRows(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Rows += n
}

func (s *scanStats) snapshot() ScanStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.ColumnsRead = make([]string, 0, len(s.columns))
	for c := range s.columns {
		out.ColumnsRead = append(out.ColumnsRead, c)
	}
	slices.Sort(out.ColumnsRead)
	return out
}
