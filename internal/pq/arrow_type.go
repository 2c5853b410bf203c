package pq

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
)

// RootOf makes the schema of a file with the fields of s as columns.
func RootOf(s *arrow.Schema) (*leaf.Node, error) { return nil, ErrUnsupported }

// NodeOf makes the schema node of one Arrow field. Field ids come from the
// metadata key PARQUET:field_id of the field and its children.
func NodeOf(f arrow.Field) (*leaf.Node, error) { return nil, ErrUnsupported }

// FieldOf returns the natural Arrow field of a node.
func FieldOf(n *leaf.Node) (arrow.Field, error) { return arrow.Field{}, ErrUnsupported }

// Striper turns the Arrow arrays of one column into leaf buffers.
type Striper struct{}

// NewStriper makes a striper for the column n.
func NewStriper(n *leaf.Node) (*Striper, error) { return nil, ErrUnsupported }

// Append adds the rows of arr, whose type is that of FieldOf(n) or converts to it without loss.
func (s *Striper) Append(arr arrow.Array) error { return ErrUnsupported }

// Buffers returns one buffer a leaf of the column.
func (s *Striper) Buffers() []*leaf.Buffer { return nil }

// Reset empties the buffers and keeps their memory.
func (s *Striper) Reset() {}

// Assembler turns the leaf batches of one column into Arrow arrays.
type Assembler struct{}

// NewAssembler makes an assembler for the column n.
func NewAssembler(n *leaf.Node, mem memory.Allocator) (*Assembler, error) {
	return nil, ErrUnsupported
}

// Field returns the Arrow field of the arrays.
func (a *Assembler) Field() arrow.Field { return arrow.Field{} }

// Assemble makes one array of the given rows from the batches of the column's
// leaves. The caller releases it.
func (a *Assembler) Assemble(batches []*leaf.Batch, rows int) (arrow.Array, error) {
	return nil, ErrUnsupported
}
