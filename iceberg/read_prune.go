package iceberg

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
)

// rowRange is the rows from..to-1 of a row group.
type rowRange struct{ from, to int64 }

// fieldBounds is what statistics say about one field in a range of rows.
type fieldBounds struct {
	allNull    bool
	noNull     bool
	hasRange   bool
	noNaN      bool
	min, max   value
	exactRange bool // min and max occur
}

// mayMatch reports whether a leaf can be true for a row within the bounds. It
// errs on the side of true.
func (n *boundNode) mayMatch(b *fieldBounds) bool {
	if b.allNull {
		switch n.op {
		case opIsNull:
			return !n.neg
		case opSame:
			return n.neg
		}
		return false
	}
	switch n.op {
	case opIsNull:
		return n.neg || !b.noNull
	case opConst:
		return n.value == triTrue
	}
	if !b.hasRange || n.right != nil {
		return true
	}
	switch n.op {
	case opIn:
		return n.neg || n.set.overlaps(n.left.class.domain, b)
	case opLike:
		return n.neg || likeOverlaps(n.like.prefix, b)
	}
	return n.compareMayMatch(b)
}

func (n *boundNode) compareMayMatch(b *fieldBounds) bool {
	d := n.left.class.domain
	if d == domainFloat && math.IsNaN(n.lit.f) {
		return true
	}
	low, high := compareValues(d, b.min, n.lit), compareValues(d, b.max, n.lit)
	above := d == domainFloat && !b.noNaN // a NaN is above all bounds
	switch n.op {
	case opEq:
		return low <= 0 && high >= 0
	case opSame:
		if n.neg {
			return true
		}
		return low <= 0 && high >= 0
	case opNe:
		return low != 0 || high != 0 || above || !b.exactRange
	case opLt:
		return low < 0
	case opLe:
		return low <= 0
	case opGt:
		return high > 0 || above
	case opGe:
		return high >= 0 || above
	}
	return true
}

// overlaps reports whether some value of the list lies within the bounds.
func (s *valueSet) overlaps(d domain, b *fieldBounds) bool {
	i, _ := slices.BinarySearchFunc(s.values, b.min, func(v, low value) int { return compareValues(d, v, low) })
	if i == len(s.values) {
		return false
	}
	if d == domainFloat && math.IsNaN(s.values[len(s.values)-1].f) {
		return true
	}
	return compareValues(d, s.values[i], b.max) <= 0
}

func likeOverlaps(prefix string, b *fieldBounds) bool {
	low := b.min.s
	if len(low) > len(prefix) {
		low = low[:len(prefix)]
	}
	return low <= prefix && b.max.s >= prefix
}

// statistics finds the bounds of fields in one file.
type statistics struct {
	file   *pq.File
	leaves map[int]int  // by field id: the leaf that holds it
	noNaN  map[int]bool // by field id, by the manifest
}

// newStatistics indexes the primitive leaves below the root by field id.
func newStatistics(file *pq.File, root *leaf.Node, data ice.DataFile) *statistics {
	s := &statistics{file: file, leaves: map[int]int{}, noNaN: map[int]bool{}}
	ordinal := 0
	var walk func(n *leaf.Node, usable bool)
	walk = func(n *leaf.Node, usable bool) {
		if n.Repetition == leaf.Repeated {
			usable = false
		}
		if n.Type != leaf.Group {
			if usable && n.FieldID != 0 {
				s.leaves[n.FieldID] = ordinal
			}
			ordinal++
			return
		}
		for _, c := range n.Children {
			walk(c, usable)
		}
	}
	for _, c := range root.Children {
		walk(c, true)
	}
	for id, n := range data.NaNValueCounts() {
		s.noNaN[id] = n == 0
	}
	return s
}

// chunk gives the bounds of a field in a row group.
func (s *statistics) chunk(group int, r *ref) (fieldBounds, bool) {
	i, ok := s.leaves[r.field.ID]
	if !ok {
		return fieldBounds{}, false
	}
	c := s.file.RowGroup(group).Column(i)
	b := fieldBounds{allNull: c.AllNull(), noNull: c.NullsKnown && c.Nulls == 0, noNaN: s.noNaN[r.field.ID]}
	if c.HasMinMax {
		b.setRange(s.file.Leaves()[i].Node, r.class, c.Min, c.Max)
		b.exactRange = c.MinExact && c.MaxExact
	}
	return b, true
}

// setRange decodes the extremes of a leaf into the domain of a class.
func (b *fieldBounds) setRange(n *leaf.Node, c class, low, high []byte) {
	lo, ok := decodeBound(n, c, low)
	hi, ok2 := decodeBound(n, c, high)
	if ok && ok2 && compareValues(c.domain, lo, hi) <= 0 {
		b.min, b.max, b.hasRange = lo, hi, true
	}
}

// decodeBound reads a plain value. It refuses a leaf whose stored unit is not
// that of the class.
func decodeBound(n *leaf.Node, c class, raw []byte) (value, bool) {
	switch {
	case n.Type == leaf.Bool && c.domain == domainBool && len(raw) == 1:
		return value{i: int64(raw[0])}, true
	case n.Type == leaf.Int32 && len(raw) == 4:
		return boundOfInt(n, c, int64(int32(binary.LittleEndian.Uint32(raw))))
	case n.Type == leaf.Int64 && len(raw) == 8:
		return boundOfInt(n, c, int64(binary.LittleEndian.Uint64(raw)))
	case n.Type == leaf.Float && c.domain == domainFloat && len(raw) == 4:
		f := math.Float32frombits(binary.LittleEndian.Uint32(raw))
		return value{f: float64(f)}, f == f
	case n.Type == leaf.Double && c.domain == domainFloat && len(raw) == 8:
		f := math.Float64frombits(binary.LittleEndian.Uint64(raw))
		return value{f: f}, f == f
	case (n.Type == leaf.Bytes || n.Type == leaf.Fixed) && c.domain == domainDecimal:
		if n.Logical != leaf.Decimal || n.Scale != c.scale || len(raw) == 0 || len(raw) > 16 {
			return value{}, false
		}
		return value{d: decimalOfBytes(raw)}, true
	case (n.Type == leaf.Bytes || n.Type == leaf.Fixed) && c.domain == domainBytes:
		return value{s: string(raw)}, true
	}
	return value{}, false
}

func boundOfInt(n *leaf.Node, c class, v int64) (value, bool) {
	switch c.domain {
	case domainDecimal:
		return value{d: decimal128.FromI64(v)}, n.Logical == leaf.Decimal && n.Scale == c.scale
	case domainInt:
		return value{i: v}, sameUnit(n, c)
	case domainBool, domainFloat, domainBytes, domainNone:
	}
	return value{}, false
}

// sameUnit reports whether a leaf stores the numbers that the class compares.
func sameUnit(n *leaf.Node, c class) bool {
	switch c.typ.(type) {
	case ice.Int32Type, ice.Int64Type:
		return n.Logical == leaf.None || n.Logical == leaf.Integer && n.Signed
	case ice.DateType:
		return n.Logical == leaf.Date || n.Logical == leaf.None
	case ice.TimeType:
		return n.Logical == leaf.Time && n.Unit == leaf.Micros
	case ice.TimestampType, ice.TimestampTzType:
		return n.Logical == leaf.Timestamp && n.Unit == leaf.Micros
	case ice.TimestampNsType, ice.TimestampTzNsType:
		return n.Logical == leaf.Timestamp && n.Unit == leaf.Nanos
	}
	return false
}

// decimalOfBytes reads a big-endian two's complement of up to 16 bytes.
func decimalOfBytes(raw []byte) decimal128.Num {
	var b [16]byte
	if raw[0]&0x80 != 0 {
		for i := range b {
			b[i] = 0xff
		}
	}
	copy(b[16-len(raw):], raw)
	return decimal128.New(int64(binary.BigEndian.Uint64(b[:8])), binary.BigEndian.Uint64(b[8:]))
}

// pruner narrows a row group to the rows that may match a predicate.
type pruner struct {
	stats *statistics
	group int
	rows  int64
	// extract narrows by a predicate on an extraction.
	extract func(n *boundNode, group int, pages bool) ([]rowRange, error)
}

func (p *pruner) all() []rowRange { return []rowRange{{0, p.rows}} }

// ranges returns the rows that may match n, ascending and disjoint. pages says
// whether to look into bloom filters and page indexes or only at what the footer
// says about the row group.
func (p *pruner) ranges(n *boundNode, pages bool) ([]rowRange, error) {
	switch n.op {
	case opAnd:
		out := p.all()
		for _, kid := range n.kids {
			r, err := p.ranges(kid, pages)
			if err != nil {
				return nil, err
			}
			if out = intersectRanges(out, r); len(out) == 0 {
				return nil, nil
			}
		}
		return out, nil
	case opOr:
		var out []rowRange
		for _, kid := range n.kids {
			r, err := p.ranges(kid, pages)
			if err != nil {
				return nil, err
			}
			out = uniteRanges(out, r)
		}
		return out, nil
	case opConst:
		if n.value != triTrue {
			return nil, nil
		}
		return p.all(), nil
	}
	if n.left.field.ID == 0 {
		return p.extract(n, p.group, pages)
	}
	b, ok := p.stats.chunk(p.group, &n.left)
	switch {
	case !ok:
		return p.all(), nil
	case !n.mayMatch(&b):
		return nil, nil
	case !pages:
		return p.all(), nil
	}
	if no, err := p.stats.excluded(n, p.group, p.stats.leaves[n.left.field.ID]); err != nil || no {
		return nil, err
	}
	return p.pageRanges(n, b.noNaN)
}

// pageRanges asks the page index of the leaf's column.
func (p *pruner) pageRanges(n *boundNode, noNaN bool) ([]rowRange, error) {
	i := p.stats.leaves[n.left.field.ID]
	index, err := p.stats.file.PageIndex(p.group, i)
	if err != nil {
		return nil, err
	}
	if index == nil || !index.HasStats {
		return p.all(), nil
	}
	node := p.stats.file.Leaves()[i].Node
	var out []rowRange
	for k := range index.Pages {
		page := &index.Pages[k]
		b := fieldBounds{allNull: page.AllNull, noNull: page.NullsKnown && page.Nulls == 0, noNaN: noNaN}
		if page.Min != nil && page.Max != nil {
			b.setRange(node, n.left.class, page.Min, page.Max)
		}
		if n.mayMatch(&b) {
			out = uniteRanges(out, []rowRange{{page.FirstRow, page.FirstRow + page.Rows}})
		}
	}
	return out, nil
}

func intersectRanges(a, b []rowRange) []rowRange {
	var out []rowRange
	for len(a) > 0 && len(b) > 0 {
		r := rowRange{max(a[0].from, b[0].from), min(a[0].to, b[0].to)}
		if r.from < r.to {
			out = append(out, r)
		}
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// uniteRanges merges two ascending lists and joins what touches.
func uniteRanges(a, b []rowRange) []rowRange {
	var out []rowRange
	for len(a)+len(b) > 0 {
		var next rowRange
		if len(b) == 0 || len(a) > 0 && a[0].from <= b[0].from {
			next, a = a[0], a[1:]
		} else {
			next, b = b[0], b[1:]
		}
		if k := len(out); k > 0 && next.from <= out[k-1].to {
			out[k-1].to = max(out[k-1].to, next.to)
			continue
		}
		out = append(out, next)
	}
	return out
}
