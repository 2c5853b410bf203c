package iceberg

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/shred"
)

// Keys of Arrow field metadata: the field id that arrow-go's Parquet code
// knows, and the marks of the Variant extension type, whose storage struct is
// passed around without the type itself.
const (
	keyFieldID       = "PARQUET:field_id"
	keyExtensionName = "ARROW:extension:name"
	keyExtensionMeta = "ARROW:extension:metadata"
)

// Names and field ids of the row lineage columns (Iceberg spec, "Reserved
// Field IDs").
const (
	rowIDName         = "_row_id"
	rowIDField        = 2147483540
	lastUpdatedName   = "_last_updated_sequence_number"
	lastUpdatedField  = 2147483539
	maxDecimalInt32   = 9
	maxDecimalInt64   = 18
	parquetSchemaName = "table"
)

// variantStorage is the Arrow type of a Variant column.
var variantStorage = arrow.StructOf(
	arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary},
	arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary},
)

// ArrowSchema gives the Arrow schema of batches with the columns of s: the one
// that scans deliver and that appends take. Variant columns are
// struct<metadata: binary, value: binary> with the extension name
// arrow.parquet.variant in the field's metadata; UUIDs are 16 fixed bytes with
// the extension name arrow.uuid.
func ArrowSchema(s *ice.Schema) *arrow.Schema { return arrow.NewSchema(arrowFields(s.Fields()), nil) }

func arrowFields(fields []ice.NestedField) []arrow.Field {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		out[i] = arrowField(f)
	}
	return out
}

func arrowField(f ice.NestedField) arrow.Field {
	meta := map[string]string{keyFieldID: strconv.Itoa(f.ID)}
	switch f.Type.(type) {
	case ice.VariantType:
		meta[keyExtensionName], meta[keyExtensionMeta] = variantExtension, ""
	case ice.UUIDType:
		meta[keyExtensionName], meta[keyExtensionMeta] = uuidExtension, ""
	}
	return arrow.Field{Name: f.Name, Type: arrowType(f.Type), Nullable: !f.Required, Metadata: arrow.MetadataFrom(meta)}
}

func arrowType(t ice.Type) arrow.DataType {
	switch t := t.(type) {
	case ice.BooleanType:
		return arrow.FixedWidthTypes.Boolean
	case ice.Int32Type:
		return arrow.PrimitiveTypes.Int32
	case ice.Int64Type:
		return arrow.PrimitiveTypes.Int64
	case ice.Float32Type:
		return arrow.PrimitiveTypes.Float32
	case ice.Float64Type:
		return arrow.PrimitiveTypes.Float64
	case ice.DecimalType:
		return &arrow.Decimal128Type{Precision: int32(t.Precision()), Scale: int32(t.Scale())}
	case ice.DateType:
		return arrow.FixedWidthTypes.Date32
	case ice.TimeType:
		return arrow.FixedWidthTypes.Time64us
	case ice.TimestampType:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case ice.TimestampTzType:
		return arrow.FixedWidthTypes.Timestamp_us
	case ice.TimestampNsType:
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	case ice.TimestampTzNsType:
		return arrow.FixedWidthTypes.Timestamp_ns
	case ice.StringType:
		return arrow.BinaryTypes.String
	case ice.UUIDType:
		return &arrow.FixedSizeBinaryType{ByteWidth: 16}
	case ice.FixedType:
		return &arrow.FixedSizeBinaryType{ByteWidth: t.Len()}
	case ice.VariantType:
		return variantStorage
	case *ice.StructType:
		return arrow.StructOf(arrowFields(t.FieldList)...)
	case *ice.ListType:
		return arrow.ListOfField(arrowField(t.ElementField()))
	case *ice.MapType:
		key, value := arrowField(t.KeyField()), arrowField(t.ValueField())
		return arrow.MapOfFields(key, value)
	case ice.UnknownType:
		return arrow.Null
	}
	return arrow.BinaryTypes.Binary // binary, and the geometry types as they are stored
}

// rootNode gives the Parquet schema of a data file with the given columns.
// shredded holds the layout of top-level Variant columns by field id; a Variant
// without one is stored unshredded. Columns of type unknown are not stored.
// (Iceberg spec, "Parquet")
func rootNode(fields []ice.NestedField, shredded map[int]*shred.Schema) *leaf.Node {
	root := &leaf.Node{Name: parquetSchemaName}
	for _, f := range fields {
		if _, unknown := f.Type.(ice.UnknownType); unknown {
			continue
		}
		if s := shredded[f.ID]; s != nil {
			root.Children = append(root.Children, s.Group(f.Name, !f.Required, f.ID))
			continue
		}
		root.Children = append(root.Children, fieldNode(f))
	}
	return root
}

// fieldNode gives the Parquet node of one field.
func fieldNode(f ice.NestedField) *leaf.Node {
	n := &leaf.Node{Name: f.Name, FieldID: f.ID, Repetition: leaf.Optional}
	if f.Required {
		n.Repetition = leaf.Required
	}
	switch t := f.Type.(type) {
	case *ice.StructType:
		for _, c := range t.FieldList {
			n.Children = append(n.Children, fieldNode(c))
		}
	case *ice.ListType:
		n.Logical = leaf.List
		n.Children = []*leaf.Node{{
			Name: "list", Repetition: leaf.Repeated,
			Children: []*leaf.Node{fieldNode(t.ElementField())},
		}}
	case *ice.MapType:
		n.Logical = leaf.Map
		n.Children = []*leaf.Node{{
			Name: "key_value", Repetition: leaf.Repeated,
			Children: []*leaf.Node{fieldNode(t.KeyField()), fieldNode(t.ValueField())},
		}}
	case ice.VariantType:
		// The parts of a Variant carry no field ids (Iceberg spec, "Parquet").
		n.Logical = leaf.Variant
		n.Children = []*leaf.Node{
			{Name: "metadata", Type: leaf.Bytes},
			{Name: "value", Type: leaf.Bytes},
		}
	default:
		setPrimitive(n, t)
	}
	return n
}

// setPrimitive fills in the physical type and annotation of a leaf.
func setPrimitive(n *leaf.Node, t ice.Type) {
	switch t := t.(type) {
	case ice.BooleanType:
		n.Type = leaf.Bool
	case ice.Int32Type:
		n.Type = leaf.Int32
	case ice.Int64Type:
		n.Type = leaf.Int64
	case ice.Float32Type:
		n.Type = leaf.Float
	case ice.Float64Type:
		n.Type = leaf.Double
	case ice.DecimalType:
		setDecimal(n, t)
	case ice.DateType:
		n.Type, n.Logical = leaf.Int32, leaf.Date
	case ice.TimeType:
		n.Type, n.Logical, n.Unit = leaf.Int64, leaf.Time, leaf.Micros
	case ice.TimestampType:
		n.Type, n.Logical, n.Unit = leaf.Int64, leaf.Timestamp, leaf.Micros
	case ice.TimestampTzType:
		n.Type, n.Logical, n.Unit, n.UTC = leaf.Int64, leaf.Timestamp, leaf.Micros, true
	case ice.TimestampNsType:
		n.Type, n.Logical, n.Unit = leaf.Int64, leaf.Timestamp, leaf.Nanos
	case ice.TimestampTzNsType:
		n.Type, n.Logical, n.Unit, n.UTC = leaf.Int64, leaf.Timestamp, leaf.Nanos, true
	case ice.StringType:
		n.Type, n.Logical = leaf.Bytes, leaf.String
	case ice.UUIDType:
		n.Type, n.Width, n.Logical = leaf.Fixed, 16, leaf.UUID
	case ice.FixedType:
		n.Type, n.Width = leaf.Fixed, t.Len()
	default: // binary, and the geometry types in their binary form
		n.Type = leaf.Bytes
	}
}

func setDecimal(n *leaf.Node, t ice.DecimalType) {
	n.Logical, n.Precision, n.Scale = leaf.Decimal, t.Precision(), t.Scale()
	switch {
	case t.Precision() <= maxDecimalInt32:
		n.Type = leaf.Int32
	case t.Precision() <= maxDecimalInt64:
		n.Type = leaf.Int64
	default:
		n.Type, n.Width = leaf.Fixed, leaf.DecimalWidth(t.Precision())
	}
}

// lineageFields are the columns that rewritten rows carry beside their own.
func lineageFields() []ice.NestedField {
	return []ice.NestedField{
		{ID: rowIDField, Name: rowIDName, Type: ice.Int64Type{}},
		{ID: lastUpdatedField, Name: lastUpdatedName, Type: ice.Int64Type{}},
	}
}
