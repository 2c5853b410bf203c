package shred

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// Request is one extraction, variant_get(column, path, type).
type Request struct {
	Path variant.Path
	Type variant.Type // the zero Type is variant: a whole sub-value
	Try  bool         // a value that does not cast gives null instead of an error
}

// Plan says which leaves of one file's layout a set of requests needs.
type Plan struct{ columns []int }

// Project plans requests over the Variant group of one file. allNull says which
// columns of the group have only nulls in what will be read; nil says none.
func Project(group *leaf.Node, ctx Context, reqs []Request, allNull func(column int) bool) (*Plan, error) {
	return &Plan{}, nil
}

// Columns returns the ordinals among the leaves of the group that must be read.
func (p *Plan) Columns() []int { return p.columns }

// NewReader returns a reader for the plan.
func (p *Plan) NewReader(mem memory.Allocator) *Reader { return &Reader{} }

// Reader turns batches of leaves into Arrow arrays, one for each request.
type Reader struct{}

// Read takes one batch for each of Columns, all of the same rows.
func (r *Reader) Read(batches []*leaf.Batch, rows int) ([]arrow.Array, error) { return nil, nil }

// ArrowType returns the Arrow type in which a request of type t is answered.
func ArrowType(t variant.Type) arrow.DataType { return nil }
