package udf

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// benchRun runs stages over 64 batches of 8,192 rows.
func benchRun(b *testing.B, o Options, stages ...Stage) {
	const rows, count = 8192, 64
	p, err := NewPlan(tradeSchema, stages...)
	if err != nil {
		b.Fatal(err)
	}
	batch := batchOf(memory.DefaultAllocator, randomTrades(1, rows))
	in := func(yield func(arrow.RecordBatch, error) bool) {
		for range count {
			batch.Retain()
			if !yield(batch, nil) {
				return
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for out, err := range p.Run(context.Background(), in, o) {
			if err != nil {
				b.Fatal(err)
			}
			out.Release()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/count, "ns/row")
}

func BenchmarkScalar(b *testing.B) {
	id := Scalar1("add one", func(out, a []int64) error {
		for i, x := range a {
			out[i] = x + 1
		}
		return nil
	}, ScalarOptions{})
	upper := Scalar1("length", Each(func(s string) int64 { return int64(len(s)) }), ScalarOptions{})
	for _, workers := range []int{1, 2} {
		o := Options{Workers: workers}
		b.Run(fmt.Sprintf("bigint/workers %d", workers), func(b *testing.B) { benchRun(b, o, With("x", id, "id")) })
		b.Run(fmt.Sprintf("double with nulls/workers %d", workers), func(b *testing.B) { benchRun(b, o, With("x", double(), "delta")) })
		b.Run(fmt.Sprintf("string with nulls/workers %d", workers), func(b *testing.B) { benchRun(b, o, With("x", upper, "desk")) })
	}
	b.Run("bigint/profiled", func(b *testing.B) { benchRun(b, Options{Workers: 1, Profiler: new(Profiler)}, With("x", id, "id")) })
}

func BenchmarkGroupBy(b *testing.B) {
	benchRun(b, Options{}, GroupBy([]string{"desk"}, Count("n", ""), Sum[float64]("sum", "delta"), Max[float64]("max", "delta")))
}
