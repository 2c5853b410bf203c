package pq

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/frazil/frazil/internal/leaf"
)

// magic starts and ends a file.
const magic = "PAR1"

// errClosed is returned by a Writer after Close.
var errClosed = errors.New("pq: writer is closed")

// Writer writes one Parquet file, row group by row group. It is not safe for
// concurrent use. During WriteRowGroup it holds one encoded row group at most,
// one encoded column chunk when Workers is 1; between the calls, only what the
// footer will say. The first error is sticky.
type Writer struct {
	w      io.Writer
	opts   WriterOptions
	root   *leaf.Node
	leaves []leaf.Info
	bloom  []bloomSpec // by leaf

	offset  int64
	rows    int64
	groups  []groupMeta
	columns []ColumnMeta
	closed  bool
	err     error
}

// groupMeta is what the footer says about one row group.
type groupMeta struct {
	rows   int
	offset int64
	chunks []chunkMeta
}

// NewWriter starts a file with the columns below root. It writes the first
// bytes at once.
func NewWriter(w io.Writer, root *leaf.Node, opts WriterOptions) (*Writer, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if err := checkSchema(root); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	wr := &Writer{w: w, opts: opts, root: root, leaves: root.Leaves()}
	wr.columns = make([]ColumnMeta, len(wr.leaves))
	wr.bloom = make([]bloomSpec, len(wr.leaves))
	for i, in := range wr.leaves {
		wr.columns[i].Info = in
		wr.bloom[i] = opts.bloomSpec(pathText(in.Path))
	}
	wr.write([]byte(magic))
	return wr, wr.err
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.w.Write(b)
	w.offset += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.err = err
}

// Size returns the bytes written so far.
func (w *Writer) Size() int64 { return w.offset }

// WriteRowGroup writes the leaves' buffers, in the order of root.Leaves(), as
// one row group of the given number of rows. The buffers may be reset when it
// returns. Zero rows write nothing.
func (w *Writer) WriteRowGroup(cols []*leaf.Buffer, rows int) error {
	if w.closed {
		return errClosed
	}
	if w.err != nil || rows == 0 {
		return w.err
	}
	if len(cols) != len(w.leaves) {
		return inputf("%d buffers for %d leaves", len(cols), len(w.leaves))
	}
	g := groupMeta{rows: rows, offset: w.offset, chunks: make([]chunkMeta, len(cols))}
	encoders := make([]*chunkEncoder, max(min(w.opts.Workers, len(w.leaves)), 1))
	for i := range encoders {
		encoders[i] = takeEncoder(&w.opts)
		defer giveEncoder(encoders[i])
	}
	if len(encoders) == 1 {
		w.err = w.encodeInOrder(encoders[0], &g, cols)
	} else {
		w.err = w.encodeParallel(encoders, &g, cols)
	}
	if w.err != nil {
		return w.err
	}
	w.groups = append(w.groups, g)
	w.rows += int64(rows)
	return nil
}

func (w *Writer) encodeInOrder(e *chunkEncoder, g *groupMeta, cols []*leaf.Buffer) error {
	for j, b := range cols {
		c, err := w.encodeColumn(e, g, j, b)
		if err != nil {
			return err
		}
		w.place(g, j, c, e.out)
	}
	return w.err
}

func (w *Writer) encodeColumn(e *chunkEncoder, g *groupMeta, j int, b *leaf.Buffer) (*column, error) {
	if b.Node == nil || b.Node.Type != w.leaves[j].Node.Type || b.MaxDef != w.leaves[j].MaxDef || b.MaxRep != w.leaves[j].MaxRep {
		return nil, &Error{RowGroup: len(w.groups), Column: pathText(w.leaves[j].Path), Err: inputf("the buffer is that of another leaf")}
	}
	c, err := e.encode(b, g.rows, w.bloom[j])
	if err != nil {
		return nil, &Error{RowGroup: len(w.groups), Column: pathText(w.leaves[j].Path), Err: err}
	}
	return c, nil
}

// encodeParallel lets each encoder take the next column that is free, and
// writes the chunks in their order once all are there.
func (w *Writer) encodeParallel(encoders []*chunkEncoder, g *groupMeta, cols []*leaf.Buffer) error {
	done := make([]*column, len(cols))
	pages := make([][]byte, len(cols))
	errs := make([]error, len(cols))
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, e := range encoders {
		wg.Go(func() {
			for {
				j := int(next.Add(1)) - 1
				if j >= len(cols) {
					return
				}
				if done[j], errs[j] = w.encodeColumn(e, g, j, cols[j]); errs[j] != nil {
					return
				}
				pages[j] = bytes.Clone(e.out)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for j, c := range done {
		w.place(g, j, c, pages[j])
	}
	return w.err
}

// place writes a chunk's pages and records where they are.
func (w *Writer) place(g *groupMeta, j int, c *column, pages []byte) {
	c.meta.offset = w.offset
	for i := range c.meta.pages {
		c.meta.pages[i].offset += w.offset
	}
	w.write(pages)
	g.chunks[j] = c.meta
	m := &w.columns[j]
	m.CompressedSize += c.meta.size
	m.UncompressedSize += c.meta.uncompressed
	m.Slots += int64(c.meta.slots)
	m.Nulls += int64(c.meta.nulls)
	m.NaNs += int64(c.exact.nans)
	all := bounds{lo: m.Min, hi: m.Max}
	all.merge(m.Node, c.exact)
	if c.exact.lo != nil {
		m.Min, m.Max = nonNilClone(all.lo), nonNilClone(all.hi)
	}
}

// Close writes bloom filters, page indexes and the footer, and describes the
// file. It does not close the underlying writer. A second call returns an error.
func (w *Writer) Close() (*FileMeta, error) {
	if w.closed {
		return nil, errClosed
	}
	w.closed = true
	foot := w.footer()
	w.write(foot)
	if w.err != nil {
		return nil, w.err
	}
	meta := &FileMeta{Rows: w.rows, Size: w.offset, Columns: w.columns}
	for i := range w.groups {
		g := &w.groups[i]
		m := RowGroupMeta{Rows: int64(g.rows), Offset: g.offset}
		for j := range g.chunks {
			m.Size += g.chunks[j].size
		}
		meta.RowGroups = append(meta.RowGroups, m)
	}
	return meta, nil
}
