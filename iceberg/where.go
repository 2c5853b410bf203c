package iceberg

import (
	"fmt"
	"strings"

	"github.com/frazil/frazil/variant"
)

// maxPredicateDepth bounds the nesting of a predicate, so that text from
// outside cannot exhaust the stack.
const maxPredicateDepth = 500

// ParseWhere parses a small SQL predicate. The language has
//
//	comparisons   = == <> != < <= > >= and <=>, which takes NULL as a value
//	tests         IN (..), BETWEEN a AND b, LIKE 'x%', IS NULL, and their NOT forms
//	logic         AND, OR, NOT, parentheses, TRUE, FALSE, NULL
//	operands      column, struct_column.field, `any name`, a literal,
//	              variant_get(column, '$.path', 'type'), try_variant_get(..)
//	literals      1, -2.50, 1e3, 'text' or "text" with '' for a quote, TRUE, NULL,
//	              DATE '2026-07-01', TIMESTAMP '2026-07-01 01:02:03', X'ff00'
//
// Keywords are read in any case, names as they are. Logic is three-valued: a row
// passes where the predicate is true, not where it is null. A text literal takes
// the type of what it is compared with. LIKE knows % and _, and \ takes the next
// byte as it is. An error is a *PredicateError.
func ParseWhere(text string) (Expr, error) {
	toks, err := lex(text)
	if err != nil {
		return Expr{}, err
	}
	p := &whereParser{text: text, toks: toks}
	root, err := p.or()
	if err != nil {
		return Expr{}, err
	}
	if p.peek().kind != tokenEnd {
		return Expr{}, p.unexpected("an operator or the end")
	}
	return Expr{root: root}, nil
}

// whereParser is a recursive descent over the tokens.
type whereParser struct {
	text  string
	toks  []token
	pos   int
	depth int
}

func (p *whereParser) peek() token { return p.toks[p.pos] }

func (p *whereParser) next() token {
	t := p.toks[p.pos]
	if t.kind != tokenEnd {
		p.pos++
	}
	return t
}

// accept takes the next token if it is the given keyword or symbol.
func (p *whereParser) accept(word string) bool {
	if p.peek().is(word) {
		p.pos++
		return true
	}
	return false
}

func (p *whereParser) expect(word string) error {
	if !p.accept(word) {
		return p.unexpected(word)
	}
	return nil
}

func (p *whereParser) fail(at int, format string, args ...any) error {
	return &PredicateError{Text: p.text, Offset: at, Problem: fmt.Sprintf(format, args...)}
}

func (p *whereParser) unexpected(want string) error {
	t := p.peek()
	if t.kind == tokenEnd {
		return p.fail(t.at, "the text ends where %s is expected", want)
	}
	return p.fail(t.at, "%q where %s is expected", t.text, want)
}

func (p *whereParser) or() (*exprNode, error) {
	if p.depth++; p.depth > maxPredicateDepth {
		return nil, p.fail(p.peek().at, "nested more than %d deep", maxPredicateDepth)
	}
	defer func() { p.depth-- }()
	return p.chain("OR", opOr, p.and)
}

func (p *whereParser) and() (*exprNode, error) { return p.chain("AND", opAnd, p.not) }

// chain reads operands joined by one keyword.
func (p *whereParser) chain(word string, op exprOp, operand func() (*exprNode, error)) (*exprNode, error) {
	first, err := operand()
	if err != nil || !p.peek().is(word) {
		return first, err
	}
	node := &exprNode{op: op, kids: []*exprNode{first}}
	for p.accept(word) {
		kid, err := operand()
		if err != nil {
			return nil, err
		}
		node.kids = append(node.kids, kid)
	}
	return node, nil
}

func (p *whereParser) not() (*exprNode, error) {
	negate := false
	for p.accept("NOT") {
		negate = !negate
	}
	kid, err := p.predicate()
	if err != nil || !negate {
		return kid, err
	}
	return negation(kid), nil
}

func (p *whereParser) predicate() (*exprNode, error) {
	if p.accept("(") {
		inner, err := p.or()
		if err != nil {
			return nil, err
		}
		return inner, p.expect(")")
	}
	at := p.peek().at
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	node, err := p.test(left)
	if node != nil {
		node.at = at
	}
	return node, err
}

var compareOps = map[string]exprOp{
	"=": opEq, "==": opEq, "<>": opNe, "!=": opNe, "<": opLt, "<=": opLe, ">": opGt, ">=": opGe, "<=>": opSame,
}

// test reads what follows the first operand of a predicate.
func (p *whereParser) test(left operand) (*exprNode, error) {
	t := p.peek()
	if op, ok := compareOps[t.text]; ok && t.kind == tokenSymbol {
		p.next()
		right, err := p.operand()
		return &exprNode{op: op, left: left, right: right}, err
	}
	if p.accept("IS") {
		negate := p.accept("NOT")
		node := &exprNode{op: opIsNull, left: left}
		return maybeNot(node, negate), p.expect("NULL")
	}
	negate := p.accept("NOT")
	switch {
	case p.accept("IN"):
		node, err := p.in(left)
		return maybeNot(node, negate), err
	case p.accept("BETWEEN"):
		node, err := p.between(left)
		return maybeNot(node, negate), err
	case p.accept("LIKE"):
		pattern := p.next()
		if pattern.kind != tokenString {
			return nil, p.fail(pattern.at, "LIKE takes a text in quotes")
		}
		return maybeNot(&exprNode{op: opLike, left: left, pattern: pattern.text}, negate), nil
	case negate:
		return nil, p.unexpected("IN, BETWEEN or LIKE")
	case left.kind == operandLiteral && left.lit.kind == litNull:
		return &exprNode{op: opConst, value: triNull}, nil
	case left.kind == operandLiteral && left.lit.kind == litBool:
		return &exprNode{op: opConst, value: triOf(left.lit.b)}, nil
	case left.kind == operandLiteral:
		return nil, p.unexpected("a comparison")
	}
	return &exprNode{op: opEq, left: left, right: literalOperand(literal{kind: litBool, b: true})}, nil
}

func maybeNot(n *exprNode, negate bool) *exprNode {
	if n == nil || !negate {
		return n
	}
	return negation(n)
}

func (p *whereParser) in(left operand) (*exprNode, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	node := &exprNode{op: opIn, left: left}
	for {
		at := p.peek().at
		item, err := p.operand()
		if err != nil {
			return nil, err
		}
		if item.kind != operandLiteral {
			return nil, p.fail(at, "IN takes literals")
		}
		node.list = append(node.list, item.lit)
		if !p.accept(",") {
			return node, p.expect(")")
		}
	}
}

func (p *whereParser) between(left operand) (*exprNode, error) {
	low, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.operand()
	if err != nil {
		return nil, err
	}
	return &exprNode{op: opAnd, kids: []*exprNode{
		{op: opGe, left: left, right: low}, {op: opLe, left: left, right: high},
	}}, nil
}

func (p *whereParser) operand() (operand, error) {
	t := p.next()
	switch t.kind {
	case tokenString:
		return literalOperand(literal{kind: litText, text: t.text}), nil
	case tokenNumber:
		return p.number(t, false)
	case tokenQuotedName:
		return p.column(t)
	case tokenWord:
		return p.word(t)
	case tokenSymbol:
		if (t.text == "-" || t.text == "+") && p.peek().kind == tokenNumber {
			return p.number(p.next(), t.text == "-")
		}
	case tokenEnd:
		return operand{}, p.fail(t.at, "the text ends where a column or a literal is expected")
	}
	return operand{}, p.fail(t.at, "%q where a column or a literal is expected", t.text)
}

func (p *whereParser) number(t token, negative bool) (operand, error) {
	n, err := parseNumber(t.text, negative)
	if err != nil {
		return operand{}, p.fail(t.at, "%v", err)
	}
	return literalOperand(literal{kind: litNumber, num: n}), nil
}

// word reads an operand that starts with a bare word: a keyword literal, a
// typed literal, a function, or a column.
func (p *whereParser) word(t token) (operand, error) {
	following := p.peek()
	switch {
	case t.is("TRUE"), t.is("FALSE"):
		return literalOperand(literal{kind: litBool, b: t.is("TRUE")}), nil
	case t.is("NULL"):
		return literalOperand(literal{kind: litNull}), nil
	case following.kind == tokenString && (t.is("DATE") || t.is("TIMESTAMP") || t.is("TIMESTAMP_NTZ") || t.is("X")):
		lit, err := typedLiteral(strings.ToUpper(t.text), p.next().text)
		if err != nil {
			return operand{}, p.fail(t.at, "%v", err)
		}
		return literalOperand(lit), nil
	case following.is("("):
		return p.function(t)
	}
	for _, reserved := range []string{"AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE"} {
		if t.is(reserved) {
			return operand{}, p.fail(t.at, "%q where a column or a literal is expected; a column of that name is written `%s`", t.text, t.text)
		}
	}
	return p.column(t)
}

// column reads the further parts of a dotted name.
func (p *whereParser) column(t token) (operand, error) {
	out := operand{kind: operandColumn, column: []string{t.text}}
	for p.accept(".") {
		part := p.next()
		if part.kind != tokenWord && part.kind != tokenQuotedName {
			return operand{}, p.fail(part.at, "a field name is expected after the dot")
		}
		out.column = append(out.column, part.text)
	}
	return out, nil
}

// function reads variant_get and try_variant_get.
func (p *whereParser) function(t token) (operand, error) {
	try := t.is("try_variant_get")
	if !try && !t.is("variant_get") {
		return operand{}, p.fail(t.at, "no function %q; there are variant_get and try_variant_get", t.text)
	}
	p.next()
	col := p.next()
	if col.kind != tokenWord && col.kind != tokenQuotedName {
		return operand{}, p.fail(col.at, "%s takes a column first", t.text)
	}
	var args [2]string
	for i, what := range []string{"a path", "a type"} {
		if err := p.expect(","); err != nil {
			return operand{}, err
		}
		arg := p.next()
		if arg.kind != tokenString {
			return operand{}, p.fail(arg.at, "%s takes %s in quotes", t.text, what)
		}
		args[i] = arg.text
	}
	if err := p.expect(")"); err != nil {
		return operand{}, err
	}
	path, err := variant.ParsePath(args[0])
	if err != nil {
		return operand{}, p.fail(t.at, "%v", err)
	}
	typ, err := variant.ParseType(args[1])
	if err != nil {
		return operand{}, p.fail(t.at, "%v", err)
	}
	ext := Extraction{Column: col.text, Path: path, Type: typ, Try: try}
	return operand{kind: operandExtract, extract: ext}, nil
}
