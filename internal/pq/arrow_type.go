package pq

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/frazil/frazil/internal/leaf"
)

const (
	// FieldIDKey is the key of Arrow field metadata that holds Iceberg's field id.
	FieldIDKey = "PARQUET:field_id"
	// ExtensionKey is the key of Arrow field metadata that holds the name of an
	// extension type.
	ExtensionKey = "ARROW:extension:name"
	// VariantExtension is the extension name of a Variant's storage struct.
	VariantExtension = "arrow.parquet.variant"
	// UUIDExtension is the extension name of a UUID.
	UUIDExtension = "arrow.uuid"
)

// RootOf makes the schema of a file with the fields of s as columns.
func RootOf(s *arrow.Schema) (*leaf.Node, error) {
	root := &leaf.Node{Name: "table"}
	for _, f := range s.Fields() {
		n, err := NodeOf(f)
		if err != nil {
			return nil, err
		}
		root.Children = append(root.Children, n)
	}
	return root, checkSchema(root)
}

// NodeOf makes the schema node of one Arrow field. Field ids come from the
// metadata key PARQUET:field_id of the field and its children, but those of a
// Variant have none. Decimals take the smallest physical type that their
// precision fits; a time is not adjusted to UTC, as in Iceberg.
func NodeOf(f arrow.Field) (*leaf.Node, error) {
	n := &leaf.Node{Name: f.Name}
	if f.Nullable {
		n.Repetition = leaf.Optional
	}
	if id, ok := f.Metadata.GetValue(FieldIDKey); ok {
		v, err := strconv.Atoi(id)
		if err != nil {
			return nil, inputf("field %q has the field id %q", f.Name, id)
		}
		n.FieldID = v
	}
	extension, _ := f.Metadata.GetValue(ExtensionKey)
	typ := f.Type
	if e, ok := typ.(arrow.ExtensionType); ok {
		extension, typ = e.ExtensionName(), e.StorageType()
	}
	switch extension {
	case VariantExtension, "parquet.variant":
		return variantNode(n, typ)
	case UUIDExtension:
		n.Logical = leaf.UUID
	}
	return n, setType(n, typ)
}

func variantNode(n *leaf.Node, typ arrow.DataType) (*leaf.Node, error) {
	s, ok := typ.(*arrow.StructType)
	if !ok {
		return nil, inputf("the storage of Variant %q is %v", n.Name, typ)
	}
	for _, name := range []string{"metadata", "value"} {
		if _, ok := s.FieldByName(name); !ok || s.NumFields() != 2 {
			return nil, inputf("Variant %q is not a struct of metadata and value", n.Name)
		}
		n.Children = append(n.Children, &leaf.Node{Name: name, Type: leaf.Bytes})
	}
	n.Logical = leaf.Variant
	return n, nil
}

// setType sets type, annotation and children of n.
func setType(n *leaf.Node, typ arrow.DataType) error {
	set := func(t leaf.Type, l leaf.Logical) {
		n.Type, n.Logical = t, l
	}
	integer := func(t leaf.Type, bits int, signed bool) {
		set(t, leaf.Integer)
		n.Bits, n.Signed = bits, signed
	}
	switch typ := typ.(type) {
	case *arrow.NullType:
		set(leaf.Int32, leaf.Unknown)
	case *arrow.BooleanType:
		set(leaf.Bool, leaf.None)
	case *arrow.Int8Type:
		integer(leaf.Int32, 8, true)
	case *arrow.Int16Type:
		integer(leaf.Int32, 16, true)
	case *arrow.Int32Type:
		set(leaf.Int32, leaf.None)
	case *arrow.Int64Type:
		set(leaf.Int64, leaf.None)
	case *arrow.Uint8Type:
		integer(leaf.Int32, 8, false)
	case *arrow.Uint16Type:
		integer(leaf.Int32, 16, false)
	case *arrow.Uint32Type:
		integer(leaf.Int32, 32, false)
	case *arrow.Uint64Type:
		integer(leaf.Int64, 64, false)
	case *arrow.Float32Type:
		set(leaf.Float, leaf.None)
	case *arrow.Float64Type:
		set(leaf.Double, leaf.None)
	case *arrow.Date32Type, *arrow.Date64Type:
		set(leaf.Int32, leaf.Date)
	case *arrow.Time32Type, *arrow.Time64Type:
		set(leaf.Int64, leaf.Time)
		if t, ok := typ.(*arrow.Time64Type); ok && t.Unit == arrow.Nanosecond {
			n.Unit = leaf.Nanos
		}
	case *arrow.TimestampType:
		set(leaf.Int64, leaf.Timestamp)
		n.UTC = typ.TimeZone != ""
		if typ.Unit == arrow.Nanosecond {
			n.Unit = leaf.Nanos
		}
	case arrow.DecimalType:
		return setDecimal(n, typ)
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		set(leaf.Bytes, leaf.String)
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		set(leaf.Bytes, leaf.None)
	case *arrow.FixedSizeBinaryType:
		n.Type, n.Width = leaf.Fixed, typ.ByteWidth
	case *arrow.DictionaryType:
		return setType(n, typ.ValueType)
	default:
		return setNested(n, typ)
	}
	return nil
}

func setDecimal(n *leaf.Node, typ arrow.DecimalType) error {
	n.Logical = leaf.Decimal
	n.Precision, n.Scale = int(typ.GetPrecision()), int(typ.GetScale())
	switch {
	case n.Precision <= 9:
		n.Type = leaf.Int32
	case n.Precision <= 18:
		n.Type = leaf.Int64
	case n.Precision <= 38:
		n.Type, n.Width = leaf.Fixed, leaf.DecimalWidth(n.Precision)
	default:
		return inputf("field %q is a decimal of %d digits", n.Name, n.Precision)
	}
	return nil
}

func setNested(n *leaf.Node, typ arrow.DataType) error {
	add := func(to *leaf.Node, f arrow.Field, name string) error {
		f.Name = name
		c, err := NodeOf(f)
		if err != nil {
			return err
		}
		to.Children = append(to.Children, c)
		return nil
	}
	switch typ := typ.(type) {
	case *arrow.StructType:
		for _, f := range typ.Fields() {
			if err := add(n, f, f.Name); err != nil {
				return err
			}
		}
		return nil
	case *arrow.MapType:
		entries := &leaf.Node{Name: "key_value", Repetition: leaf.Repeated}
		n.Logical, n.Children = leaf.Map, []*leaf.Node{entries}
		key := typ.KeyField()
		key.Nullable = false
		if err := add(entries, key, "key"); err != nil {
			return err
		}
		return add(entries, typ.ItemField(), "value")
	case arrow.ListLikeType:
		list := &leaf.Node{Name: "list", Repetition: leaf.Repeated}
		n.Logical, n.Children = leaf.List, []*leaf.Node{list}
		return add(list, typ.ElemField(), "element")
	}
	return inputf("field %q has the Arrow type %v, which has no Parquet form", n.Name, typ)
}

// FieldOf returns the natural Arrow field of a node: what the annotation says,
// with times and timestamps in microseconds or nanoseconds. An unshredded
// Variant is its storage struct; a shredded one is for shred to assemble, and an
// error here.
func FieldOf(n *leaf.Node) (arrow.Field, error) {
	t, err := newArrowTree(n)
	if err != nil {
		return arrow.Field{}, err
	}
	return t.field(), nil
}

func primitiveType(n *leaf.Node) (arrow.DataType, error) {
	if n.Logical == leaf.Unknown {
		return arrow.Null, nil
	}
	switch n.Type {
	case leaf.Bool:
		return arrow.FixedWidthTypes.Boolean, nil
	case leaf.Int32, leaf.Int64:
		return integerType(n)
	case leaf.Int96:
		return arrow.FixedWidthTypes.Timestamp_us, nil
	case leaf.Float:
		return arrow.PrimitiveTypes.Float32, nil
	case leaf.Double:
		return arrow.PrimitiveTypes.Float64, nil
	case leaf.Bytes:
		switch n.Logical {
		case leaf.String, leaf.Enum, leaf.JSON:
			return arrow.BinaryTypes.String, nil
		case leaf.Decimal:
			return decimalType(n)
		default:
			return arrow.BinaryTypes.Binary, nil
		}
	case leaf.Fixed:
		if n.Logical == leaf.Decimal {
			return decimalType(n)
		}
		return &arrow.FixedSizeBinaryType{ByteWidth: n.Width}, nil
	case leaf.Group:
	}
	panic("BUG: a group is not a primitive")
}

func decimalType(n *leaf.Node) (arrow.DataType, error) {
	if n.Precision < 1 || n.Precision > 38 || n.Scale < 0 || n.Scale > n.Precision {
		return nil, unsupportedf("%q is a decimal(%d, %d)", n.Name, n.Precision, n.Scale)
	}
	return &arrow.Decimal128Type{Precision: int32(n.Precision), Scale: int32(n.Scale)}, nil
}

func integerType(n *leaf.Node) (arrow.DataType, error) {
	switch n.Logical {
	case leaf.Decimal:
		return decimalType(n)
	case leaf.Date:
		return arrow.FixedWidthTypes.Date32, nil
	case leaf.Time:
		if n.Unit == leaf.Nanos {
			return arrow.FixedWidthTypes.Time64ns, nil
		}
		return arrow.FixedWidthTypes.Time64us, nil
	case leaf.Timestamp:
		t := &arrow.TimestampType{Unit: arrow.Microsecond}
		if n.Unit == leaf.Nanos {
			t.Unit = arrow.Nanosecond
		}
		if n.UTC {
			t.TimeZone = "UTC"
		}
		return t, nil
	case leaf.Integer:
		if t := annotatedInteger(n); t != nil {
			return t, nil
		}
	default:
	}
	if n.Type == leaf.Int32 {
		return arrow.PrimitiveTypes.Int32, nil
	}
	return arrow.PrimitiveTypes.Int64, nil
}

func annotatedInteger(n *leaf.Node) arrow.DataType {
	switch {
	case n.Signed && n.Bits == 8:
		return arrow.PrimitiveTypes.Int8
	case n.Signed && n.Bits == 16:
		return arrow.PrimitiveTypes.Int16
	case n.Signed:
		return nil
	case n.Bits == 8:
		return arrow.PrimitiveTypes.Uint8
	case n.Bits == 16:
		return arrow.PrimitiveTypes.Uint16
	case n.Type == leaf.Int32:
		return arrow.PrimitiveTypes.Uint32
	}
	return arrow.PrimitiveTypes.Uint64
}
