package shred

import (
	"fmt"
	"math/rand/v2"
	"strings"
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

// S14: names are nodes, not text: odd ones change nothing.
func TestWriter_S14_OddKeys(t *testing.T) {
	keys := []string{"", " ", "a.b", "value", "typed_value", "metadata", "list", "element", "é", "日本", strings.Repeat("k", 300), "`", "'", `"`, "\n", "a", "b"}
	var rows []string
	for i := range 30 {
		var parts []string
		for k, key := range keys {
			parts = append(parts, fmt.Sprintf("%s:{%s:%d}", quote(key), quote(keys[(k+i)%len(keys)]), i))
		}
		rows = append(rows, "{"+strings.Join(parts, ",")+"}")
	}
	i := NewInferer(InferOptions{MinFrequency: -1})
	for _, r := range rows {
		require.NoError(t, i.AddJSON([]byte(r)))
	}
	s := i.Schema()
	require.Equal(t, len(keys)*len(keys), s.Leaves())
	require.True(t, s.Equal(mustParse(t, s.String())))
	w := write(t, s.String(), rows...)
	readBack(t, w, rows...)
	for _, b := range w.Buffers() {
		if b.Node.Name == "value" {
			require.Zero(t, b.Values(), "%q", b.Path)
		}
	}
	for _, key := range keys {
		path := variant.NewPath(variant.Step{Name: key}, variant.Step{Name: key})
		ty, _ := variant.ParseType("int")
		out, err := extract(w, []Request{{Path: path, Type: ty}})
		require.NoError(t, err)
		require.False(t, out[0].IsNull(0), "%q", key)
	}
}

// S15: an array element that is null is a Variant null in value, a missing field
// is two nulls, SQL NULL is no group; by physical columns.
func TestWriter_S15_PhysicalNulls(t *testing.T) {
	w := NewWriter(mustParse(t, "struct<a int, l list<int>>"), WriterOptions{Optional: true})
	require.NoError(t, w.WriteNull())
	for _, r := range []string{`null`, `{}`, `{"a":null}`, `{"a":1,"l":[]}`, `{"l":[null,7]}`} {
		require.NoError(t, w.WriteJSON([]byte(r)))
	}
	levels := func(path string) []uint8 {
		b := bufferAt(t, w, path)
		return expand(&b.Def, b.Slots)
	}
	require.Equal(t, []uint8{0, 1, 1, 1, 1, 1}, levels("metadata"))
	require.Equal(t, []uint8{0, 2, 1, 1, 1, 1}, levels("value"))
	require.Equal(t, []uint8{0, 1, 2, 3, 2, 2}, levels("typed_value/a/value"))
	require.Equal(t, []uint8{0, 1, 2, 2, 3, 2}, levels("typed_value/a/typed_value"))
	require.Equal(t, []uint8{0, 1, 2, 2, 3, 5, 4}, levels("typed_value/l/typed_value/list/element/value"))
	require.Equal(t, []uint8{0, 1, 2, 2, 3, 4, 5}, levels("typed_value/l/typed_value/list/element/typed_value"))
	rep := bufferAt(t, w, "typed_value/l/typed_value/list/element/typed_value")
	require.Equal(t, []uint8{0, 0, 0, 0, 0, 0, 1}, expand(&rep.Rep, rep.Slots))
	require.Equal(t, []byte{0}, bytesAt(bufferAt(t, w, "typed_value/a/value"), 0))
	require.Equal(t, []byte{0}, bytesAt(bufferAt(t, w, "typed_value/l/typed_value/list/element/value"), 0))
	required := NewWriter(&Schema{}, WriterOptions{})
	require.Error(t, required.WriteNull())
	require.Zero(t, required.Rows())
}
