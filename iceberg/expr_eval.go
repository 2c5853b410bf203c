package iceberg

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// evaluator runs a filter on batches and keeps its memory between them.
type evaluator struct {
	filter *filter
	free   [][]tri
}

// eval returns the truth of every row. inputs holds one array for each slot of
// the filter. The result is valid until the next call.
func (e *evaluator) eval(inputs []arrow.Array, rows int) ([]tri, error) {
	out := e.take(rows)
	defer func() { e.free = append(e.free, out) }()
	return out, e.node(e.filter.root, inputs, out)
}

func (e *evaluator) take(rows int) []tri {
	if k := len(e.free); k > 0 {
		buf := e.free[k-1]
		e.free = e.free[:k-1]
		if cap(buf) >= rows {
			return buf[:rows]
		}
	}
	return make([]tri, rows)
}

func (e *evaluator) node(n *boundNode, inputs []arrow.Array, dst []tri) error {
	switch n.op {
	case opAnd, opOr:
		return e.chain(n, inputs, dst)
	case opConst:
		fill(dst, n.value)
		if n.has {
			return markNulls(dst, &n.left, inputs)
		}
		return nil
	case opIsNull:
		fill(dst, triFalse)
		if err := markNulls(dst, &n.left, inputs); err != nil {
			return err
		}
		for i, v := range dst {
			dst[i] = triOf((v == triNull) != n.neg)
		}
		return nil
	}
	return leafTruth(n, inputs, dst)
}

// chain folds the operands of AND with the minimum, of OR with the maximum, and
// stops when no row can change.
func (e *evaluator) chain(n *boundNode, inputs []arrow.Array, dst []tri) error {
	if err := e.node(n.kids[0], inputs, dst); err != nil {
		return err
	}
	settled := triFalse
	if n.op == opOr {
		settled = triTrue
	}
	for _, kid := range n.kids[1:] {
		if allEqual(dst, settled) {
			return nil
		}
		other := e.take(len(dst))
		err := e.node(kid, inputs, other)
		if err == nil && n.op == opAnd {
			for i, v := range other {
				dst[i] = min(dst[i], v)
			}
		} else if err == nil {
			for i, v := range other {
				dst[i] = max(dst[i], v)
			}
		}
		e.free = append(e.free, other)
		if err != nil {
			return err
		}
	}
	return nil
}

func allEqual(t []tri, v tri) bool {
	for _, x := range t {
		if x != v {
			return false
		}
	}
	return true
}

func fill(dst []tri, v tri) {
	for i := range dst {
		dst[i] = v
	}
}

// resolve finds the array of a reference; parents are the structs on the way,
// whose nulls are nulls of the field.
func (r *ref) resolve(inputs []arrow.Array) (leafArr arrow.Array, parents []arrow.Array, err error) {
	arr := inputs[r.slot]
	for _, step := range r.steps {
		s, ok := arr.(*array.Struct)
		if !ok {
			return nil, nil, unsupportedf("field %q of a column of type %s", step, arr.DataType())
		}
		i, ok := s.DataType().(*arrow.StructType).FieldIdx(step)
		if !ok {
			return nil, nil, corruptf("field %q is missing", step)
		}
		parents = append(parents, arr)
		arr = s.Field(i)
	}
	if ext, ok := arr.(array.ExtensionArray); ok {
		arr = ext.Storage()
	}
	return arr, parents, nil
}

// markNulls sets the rows whose operand is null to null.
func markNulls(dst []tri, r *ref, inputs []arrow.Array) error {
	arr, parents, err := r.resolve(inputs)
	if err != nil {
		return err
	}
	for _, a := range append(parents, arr) {
		markArray(dst, a)
	}
	return nil
}

func markArray(dst []tri, a arrow.Array) {
	if a.DataType().ID() == arrow.NULL {
		fill(dst, triNull)
		return
	}
	if a.NullN() == 0 {
		return
	}
	for i := range dst {
		if a.IsNull(i) {
			dst[i] = triNull
		}
	}
}

// leafTruth runs a comparison, an IN or a LIKE.
func leafTruth(n *boundNode, inputs []arrow.Array, dst []tri) error {
	arr, parents, err := n.left.resolve(inputs)
	if err != nil {
		return err
	}
	if arr.DataType().ID() == arrow.NULL {
		if n.op == opSame && n.right == nil {
			fill(dst, triOf(n.neg))
		} else {
			fill(dst, triNull)
		}
		return nil
	}
	if n.right != nil {
		return pairTruth(n, arr, parents, inputs, dst)
	}
	if !truthOf(n, arr, dst) {
		return unsupportedf("predicate on a column of type %s", arr.DataType())
	}
	if n.neg {
		for i, v := range dst {
			dst[i] = triTrue - v
		}
	}
	if n.op == opIn && n.set.hasNull { // a row that matches nothing might equal the null
		miss := triOf(n.neg)
		for i, v := range dst {
			if v == miss {
				dst[i] = triNull
			}
		}
	}
	if n.op != opSame {
		return markNulls(dst, &n.left, inputs)
	}
	nulls := make([]tri, len(dst))
	if err := markNulls(nulls, &n.left, inputs); err != nil {
		return err
	}
	for i, v := range nulls {
		if v == triNull {
			dst[i] = triOf(n.neg)
		}
	}
	return nil
}

// truthOf fills dst without regard to nulls and negation. It reports whether
// the array's type is one it knows.
func truthOf(n *boundNode, arr arrow.Array, dst []tri) bool {
	switch a := arr.(type) {
	case *array.Int64:
		intTruth(n, a.Int64Values(), dst)
	case *array.Int32:
		intTruth(n, a.Int32Values(), dst)
	case *array.Int16:
		intTruth(n, a.Int16Values(), dst)
	case *array.Int8:
		intTruth(n, a.Int8Values(), dst)
	case *array.Date32:
		intTruth(n, a.Date32Values(), dst)
	case *array.Time64:
		intTruth(n, a.Time64Values(), dst)
	case *array.Timestamp:
		intTruth(n, a.TimestampValues(), dst)
	case *array.Float64:
		floatTruth(n, a.Float64Values(), dst)
	case *array.Float32:
		floatTruth(n, a.Float32Values(), dst)
	case *array.Boolean:
		values := make([]int8, len(dst))
		for i := range values {
			if a.Value(i) {
				values[i] = 1
			}
		}
		intTruth(n, values, dst)
	case *array.Decimal128:
		decimalTruth(n, a.Values(), dst)
	case *array.String:
		textTruth(n, a, dst)
	case *array.LargeString:
		textTruth(n, a, dst)
	case *array.Binary:
		textTruth(n, binaryText{a}, dst)
	case *array.FixedSizeBinary:
		textTruth(n, binaryText{a}, dst)
	default:
		return false
	}
	return true
}

func intTruth[T ~int8 | ~int16 | ~int32 | ~int64](n *boundNode, v []T, dst []tri) {
	if n.op == opIn {
		intIn(n.set, v, dst)
		return
	}
	lit := n.lit.i
	dst = dst[:len(v)]
	switch n.op {
	case opEq, opSame:
		for i, x := range v {
			dst[i] = triOf(int64(x) == lit)
		}
	case opNe:
		for i, x := range v {
			dst[i] = triOf(int64(x) != lit)
		}
	case opLt:
		for i, x := range v {
			dst[i] = triOf(int64(x) < lit)
		}
	case opLe:
		for i, x := range v {
			dst[i] = triOf(int64(x) <= lit)
		}
	case opGt:
		for i, x := range v {
			dst[i] = triOf(int64(x) > lit)
		}
	case opGe:
		for i, x := range v {
			dst[i] = triOf(int64(x) >= lit)
		}
	}
}

func intIn[T ~int8 | ~int16 | ~int32 | ~int64](set *valueSet, v []T, dst []tri) {
	if set.ints != nil {
		for i, x := range v {
			_, ok := set.ints[int64(x)]
			dst[i] = triOf(ok)
		}
		return
	}
	for i, x := range v {
		dst[i] = triFalse
		for _, s := range set.values {
			if s.i == int64(x) {
				dst[i] = triTrue
			}
		}
	}
}

// floatTruth takes NaN as equal to itself and above every other value, as Spark
// does; the forms below hold for a NaN on the left.
func floatTruth[T ~float32 | ~float64](n *boundNode, v []T, dst []tri) {
	lit := n.lit.f
	if n.op == opIn || math.IsNaN(lit) {
		for i, x := range v {
			dst[i] = floatLeaf(n, float64(x))
		}
		return
	}
	dst = dst[:len(v)]
	switch n.op {
	case opEq, opSame:
		for i, x := range v {
			dst[i] = triOf(float64(x) == lit)
		}
	case opNe:
		for i, x := range v {
			dst[i] = triOf(float64(x) != lit)
		}
	case opLt:
		for i, x := range v {
			dst[i] = triOf(float64(x) < lit)
		}
	case opLe:
		for i, x := range v {
			dst[i] = triOf(float64(x) <= lit)
		}
	case opGt:
		for i, x := range v {
			dst[i] = triOf(!(float64(x) <= lit))
		}
	case opGe:
		for i, x := range v {
			dst[i] = triOf(!(float64(x) < lit))
		}
	}
}

func floatLeaf(n *boundNode, x float64) tri {
	if n.op != opIn {
		return triOf(holds(n.op, compareFloats(x, n.lit.f)))
	}
	for _, s := range n.set.values {
		if compareFloats(x, s.f) == 0 {
			return triTrue
		}
	}
	return triFalse
}

// holds reports whether a comparison is true for an order of -1, 0 or 1.
func holds(op exprOp, order int) bool {
	switch op {
	case opEq, opSame:
		return order == 0
	case opNe:
		return order != 0
	case opLt:
		return order < 0
	case opLe:
		return order <= 0
	case opGt:
		return order > 0
	case opGe:
		return order >= 0
	}
	return false
}

func decimalTruth(n *boundNode, v []decimal128.Num, dst []tri) {
	switch {
	case n.op == opIn && n.set.decimals != nil:
		for i, x := range v {
			_, ok := n.set.decimals[x]
			dst[i] = triOf(ok)
		}
	case n.op == opIn:
		for i, x := range v {
			dst[i] = triOf(slices.ContainsFunc(n.set.values, func(s value) bool { return s.d == x }))
		}
	default:
		for i, x := range v {
			dst[i] = triOf(holds(n.op, x.Cmp(n.lit.d)))
		}
	}
}

// texts is an array of byte strings.
type texts interface {
	Value(i int) string
}

// binaryText gives the values of a binary array as texts.
type binaryText struct {
	arr interface{ Value(i int) []byte }
}

func (b binaryText) Value(i int) string { return string(b.arr.Value(i)) }

func textTruth[T texts](n *boundNode, arr T, dst []tri) {
	lit := n.lit.s
	switch n.op {
	case opLike:
		for i := range dst {
			dst[i] = triOf(n.like.match(arr.Value(i)))
		}
	case opIn:
		textIn(n.set, arr, dst)
	case opEq, opSame:
		for i := range dst {
			dst[i] = triOf(arr.Value(i) == lit)
		}
	case opNe:
		for i := range dst {
			dst[i] = triOf(arr.Value(i) != lit)
		}
	case opLt:
		for i := range dst {
			dst[i] = triOf(arr.Value(i) < lit)
		}
	case opLe:
		for i := range dst {
			dst[i] = triOf(arr.Value(i) <= lit)
		}
	case opGt:
		for i := range dst {
			dst[i] = triOf(arr.Value(i) > lit)
		}
	case opGe:
		for i := range dst {
			dst[i] = triOf(arr.Value(i) >= lit)
		}
	}
}

func textIn[T texts](set *valueSet, arr T, dst []tri) {
	if set.texts != nil {
		for i := range dst {
			_, ok := set.texts[arr.Value(i)]
			dst[i] = triOf(ok)
		}
		return
	}
	for i := range dst {
		dst[i] = triFalse
		x := arr.Value(i)
		for k := range set.values {
			if set.values[k].s == x {
				dst[i] = triTrue
			}
		}
	}
}
