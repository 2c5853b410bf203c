package shred

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/variant"
)

const flatSchema = "struct<l list<struct<a int, b decimal(9,2), c double, d bigint, s string>>, " +
	"o struct<a int, b decimal(9,2), x decimal(9,3), y decimal(9,3)>>"

// flatDocument is of flatSchema: fields come and go, texts are short and long, and
// names outside of the schema change the ids of the others.
func flatDocument(g *rand.Rand) string {
	object := func(fields ...string) string {
		var kept []string
		for _, f := range fields {
			if g.IntN(3) > 0 {
				kept = append(kept, f)
			}
		}
		return "{" + strings.Join(kept, ",") + "}"
	}
	var elems []string
	for range g.IntN(4) {
		elems = append(elems, object(
			fmt.Sprintf(`"a":%d`, g.Int32()), fmt.Sprintf(`"b":%d.%02d`, g.IntN(1000), g.IntN(99)+1),
			`"c":1.5e-3`, fmt.Sprintf(`"d":%d`, g.Int64()), fmt.Sprintf(`"s":%q`, strings.Repeat("t", g.IntN(90)))))
	}
	doc := fmt.Sprintf(`{"l":[%s],"o":%s`, strings.Join(elems, ","), object(`"a":-5`, `"b":0.25`, `"x":1.125,"y":2.500`))
	if g.IntN(4) == 0 {
		doc += fmt.Sprintf(`,"%c":true`, 'A'+g.IntN(20))
	}
	return doc + "}"
}

// readWhole reads all rows of a file of one column in batches of some size.
func readWhole(t *testing.T, data []byte, w *Writer, size int, flats bool) (out []variant.Value) {
	f, err := pq.Open(bytes.NewReader(data), int64(len(data)), pq.ReaderOptions{})
	require.NoError(t, err)
	a, err := NewAssembler(w.Group(), Context{}, func(c int) bool { return f.RowGroup(0).Column(c).AllNull() })
	require.NoError(t, err)
	if !flats {
		a.a.tree = newTree(a.a.at, func(c int) bool { return a.r.plan.at[c] >= 0 }, true)
		a.a.asm = newAssembler(a.a.tree)
	}
	require.Equal(t, flats, len(a.a.tree.flats) > 0)
	columns := make([]*pq.ColumnReader, len(a.Columns()))
	batches := make([]*leaf.Batch, len(columns))
	for i, c := range a.Columns() {
		columns[i], err = f.Column(0, c)
		require.NoError(t, err)
		batches[i] = &leaf.Batch{}
	}
	for left := w.Rows(); left > 0; left -= size {
		n := min(left, size)
		for i := range columns {
			require.NoError(t, columns[i].Read(batches[i], n))
		}
		require.NoError(t, a.Assemble(batches, n, func(_ int, v variant.Value) error {
			out = append(out, v.Clone())
			return v.Validate()
		}))
	}
	return out
}

// TestFlat_SameBytes compares objects that were copied from templates with those
// that were put together field by field: more sets of fields and lengths than are
// kept, and groups that change from batch to batch.
func TestFlat_SameBytes(t *testing.T) {
	for seed := range uint64(6) {
		g := rand.New(rand.NewPCG(seed, 1))
		w := NewWriter(mustParse(t, flatSchema), WriterOptions{})
		var rows []variant.Value
		for range 400 {
			text := flatDocument(g)
			require.NoError(t, w.WriteJSON([]byte(text)))
			rows = append(rows, mustJSON(t, text))
		}
		data := fileOf(t, w, pq.WriterOptions{DictionaryBytes: -int(seed % 2)})
		for _, size := range []int{1, 7, 400} {
			got, want := readWhole(t, data, w, size, true), readWhole(t, data, w, size, false)
			require.Len(t, got, len(rows))
			for i := range rows {
				require.Equal(t, want[i].Bytes(), got[i].Bytes())
				require.Truef(t, variant.Equal(rows[i], got[i]), "%v, not %v", got[i], rows[i])
			}
		}
	}
}

// TestFlat_Corrupt refuses a number with more digits than its type and a name
// that the metadata lacks, at its path.
func TestFlat_Corrupt(t *testing.T) {
	w := write(t, "struct<o struct<a int, b decimal(9,2)>>", `{"o":{"a":1,"b":0.25}}`)
	b := bufferAt(t, w, "typed_value/o/typed_value/b/typed_value")
	for _, x := range []int32{1e9, -1e9, -1 << 31} {
		b.Int32s[0] = x
		_, err := assembled(w, true)
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, `$['o']['b']`)
	}
	for _, x := range []int32{1e9 - 1, 1 - 1e9} {
		b.Int32s[0] = x
		_, err := assembled(w, true)
		require.NoError(t, err)
	}
	meta := w.Buffers()[0]
	meta.Data = variant.AppendMetadata(nil, []string{"a", "o"})
	meta.Offsets = []uint32{0, uint32(len(meta.Data))}
	_, err := assembled(w, true)
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestFlat_ManyFields has more groups of fields than a mask has bits in some batches
// and one group in others.
func TestFlat_ManyFields(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 3))
	var schema []string
	for i := range 100 {
		schema = append(schema, fmt.Sprintf("f%d int", i))
	}
	w := NewWriter(mustParse(t, "struct<"+strings.Join(schema, ", ")+">"), WriterOptions{})
	var rows []variant.Value
	for row := range 120 {
		var fields []string
		for i := range 100 {
			if row >= 60 || g.IntN(2) > 0 {
				fields = append(fields, fmt.Sprintf(`"f%d":%d`, i, g.Int32()))
			}
		}
		text := "{" + strings.Join(fields, ",") + "}"
		require.NoError(t, w.WriteJSON([]byte(text)))
		rows = append(rows, mustJSON(t, text))
	}
	data := fileOf(t, w, pq.WriterOptions{})
	for _, size := range []int{20, 120} {
		got, want := readWhole(t, data, w, size, true), readWhole(t, data, w, size, false)
		for i := range rows {
			require.Equal(t, want[i].Bytes(), got[i].Bytes())
			require.True(t, variant.Equal(rows[i], got[i]))
		}
	}
}

// TestFlat_TemplatesAreBounded meets the bound of memory for templates amid rows that
// each have a dictionary of their own.
func TestFlat_TemplatesAreBounded(t *testing.T) {
	w := NewWriter(mustParse(t, "struct<o struct<a int, b int, c int>>"), WriterOptions{})
	var rows []variant.Value
	for row := range 200 {
		text := fmt.Sprintf(`{"o":{"%c":%d,"c":3},"x%03d":true}`, 'a'+row%2, row, row/2)
		require.NoError(t, w.WriteJSON([]byte(text)))
		rows = append(rows, mustJSON(t, text))
	}
	a, err := NewAssembler(w.Group(), Context{}, allNull(w.Buffers()))
	require.NoError(t, err)
	asm := a.a.asm
	asm.kept = maxTemplateBytes - 10_000
	for range 2 {
		err = a.Assemble(pickBatches(w.Buffers(), a.Columns(), w.Rows()), w.Rows(), func(row int, v variant.Value) error {
			require.True(t, variant.Equal(rows[row], v), "%v", v)
			require.Less(t, asm.kept, maxTemplateBytes+1)
			return nil
		})
		require.NoError(t, err)
	}
	require.Less(t, asm.kept, 1<<20, "templates were dropped once")
}
