package shred

import (
	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// WriterOptions are the options of a Writer; the zero value is the default.
type WriterOptions struct {
	Optional bool // the column may be SQL NULL
	Parse    variant.ParseOptions
}

// Writer shreds rows into leaf buffers.
type Writer struct{}

// NewWriter returns a Writer for a schema.
func NewWriter(s *Schema, o WriterOptions) *Writer { return &Writer{} }

// WriteJSON adds a row from JSON text.
func (w *Writer) WriteJSON(text []byte) error { return nil }

// WriteValue adds a row.
func (w *Writer) WriteValue(v variant.Value) error { return nil }

// WriteNull adds a row that is SQL NULL.
func (w *Writer) WriteNull() error { return nil }

// Rows returns the rows since the last Reset.
func (w *Writer) Rows() int { return 0 }

// Size estimates the bytes that the buffers hold.
func (w *Writer) Size() int { return 0 }

// Buffers returns the leaves in the order of Group().Leaves().
func (w *Writer) Buffers() []*leaf.Buffer { return nil }

// Reset empties the buffers for the next row group; Bounds go on.
func (w *Writer) Reset() {}

// Bounds returns the Iceberg bounds of all rows since the Writer was made.
func (w *Writer) Bounds() Bounds { return Bounds{} }
