package iceberg

import (
	ice "github.com/apache/iceberg-go"
	"github.com/twmb/avro"
)

// maxAvroDepth bounds the nesting of an Avro schema.
const maxAvroDepth = 64

// avroTypes turns the schema of an Avro data file into columns (Iceberg spec,
// "Avro": "Data Type Mappings", "Field IDs"). Fields without an id have 0.
type avroTypes struct {
	named map[string]*avro.SchemaNode // fixed types, which a schema defines once
	depth int
}

// record gives the fields of a record.
func (a *avroTypes) record(n *avro.SchemaNode) ([]ice.NestedField, error) {
	if n.Type != "record" {
		return nil, corruptf("avro: %s where a record belongs", n.Type)
	}
	if a.depth++; a.depth > maxAvroDepth {
		return nil, corruptf("avro: a schema of more than %d levels", maxAvroDepth)
	}
	defer func() { a.depth-- }()
	out := make([]ice.NestedField, len(n.Fields))
	for i := range n.Fields {
		f := &n.Fields[i]
		t, required, err := a.field(&f.Type)
		if err != nil {
			return nil, err
		}
		out[i] = ice.NestedField{ID: idOf(f.Props, "field-id"), Name: f.Name, Type: t, Required: required}
	}
	return out, nil
}

// idOf reads an id of Iceberg from the properties of a schema; 0 for none.
func idOf(props map[string]any, key string) int {
	id, _ := props[key].(int64)
	return int(id)
}

// field gives the type of a field, an element or a value. A union with null
// makes it optional; Iceberg has no other union.
func (a *avroTypes) field(n *avro.SchemaNode) (t ice.Type, required bool, err error) {
	if n.Type != "union" {
		t, err = a.typ(n)
		return t, n.Type != "null", err
	}
	if len(n.Branches) != 2 || (n.Branches[0].Type == "null") == (n.Branches[1].Type == "null") {
		return nil, false, unsupportedf("avro: a union that is not one of null and a type")
	}
	i := 0
	if n.Branches[0].Type == "null" {
		i = 1
	}
	t, err = a.typ(&n.Branches[i])
	return t, false, err
}

func (a *avroTypes) typ(n *avro.SchemaNode) (ice.Type, error) {
	switch n.Type {
	case "null":
		return ice.UnknownType{}, nil
	case "boolean":
		return ice.BooleanType{}, nil
	case "float":
		return ice.Float32Type{}, nil
	case "double":
		return ice.Float64Type{}, nil
	case "string":
		return ice.StringType{}, nil
	case "int", "long":
		return integerType(n)
	case "bytes":
		if n.LogicalType == "decimal" {
			return decimalType(n)
		}
		return ice.BinaryType{}, nil
	case "fixed":
		return a.fixed(n)
	case "record":
		return a.structure(n)
	case "array", "map":
		return a.repeated(n)
	}
	if known := a.named[n.Type]; known != nil {
		return a.fixed(known)
	}
	return nil, unsupportedf("avro: type %s", n.Type)
}

func integerType(n *avro.SchemaNode) (ice.Type, error) {
	utc, _ := n.Props["adjust-to-utc"].(bool)
	switch n.Type + " " + n.LogicalType {
	case "int ":
		return ice.Int32Type{}, nil
	case "long ":
		return ice.Int64Type{}, nil
	case "int date":
		return ice.DateType{}, nil
	case "long time-micros":
		return ice.TimeType{}, nil
	case "long timestamp-micros":
		if utc {
			return ice.TimestampTzType{}, nil
		}
		return ice.TimestampType{}, nil
	case "long timestamp-nanos":
		if utc {
			return ice.TimestampTzNsType{}, nil
		}
		return ice.TimestampNsType{}, nil
	}
	return nil, unsupportedf("avro: %s as %s", n.LogicalType, n.Type)
}

func decimalType(n *avro.SchemaNode) (ice.Type, error) {
	if n.Precision < 1 || n.Precision > 38 || n.Scale < 0 || n.Scale > n.Precision {
		return nil, corruptf("avro: decimal(%d,%d)", n.Precision, n.Scale)
	}
	return ice.DecimalTypeOf(n.Precision, n.Scale), nil
}

func (a *avroTypes) fixed(n *avro.SchemaNode) (ice.Type, error) {
	if a.named == nil {
		a.named = map[string]*avro.SchemaNode{}
	}
	a.named[n.Name] = n
	if n.Namespace != "" {
		a.named[n.Namespace+"."+n.Name] = n
	}
	switch {
	case n.LogicalType == "decimal":
		return decimalType(n)
	case n.LogicalType == "uuid" && n.Size == 16:
		return ice.UUIDType{}, nil
	case n.Size < 1:
		return nil, corruptf("avro: fixed[%d]", n.Size)
	}
	return ice.FixedTypeOf(n.Size), nil
}

// structure is a Variant, whose two fields have no ids, or a struct.
func (a *avroTypes) structure(n *avro.SchemaNode) (ice.Type, error) {
	fields, err := a.record(n)
	if err != nil {
		return nil, err
	}
	if len(fields) == 2 && fields[0].ID+fields[1].ID == 0 {
		names := map[string]bool{}
		for _, f := range fields {
			if _, ok := f.Type.(ice.BinaryType); ok && f.Required {
				names[f.Name] = true
			}
		}
		if names["metadata"] && names["value"] {
			return ice.VariantType{}, nil
		}
	}
	return &ice.StructType{FieldList: fields}, nil
}

// repeated is a list, or a map in one of its two forms.
func (a *avroTypes) repeated(n *avro.SchemaNode) (ice.Type, error) {
	if a.depth++; a.depth > maxAvroDepth {
		return nil, corruptf("avro: a schema of more than %d levels", maxAvroDepth)
	}
	defer func() { a.depth-- }()
	switch {
	case n.Type == "map":
		t, required, err := a.field(n.Values)
		return &ice.MapType{
			KeyID: idOf(n.Props, "key-id"), KeyType: ice.StringType{},
			ValueID: idOf(n.Props, "value-id"), ValueType: t, ValueRequired: required,
		}, err
	case n.LogicalType == "map" && n.Items.Type == "record":
		fields, err := a.record(n.Items)
		if err != nil {
			return nil, err
		}
		if len(fields) != 2 || fields[0].Name != "key" || fields[1].Name != "value" {
			return nil, corruptf("avro: a map whose entries are not key and value")
		}
		return &ice.MapType{
			KeyID: fields[0].ID, KeyType: fields[0].Type,
			ValueID: fields[1].ID, ValueType: fields[1].Type, ValueRequired: fields[1].Required,
		}, nil
	}
	t, required, err := a.field(n.Items)
	return &ice.ListType{ElementID: idOf(n.Props, "element-id"), Element: t, ElementRequired: required}, err
}
