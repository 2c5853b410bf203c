package udf

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// checked is an allocator that fails the test when something is not released.
func checked(t *testing.T) *memory.CheckedAllocator {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

var tradeSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "desk", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "delta", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
}, nil)

// trade is a row of the test streams; nil stands for null.
type trade struct {
	id    int64
	desk  *string
	delta *float64
}

func randomTrades(seed uint64, n int) []trade {
	r := rand.New(rand.NewPCG(seed, 1))
	desks := []string{"rates", "fx", "", "equity"}
	out := make([]trade, n)
	for i := range out {
		out[i].id = int64(i)
		if r.IntN(10) > 0 {
			out[i].desk = &desks[r.IntN(len(desks))]
		}
		if r.IntN(5) > 0 {
			x := r.NormFloat64()
			out[i].delta = &x
		}
	}
	return out
}

func batchOf(mem memory.Allocator, trades []trade) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, tradeSchema)
	defer b.Release()
	for _, t := range trades {
		b.Field(0).(*array.Int64Builder).Append(t.id)
		if t.desk == nil {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(*t.desk)
		}
		if t.delta == nil {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Float64Builder).Append(*t.delta)
		}
	}
	return b.NewRecordBatch()
}

// streamOf cuts trades into batches of size rows. Each is a slice at an odd
// offset of a larger one.
func streamOf(mem memory.Allocator, trades []trade, size int) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for from := 0; from < len(trades); from += size {
			part := trades[from:min(from+size, len(trades))]
			whole := batchOf(mem, append(make([]trade, 3), part...))
			b := whole.NewSlice(3, whole.NumRows())
			whole.Release()
			if !yield(b, nil) {
				return
			}
		}
	}
}

// double is a scalar function for tests.
func double() *Scalar {
	return Scalar1("double", Each(func(x float64) float64 { return 2 * x }), ScalarOptions{})
}

// collect runs a plan and returns the rows as text.
func collect(t *testing.T, p *Plan, in iter.Seq2[arrow.RecordBatch, error], o Options) []string {
	var out []string
	for b, err := range p.Run(context.Background(), in, o) {
		require.NoError(t, err)
		require.True(t, sameTypes(b.Schema(), p.Schema()))
		out = append(out, rowTexts(b)...)
		b.Release()
	}
	return out
}

func rowTexts(b arrow.RecordBatch) []string {
	out := make([]string, b.NumRows())
	for i := range out {
		for _, c := range b.Columns() {
			out[i] += c.ValueStr(i) + "|"
		}
	}
	return out
}

func plan(t *testing.T, stages ...Stage) *Plan {
	p, err := NewPlan(tradeSchema, stages...)
	require.NoError(t, err)
	return p
}

func text[T any](x *T) string {
	if x == nil {
		return array.NullValueStr
	}
	return fmt.Sprint(*x)
}
