package pq

import (
	"io"

	"github.com/frazil/frazil/internal/leaf"
)

// Writer writes one Parquet file, row group by row group. It is not safe for
// concurrent use.
type Writer struct{ w io.Writer }

// NewWriter starts a file with the columns below root.
func NewWriter(w io.Writer, root *leaf.Node, opts WriterOptions) (*Writer, error) {
	return &Writer{w: w}, opts.Validate()
}

// WriteRowGroup writes the leaves' buffers, in the order of root.Leaves(), as
// one row group of the given number of rows.
func (w *Writer) WriteRowGroup(cols []*leaf.Buffer, rows int) error { return ErrUnsupported }

// Size returns the bytes written so far.
func (w *Writer) Size() int64 { return 0 }

// Close writes the footer.
func (w *Writer) Close() (*FileMeta, error) { return nil, ErrUnsupported }
