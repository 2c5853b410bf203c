package shred

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

func mustParse(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Parse(text)
	require.NoError(t, err)
	return s
}

// TestWriterRowsS15 writes the rows of FAULTS S15 and others under several
// schemas and reads them with the oracle.
func TestWriterRows(t *testing.T) {
	rows := []string{
		`null`, `{}`, `{"a":null}`, `{"a":1}`, `[]`, `[null]`, `{"a":{"b":1,"c":[1,2,{"d":3}]}}`,
		`{"a":"x","z":[1,2,3],"y":{"q":1}}`, `[1,"a",{"b":2}]`, `[[1],[],[2,3]]`, `{"a":[{"b":1},{"b":"x","k":{"m":1}},5]}`,
		`"text"`, `12.50`, `{"m":1,"a":2,"b":3}`,
	}
	schemas := []string{
		"variant", "int", "string", "struct<a int>", "struct<a string, zz int>", "list<int>", "list<variant>",
		"list<list<int>>", "struct<a struct<b int, c list<struct<d int>>>>", "struct<a list<struct<b int>>, y struct<q int>, z list<int>>",
		"decimal(9,2)", "struct<b int, m int>", "list<struct<b int>>",
	}
	for _, text := range schemas {
		w := NewWriter(mustParse(t, text), WriterOptions{Optional: true})
		require.Equal(t, text, w.Schema().String())
		for range 2 {
			require.NoError(t, w.WriteNull())
			for _, r := range rows {
				require.NoError(t, w.WriteJSON([]byte(r)), "%s %s", text, r)
				require.Error(t, w.WriteJSON([]byte(r[:len(r)-1]+"!")))
			}
			got, err := oracleOfWriter(w)
			require.NoError(t, err, text)
			require.Len(t, got, len(rows)+1)
			require.True(t, got[0].IsMissing())
			for i, r := range rows {
				want, err := variant.ParseJSON([]byte(r))
				require.NoError(t, err)
				require.Equal(t, want.String(), got[i+1].String(), "%s %s", text, r)
			}
			w.Reset()
		}
	}
}
