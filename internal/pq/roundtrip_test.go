package pq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

// testNode makes a leaf.
func testNode(name string, rep leaf.Repetition, typ leaf.Type, set ...func(*leaf.Node)) *leaf.Node {
	n := &leaf.Node{Name: name, Repetition: rep, Type: typ}
	for _, f := range set {
		f(n)
	}
	return n
}

func testGroup(name string, rep leaf.Repetition, children ...*leaf.Node) *leaf.Node {
	return &leaf.Node{Name: name, Repetition: rep, Children: children}
}

// testBuffer fills a buffer of the leaf with random rows. distinct bounds the
// number of distinct values; 0 is no bound.
func testBuffer(r *rand.Rand, in leaf.Info, rows, distinct int, nulls float64) *leaf.Buffer {
	b := &leaf.Buffer{Info: in}
	for range rows {
		slots := 1
		if in.MaxRep > 0 {
			slots = 1 + r.IntN(4)
		}
		for s := range slots {
			def := in.MaxDef
			if in.MaxDef > 0 && r.Float64() < nulls {
				def = uint8(r.IntN(int(in.MaxDef)))
			}
			rep := uint8(0)
			if s > 0 {
				rep = 1 + uint8(r.IntN(int(in.MaxRep)))
				// A slot that continues a list has the list's element.
				def = max(def, rep)
			}
			if in.MaxDef > 0 {
				b.Def.Append(def, 1)
			}
			if in.MaxRep > 0 {
				b.Rep.Append(rep, 1)
			}
			b.Slots++
			if def == in.MaxDef {
				testValue(r, b, distinct)
			}
		}
	}
	return b
}

func testValue(r *rand.Rand, b *leaf.Buffer, distinct int) {
	v := r.Uint64() >> r.UintN(60)
	if distinct > 0 {
		v = uint64(r.IntN(distinct)) * 7919
	}
	if r.IntN(2) == 0 {
		v = -v
	}
	switch b.Node.Type {
	case leaf.Bool:
		b.Bools = append(b.Bools, v&3 == 1)
	case leaf.Int32:
		b.Int32s = append(b.Int32s, int32(v))
	case leaf.Int64:
		b.Int64s = append(b.Int64s, int64(v))
	case leaf.Float:
		b.Floats = append(b.Floats, float32(int64(v)))
	case leaf.Double:
		b.Doubles = append(b.Doubles, float64(int64(v))/3)
	case leaf.Bytes:
		b.AppendBytes([]byte(fmt.Sprintf("%x", v))[:min(int(v%7), 1+len(fmt.Sprintf("%x", v))/2)])
	case leaf.Fixed, leaf.Int96:
		x := make([]byte, plainWidth(b.Node))
		for i := range x {
			x[i] = byte(v >> (8 * (i % 8)))
		}
		if b.Node.Type == leaf.Int96 { // a Julian day of our time
			binary.LittleEndian.PutUint32(x[8:], 2_450_000+uint32(v%1000))
		}
		b.AppendBytes(x)
	case leaf.Group:
	}
}

// writeTest writes the buffers as row groups of one file.
func writeTest(t testing.TB, root *leaf.Node, opts WriterOptions, rows int, groups ...[]*leaf.Buffer) ([]byte, *FileMeta) {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, root, opts)
	require.NoError(t, err)
	for _, g := range groups {
		require.NoError(t, w.WriteRowGroup(g, rows))
	}
	meta, err := w.Close()
	require.NoError(t, err)
	require.EqualValues(t, out.Len(), meta.Size)
	return out.Bytes(), meta
}

func openTest(t testing.TB, file []byte, opts ReaderOptions) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(file), int64(len(file)), opts)
	require.NoError(t, err)
	return f
}

// expand lists the levels of runs.
func expand(l *leaf.Levels) []uint8 {
	var out []uint8
	for _, r := range l.Runs {
		for range r.N {
			out = append(out, r.Level)
		}
	}
	return out
}

// appendBatch adds a batch to a buffer, as the inverse of writing.
func appendBatch(b *leaf.Buffer, x *leaf.Batch) {
	for _, l := range x.Def {
		b.Def.Append(l, 1)
	}
	for _, l := range x.Rep {
		b.Rep.Append(l, 1)
	}
	b.Slots += x.Slots
	b.Bools = append(b.Bools, x.Bools...)
	b.Int32s = append(b.Int32s, x.Int32s...)
	b.Int64s = append(b.Int64s, x.Int64s...)
	b.Floats = append(b.Floats, x.Floats...)
	b.Doubles = append(b.Doubles, x.Doubles...)
	n := max(len(x.Offsets)-1, 0)
	if x.Dict != nil {
		n = len(x.Index)
	}
	for i := range n {
		b.AppendBytes(x.Bytes(i))
	}
}

// requireSameBuffer compares what was read with what was written.
func requireSameBuffer(t testing.TB, want, got *leaf.Buffer) {
	t.Helper()
	require.Equal(t, want.Slots, got.Slots)
	require.Equal(t, expand(&want.Def), expand(&got.Def))
	require.Equal(t, expand(&want.Rep), expand(&got.Rep))
	require.Equal(t, want.Values(), got.Values())
	require.Equal(t, want.Bools, got.Bools)
	require.Equal(t, appendNumberBits(nil, want), appendNumberBits(nil, got)) // NaN equals NaN
	require.True(t, bytes.Equal(want.Data, got.Data))
	require.Equal(t, want.Offsets, got.Offsets)
}

// readColumn reads a whole column in batches of the given number of rows.
func readColumn(t testing.TB, f *File, group, j, step int) *leaf.Buffer {
	t.Helper()
	got := &leaf.Buffer{Info: f.Leaves()[j]}
	c, err := f.Column(group, j)
	require.NoError(t, err)
	var b leaf.Batch
	for c.Remaining() > 0 {
		n := min(step, c.Remaining())
		require.NoError(t, c.Read(&b, n))
		require.Equal(t, n, b.Rows)
		appendBatch(got, &b)
	}
	return got
}

// everyType is a schema with each physical type required, optional and in a
// list.
func everyType() *leaf.Node {
	root := testGroup("schema", leaf.Required)
	for typ := leaf.Bool; typ <= leaf.Fixed; typ++ {
		fixed := func(n *leaf.Node) {
			if typ == leaf.Fixed {
				n.Width = 5
			}
		}
		root.Children = append(root.Children,
			testNode(fmt.Sprintf("r%d", typ), leaf.Required, typ, fixed),
			testNode(fmt.Sprintf("o%d", typ), leaf.Optional, typ, fixed),
			testGroup(fmt.Sprintf("l%d", typ), leaf.Optional, testGroup("list", leaf.Repeated, testNode("element", leaf.Optional, typ, fixed))),
			testGroup(fmt.Sprintf("d%d", typ), leaf.Optional, testGroup("list", leaf.Repeated,
				testGroup("element", leaf.Optional, testGroup("list", leaf.Repeated, testNode("element", leaf.Required, typ, fixed))))),
		)
	}
	return root
}

func TestRoundTrip(t *testing.T) {
	root := everyType()
	for _, codec := range []Codec{Zstd, Uncompressed, Snappy, Gzip, LZ4Raw} {
		for _, distinct := range []int{0, 1, 5, 300} {
			t.Run(fmt.Sprintf("%v/%d", codec, distinct), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(codec), uint64(distinct)))
				const rows = 600
				var groups [][]*leaf.Buffer
				for range 2 {
					var g []*leaf.Buffer
					for i, in := range root.Leaves() {
						g = append(g, testBuffer(r, in, rows, distinct, []float64{0, 0.05, 0.5, 1}[i%4]))
					}
					groups = append(groups, g)
				}
				for _, opts := range []WriterOptions{
					{Codec: codec},
					{Codec: codec, PageRows: 100, Workers: 2},
					{Codec: codec, PageBytes: 500, PlainOnly: true, DictionaryBytes: 64},
				} {
					file, _ := writeTest(t, root, opts, rows, groups...)
					f := openTest(t, file, ReaderOptions{FooterHint: 100})
					for g := range groups {
						for j := range groups[g] {
							requireSameBuffer(t, groups[g][j], readColumn(t, f, g, j, rows))
							requireSameBuffer(t, groups[g][j], readColumn(t, f, g, j, 77))
						}
					}
				}
			})
		}
	}
}
