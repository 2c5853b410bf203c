package iceberg

import (
	"errors"

	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
)

// close writes what is left and returns the manifest entry, nil for a file
// without rows.
func (f *dataFile) close() (ice.DataFile, error) {
	if f.cols == nil && f.err == nil {
		f.infer()
	}
	f.endGroup()
	f.landed()
	f.a.account(f.p, -f.p.buffered.Load())
	if f.pq == nil || f.err != nil || f.a.failed.Load() {
		return nil, errors.Join(f.err, f.discard())
	}
	meta, err := f.pq.Close()
	err = errors.Join(err, f.buf.Flush(), f.out.Close())
	f.out = nil
	if err != nil {
		return nil, pathError(f.path, err)
	}
	return f.entry(meta)
}

// discard closes an unfinished file; Abort removes it.
func (f *dataFile) discard() error {
	if f.out == nil {
		return nil
	}
	err := f.out.Close()
	f.out = nil
	return err
}

// entry describes the file for a manifest.
func (f *dataFile) entry(meta *pq.FileMeta) (ice.DataFile, error) {
	m := newFileMetrics()
	next := 0
	for i, c := range f.cols {
		n := countLeaves(f.root.Children[i])
		cols, mode := meta.Columns[next:next+n], f.a.metrics[c.ordinal]
		next += n
		if c.shred != nil {
			b := c.shred.Bounds()
			m.variant(c.field, cols, meta.Rows, c.nulls, b.Lower, b.Upper, mode)
			continue
		}
		m.ordinary(c.field, cols, mode)
	}
	b, err := ice.NewDataFileBuilder(f.a.spec, ice.EntryContentData, f.path, ice.ParquetFile,
		f.p.tuple, f.a.partitioner.logicalTypes(), nil, meta.Rows, meta.Size)
	if err != nil {
		return nil, pathError(f.path, err)
	}
	b.ColumnSizes(m.sizes).ValueCounts(m.values).NullValueCounts(m.nulls).NaNValueCounts(m.nans).
		LowerBoundValues(m.lower).UpperBoundValues(m.upper).SplitOffsets(meta.SplitOffsets())
	return b.Build(), nil
}

// isShredded reports that a Variant column has typed leaves.
func (f *dataFile) isShredded() bool {
	for _, c := range f.cols {
		if c.schema != nil && c.schema.Shape != shred.Opaque {
			return true
		}
	}
	return false
}
