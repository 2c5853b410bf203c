package shred

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/frazil/frazil/variant"
)

// Shape says what the typed_value of a node is.
type Shape uint8

// The shapes.
const (
	Opaque Shape = iota // there is none: the whole value stays in `value`
	Leaf                // a typed Parquet leaf
	Object              // a group of named fields
	List                // a three-level list
)

// String returns the shape's name.
func (s Shape) String() string {
	switch s {
	case Opaque:
		return "variant"
	case Leaf:
		return "leaf"
	case Object:
		return "struct"
	case List:
		return "list"
	}
	return "Shape(" + strconv.Itoa(int(s)) + ")"
}

// Schema is one node of a shredding schema: the type of the typed_value beside
// a `value`. It is immutable once built.
//
// Invariants: Type is set for a Leaf only; Fields is set for an Object only,
// not empty, sorted by the bytes of the names and without duplicates; Elem is
// set for a List only.
type Schema struct {
	Shape  Shape
	Type   Type
	Fields []Field
	Elem   *Schema
}

// Field is a shredded field of an object.
type Field struct {
	Name   string
	Schema *Schema
}

// Type is the type of a leaf: one of the primitives of the shredding spec's
// table "Shredded Value Types". Precision and Scale belong to decimals, whose
// Kind follows the physical type: KindDecimal4 is INT32, KindDecimal8 INT64,
// KindDecimal16 a byte array.
type Type struct {
	Kind      variant.Kind
	Precision int
	Scale     int
}

// maxDepth bounds the nesting of a schema, so that the definition levels of its
// leaves, at most two for each level, fit a byte.
const maxDepth = 100

// Decimal returns the decimal type of a precision and scale, in the smallest
// physical width that holds the precision.
func Decimal(precision, scale int) Type {
	t := Type{Kind: variant.KindDecimal16, Precision: precision, Scale: scale}
	switch {
	case precision <= 9:
		t.Kind = variant.KindDecimal4
	case precision <= 18:
		t.Kind = variant.KindDecimal8
	}
	return t
}

// LeafOf returns a leaf node.
func LeafOf(t Type) *Schema { return &Schema{Shape: Leaf, Type: t} }

// ListOf returns a list node.
func ListOf(elem *Schema) *Schema { return &Schema{Shape: List, Elem: elem} }

// ObjectOf returns an object node; the fields are sorted in place. Without
// fields it is Opaque: an object group must have a field in Parquet.
func ObjectOf(fields []Field) *Schema {
	if len(fields) == 0 {
		return &Schema{}
	}
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return &Schema{Shape: Object, Fields: fields}
}

// Field returns the schema of a field, or nil.
func (s *Schema) Field(name string) *Schema {
	i, ok := slices.BinarySearchFunc(s.Fields, name, func(f Field, n string) int {
		return strings.Compare(f.Name, n)
	})
	if !ok {
		return nil
	}
	return s.Fields[i].Schema
}

// Leaves returns the number of typed leaves.
func (s *Schema) Leaves() int {
	switch s.Shape {
	case Opaque:
		return 0
	case Leaf:
		return 1
	case Object:
		n := 0
		for _, f := range s.Fields {
			n += f.Schema.Leaves()
		}
		return n
	case List:
		return s.Elem.Leaves()
	}
	return 0
}

// Equal reports whether two schemas give the same Parquet group.
func (s *Schema) Equal(o *Schema) bool {
	if s.Shape != o.Shape || s.Type != o.Type || len(s.Fields) != len(o.Fields) {
		return false
	}
	if s.Shape == List {
		return s.Elem.Equal(o.Elem)
	}
	for i, f := range s.Fields {
		if f.Name != o.Fields[i].Name || !f.Schema.Equal(o.Fields[i].Schema) {
			return false
		}
	}
	return true
}

// validate checks what a hand-built schema may get wrong.
func (s *Schema) validate(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: nested deeper than %d", ErrSchema, maxDepth)
	}
	switch s.Shape {
	case Opaque:
		return nil
	case Leaf:
		return s.Type.validate()
	case List:
		if s.Elem == nil {
			return fmt.Errorf("%w: a list without an element", ErrSchema)
		}
		return s.Elem.validate(depth + 1)
	case Object:
		return s.validateFields(depth)
	}
	return fmt.Errorf("%w: unknown shape %d", ErrSchema, s.Shape)
}

func (s *Schema) validateFields(depth int) error {
	if len(s.Fields) == 0 {
		return fmt.Errorf("%w: a struct without fields", ErrSchema)
	}
	for i, f := range s.Fields {
		if i > 0 && s.Fields[i-1].Name >= f.Name {
			return fmt.Errorf("%w: field %q is repeated or out of order", ErrSchema, f.Name)
		}
		if f.Schema == nil {
			return fmt.Errorf("%w: field %q has no schema", ErrSchema, f.Name)
		}
		if err := f.Schema.validate(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

func (t Type) validate() error {
	if t.isDecimal() {
		limit := 38
		switch t.Kind {
		case variant.KindDecimal4:
			limit = 9
		case variant.KindDecimal8:
			limit = 18
		}
		if t.Precision < 1 || t.Precision > limit || t.Scale < 0 || t.Scale > t.Precision {
			return fmt.Errorf("%w: decimal(%d,%d)", ErrSchema, t.Precision, t.Scale)
		}
		return nil
	}
	if _, ok := typeNames[t.Kind]; !ok {
		return fmt.Errorf("%w: no leaf type for kind %v", ErrSchema, t.Kind)
	}
	return nil
}

func (t Type) isDecimal() bool {
	return t.Kind == variant.KindDecimal4 || t.Kind == variant.KindDecimal8 || t.Kind == variant.KindDecimal16
}

// typeNames are the names of the leaf types but decimals, as String prints them.
var typeNames = map[variant.Kind]string{
	variant.KindBool:              "boolean",
	variant.KindInt8:              "tinyint",
	variant.KindInt16:             "smallint",
	variant.KindInt32:             "int",
	variant.KindInt64:             "bigint",
	variant.KindFloat:             "float",
	variant.KindDouble:            "double",
	variant.KindDate:              "date",
	variant.KindTime:              "time",
	variant.KindTimestamp:         "timestamp",
	variant.KindTimestampNTZ:      "timestamp_ntz",
	variant.KindTimestampNanos:    "timestamp_ns",
	variant.KindTimestampNTZNanos: "timestamp_ntz_ns",
	variant.KindString:            "string",
	variant.KindBinary:            "binary",
	variant.KindUUID:              "uuid",
}

// String returns the type's name in the text form of schemas.
func (t Type) String() string {
	if t.isDecimal() {
		return "decimal(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")"
	}
	return typeNames[t.Kind]
}

// String returns the text form, which Parse reads back:
//
//	struct<model string, greeks struct<delta decimal(9,6)>, legs list<struct<tenor string>>>
//
// A name that is not made of letters, digits and underscores stands between
// backticks, a backtick in it doubled. An Opaque node is written "variant".
func (s *Schema) String() string { return string(s.append(nil)) }

func (s *Schema) append(dst []byte) []byte {
	switch s.Shape {
	case Opaque:
		return append(dst, "variant"...)
	case Leaf:
		return append(dst, s.Type.String()...)
	case List:
		dst = append(dst, "list<"...)
		return append(s.Elem.append(dst), '>')
	case Object:
		dst = append(dst, "struct<"...)
		for i, f := range s.Fields {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(appendName(dst, f.Name), ' ')
			dst = f.Schema.append(dst)
		}
		return append(dst, '>')
	}
	panic(fmt.Sprintf("BUG: shred: shape %d", s.Shape))
}

func appendName(dst []byte, name string) []byte {
	plain := name != ""
	for i := 0; plain && i < len(name); i++ {
		plain = isNameByte(name[i])
	}
	if plain {
		return append(dst, name...)
	}
	dst = append(dst, '`')
	dst = append(dst, strings.ReplaceAll(name, "`", "``")...)
	return append(dst, '`')
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
