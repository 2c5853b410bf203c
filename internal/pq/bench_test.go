package pq

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

const benchRows = 100_000

// benchShapes are the optional groups of which each row has one, with the
// share of rows in percent, the plain numbers, and the numbers in each of one
// to three list elements.
var benchShapes = []struct {
	name           string
	share          int
	flat, repeated int
}{{"equity", 40, 9, 9}, {"rates", 35, 18, 0}, {"fx", 25, 7, 3}}

// tradeLeaves makes columns like those of shredded pricing vectors: 24 decimals
// a row out of 47 leaves in three shapes, each with its residual beside it, and
// a text of few values. Leaves of one shape share their levels.
func tradeLeaves() (*leaf.Node, []*leaf.Buffer) {
	root := testGroup("schema", leaf.Required, testNode("model", leaf.Optional, leaf.Bytes, annotated(leaf.String)))
	pair := func(i int) []*leaf.Node {
		return []*leaf.Node{
			testNode(fmt.Sprint("value", i), leaf.Optional, leaf.Bytes),
			testNode(fmt.Sprint("typed", i), leaf.Optional, leaf.Int32, decimalNode(leaf.Int32, 0, 9, 3)),
		}
	}
	for _, s := range benchShapes {
		g := testGroup(s.name, leaf.Optional)
		for i := range s.flat {
			g.Children = append(g.Children, pair(i)...)
		}
		if s.repeated > 0 {
			list := testGroup("list", leaf.Repeated)
			for i := range s.repeated {
				list.Children = append(list.Children, pair(i)...)
			}
			g.Children = append(g.Children, list)
		}
		root.Children = append(root.Children, g)
	}
	r := rand.New(rand.NewPCG(1, 1))
	kinds := make([]int, benchRows)
	for i := range kinds {
		for p := r.IntN(100); p >= benchShapes[kinds[i]].share; kinds[i]++ {
			p -= benchShapes[kinds[i]].share
		}
	}
	lists := make([]int, benchRows)
	for i := range lists {
		lists[i] = 1 + r.IntN(3)
	}
	var g []*leaf.Buffer
	shared := map[string]*leaf.Buffer{}
	for _, in := range root.Leaves() {
		b := &leaf.Buffer{Info: in}
		fillTradeLeaf(r, b, kinds, lists)
		key := fmt.Sprint(in.Path[0], in.MaxRep, in.Node.Type)
		if first := shared[key]; first != nil {
			b.Def.Share(&first.Def)
			b.Rep.Share(&first.Rep)
		} else {
			shared[key] = b
		}
		g = append(g, b)
	}
	return root, g
}

func fillTradeLeaf(r *rand.Rand, b *leaf.Buffer, kinds, lists []int) {
	limit := int32(1000) << r.UintN(11)
	for i, kind := range kinds {
		s := benchShapes[kind]
		if b.Path[0] == "model" {
			b.Slots++
			b.Def.Append(1, 1)
			b.AppendBytes([]byte(s.name))
			continue
		}
		slots := 1
		here := b.Path[0] == s.name
		if here && b.MaxRep > 0 {
			slots = lists[i]
		}
		for k := range slots {
			def := uint8(0)
			if here {
				def = b.MaxDef - 1
				if b.Node.Type == leaf.Int32 {
					def++
					b.Int32s = append(b.Int32s, r.Int32N(limit))
				}
			}
			b.Slots++
			b.Def.Append(def, 1)
			if b.MaxRep > 0 {
				b.Rep.Append(uint8(min(k, 1)), 1)
			}
		}
	}
}

// userTime is the processor time of this process: on a shared machine the clock
// says little.
func userTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano())
}

func reportPerRow(b *testing.B, start time.Duration, rows int) {
	b.ReportMetric(float64((userTime()-start).Nanoseconds())/float64(b.N)/float64(rows), "user-ns/row")
}

func BenchmarkWrite(b *testing.B) {
	root, g := tradeLeaves()
	for _, o := range []WriterOptions{{Codec: Uncompressed}, {Codec: Snappy}, {}, {Level: 3}, {PlainOnly: true}} {
		b.Run(fmt.Sprintf("%v-%d-plain=%v", o.Codec, o.Level, o.PlainOnly), func(b *testing.B) {
			start := userTime()
			b.ReportAllocs()
			size := int64(0)
			for range b.N {
				w, err := NewWriter(io.Discard, root, o)
				require.NoError(b, err)
				require.NoError(b, w.WriteRowGroup(g, benchRows))
				meta, err := w.Close()
				require.NoError(b, err)
				size = meta.Size
			}
			reportPerRow(b, start, benchRows)
			b.ReportMetric(float64(size)/benchRows, "B/row")
		})
	}
}

// BenchmarkWriteArrowGo is the same work by arrow-go's column writers.
func BenchmarkWriteArrowGo(b *testing.B) {
	root, g := tradeLeaves()
	node, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, arrowGoNodes(b, root), -1)
	require.NoError(b, err)
	type levels struct{ def, rep []int16 }
	all := make([]levels, len(g))
	for j, x := range g {
		for _, l := range expand(&x.Def) {
			all[j].def = append(all[j].def, int16(l))
		}
		for _, l := range expand(&x.Rep) {
			all[j].rep = append(all[j].rep, int16(l))
		}
	}
	model := make([]parquet.ByteArray, g[0].Values())
	for i := range model {
		model[i] = g[0].Data[g[0].Offsets[i]:g[0].Offsets[i+1]]
	}
	start := userTime()
	size := 0
	for range b.N {
		var out bytes.Buffer
		w := file.NewParquetWriter(&out, node, file.WithWriterProps(parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1))))
		rg, err := w.AppendRowGroupChecked()
		require.NoError(b, err)
		for j, x := range g {
			c, err := rg.NextColumn()
			require.NoError(b, err)
			switch c := c.(type) {
			case *file.Int32ColumnChunkWriter:
				_, err = c.WriteBatch(x.Int32s, all[j].def, all[j].rep)
			case *file.ByteArrayColumnChunkWriter:
				_, err = c.WriteBatch(model[:x.Values()], all[j].def, all[j].rep)
			}
			require.NoError(b, err)
			require.NoError(b, c.Close())
		}
		require.NoError(b, w.Close())
		size = out.Len()
	}
	reportPerRow(b, start, benchRows)
	b.ReportMetric(float64(size)/benchRows, "B/row")
}

// benchColumns are an optional text, three numbers, and one in a list.
var benchColumns = []string{"model", "equity.typed0", "rates.typed3", "fx.typed1", "equity.list.typed2"}

func BenchmarkRead(b *testing.B) {
	root, g := tradeLeaves()
	data, _ := writeTest(b, root, WriterOptions{}, benchRows, g)
	read := func(b *testing.B, columns ...string) {
		start := userTime()
		b.ReportAllocs()
		var batch leaf.Batch
		bytesRead := int64(0)
		for range b.N {
			f := openTest(b, data, ReaderOptions{})
			for j, in := range f.Leaves() {
				for _, name := range columns {
					if pathText(in.Path) == name {
						drain(b, f, j, &batch)
					}
				}
			}
			bytesRead = f.Stats().BytesRead
		}
		reportPerRow(b, start, benchRows)
		b.ReportMetric(float64(bytesRead)/benchRows, "read-B/row")
	}
	b.Run("five", func(b *testing.B) { read(b, benchColumns...) })
	for _, name := range benchColumns {
		b.Run(name, func(b *testing.B) { read(b, name) })
	}
}

func drain(b *testing.B, f *File, j int, batch *leaf.Batch) {
	c, err := f.Column(0, j)
	require.NoError(b, err)
	for c.Remaining() > 0 {
		require.NoError(b, c.Read(batch, min(8192, c.Remaining())))
	}
}

// BenchmarkReadArrowGo is the same work by arrow-go's column readers.
func BenchmarkReadArrowGo(b *testing.B) {
	root, g := tradeLeaves()
	data, _ := writeTest(b, root, WriterOptions{}, benchRows, g)
	start := userTime()
	def, rep := make([]int16, 8192), make([]int16, 8192)
	ints, texts := make([]int32, 8192), make([]parquet.ByteArray, 8192)
	for range b.N {
		fr, err := file.NewParquetReader(bytes.NewReader(data))
		require.NoError(b, err)
		for _, name := range benchColumns {
			c, err := fr.RowGroup(0).Column(fr.MetaData().Schema.ColumnIndexByName(name))
			require.NoError(b, err)
			for c.HasNext() {
				switch c := c.(type) {
				case *file.Int32ColumnChunkReader:
					_, _, err = c.ReadBatch(8192, ints, def, rep)
				case *file.ByteArrayColumnChunkReader:
					_, _, err = c.ReadBatch(8192, texts, def, rep)
				}
				require.NoError(b, err)
			}
		}
	}
	reportPerRow(b, start, benchRows)
}

// benchArrow is a record of flat columns.
func benchArrow(tb testing.TB) arrow.RecordBatch {
	tb.Helper()
	fields := []arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "desk", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "notional", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
	}
	rb := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range benchRows {
		rb.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("T%010d", i))
		rb.Field(1).(*array.StringBuilder).Append(fmt.Sprint("desk", r.IntN(20)))
		if i%10 == 0 {
			rb.Field(2).AppendNull()
		} else {
			rb.Field(2).(*array.Float64Builder).Append(r.ExpFloat64())
		}
		rb.Field(3).(*array.Date32Builder).Append(arrow.Date32(20_000 + i/10_000))
	}
	return rb.NewRecordBatch()
}

func BenchmarkArrow(b *testing.B) {
	rec := benchArrow(b)
	data := writeArrow(b, WriterOptions{}, rec)
	b.Run("write", func(b *testing.B) {
		start := userTime()
		for range b.N {
			writeArrow(b, WriterOptions{}, rec)
		}
		reportPerRow(b, start, benchRows)
	})
	b.Run("read", func(b *testing.B) {
		start := userTime()
		f := openTest(b, data, ReaderOptions{})
		for range b.N {
			for j, n := range f.Schema().Children {
				a, err := NewAssembler(n, memory.DefaultAllocator)
				require.NoError(b, err)
				c, err := f.Column(0, j)
				require.NoError(b, err)
				batch := &leaf.Batch{}
				for c.Remaining() > 0 {
					n := min(8192, c.Remaining())
					require.NoError(b, c.Read(batch, n))
					arr, err := a.Assemble([]*leaf.Batch{batch}, n)
					require.NoError(b, err)
					arr.Release()
				}
			}
		}
		reportPerRow(b, start, benchRows)
	})
}
