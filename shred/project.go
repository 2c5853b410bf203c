package shred

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// Request is one extraction: variant_get(column, path, type), or
// try_variant_get.
type Request struct {
	Path variant.Path
	Type variant.Type // the zero Type is variant: the value as it is
	Try  bool         // a value that does not cast gives null instead of an error
}

// Plan is what a set of requests needs from the Variant group of one layout. It
// is immutable.
type Plan struct {
	file    *file
	targets []target
	columns []int
	at      []int // column -> index into columns, -1 if it is not read
}

// target is where the answer to a request is.
type target struct {
	req   Request
	path  string
	at    *layout
	kind  targetKind
	rest  variant.Path // targetResidual: below at, inside its `value`
	picks []pick       // lists on the way to at
	value bool         // the `value` of at is read
	typed bool         // the typed leaf of at is read
	root  bool         // the path is $
}

type targetKind uint8

const (
	targetLeaf     targetKind = iota // a scalar in a typed leaf, or its `value`
	targetResidual                   // inside a `value`
	targetTree                       // all below at
)

// pick is an array index on a path through a shredded list.
type pick struct {
	list  *layout
	index int
}

// Project plans requests over the Variant group of a file: which leaves are
// needed, and how the answer comes from them.
//
// A field that is shredded is never in the `value` of an object above it, so
// that only the pair where the path ends counts: its typed_value, and its
// `value` unless that is all null. A path that leaves the shredded fields is in
// the `value` of the last pair that it reaches. A path to an object, an array, or
// with a type that is not scalar, needs all leaves below. The metadata is needed
// when a `value` is, and for the whole value.
//
// allNull tells which columns, by ordinal among the leaves of the group, have
// only nulls in all that will be read; statistics tell. It may be nil: none. The
// error Is ErrSchema.
func Project(group *leaf.Node, ctx Context, reqs []Request, allNull func(column int) bool) (*Plan, error) {
	f, err := newFile(group, ctx)
	if err != nil {
		return nil, err
	}
	if allNull == nil {
		allNull = func(int) bool { return false }
	}
	p := &Plan{file: f}
	need := make([]bool, f.columns)
	for _, r := range reqs {
		t := f.resolve(r)
		t.collect(f, need, allNull)
		p.targets = append(p.targets, t)
	}
	p.at = make([]int, f.columns)
	for c, n := range need {
		p.at[c] = -1
		if n {
			p.at[c] = len(p.columns)
			p.columns = append(p.columns, c)
		}
	}
	return p, nil
}

// resolve follows a path through the layout as far as it is shredded.
func (f *file) resolve(r Request) target {
	t := target{req: r, path: r.Path.String(), at: &f.layout, root: r.Path.Len() == 0}
	steps := r.Path.Steps()
	for i, s := range steps {
		if s.IsIndex && t.at.shape == List {
			t.picks = append(t.picks, pick{t.at, s.Index})
			t.at = t.at.elem
			continue
		}
		if !s.IsIndex && t.at.shape == Object {
			if c := t.at.field(s.Name); c != nil {
				t.at = c
				continue
			}
		}
		t.kind, t.rest = targetResidual, variant.NewPath(steps[i:]...)
		return t
	}
	scalar := r.Type.ID != variant.TypeVariant && !r.Type.IsNested()
	if !scalar || t.at.shape == Object || t.at.shape == List {
		t.kind = targetTree
	}
	return t
}

// collect marks the columns that a target needs.
func (t *target) collect(f *file, need []bool, allNull func(int) bool) {
	residual := false
	switch l := t.at; t.kind {
	case targetTree:
		before := slices.Clone(need)
		residual = collectTree(l, need, allNull)
		if len(t.picks) > 0 && slices.Equal(before, need) && !slices.Contains(need[l.start():l.end], true) {
			need[l.start()] = true
		}
		residual = residual || t.root
	case targetLeaf, targetResidual:
		t.value = l.value != noColumn && !allNull(l.value)
		t.typed = t.kind == targetLeaf && l.shape == Leaf && !allNull(l.typed)
		if t.value {
			need[l.value] = true
		}
		if t.typed {
			need[l.typed] = true
		}
		residual = t.value
	}
	if residual {
		need[f.meta] = true
	}
}

// start returns the first column of the pair.
func (l *layout) start() int {
	if l.value != noColumn && (l.shape == Opaque || l.value < l.first) {
		return l.value
	}
	return l.first
}

// collectTree marks the columns of a pair and all below it that may hold a
// value, and one of each object and list so that its presence shows. It reports
// whether a `value` is among them.
func collectTree(l *layout, need []bool, allNull func(int) bool) bool {
	residual := false
	if l.value != noColumn && !allNull(l.value) {
		need[l.value] = true
		residual = true
	}
	switch l.shape {
	case Opaque:
		return residual
	case Leaf:
		if !allNull(l.typed) {
			need[l.typed] = true
		}
		return residual
	case Object:
		for _, f := range l.fields {
			residual = collectTree(f, need, allNull) || residual
		}
	case List:
		residual = collectTree(l.elem, need, allNull) || residual
	}
	if !slices.Contains(need[l.first:l.past], true) {
		need[l.first] = true
	}
	return residual
}

// Columns returns the ordinals, among the leaves of the group, of the columns
// that must be read, ascending.
func (p *Plan) Columns() []int { return p.columns }

// Leaf returns the typed leaf that holds every answer to request i that is not null;
// false where answers may be in a `value`, or are put together from several leaves.
func (p *Plan) Leaf(i int) (column int, ok bool) {
	t := &p.targets[i]
	return t.at.typed, t.kind == targetLeaf && t.typed && !t.value
}

// Fields returns the Arrow field of each request's answer, without a name.
func (p *Plan) Fields() []arrow.Field {
	fields := make([]arrow.Field, len(p.targets))
	for i := range p.targets {
		fields[i] = ArrowField("", p.targets[i].req.Type)
	}
	return fields
}

// NewReader returns a reader for the plan. mem serves nested types; scalars and
// Variants are in memory of the Go heap. nil is the default allocator.
func (p *Plan) NewReader(mem memory.Allocator) *Reader {
	if mem == nil {
		mem = memory.DefaultAllocator
	}
	r := &Reader{plan: p, mem: mem}
	for i := range p.targets {
		r.answers = append(r.answers, newAnswer(r, &p.targets[i]))
	}
	return r
}
