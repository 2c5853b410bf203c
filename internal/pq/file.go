package pq

import (
	"io"

	"github.com/frazil/frazil/internal/leaf"
)

// footerTail is the length of what follows a footer: its length and the magic.
const footerTail = 8

// File is an open Parquet file. It is safe for concurrent use.
type File struct{}

// Open reads the footer of a file of the given size.
func Open(r io.ReaderAt, size int64, opts ReaderOptions) (*File, error) { return nil, ErrUnsupported }

// Schema returns the root of the file's schema. It must not be changed.
func (f *File) Schema() *leaf.Node { return nil }

// Leaves returns the leaves of the schema; a leaf's ordinal is its index here.
func (f *File) Leaves() []leaf.Info { return nil }

// Rows returns the number of rows in the file.
func (f *File) Rows() int64 { return 0 }

// RowGroups returns the number of row groups.
func (f *File) RowGroups() int { return 0 }

// RowGroup describes row group i.
func (f *File) RowGroup(i int) *RowGroup { return nil }

// PageIndex returns the page index of leaf j in row group i, or nil when the
// file has none.
func (f *File) PageIndex(i, j int) (*PageIndex, error) { return nil, nil }

// Column starts to read leaf j of row group i.
func (f *File) Column(i, j int) (*ColumnReader, error) { return nil, ErrUnsupported }

// Stats returns what was read so far.
func (f *File) Stats() FileStats { return FileStats{} }

// CreatedBy returns the name of the writer, as the footer has it.
func (f *File) CreatedBy() string { return "" }

// Metadata returns the file's key-value metadata. It must not be changed.
func (f *File) Metadata() []KeyValue { return nil }

// MayContain asks the bloom filter of leaf j in row group i for a value in
// plain encoding without a length. It is true when there is no filter.
func (f *File) MayContain(i, j int, plain []byte) (bool, error) { return true, nil }

// ColumnReader reads one leaf of one row group.
type ColumnReader struct{}

// Read replaces b's content with the slots of the next rows.
func (c *ColumnReader) Read(b *leaf.Batch, rows int) error { return ErrUnsupported }

// Skip passes over the next rows.
func (c *ColumnReader) Skip(rows int) error { return ErrUnsupported }

// Remaining returns the rows that were neither read nor skipped.
func (c *ColumnReader) Remaining() int { return 0 }
