package shred

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/internal/tradegen"
	"github.com/frazil/frazil/variant"
)

// parquetFile is an open file with one Variant column.
type parquetFile struct {
	*pq.File
	group *leaf.Node
}

// writeFile writes documents, nil for SQL NULL, in row groups of a few rows.
func writeFile(t testing.TB, s *Schema, docs [][]byte, perGroup int, o pq.WriterOptions) *parquetFile {
	t.Helper()
	return writeRows(t, s, len(docs), perGroup, o, func(w *Writer, i int) error {
		if docs[i] == nil {
			return w.WriteNull()
		}
		return w.WriteJSON(docs[i])
	})
}

func writeRows(t testing.TB, s *Schema, n, perGroup int, o pq.WriterOptions, write func(w *Writer, i int) error) *parquetFile {
	t.Helper()
	w := NewWriter(s, WriterOptions{Name: "v", Optional: true, FieldID: 3})
	var out bytes.Buffer
	f, err := pq.NewWriter(&out, &leaf.Node{Name: "table", Children: []*leaf.Node{w.Group()}}, o)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, write(w, i))
		if w.Rows() == perGroup || i == n-1 {
			require.NoError(t, f.WriteRowGroup(w.Buffers(), w.Rows()))
			w.Reset()
		}
	}
	_, err = f.Close()
	require.NoError(t, err)
	in, err := pq.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), pq.ReaderOptions{})
	require.NoError(t, err)
	group, first := groupOf(in, "v")
	require.Zero(t, first)
	return &parquetFile{in, group}
}

// scan reads columns in batches of the given size and calls fn for each batch.
func (f *parquetFile) scan(t testing.TB, group, size int, columns []int, fn func(b []*leaf.Batch, rows int)) {
	t.Helper()
	readers := make([]*pq.ColumnReader, len(columns))
	batches := make([]*leaf.Batch, len(columns))
	for i, c := range columns {
		r, err := f.Column(group, c)
		require.NoError(t, err)
		readers[i], batches[i] = r, &leaf.Batch{}
	}
	for left := int(f.RowGroup(group).Rows); left > 0; left -= size {
		n := min(left, size)
		for i, r := range readers {
			require.NoError(t, r.Read(batches[i], n))
		}
		fn(batches, n)
	}
}

func (f *parquetFile) allNull(group int) func(int) bool {
	return func(c int) bool { return f.RowGroup(group).Column(c).AllNull() }
}

func (f *parquetFile) values(t testing.TB, size int) (out []variant.Value) {
	t.Helper()
	for g := range f.RowGroups() {
		a, err := NewAssembler(f.group, Context{}, f.allNull(g))
		require.NoError(t, err)
		f.scan(t, g, size, a.Columns(), func(b []*leaf.Batch, rows int) {
			require.NoError(t, a.Assemble(b, rows, func(_ int, v variant.Value) error {
				out = append(out, v.Clone())
				return nil
			}))
		})
	}
	return out
}

func (f *parquetFile) answers(t testing.TB, size int, req Request) (out []string) {
	t.Helper()
	for g := range f.RowGroups() {
		p, err := Project(f.group, Context{}, []Request{req}, f.allNull(g))
		require.NoError(t, err)
		r := p.NewReader(nil)
		f.scan(t, g, size, p.Columns(), func(b []*leaf.Batch, rows int) {
			arrays, err := r.Read(b, rows)
			require.NoError(t, err)
			out = append(out, render(t, arrays[0], req.Type)...)
			arrays[0].Release()
		})
	}
	return out
}

// TestProperty_ThroughParquet_S11_S20 writes random documents under random
// schemas to files: what is read, whole or by path, is what the plain column gives,
// also after the file was read whole and written again under another schema.
func TestProperty_ThroughParquet_S11_S20(t *testing.T) {
	for seed := range uint64(60) {
		g := generator{rand.New(rand.NewPCG(seed, 6))}
		var docs [][]byte
		for range 40 {
			if g.IntN(10) == 0 {
				docs = append(docs, nil)
			} else {
				docs = append(docs, []byte(g.doc(4)))
			}
		}
		options := pq.WriterOptions{PageRows: 1 + g.IntN(20), NoStatistics: g.IntN(3) == 0, PlainOnly: g.IntN(2) == 0}
		plain := writeFile(t, &Schema{}, docs, 100, pq.WriterOptions{})
		s := g.schema(4)
		f := writeFile(t, s, docs, 1+g.IntN(40), options)
		own, err := FromGroup(f.group)
		require.NoError(t, err)
		require.True(t, s.Equal(own), "%s and %s", s, own)
		values := f.values(t, 1+g.IntN(20))
		require.Len(t, values, len(docs))
		for i, v := range values {
			if docs[i] == nil {
				require.True(t, v.IsMissing())
				continue
			}
			require.Equal(t, mustJSON(t, string(docs[i])).String(), v.String(), "seed %d", seed)
		}
		rewritten := writeRows(t, g.schema(4), len(values), 100, options, func(w *Writer, i int) error { return w.WriteValue(values[i]) })
		for range 8 {
			typ, err := variant.ParseType(someTypes[g.IntN(len(someTypes)-1)])
			require.NoError(t, err)
			req := Request{Path: g.path(), Type: typ, Try: true}
			want := plain.answers(t, 100, req)
			require.Equal(t, want, f.answers(t, 1+g.IntN(20), req), "seed %d: %s as %s from %s", seed, req.Path, typ, s)
			require.Equal(t, want, rewritten.answers(t, 7, req), "seed %d: %s as %s rewritten", seed, req.Path, typ)
		}
	}
}

// TestFile_S34_BytesAndColumns counts what five paths of pricing vectors read.
func TestFile_S34_BytesAndColumns(t *testing.T) {
	texts := tradegen.PricingVectors(5000, 1)
	i := NewInferer(InferOptions{})
	for _, text := range texts {
		require.NoError(t, i.AddJSON(text))
	}
	f := writeFile(t, i.Schema(), texts, len(texts), pq.WriterOptions{})
	before := f.Stats()
	require.Empty(t, before.Columns)
	p, err := Project(f.group, Context{}, benchPaths(t), f.allNull(0))
	require.NoError(t, err)
	require.Len(t, p.Columns(), 5, "no residual, and no metadata")
	size := int64(0)
	for _, c := range p.Columns() {
		size += f.RowGroup(0).Column(c).Size
	}
	f.scan(t, 0, 1000, p.Columns(), func([]*leaf.Batch, int) {})
	after := f.Stats()
	require.Equal(t, p.Columns(), after.Columns)
	require.Equal(t, size, after.PageBytes-before.PageBytes)
	require.Less(t, size/int64(len(texts)), int64(23))
}
