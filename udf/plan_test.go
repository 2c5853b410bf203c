package udf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// Results come in the order of the input and do not depend on the workers.
func TestRunKeepsOrder(t *testing.T) {
	mem := checked(t)
	trades := randomTrades(1, 5000)
	slow := Scalar1("slow", func(out, a []int64) error {
		if a[0]%3 == 0 {
			time.Sleep(200 * time.Microsecond) // later batches overtake
		}
		copy(out, a)
		return nil
	}, ScalarOptions{})
	p := plan(t, With("copy", slow, "id"), With("delta", double(), "delta"), Select("copy", "desk", "delta"))
	var want []string
	for i, tr := range trades {
		d := tr.delta
		if d != nil {
			x := 2 * *d
			d = &x
		}
		want = append(want, fmt.Sprintf("%d|%s|%s|", i, text(tr.desk), text(d)))
	}
	for _, workers := range []int{0, 1, 2, 7} {
		for _, size := range []int{1, 37, 1000, 5000} {
			if size == 1 && workers != 2 {
				continue
			}
			got := collect(t, p, streamOf(mem, trades, size), Options{Workers: workers, Mem: mem})
			require.Equal(t, want, got, "%d workers, batches of %d", workers, size)
		}
	}
}

func TestEmptyStream(t *testing.T) {
	mem := checked(t)
	p := plan(t, With("x", double(), "delta"))
	require.Empty(t, collect(t, p, streamOf(mem, nil, 1), Options{Mem: mem}))
	empty := func(yield func(arrow.RecordBatch, error) bool) { yield(batchOf(mem, nil), nil) }
	require.Empty(t, collect(t, p, empty, Options{Mem: mem}))
	none := plan(t)
	require.Len(t, collect(t, none, streamOf(mem, randomTrades(1, 10), 3), Options{Mem: mem}), 10)
}

// A panic names function and batch, keeps the stack, and stops the stream.
func TestPanicNamesFunctionAndBatch(t *testing.T) {
	mem := checked(t)
	f := Scalar1("fragile", Each(func(id int64) int64 { return 1 / (id - 25) }), ScalarOptions{})
	for _, workers := range []int{1, 3} {
		rows := 0
		var last error
		for b, err := range plan(t, With("x", f, "id")).Run(context.Background(),
			streamOf(mem, randomTrades(1, 100), 10), Options{Workers: workers, Mem: mem}) {
			if err != nil {
				require.Nil(t, last, "the stream ends with the first error")
				last = err
				continue
			}
			rows += int(b.NumRows())
			b.Release()
		}
		require.Equal(t, 20, rows)
		require.ErrorIs(t, last, ErrPanic)
		require.EqualError(t, last, "function fragile, batch 2: udf: panic: runtime error: integer divide by zero")
		var e *Error
		require.ErrorAs(t, last, &e)
		require.Contains(t, string(e.Stack), "plan_test.go")
	}
}

// Each kind of stage turns its panic, and its input's, into an error.
func TestPanicOfEachKind(t *testing.T) {
	mem := checked(t)
	stages := map[string]Stage{
		"table": Table("table", tradeSchema, func(*Call, arrow.RecordBatch, func(arrow.RecordBatch) error) error { panic("p") }),
		"iterator": Iterator("iterator", nil, func(_ *Call, in iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[arrow.RecordBatch, error] {
			return func(yield func(arrow.RecordBatch, error) bool) {
				for b := range in {
					b.Release()
					panic("p")
				}
			}
		}),
		"group by": GroupBy(nil, NewAggregate("x", "id", Aggregator[int64, int64, int64]{
			Update: func([]int64, []uint32, []int64) { panic("p") },
		})),
	}
	for name, s := range stages {
		for _, err := range plan(t, s).Run(context.Background(), streamOf(mem, randomTrades(1, 100), 10), Options{Mem: mem}) {
			require.ErrorIs(t, err, ErrPanic, name)
			require.EqualError(t, err, "function "+name+", batch 0: udf: panic: p")
		}
	}
	bad := func(yield func(arrow.RecordBatch, error) bool) {
		yield(batchOf(mem, randomTrades(1, 1)), nil)
		panic("no more")
	}
	var last error
	for b, err := range plan(t, With("x", double(), "delta")).Run(context.Background(), bad, Options{Mem: mem}) {
		if err == nil {
			b.Release()
		}
		last = err
	}
	require.EqualError(t, last, "function input, batch 1: udf: panic: no more")
}

// A panic of the consumer is the consumer's: it is not swallowed, and nothing
// leaks.
func TestConsumerPanicPasses(t *testing.T) {
	mem := checked(t)
	pass := Iterator("pass", nil, func(_ *Call, in iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[arrow.RecordBatch, error] { return in })
	for _, p := range []*Plan{plan(t, With("x", double(), "delta")), plan(t, pass), plan(t, With("x", double(), "delta"), pass)} {
		require.PanicsWithValue(t, "mine", func() {
			for b := range p.Run(context.Background(), streamOf(mem, randomTrades(1, 100), 10), Options{Mem: mem}) {
				b.Release()
				panic("mine")
			}
		})
	}
}

// The run ends within a batch when its context ends: the function stops being
// called although rows are left.
func TestCancelWithinBatch(t *testing.T) {
	mem := checked(t)
	ctx, cancel := context.WithCancel(context.Background())
	var calls atomic.Int64
	f := Scalar1("long", func(out, a []int64) error {
		if calls.Add(1) == 2 {
			cancel()
		}
		copy(out, a)
		return nil
	}, ScalarOptions{})
	const rows = 50 * chunkRows
	for _, err := range plan(t, With("x", f, "id")).Run(ctx, streamOf(mem, randomTrades(1, rows), rows), Options{Mem: mem}) {
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "function long, batch 0")
	}
	require.Equal(t, int64(2), calls.Load())

	// A function over arrays looks at its context itself.
	ctx, cancel = context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	wait := NewScalar("wait", nil, arrow.PrimitiveTypes.Int64, func(c *Call, _ int, _ []arrow.Array) (arrow.Array, error) {
		<-c.Context().Done()
		return nil, c.Context().Err()
	})
	for _, err := range plan(t, With("x", wait, "id")).Run(ctx, streamOf(mem, randomTrades(1, 100), 10), Options{Mem: mem}) {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

// A consumer that stops early leaves neither goroutines nor buffers behind.
func TestConsumerStopsEarly(t *testing.T) {
	mem := checked(t)
	twice := Table("twice", tradeSchema, func(_ *Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
		for range 5 {
			b.Retain()
			if err := emit(b); err != nil {
				return err
			}
		}
		return nil
	})
	for _, p := range []*Plan{plan(t, With("x", double(), "delta")), plan(t, twice), plan(t, twice, With("x", double(), "delta"))} {
		for stop := 1; stop < 12; stop++ {
			n := 0
			for b, err := range p.Run(context.Background(), streamOf(mem, randomTrades(1, 200), 10), Options{Workers: 3, Mem: mem}) {
				require.NoError(t, err)
				b.Release()
				if n++; n == stop {
					break
				}
			}
		}
	}
}

// No more than the promised number of batches is in memory, however slow the
// consumer.
func TestMemoryIsBounded(t *testing.T) {
	mem := checked(t)
	const workers = 3
	var taken, given atomic.Int64
	in := func(yield func(arrow.RecordBatch, error) bool) {
		for b := range streamOf(mem, randomTrades(1, 1000), 10) {
			taken.Add(1)
			if !yield(b, nil) {
				return
			}
		}
	}
	most := int64(0)
	for b, err := range plan(t, With("x", double(), "delta")).Run(context.Background(), in, Options{Workers: workers, Mem: mem}) {
		require.NoError(t, err)
		b.Release()
		runtime.Gosched()
		most = max(most, taken.Load()-given.Add(1))
	}
	require.LessOrEqual(t, most, int64(2*workers))
}

// An error of the input comes out after the results of the batches before it.
func TestInputErrorIsInOrder(t *testing.T) {
	mem := checked(t)
	broken := errors.New("connection reset")
	in := func(yield func(arrow.RecordBatch, error) bool) {
		for b := range streamOf(mem, randomTrades(1, 40), 10) {
			if !yield(b, nil) {
				return
			}
		}
		yield(nil, broken)
	}
	rows := 0
	for b, err := range plan(t, With("x", double(), "delta")).Run(context.Background(), in, Options{Mem: mem}) {
		if err != nil {
			require.ErrorIs(t, err, broken)
			require.Equal(t, 40, rows)
			continue
		}
		rows += int(b.NumRows())
		b.Release()
	}
	other := func(yield func(arrow.RecordBatch, error) bool) {
		b := batchOf(mem, randomTrades(1, 3))
		defer b.Release()
		cut := array.NewRecordBatch(arrow.NewSchema(b.Schema().Fields()[:2], nil), b.Columns()[:2], 3)
		yield(cut, nil)
	}
	for _, err := range plan(t, With("x", double(), "delta")).Run(context.Background(), other, Options{Mem: mem}) {
		require.ErrorIs(t, err, ErrType)
	}
	for _, err := range plan(t).Run(context.Background(), other, Options{Workers: -1}) {
		require.EqualError(t, err, "udf: -1 workers")
	}
}

// Wrong columns are errors before any row flows.
func TestPlanChecksColumns(t *testing.T) {
	for want, s := range map[string]Stage{
		`there is no column "gamma"`:           With("x", double(), "gamma"),
		"utf8, the function takes float64":     With("x", double(), "desk"),
		"2 arguments, the function takes 1":    With("x", double(), "delta", "delta"),
		`there is no column "nothing"`:         Select("id", "nothing"),
		`there is no column "book"`:            GroupBy([]string{"book"}, Count("n", "")),
		`aggregate s: udf: wrong column: utf8`: GroupBy([]string{"desk"}, Sum[float64]("s", "desk")),
		`there is no column "vega"`:            GroupBy(nil, Sum[float64]("s", "vega")),
		"function iterator: udf: wrong column: no x": Iterator("iterator", func(*arrow.Schema) (*arrow.Schema, error) {
			return nil, fmt.Errorf("%w: no x", ErrType)
		}, nil),
	} {
		_, err := NewPlan(tradeSchema, s)
		require.ErrorIs(t, err, ErrType, want)
		require.ErrorContains(t, err, want)
	}
}

// A table function makes any number of rows; those of another schema are
// refused.
func TestTableFunction(t *testing.T) {
	mem := checked(t)
	repeat := Table("repeat", tradeSchema, func(c *Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
		for i := range b.NumRows() {
			for range b.Column(0).(*array.Int64).Value(int(i)) % 3 {
				if err := emit(b.NewSlice(i, i+1)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	var want []string
	trades := randomTrades(2, 100)
	for i, tr := range trades {
		for range i % 3 {
			want = append(want, fmt.Sprintf("%d|%s|%s|", i, text(tr.desk), text(tr.delta)))
		}
	}
	require.Equal(t, want, collect(t, plan(t, repeat), streamOf(mem, trades, 7), Options{Workers: 3, Mem: mem}))

	wrong := Table("wrong", tradeSchema, func(_ *Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
		return emit(array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 0))
	})
	for _, err := range plan(t, wrong).Run(context.Background(), streamOf(mem, trades, 7), Options{Mem: mem}) {
		require.ErrorIs(t, err, ErrType)
	}
}

// runningSum keeps a sum from batch to batch.
func runningSum() Stage {
	return Iterator("running sum", nil, func(c *Call, in iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			sum := int64(0)
			for b, err := range in {
				if err != nil {
					yield(nil, err)
					return
				}
				ids := array.NewInt64Builder(c.Mem)
				for i := range int(b.NumRows()) {
					sum += b.Column(0).(*array.Int64).Value(i)
					ids.Append(sum)
				}
				col := ids.NewArray()
				ids.Release()
				out, err := b.SetColumn(0, col)
				col.Release()
				b.Release()
				if !yield(out, err) {
					return
				}
			}
		}
	})
}

func TestIteratorKeepsState(t *testing.T) {
	mem := checked(t)
	p := plan(t, With("delta", double(), "delta"), runningSum(), Select("id"))
	got := collect(t, p, streamOf(mem, randomTrades(1, 100), 7), Options{Workers: 3, Mem: mem})
	sum := 0
	for i, row := range got {
		sum += i
		require.Equal(t, fmt.Sprintf("%d|", sum), row)
	}
	require.Len(t, got, 100)
	// An iterator may pull its input.
	pull := Iterator("pull", nil, func(_ *Call, in iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			next, stop := iter.Pull2(in)
			defer stop()
			for {
				b, err, ok := next()
				if !ok || !yield(b, err) {
					return
				}
			}
		}
	})
	p = plan(t, With("x", double(), "delta"), pull, With("y", double(), "x"), pull)
	require.Len(t, collect(t, p, streamOf(mem, randomTrades(1, 100), 7), Options{Mem: mem, Profiler: new(Profiler)}), 100)
}

// A plan may run many times at the same time.
func TestPlanIsSafeForConcurrentUse(t *testing.T) {
	p := plan(t, With("x", double(), "delta"), GroupBy([]string{"desk"}, Sum[float64]("sum", "x"), Count("n", "")))
	prof := new(Profiler)
	done := make(chan []string)
	for range 4 {
		go func() {
			var out []string
			for b, err := range p.Run(context.Background(), streamOf(memory.DefaultAllocator, randomTrades(3, 2000), 100), Options{Profiler: prof}) {
				if err == nil {
					out = append(out, rowTexts(b)...)
				}
			}
			done <- out
		}()
	}
	first := <-done
	require.Len(t, first, 5)
	for range 3 {
		require.Equal(t, first, <-done)
	}
	require.Equal(t, int64(8000), prof.Profiles()[0].Rows)
	require.NoError(t, prof.WriteTable(new(bytes.Buffer)))
}
