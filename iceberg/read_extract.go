package iceberg

import (
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
)

// extractRanges narrows a row group by a predicate on an extraction, from the
// statistics of the leaf that serves it. It needs the plans of the row group.
func (r *fileReader) extractRanges(n *boundNode, group int, pages bool) ([]rowRange, error) {
	rows := r.file.RowGroup(group).Rows
	all := []rowRange{{0, rows}}
	part, ok := r.sources[n.left.slot].(*variantPart)
	if !ok || n.right != nil {
		return all, nil
	}
	chunk := func(c int) shred.Stats { return chunkStats(r.file.RowGroup(group).Column(part.group.col.first + c)) }
	b := rangeBounds(n.left.class, part.group.plan.Range(part.index, chunk))
	typed, ok := part.group.plan.Leaf(part.index)
	switch {
	case !n.mayMatch(&b):
		return nil, nil
	case !pages || !ok:
		return all, nil
	}
	// A row whose value does not cast must come to light, which the bounds rule out.
	if b.hasRange || part.group.reqs[part.index].Try {
		if no, err := r.stats.excluded(n, group, part.group.col.first+typed); err != nil || no {
			return nil, err
		}
	}
	index, err := r.file.PageIndex(group, part.group.col.first+typed)
	if err != nil || index == nil || !index.HasStats {
		return all, err
	}
	var out []rowRange
	for k := range index.Pages {
		page := &index.Pages[k]
		b := rangeBounds(n.left.class, part.group.plan.Range(part.index, func(c int) shred.Stats {
			if c == typed {
				return pageStats(page)
			}
			return chunk(c)
		}))
		if n.mayMatch(&b) {
			out = uniteRanges(out, []rowRange{{page.FirstRow, page.FirstRow + page.Rows}})
		}
	}
	return out, nil
}

func chunkStats(c *pq.Chunk) shred.Stats {
	s := shred.Stats{Slots: c.Slots, Nulls: c.Nulls, NullsKnown: c.NullsKnown}
	if c.HasMinMax {
		s.Min, s.Max = c.Min, c.Max
	}
	return s
}

// pageStats gives the statistics of a page. How many slots it has is not known;
// that all of them are null is.
func pageStats(p *pq.PageStats) shred.Stats {
	if p.AllNull {
		return shred.Stats{NullsKnown: true}
	}
	return shred.Stats{Slots: 1, Nulls: min(p.Nulls, 1) * 2, NullsKnown: p.NullsKnown, Min: p.Min, Max: p.Max}
}

// rangeBounds translates the bounds of an extraction.
func rangeBounds(c class, r shred.Range) fieldBounds {
	b := fieldBounds{allNull: r.AllNull, noNull: r.NoNull, noNaN: !r.NaN}
	if !r.Known {
		return b
	}
	low, ok := scalarValue(c, &r.Min)
	high, ok2 := scalarValue(c, &r.Max)
	if ok && ok2 && compareValues(c.domain, low, high) <= 0 {
		b.min, b.max, b.hasRange = low, high, true
	}
	return b
}

// scalarValue takes a scalar of the class's type into its domain.
func scalarValue(c class, s *variant.Scalar) (value, bool) {
	switch c.domain {
	case domainBool, domainInt:
		return value{i: s.Int}, true
	case domainFloat:
		return value{f: s.Float}, true
	case domainDecimal:
		d, ok := s.Dec().Rescale(uint8(c.scale))
		return value{d: decimal128.New(d.Hi, d.Lo)}, ok
	case domainBytes:
		return value{s: string(s.Bytes)}, true
	case domainNone:
	}
	return value{}, false
}

// mayMatchFile reports whether a data file may have a row for which the
// predicate is true, by the bounds of its Variant columns; iceberg-go has looked
// at the others.
func (f *filter) mayMatchFile(n *boundNode, schema *ice.Schema, lower, upper map[int][]byte) bool {
	switch n.op {
	case opAnd:
		for _, kid := range n.kids {
			if !f.mayMatchFile(kid, schema, lower, upper) {
				return false
			}
		}
		return true
	case opOr:
		for _, kid := range n.kids {
			if f.mayMatchFile(kid, schema, lower, upper) {
				return true
			}
		}
		return false
	}
	if n.left.slot < len(f.columns) || n.right != nil || n.op == opConst {
		return true
	}
	x := &f.extracts[n.left.slot-len(f.columns)]
	field, ok := topField(schema, x.Column)
	if !ok || lower[field.ID] == nil || upper[field.ID] == nil {
		return true
	}
	bounds := shred.Bounds{Lower: lower[field.ID], Upper: upper[field.ID]}
	b := rangeBounds(n.left.class, bounds.Range(shred.Request{Path: x.Path, Type: x.Type, Try: x.Try}))
	return n.mayMatch(&b)
}
