package shred

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

func mustParse(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Parse(text)
	require.NoError(t, err)
	return s
}

func mustJSON(t testing.TB, text string) variant.Value {
	t.Helper()
	v, err := variant.ParseJSON([]byte(text))
	require.NoError(t, err, text)
	return v.Clone()
}

// batchOf gives a buffer as a reader would deliver it.
func batchOf(b *leaf.Buffer, rows int) *leaf.Batch {
	out := &leaf.Batch{Info: b.Info, Rows: rows, Slots: b.Slots, Nulls: b.Slots - b.Values()}
	if b.MaxDef > 0 {
		out.Def = expand(&b.Def, b.Slots)
	}
	if b.MaxRep > 0 {
		out.Rep = expand(&b.Rep, b.Slots)
	}
	out.Bools, out.Int32s, out.Int64s = b.Bools, b.Int32s, b.Int64s
	out.Floats, out.Doubles = b.Floats, b.Doubles
	if b.Indexed {
		out.Dict = &leaf.Dict{Offsets: b.Offsets, Data: b.Data}
		for _, i := range b.Index {
			out.Index = append(out.Index, int32(i))
		}
		return out
	}
	out.Offsets, out.Data = b.Offsets, b.Data
	return out
}

// allNull tells which columns of a writer hold nothing.
func allNull(buffers []*leaf.Buffer) func(int) bool {
	return func(c int) bool { return buffers[c].Values() == 0 }
}

// pickBatches gives the batches of the columns of a plan.
func pickBatches(buffers []*leaf.Buffer, columns []int, rows int) []*leaf.Batch {
	var out []*leaf.Batch
	for _, c := range columns {
		out = append(out, batchOf(buffers[c], rows))
	}
	return out
}

// assembled reads whole values out of a writer's buffers.
func assembled(w *Writer, known bool) ([]variant.Value, error) {
	buffers := w.Buffers()
	var f func(int) bool
	if known {
		f = allNull(buffers)
	}
	a, err := NewAssembler(w.Group(), Context{}, f)
	if err != nil {
		return nil, err
	}
	var out []variant.Value
	err = a.Assemble(pickBatches(buffers, a.Columns(), w.Rows()), w.Rows(), func(_ int, v variant.Value) error {
		if !v.IsMissing() {
			if err := v.Validate(); err != nil {
				return err
			}
		}
		out = append(out, v.Clone())
		return nil
	})
	return out, err
}

// extract reads requests out of a writer's buffers.
func extract(w *Writer, reqs []Request) ([]arrow.Array, error) {
	buffers := w.Buffers()
	p, err := Project(w.Group(), Context{}, reqs, allNull(buffers))
	if err != nil {
		return nil, err
	}
	return p.NewReader(nil).Read(pickBatches(buffers, p.Columns(), w.Rows()), w.Rows())
}

// generator makes random documents that share few names, so that schemas fit
// them in part.
type generator struct {
	*rand.Rand
}

var someNames = []string{"a", "b", "c", "", " ", "a.b", "value", "typed_value", "metadata", "list", "element", "é", "naïve\"'`"}

func (g generator) name() string {
	if g.IntN(3) == 0 {
		return someNames[g.IntN(len(someNames))]
	}
	return someNames[g.IntN(3)]
}

func (g generator) doc(depth int) string {
	n := 14
	if depth <= 0 {
		n = 10
	}
	switch g.IntN(n) {
	case 0:
		return "null"
	case 1:
		return []string{"true", "false"}[g.IntN(2)]
	case 2:
		return fmt.Sprint(g.IntN(300) - 150)
	case 3:
		return fmt.Sprint(g.Int64() - 1<<62)
	case 4:
		return fmt.Sprintf("%d.%02d", g.IntN(2000)-1000, g.IntN(100))
	case 5:
		return []string{"1.0", "2.50", "0.00", "0.05", "123456789012.5", "12345678901234567890123.25", "-99999999999999999999999999999999999999"}[g.IntN(7)]
	case 6:
		return []string{"1e0", "5.2e-05", "1e300", "-2.5E2"}[g.IntN(4)]
	case 7, 8:
		return []string{`"x"`, `""`, `"2026-07-01"`, `"1"`, `"a long text of more than sixty-four bytes, so that its header is not short any more"`}[g.IntN(5)]
	case 9:
		return []string{`{}`, `[]`}[g.IntN(2)]
	case 10, 11:
		var parts []string
		for range g.IntN(4) {
			parts = append(parts, g.doc(depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	seen := map[string]bool{}
	var parts []string
	for range g.IntN(5) {
		if name := g.name(); !seen[name] {
			seen[name] = true
			parts = append(parts, fmt.Sprintf("%q:%s", name, g.doc(depth-1)))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (g generator) schema(depth int) *Schema {
	n := 12
	if depth <= 0 {
		n = 8
	}
	leaves := []string{"int", "bigint", "tinyint", "smallint", "double", "string", "boolean", "decimal(9,2)", "decimal(18,2)", "decimal(38,2)", "decimal(38,0)", "date", "float"}
	switch k := g.IntN(n); {
	case k == 0:
		return &Schema{}
	case k < 8:
		s, _ := Parse(leaves[g.IntN(len(leaves))])
		return s
	case k < 9:
		return ListOf(g.schema(depth - 1))
	}
	seen := map[string]bool{}
	var fields []Field
	for range 1 + g.IntN(4) {
		if name := g.name(); !seen[name] {
			seen[name] = true
			fields = append(fields, Field{name, g.schema(depth - 1)})
		}
	}
	return ObjectOf(fields)
}

// bufferAt returns the buffer of a path below the group, such as
// "typed_value/a/value".
func bufferAt(t *testing.T, w *Writer, path string) *leaf.Buffer {
	t.Helper()
	for _, b := range w.Buffers() {
		if strings.Join(b.Path[1:], "/") == path {
			return b
		}
	}
	require.Fail(t, "no column", path)
	return nil
}

func bytesAt(b *leaf.Buffer, i int) []byte { return b.Data[b.Offsets[i]:b.Offsets[i+1]] }

func write(t *testing.T, schema string, rows ...string) *Writer {
	t.Helper()
	w := NewWriter(mustParse(t, schema), WriterOptions{Optional: true})
	for _, r := range rows {
		require.NoError(t, w.WriteJSON([]byte(r)))
	}
	return w
}

// readBack requires that the assembler and the oracle give the rows back.
func readBack(t *testing.T, w *Writer, rows ...string) {
	t.Helper()
	got, err := assembled(w, true)
	require.NoError(t, err)
	byOracle, err := oracleOfWriter(w)
	require.NoError(t, err)
	require.Len(t, got, len(rows))
	for i, r := range rows {
		want := mustJSON(t, r).String()
		require.Equal(t, want, got[i].String())
		require.Equal(t, want, byOracle[i].String())
	}
}

func scalarValue(s variant.Scalar) variant.Value {
	return variant.Unchecked(variant.AppendMetadata(nil, nil), variant.AppendScalar(nil, &s))
}

func request(t testing.TB, path, typ string, try bool) Request {
	t.Helper()
	p, err := variant.ParsePath(path)
	require.NoError(t, err)
	ty, err := variant.ParseType(typ)
	require.NoError(t, err)
	return Request{Path: p, Type: ty, Try: try}
}

func quote(s string) string {
	b, _ := variant.AppendJSON(nil, scalarValue(variant.Scalar{Kind: variant.KindString, Bytes: []byte(s)}))
	return string(b)
}

func variantType() variant.Type { return variant.Type{} }

func nullsOf(arr interface {
	IsNull(int) bool
	Len() int
},
) (out []bool) {
	for i := range arr.Len() {
		out = append(out, arr.IsNull(i))
	}
	return out
}
