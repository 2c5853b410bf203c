package iceberg

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/frazil/frazil/deletevec"
)

// fileBatch is some consecutive rows of a data file. The mask marks those that
// are deleted or do not pass the filter; at least one is left. It is valid
// during the call that it is given to.
type fileBatch struct {
	r     *fileReader
	pos   int64 // position of the first row in the file
	rows  int
	mask  *deletevec.Mask
	early []arrow.Array // by need; those of the filter
}

// each calls fn for the batches of the given row groups that have a row left,
// in the order of their rows.
func (r *fileReader) each(ctx context.Context, groups []int, fn func(b *fileBatch) error) error {
	start := int64(0)
	for g := range r.file.RowGroups() {
		rows := r.file.RowGroup(g).Rows
		if slices.Contains(groups, g) {
			if err := r.eachInGroup(ctx, g, start, rows, fn); err != nil {
				return err
			}
		}
		start += rows
	}
	return nil
}

func (r *fileReader) eachInGroup(ctx context.Context, g int, start, rows int64, fn func(b *fileBatch) error) error {
	r.leaves.startGroup(g)
	if err := startGroup(r.sources[:r.early], g); err != nil {
		return err
	}
	ranges, err := r.liveRanges(g, rows)
	if err != nil || len(ranges) == 0 {
		return err
	}
	if err := startGroup(r.sources[r.early:], g); err != nil {
		return err
	}
	for _, span := range ranges {
		for span.from < span.to {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			n := int(min(span.to-span.from, int64(r.batchRows)))
			r.leaves.window(int(span.from), n)
			if err := r.batch(start+span.from, n, fn); err != nil {
				return err
			}
			span.from += int64(n)
		}
	}
	return nil
}

func startGroup(sources []source, group int) error {
	for _, s := range sources {
		if err := s.startGroup(group); err != nil {
			return err
		}
	}
	return nil
}

// liveRanges narrows a row group by statistics: first by those of the footer,
// then, if something may be left, by the page indexes.
func (r *fileReader) liveRanges(g int, rows int64) ([]rowRange, error) {
	if rows == 0 {
		return nil, nil
	}
	all := []rowRange{{0, rows}}
	if r.filter == nil {
		return all, nil
	}
	p := &pruner{stats: r.stats, group: g, rows: rows, extract: r.extractRanges}
	for _, pages := range []bool{false, true} {
		ranges, err := p.ranges(r.filter.root, pages)
		if err != nil || len(ranges) == 0 {
			return nil, err
		}
		all = ranges
	}
	return all, nil
}

// batch reads the filter's columns of one batch, and hands it on if a row is
// left.
func (r *fileReader) batch(pos int64, rows int, fn func(b *fileBatch) error) error {
	r.mask.Reset(r.vector, pos, rows)
	if r.mask.Live() == 0 {
		return nil
	}
	b := &fileBatch{r: r, pos: pos, rows: rows, mask: &r.mask, early: make([]arrow.Array, r.early)}
	defer b.release()
	for i := range b.early {
		arr, err := r.sources[i].read(rows, pos)
		if err != nil {
			return err
		}
		b.early[i] = arr
	}
	if r.filter != nil {
		truth, err := r.eval.eval(b.early, rows)
		if err != nil {
			return err
		}
		r.keepTrue(truth)
	}
	for _, set := range r.hashes {
		if r.mask.Live() == 0 {
			return nil
		}
		if err := set.mark(b); err != nil {
			return err
		}
	}
	if r.mask.Live() == 0 {
		return nil
	}
	return fn(b)
}

// keepTrue marks the rows that are not true in the mask.
func (r *fileReader) keepTrue(truth []tri) {
	words := (len(truth) + 63) / 64
	r.keep = slices.Grow(r.keep[:0], words)[:words]
	for w := range r.keep {
		part := truth[w*64:]
		part = part[:min(64, len(part))]
		bits := uint64(0)
		for i, t := range part {
			bits |= uint64(t>>1) << i
		}
		r.keep[w] = bits
	}
	r.mask.KeepOnly(r.keep)
}

// need reads one need for all rows of the batch. The caller releases it.
func (b *fileBatch) need(i int) (arrow.Array, error) {
	if i < len(b.early) {
		b.early[i].Retain()
		return b.early[i], nil
	}
	return b.r.sources[i].read(b.rows, b.pos)
}

// sparseShare is the share of the rows of a batch, one in so many, below which
// the rows that are left are read run by run.
const sparseShare = 16

// record gathers needs into a record batch of the rows that are left.
func (b *fileBatch) record(schema *arrow.Schema, needs []int) (arrow.RecordBatch, error) {
	if len(needs) == 0 { // rows are counted all the same
		return newRecord(schema, nil, int64(b.mask.Live())), nil
	}
	if b.mask.Live()*sparseShare < b.rows && b.canSkip(needs) {
		return b.sparse(schema, needs)
	}
	whole, err := b.dense(schema, needs)
	if err != nil {
		return nil, err
	}
	defer whole.Release()
	out, err := b.mask.Filter(b.r.mem, whole)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	return out, nil
}

// dense gathers needs of all rows of the batch.
func (b *fileBatch) dense(schema *arrow.Schema, needs []int) (arrow.RecordBatch, error) {
	cols := make([]arrow.Array, 0, len(needs))
	defer func() { releaseAll(cols) }()
	for _, i := range needs {
		arr, err := b.need(i)
		if err != nil {
			return nil, err
		}
		cols = append(cols, arr)
	}
	return newRecord(schema, cols, int64(b.rows)), nil
}

func releaseAll(arrs []arrow.Array) {
	for _, arr := range arrs {
		arr.Release()
	}
}

// canSkip reports whether all leaves of the needs, those of the filter apart,
// still stand before the batch.
func (b *fileBatch) canSkip(needs []int) bool {
	for _, i := range needs {
		if i < len(b.early) {
			continue
		}
		for _, l := range b.r.sources[i].uses() {
			if b.r.leaves.ahead(l) {
				return false
			}
		}
	}
	return true
}

// sparse reads the rows that are left run by run and passes over the others.
func (b *fileBatch) sparse(schema *arrow.Schema, needs []int) (arrow.RecordBatch, error) {
	parts := make([][]arrow.Array, len(needs))
	defer func() {
		for _, p := range parts {
			releaseAll(p)
		}
	}()
	first := b.r.leaves.from
	defer b.r.leaves.window(first+b.rows, 0)
	for from := 0; from < b.rows; {
		if b.mask.IsDeleted(from) {
			from++
			continue
		}
		to := from + 1
		for to < b.rows && !b.mask.IsDeleted(to) {
			to++
		}
		b.r.leaves.window(first+from, to-from)
		b.r.offset = from
		for k, i := range needs {
			arr, err := b.part(i, from, to)
			if err != nil {
				return nil, err
			}
			parts[k] = append(parts[k], arr)
		}
		from = to
	}
	b.r.offset = 0
	cols := make([]arrow.Array, 0, len(needs))
	defer func() { releaseAll(cols) }()
	for _, p := range parts {
		arr, err := array.Concatenate(p, b.r.mem)
		if err != nil {
			return nil, err
		}
		cols = append(cols, arr)
	}
	return newRecord(schema, cols, int64(b.mask.Live())), nil
}

// part reads one need for the rows from..to-1 of the batch.
func (b *fileBatch) part(i, from, to int) (arrow.Array, error) {
	if i < len(b.early) {
		return array.NewSlice(b.early[i], int64(from), int64(to)), nil
	}
	return b.r.sources[i].read(to-from, b.pos+int64(from))
}

// positions calls fn with the file position of each row that is left.
func (b *fileBatch) positions(fn func(pos int64)) {
	for i := range b.rows {
		if !b.mask.IsDeleted(i) {
			fn(b.pos + int64(i))
		}
	}
}

func (b *fileBatch) release() {
	for _, arr := range b.early {
		if arr != nil {
			arr.Release()
		}
	}
	for _, g := range b.r.groups {
		g.drop()
	}
}
