package iceberg

import (
	"math"
	"slices"
	"strings"

	ice "github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// planning translates the part of a predicate that file metadata can decide
// into iceberg-go's expressions. The result is true for every row for which the
// predicate is, and possibly for more. The history holds all schemas of the table, open the
// ids of columns of which metadata does not tell the bounds.
func (f *filter) planning(schema *ice.Schema, history []*ice.Schema, open []int) ice.BooleanExpression {
	if f == nil {
		return ice.AlwaysTrue{}
	}
	return planNode(f.root, schema, history, open)
}

func planNode(n *boundNode, schema *ice.Schema, history []*ice.Schema, open []int) ice.BooleanExpression {
	switch n.op {
	case opConst:
		if n.value == triTrue {
			return ice.AlwaysTrue{}
		}
		return ice.AlwaysFalse{}
	case opAnd, opOr:
		out := planNode(n.kids[0], schema, history, open)
		for _, kid := range n.kids[1:] {
			if n.op == opAnd {
				out = ice.NewAnd(out, planNode(kid, schema, history, open))
			} else {
				out = ice.NewOr(out, planNode(kid, schema, history, open))
			}
		}
		return out
	}
	e := planLeaf(n)
	if e == nil || widened(n.left.field, history) || slices.Contains(open, n.left.field.ID) {
		return ice.AlwaysTrue{}
	}
	// What iceberg-go cannot bind, such as a literal outside an int column,
	// does not prune.
	if _, err := ice.BindExpr(schema, e, true); err != nil {
		return ice.AlwaysTrue{}
	}
	return e
}

// widened tells whether a column was of a narrower type once. The bounds of files
// from that time are in that type's form (Iceberg spec, "Schema Evolution"), which
// iceberg-go takes for corrupt. Decimals have one form for all precisions.
func widened(field ice.NestedField, history []*ice.Schema) bool {
	if _, ok := field.Type.(ice.DecimalType); ok {
		return false
	}
	for _, s := range history {
		if f, ok := s.FindFieldByID(field.ID); ok && !f.Type.Equals(field.Type) {
			return true
		}
	}
	return false
}

// planLeaf translates one leaf, or returns nil.
func planLeaf(n *boundNode) ice.BooleanExpression {
	if n.left.field.ID == 0 || n.right != nil || n.neg && n.op == opSame || ice.IsReservedFieldID(n.left.field.ID) {
		return nil
	}
	name := strings.Join(n.left.column, ".")
	if strings.Count(name, ".") != len(n.left.steps) {
		return nil // a dot inside a name
	}
	term := ice.Reference(name)
	switch n.op {
	case opIsNull:
		if len(n.left.steps) > 0 { // a null parent makes a required field null
			return nil
		}
		if n.neg {
			return ice.NotNull(term)
		}
		return ice.IsNull(term)
	case opIn:
		return planIn(n, term)
	case opLike:
		switch {
		case n.like.prefix == "":
			return nil
		case !n.neg:
			return ice.StartsWith(term, n.like.prefix)
		case n.like.exact:
			return ice.NotStartsWith(term, n.like.prefix)
		}
		return nil
	}
	return planCompare(n, term)
}

var planOps = map[exprOp]ice.Operation{
	opEq: ice.OpEQ, opSame: ice.OpEQ, opNe: ice.OpNEQ, opLt: ice.OpLT, opLe: ice.OpLTEQ, opGt: ice.OpGT, opGe: ice.OpGTEQ,
}

func planCompare(n *boundNode, term ice.Reference) ice.BooleanExpression {
	op, ok := planOps[n.op]
	if !ok {
		return nil
	}
	if n.left.class.domain != domainFloat {
		lit := planLiteral(n.left.class, n.lit)
		if lit == nil {
			return nil
		}
		return ice.LiteralPredicate(op, term, lit)
	}
	return planFloat(n, op, term)
}

// planFloat takes NaN, which bounds leave out, as above all other values. A
// float32 column is compared as a double, so the bound gives way by one step.
func planFloat(n *boundNode, op ice.Operation, term ice.Reference) ice.BooleanExpression {
	f := n.lit.f
	if math.IsNaN(f) || math.IsInf(f, 0) || n.op == opNe {
		return nil
	}
	var lit ice.Literal = ice.Float64Literal(f)
	if _, single := n.left.class.typ.(ice.Float32Type); single {
		g := float32(f)
		switch {
		case float64(g) == f:
		case op == ice.OpEQ:
			return nil
		case op == ice.OpLT || op == ice.OpLTEQ:
			op, g = ice.OpLTEQ, math.Nextafter32(g, float32(math.Inf(1)))
		default:
			op, g = ice.OpGTEQ, math.Nextafter32(g, float32(math.Inf(-1)))
		}
		if math.IsInf(float64(g), 0) {
			return nil
		}
		lit = ice.Float32Literal(g)
	}
	e := ice.LiteralPredicate(op, term, lit)
	if op == ice.OpGT || op == ice.OpGTEQ {
		return ice.NewOr(e, ice.IsNaN(term))
	}
	return e
}

func planIn(n *boundNode, term ice.Reference) ice.BooleanExpression {
	if n.neg || n.left.class.domain == domainFloat {
		return nil
	}
	if len(n.set.values) == 0 {
		return ice.AlwaysFalse{}
	}
	lits := make([]ice.Literal, len(n.set.values))
	for i, v := range n.set.values {
		if lits[i] = planLiteral(n.left.class, v); lits[i] == nil {
			return nil
		}
	}
	return ice.SetPredicate(ice.OpIn, term, lits)
}

// planLiteral returns iceberg-go's literal, or nil when the value does not fit
// the column's type.
func planLiteral(c class, v value) ice.Literal {
	switch t := c.typ.(type) {
	case ice.BooleanType:
		return ice.BoolLiteral(v.i != 0)
	case ice.Int32Type:
		if v.i != int64(int32(v.i)) {
			return nil
		}
		return ice.Int32Literal(v.i)
	case ice.Int64Type:
		return ice.Int64Literal(v.i)
	case ice.DateType:
		if v.i != int64(int32(v.i)) {
			return nil
		}
		return ice.DateLiteral(v.i)
	case ice.TimeType:
		return ice.TimeLiteral(v.i)
	case ice.TimestampType, ice.TimestampTzType:
		return ice.TimestampLiteral(v.i)
	case ice.TimestampNsType, ice.TimestampTzNsType:
		return ice.TimestampNsLiteral(v.i)
	case ice.DecimalType:
		if !v.d.FitsInPrecision(int32(t.Precision())) {
			return nil
		}
		return ice.DecimalLiteral{Val: v.d, Scale: t.Scale()}
	case ice.StringType:
		return ice.StringLiteral(v.s)
	case ice.BinaryType:
		return ice.BinaryLiteral(v.s)
	case ice.FixedType:
		if len(v.s) != t.Len() {
			return nil
		}
		return ice.FixedLiteral(v.s)
	case ice.UUIDType:
		id, err := uuid.FromBytes([]byte(v.s))
		if err != nil {
			return nil
		}
		return ice.UUIDLiteral(id)
	}
	return nil
}
