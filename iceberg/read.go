package iceberg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"

	"github.com/frazil/frazil/deletevec"
	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
)

// need is something that a scan reads of every row: a column of the table, one
// of row lineage, or an extraction.
type need struct {
	field   ice.NestedField // the column; of an extraction the Variant column
	extract *Extraction
}

func (n *need) same(o *need) bool {
	if (n.extract == nil) != (o.extract == nil) || n.field.ID != o.field.ID {
		return false
	}
	return n.extract == nil || n.extract.String() == o.extract.String()
}

// arrowField describes the column of a batch that holds the need.
func (n *need) arrowField() arrow.Field {
	if n.extract == nil {
		return arrowField(n.field)
	}
	return shred.ArrowField(n.extract.name(), n.extract.Type)
}

// readSpec is what to read of every file of a scan. The needs of the filter
// come first: they are read before it is known which rows pass.
type readSpec struct {
	fs        iceio.IO
	meta      tableParts
	needs     []need
	early     int     // needs[:early] are those of the filter
	filter    *filter // slots are the first needs, in their order
	mem       memory.Allocator
	batchRows int
	deletes   *deleteCache
	stats     *scanStats
}

// tableParts are the parts of the table's metadata that reading a file needs.
type tableParts struct {
	schema  *ice.Schema
	older   []*ice.Schema // of the table's history, oldest first
	mapping ice.NameMapping
	spec    func(id int) *ice.PartitionSpec
}

// column finds a top-level column by id, also one that was dropped: equality
// deletes still go by it.
func (p *tableParts) column(id int) (ice.NestedField, bool) {
	schemas := append(p.older[:len(p.older):len(p.older)], p.schema)
	for _, s := range slices.Backward(schemas) {
		i := slices.IndexFunc(s.Fields(), func(f ice.NestedField) bool { return f.ID == id })
		if i >= 0 {
			return s.Fields()[i], true
		}
	}
	return ice.NestedField{}, false
}

// newReadSpec lists the needs: those of the filter, then those of the outputs
// that are not among them. It returns the index of each output.
func newReadSpec(f *filter, outputs []need) (*readSpec, []int) {
	s := &readSpec{filter: f}
	if f != nil {
		for _, c := range f.columns {
			s.needs = append(s.needs, need{field: c})
		}
		for i := range f.extracts {
			s.needs = append(s.needs, need{extract: &f.extracts[i]})
		}
	}
	s.early = len(s.needs)
	index := make([]int, len(outputs))
	for i := range outputs {
		k := slices.IndexFunc(s.needs, func(n need) bool { return n.same(&outputs[i]) })
		if k < 0 {
			k = len(s.needs)
			s.needs = append(s.needs, outputs[i])
		}
		index[i] = k
	}
	return s, index
}

// source delivers one need, batch by batch.
type source interface {
	// startGroup is called before the first batch of a row group.
	startGroup(group int) error
	// read returns the rows of the current batch, the first of which has the
	// given position in the file. The caller releases the array.
	read(rows int, pos int64) (arrow.Array, error)
	// uses lists the leaves that read fetches.
	uses() []int
}

// fileReader reads one data file. It is for one goroutine.
type fileReader struct {
	*readSpec
	task    *fileTask
	file    *pq.File
	closer  io.Closer
	leaves  *leafSet
	columns map[int]storedColumn
	sources []source // by need
	eval    *evaluator
	stats   *statistics
	vector  *deletevec.Vector
	hashes  []*equalitySet
	groups  []*variantGroup
	mask    deletevec.Mask
	offset  int // of the rows that are being read in the batch of mask
	keep    []uint64
}

// openFile opens the file of a task and what has been deleted of it.
func (s *readSpec) openFile(ctx context.Context, task *fileTask) (r *fileReader, err error) {
	path := task.file.FilePath()
	defer func() {
		if err != nil {
			err = fileError(path, err)
		}
	}()
	format := task.file.FileFormat()
	if format != ice.ParquetFile && format != ice.AvroFile {
		return nil, unsupportedf("a data file in the format %s", format)
	}
	r = &fileReader{readSpec: s, task: task}
	if r.vector, r.hashes, err = s.deletes.of(ctx, task); err != nil {
		return nil, err
	}
	f, err := s.fs.Open(path)
	if err != nil {
		return nil, err
	}
	var at io.ReaderAt = f
	size := task.file.FileSizeBytes()
	r.closer = f
	if format == ice.AvroFile {
		spooled, err := spoolAvro(ctx, bufio.NewReader(f))
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		at, size, r.closer = spooled, spooled.size, spooled
	}
	closer := r.closer
	defer func() {
		if err != nil { // r may be nil by then
			_ = closer.Close()
		}
	}()
	if r.file, err = pq.Open(at, size, pq.ReaderOptions{Name: path}); err != nil {
		return nil, err
	}
	if err = r.prepare(); err != nil {
		r.releaseSources()
	}
	return r, err
}

// close counts what was read of the file. Clones must have ended.
func (r *fileReader) close() error {
	r.releaseSources()
	r.readSpec.stats.addFile(r.file, r.task.file)
	return r.closer.Close()
}

// releaseSources gives back the memory that the sources hold.
func (r *fileReader) releaseSources() {
	for _, s := range r.sources {
		if c, ok := s.(*constSource); ok {
			c.arr.Release()
		}
	}
	r.sources = nil
}

// prepare finds a source for each need.
func (r *fileReader) prepare() error {
	root, columns, err := storedColumns(r.file.Schema(), r.meta.mapping)
	if err != nil {
		return err
	}
	r.columns = columns
	r.leaves = newLeafSet(r.file)
	r.statistics(root)
	r.sources = make([]source, len(r.needs))
	for i := range r.needs {
		if r.sources[i], err = r.source(i); err != nil {
			return err
		}
	}
	if r.filter != nil {
		r.eval = &evaluator{filter: r.filter}
	}
	for _, h := range r.hashes {
		if err := h.attach(r); err != nil {
			return err
		}
	}
	return nil
}

func (r *fileReader) statistics(root *leaf.Node) {
	if r.filter != nil {
		r.stats = newStatistics(r.file, root, r.task.file)
	}
}

// source finds where a need comes from (Iceberg spec, "Column Projection").
func (r *fileReader) source(i int) (source, error) {
	n := &r.needs[i]
	field := n.field
	if n.extract != nil {
		f, ok := topField(r.meta.schema, n.extract.Column)
		if !ok || !isVariant(f.Type) {
			return nil, invalidf("no variant column %q", n.extract.Column)
		}
		field = f
	}
	col, ok := r.columns[field.ID]
	switch {
	case field.ID == rowIDField:
		return r.lineage(col, ok, r.task.firstRowID, true)
	case field.ID == lastUpdatedField:
		var seq *int64
		if r.task.seq >= 0 && r.task.firstRowID != nil {
			seq = &r.task.seq
		}
		return r.lineage(col, ok, seq, false)
	case !ok && n.extract != nil:
		return &constSource{arr: array.MakeArrayOfNull(r.mem, shred.ArrowType(n.extract.Type), r.batchRows)}, nil
	case !ok:
		arr, err := r.missing(field)
		return &constSource{arr: arr}, err
	case isVariant(field.Type):
		return r.variantPart(i, field, col)
	}
	return r.plain(field, col)
}

// missing gives a batch of a column that the file lacks.
func (r *fileReader) missing(f ice.NestedField) (arrow.Array, error) {
	if spec := r.meta.spec(int(r.task.file.SpecID())); spec != nil {
		partition := r.task.file.Partition()
		for _, p := range spec.Fields() {
			v, present := partition[p.FieldID]
			_, identity := p.Transform.(ice.IdentityTransform)
			if !identity || !present || !slices.Contains(p.SourceIDs, f.ID) {
				continue
			}
			if v == nil {
				return array.MakeArrayOfNull(r.mem, arrowType(f.Type), r.batchRows), nil
			}
			s, err := partitionScalar(f.Type, v)
			if err != nil {
				return nil, err
			}
			return constantArray(r.mem, f.Type, &s, r.batchRows)
		}
	}
	return missingArray(r.mem, f, r.batchRows)
}

// constSource delivers the same value for every row.
type constSource struct{ arr arrow.Array }

func (s *constSource) startGroup(int) error { return nil }

func (s *constSource) uses() []int { return nil }

func (s *constSource) read(rows int, _ int64) (arrow.Array, error) {
	return array.NewSlice(s.arr, 0, int64(rows)), nil
}

// plainSource reads an ordinary column.
type plainSource struct {
	set     *leafSet
	leaves  []int
	batches []*leaf.Batch
	asm     *pq.Assembler
	adapter *adapter
}

func (r *fileReader) plain(f ice.NestedField, col storedColumn) (source, error) {
	node, leaves := prunedColumn(col, f)
	asm, err := pq.NewVariantAssembler(node, r.mem, openNestedVariant)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", f.Name, err)
	}
	ad, err := newAdapter(r.mem, asm.Field().Type, f)
	return &plainSource{set: r.leaves, leaves: leaves, asm: asm, adapter: ad}, err
}

func (s *plainSource) startGroup(int) error { return nil }

func (s *plainSource) uses() []int { return s.leaves }

func (s *plainSource) read(rows int, _ int64) (arrow.Array, error) {
	var err error
	if s.batches, err = s.set.fetchAll(s.batches, s.leaves); err != nil {
		return nil, err
	}
	arr, err := s.asm.Assemble(s.batches, rows)
	if err != nil {
		return nil, err
	}
	defer arr.Release()
	return s.adapter.adapt(arr)
}

// lineageSource delivers _row_id or _last_updated_sequence_number: the stored
// value, else the inherited one (Iceberg spec, "Row lineage assignment").
type lineageSource struct {
	stored  source // nil when the file has no such column
	inherit *int64 // nil: null
	byRow   bool   // add the row's position
	mem     memory.Allocator
}

func (r *fileReader) lineage(col storedColumn, ok bool, inherit *int64, byRow bool) (source, error) {
	s := &lineageSource{inherit: inherit, byRow: byRow, mem: r.mem}
	if !ok {
		return s, nil
	}
	stored, err := r.plain(ice.NestedField{ID: col.node.FieldID, Name: col.node.Name, Type: ice.Int64Type{}}, col)
	s.stored = stored
	return s, err
}

func (s *lineageSource) startGroup(int) error { return nil }

func (s *lineageSource) uses() []int {
	if s.stored == nil {
		return nil
	}
	return s.stored.uses()
}

func (s *lineageSource) read(rows int, pos int64) (arrow.Array, error) {
	var stored *array.Int64
	if s.stored != nil {
		arr, err := s.stored.read(rows, pos)
		if err != nil {
			return nil, err
		}
		defer arr.Release()
		if arr.NullN() == 0 || s.inherit == nil {
			arr.Retain()
			return arr, nil
		}
		stored, _ = arr.(*array.Int64)
	}
	b := array.NewInt64Builder(s.mem)
	defer b.Release()
	b.Reserve(rows)
	for i := range rows {
		switch {
		case stored != nil && stored.IsValid(i):
			b.UnsafeAppend(stored.Value(i))
		case s.inherit == nil:
			b.UnsafeAppendBoolToBitmap(false)
		case s.byRow:
			b.UnsafeAppend(*s.inherit + pos + int64(i))
		default:
			b.UnsafeAppend(*s.inherit)
		}
	}
	return b.NewArray(), nil
}

// fileError names the file in an error, once.
func fileError(path string, err error) error {
	if ctxErr := contextError(err); ctxErr != nil {
		return ctxErr
	}
	var row *RowError
	var dv *deletevec.Error
	err = corruptIf(err)
	if errors.As(err, &row) || errors.As(err, &dv) && dv.File != "" {
		return err
	}
	return pathError(path, err)
}

// pathError names a file in an error whose text does not name it already, as
// those of the operating system and of lower layers do.
func pathError(path string, err error) error {
	text := err.Error()
	switch {
	case !strings.Contains(text, path):
		return fmt.Errorf("iceberg: %s: %w", path, err)
	case strings.HasPrefix(text, "iceberg: "):
		return err
	}
	return fmt.Errorf("iceberg: %w", err)
}

// corruptIf gives the sentinels of this package to those of the layers below.
func corruptIf(err error) error {
	switch {
	case errors.Is(err, ErrCorrupt), errors.Is(err, ErrUnsupported):
		return err
	case errors.Is(err, pq.ErrCorrupt), errors.Is(err, shred.ErrCorrupt), errors.Is(err, shred.ErrSchema), errors.Is(err, deletevec.ErrCorrupt):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case errors.Is(err, pq.ErrUnsupported):
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return err
}

// contextError returns the cancellation that err stems from, or nil.
func contextError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
