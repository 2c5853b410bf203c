package variant

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrType is returned by [ParseType] when the text is not a SQL type name.
var ErrType = errors.New("variant: invalid type")

// TypeID names a family of SQL types.
type TypeID uint8

// The types that a Variant casts to, by their SQL names. The zero TypeID is
// variant: no cast at all.
const (
	TypeVariant      TypeID = iota
	TypeBoolean             // boolean
	TypeTinyint             // tinyint, 8 bits
	TypeSmallint            // smallint, 16 bits
	TypeInt                 // int, 32 bits
	TypeBigint              // bigint, 64 bits
	TypeFloat               // float, 32 bits
	TypeDouble              // double, 64 bits
	TypeDecimal             // decimal(precision,scale)
	TypeString              // string
	TypeBinary              // binary
	TypeDate                // date, days since 1970-01-01
	TypeTimestamp           // timestamp, microseconds since the epoch, UTC
	TypeTimestampNTZ        // timestamp_ntz, microseconds without a zone
	TypeArray               // array<element>
	TypeMap                 // map<string,value>
	TypeStruct              // struct<name:type,...>
)

var typeNames = [...]string{
	TypeVariant: "variant", TypeBoolean: "boolean", TypeTinyint: "tinyint", TypeSmallint: "smallint",
	TypeInt: "int", TypeBigint: "bigint", TypeFloat: "float", TypeDouble: "double", TypeDecimal: "decimal",
	TypeString: "string", TypeBinary: "binary", TypeDate: "date", TypeTimestamp: "timestamp",
	TypeTimestampNTZ: "timestamp_ntz", TypeArray: "array", TypeMap: "map", TypeStruct: "struct",
}

// String returns the SQL name without parameters.
func (id TypeID) String() string {
	if int(id) < len(typeNames) {
		return typeNames[id]
	}
	return "TypeID(" + strconv.Itoa(int(id)) + ")"
}

// Type is the target of a cast. The zero Type is variant. No value casts to a decimal
// whose precision or scale is out of range.
type Type struct {
	ID        TypeID
	Precision int         // decimal: 1 .. 38 digits
	Scale     int         // decimal: 0 .. Precision digits after the point
	Elem      *Type       // array: its elements; map: its values (keys are strings); nil is variant
	Fields    []TypeField // struct, in order
}

// TypeField is a field of a struct type.
type TypeField struct {
	Name string
	Type Type
}

// IsNested reports whether values of t hold other values: array, map, struct.
func (t *Type) IsNested() bool { return t.ID >= TypeArray }

// Equal reports whether two types are the same, names of fields included.
func (t *Type) Equal(o *Type) bool {
	if t.ID != o.ID || t.Precision != o.Precision || t.Scale != o.Scale || len(t.Fields) != len(o.Fields) {
		return false
	}
	if (t.Elem != nil || o.Elem != nil) && !t.elem().Equal(o.elem()) {
		return false
	}
	for i := range t.Fields {
		if t.Fields[i].Name != o.Fields[i].Name || !t.Fields[i].Type.Equal(&o.Fields[i].Type) {
			return false
		}
	}
	return true
}

// elem returns the type of elements or values.
func (t *Type) elem() *Type {
	if t.Elem == nil {
		return &anyType
	}
	return t.Elem
}

var anyType Type

// String returns the SQL text of t, which [ParseType] reads back.
func (t Type) String() string { return string(t.appendText(nil)) }

func (t *Type) appendText(dst []byte) []byte {
	dst = append(dst, t.ID.String()...)
	switch t.ID {
	case TypeDecimal:
		return fmt.Appendf(dst, "(%d,%d)", t.Precision, t.Scale)
	case TypeArray:
		dst = append(dst, '<')
		return append(t.elem().appendText(dst), '>')
	case TypeMap:
		dst = append(dst, "<string,"...)
		return append(t.elem().appendText(dst), '>')
	case TypeStruct:
		dst = append(dst, '<')
		for i := range t.Fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendFieldName(dst, t.Fields[i].Name), ':')
			dst = t.Fields[i].Type.appendText(dst)
		}
		return append(dst, '>')
	}
	return dst
}

func appendFieldName(dst []byte, name string) []byte {
	for i := range len(name) {
		if !isNameByte(name[i]) {
			dst = append(dst, '`')
			dst = append(dst, strings.ReplaceAll(name, "`", "``")...)
			return append(dst, '`')
		}
	}
	if name == "" {
		return append(dst, '`', '`')
	}
	return append(dst, name...)
}

// isNameByte tells the bytes of a name that needs no quotes.
func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// maxTypeDepth bounds the nesting of a type text; it is that of values.
const maxTypeDepth = 1000

// ParseType reads a SQL type: boolean, tinyint, smallint, int, bigint, float,
// double, decimal(p,s), string, binary, date, timestamp, timestamp_ntz, variant,
// array<T>, map<string,T>, struct<name:T,...>. Case and blank space do not
// matter; decimal alone is decimal(10,0) and decimal(p) is decimal(p,0), as in
// Spark, whose other names (byte, short, integer, long, real, dec, numeric,
// timestamp_ltz) are read as well. A field name with other characters than
// letters, digits and _ stands in backquotes, a backquote in it doubled. The
// error Is [ErrType].
func ParseType(text string) (Type, error) {
	p := typeParser{text: text}
	t, err := p.parse(0)
	if err == nil {
		if p.space(); p.pos < len(text) {
			err = p.fail("unexpected text")
		}
	}
	if err != nil {
		return Type{}, err
	}
	return t, nil
}

type typeParser struct {
	text string
	pos  int
}

func (p *typeParser) fail(reason string) error {
	return fmt.Errorf("%w %q: %s at byte %d", ErrType, p.text, reason, p.pos)
}

func (p *typeParser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// take consumes c, after blank space.
func (p *typeParser) take(c byte) bool {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *typeParser) expect(c byte) error {
	if !p.take(c) {
		return p.fail("expected " + string(c))
	}
	return nil
}

func (p *typeParser) word() string {
	p.space()
	start := p.pos
	for p.pos < len(p.text) && isNameByte(p.text[p.pos]) {
		p.pos++
	}
	return p.text[start:p.pos]
}

var typeIDs = map[string]TypeID{
	"variant": TypeVariant, "boolean": TypeBoolean, "tinyint": TypeTinyint, "byte": TypeTinyint,
	"smallint": TypeSmallint, "short": TypeSmallint, "int": TypeInt, "integer": TypeInt,
	"bigint": TypeBigint, "long": TypeBigint, "float": TypeFloat, "real": TypeFloat, "double": TypeDouble,
	"decimal": TypeDecimal, "dec": TypeDecimal, "numeric": TypeDecimal, "string": TypeString,
	"binary": TypeBinary, "date": TypeDate, "timestamp": TypeTimestamp, "timestamp_ltz": TypeTimestamp,
	"timestamp_ntz": TypeTimestampNTZ, "array": TypeArray, "map": TypeMap, "struct": TypeStruct,
}

func (p *typeParser) parse(depth int) (Type, error) {
	if depth > maxTypeDepth {
		return Type{}, p.fail("nested too deep")
	}
	start := p.pos
	id, ok := typeIDs[strings.ToLower(p.word())]
	if !ok {
		p.pos = start
		p.space()
		return Type{}, p.fail("unknown type")
	}
	t := Type{ID: id}
	var err error
	switch id {
	case TypeDecimal:
		err = p.decimal(&t)
	case TypeArray, TypeMap:
		err = p.element(&t, depth)
	case TypeStruct:
		err = p.fields(&t, depth)
	}
	return t, err
}

func (p *typeParser) decimal(t *Type) error {
	t.Precision = 10
	if !p.take('(') {
		return nil
	}
	var err error
	if t.Precision, err = strconv.Atoi(p.word()); err != nil {
		return p.fail("expected a precision")
	}
	if p.take(',') {
		if t.Scale, err = strconv.Atoi(p.word()); err != nil {
			return p.fail("expected a scale")
		}
	}
	if t.Precision < 1 || t.Precision > 38 || t.Scale < 0 || t.Scale > t.Precision {
		return p.fail("precision must be 1 to 38 and scale 0 to the precision")
	}
	return p.expect(')')
}

func (p *typeParser) element(t *Type, depth int) error {
	if err := p.expect('<'); err != nil {
		return err
	}
	if t.ID == TypeMap {
		if !strings.EqualFold(p.word(), "string") {
			return p.fail("keys of a map must be string")
		}
		if err := p.expect(','); err != nil {
			return err
		}
	}
	elem, err := p.parse(depth + 1)
	if err != nil {
		return err
	}
	t.Elem = &elem
	return p.expect('>')
}

func (p *typeParser) fields(t *Type, depth int) error {
	if err := p.expect('<'); err != nil {
		return err
	}
	if p.take('>') {
		return nil
	}
	names := map[string]bool{}
	for {
		name, err := p.name()
		if err != nil {
			return err
		}
		p.take(':') // Spark's DDL takes a blank as well
		ft, err := p.parse(depth + 1)
		if err != nil {
			return err
		}
		if names[name] {
			return p.fail("field " + strconv.Quote(name) + " appears twice")
		}
		names[name] = true
		t.Fields = append(t.Fields, TypeField{name, ft})
		if !p.take(',') {
			return p.expect('>')
		}
	}
}

// name reads a field name, plain or in backquotes.
func (p *typeParser) name() (string, error) {
	if !p.take('`') {
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
		b.WriteByte('`')
		p.pos++
	}
	return "", p.fail("unclosed backquote")
}
