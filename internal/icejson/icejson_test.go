package icejson

import (
	"encoding/json"
	"testing"

	ice "github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"
)

func schemaText(t *testing.T, fields ...ice.NestedField) string {
	t.Helper()
	text, err := json.Marshal(ice.NewSchema(0, fields...))
	require.NoError(t, err)
	return string(text)
}

// TestFloatDefaults_JavaForm: what iceberg-go marshals becomes what Java reads,
// and nothing else changes.
func TestFloatDefaults_JavaForm(t *testing.T) {
	double, float := ice.PrimitiveTypes.Float64, ice.PrimitiveTypes.Float32
	cases := []struct {
		field    ice.NestedField
		old, new string
	}{
		{ice.NestedField{ID: 1, Name: "a", Type: double, WriteDefault: 1.0}, `"write-default":1}`, `"write-default":1.0}`},
		{ice.NestedField{ID: 1, Name: "a", Type: float, InitialDefault: float32(-2), WriteDefault: 0.0}, `"initial-default":-2,"write-default":0}`, `"initial-default":-2.0,"write-default":0.0}`},
		{ice.NestedField{ID: 1, Name: "a", Type: double, InitialDefault: 1.5, WriteDefault: 3.0}, `"write-default":3}`, `"write-default":3.0}`},
		{ice.NestedField{ID: 1, Name: "q\"}\\", Doc: "\"write-default\":1,", Type: double, WriteDefault: 7.0}, `"write-default":7}`, `"write-default":7.0}`},
	}
	for _, c := range cases {
		text := schemaText(t, c.field)
		require.Contains(t, text, c.old)
		got := string(FloatDefaults([]byte(text)))
		require.Contains(t, got, c.new)
		require.JSONEq(t, text, got)
	}
}

func TestFloatDefaults_LeavesTheRest(t *testing.T) {
	text := schemaText(t,
		ice.NestedField{ID: 1, Name: "i", Type: ice.PrimitiveTypes.Int64, WriteDefault: int64(1)},
		ice.NestedField{ID: 2, Name: "d", Type: ice.PrimitiveTypes.Float64, WriteDefault: 1e300, InitialDefault: 0.25},
		ice.NestedField{ID: 3, Name: "n", Type: ice.PrimitiveTypes.Float64},
		ice.NestedField{ID: 4, Name: "s", Type: ice.PrimitiveTypes.String, WriteDefault: `"type":"double","id":1,"name":"x","required":true,"write-default":1`},
	)
	require.Equal(t, text, string(FloatDefaults([]byte(text))))
}
