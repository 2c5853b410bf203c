package iceberg

import (
	"strconv"
	"strings"

	ice "github.com/apache/iceberg-go"
)

// ParseType reads a type by its SQL or Iceberg name: boolean, int (also
// tinyint, smallint), bigint or long, float, double, decimal(p,s), string,
// binary, fixed(n), uuid, date, time, timestamp (with time zone), timestamp_ntz,
// timestamp_ns, timestamp_ns_ntz, variant, array<T>, map<K,V> and
// struct<name:T,...>. Field ids of nested types are given out later, when the
// type becomes part of a table.
func ParseType(text string) (ice.Type, error) {
	p := typeParser{text: text}
	t, err := p.parse(0)
	if err != nil {
		return nil, err
	}
	if p.skipSpace(); p.at < len(p.text) {
		return nil, p.fail("text after the type")
	}
	return t, nil
}

// ParseColumns reads a list such as "id:bigint,price:decimal(9,2)".
func ParseColumns(text string) ([]Column, error) {
	p := typeParser{text: text}
	fields, err := p.fields(0, 0)
	if err != nil {
		return nil, err
	}
	cols := make([]Column, len(fields))
	for i, f := range fields {
		cols[i] = Column{Name: f.Name, Type: f.Type}
	}
	return cols, nil
}

// maxTypeDepth bounds the recursion of the type parser.
const maxTypeDepth = 50

var simpleTypes = map[string]ice.Type{
	"boolean": ice.BooleanType{}, "bool": ice.BooleanType{},
	"tinyint": ice.Int32Type{}, "smallint": ice.Int32Type{}, "int": ice.Int32Type{}, "integer": ice.Int32Type{},
	"bigint": ice.Int64Type{}, "long": ice.Int64Type{},
	"float": ice.Float32Type{}, "double": ice.Float64Type{},
	"string": ice.StringType{}, "binary": ice.BinaryType{}, "uuid": ice.UUIDType{},
	"date": ice.DateType{}, "time": ice.TimeType{},
	"timestamp": ice.TimestampTzType{}, "timestamptz": ice.TimestampTzType{}, "timestamp_ntz": ice.TimestampType{},
	"timestamp_ns": ice.TimestampTzNsType{}, "timestamptz_ns": ice.TimestampTzNsType{}, "timestamp_ns_ntz": ice.TimestampNsType{},
	"variant": ice.VariantType{},
}

type typeParser struct {
	text string
	at   int
}

func (p *typeParser) fail(what string) error {
	return invalidf("type %q: %s at offset %d", p.text, what, p.at)
}

func (p *typeParser) skipSpace() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

func (p *typeParser) take(c byte) bool {
	p.skipSpace()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// word reads up to a delimiter; a name may be quoted by backticks.
func (p *typeParser) word(stop string) string {
	p.skipSpace()
	if p.take('`') {
		end := strings.IndexByte(p.text[p.at:], '`')
		if end < 0 {
			return ""
		}
		w := p.text[p.at : p.at+end]
		p.at += end + 1
		return w
	}
	start := p.at
	for p.at < len(p.text) && !strings.ContainsRune(stop, rune(p.text[p.at])) {
		p.at++
	}
	return strings.TrimSpace(p.text[start:p.at])
}

func (p *typeParser) parse(depth int) (ice.Type, error) {
	if depth > maxTypeDepth {
		return nil, p.fail("nested too deep")
	}
	name := strings.ToLower(p.word("<>(),: "))
	switch name {
	case "array", "list":
		return p.list(depth)
	case "map":
		return p.mapType(depth)
	case "struct":
		if !p.take('<') {
			return nil, p.fail("expected <")
		}
		fields, err := p.fields('>', depth+1)
		if err != nil {
			return nil, err
		}
		return &ice.StructType{FieldList: fields}, nil
	case "decimal":
		return p.decimal()
	case "fixed":
		args, err := p.arguments(1)
		if err != nil {
			return nil, err
		}
		return ice.FixedTypeOf(args[0]), nil
	}
	if t, ok := simpleTypes[name]; ok {
		return t, nil
	}
	return nil, p.fail("unknown type " + strconv.Quote(name))
}

func (p *typeParser) list(depth int) (ice.Type, error) {
	if !p.take('<') {
		return nil, p.fail("expected <")
	}
	elem, err := p.parse(depth + 1)
	if err != nil {
		return nil, err
	}
	if !p.take('>') {
		return nil, p.fail("expected >")
	}
	return &ice.ListType{Element: elem}, nil
}

func (p *typeParser) mapType(depth int) (ice.Type, error) {
	if !p.take('<') {
		return nil, p.fail("expected <")
	}
	key, err := p.parse(depth + 1)
	if err != nil {
		return nil, err
	}
	if !p.take(',') {
		return nil, p.fail("expected a comma")
	}
	value, err := p.parse(depth + 1)
	if err != nil {
		return nil, err
	}
	if !p.take('>') {
		return nil, p.fail("expected >")
	}
	return &ice.MapType{KeyType: key, ValueType: value}, nil
}

// fields reads name:type pairs up to the closing character, or to the end of
// the text when that is 0.
func (p *typeParser) fields(closing byte, depth int) ([]ice.NestedField, error) {
	var out []ice.NestedField
	for {
		name := p.word("<>(),: ")
		if name == "" {
			return nil, p.fail("expected a name")
		}
		if !p.take(':') && (p.at >= len(p.text) || p.text[p.at-1] != ' ') {
			return nil, p.fail("expected a colon after " + strconv.Quote(name))
		}
		t, err := p.parse(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, ice.NestedField{Name: name, Type: t})
		if p.take(',') {
			continue
		}
		p.skipSpace()
		if closing == 0 && p.at == len(p.text) || closing != 0 && p.take(closing) {
			return out, nil
		}
		return nil, p.fail("expected a comma")
	}
}

func (p *typeParser) decimal() (ice.Type, error) {
	args, err := p.arguments(2)
	if err != nil {
		return nil, err
	}
	precision, scale := args[0], args[1]
	if precision < 1 || precision > 38 || scale > precision {
		return nil, p.fail("decimal needs a precision of 1 to 38 and a scale up to it")
	}
	return ice.DecimalTypeOf(precision, scale), nil
}

// arguments reads n non-negative integers in parentheses.
func (p *typeParser) arguments(n int) ([]int, error) {
	if !p.take('(') {
		return nil, p.fail("expected (")
	}
	out := make([]int, n)
	for i := range out {
		if i > 0 && !p.take(',') {
			return nil, p.fail("expected a comma")
		}
		v, err := strconv.Atoi(p.word(",)"))
		if err != nil || v < 0 {
			return nil, p.fail("expected a number")
		}
		out[i] = v
	}
	if !p.take(')') {
		return nil, p.fail("expected )")
	}
	return out, nil
}
