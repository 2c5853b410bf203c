package shred

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/frazil/frazil/variant"
)

// Parse reads the text form of a schema, the one that String prints. Blank
// space between tokens has no meaning; "array" is read as "list", and the SQL
// and Parquet spellings of a type are read alike (bigint, int64, long).
func Parse(text string) (*Schema, error) {
	p := parser{text: text}
	s, err := p.node(0)
	if err != nil {
		return nil, err
	}
	if p.blank(); p.pos < len(p.text) {
		return nil, p.fail("text after the schema")
	}
	if err := s.validate(0); err != nil {
		return nil, err
	}
	return s, nil
}

type parser struct {
	text string
	pos  int
}

func (p *parser) fail(what string) error {
	return fmt.Errorf("%w: %s at offset %d", ErrSchema, what, p.pos)
}

func (p *parser) blank() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// eat takes c, after blank space, if it comes next.
func (p *parser) eat(c byte) bool {
	p.blank()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) word() string {
	p.blank()
	start := p.pos
	for p.pos < len(p.text) && isNameByte(p.text[p.pos]) {
		p.pos++
	}
	return p.text[start:p.pos]
}

func (p *parser) node(depth int) (*Schema, error) {
	if depth > maxDepth {
		return nil, p.fail("nested too deeply")
	}
	word := strings.ToLower(p.word())
	switch word {
	case "variant":
		return &Schema{}, nil
	case "list", "array":
		return p.list(depth)
	case "struct", "object":
		return p.object(depth)
	case "decimal":
		return p.decimal()
	}
	k, ok := typeWords[word]
	if !ok {
		return nil, p.fail("unknown type " + strconv.Quote(word))
	}
	return LeafOf(Type{Kind: k}), nil
}

func (p *parser) list(depth int) (*Schema, error) {
	if !p.eat('<') {
		return nil, p.fail("expected <")
	}
	elem, err := p.node(depth + 1)
	if err != nil {
		return nil, err
	}
	if !p.eat('>') {
		return nil, p.fail("expected >")
	}
	return ListOf(elem), nil
}

func (p *parser) object(depth int) (*Schema, error) {
	if !p.eat('<') {
		return nil, p.fail("expected <")
	}
	var fields []Field
	for {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		p.eat(':')
		s, err := p.node(depth + 1)
		if err != nil {
			return nil, err
		}
		fields = append(fields, Field{Name: name, Schema: s})
		if p.eat('>') {
			return ObjectOf(fields), nil
		}
		if !p.eat(',') {
			return nil, p.fail("expected , or >")
		}
	}
}

func (p *parser) name() (string, error) {
	if !p.eat('`') {
		if w := p.word(); w != "" {
			return w, nil
		}
		return "", p.fail("expected a field name")
	}
	var b strings.Builder
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		p.pos++
		if c != '`' {
			b.WriteByte(c)
			continue
		}
		if p.pos == len(p.text) || p.text[p.pos] != '`' {
			return b.String(), nil
		}
		p.pos++
		b.WriteByte('`')
	}
	return "", p.fail("unfinished name")
}

func (p *parser) decimal() (*Schema, error) {
	if !p.eat('(') {
		return nil, p.fail("expected (")
	}
	precision, err := p.number()
	if err != nil {
		return nil, err
	}
	scale := 0
	if p.eat(',') {
		if scale, err = p.number(); err != nil {
			return nil, err
		}
	}
	if !p.eat(')') {
		return nil, p.fail("expected )")
	}
	return LeafOf(Decimal(precision, scale)), nil
}

func (p *parser) number() (int, error) {
	n, err := strconv.Atoi(p.word())
	if err != nil {
		return 0, p.fail("expected a number")
	}
	return n, nil
}

// typeWords maps every accepted spelling of a leaf type but decimals.
var typeWords = func() map[string]variant.Kind {
	m := map[string]variant.Kind{
		"bool": variant.KindBool, "int8": variant.KindInt8, "byte": variant.KindInt8,
		"int16": variant.KindInt16, "short": variant.KindInt16, "int32": variant.KindInt32,
		"integer": variant.KindInt32, "int64": variant.KindInt64, "long": variant.KindInt64,
		"float32": variant.KindFloat, "real": variant.KindFloat, "float64": variant.KindDouble,
	}
	for k, name := range typeNames {
		m[name] = k
	}
	return m
}()
