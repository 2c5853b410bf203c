package iceberg

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/shred"
)

// variantGroup answers the requests of one phase for one Variant column
// together, so that each leaf is read once.
type variantGroup struct {
	r       *fileReader
	field   ice.NestedField
	col     storedColumn
	early   bool
	reqs    []shred.Request
	plan    *shred.Plan
	reader  *shred.Reader
	leaves  []int
	batches []*leaf.Batch
	results []arrow.Array // of the current batch, until they are taken
}

// variantPart delivers one of the requests of a group.
type variantPart struct {
	group *variantGroup
	index int
}

// variantPart adds need i to the group of its column and phase.
func (r *fileReader) variantPart(i int, f ice.NestedField, col storedColumn) (source, error) {
	var g *variantGroup
	for _, have := range r.groups {
		if have.field.ID == f.ID && have.early == (i < r.early) {
			g = have
		}
	}
	if g == nil {
		g = &variantGroup{r: r, field: f, col: col, early: i < r.early}
		r.groups = append(r.groups, g)
	}
	req := shred.Request{}
	if x := r.needs[i].extract; x != nil {
		req = shred.Request{Path: x.Path, Type: x.Type, Try: x.Try}
	}
	g.reqs = append(g.reqs, req)
	return &variantPart{group: g, index: len(g.reqs) - 1}, nil
}

func (p *variantPart) startGroup(int) error {
	if p.index > 0 {
		return nil // the first part does it for all
	}
	return p.group.startGroup()
}

func (p *variantPart) uses() []int { return p.group.leaves }

// startGroup plans anew: which columns hold nothing differs from row group to
// row group.
func (g *variantGroup) startGroup() error {
	set := g.r.leaves
	plan, err := shred.Project(g.col.node, shred.Context{Ordered: set.file.IsOwn()}, g.reqs, func(c int) bool { return set.allNull(g.col.first + c) })
	if err != nil {
		return err
	}
	g.plan, g.reader = plan, plan.NewReader(g.r.mem)
	// A value of a row that is deleted, or that the filter takes out, may be
	// whatever it likes.
	g.reader.Ignore(func(row int) bool { return g.r.mask.IsDeleted(g.r.offset + row) })
	g.leaves = g.leaves[:0]
	for _, c := range plan.Columns() {
		g.leaves = append(g.leaves, g.col.first+c)
	}
	return nil
}

// read takes the result of the part; the first part to be read reads for all.
func (p *variantPart) read(rows int, pos int64) (arrow.Array, error) {
	g := p.group
	if g.results == nil {
		var err error
		if g.batches, err = g.r.leaves.fetchAll(g.batches, g.leaves); err != nil {
			return nil, err
		}
		if g.results, err = g.reader.Read(g.batches, rows); err != nil {
			return nil, g.rowError(err, pos)
		}
	}
	out := g.results[p.index]
	g.results[p.index] = nil
	if g.taken() {
		g.results = nil
	}
	return out, nil
}

func (g *variantGroup) taken() bool {
	for _, arr := range g.results {
		if arr != nil {
			return false
		}
	}
	return true
}

// drop releases results that nobody took.
func (g *variantGroup) drop() {
	for _, arr := range g.results {
		if arr != nil {
			arr.Release()
		}
	}
	g.results = nil
}

// rowError gives an error of the batch its place in the file.
func (g *variantGroup) rowError(err error, pos int64) error {
	var e *shred.Error
	if !errors.As(err, &e) {
		return err
	}
	inFile := *e
	inFile.Row = -1 // its row in the batch says nothing to a reader of the file
	return &RowError{File: g.r.task.file.FilePath(), Row: pos + int64(e.Row), Column: g.field.Name, Err: &inFile}
}
