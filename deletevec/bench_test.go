package deletevec

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// randomPositions returns n distinct positions below rows, in random order.
func randomPositions(n int, rows int64) []int64 {
	r := rand.New(rand.NewPCG(11, 12))
	seen := make([]uint64, (rows+63)/64)
	out := make([]int64, 0, n)
	for len(out) < n {
		p := r.Int64N(rows)
		if seen[p>>6]>>(p&63)&1 == 0 {
			seen[p>>6] |= 1 << (p & 63)
			out = append(out, p)
		}
	}
	return out
}

func BenchmarkBuild(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
		rows int64
	}{{"1M of 100M", 1_000_000, 100_000_000}, {"5M of 10M", 5_000_000, 10_000_000}} {
		positions := randomPositions(c.n, c.rows)
		for _, order := range []string{"unsorted", "sorted"} {
			if order == "sorted" {
				slices.Sort(positions)
			}
			b.Run(c.name+"/"+order, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var v Vector
					if err := v.AddMany(positions); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func vectorOf(b testing.TB, positions []int64) *Vector {
	var v Vector
	if err := v.AddMany(positions); err != nil {
		b.Fatal(err)
	}
	return &v
}

func BenchmarkAppendBlob(b *testing.B) {
	for _, c := range []struct {
		n    int
		rows int64
	}{{1, 100}, {1_000_000, 100_000_000}, {5_000_000, 10_000_000}} {
		v := vectorOf(b, randomPositions(c.n, c.rows))
		b.Run(fmt.Sprintf("%d of %d", c.n, c.rows), func(b *testing.B) {
			var buf []byte
			for b.Loop() {
				buf, _ = AppendBlob(buf[:0], v)
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		n    int
		rows int64
	}{{1, 100}, {1_000_000, 100_000_000}, {5_000_000, 10_000_000}} {
		var file bytes.Buffer
		w := NewWriter(&file, WriterOptions{})
		blob, err := w.Add("data.parquet", vectorOf(b, randomPositions(c.n, c.rows)))
		if err != nil {
			b.Fatal(err)
		}
		r := bytes.NewReader(file.Bytes())
		b.Run(fmt.Sprintf("%d of %d", c.n, c.rows), func(b *testing.B) {
			b.SetBytes(blob.Length)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(r, Ref{Blob: blob, Rows: c.rows}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d of %d/reused", c.n, c.rows), func(b *testing.B) {
			b.SetBytes(blob.Length)
			b.ReportAllocs()
			var rd Reader
			for b.Loop() {
				if _, err := rd.Read(r, Ref{Blob: blob, Rows: c.rows}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWriteOnePosition(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var v Vector
		_ = v.Add(42)
		w := NewWriter(io.Discard, WriterOptions{})
		if _, err := w.Add("file:///warehouse/db/t/data/00000-0.parquet", &v); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnion(b *testing.B) {
	old := vectorOf(b, randomPositions(1_000_000, 100_000_000))
	more := vectorOf(b, []int64{5, 1_000_000, 99_999_999})
	for b.Loop() {
		v := old.Clone()
		v.Union(more)
	}
}

func BenchmarkMask(b *testing.B) {
	for _, c := range []struct {
		n    int
		rows int64
	}{{1_000_000, 100_000_000}, {5_000_000, 10_000_000}} {
		v := vectorOf(b, randomPositions(c.n, c.rows))
		b.Run(fmt.Sprintf("%d of %d", c.n, c.rows), func(b *testing.B) {
			var m Mask
			for b.Loop() {
				for start := int64(0); start < c.rows; start += 8192 {
					m.Reset(v, start, 8192)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.rows), "ns/row")
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	const rows = 1_000_000
	mem := memory.NewGoAllocator()
	for _, column := range []string{"float64", "nullable float64", "string"} {
		batch := benchBatch(mem, column, rows)
		for _, deleted := range []int{0, 1, rows / 100, rows / 10, rows / 2} {
			v := vectorOf(b, randomPositions(deleted, rows))
			for _, size := range []int64{8192, rows} {
				b.Run(fmt.Sprintf("%s/deleted %d/batch %d", column, deleted, size), func(b *testing.B) {
					for b.Loop() {
						filterAll(b, batch, v, size)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
				})
			}
		}
	}
}

func filterAll(b *testing.B, batch arrow.RecordBatch, v *Vector, size int64) {
	mem := memory.NewGoAllocator()
	var m Mask
	for at := int64(0); at < batch.NumRows(); at += size {
		part := batch.NewSlice(at, min(at+size, batch.NumRows()))
		m.Reset(v, at, int(part.NumRows()))
		out, err := m.Filter(mem, part)
		if err != nil {
			b.Fatal(err)
		}
		out.Release()
		part.Release()
	}
}

func benchBatch(mem memory.Allocator, column string, rows int) arrow.RecordBatch {
	var col arrow.Array
	switch column {
	case "string":
		bld := array.NewStringBuilder(mem)
		for i := range rows {
			bld.Append(fmt.Sprintf("trade-%d", i))
		}
		col = bld.NewArray()
	default:
		bld := array.NewFloat64Builder(mem)
		for i := range rows {
			if i%10 == 0 && column != "float64" {
				bld.AppendNull()
				continue
			}
			bld.Append(float64(i))
		}
		col = bld.NewArray()
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: col.DataType(), Nullable: true}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{col}, int64(rows))
}
