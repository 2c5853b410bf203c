package deletevec

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Apply returns the rows of batch that v does not delete; start is the position
// of the batch's first row in its data file. It is [Mask.Filter] for callers
// that keep no Mask. A nil v deletes nothing.
func Apply(mem memory.Allocator, batch arrow.RecordBatch, v *Vector, start int64) (arrow.RecordBatch, error) {
	var m Mask
	m.Reset(v, start, int(batch.NumRows()))
	return m.Filter(mem, batch)
}

// Filter returns the rows of batch that are not deleted, in their order, with
// the batch's schema. The caller releases the result and still owns batch. When
// no row is deleted, the result is batch itself, retained, and nothing is
// copied. A nil mem is the default allocator. It is an error when the batch has
// not as many rows as the mask, or a union column, which no table has.
func (m *Mask) Filter(mem memory.Allocator, batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	switch {
	case batch.NumRows() != int64(m.rows):
		return nil, fmt.Errorf("deletevec: batch of %d rows, mask of %d", batch.NumRows(), m.rows)
	case m.deleted == 0:
		batch.Retain()
		return batch, nil
	case m.deleted == m.rows:
		return batch.NewSlice(0, 0), nil
	}
	if mem == nil {
		mem = memory.DefaultAllocator
	}
	f := filter{Mask: m, mem: mem}
	cols := make([]arrow.Array, 0, batch.NumCols())
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for i, c := range batch.Columns() {
		data, err := f.column(c.Data())
		if err != nil {
			return nil, fmt.Errorf("deletevec: column %q: %w", batch.ColumnName(i), err)
		}
		cols = append(cols, array.MakeFromData(data))
		data.Release()
	}
	var meta arrow.Metadata
	if b, ok := batch.(arrow.RecordBatchWithMetadata); ok {
		meta = b.Metadata()
	}
	return array.NewRecordBatchWithMetadata(batch.Schema(), cols, int64(m.Live()), meta), nil
}

// filter compacts the columns of one batch, or the children of one nested
// column: some of its rows are deleted, not all.
type filter struct {
	*Mask
	mem memory.Allocator
}

// parts are the pieces of a compacted column besides its validity.
type parts struct {
	buffers  []*memory.Buffer  // after the validity
	children []arrow.ArrayData // of nested types
	dict     *array.Data       // of dictionary types; not owned
}

func (p *parts) release() {
	for _, b := range p.buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range p.children {
		c.Release()
	}
}

// column returns the live rows of a column, at offset 0.
func (f *filter) column(data arrow.ArrayData) (arrow.ArrayData, error) {
	storage := data.DataType()
	if ext, ok := storage.(arrow.ExtensionType); ok {
		storage = ext.StorageType()
	}
	p, known, err := f.parts(storage, data)
	defer p.release()
	if err != nil {
		return nil, err
	}
	if !known {
		return f.concatenate(data)
	}
	validity, nulls := f.validity(data)
	if validity != nil {
		defer validity.Release()
	}
	if storage.ID() == arrow.NULL {
		nulls = f.Live()
	}
	buffers := append([]*memory.Buffer{validity}, p.buffers...)
	if p.dict != nil {
		return array.NewDataWithDictionary(data.DataType(), f.Live(), buffers, nulls, 0, p.dict), nil
	}
	return array.NewData(data.DataType(), f.Live(), buffers, p.children, nulls, 0), nil
}

// parts compacts everything but the validity. It knows all types of Iceberg and
// most of Arrow's.
func (f *filter) parts(storage arrow.DataType, data arrow.ArrayData) (p parts, known bool, err error) {
	switch t := storage.(type) {
	case *arrow.NullType:
	case *arrow.BooleanType:
		p.buffers = []*memory.Buffer{f.bits(data.Buffers()[1], data.Offset())}
	case *arrow.DictionaryType:
		p.buffers = []*memory.Buffer{f.fixed(t.IndexType.(arrow.FixedWidthDataType).Bytes(), data)}
		p.dict, _ = data.Dictionary().(*array.Data)
	case *arrow.StringType, *arrow.BinaryType:
		p.buffers = varBinary(f, data, arrow.Int32Traits.CastFromBytes)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		p.buffers = varBinary(f, data, arrow.Int64Traits.CastFromBytes)
	case *arrow.StringViewType, *arrow.BinaryViewType:
		p.buffers = []*memory.Buffer{f.fixed(arrow.ViewHeaderSizeBytes, data)}
		for _, b := range data.Buffers()[2:] {
			b.Retain()
			p.buffers = append(p.buffers, b)
		}
	case *arrow.StructType:
		err = f.fields(data, &p)
	case *arrow.ListType, *arrow.MapType:
		err = list(f, data, arrow.Int32Traits.CastFromBytes, &p)
	case *arrow.LargeListType:
		err = list(f, data, arrow.Int64Traits.CastFromBytes, &p)
	case *arrow.FixedSizeListType:
		err = f.fixedList(int(t.Len()), data, &p)
	case arrow.FixedWidthDataType:
		p.buffers = []*memory.Buffer{f.fixed(t.Bytes(), data)}
	default:
		return p, false, nil
	}
	return p, true, err
}

// fields compacts the columns of a struct by the mask of the struct.
func (f *filter) fields(data arrow.ArrayData, p *parts) error {
	for _, c := range data.Children() {
		if err := f.child(c, data.Offset(), data.Offset()+f.rows, p); err != nil {
			return err
		}
	}
	return nil
}

// child compacts the rows from..to-1 of a child by f's mask.
func (f *filter) child(c arrow.ArrayData, from, to int, p *parts) error {
	part := array.NewSliceData(c, int64(from), int64(to))
	switch {
	case f.deleted == 0:
		p.children = append(p.children, part)
		return nil
	case f.Live() == 0:
		p.children = append(p.children, array.NewSliceData(part, 0, 0))
		part.Release()
		return nil
	}
	defer part.Release()
	out, err := f.column(part)
	if err == nil {
		p.children = append(p.children, out)
	}
	return err
}

// list compacts a list or map: its offsets, and its elements by a mask of their
// own.
func list[T int32 | int64](f *filter, data arrow.ArrayData, cast func([]byte) []T, p *parts) error {
	offsets := offsetsOf(data, cast, f.rows)
	first, last := int(offsets[0]), int(offsets[f.rows])
	elements := filter{Mask: newMask(last - first), mem: f.mem}
	for s := (stretches{words: f.words, rows: f.rows}); s.next(); {
		if s.deleted {
			elements.delete(int(offsets[s.from])-first, int(offsets[s.to])-first)
		}
	}
	out := f.buffer((f.Live() + 1) * offsetWidth[T]())
	p.buffers = append(p.buffers, out)
	compactOffsets(cast(out.Bytes()), offsets, f.Mask)
	return elements.child(data.Children()[0], first, last, p)
}

func (f *filter) fixedList(n int, data arrow.ArrayData, p *parts) error {
	elements := filter{Mask: newMask(n * f.rows), mem: f.mem}
	for s := (stretches{words: f.words, rows: f.rows}); s.next(); {
		if s.deleted {
			elements.delete(n*s.from, n*s.to)
		}
	}
	return elements.child(data.Children()[0], n*data.Offset(), n*(data.Offset()+f.rows), p)
}

// newMask is a mask of rows without a deleted one.
func newMask(rows int) *Mask { return &Mask{words: make([]uint64, (rows+63)/64), rows: rows} }

// delete marks the rows from..to-1, none of which is marked.
func (m *Mask) delete(from, to int) {
	if from < to {
		setRange(m.words, from, to)
		m.deleted += to - from
	}
}

// concatenate handles the types that have no kernel, run-end encoding and list
// views, by joining the stretches of live rows.
func (f *filter) concatenate(data arrow.ArrayData) (arrow.ArrayData, error) {
	var live []arrow.Array
	defer func() {
		for _, a := range live {
			a.Release()
		}
	}()
	for s := (stretches{words: f.words, rows: f.rows}); s.next(); {
		if !s.deleted {
			part := array.NewSliceData(data, int64(s.from), int64(s.to))
			live = append(live, array.MakeFromData(part))
			part.Release()
		}
	}
	out, err := array.Concatenate(live, f.mem)
	if err != nil {
		return nil, err
	}
	defer out.Release()
	out.Data().Retain()
	return out.Data(), nil
}

// stretches walks the rows of a mask as alternating stretches of live and
// deleted rows.
type stretches struct {
	words    []uint64
	rows     int
	from, to int
	deleted  bool
}

func (s *stretches) next() bool {
	s.from = s.to
	if s.from >= s.rows {
		return false
	}
	i := s.from >> 6
	s.deleted = s.words[i]>>(s.from&63)&1 == 1
	flip := uint64(0)
	if s.deleted {
		flip = ^uint64(0)
	}
	// Bits that differ from the stretch end it.
	w := (s.words[i] ^ flip) >> (s.from & 63) << (s.from & 63)
	for w == 0 && i+1 < len(s.words) {
		i++
		w = s.words[i] ^ flip
	}
	s.to = s.rows
	if w != 0 {
		s.to = min(s.rows, i<<6+bits.TrailingZeros64(w))
	}
	return true
}
