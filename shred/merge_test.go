package shred

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMerge_Properties holds for random pairs of schemas: merging has no order, a
// schema merged with itself stays but for fields that are not typed, and a column
// of the merged schema takes any document.
func TestMerge_Properties(t *testing.T) {
	for seed := range uint64(300) {
		g := generator{rand.New(rand.NewPCG(seed, 7))}
		a, b := g.schema(3), g.schema(3)
		if a.validate(0) != nil || b.validate(0) != nil {
			continue
		}
		m := Merge(a, b)
		require.Equal(t, m.String(), Merge(b, a).String(), "%s and %s", a, b)
		again := Merge(m, m)
		require.Equal(t, again.String(), Merge(again, again).String())
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
