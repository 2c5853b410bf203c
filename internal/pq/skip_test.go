package pq

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/race"
)

// rangeReader records the ranges that are asked for.
type rangeReader struct {
	io.ReaderAt
	mu     sync.Mutex
	ranges [][2]int64
}

func (r *rangeReader) ReadAt(p []byte, off int64) (int, error) {
	r.mu.Lock()
	r.ranges = append(r.ranges, [2]int64{off, int64(len(p))})
	r.mu.Unlock()
	return r.ReaderAt.ReadAt(p, off)
}

// slice returns rows from..to of a buffer, found by its levels.
func slice(b *leaf.Buffer, from, to int) *leaf.Buffer {
	out := &leaf.Buffer{Info: b.Info}
	def, rep := expand(&b.Def), expand(&b.Rep)
	row, value := -1, 0
	for i := range b.Slots {
		if b.MaxRep == 0 || rep[i] == 0 {
			row++
		}
		full := b.MaxDef == 0 || def[i] == b.MaxDef
		if row >= from && row < to {
			out.Slots++
			if b.MaxDef > 0 {
				out.Def.Append(def[i], 1)
			}
			if b.MaxRep > 0 {
				out.Rep.Append(rep[i], 1)
			}
			if full {
				appendValue(out, b, value)
			}
		}
		if full {
			value++
		}
	}
	return out
}

func appendValue(dst, b *leaf.Buffer, i int) {
	switch b.Node.Type {
	case leaf.Bool:
		dst.Bools = append(dst.Bools, b.Bools[i])
	case leaf.Int32:
		dst.Int32s = append(dst.Int32s, b.Int32s[i])
	case leaf.Int64:
		dst.Int64s = append(dst.Int64s, b.Int64s[i])
	case leaf.Float:
		dst.Floats = append(dst.Floats, b.Floats[i])
	case leaf.Double:
		dst.Doubles = append(dst.Doubles, b.Doubles[i])
	case leaf.Bytes, leaf.Fixed, leaf.Int96:
		dst.AppendBytes(b.Data[b.Offsets[i]:b.Offsets[i+1]])
	case leaf.Group:
	}
}

// TestSkip mixes reads and skips at random, with an offset index and without,
// over pages of all encodings.
func TestSkip(t *testing.T) {
	root := everyType()
	const rows = 500
	for _, opts := range []WriterOptions{
		{PageRows: 40}, {PageRows: 40, NoStatistics: true}, {PageRows: 40, PlainOnly: true, DictionaryBytes: -1, Codec: Uncompressed}, {},
	} {
		for _, distinct := range []int{0, 6} {
			t.Run(fmt.Sprintf("%+v/%d", opts, distinct), func(t *testing.T) {
				r := rand.New(rand.NewPCG(11, uint64(distinct)))
				var g []*leaf.Buffer
				for i, in := range root.Leaves() {
					g = append(g, testBuffer(r, in, rows, distinct, []float64{0, 0.1, 0.6}[i%3]))
				}
				data, _ := writeTest(t, root, opts, rows, g)
				f := openTest(t, data, ReaderOptions{FooterHint: -1})
				for j, b := range g {
					for range 3 {
						requireSkips(t, r, f, j, b, rows)
					}
				}
			})
		}
	}
}

func requireSkips(t *testing.T, r *rand.Rand, f *File, j int, b *leaf.Buffer, rows int) {
	t.Helper()
	c, err := f.Column(0, j)
	require.NoError(t, err)
	var batch leaf.Batch
	for row := 0; row < rows; {
		require.Equal(t, rows-row, c.Remaining())
		n := min(r.IntN(r.IntN(150)+1), rows-row)
		if r.IntN(2) == 0 {
			require.NoError(t, c.Skip(n))
		} else {
			require.NoError(t, c.Read(&batch, n))
			got := &leaf.Buffer{Info: b.Info}
			appendBatch(got, &batch)
			requireSameBuffer(t, slice(b, row, row+n), got)
		}
		row += n
	}
}

// flatColumns makes n required Int64 columns of distinct numbers.
func flatColumns(n, rows int) (*leaf.Node, []*leaf.Buffer) {
	root := testGroup("schema", leaf.Required)
	for i := range n {
		root.Children = append(root.Children, testNode(fmt.Sprint("c", i), leaf.Required, leaf.Int64))
	}
	r := rand.New(rand.NewPCG(1, 2))
	var g []*leaf.Buffer
	for _, in := range root.Leaves() {
		b := &leaf.Buffer{Info: in, Slots: rows}
		for range rows {
			b.Int64s = append(b.Int64s, int64(r.Uint64()))
		}
		g = append(g, b)
	}
	return root, g
}

// TestBytesRead_OneColumnOfFifty: one column costs its own chunk and no other byte.
func TestBytesRead_OneColumnOfFifty(t *testing.T) {
	root, g := flatColumns(50, 1000)
	data, _ := writeTest(t, root, WriterOptions{}, 1000, g)
	r := &rangeReader{ReaderAt: bytes.NewReader(data)}
	f, err := Open(r, int64(len(data)), ReaderOptions{FooterHint: -1})
	require.NoError(t, err)
	open := f.Stats()
	require.EqualValues(t, 2, open.Requests, "the footer's length, then the footer")
	c, err := f.Column(0, 17)
	require.NoError(t, err)
	require.Equal(t, open, f.Stats(), "nothing is read before it is needed")
	require.NoError(t, c.Read(&leaf.Batch{}, 1000))
	chunk := f.RowGroup(0).Column(17)
	s := f.Stats()
	require.Equal(t, chunk.Size, s.PageBytes)
	require.Equal(t, open.BytesRead+chunk.Size, s.BytesRead)
	require.EqualValues(t, 3, s.Requests)
	require.Equal(t, []int{17}, s.Columns)
	require.Equal(t, [2]int64{chunk.Offset, chunk.Size}, r.ranges[2])
}

// TestBytesRead_SkippedPages: with an offset index, a skip costs no byte of the
// pages that it passes.
func TestBytesRead_SkippedPages(t *testing.T) {
	root, g := flatColumns(2, 1000)
	data, _ := writeTest(t, root, WriterOptions{PageRows: 100}, 1000, g)
	f := openTest(t, data, ReaderOptions{FooterHint: len(data) / 4}) // the indexes come with the footer
	x, err := f.PageIndex(0, 0)
	require.NoError(t, err)
	require.Len(t, x.Pages, 10)
	before := f.Stats()
	c, err := f.Column(0, 0)
	require.NoError(t, err)
	var b leaf.Batch
	require.NoError(t, c.Skip(310))
	require.NoError(t, c.Skip(40))
	require.NoError(t, c.Read(&b, 10))
	require.Equal(t, g[0].Int64s[350:360], b.Int64s)
	require.NoError(t, c.Skip(440)) // to the start of page 8
	require.NoError(t, c.Read(&b, 100))
	require.Equal(t, g[0].Int64s[800:900], b.Int64s)
	require.NoError(t, c.Skip(100))
	s := f.Stats()
	require.Equal(t, x.Pages[3].Size+x.Pages[8].Size, s.PageBytes-before.PageBytes)
	require.EqualValues(t, 2, s.PagesRead)
	require.EqualValues(t, 7, s.PagesSkipped)
}

// TestOpen_FooterHint: a hint that covers the footer makes one request of it,
// and what lies in the hint is never read twice.
func TestOpen_FooterHint(t *testing.T) {
	root, g := flatColumns(3, 500)
	data, _ := writeTest(t, root, WriterOptions{}, 500, g)
	for _, hint := range []int{-1, 8, 100, 600, 5000, 1 << 20} {
		f := openTest(t, data, ReaderOptions{FooterHint: hint})
		for j := range g {
			require.Equal(t, g[j].Int64s, readColumn(t, f, 0, j, 500).Int64s)
			_, err := f.PageIndex(0, j)
			require.NoError(t, err)
		}
		s := f.Stats()
		require.LessOrEqual(t, s.BytesRead, int64(len(data)))
		if hint > len(data) {
			require.EqualValues(t, 1, s.Requests)
			require.EqualValues(t, len(data), s.BytesRead)
		}
	}
}

// TestReadAhead: a chunk is read in pieces of the option's size, each byte once.
func TestReadAhead(t *testing.T) {
	root, g := flatColumns(1, 20_000)
	data, _ := writeTest(t, root, WriterOptions{PageRows: 700, Codec: Uncompressed}, 20_000, g)
	f := openTest(t, data, ReaderOptions{FooterHint: -1, ReadAhead: 10_000})
	require.Equal(t, g[0].Int64s, readColumn(t, f, 0, 0, 999).Int64s)
	require.Equal(t, f.RowGroup(0).Column(0).Size, f.Stats().PageBytes)
}

// TestConcurrentColumns reads all columns of one File at the same time.
func TestConcurrentColumns(t *testing.T) {
	root, g := flatColumns(8, 3000)
	data, _ := writeTest(t, root, WriterOptions{PageRows: 500, Workers: 4}, 3000, g)
	f := openTest(t, data, ReaderOptions{})
	var wg sync.WaitGroup
	for j := range g {
		wg.Go(func() {
			c, err := f.Column(0, j)
			if err == nil {
				var b leaf.Batch
				err = c.Read(&b, 3000)
				if err == nil && b.Int64s[2999] != g[j].Int64s[2999] {
					err = ErrCorrupt
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, f.Stats().Columns, 8)
}

// TestAllocations: a warm reader and a warm writer allocate per page and per
// file, never per value.
func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools lose their contents under the race detector")
	}
	root, g := flatColumns(1, 50_000)
	data, _ := writeTest(t, root, WriterOptions{}, 50_000, g)
	f := openTest(t, data, ReaderOptions{})
	var b leaf.Batch
	c, err := f.Column(0, 0)
	require.NoError(t, err)
	require.NoError(t, c.Read(&b, 1000))
	allocs := testing.AllocsPerRun(18, func() { // within the first page
		if err := c.Read(&b, 1000); err != nil {
			t.Fatal(err)
		}
	})
	require.Zero(t, allocs)
	w, err := NewWriter(io.Discard, root, WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.WriteRowGroup(g, 50_000))
	allocs = testing.AllocsPerRun(5, func() {
		if err := w.WriteRowGroup(g, 50_000); err != nil {
			t.Fatal(err)
		}
	})
	require.Less(t, allocs, 60.0, "three pages")
}
