package shred

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/frazil/frazil/variant"
)

// Stats is what a footer or a page index says about one column over some rows.
// Foreign writers leave things out: what is not known is not used.
type Stats struct {
	Slots      int64 // values and nulls
	Nulls      int64 // slots without a value, if NullsKnown
	NullsKnown bool
	Min, Max   []byte // bounds in the plain encoding, nil when not known
}

func (s Stats) allNull() bool { return s.NullsKnown && s.Nulls == s.Slots }

// Range bounds the answers to one request over some rows. Its zero value says
// nothing.
//
// Invariant: if Known, every answer that is not null, and not NaN, is between Min
// and Max, both of the request's type; the bounds need not occur.
type Range struct {
	AllNull bool // every answer is null
	NoNull  bool // none is
	Known   bool
	NaN     bool // answers may be NaN, too
	Min     variant.Scalar
	Max     variant.Scalar
}

// Range returns the bounds of request i from the statistics of columns, which are
// ordinals among the leaves of the group; for the pages of the typed leaf, give
// those of a page, and for other columns those of the row group.
//
// The statistics of a typed leaf count only if the `value` beside it is all null,
// and only for a type to which the cast keeps the order of the leaf's values:
// among numbers, or the same type. Indexes in the path do not matter, as the
// statistics cover all elements.
func (p *Plan) Range(i int, stats func(column int) Stats) Range {
	t := &p.targets[i]
	l := t.at
	if t.kind != targetLeaf {
		return Range{}
	}
	if l.value != noColumn && t.value && !stats(l.value).allNull() {
		return Range{}
	}
	if l.shape != Leaf || !t.typed {
		return Range{AllNull: true}
	}
	s := stats(l.typed)
	r := Range{AllNull: s.allNull(), NoNull: s.NullsKnown && s.Nulls == 0 && len(t.picks) == 0}
	lo, ok := l.decode(s.Min)
	hi, ok2 := l.decode(s.Max)
	if ok && ok2 {
		r.bound(&lo, &hi, &t.req.Type)
	}
	r.NoNull = r.NoNull && r.Known
	return r
}

// bound sets the bounds to the casts of lo and hi, if the cast keeps order.
func (r *Range) bound(lo, hi *variant.Scalar, t *variant.Type) {
	if !keepsOrder(lo.Kind, t.ID) || !keepsOrder(hi.Kind, t.ID) || !sameClass(lo, hi) || Order(lo, hi) > 0 {
		return
	}
	var ok, ok2 bool
	r.Min, ok = variant.TryCastScalar(lo, *t)
	r.Max, ok2 = variant.TryCastScalar(hi, *t)
	r.Known = ok && ok2
	r.NaN = lo.Kind == variant.KindFloat || lo.Kind == variant.KindDouble
}

// keepsOrder reports whether casts from a kind to a type are monotone and, where
// both ends cast, cannot fail in between.
func keepsOrder(k variant.Kind, id variant.TypeID) bool {
	switch id {
	case variant.TypeTinyint, variant.TypeSmallint, variant.TypeInt, variant.TypeBigint, variant.TypeDecimal:
		return k.IsExact()
	case variant.TypeFloat, variant.TypeDouble:
		return k.IsNumeric()
	case variant.TypeString:
		return k == variant.KindString
	case variant.TypeBinary:
		return k == variant.KindBinary || k == variant.KindString
	case variant.TypeDate:
		return k == variant.KindDate
	case variant.TypeTimestamp:
		return k == variant.KindTimestamp
	case variant.TypeTimestampNTZ:
		return k == variant.KindTimestampNTZ
	case variant.TypeBoolean:
		return k == variant.KindBool
	case variant.TypeVariant, variant.TypeArray, variant.TypeMap, variant.TypeStruct:
	}
	return false
}

// decode reads a statistic of a typed leaf in the plain encoding.
func (l *layout) decode(b []byte) (variant.Scalar, bool) {
	s := variant.Scalar{Kind: l.typ.Kind, Scale: uint8(l.typ.Scale)}
	size := 0
	switch l.typ.Kind {
	case variant.KindBool:
		if len(b) == 1 {
			s.Int = int64(b[0] & 1)
		}
		return s, len(b) == 1
	case variant.KindString, variant.KindBinary, variant.KindUUID:
		s.Bytes = b
		return s, b != nil
	case variant.KindDecimal16:
		if len(b) == 0 || len(b) > 16 {
			return s, false
		}
		d := decimalFromBytes(b, s.Scale)
		s.Int, s.Hi = int64(d.Lo), d.Hi
		return s, true
	case variant.KindInt8, variant.KindInt16, variant.KindInt32, variant.KindDecimal4, variant.KindDate, variant.KindFloat:
		size = 4
	default:
		size = 8
	}
	if len(b) != size {
		return s, false
	}
	var raw uint64
	if size == 4 {
		raw = uint64(int64(int32(binary.LittleEndian.Uint32(b))))
	} else {
		raw = binary.LittleEndian.Uint64(b)
	}
	switch l.typ.Kind {
	case variant.KindFloat:
		s.Float = float64(math.Float32frombits(uint32(raw)))
		return s, s.Float == s.Float
	case variant.KindDouble:
		s.Float = math.Float64frombits(raw)
		return s, s.Float == s.Float
	}
	s.Int, s.Hi = int64(raw), int64(raw)>>63
	return s, true
}

// Range returns the bounds of a request over a whole file from its Variant
// bounds. Bytes that are no bounds say nothing.
func (b Bounds) Range(req Request) Range {
	var r Range
	for _, s := range req.Path.Steps() {
		if s.IsIndex {
			return r
		}
	}
	path := req.Path.String()
	lo, ok := boundOf(b.Lower, path)
	hi, ok2 := boundOf(b.Upper, path)
	if ok && ok2 {
		r.bound(&lo, &hi, &req.Type)
	}
	return r
}

// boundOf reads the bound of a path from one side.
func boundOf(b []byte, path string) (variant.Scalar, bool) {
	n := metadataSize(b)
	if n == 0 {
		return variant.Scalar{}, false
	}
	s, ok := variant.Unchecked(b[:n], b[n:]).Field(path).Scalar()
	return s, ok && s.Float == s.Float
}

// metadataSize returns the length of the metadata at the start of b, 0 if it is
// not valid (VariantEncoding.md, "Metadata encoding").
func metadataSize(b []byte) int {
	if len(b) == 0 || b[0]&0x0f != 1 {
		return 0
	}
	w := int(b[0]>>6) + 1
	if len(b) < 1+w {
		return 0
	}
	n := uint64(getUint(b[1:], w))
	head := 1 + (n+2)*uint64(w)
	if head > uint64(len(b)) {
		return 0
	}
	size := head + uint64(getUint(b[head-uint64(w):], w))
	if size > uint64(len(b)) {
		return 0
	}
	return int(size)
}

// sameClass reports whether two scalars are of one class.
func sameClass(a, b *variant.Scalar) bool {
	return a.Kind == b.Kind || a.Kind.IsExact() && b.Kind.IsExact()
}

// Order compares two scalars of one class: exact numbers by value, text and bytes
// by bytes, false before true. NaN is above all other numbers.
func Order(a, b *variant.Scalar) int {
	switch {
	case a.Kind.IsExact():
		return a.Dec().Cmp(b.Dec())
	case a.Kind == variant.KindFloat || a.Kind == variant.KindDouble:
		switch {
		case a.Float != a.Float && b.Float != b.Float:
			return 0
		case a.Float != a.Float:
			return 1
		case b.Float != b.Float:
			return -1
		}
		return cmp.Compare(a.Float, b.Float)
	case a.Kind == variant.KindString || a.Kind == variant.KindBinary || a.Kind == variant.KindUUID:
		return bytes.Compare(a.Bytes, b.Bytes)
	}
	return cmp.Compare(a.Int, b.Int)
}

// Truth is the set of results that a predicate may have over some rows. Rows may
// be skipped when it does not contain True.
type Truth uint8

// The members of a Truth.
const (
	True Truth = 1 << iota
	False
	Null
	anything = True | False | Null
)

// MayMatch reports whether the predicate may be true for a row.
func (t Truth) MayMatch() bool { return t&True != 0 }

// Not returns the results of the negated predicate.
func (t Truth) Not() Truth { return t&True<<1 | t&False>>1 | t&Null }

// And returns the results of a conjunction.
func (t Truth) And(o Truth) Truth {
	out := t&o&True | (t|o)&False
	if t&Null != 0 && o&(True|Null) != 0 || o&Null != 0 && t&(True|Null) != 0 {
		out |= Null
	}
	return out
}

// Or returns the results of a disjunction.
func (t Truth) Or(o Truth) Truth { return t.Not().And(o.Not()).Not() }

// Op is a comparison of an answer with a literal.
type Op uint8

// The comparisons.
const (
	Equal Op = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
)

// Compare returns what `answer op literal` may be. The literal must be of the
// request's type. NaN equals itself and is above all other numbers, as in Spark;
// where that and IEEE differ, both results are possible.
func (r Range) Compare(op Op, literal variant.Scalar) Truth {
	nulls := Null
	if r.NoNull {
		nulls = 0
	}
	switch {
	case literal.Kind == variant.KindNull || r.AllNull:
		return Null
	case !r.Known || !sameClass(&r.Min, &literal) || isNaN(&literal):
		return True | False | nulls
	}
	lo, hi := Order(&r.Min, &literal), Order(&r.Max, &literal)
	var out Truth
	if r.NaN {
		out |= False
		if op == NotEqual || op == Greater || op == GreaterEqual {
			out |= True
		}
	}
	out |= compareRange(op, lo, hi)
	return out | nulls
}

// compareRange returns the results for values from one that compares as lo with
// the literal, to one that compares as hi.
func compareRange(op Op, lo, hi int) Truth {
	either := func(may, mayNot bool) (t Truth) {
		if may {
			t |= True
		}
		if mayNot {
			t |= False
		}
		return t
	}
	switch op {
	case Equal:
		return either(lo <= 0 && hi >= 0, lo != 0 || hi != 0)
	case NotEqual:
		return compareRange(Equal, lo, hi).Not()
	case Less:
		return either(lo < 0, hi >= 0)
	case LessEqual:
		return either(lo <= 0, hi > 0)
	case Greater:
		return compareRange(LessEqual, lo, hi).Not()
	case GreaterEqual:
		return compareRange(Less, lo, hi).Not()
	}
	return anything
}

// IsNull returns what `answer IS NULL` may be.
func (r Range) IsNull() Truth {
	switch {
	case r.AllNull:
		return True
	case r.NoNull:
		return False
	}
	return True | False
}

// In returns what `answer IN (literals)` may be.
func (r Range) In(literals []variant.Scalar) Truth {
	out := False
	for _, l := range literals {
		out = out.Or(r.Compare(Equal, l))
	}
	return out
}

// StartsWith returns what `answer LIKE 'prefix%'` may be.
func (r Range) StartsWith(prefix []byte) Truth {
	nulls := Null
	if r.NoNull {
		nulls = 0
	}
	if r.AllNull {
		return Null
	}
	if !r.Known || r.Min.Kind != variant.KindString {
		return True | False | nulls
	}
	cut := func(b []byte) []byte { return b[:min(len(b), len(prefix))] }
	lo, hi := cut(r.Min.Bytes), cut(r.Max.Bytes)
	out := nulls
	if bytes.Compare(lo, prefix) <= 0 && bytes.Compare(hi, prefix) >= 0 {
		out |= True
	}
	if !bytes.HasPrefix(r.Min.Bytes, prefix) || !bytes.HasPrefix(r.Max.Bytes, prefix) {
		out |= False
	}
	return out
}

func isNaN(s *variant.Scalar) bool {
	return (s.Kind == variant.KindFloat || s.Kind == variant.KindDouble) && s.Float != s.Float
}
