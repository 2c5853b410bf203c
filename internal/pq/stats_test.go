package pq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

func decimalNode(typ leaf.Type, width, precision, scale int) func(*leaf.Node) {
	return func(n *leaf.Node) {
		n.Type, n.Width, n.Logical, n.Precision, n.Scale = typ, width, leaf.Decimal, precision, scale
	}
}

func annotated(l leaf.Logical) func(*leaf.Node) {
	return func(n *leaf.Node) { n.Logical = l }
}

func integerNode(bits int, signed bool) func(*leaf.Node) {
	return func(n *leaf.Node) { n.Logical, n.Bits, n.Signed = leaf.Integer, bits, signed }
}

// statisticsCase is a column and its extremes in plain encoding.
type statisticsCase struct {
	node   *leaf.Node
	fill   func(b *leaf.Buffer)
	lo, hi []byte // exact; nil for none
	nans   int
	// cutLo and cutHi are what the file holds when that is something else.
	cutLo, cutHi []byte
	noneInFile   bool
}

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func statisticsCases() []statisticsCase {
	texts := func(v ...string) func(*leaf.Buffer) {
		return func(b *leaf.Buffer) {
			for _, x := range v {
				b.AppendBytes([]byte(x))
			}
		}
	}
	negZero := math.Copysign(0, -1)
	long, longer := strings.Repeat("m", 100), strings.Repeat("z", 63)+"é…"
	req := leaf.Optional
	return []statisticsCase{
		{node: testNode("signed", req, leaf.Int32), fill: func(b *leaf.Buffer) { b.Int32s = []int32{-1, 5, 3} }, lo: le32(math.MaxUint32), hi: le32(5)},
		{node: testNode("unsigned", req, leaf.Int32, integerNode(32, false)), fill: func(b *leaf.Buffer) { b.Int32s = []int32{-1, 5, 3} }, lo: le32(3), hi: le32(math.MaxUint32)},
		{node: testNode("unsigned64", req, leaf.Int64, integerNode(64, false)), fill: func(b *leaf.Buffer) { b.Int64s = []int64{-1, 5, 3} }, lo: le64(3), hi: le64(math.MaxUint64)},
		{node: testNode("bool", req, leaf.Bool), fill: func(b *leaf.Buffer) { b.Bools = []bool{true, true} }, lo: []byte{1}, hi: []byte{1}},
		{node: testNode("double", req, leaf.Double), fill: func(b *leaf.Buffer) { b.Doubles = []float64{math.NaN(), 2, -3, math.NaN()} }, lo: plainDouble(-3), hi: plainDouble(2), nans: 2},
		{node: testNode("zeros", req, leaf.Double), fill: func(b *leaf.Buffer) { b.Doubles = []float64{0, negZero} }, lo: plainDouble(negZero), hi: plainDouble(0)},
		{node: testNode("zero", req, leaf.Float), fill: func(b *leaf.Buffer) { b.Floats = []float32{float32(negZero), -1} }, lo: plainFloat(-1), hi: plainFloat(0)},
		{node: testNode("nan", req, leaf.Float), fill: func(b *leaf.Buffer) { b.Floats = []float32{float32(math.NaN())} }, nans: 1},
		{node: testNode("infinite", req, leaf.Float), fill: func(b *leaf.Buffer) { b.Floats = []float32{float32(math.Inf(1)), float32(math.Inf(-1))} }, lo: plainFloat(float32(math.Inf(-1))), hi: plainFloat(float32(math.Inf(1)))},
		{node: testNode("bytes", req, leaf.Bytes), fill: texts("\x80", "\x7f", "a"), lo: []byte("a"), hi: []byte("\x80")},
		{node: testNode("empty", req, leaf.Bytes), fill: texts("", ""), lo: []byte{}, hi: []byte{}},
		{node: testNode("text", req, leaf.Bytes, annotated(leaf.String)), fill: texts(long, longer), lo: []byte(long), hi: []byte(longer), cutLo: []byte(long[:64]), cutHi: []byte(strings.Repeat("z", 62) + "{")},
		{node: testNode("binary", req, leaf.Bytes), fill: texts("a", "\xfe"+strings.Repeat("\xff", 99)), lo: []byte("a"), hi: []byte("\xfe" + strings.Repeat("\xff", 99)), cutHi: []byte("\xff")},
		{node: testNode("top", req, leaf.Bytes), fill: texts("a", strings.Repeat("\xff", 99)), lo: []byte("a"), hi: []byte(strings.Repeat("\xff", 99)), noneInFile: true},
		{node: testNode("d4", req, leaf.Int32, decimalNode(leaf.Int32, 0, 9, 2)), fill: func(b *leaf.Buffer) { b.Int32s = []int32{-7, 7} }, lo: le32(math.MaxUint32 - 6), hi: le32(7)},
		{node: testNode("d16", req, leaf.Fixed, decimalNode(leaf.Fixed, 3, 6, 0)), fill: texts("\xff\xff\xfe", "\x00\x00\x01", "\x80\x00\x00"), lo: []byte("\x80\x00\x00"), hi: []byte("\x00\x00\x01")},
		{node: testNode("dbytes", req, leaf.Bytes, decimalNode(leaf.Bytes, 0, 30, 0)), fill: texts("\x7f", "\x80\x00", "\x00\xff"), lo: []byte("\x80\x00"), hi: []byte("\x00\xff")},
		{node: testNode("uuid", req, leaf.Fixed, annotated(leaf.UUID), func(n *leaf.Node) { n.Width = 16 }), fill: texts(strings.Repeat("\xf0", 16), strings.Repeat("\x01", 16)), lo: []byte(strings.Repeat("\x01", 16)), hi: []byte(strings.Repeat("\xf0", 16))},
		{node: testNode("int96", req, leaf.Int96), fill: texts("abcdefghijkl")},
		{node: testNode("nulls", req, leaf.Int64), fill: func(*leaf.Buffer) {}},
	}
}

// TestStatistics checks the exact extremes in FileMeta and what is in the file,
// plain and dictionary encoded, with arrow-go's decoder of statistics as a
// second opinion.
func TestStatistics(t *testing.T) {
	for _, dictionary := range []int{0, -1} {
		for _, x := range statisticsCases() {
			t.Run(fmt.Sprintf("%s/%d", x.node.Name, dictionary), func(t *testing.T) {
				root := testGroup("schema", leaf.Required, x.node)
				b := &leaf.Buffer{Info: root.Leaves()[0]}
				x.fill(b)
				values := b.Values()
				b.Slots = values + 2
				b.Def.Append(1, values)
				b.Def.Append(0, 2)
				data, meta := writeTest(t, root, WriterOptions{DictionaryBytes: dictionary}, b.Slots, []*leaf.Buffer{b})
				m := meta.Columns[0]
				require.Equal(t, x.lo, m.Min)
				require.Equal(t, x.hi, m.Max)
				require.EqualValues(t, x.nans, m.NaNs)
				require.EqualValues(t, 2, m.Nulls)
				require.EqualValues(t, values+2, m.Slots)
				c := openTest(t, data, ReaderOptions{}).RowGroup(0).Column(0)
				require.True(t, c.NullsKnown)
				require.EqualValues(t, 2, c.Nulls)
				requireBounds(t, &x, c)
				requireArrowGoStatistics(t, data, c)
			})
		}
	}
}

func requireBounds(t *testing.T, x *statisticsCase, c *Chunk) {
	t.Helper()
	require.Equal(t, x.lo != nil && !x.noneInFile, c.HasMinMax)
	if !c.HasMinMax {
		return
	}
	require.Equal(t, x.cutLo == nil, c.MinExact)
	require.Equal(t, x.cutHi == nil, c.MaxExact)
	if x.cutLo == nil {
		x.cutLo = x.lo
	}
	if x.cutHi == nil {
		x.cutHi = x.hi
	}
	require.Equal(t, x.cutLo, c.Min)
	require.Equal(t, x.cutHi, c.Max)
}

func requireArrowGoStatistics(t *testing.T, data []byte, c *Chunk) {
	t.Helper()
	fr, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	col, err := fr.MetaData().RowGroup(0).ColumnChunk(0)
	require.NoError(t, err)
	s, err := col.Statistics()
	require.NoError(t, err)
	if s == nil {
		return
	}
	require.Equal(t, c.Nulls, s.NullCount())
	if c.HasMinMax && s.HasMinMax() {
		require.Equal(t, c.Min, s.EncodeMin())
		require.Equal(t, c.Max, s.EncodeMax())
	}
}

// TestPageIndex: fault S29's kind, and the page index against the values of
// each page, for every type, by our reader and by arrow-go's.
func TestPageIndex(t *testing.T) {
	root := everyType()
	const rows = 300
	r := rand.New(rand.NewPCG(31, 1))
	var g []*leaf.Buffer
	for i, in := range root.Leaves() {
		g = append(g, testBuffer(r, in, rows, []int{0, 5}[i%2], []float64{0, 0.3, 0.97, 1}[i%4]))
	}
	data, _ := writeTest(t, root, WriterOptions{PageRows: 30}, rows, g)
	f := openTest(t, data, ReaderOptions{})
	fr, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	for j, b := range g {
		requireTrueStatistics(t, f, 0, j, b)
		x, err := f.PageIndex(0, j)
		require.NoError(t, err)
		require.Len(t, x.Pages, 10)
		if b.Node.Type != leaf.Int96 {
			require.True(t, x.HasStats)
		}
		requireArrowGoIndex(t, fr, j, x)
	}
	for _, o := range []WriterOptions{{NoStatistics: true}} {
		data, meta := writeTest(t, root, o, rows, g)
		f := openTest(t, data, ReaderOptions{})
		for j := range g {
			x, err := f.PageIndex(0, j)
			require.NoError(t, err)
			require.Nil(t, x)
			c := f.RowGroup(0).Column(j)
			require.False(t, c.HasMinMax)
			require.True(t, c.NullsKnown)
			require.Nil(t, meta.Columns[j].Min)
		}
	}
}

func requireArrowGoIndex(t *testing.T, fr *file.Reader, j int, x *PageIndex) {
	t.Helper()
	rg, err := fr.GetPageIndexReader().RowGroup(0)
	require.NoError(t, err)
	oi, err := rg.GetOffsetIndex(j)
	require.NoError(t, err)
	for i, p := range oi.GetPageLocations() {
		require.Equal(t, x.Pages[i].Offset, p.Offset)
		require.EqualValues(t, x.Pages[i].Size, p.CompressedPageSize)
		require.Equal(t, x.Pages[i].FirstRow, p.FirstRowIndex)
	}
	ci, err := rg.GetColumnIndex(j)
	require.NoError(t, err)
	if ci == nil {
		require.False(t, x.HasStats)
		return
	}
	for i := range x.Pages {
		require.Equal(t, x.Pages[i].AllNull, ci.GetNullPages()[i])
		require.Equal(t, x.Pages[i].Nulls, ci.GetNullCounts()[i])
	}
}

// TestBoundaryOrder: ascending and descending columns say so, and pages of
// nulls do not disturb.
func TestBoundaryOrder(t *testing.T) {
	n := testNode("x", leaf.Optional, leaf.Int32)
	page := func(lo, hi int) pageMeta { return pageMeta{lo: le32(uint32(lo)), hi: le32(uint32(hi))} }
	require.Equal(t, 1, boundaryOrder(n, []pageMeta{page(-5, 1), {}, page(-5, 2), page(7, 8)}))
	require.Equal(t, 2, boundaryOrder(n, []pageMeta{page(7, 8), page(3, 8), {}, page(-1, 0)}))
	require.Equal(t, 0, boundaryOrder(n, []pageMeta{page(7, 8), page(3, 9)}))
}

// TestTruncate: a cut bound is still a bound, and a cut text is still text.
func TestTruncate(t *testing.T) {
	max := func(b string, n int, text bool) string {
		out, ok := truncateMax([]byte(b), n, text)
		if !ok {
			return "none"
		}
		return string(out)
	}
	require.Equal(t, "ab", string(truncateMin([]byte("abc"), 2, true)))
	require.Equal(t, "a", string(truncateMin([]byte("aéc"), 2, true)))
	require.Equal(t, "ac", max("abc", 2, true))
	require.Equal(t, "abc", max("abc", 3, true))
	require.Equal(t, "b", max("a\U0010ffffz", 5, true))
	require.Equal(t, "none", max("\U0010ffffz", 4, true))
	require.Equal(t, "\ue000", max("\ud7ffz", 3, true))
	require.Equal(t, "b", max("a\xff\xff", 2, false))
	require.Equal(t, "none", max("\xff\xff\xff", 2, false))
}

// TestCompareBigEndian against math/big.
func TestCompareBigEndian(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	number := func(b []byte) *big.Int {
		v := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return v
	}
	for range 5000 {
		a, b := make([]byte, 1+r.IntN(4)), make([]byte, 1+r.IntN(4))
		for i := range a {
			a[i] = []byte{0, 1, 0x7f, 0x80, 0xfe, 0xff}[r.IntN(6)]
		}
		for i := range b {
			b[i] = []byte{0, 1, 0x7f, 0x80, 0xfe, 0xff}[r.IntN(6)]
		}
		got := compareBigEndian(a, b)
		require.Equal(t, number(a).Cmp(number(b)), min(max(got, -1), 1), "%x %x", a, b)
	}
}

// TestForeignStatistics: bounds that cannot be meant are not offered.
func TestForeignStatistics(t *testing.T) {
	nan := plainDouble(math.NaN())
	for _, x := range []struct {
		name   string
		node   *leaf.Node
		raw    rawStatistics
		typed  bool
		usable bool
	}{
		{"order not declared", testNode("x", 0, leaf.Bytes), rawStatistics{min: []byte("a"), max: []byte("b")}, false, false},
		{"old bytes are signed", testNode("x", 0, leaf.Bytes), rawStatistics{oldMin: []byte("a"), oldMax: []byte("b")}, true, false},
		{"old ints are fine", testNode("x", 0, leaf.Int32), rawStatistics{oldMin: le32(1), oldMax: le32(2)}, false, true},
		{"old unsigned are not", testNode("x", 0, leaf.Int32, integerNode(32, false)), rawStatistics{oldMin: le32(1), oldMax: le32(2)}, true, false},
		{"NaN", testNode("x", 0, leaf.Double), rawStatistics{min: nan, max: plainDouble(1)}, true, false},
		{"wrong length", testNode("x", 0, leaf.Int64), rawStatistics{min: le32(1), max: le32(2)}, true, false},
		{"crossed", testNode("x", 0, leaf.Int32), rawStatistics{min: le32(3), max: le32(2)}, true, false},
		{"only one", testNode("x", 0, leaf.Int32), rawStatistics{min: le32(3)}, true, false},
		{"INT96 has no order", testNode("x", 0, leaf.Int96), rawStatistics{min: make([]byte, 12), max: make([]byte, 12)}, true, false},
		{"fine", testNode("x", 0, leaf.Bytes), rawStatistics{min: []byte{}, max: []byte("\xff")}, true, true},
	} {
		c := &Chunk{stats: x.raw}
		c.trustStatistics(x.node, x.typed)
		require.Equal(t, x.usable, c.HasMinMax, x.name)
	}
	c := &Chunk{stats: rawStatistics{min: plainDouble(0), max: plainDouble(math.Copysign(0, -1))}}
	c.trustStatistics(testNode("x", 0, leaf.Double), true)
	require.Equal(t, plainDouble(math.Copysign(0, -1)), c.Min)
	require.Equal(t, plainDouble(0), c.Max)
}

// TestNullCountsOfOldDuckDB: DuckDB before 2.0 counts some nulls below lists twice,
// which made columns with values seem to have none, and their values were lost. Its
// counts below lists are not used; those of other columns, and of 2.0, are.
func TestNullCountsOfOldDuckDB(t *testing.T) {
	root := testGroup("schema", leaf.Required, testNode("o", leaf.Optional, leaf.Int32), testNode("r", leaf.Repeated, leaf.Int32))
	r := rand.New(rand.NewPCG(1, 5))
	g := []*leaf.Buffer{testBuffer(r, root.Leaves()[0], 20, 0, 0), testBuffer(r, root.Leaves()[1], 20, 0, 0)}
	for by, trusted := range map[string]bool{
		"DuckDB": false, "DuckDB version v1.5.6 (build 069cc9f9b5)": false, "DuckDB version v0.9.2": false,
		"DuckDB version v2.0.1 (build 8d78114e90)": true, "parquet-mr version 1.16.0": true,
	} {
		data, _ := writeTest(t, root, WriterOptions{CreatedBy: by}, 20, g)
		group := openTest(t, data, ReaderOptions{}).RowGroup(0)
		require.True(t, group.Column(0).NullsKnown, by)
		require.Equal(t, trusted, group.Column(1).NullsKnown, by)
	}
}

// TestNullCountsThatContradict: a chunk that has a minimum is not all null, and a
// required column has no nulls, whatever the count says.
func TestNullCountsThatContradict(t *testing.T) {
	optional, required := &leaf.Info{MaxDef: 1}, &leaf.Info{}
	for _, x := range []struct {
		in      *leaf.Info
		stats   rawStatistics
		allNull bool
		known   bool
	}{
		{optional, rawStatistics{nulls: 3, hasNulls: true}, true, true},
		{optional, rawStatistics{nulls: 3, hasNulls: true, min: []byte{1}}, false, false},
		{optional, rawStatistics{nulls: 3, hasNulls: true, oldMax: []byte{1}}, false, false},
		{optional, rawStatistics{nulls: 4, hasNulls: true}, false, false},
		{optional, rawStatistics{nulls: -1, hasNulls: true}, false, false},
		{required, rawStatistics{nulls: 3, hasNulls: true}, false, true},
	} {
		c := &Chunk{Slots: 3, stats: x.stats}
		c.trustNulls(x.in, false)
		require.Equal(t, x.allNull, c.AllNull(), "%+v", x)
		require.Equal(t, x.known, c.NullsKnown, "%+v", x)
	}
}

// TestBloomFilterFPP: a smaller share of false positives takes a larger filter, in
// which it is the share that was asked for; a limit counts first.
func TestBloomFilterFPP(t *testing.T) {
	const n = 50_000
	r := rand.New(rand.NewPCG(2, 4))
	sizes := map[float64]int{}
	for _, fpp := range []float64{0.2, 0.01, 0.0005} {
		f := newBloomFilter(n, fpp, 1<<20)
		for range n {
			f.add(r.Uint64())
		}
		wrong := 0
		for range 4 * n {
			if f.mayContain(r.Uint64()) {
				wrong++
			}
		}
		require.Less(t, float64(wrong)/(4*n), 1.3*fpp)
		sizes[fpp] = 4 * len(f.words)
	}
	require.Equal(t, map[float64]int{0.2: 32 << 10, 0.01: 64 << 10, 0.0005: 128 << 10}, sizes)
	require.Len(t, newBloomFilter(n, 0.01, 100_000).words, 1<<14, "64 KiB, the largest within the limit")
	require.Len(t, newBloomFilter(n, 0.01, 1).words, 8, "one block at least")

	for _, fpp := range []float64{0, 1, -1, math.NaN()} {
		require.Error(t, WriterOptions{BloomFilterFPP: map[string]float64{"a": fpp}}.Validate())
	}
	require.Error(t, WriterOptions{BloomFilterNDV: map[string]int{"a": -1}}.Validate())
}

// TestBloomFilter: no false negative, few false positives, and arrow-go's
// filter agrees on every answer.
func TestBloomFilter(t *testing.T) {
	root := testGroup("schema", leaf.Required, testNode("n", leaf.Required, leaf.Int64), testNode("s", leaf.Required, leaf.Bytes), testNode("d", leaf.Required, leaf.Bytes))
	const rows = 2000
	r := rand.New(rand.NewPCG(2, 3))
	var g []*leaf.Buffer
	for i, in := range root.Leaves() {
		g = append(g, testBuffer(r, in, rows, []int{0, 0, 10}[i], 0))
	}
	g[1].Offsets, g[1].Data = nil, nil
	for i := range rows {
		g[1].AppendBytes([]byte(fmt.Sprint("trade-", i)))
	}
	data, _ := writeTest(t, root, WriterOptions{BloomFilters: []string{"n", "s", "d"}}, rows, g)
	f := openTest(t, data, ReaderOptions{FooterHint: -1})
	fr, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	filters, err := fr.GetBloomFilterReader().RowGroup(0)
	require.NoError(t, err)
	for j := range g {
		theirs, err := filters.GetColumnBloomFilter(j)
		require.NoError(t, err)
		wrong := 0
		for i := range 2 * rows {
			v := le64(r.Uint64())
			if i < rows {
				v = plainValue(g[j], i)
			}
			got, err := f.MayContain(0, j, v)
			require.NoError(t, err)
			require.Equal(t, theirs.CheckHash(xxhash.Sum64(v)), got)
			if i < rows {
				require.True(t, got)
			} else if got {
				wrong++
			}
		}
		require.Less(t, wrong, rows/20)
		absent, present := []byte("absent"), plainValue(g[j], 7)
		before := f.Stats().BytesRead
		for _, c := range []struct {
			keys [][]byte
			want bool
		}{{[][]byte{absent, present}, true}, {[][]byte{absent}, false}, {nil, false}} {
			got, err := f.MayContain(0, j, c.keys...)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		}
		require.Equal(t, 3*f.RowGroup(0).Column(j).bloom.size, f.Stats().BytesRead-before)
	}
}
