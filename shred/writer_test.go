package shred

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

// TestWriter_S15_Nulls writes SQL NULL, Variant null, missing and empty values
// under schemas that fit and that do not, and reads them with the oracle.
func TestWriter_S15_Nulls(t *testing.T) {
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
				require.Equal(t, mustJSON(t, r).String(), got[i+1].String(), "%s %s", text, r)
			}
			w.Reset()
		}
	}
}

// TestProperty_RandomDocumentsAndSchemas shreds random documents under random
// schemas: the oracle and the assembler must give the documents back, by meaning.
func TestProperty_RandomDocumentsAndSchemas(t *testing.T) {
	for seed := range uint64(400) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		s := g.schema(4)
		w := NewWriter(s, WriterOptions{Optional: true})
		var want []variant.Value
		for range 30 {
			if g.IntN(10) == 0 {
				require.NoError(t, w.WriteNull())
				want = append(want, variant.Value{})
				continue
			}
			doc := g.doc(4)
			if g.IntN(4) == 0 {
				require.Error(t, w.WriteJSON([]byte(doc+"]")))
			}
			v := mustJSON(t, doc)
			if g.IntN(2) == 0 {
				require.NoError(t, w.WriteJSON([]byte(doc)), "seed %d: %s into %s", seed, doc, s)
			} else {
				require.NoError(t, w.WriteValue(v))
			}
			want = append(want, v)
		}
		byOracle, err := oracleOfWriter(w)
		require.NoError(t, err, "seed %d: %s", seed, s)
		for _, known := range []bool{false, true} {
			got, err := assembled(w, known)
			require.NoError(t, err, "seed %d: %s", seed, s)
			require.Len(t, got, len(want))
			for i := range want {
				require.Equal(t, want[i].IsMissing(), got[i].IsMissing())
				require.Equal(t, want[i].String(), byOracle[i].String(), "seed %d: oracle: %s", seed, s)
				require.Equal(t, want[i].String(), got[i].String(), "seed %d: %s", seed, s)
				if !want[i].IsMissing() {
					require.Equal(t, want[i].Metadata(), got[i].Metadata())
				}
			}
		}
	}
}
