package iceberg

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"

	"github.com/frazil/frazil/deletevec"
)

// Field ids of the columns of a position delete file (Iceberg spec, "Reserved
// Field IDs").
const (
	deletePathField = 2147483546
	deletePosField  = 2147483545
)

// deleteCache reads what was deleted of data files. Position and equality
// delete files belong to many data files and are read once a scan. It is safe
// for concurrent use.
type deleteCache struct {
	fs    iceio.IO
	meta  tableParts
	stats *scanStats

	mu        sync.Mutex
	positions map[string]*onceValue[map[string]*deletevec.Vector] // by delete file
	equality  map[string]*onceValue[*equalityKeys]
}

// onceValue is computed by the first who needs it.
type onceValue[T any] struct {
	once sync.Once
	v    T
	err  error
}

func (o *onceValue[T]) get(compute func() (T, error)) (T, error) {
	o.once.Do(func() { o.v, o.err = compute() })
	return o.v, o.err
}

func newDeleteCache(fs iceio.IO, meta tableParts, stats *scanStats) *deleteCache {
	return &deleteCache{
		fs: fs, meta: meta, stats: stats,
		positions: map[string]*onceValue[map[string]*deletevec.Vector]{},
		equality:  map[string]*onceValue[*equalityKeys]{},
	}
}

// of returns the deleted positions of a task's file, nil when there are none,
// and the equality deletes to apply.
func (c *deleteCache) of(ctx context.Context, task *fileTask) (*deletevec.Vector, []*equalitySet, error) {
	v, err := c.vector(ctx, task)
	if err != nil {
		return nil, nil, err
	}
	var sets []*equalitySet
	for _, f := range task.equality {
		keys, err := c.equalityKeys(ctx, f)
		if err != nil {
			return nil, nil, fileError(f.FilePath(), err)
		}
		sets = append(sets, &equalitySet{keys: keys})
	}
	return v, sets, nil
}

func (c *deleteCache) vector(ctx context.Context, task *fileTask) (*deletevec.Vector, error) {
	if task.vector != nil {
		return c.readVector(task.vector, task.file.Count())
	}
	var out *deletevec.Vector
	for _, f := range task.positions {
		byFile, err := c.positionFile(ctx, f)
		if err != nil {
			return nil, fileError(f.FilePath(), err)
		}
		part := byFile[task.file.FilePath()]
		if part == nil {
			continue
		}
		if last, ok := part.Max(); ok && last >= task.file.Count() {
			return nil, corruptf("%s deletes row %d of %s, which has %d", f.FilePath(), last, task.file.FilePath(), task.file.Count())
		}
		if out == nil {
			out = &deletevec.Vector{}
		}
		out.Union(part)
	}
	return out, nil
}

// readVector reads a deletion vector with one request.
func (c *deleteCache) readVector(file ice.DataFile, rows int64) (*deletevec.Vector, error) {
	f, err := c.fs.Open(file.FilePath())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c.stats.addBytes(*file.ContentSizeInBytes())
	return deletevec.Read(f, deletevec.Ref{
		File: file.FilePath(),
		Rows: rows,
		Blob: deletevec.Blob{
			DataFile: *file.ReferencedDataFile(), Offset: *file.ContentOffset(),
			Length: *file.ContentSizeInBytes(), Cardinality: file.Count(),
		},
	})
}

// positionFile reads a position delete file: the deleted rows by data file.
func (c *deleteCache) positionFile(ctx context.Context, file ice.DataFile) (map[string]*deletevec.Vector, error) {
	c.mu.Lock()
	entry := c.positions[file.FilePath()]
	if entry == nil {
		entry = &onceValue[map[string]*deletevec.Vector]{}
		c.positions[file.FilePath()] = entry
	}
	c.mu.Unlock()
	return entry.get(func() (map[string]*deletevec.Vector, error) {
		out := map[string]*deletevec.Vector{}
		fields := []ice.NestedField{
			{ID: deletePathField, Name: "file_path", Type: ice.StringType{}},
			{ID: deletePosField, Name: "pos", Type: ice.Int64Type{}},
		}
		return out, c.readDeleteFile(ctx, file, fields, func(rec arrow.RecordBatch) error {
			paths, ok := rec.Column(0).(*array.String)
			pos, ok2 := rec.Column(1).(*array.Int64)
			if !ok || !ok2 || paths.NullN()+pos.NullN() > 0 {
				return corruptf("a position delete without file or position")
			}
			return addPositions(out, paths, pos)
		})
	})
}

// addPositions adds runs of rows of the same data file: the rows of a position
// delete file are sorted by file.
func addPositions(out map[string]*deletevec.Vector, paths *array.String, pos *array.Int64) error {
	values := pos.Int64Values()
	for i := 0; i < len(values); {
		path := paths.Value(i)
		end := i + 1
		for end < len(values) && paths.Value(end) == path {
			end++
		}
		v := out[path]
		if v == nil {
			v = &deletevec.Vector{}
			out[string([]byte(path))] = v
		}
		if err := v.AddMany(values[i:end]); err != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		i = end
	}
	return nil
}

// readDeleteFile reads columns of a delete file.
func (c *deleteCache) readDeleteFile(ctx context.Context, file ice.DataFile, fields []ice.NestedField, fn func(arrow.RecordBatch) error) error {
	outputs := make([]need, len(fields))
	for i, f := range fields {
		outputs[i].field = f
	}
	spec, index := newReadSpec(nil, outputs)
	spec.fs, spec.meta, spec.stats, spec.deletes = c.fs, c.meta, c.stats, c
	spec.mem, spec.batchRows = memory.DefaultAllocator, defaultBatchRows
	schema := arrow.NewSchema(arrowFields(fields), nil)
	r, err := spec.openFile(ctx, &fileTask{file: file, seq: -1})
	if err != nil {
		return err
	}
	defer r.close()
	return r.each(ctx, r.allGroups(), func(b *fileBatch) error {
		rec, err := b.record(schema, index)
		if err != nil {
			return err
		}
		defer rec.Release()
		return fn(rec)
	})
}

func (r *fileReader) allGroups() []int {
	out := make([]int, r.file.RowGroups())
	for i := range out {
		out[i] = i
	}
	return out
}

// equalityKeys are the keys of an equality delete file.
type equalityKeys struct {
	fields []ice.NestedField
	keys   map[string]struct{}
}

func (c *deleteCache) equalityKeys(ctx context.Context, file ice.DataFile) (*equalityKeys, error) {
	c.mu.Lock()
	entry := c.equality[file.FilePath()]
	if entry == nil {
		entry = &onceValue[*equalityKeys]{}
		c.equality[file.FilePath()] = entry
	}
	c.mu.Unlock()
	return entry.get(func() (*equalityKeys, error) {
		out := &equalityKeys{keys: map[string]struct{}{}}
		ids := file.EqualityFieldIDs()
		if len(ids) == 0 {
			return nil, corruptf("an equality delete file without equality ids")
		}
		for _, id := range ids {
			f, ok := c.meta.column(id)
			if !ok {
				return nil, unsupportedf("an equality delete on field %d, which is no top-level column", id)
			}
			out.fields = append(out.fields, f)
		}
		return out, c.readDeleteFile(ctx, file, out.fields, func(rec arrow.RecordBatch) error {
			appenders, err := keyAppenders(rec.Columns())
			if err != nil {
				return err
			}
			var key []byte
			for i := range int(rec.NumRows()) {
				key = appendKey(key[:0], appenders, i)
				out.keys[string(key)] = struct{}{}
			}
			return nil
		})
	})
}

// equalitySet applies one equality delete file to one data file.
type equalitySet struct {
	keys    *equalityKeys
	sources []source
	key     []byte
}

// attach finds the key columns in the data file.
func (s *equalitySet) attach(r *fileReader) error {
	for _, f := range s.keys.fields {
		i := slices.IndexFunc(r.needs[:r.early], func(n need) bool { return n.same(&need{field: f}) })
		if i >= 0 {
			s.sources = append(s.sources, nil) // the filter has read it
			continue
		}
		part := *r.readSpec
		part.needs, part.early = []need{{field: f}}, 0
		sub := *r
		sub.readSpec = &part
		src, err := sub.source(0)
		if err != nil {
			return err
		}
		s.sources = append(s.sources, src)
	}
	return nil
}

// mark marks the rows whose key is in the set. A null equals a null here
// (Iceberg spec, "Equality Delete Files").
func (s *equalitySet) mark(b *fileBatch) error {
	cols := make([]arrow.Array, 0, len(s.sources))
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for k, src := range s.sources {
		var arr arrow.Array
		var err error
		if src == nil {
			f := s.keys.fields[k]
			i := slices.IndexFunc(b.r.needs[:b.r.early], func(n need) bool { return n.same(&need{field: f}) })
			arr, err = b.need(i)
		} else {
			arr, err = src.read(b.rows, b.pos)
		}
		if err != nil {
			return err
		}
		cols = append(cols, arr)
	}
	appenders, err := keyAppenders(cols)
	if err != nil {
		return err
	}
	keep := make([]uint64, (b.rows+63)/64)
	for i := range b.rows {
		s.key = appendKey(s.key[:0], appenders, i)
		if _, deleted := s.keys.keys[string(s.key)]; !deleted {
			keep[i>>6] |= 1 << (i & 63)
		}
	}
	b.mask.KeepOnly(keep)
	return nil
}

// keyAppender appends row i of a column so that equal values give equal bytes
// and no value is a prefix of another.
type keyAppender func(dst []byte, i int) []byte

const (
	keyNull  = 0
	keyValue = 1
)

func keyAppenders(cols []arrow.Array) ([]keyAppender, error) {
	out := make([]keyAppender, len(cols))
	for c, arr := range cols {
		if arr.DataType().ID() == arrow.NULL {
			out[c] = func(dst []byte, _ int) []byte { return append(dst, keyNull) }
			continue
		}
		value := keyValueAppender(arr)
		if value == nil {
			return nil, unsupportedf("a key of type %s", arr.DataType())
		}
		out[c] = func(dst []byte, i int) []byte {
			if arr.IsNull(i) {
				return append(dst, keyNull)
			}
			return value(append(dst, keyValue), i)
		}
	}
	return out, nil
}

func appendKey(dst []byte, appenders []keyAppender, i int) []byte {
	for _, a := range appenders {
		dst = a(dst, i)
	}
	return dst
}

func keyValueAppender(arr arrow.Array) keyAppender {
	switch a := arr.(type) {
	case *array.String:
		return func(dst []byte, i int) []byte { return appendKeyText(dst, a.Value(i)) }
	case *array.Int64:
		return func(dst []byte, i int) []byte { return binary.LittleEndian.AppendUint64(dst, uint64(a.Value(i))) }
	}
	read, ok := cellReader(arr)
	if !ok {
		return nil
	}
	switch arr.DataType().ID() {
	case arrow.FLOAT32, arrow.FLOAT64:
		return func(dst []byte, i int) []byte {
			return binary.LittleEndian.AppendUint64(dst, floatKey(read(i).f))
		}
	case arrow.DECIMAL128:
		return func(dst []byte, i int) []byte {
			d := read(i).d
			return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, d.LowBits()), uint64(d.HighBits()))
		}
	case arrow.LARGE_STRING, arrow.BINARY, arrow.FIXED_SIZE_BINARY:
		return func(dst []byte, i int) []byte { return appendKeyText(dst, read(i).s) }
	}
	return func(dst []byte, i int) []byte { return binary.LittleEndian.AppendUint64(dst, uint64(read(i).i)) }
}

func appendKeyText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// floatKey makes the zeros and the NaNs equal.
func floatKey(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}
