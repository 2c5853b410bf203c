package pq

import "github.com/frazil/frazil/internal/leaf"

// FileMeta describes a file that was written.
type FileMeta struct {
	Rows      int64
	Size      int64 // bytes of the file
	RowGroups []RowGroupMeta
	Columns   []ColumnMeta // one a leaf, over all row groups
}

// RowGroupMeta describes one row group that was written.
type RowGroupMeta struct {
	Rows   int64
	Offset int64 // of its first page in the file
	Size   int64 // bytes of its pages
}

// ColumnMeta describes one leaf of a file that was written, over all row groups.
type ColumnMeta struct {
	leaf.Info
	CompressedSize   int64 // bytes of its pages in the file, headers included
	UncompressedSize int64
	Slots            int64 // values and nulls
	Nulls            int64 // slots without a value, at whatever level
	NaNs             int64 // of Float and Double leaves
	// Min and Max are the exact extremes in the plain encoding of the leaf's
	// type, without a length: little-endian numbers, one byte for a Bool. They
	// are nil when the leaf has no value, only NaN, or no order (a residual or
	// metadata leaf of a Variant, an Int96). Zeros of floats are -0 in Min and
	// +0 in Max.
	Min, Max []byte
}

// SplitOffsets returns the offsets of the row groups, ascending.
func (m *FileMeta) SplitOffsets() []int64 {
	out := make([]int64, len(m.RowGroups))
	for i := range m.RowGroups {
		out[i] = m.RowGroups[i].Offset
	}
	return out
}

// RowGroup describes one row group of a file that is read.
type RowGroup struct {
	Rows   int64
	Chunks []Chunk // one a leaf
}

// Column returns what the footer says about leaf j in this row group.
func (g *RowGroup) Column(j int) *Chunk { return &g.Chunks[j] }

// Chunk is what the footer says about one leaf in one row group. Statistics
// come from foreign writers: NullsKnown and HasMinMax say what can be used.
type Chunk struct {
	Slots            int64 // values and nulls
	Nulls            int64 // slots without a value; valid when NullsKnown
	NullsKnown       bool
	HasMinMax        bool
	MinExact         bool   // Min occurs; otherwise it is only a bound
	MaxExact         bool   // Max occurs; otherwise it is only a bound
	Min, Max         []byte // plain encoding, as in ColumnMeta; valid when HasMinMax
	Offset           int64  // of the first page, the dictionary's when there is one
	Size             int64  // bytes of all pages, headers included
	UncompressedSize int64
	Codec            Codec

	physical    leaf.Type
	stats       rawStatistics
	encrypted   bool
	codecErr    error // why the pages cannot be read, when they cannot
	offsetIndex section
	columnIndex section
	bloom       section
}

// AllNull reports that the chunk is known to have no value.
func (c *Chunk) AllNull() bool { return c.NullsKnown && c.Nulls == c.Slots }

// section is a byte range of the file; it is absent when its size is 0.
type section struct{ offset, size int64 }

// PageIndex describes the data pages of one column chunk.
type PageIndex struct {
	Pages []PageStats
	// HasStats says that the pages' AllNull, Min and Max are valid.
	HasStats bool
}

// PageStats describes one data page. Min and Max are bounds in plain encoding
// that need not occur; they are nil when the page has no value.
type PageStats struct {
	FirstRow   int64 // within the row group
	Rows       int64
	Offset     int64 // in the file
	Size       int64 // bytes, header included
	AllNull    bool
	NullsKnown bool
	Nulls      int64
	Min, Max   []byte
}

// FileStats counts what was read from one file.
type FileStats struct {
	Requests     int64 // calls of ReadAt
	BytesRead    int64 // by those calls: footer, indexes and pages
	PageBytes    int64 // the part of BytesRead that belongs to column chunks
	Columns      []int // ordinals of the leaves of which a page was read, ascending
	PagesRead    int64 // data pages decoded
	PagesSkipped int64 // data pages skipped without decoding
}
