package pq

import (
	"github.com/frazil/frazil/internal/leaf"
)

// maxSchemaDepth bounds the nesting of a foreign schema. Levels, which count
// only optional and repeated nodes, must fit a byte as well.
const maxSchemaDepth = 512

// Codes of ConvertedType, the older form of the annotations.
const (
	convertedNone = -1 + iota
	convertedUTF8
	convertedMap
	convertedMapKeyValue
	convertedList
	convertedEnum
	convertedDecimal
	convertedDate
	convertedTimeMillis
	convertedTimeMicros
	convertedTimestampMillis
	convertedTimestampMicros
	convertedUint8
	convertedUint16
	convertedUint32
	convertedUint64
	convertedInt8
	convertedInt16
	convertedInt32
	convertedInt64
	convertedJSON
	convertedBSON
	convertedInterval
)

// physicalTypes are the leaf types in the order of the format's codes.
var physicalTypes = [...]leaf.Type{
	leaf.Bool, leaf.Int32, leaf.Int64, leaf.Int96, leaf.Float, leaf.Double, leaf.Bytes, leaf.Fixed,
}

// schemaElement is one entry of the flat list that a footer holds.
type schemaElement struct {
	node      *leaf.Node
	children  int
	converted int
	logical   bool // the newer annotation was present
}

// schemaElement decodes SchemaElement of parquet.thrift.
func (r *thriftReader) schemaElement(typ byte) schemaElement {
	n := &leaf.Node{}
	e := schemaElement{node: n, converted: convertedNone}
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			n.Type = r.physicalType(typ)
		case 2:
			n.Width = int(r.int(typ))
		case 3:
			n.Repetition = leaf.Repetition(r.enum(typ, int(leaf.Repeated), "repetition"))
		case 4:
			n.Name = string(r.binary(typ))
		case 5:
			e.children = int(r.int(typ))
		case 6:
			e.converted = int(r.int(typ))
		case 7:
			n.Scale = int(r.int(typ))
		case 8:
			n.Precision = int(r.int(typ))
		case 9:
			n.FieldID = int(r.int(typ))
		case 10:
			e.logical = true
			r.logicalType(typ, n)
		default:
			return false
		}
		return true
	})
	return e
}

// enum reads an integer of 0 to last.
func (r *thriftReader) enum(typ byte, last int, what string) int {
	v := r.int(typ)
	if v < 0 || v > int64(last) {
		r.fail(corruptf("%s %d is not 0 to %d", what, v, last))
		return 0
	}
	return int(v)
}

func (r *thriftReader) physicalType(typ byte) leaf.Type {
	return physicalTypes[r.enum(typ, len(physicalTypes)-1, "physical type")]
}

// logicalType decodes the union LogicalType into n's annotation.
func (r *thriftReader) logicalType(typ byte, n *leaf.Node) {
	n.Logical = leaf.Other
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 5:
			n.Logical = leaf.Decimal
			r.decimalType(typ, n)
			return true
		case 7, 8:
			n.Logical = leaf.Time
			if id == 8 {
				n.Logical = leaf.Timestamp
			}
			r.timeType(typ, n)
			return true
		case 10:
			n.Logical = leaf.Integer
			r.intType(typ, n)
			return true
		}
		if l, ok := plainLogical[id]; ok {
			n.Logical = l
		}
		return false
	})
}

// plainLogical are the annotations without parameters that matter here, by
// their number in the union LogicalType.
var plainLogical = map[int16]leaf.Logical{
	1: leaf.String, 2: leaf.Map, 3: leaf.List, 4: leaf.Enum, 6: leaf.Date, 11: leaf.Unknown,
	12: leaf.JSON, 13: leaf.BSON, 14: leaf.UUID, 15: leaf.Float16, 16: leaf.Variant,
}

func (r *thriftReader) decimalType(typ byte, n *leaf.Node) {
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			n.Scale = int(r.int(typ))
		case 2:
			n.Precision = int(r.int(typ))
		default:
			return false
		}
		return true
	})
}

func (r *thriftReader) intType(typ byte, n *leaf.Node) {
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			n.Bits = int(r.int(typ))
		case 2:
			n.Signed = r.bool(typ)
		default:
			return false
		}
		return true
	})
}

// timeType decodes TimeType and TimestampType, which have the same fields.
func (r *thriftReader) timeType(typ byte, n *leaf.Node) {
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			n.UTC = r.bool(typ)
		case 2:
			r.structure(typ, func(id int16, _ byte) bool {
				switch id {
				case 1:
					n.Unit = leaf.Millis
				case 2:
					n.Unit = leaf.Micros
				case 3:
					n.Unit = leaf.Nanos
				}
				return false
			})
		default:
			return false
		}
		return true
	})
}

// convert sets the annotation that an old writer gave as ConvertedType.
func (e *schemaElement) convert() {
	n := e.node
	set := func(l leaf.Logical) { n.Logical = l }
	switch e.converted {
	case convertedUTF8:
		set(leaf.String)
	case convertedMap:
		set(leaf.Map)
	case convertedMapKeyValue:
		// On the repeated group it means nothing; old writers put it on the map.
		if n.Repetition != leaf.Repeated {
			set(leaf.Map)
		}
	case convertedList:
		set(leaf.List)
	case convertedEnum:
		set(leaf.Enum)
	case convertedDecimal:
		set(leaf.Decimal)
	case convertedDate:
		set(leaf.Date)
	case convertedTimeMillis, convertedTimeMicros:
		set(leaf.Time)
		n.UTC = true
	case convertedTimestampMillis, convertedTimestampMicros:
		set(leaf.Timestamp)
		n.UTC = true
	case convertedUint8, convertedUint16, convertedUint32, convertedUint64:
		set(leaf.Integer)
		n.Bits = 8 << (e.converted - convertedUint8)
	case convertedInt8, convertedInt16, convertedInt32, convertedInt64:
		set(leaf.Integer)
		n.Bits, n.Signed = 8<<(e.converted-convertedInt8), true
	case convertedJSON:
		set(leaf.JSON)
	case convertedBSON:
		set(leaf.BSON)
	case convertedNone:
	default:
		set(leaf.Other)
	}
	if e.converted == convertedTimeMillis || e.converted == convertedTimestampMillis {
		n.Unit = leaf.Millis
	}
}

// schemaTree builds the tree from the flat list, whose first element is the
// root and whose order is depth first.
func schemaTree(list []schemaElement) (*leaf.Node, error) {
	if len(list) == 0 {
		return nil, corruptf("the schema is empty")
	}
	rest := list
	root, err := takeNode(&rest, 0, 0)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, corruptf("the schema has %d elements too many", len(rest))
	}
	if root.Type != leaf.Group {
		return nil, corruptf("the schema's root is not a group")
	}
	root.Repetition = leaf.Required
	return root, nil
}

func takeNode(rest *[]schemaElement, depth, levels int) (*leaf.Node, error) {
	if len(*rest) == 0 {
		return nil, corruptf("the schema ends early")
	}
	e := &(*rest)[0]
	*rest = (*rest)[1:]
	n := e.node
	if depth > 0 && n.Repetition != leaf.Required {
		levels++
	}
	if depth > maxSchemaDepth || levels > 255 {
		return nil, unsupportedf("the schema is nested too deep at %q", n.Name)
	}
	if e.children < 0 || e.children > len(*rest) {
		return nil, corruptf("schema element %q has %d children", n.Name, e.children)
	}
	if !e.logical {
		e.convert()
	}
	if n.Type != leaf.Group {
		if e.children > 0 {
			return nil, corruptf("schema element %q has a type and children", n.Name)
		}
		if n.Type == leaf.Fixed && (n.Width < 1 || n.Width > 1<<24) {
			return nil, corruptf("schema element %q has %d bytes a value", n.Name, n.Width)
		}
		return n, nil
	}
	n.Children = make([]*leaf.Node, 0, e.children)
	for range e.children {
		c, err := takeNode(rest, depth+1, levels)
		if err != nil {
			return nil, err
		}
		n.Children = append(n.Children, c)
	}
	return n, nil
}
