package iceberg

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/frazil/frazil/variant"
)

// Expr is a predicate over the rows of a table, as ParseWhere reads it. The
// zero Expr is true for every row. An Expr is immutable and safe for concurrent
// use.
type Expr struct {
	root *exprNode
}

// IsTrue reports whether e is the zero Expr.
func (e Expr) IsTrue() bool { return e.root == nil }

// And returns the predicate that is true where both are.
func (e Expr) And(other Expr) Expr {
	switch {
	case e.root == nil:
		return other
	case other.root == nil:
		return e
	}
	return Expr{root: &exprNode{op: opAnd, kids: []*exprNode{e.root, other.root}}}
}

// String returns the predicate in the language of ParseWhere.
func (e Expr) String() string {
	if e.root == nil {
		return "TRUE"
	}
	var b strings.Builder
	e.root.write(&b)
	return b.String()
}

// Extraction asks for the part of a Variant column at a path, cast to a type,
// as SQL's variant_get does: missing and null give NULL.
type Extraction struct {
	Name   string       // name of the result column; "" means Column followed by the path
	Column string       // name of a top-level Variant column
	Path   variant.Path // the zero Path is the whole value
	Type   variant.Type // the type VARIANT gives the part as it is
	Try    bool         // a value that does not cast gives NULL; otherwise it ends the scan with an error
}

func (x Extraction) name() string {
	if x.Name != "" {
		return x.Name
	}
	return x.Column + strings.TrimPrefix(x.Path.String(), "$")
}

// String returns the call in the language of ParseWhere.
func (x Extraction) String() string {
	name := "variant_get"
	if x.Try {
		name = "try_variant_get"
	}
	return fmt.Sprintf("%s(%s, %s, %s)", name, quoteName(x.Column), quoteText(x.Path.String()), quoteText(x.Type.String()))
}

// exprOp is the operation of a node.
type exprOp uint8

const (
	opConst exprOp = iota // value
	opAnd                 // kids
	opOr                  // kids
	opNot                 // kids[0]
	opEq                  // left, right, as the following
	opNe
	opLt
	opLe
	opGt
	opGe
	opSame   // <=>: equal, or both null; never null itself
	opIn     // left, list
	opIsNull // left
	opLike   // left, pattern
)

var opSymbols = [...]string{opEq: "=", opNe: "<>", opLt: "<", opLe: "<=", opGt: ">", opGe: ">=", opSame: "<=>"}

// tri is a truth value. The order makes AND the minimum, OR the maximum and NOT
// the mirror.
type tri = uint8

const (
	triFalse tri = 0
	triNull  tri = 1
	triTrue  tri = 2
)

func triOf(b bool) tri {
	if b {
		return triTrue
	}
	return triFalse
}

// exprNode is a node of a predicate; op says which fields it uses.
type exprNode struct {
	op      exprOp
	at      int // byte offset in the text
	value   tri
	kids    []*exprNode
	left    operand
	right   operand
	list    []literal
	pattern string
}

func negation(n *exprNode) *exprNode { return &exprNode{op: opNot, at: n.at, kids: []*exprNode{n}} }

type operandKind uint8

const (
	operandLiteral operandKind = iota
	operandColumn
	operandExtract
)

// operand is a side of a comparison.
type operand struct {
	kind    operandKind
	lit     literal
	column  []string // a top-level column and the fields below it
	extract Extraction
}

func literalOperand(l literal) operand { return operand{kind: operandLiteral, lit: l} }

type litKind uint8

const (
	litNull litKind = iota
	litBool
	litNumber
	litText
	litBinary
	litDate         // i: days since 1970-01-01
	litTimestamp    // i: microseconds since 1970-01-01, UTC
	litTimestampNTZ // i: microseconds since 1970-01-01 00:00:00, local
	litJSON         // of SetJSON only
	litRaw          // i or text: a value of the column's own domain
)

// literal is a constant of the text, before it takes the type of a column.
type literal struct {
	kind litKind
	b    bool
	num  number
	text string
	i    int64
}

// typedLiteral reads the text of DATE, TIMESTAMP, TIMESTAMP_NTZ and X literals.
func typedLiteral(kind, text string) (literal, error) {
	switch kind {
	case "DATE":
		days, ok := parseDate(text)
		if !ok {
			return literal{}, fmt.Errorf("%q is not a date such as 2026-07-01", text)
		}
		return literal{kind: litDate, i: days}, nil
	case "TIMESTAMP", "TIMESTAMP_NTZ":
		micros, ok := parseTimestamp(text)
		if !ok {
			return literal{}, fmt.Errorf("%q is not a timestamp such as 2026-07-01 01:02:03", text)
		}
		if kind == "TIMESTAMP" {
			return literal{kind: litTimestamp, i: micros}, nil
		}
		return literal{kind: litTimestampNTZ, i: micros}, nil
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return literal{}, fmt.Errorf("%q is not hexadecimal", text)
	}
	return literal{kind: litBinary, text: string(raw)}, nil
}

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func quoteName(s string) string {
	plain := s != "" && !isDigit(s[0])
	for i := range len(s) {
		plain = plain && (isNameByte(s[i]) || isDigit(s[i]))
	}
	for _, word := range []string{"and", "or", "not", "in", "is", "between", "like", "true", "false", "null"} {
		plain = plain && !strings.EqualFold(s, word)
	}
	if plain {
		return s
	}
	return "`" + strings.ReplaceAll(s, "`", "``") + "`"
}

func (l literal) String() string {
	switch l.kind {
	case litNull:
		return "NULL"
	case litBool:
		return strings.ToUpper(fmt.Sprint(l.b))
	case litNumber:
		return l.num.String()
	case litText, litJSON:
		return quoteText(l.text)
	case litBinary:
		return fmt.Sprintf("X'%x'", l.text)
	case litRaw:
		return quoteText(l.text)
	case litDate:
		return "DATE '" + string(appendDate(nil, l.i)) + "'"
	case litTimestamp:
		return "TIMESTAMP '" + string(appendTimestamp(nil, l.i, 1_000_000)) + "Z'"
	case litTimestampNTZ:
		return "TIMESTAMP_NTZ '" + string(appendTimestamp(nil, l.i, 1_000_000)) + "'"
	}
	return "?"
}

func (o operand) String() string {
	switch o.kind {
	case operandLiteral:
		return o.lit.String()
	case operandExtract:
		return o.extract.String()
	case operandColumn:
	}
	parts := make([]string, len(o.column))
	for i, c := range o.column {
		parts[i] = quoteName(c)
	}
	return strings.Join(parts, ".")
}

func (n *exprNode) write(b *strings.Builder) {
	switch n.op {
	case opConst:
		b.WriteString([...]string{triFalse: "FALSE", triNull: "NULL", triTrue: "TRUE"}[n.value])
	case opAnd, opOr:
		word := " AND "
		if n.op == opOr {
			word = " OR "
		}
		b.WriteByte('(')
		for i, kid := range n.kids {
			if i > 0 {
				b.WriteString(word)
			}
			kid.write(b)
		}
		b.WriteByte(')')
	case opNot:
		b.WriteString("NOT (")
		n.kids[0].write(b)
		b.WriteByte(')')
	case opEq, opNe, opLt, opLe, opGt, opGe, opSame:
		b.WriteString(n.left.String() + " " + opSymbols[n.op] + " " + n.right.String())
	case opIn:
		items := make([]string, len(n.list))
		for i, l := range n.list {
			items[i] = l.String()
		}
		b.WriteString(n.left.String() + " IN (" + strings.Join(items, ", ") + ")")
	case opIsNull:
		b.WriteString(n.left.String() + " IS NULL")
	case opLike:
		b.WriteString(n.left.String() + " LIKE " + quoteText(n.pattern))
	}
}
