package iceberg

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/variant"
)

// domain is the set of values in which a column is compared. Integers, dates,
// times and timestamps share one: their stored int64.
type domain uint8

const (
	domainNone domain = iota // only IS NULL
	domainBool
	domainInt
	domainFloat
	domainDecimal
	domainBytes
)

// class says how the values of a column are compared and how a literal becomes
// one of them.
type class struct {
	domain domain
	typ    ice.Type // the Iceberg type; of an extraction, the one that holds its result
	scale  int      // decimal
}

// ref names the values that a predicate looks at: a slot of the filter's inputs
// and, inside a struct column, the fields on the way.
type ref struct {
	slot   int
	field  ice.NestedField // the leaf field; zero for an extraction
	column []string        // names of the top-level column and the fields below it
	steps  []string        // column without its first name
	class  class
}

// boundNode is a predicate bound to a schema. NOT has been pushed into the
// leaves, so that AND, OR and leaves are all there is: a bound that can only be
// too wide in a leaf is too wide in the whole.
type boundNode struct {
	op    exprOp // opConst, opAnd, opOr, opEq .. opGe, opSame, opIn, opIsNull, opLike
	value tri    // opConst; with has, only where the operand is not null
	has   bool   // opConst: null where the operand is null
	neg   bool   // opIn, opIsNull, opLike, opSame
	kids  []*boundNode
	left  ref
	right *ref // comparison of two columns
	lit   value
	set   *valueSet
	like  *likePattern
}

// filter is a predicate that is ready to run on batches.
type filter struct {
	root     *boundNode
	columns  []ice.NestedField // inputs 0 .. len(columns)-1: top-level columns
	extracts []Extraction      // the further inputs
}

// bind resolves the columns of e in schema. The zero Expr gives nil.
func (e Expr) bind(schema *ice.Schema) (*filter, error) {
	if e.root == nil {
		return nil, nil
	}
	b := &binder{schema: schema, filter: &filter{}, expr: e}
	b.collect(e.root)
	if b.err != nil {
		return nil, b.err
	}
	root, err := b.node(e.root, false)
	if err != nil {
		return nil, err
	}
	b.filter.root = root
	return b.filter, nil
}

type binder struct {
	schema *ice.Schema
	filter *filter
	expr   Expr
	err    error
}

func (b *binder) fail(n *exprNode, problem string) error {
	return &PredicateError{Text: Expr{root: n}.String(), Offset: n.at, Problem: problem}
}

// collect lists the top-level columns first, so that slots do not move.
func (b *binder) collect(n *exprNode) {
	for _, kid := range n.kids {
		b.collect(kid)
	}
	for _, o := range []operand{n.left, n.right} {
		if o.kind != operandColumn {
			continue
		}
		f, ok := topField(b.schema, o.column[0])
		if !ok {
			b.err = b.fail(n, "no column "+quoteName(o.column[0]))
			return
		}
		if !slices.ContainsFunc(b.filter.columns, func(c ice.NestedField) bool { return c.ID == f.ID }) {
			b.filter.columns = append(b.filter.columns, f)
		}
	}
}

// topField finds a top-level column by its exact name. The columns of row
// lineage are found as well.
func topField(schema *ice.Schema, name string) (ice.NestedField, bool) {
	for _, f := range schema.Fields() {
		if f.Name == name {
			return f, true
		}
	}
	switch name {
	case ice.RowIDColumnName:
		return ice.RowID(), true
	case ice.LastUpdatedSequenceNumberColumnName:
		return ice.LastUpdatedSequenceNumber(), true
	}
	return ice.NestedField{}, false
}

func (b *binder) node(n *exprNode, negate bool) (*boundNode, error) {
	switch n.op {
	case opConst:
		v := n.value
		if negate {
			v = triTrue - v
		}
		return &boundNode{op: opConst, value: v}, nil
	case opNot:
		return b.node(n.kids[0], !negate)
	case opAnd, opOr:
		out := &boundNode{op: n.op}
		if negate {
			out.op = opAnd + opOr - n.op
		}
		for _, kid := range n.kids {
			k, err := b.node(kid, negate)
			if err != nil {
				return nil, err
			}
			out.kids = append(out.kids, k)
		}
		return out, nil
	case opIsNull:
		left, err := b.ref(n, n.left)
		return &boundNode{op: opIsNull, neg: negate, left: left}, err
	case opIn:
		return b.in(n, negate)
	case opLike:
		left, err := b.ref(n, n.left)
		if err != nil {
			return nil, err
		}
		if !isText(left.class) {
			return nil, b.fail(n, "LIKE takes a string column")
		}
		return &boundNode{op: opLike, neg: negate, left: left, like: compileLike(n.pattern)}, nil
	case opEq, opNe, opLt, opLe, opGt, opGe, opSame:
	}
	return b.comparison(n, negate)
}

func isText(c class) bool {
	_, ok := c.typ.(ice.StringType)
	return ok
}

// mirrored holds the comparison with its sides swapped, inverse its negation.
var (
	mirrored = [...]exprOp{opEq: opEq, opNe: opNe, opLt: opGt, opLe: opGe, opGt: opLt, opGe: opLe, opSame: opSame}
	inverse  = [...]exprOp{opEq: opNe, opNe: opEq, opLt: opGe, opLe: opGt, opGt: opLe, opGe: opLt, opSame: opSame}
)

func (b *binder) comparison(n *exprNode, negate bool) (*boundNode, error) {
	op, l, r := n.op, n.left, n.right
	if l.kind == operandLiteral {
		op, l, r = mirrored[op], r, l
	}
	if l.kind == operandLiteral {
		return nil, b.fail(n, "a comparison needs a column")
	}
	if negate {
		op = inverse[op]
	}
	left, err := b.ref(n, l)
	if err != nil {
		return nil, err
	}
	out := &boundNode{op: op, left: left, neg: negate && op == opSame}
	if r.kind != operandLiteral {
		right, err := b.ref(n, r)
		if err != nil {
			return nil, err
		}
		if !comparable2(left.class, right.class) {
			return nil, b.fail(n, l.String()+" and "+r.String()+" are of types that do not compare")
		}
		out.right = &right
		return out, nil
	}
	if r.lit.kind == litNull {
		if op == opSame {
			return &boundNode{op: opIsNull, neg: negate, left: left}, nil
		}
		return &boundNode{op: opConst, value: triNull}, nil
	}
	if left.class.domain == domainNone {
		return nil, b.fail(n, l.String()+" cannot be compared; use IS NULL or variant_get with a type")
	}
	if problem := out.fold(r.lit); problem != "" {
		return nil, b.fail(n, problem)
	}
	return out, nil
}

// comparable2 reports whether two columns can be compared with each other.
func comparable2(a, b class) bool {
	if a.domain == domainNone || b.domain == domainNone {
		return false
	}
	if isNumeric(a) && isNumeric(b) {
		return true
	}
	return a.domain == b.domain && !isNumeric(a) && !isNumeric(b) && (a.domain != domainInt || a.typ.Equals(b.typ))
}

// isNumeric reports whether the class holds numbers: dates and times do not.
func isNumeric(c class) bool {
	switch c.typ.(type) {
	case ice.Int32Type, ice.Int64Type, ice.Float32Type, ice.Float64Type, ice.DecimalType:
		return true
	}
	return false
}

func (b *binder) in(n *exprNode, negate bool) (*boundNode, error) {
	left, err := b.ref(n, n.left)
	if err != nil {
		return nil, err
	}
	if left.class.domain == domainNone {
		return nil, b.fail(n, n.left.String()+" cannot be compared")
	}
	set := &valueSet{}
	for _, l := range n.list {
		if l.kind == litNull {
			set.hasNull = true
			continue
		}
		eq := &boundNode{op: opEq, left: left}
		if problem := eq.fold(l); problem != "" {
			return nil, b.fail(n, problem)
		}
		if eq.op == opEq {
			set.add(left.class.domain, eq.lit)
		}
	}
	set.finish(left.class.domain)
	return &boundNode{op: opIn, neg: negate, left: left, set: set}, nil
}

// ref resolves a column or an extraction to a slot.
func (b *binder) ref(n *exprNode, o operand) (ref, error) {
	if o.kind == operandExtract {
		f, ok := topField(b.schema, o.extract.Column)
		if !ok {
			return ref{}, b.fail(n, "no column "+quoteName(o.extract.Column))
		}
		if _, ok := f.Type.(ice.VariantType); !ok {
			return ref{}, b.fail(n, quoteName(f.Name)+" is no variant column")
		}
		same := func(x Extraction) bool { return x.String() == o.extract.String() }
		i := slices.IndexFunc(b.filter.extracts, same)
		if i < 0 {
			i = len(b.filter.extracts)
			b.filter.extracts = append(b.filter.extracts, o.extract)
		}
		return ref{slot: len(b.filter.columns) + i, class: classOf(extractedType(o.extract.Type))}, nil
	}
	if o.kind == operandLiteral {
		return ref{}, b.fail(n, "a column is expected")
	}
	f, _ := topField(b.schema, o.column[0])
	slot := slices.IndexFunc(b.filter.columns, func(c ice.NestedField) bool { return c.ID == f.ID })
	out := ref{slot: slot, field: f, column: o.column, steps: o.column[1:]}
	for _, name := range out.steps {
		st, ok := out.field.Type.(*ice.StructType)
		i := -1
		if ok {
			i = slices.IndexFunc(st.FieldList, func(c ice.NestedField) bool { return c.Name == name })
		}
		if i < 0 {
			return ref{}, b.fail(n, "no field "+strings.Join(o.column, "."))
		}
		out.field = st.FieldList[i]
	}
	out.class = classOf(out.field.Type)
	return out, nil
}

// extractedType gives the Iceberg type that holds the result of a cast.
func extractedType(t variant.Type) ice.Type {
	switch t.ID {
	case variant.TypeBoolean:
		return ice.BooleanType{}
	case variant.TypeTinyint, variant.TypeSmallint, variant.TypeInt:
		return ice.Int32Type{}
	case variant.TypeBigint:
		return ice.Int64Type{}
	case variant.TypeFloat:
		return ice.Float32Type{}
	case variant.TypeDouble:
		return ice.Float64Type{}
	case variant.TypeDecimal:
		return ice.DecimalTypeOf(t.Precision, t.Scale)
	case variant.TypeString:
		return ice.StringType{}
	case variant.TypeBinary:
		return ice.BinaryType{}
	case variant.TypeDate:
		return ice.DateType{}
	case variant.TypeTimestamp:
		return ice.TimestampTzType{}
	case variant.TypeTimestampNTZ:
		return ice.TimestampType{}
	case variant.TypeVariant, variant.TypeArray, variant.TypeMap, variant.TypeStruct:
	}
	return ice.VariantType{}
}

func classOf(t ice.Type) class {
	c := class{typ: t}
	switch t := t.(type) {
	case ice.BooleanType:
		c.domain = domainBool
	case ice.Int32Type, ice.Int64Type, ice.DateType, ice.TimeType, ice.TimestampType, ice.TimestampTzType,
		ice.TimestampNsType, ice.TimestampTzNsType:
		c.domain = domainInt
	case ice.Float32Type, ice.Float64Type:
		c.domain = domainFloat
	case ice.DecimalType:
		c.domain, c.scale = domainDecimal, t.Scale()
	case ice.StringType, ice.BinaryType, ice.FixedType, ice.UUIDType:
		c.domain = domainBytes
	}
	return c
}

// value is a constant in one of the domains; the field of the domain counts.
type value struct {
	i int64 // bool (0, 1), int
	f float64
	d decimal128.Num
	s string
}

// valueSet is the list of IN in a form for look-ups.
type valueSet struct {
	hasNull  bool
	values   []value // sorted, distinct
	ints     map[int64]struct{}
	texts    map[string]struct{}
	decimals map[decimal128.Num]struct{}
}

// linearSet is the size up to which a list is searched one by one.
const linearSet = 8

func (s *valueSet) add(_ domain, v value) { s.values = append(s.values, v) }

// finish sorts the values and indexes a long list.
func (s *valueSet) finish(d domain) {
	slices.SortFunc(s.values, func(a, b value) int { return compareValues(d, a, b) })
	s.values = slices.CompactFunc(s.values, func(a, b value) bool { return compareValues(d, a, b) == 0 })
	if len(s.values) <= linearSet {
		return
	}
	switch d {
	case domainInt, domainBool:
		s.ints = make(map[int64]struct{}, len(s.values))
		for _, v := range s.values {
			s.ints[v.i] = struct{}{}
		}
	case domainBytes:
		s.texts = make(map[string]struct{}, len(s.values))
		for _, v := range s.values {
			s.texts[v.s] = struct{}{}
		}
	case domainDecimal:
		s.decimals = make(map[decimal128.Num]struct{}, len(s.values))
		for _, v := range s.values {
			s.decimals[v.d] = struct{}{}
		}
	case domainFloat, domainNone:
	}
}

// compareValues orders two constants of one domain; NaN is above all and equal
// to itself.
func compareValues(d domain, a, b value) int {
	switch d {
	case domainFloat:
		return compareFloats(a.f, b.f)
	case domainDecimal:
		return a.d.Cmp(b.d)
	case domainBytes:
		return strings.Compare(a.s, b.s)
	case domainBool, domainInt, domainNone:
	}
	switch {
	case a.i < b.i:
		return -1
	case a.i > b.i:
		return 1
	}
	return 0
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a == a: // b is NaN
		return -1
	case b == b: // a is NaN
		return 1
	}
	return 0
}
