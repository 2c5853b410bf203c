package shred

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMerge_KeepsVariantFields: a field that a schema has as variant, so that it has
// a column of its own, was lost when schemas were merged, even a schema with itself.
func TestMerge_KeepsVariantFields(t *testing.T) {
	for _, c := range [][3]string{
		{"struct<a variant>", "struct<a variant>", "struct<a variant>"},
		{"struct<a variant>", "struct<b int>", "struct<a variant, b int>"},
		{"struct<a variant, b int>", "struct<a string>", "struct<a variant, b int>"},
		{"struct<a struct<b variant>>", "struct<a struct<b struct<c int>>>", "struct<a struct<b variant>>"},
		{"list<variant>", "list<struct<a variant>>", "list<variant>"},
		{"struct<a string, b variant>", "struct<a struct<c int>>", "struct<b variant>"},
		{"struct<a string>", "struct<a struct<c int>>", "variant"},
		{"variant", "struct<a variant>", "variant"},
	} {
		a, b := mustParse(t, c[0]), mustParse(t, c[1])
		require.Equal(t, c[2], Merge(a, b).String(), "%s and %s", a, b)
		require.Equal(t, c[2], Merge(b, a).String(), "%s and %s", b, a)
	}
	require.Equal(t, []Change{
		{Path: "$['a']", From: "variant"},
		{Path: "$['b']", From: "int", To: "variant"},
		{Path: "$['c']", To: "variant"},
	}, Diff(mustParse(t, "struct<a variant, b int, d variant>"), mustParse(t, "struct<b variant, c variant, d variant>")))
}

// TestMerge_Properties holds for random pairs of schemas: merging has no order, a
// schema merged with itself stays, and a column of the merged schema takes any
// document.
func TestMerge_Properties(t *testing.T) {
	for seed := range uint64(300) {
		g := generator{rand.New(rand.NewPCG(seed, 7))}
		a, b := g.schema(3), g.schema(3)
		if a.validate(0) != nil || b.validate(0) != nil {
			continue
		}
		m := Merge(a, b)
		require.Equal(t, m.String(), Merge(b, a).String(), "%s and %s", a, b)
		require.Equal(t, a.String(), Merge(a, a).String())
		require.Equal(t, m.String(), Merge(m, m).String())
		require.NoError(t, m.validate(0), "%s and %s", a, b)
		require.Empty(t, Diff(a, a))
		require.Equal(t, len(Diff(a, b)), len(Diff(b, a)))
		if a.String() != b.String() {
			require.NotEmpty(t, Diff(a, b))
		}
		var rows []string
		for range 5 {
			rows = append(rows, g.doc(3))
		}
		readBack(t, write(t, m.String(), rows...), rows...)
	}
}

// TestInferer_WriteStats is the table of a sample.
func TestInferer_WriteStats(t *testing.T) {
	i := NewInferer(InferOptions{})
	for _, row := range []string{
		`{"price":21.69,"legs":[{"tenor":"1Y"},{"tenor":"5Y"}]}`,
		`{"price":22,"legs":[]}`,
		`{"price":"n/a","note":null}`,
		`null`,
	} {
		require.NoError(t, i.AddJSON([]byte(row)))
	}
	var out bytes.Buffer
	require.NoError(t, i.WriteStats(&out))
	require.Equal(t, `path                   values  nulls  share  classes            digits  shredded as
$                      3       1      1.00   object 3                   struct
$['legs']              2       0      0.67   array 2                    list
$['legs'][*]           2       0      0.67   object 2                   struct
$['legs'][*]['tenor']  2       0      0.67   string 2                   string
$['note']              0       1      0.00                              
$['price']             3       0      1.00   exact 2, string 1  2.2     
`, out.String())
}
