package pq

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/frazil/frazil/internal/leaf"
)

// footerTail is the length of what follows a footer: its length and the magic.
const footerTail = 8

// File is an open Parquet file. It is safe for concurrent use. It holds the
// footer and the end of the file, but nothing that must be closed.
type File struct {
	r    io.ReaderAt
	size int64
	opts ReaderOptions
	foot *footer

	// tail is the end of the file from tailOffset on, as far as it was read
	// with the footer; what lies in it is not read again.
	tail       []byte
	tailOffset int64

	requests, bytesRead, pageBytes, pagesRead, pagesSkipped atomic.Int64
	touched                                                 []atomic.Bool // by leaf
}

// Open reads the footer of a file of the given size, with one request when
// FooterHint covers it and two otherwise. It validates what later calls rely on.
func Open(r io.ReaderAt, size int64, opts ReaderOptions) (_ *File, err error) {
	f := &File{r: r, size: size, opts: opts.withDefaults()}
	defer func() { err = f.locate(err, -1, -1) }()
	defer recoverCorrupt(&err)
	if size < int64(len(magic)+footerTail) {
		return nil, corruptf("%d bytes are too few for a file", size)
	}
	n := min(int64(f.opts.FooterHint), size)
	if f.tail, err = f.readAt(size-n, int(n)); err != nil {
		return nil, err
	}
	f.tailOffset = size - n
	end := f.tail[len(f.tail)-footerTail:]
	switch string(end[4:]) {
	case magic:
	case "PARE":
		return nil, unsupportedf("the footer is encrypted")
	default:
		return nil, corruptf("the file does not end with %s", magic)
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > int64(f.opts.MaxFooterBytes) || length > size-int64(len(magic)+footerTail) {
		return nil, corruptf("a footer of %d bytes", length)
	}
	start := size - footerTail - length
	if err := f.extendTail(start); err != nil {
		return nil, err
	}
	if f.foot, err = decodeFooter(f.tail[start-f.tailOffset:len(f.tail)-footerTail], start); err != nil {
		return nil, err
	}
	f.touched = make([]atomic.Bool, len(f.foot.leaves))
	return f, nil
}

// extendTail makes the tail start at offset or before.
func (f *File) extendTail(offset int64) error {
	missing := f.tailOffset - offset
	if missing <= 0 {
		return nil
	}
	head, err := f.readAt(offset, int(missing))
	if err != nil {
		return err
	}
	f.tail, f.tailOffset = append(head, f.tail...), offset
	return nil
}

// readAt reads n bytes at offset.
func (f *File) readAt(offset int64, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := f.readInto(b, offset)
	return b, err
}

// readInto fills dst from offset on. Bytes of the tail are copied, not read; it
// returns how many bytes were read.
func (f *File) readInto(dst []byte, offset int64) (int, error) {
	end := offset + int64(len(dst))
	if f.tail != nil && end > f.tailOffset {
		skip := max(f.tailOffset-offset, 0)
		copy(dst[skip:], f.tail[max(offset-f.tailOffset, 0):])
		dst = dst[:skip]
	}
	if len(dst) == 0 {
		return 0, nil
	}
	n, err := f.r.ReadAt(dst, offset)
	f.requests.Add(1)
	f.bytesRead.Add(int64(n))
	switch {
	case n == len(dst):
		return n, nil
	case err == nil || errors.Is(err, io.EOF):
		return n, corruptf("the file ends at %d, not at %d", offset+int64(n), f.size)
	}
	return n, err
}

// recoverCorrupt turns a panic on foreign bytes, ours or a library's, into an
// error. The fuzz tests fail on its text.
func recoverCorrupt(err *error) {
	if p := recover(); p != nil {
		*err = corruptf("panic: %v", p)
	}
}

// locate adds the place to an error that has none.
func (f *File) locate(err error, i, j int) error {
	if err == nil {
		return nil
	}
	var at *Error
	if errors.As(err, &at) {
		at.File = f.opts.Name
		return err
	}
	at = &Error{File: f.opts.Name, RowGroup: i, Err: err}
	if j >= 0 {
		at.Column = pathText(f.foot.leaves[j].Path)
	}
	return at
}

// Schema returns the root of the file's schema. It must not be changed.
func (f *File) Schema() *leaf.Node { return f.foot.root }

// Leaves returns the leaves of the schema; a leaf's ordinal is its index here.
// They must not be changed.
func (f *File) Leaves() []leaf.Info { return f.foot.leaves }

// Rows returns the number of rows in the file.
func (f *File) Rows() int64 { return f.foot.rows }

// RowGroups returns the number of row groups.
func (f *File) RowGroups() int { return len(f.foot.groups) }

// RowGroup describes row group i. It must not be changed.
func (f *File) RowGroup(i int) *RowGroup { return &f.foot.groups[i] }

// CreatedBy returns the name of the writer, as the footer has it.
func (f *File) CreatedBy() string { return f.foot.createdBy }

// IsOwn reports whether the footer names this module as the writer. Anyone can
// write that: it may save a check of meaning, none that guards memory.
func (f *File) IsOwn() bool { return strings.HasPrefix(f.foot.createdBy, "frazil ") }

// Metadata returns the file's key-value metadata. It must not be changed.
func (f *File) Metadata() []KeyValue { return f.foot.metadata }

// Stats returns what was read so far.
func (f *File) Stats() FileStats {
	s := FileStats{
		Requests:     f.requests.Load(),
		BytesRead:    f.bytesRead.Load(),
		PageBytes:    f.pageBytes.Load(),
		PagesRead:    f.pagesRead.Load(),
		PagesSkipped: f.pagesSkipped.Load(),
	}
	for j := range f.touched {
		if f.touched[j].Load() {
			s.Columns = append(s.Columns, j)
		}
	}
	return s
}

// Column starts to read leaf j of row group i. It reads nothing yet.
func (f *File) Column(i, j int) (*ColumnReader, error) {
	if i < 0 || i >= len(f.foot.groups) || j < 0 || j >= len(f.foot.leaves) {
		return nil, f.locate(inputf("no column %d in row group %d", j, i), -1, -1)
	}
	g := &f.foot.groups[i]
	c := &g.Chunks[j]
	if c.encrypted || f.foot.encrypted {
		return nil, f.locate(unsupportedf("the column is encrypted"), i, j)
	}
	if c.codecErr != nil {
		return nil, f.locate(c.codecErr, i, j)
	}
	r := &ColumnReader{file: f, group: i, ordinal: j, chunk: c, info: f.foot.leaves[j], rows: g.Rows}
	r.next, r.end = c.Offset, c.Offset+c.Size
	return r, nil
}

// MayContain asks the bloom filter of leaf j in row group i for values in plain
// encoding without a length: whether the leaf may have one of them. It is true when
// there is no filter. The filter is read at each call.
func (f *File) MayContain(i, j int, plain ...[]byte) (_ bool, err error) {
	s := f.foot.groups[i].Chunks[j].bloom
	if s.size == 0 || s.size > int64(f.opts.MaxPageBytes) {
		return true, nil
	}
	defer func() { err = f.locate(err, i, j) }()
	defer recoverCorrupt(&err)
	b, err := f.readAt(s.offset, int(s.size))
	if err != nil {
		return true, err
	}
	filter, err := decodeBloomFilter(b)
	if err != nil || filter == nil {
		return true, err
	}
	return slices.ContainsFunc(plain, func(v []byte) bool { return filter.mayContain(xxhash.Sum64(v)) }), nil
}

// PageIndex returns the page index of leaf j in row group i, or nil when the
// file has none. It is read at each call.
func (f *File) PageIndex(i, j int) (_ *PageIndex, err error) {
	c := &f.foot.groups[i].Chunks[j]
	if c.offsetIndex.size == 0 || c.encrypted {
		return nil, nil
	}
	defer func() { err = f.locate(err, i, j) }()
	defer recoverCorrupt(&err)
	x, err := f.offsetIndex(i, c)
	if err != nil || c.columnIndex.size == 0 || c.columnIndex.size > int64(f.opts.MaxFooterBytes) {
		return x, err
	}
	b, err := f.readAt(c.columnIndex.offset, int(c.columnIndex.size))
	if err != nil {
		return nil, err
	}
	n := f.foot.leaves[j].Node
	ordered := j < len(f.foot.typeOrdered) && f.foot.typeOrdered[j]
	return x, x.addStatistics(bytes.Clone(b), n, ordered)
}

// offsetIndex reads the places of a chunk's pages.
func (f *File) offsetIndex(i int, c *Chunk) (*PageIndex, error) {
	if c.offsetIndex.size > int64(f.opts.MaxFooterBytes) {
		return nil, corruptf("an offset index of %d bytes", c.offsetIndex.size)
	}
	b, err := f.readAt(c.offsetIndex.offset, int(c.offsetIndex.size))
	if err != nil {
		return nil, err
	}
	return decodeOffsetIndex(b, c, f.foot.groups[i].Rows)
}
