package shred

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/variant"
)

// disordered encodes a value with the fields of its objects in random order, over
// the ids that id gives.
func disordered(g *rand.Rand, v variant.Value, id func(name string) int) []byte {
	var ids []int
	var children [][]byte
	switch v.Kind() {
	case variant.KindObject:
		for name, child := range v.Fields() {
			ids = append(ids, id(name))
			children = append(children, disordered(g, child, id))
		}
		g.Shuffle(len(ids), func(i, j int) {
			ids[i], ids[j] = ids[j], ids[i]
			children[i], children[j] = children[j], children[i]
		})
	case variant.KindArray:
		for _, child := range v.Elements() {
			children = append(children, disordered(g, child, id))
		}
	default:
		return v.Bytes()
	}
	body := bytes.Join(children, nil)
	head := byte(basicArray | 3<<2)
	if v.Kind() == variant.KindObject {
		head = basicObject | 3<<2
	}
	out := []byte{head, byte(len(children))}
	for _, id := range ids {
		out = append(out, byte(id))
	}
	at := 0
	for i := range len(children) + 1 {
		out = append(out, byte(at), byte(at>>8), 0, 0)
		if i < len(children) {
			at += len(children[i])
		}
	}
	return append(out, body...)
}

// shuffled returns a dictionary of some names in random order, or in order.
func shuffled(g *rand.Rand, names []string, inOrder bool) []byte {
	if inOrder {
		return variant.AppendMetadata(nil, names)
	}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	out := []byte{1, byte(len(names)), 0}
	at := 0
	for _, n := range names {
		at += len(n)
		out = append(out, byte(at))
	}
	return append(out, strings.Join(names, "")...)
}

// disorder gives the buffers of a writer as a careless engine would have written
// them: dictionaries and the objects of residuals in any order.
func disorder(t *testing.T, g *rand.Rand, w *Writer) []*leaf.Buffer {
	t.Helper()
	var out []*leaf.Buffer
	for _, b := range w.Buffers() {
		c := *b
		out = append(out, &c)
	}
	metaColumn := w.file.meta
	old := w.Buffers()[metaColumn]
	var before, after []*variant.Metadata
	out[metaColumn].Data, out[metaColumn].Offsets = nil, nil
	for i := range max(len(old.Offsets)-1, 0) {
		m, err := variant.ParseMetadata(bytesAt(old, i))
		require.NoError(t, err)
		var names []string
		for id := range m.Len() {
			names = append(names, m.Name(id))
		}
		raw := shuffled(g, names, g.IntN(3) == 0)
		out[metaColumn].AppendBytes(raw)
		n, err := variant.ParseMetadata(raw)
		require.NoError(t, err)
		before, after = append(before, m), append(after, n)
	}
	out[metaColumn].Slots, out[metaColumn].Index = old.Slots, old.Index
	ranks := metaRanks(old)
	for c, b := range w.Buffers() {
		if c == metaColumn || b.Path[len(b.Path)-1] != valueName {
			continue
		}
		out[c].Data, out[c].Offsets, out[c].Slots = nil, nil, 0
		row, k := -1, 0
		rep := expand(&b.Rep, b.Slots)
		for slot, def := range expand(&b.Def, b.Slots) {
			if rep[slot] == 0 {
				row++
			}
			if def != b.MaxDef {
				continue
			}
			i := old.Index[ranks[row]]
			v := variant.Unchecked(before[i].Bytes(), bytesAt(b, k))
			k++
			out[c].AppendBytes(disordered(g, v, func(name string) int {
				id, ok := after[i].ID(name)
				require.True(t, ok)
				return id
			}))
		}
		out[c].Slots = b.Slots
	}
	return out
}

// metaRanks returns the metadata value of each row, -1 where the row is SQL NULL.
func metaRanks(b *leaf.Buffer) (ranks []int) {
	n := 0
	for _, def := range expand(&b.Def, b.Slots) {
		if def == b.MaxDef {
			ranks = append(ranks, n)
			n++
		} else {
			ranks = append(ranks, -1)
		}
	}
	return ranks
}

// TestProperty_FieldsOutOfOrder: what is read from residuals whose fields are in
// any order, over dictionaries in any order, is what is read from those in order,
// and every value that is handed out is a valid Variant. DuckDB before 2.0 writes
// such files.
func TestProperty_FieldsOutOfOrder(t *testing.T) {
	for seed := range uint64(200) {
		g := generator{rand.New(rand.NewPCG(seed, 11))}
		w := NewWriter(g.schema(3), WriterOptions{Optional: true})
		for range 15 {
			if g.IntN(10) == 0 {
				require.NoError(t, w.WriteNull())
				continue
			}
			require.NoError(t, w.WriteJSON([]byte(g.doc(4))))
		}
		want, err := assembled(w, false)
		require.NoError(t, err)
		buffers := disorder(t, g.Rand, w)
		a, err := NewAssembler(w.Group(), Context{}, allNull(buffers))
		require.NoError(t, err)
		err = a.Assemble(pickBatches(buffers, a.Columns(), w.Rows()), w.Rows(), func(row int, v variant.Value) error {
			if !v.IsMissing() {
				require.NoError(t, v.Validate(), "seed %d", seed)
			}
			require.Equal(t, want[row].String(), v.String(), "seed %d", seed)
			return nil
		})
		require.NoError(t, err, "seed %d", seed)
		for range 10 {
			typ, err := variant.ParseType(someTypes[g.IntN(len(someTypes)-1)])
			require.NoError(t, err)
			req := Request{Path: g.path(), Type: typ, Try: true}
			answers, err := extract(w, []Request{req})
			require.NoError(t, err)
			p, err := Project(w.Group(), Context{}, []Request{req}, allNull(buffers))
			require.NoError(t, err)
			got, err := p.NewReader(nil).Read(pickBatches(buffers, p.Columns(), w.Rows()), w.Rows())
			require.NoError(t, err, "seed %d: %s", seed, req.Path)
			require.Equal(t, render(t, answers[0], typ), render(t, got[0], typ), "seed %d: %s as %s", seed, req.Path, typ)
		}
	}
}

// TestAssemble_DuckDBFieldsOutOfOrder: DuckDB 1.5.6 leaves the fields of objects in
// residuals in the order of the document. The documents are read, whole and by
// path, as valid Variants. testdata/README.md says how the file was made.
func TestAssemble_DuckDBFieldsOutOfOrder(t *testing.T) {
	data, err := os.ReadFile("testdata/duckdb-1.5.6.parquet")
	require.NoError(t, err)
	f, err := pq.Open(bytes.NewReader(data), int64(len(data)), pq.ReaderOptions{})
	require.NoError(t, err)
	group, _ := groupOf(f, "doc")
	file := &parquetFile{File: f, group: group}
	var texts []string
	for _, v := range file.values(t, 2) {
		require.NoError(t, v.Validate())
		texts = append(texts, v.String())
	}
	require.Equal(t, []string{
		`{"a":{"y":"x","z":1},"b":1,"m":[{"c":2,"q":1}]}`,
		`{"a":[{"c":{"aa":2,"zz":1},"k":1}],"b":"s","z":1}`,
		`{"b":2,"x":{"a":2,"b":1,"c":3}}`,
		`"scalar"`,
	}, texts)
	require.Equal(t, []string{`{"y":"x","z":1}`, `[{"c":{"aa":2,"zz":1},"k":1}]`, "NULL", "NULL"}, file.answers(t, 3, request(t, "$.a", "variant", false)))
	require.Equal(t, []string{"NULL", "NULL", "3", "NULL"}, file.answers(t, 3, request(t, "$.x.c", "int", false)))
	require.Equal(t, []string{"NULL", "2", "NULL", "NULL"}, file.answers(t, 3, request(t, "$.a[0].c.aa", "int", false)))
}

// TestAssemble_BadResiduals: what cannot be put in order is an error: a name that an
// object has twice, ids and offsets out of range, offsets that make few bytes an
// endless value, and more levels than values may have.
func TestAssemble_BadResiduals(t *testing.T) {
	meta := []byte{1, 3, 0, 1, 2, 3, 'b', 'a', 'b'}
	deep := []byte{0}
	for range variant.MaxDepth + 1 {
		n := len(deep)
		deep = append([]byte{basicArray | 3<<2, 1, 0, 0, 0, 0, byte(n), byte(n >> 8), byte(n >> 16), 0}, deep...)
	}
	overlap := []byte{0}
	for range 60 { // each level has the next one twice
		n := len(overlap)
		overlap = append([]byte{basicArray | 1<<2, 2, 0, 0, 0, 0, byte(n), byte(n >> 8)}, overlap...)
	}
	for name, value := range map[string][]byte{
		"twice":     {basicObject, 2, 0, 2, 0, 1, 2, 0, 0},
		"id":        {basicObject, 1, 3, 0, 1, 0},
		"offset":    {basicArray, 1, 9, 1, 0},
		"truncated": {basicObject, 9, 0},
		"deep":      deep,
		"overlap":   overlap,
	} {
		w := write(t, "variant", "1")
		buffers := w.Buffers()
		for c, raw := range [][]byte{meta, value} {
			buffers[c].Data, buffers[c].Offsets = raw, []uint32{0, uint32(len(raw))}
		}
		a, err := NewAssembler(w.Group(), Context{}, nil)
		require.NoError(t, err)
		err = a.Assemble(pickBatches(buffers, a.Columns(), 1), 1, func(_ int, v variant.Value) error { return v.Validate() })
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
}
