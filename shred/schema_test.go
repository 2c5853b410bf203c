package shred

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

// S07, S19: timestamps are INT64 of micros or nanos; what the spec does not list is an
// error when the schema is made or read.
func TestSchema_S07_S19_TypesOfTheSpec(t *testing.T) {
	for text, want := range map[string]leaf.Node{
		"timestamp":        {Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Micros, UTC: true},
		"timestamp_ntz":    {Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Micros},
		"timestamp_ns":     {Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Nanos, UTC: true},
		"timestamp_ntz_ns": {Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Nanos},
		"time":             {Type: leaf.Int64, Logical: leaf.Time, Unit: leaf.Micros},
		"date":             {Type: leaf.Int32, Logical: leaf.Date},
		"tinyint":          {Type: leaf.Int32, Logical: leaf.Integer, Bits: 8, Signed: true},
		"smallint":         {Type: leaf.Int32, Logical: leaf.Integer, Bits: 16, Signed: true},
		"int":              {Type: leaf.Int32},
		"bigint":           {Type: leaf.Int64},
		"boolean":          {Type: leaf.Bool},
		"float":            {Type: leaf.Float},
		"double":           {Type: leaf.Double},
		"string":           {Type: leaf.Bytes, Logical: leaf.String},
		"binary":           {Type: leaf.Bytes},
		"uuid":             {Type: leaf.Fixed, Width: 16, Logical: leaf.UUID},
		"decimal(9,2)":     {Type: leaf.Int32, Logical: leaf.Decimal, Precision: 9, Scale: 2},
		"decimal(18,2)":    {Type: leaf.Int64, Logical: leaf.Decimal, Precision: 18, Scale: 2},
		"decimal(19,0)":    {Type: leaf.Fixed, Width: 9, Logical: leaf.Decimal, Precision: 19},
		"decimal(20,0)":    {Type: leaf.Fixed, Width: 9, Logical: leaf.Decimal, Precision: 20},
		"decimal(38,38)":   {Type: leaf.Fixed, Width: 16, Logical: leaf.Decimal, Precision: 38, Scale: 38},
	} {
		s := mustParse(t, text)
		group := s.Group("v", false, 0)
		want.Name, want.Repetition = "typed_value", leaf.Optional
		require.Equal(t, &want, group.Child("typed_value"), text)
		back, err := FromGroup(group)
		require.NoError(t, err)
		require.True(t, s.Equal(back), text)
	}
	for _, text := range []string{
		"uint8", "uint64", "float16", "date64", "int96", "decimal(39,0)", "decimal(0,0)", "decimal(2,3)", "decimal(-1,0)", "decimal(1,2)",
		"timestamp_ms", "duration", "struct<>", "list<>", "struct<a int, a int>", "int int", "struct<a int", "",
	} {
		_, err := Parse(text)
		require.ErrorIs(t, err, ErrSchema, text)
	}
	bad := []leaf.Node{
		{Type: leaf.Int32, Logical: leaf.Integer, Bits: 32},
		{Type: leaf.Int32, Logical: leaf.Integer, Bits: 8},
		{Type: leaf.Int64, Logical: leaf.Integer, Bits: 64},
		{Type: leaf.Int96},
		{Type: leaf.Fixed, Width: 4},
		{Type: leaf.Fixed, Width: 2, Logical: leaf.Float16},
		{Type: leaf.Int64, Logical: leaf.Timestamp, Unit: leaf.Millis, UTC: true},
		{Type: leaf.Int32, Logical: leaf.Time, Unit: leaf.Millis},
		{Type: leaf.Int64, Logical: leaf.Time, Unit: leaf.Nanos},
		{Type: leaf.Fixed, Width: 17, Logical: leaf.Decimal, Precision: 38},
		{Type: leaf.Int32, Logical: leaf.Decimal, Precision: 10},
		{Type: leaf.Int64, Logical: leaf.Decimal, Precision: 19},
		{Type: leaf.Bytes, Logical: leaf.Decimal, Precision: 39},
		{Type: leaf.Int32, Logical: leaf.Decimal, Precision: 2, Scale: 3},
		{Type: leaf.Bytes, Logical: leaf.JSON},
		{Type: leaf.Bytes, Logical: leaf.Enum},
		{Type: leaf.Group, Logical: leaf.Map},
		{Type: leaf.Fixed, Width: 15, Logical: leaf.UUID},
		{Type: leaf.Int32, Logical: leaf.Other},
		{Type: leaf.Group},
	}
	for _, n := range bad {
		n.Name, n.Repetition = "typed_value", leaf.Optional
		group := (&Schema{}).Group("v", false, 0)
		group.Children = append(group.Children, &n)
		_, err := FromGroup(group)
		require.ErrorIs(t, err, ErrSchema, describeNode(&n))
	}
}

// S22: nodes inside the group have no field ids, and the group has the one given.
func TestSchema_S22_NoInnerFieldIDs(t *testing.T) {
	g := mustParse(t, "struct<a int, b list<struct<c string>>>").Group("v", true, 7)
	require.Equal(t, 7, g.FieldID)
	require.Equal(t, leaf.Variant, g.Logical)
	var walk func(n *leaf.Node)
	walk = func(n *leaf.Node) {
		for _, c := range n.Children {
			require.Zero(t, c.FieldID)
			walk(c)
		}
	}
	walk(g)
}
