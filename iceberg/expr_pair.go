package iceberg

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	ice "github.com/apache/iceberg-go"
)

// pairTruth compares two columns row by row.
func pairTruth(n *boundNode, left arrow.Array, parents []arrow.Array, inputs []arrow.Array, dst []tri) error {
	right, rightParents, err := n.right.resolve(inputs)
	if err != nil {
		return err
	}
	order, ok := rowOrder(n.left.class, left, n.right.class, right)
	if !ok {
		return unsupportedf("comparison of %s with %s", left.DataType(), right.DataType())
	}
	leftNull, rightNull := make([]tri, len(dst)), make([]tri, len(dst))
	for _, a := range append(parents, left) {
		markArray(leftNull, a)
	}
	for _, a := range append(rightParents, right) {
		markArray(rightNull, a)
	}
	for i := range dst {
		l, r := leftNull[i] == triNull, rightNull[i] == triNull
		switch {
		case n.op == opSame && (l || r):
			dst[i] = triOf((l && r) != n.neg)
		case l || r:
			dst[i] = triNull
		default:
			dst[i] = triOf(holds(n.op, order(i)) != n.neg)
		}
	}
	return nil
}

// rowOrder returns the comparison of two columns of comparable classes.
// Integers and decimals compare exactly, a float with either as doubles.
func rowOrder(lc class, l arrow.Array, rc class, r arrow.Array) (func(i int) int, bool) {
	lv, ok := cellReader(l)
	rv, ok2 := cellReader(r)
	if !ok || !ok2 {
		return nil, l.DataType().ID() == arrow.NULL || r.DataType().ID() == arrow.NULL
	}
	if lc.domain == rc.domain && lc.scale == rc.scale {
		return func(i int) int { return compareValues(lc.domain, lv(i), rv(i)) }, true
	}
	if lc.domain == domainFloat || rc.domain == domainFloat {
		return func(i int) int { return compareFloats(asFloat(lc, lv(i)), asFloat(rc, rv(i))) }, true
	}
	return func(i int) int {
		a, b := asNumber(lc, lv(i)), asNumber(rc, rv(i))
		scale := max(a.scale, b.scale)
		x, _ := a.floor(scale)
		y, _ := b.floor(scale)
		return x.Cmp(y)
	}, true
}

// cellReader reads the values of an array into its domain.
func cellReader(arr arrow.Array) (func(i int) value, bool) {
	switch a := arr.(type) {
	case *array.Int64:
		return func(i int) value { return value{i: a.Value(i)} }, true
	case *array.Int32:
		return func(i int) value { return value{i: int64(a.Value(i))} }, true
	case *array.Int16:
		return func(i int) value { return value{i: int64(a.Value(i))} }, true
	case *array.Int8:
		return func(i int) value { return value{i: int64(a.Value(i))} }, true
	case *array.Date32:
		return func(i int) value { return value{i: int64(a.Value(i))} }, true
	case *array.Time64:
		return func(i int) value { return value{i: int64(a.Value(i))} }, true
	case *array.Timestamp:
		return func(i int) value { return value{i: int64(a.Value(i))} }, true
	case *array.Boolean:
		return func(i int) value { return value{i: int64(triOf(a.Value(i)) / 2)} }, true
	case *array.Float64:
		return func(i int) value { return value{f: a.Value(i)} }, true
	case *array.Float32:
		return func(i int) value { return value{f: float64(a.Value(i))} }, true
	case *array.Decimal128:
		return func(i int) value { return value{d: a.Value(i)} }, true
	case *array.String:
		return func(i int) value { return value{s: a.Value(i)} }, true
	case *array.LargeString:
		return func(i int) value { return value{s: a.Value(i)} }, true
	case *array.Binary:
		return func(i int) value { return value{s: string(a.Value(i))} }, true
	case *array.FixedSizeBinary:
		return func(i int) value { return value{s: string(a.Value(i))} }, true
	}
	return nil, false
}

func asFloat(c class, v value) float64 {
	switch c.domain {
	case domainFloat:
		return v.f
	case domainDecimal:
		return v.d.ToFloat64(int32(c.scale))
	case domainInt, domainBool, domainBytes, domainNone:
	}
	return float64(v.i)
}

func asNumber(c class, v value) number {
	if _, ok := c.typ.(ice.DecimalType); ok {
		return number{coef: v.d.BigInt(), scale: c.scale}
	}
	return number{coef: decimal128.FromI64(v.i).BigInt()}
}
