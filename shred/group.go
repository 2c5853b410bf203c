package shred

import (
	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// Names of the columns inside a Variant group (VariantShredding.md).
const (
	metadataName = "metadata"
	valueName    = "value"
	typedName    = "typed_value"
	listName     = "list"
	elementName  = "element"
)

// Group returns the Parquet group of a Variant column with this schema: required
// metadata, optional value, and the optional typed_value unless the schema is
// Opaque. Field and element groups are required and always have a value, as the
// spec asks of writers. fieldID is Iceberg's id of the column, 0 for none; nodes
// inside the group have none.
func (s *Schema) Group(name string, optional bool, fieldID int) *leaf.Node {
	g := s.slot(name)
	if optional {
		g.Repetition = leaf.Optional
	}
	g.Logical = leaf.Variant
	g.FieldID = fieldID
	meta := &leaf.Node{Name: metadataName, Type: leaf.Bytes}
	g.Children = append([]*leaf.Node{meta}, g.Children...)
	return g
}

// slot returns the required group of a value: value and typed_value.
func (s *Schema) slot(name string) *leaf.Node {
	g := &leaf.Node{Name: name, Type: leaf.Group}
	g.Children = append(g.Children, &leaf.Node{Name: valueName, Repetition: leaf.Optional, Type: leaf.Bytes})
	if t := s.typedNode(); t != nil {
		g.Children = append(g.Children, t)
	}
	return g
}

func (s *Schema) typedNode() *leaf.Node {
	n := &leaf.Node{Name: typedName, Repetition: leaf.Optional}
	switch s.Shape {
	case Opaque:
		return nil
	case Leaf:
		s.Type.describe(n)
	case Object:
		for _, f := range s.Fields {
			n.Children = append(n.Children, f.Schema.slot(f.Name))
		}
	case List:
		n.Logical = leaf.List
		elem := s.Elem.slot(elementName)
		list := &leaf.Node{Name: listName, Repetition: leaf.Repeated, Children: []*leaf.Node{elem}}
		n.Children = []*leaf.Node{list}
	}
	return n
}

// describe sets the physical type and annotation of a typed leaf, by the table
// "Shredded Value Types".
func (t Type) describe(n *leaf.Node) {
	switch t.Kind {
	case variant.KindBool:
		n.Type = leaf.Bool
	case variant.KindInt8:
		n.Type, n.Logical, n.Bits, n.Signed = leaf.Int32, leaf.Integer, 8, true
	case variant.KindInt16:
		n.Type, n.Logical, n.Bits, n.Signed = leaf.Int32, leaf.Integer, 16, true
	case variant.KindInt32:
		n.Type = leaf.Int32
	case variant.KindInt64:
		n.Type = leaf.Int64
	case variant.KindFloat:
		n.Type = leaf.Float
	case variant.KindDouble:
		n.Type = leaf.Double
	case variant.KindDecimal4, variant.KindDecimal8, variant.KindDecimal16:
		t.describeDecimal(n)
	case variant.KindDate:
		n.Type, n.Logical = leaf.Int32, leaf.Date
	case variant.KindTime:
		n.Type, n.Logical, n.Unit = leaf.Int64, leaf.Time, leaf.Micros
	case variant.KindTimestamp, variant.KindTimestampNTZ:
		n.Type, n.Logical, n.Unit = leaf.Int64, leaf.Timestamp, leaf.Micros
		n.UTC = t.Kind == variant.KindTimestamp
	case variant.KindTimestampNanos, variant.KindTimestampNTZNanos:
		n.Type, n.Logical, n.Unit = leaf.Int64, leaf.Timestamp, leaf.Nanos
		n.UTC = t.Kind == variant.KindTimestampNanos
	case variant.KindString:
		n.Type, n.Logical = leaf.Bytes, leaf.String
	case variant.KindBinary:
		n.Type = leaf.Bytes
	case variant.KindUUID:
		n.Type, n.Width, n.Logical = leaf.Fixed, 16, leaf.UUID
	default:
		panic("BUG: shred: no leaf type for kind " + t.Kind.String())
	}
}

func (t Type) describeDecimal(n *leaf.Node) {
	n.Logical, n.Precision, n.Scale = leaf.Decimal, t.Precision, t.Scale
	switch t.Kind {
	case variant.KindDecimal4:
		n.Type = leaf.Int32
	case variant.KindDecimal8:
		n.Type = leaf.Int64
	default:
		n.Type, n.Width = leaf.Fixed, leaf.DecimalWidth(t.Precision)
	}
}
