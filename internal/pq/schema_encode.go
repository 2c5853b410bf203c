package pq

import (
	"slices"

	"github.com/frazil/frazil/internal/leaf"
)

// checkSchema reports what makes root unfit for a file.
func checkSchema(root *leaf.Node) error {
	if root == nil || root.Type != leaf.Group {
		return inputf("the root of the schema is not a group")
	}
	return checkChildren(root, root.Name, 0, 0)
}

func checkChildren(n *leaf.Node, path string, depth, levels int) error {
	if depth > maxSchemaDepth {
		return inputf("the schema is nested too deep at %q", path)
	}
	for i, c := range n.Children {
		at := path + "." + c.Name
		lv := levels
		if c.Repetition != leaf.Required {
			lv++
		}
		if lv > 255 {
			return inputf("%q has more than 255 optional and repeated ancestors", at)
		}
		for _, d := range n.Children[:i] {
			if d.Name == c.Name {
				return inputf("%q occurs twice", at)
			}
		}
		if c.Type == leaf.Group {
			if err := checkChildren(c, at, depth+1, lv); err != nil {
				return err
			}
			continue
		}
		if err := checkLeaf(c, at); err != nil {
			return err
		}
	}
	return nil
}

func checkLeaf(n *leaf.Node, at string) error {
	if len(n.Children) > 0 || n.Type > leaf.Fixed {
		return inputf("%q is neither a leaf nor a group", at)
	}
	if n.Type == leaf.Fixed && n.Width < 1 {
		return inputf("%q has a fixed width of %d bytes", at, n.Width)
	}
	if n.Logical != leaf.Decimal {
		return nil
	}
	if n.Precision < 1 || n.Scale < 0 || n.Scale > n.Precision || n.Precision > decimalDigits(n) {
		return inputf("%q cannot hold a decimal(%d, %d)", at, n.Precision, n.Scale)
	}
	return nil
}

// decimalDigits returns the most digits that fit the physical type of n.
func decimalDigits(n *leaf.Node) int {
	switch n.Type {
	case leaf.Int32:
		return 9
	case leaf.Int64:
		return 18
	case leaf.Bytes:
		return 1 << 20
	case leaf.Fixed:
		return fixedDigits(n.Width)
	case leaf.Group, leaf.Bool, leaf.Int96, leaf.Float, leaf.Double:
	}
	return 0
}

// fixedDigits is floor(log10(2^(8*width-1) - 1)).
func fixedDigits(width int) int {
	return int(float64(8*width-1) * 0.30102999566398119521)
}

// schema writes field id of FileMetaData: the flat list of the tree.
func (w *thriftWriter) schema(id int16, root *leaf.Node) {
	w.list(id, thriftStruct, countNodes(root))
	w.schemaNode(root, true)
}

func countNodes(n *leaf.Node) int {
	count := 1
	for _, c := range n.Children {
		count += countNodes(c)
	}
	return count
}

func (w *thriftWriter) schemaNode(n *leaf.Node, root bool) {
	w.begin()
	if n.Type != leaf.Group {
		w.i32(1, slices.Index(physicalTypes[:], n.Type))
		if n.Type == leaf.Fixed {
			w.i32(2, n.Width)
		}
	}
	if !root {
		w.i32(3, int(n.Repetition))
	}
	w.string(4, n.Name)
	if n.Type == leaf.Group {
		w.i32(5, len(n.Children))
	}
	w.annotation(n)
	w.end()
	for _, c := range n.Children {
		w.schemaNode(c, false)
	}
}

// annotation writes the fields 6 to 10 of SchemaElement.
func (w *thriftWriter) annotation(n *leaf.Node) {
	if c := convertedOf(n); c != convertedNone {
		w.i32(6, c)
	}
	if n.Logical == leaf.Decimal {
		w.i32(7, n.Scale)
		w.i32(8, n.Precision)
	}
	if n.FieldID != 0 {
		w.i32(9, n.FieldID)
	}
	if n.Logical == leaf.None || n.Logical == leaf.Other {
		return
	}
	w.structure(10)
	w.logical(n)
	w.end()
}

func (w *thriftWriter) logical(n *leaf.Node) {
	switch n.Logical {
	case leaf.Decimal:
		w.structure(5)
		w.i32(1, n.Scale)
		w.i32(2, n.Precision)
		w.end()
	case leaf.Time, leaf.Timestamp:
		id := int16(7)
		if n.Logical == leaf.Timestamp {
			id = 8
		}
		w.structure(id)
		w.bool(1, n.UTC)
		w.structure(2)
		w.empty(map[leaf.Unit]int16{leaf.Millis: 1, leaf.Micros: 2, leaf.Nanos: 3}[n.Unit])
		w.end()
		w.end()
	case leaf.Integer:
		w.structure(10)
		w.i8(1, int8(n.Bits))
		w.bool(2, n.Signed)
		w.end()
	case leaf.Variant:
		w.structure(16)
		w.i8(1, 1) // the version of the Variant specification
		w.end()
	default:
		for id, l := range plainLogical {
			if l == n.Logical {
				w.empty(id)
			}
		}
	}
}

// convertedOf returns the ConvertedType that old readers understand, or
// convertedNone. A time that is not UTC has none: it would be read as one.
func convertedOf(n *leaf.Node) int {
	switch n.Logical {
	case leaf.String:
		return convertedUTF8
	case leaf.Decimal:
		return convertedDecimal
	case leaf.Date:
		return convertedDate
	case leaf.Time, leaf.Timestamp:
		return convertedTime(n)
	case leaf.Integer:
		return convertedInteger(n)
	case leaf.List:
		return convertedList
	case leaf.Map:
		return convertedMap
	case leaf.JSON:
		return convertedJSON
	case leaf.BSON:
		return convertedBSON
	case leaf.Enum:
		return convertedEnum
	case leaf.None, leaf.UUID, leaf.Variant, leaf.Float16, leaf.Unknown, leaf.Other:
	}
	return convertedNone
}

func convertedTime(n *leaf.Node) int {
	if !n.UTC || n.Unit == leaf.Nanos {
		return convertedNone
	}
	c := convertedTimeMillis
	if n.Logical == leaf.Timestamp {
		c = convertedTimestampMillis
	}
	if n.Unit == leaf.Micros {
		c++
	}
	return c
}

func convertedInteger(n *leaf.Node) int {
	c := convertedUint8
	if n.Signed {
		c = convertedInt8
	}
	switch n.Bits {
	case 8:
		return c
	case 16:
		return c + 1
	case 32:
		return c + 2
	case 64:
		return c + 3
	}
	return convertedNone
}
