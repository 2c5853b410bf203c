package main

import (
	"encoding/json"
	"fmt"

	"github.com/parquet-go/parquet-go"
)

// column is the group of a Variant that is shredded by a schema, "" for none.
func column(schema string) (parquet.Node, error) {
	if schema == "" {
		return parquet.Variant(), nil
	}
	n, err := node([]byte(schema))
	if err != nil {
		return nil, err
	}
	return parquet.ShreddedVariant(n)
}

func node(text []byte) (parquet.Node, error) {
	switch text[0] {
	case '"':
		var name string
		if err := json.Unmarshal(text, &name); err != nil {
			return nil, err
		}
		return leaf(name)
	case '[':
		var elements [1]json.RawMessage
		if err := json.Unmarshal(text, &elements); err != nil {
			return nil, err
		}
		n, err := node(elements[0])
		if err != nil {
			return nil, err
		}
		return parquet.List(n), nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	group := parquet.Group{}
	for name, field := range fields {
		n, err := node(field)
		if err != nil {
			return nil, err
		}
		group[name] = n
	}
	return group, nil
}

func leaf(name string) (parquet.Node, error) {
	switch name {
	case "boolean":
		return parquet.Leaf(parquet.BooleanType), nil
	case "int8":
		return parquet.Int(8), nil
	case "int16":
		return parquet.Int(16), nil
	case "int32":
		return parquet.Int(32), nil
	case "int64":
		return parquet.Int(64), nil
	case "float":
		return parquet.Leaf(parquet.FloatType), nil
	case "double":
		return parquet.Leaf(parquet.DoubleType), nil
	case "string":
		return parquet.String(), nil
	case "binary":
		return parquet.Leaf(parquet.ByteArrayType), nil
	case "uuid":
		return parquet.UUID(), nil
	case "date":
		return parquet.Date(), nil
	case "time":
		return parquet.TimeAdjusted(parquet.Microsecond, false), nil
	case "timestamp", "timestamp_ntz":
		return parquet.TimestampAdjusted(parquet.Microsecond, name == "timestamp"), nil
	case "timestamp_nanos", "timestamp_ntz_nanos":
		return parquet.TimestampAdjusted(parquet.Nanosecond, name == "timestamp_nanos"), nil
	}
	var precision, scale int
	if _, err := fmt.Sscanf(name, "decimal(%d,%d)", &precision, &scale); err != nil {
		return nil, fmt.Errorf("no type %q", name)
	}
	switch {
	case precision <= 9:
		return parquet.Decimal(scale, precision, parquet.Int32Type), nil
	case precision <= 18:
		return parquet.Decimal(scale, precision, parquet.Int64Type), nil
	}
	return parquet.Decimal(scale, precision, parquet.FixedLenByteArrayType(16)), nil
}
