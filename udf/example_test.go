package udf_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/udf"
)

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "desk", Type: arrow.BinaryTypes.String},
	{Name: "pnl", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
}, nil)

// batches is a stream of two batches.
func batches() iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for _, rows := range []string{
			`[{"desk": "rates", "pnl": 100}, {"desk": "fx", "pnl": -4}]`,
			`[{"desk": "fx", "pnl": null}, {"desk": "rates", "pnl": -25}]`,
		} {
			b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, bytes.NewReader([]byte(rows)))
			if !yield(b, err) {
				return
			}
		}
	}
}

// print runs a plan and prints its columns.
func print(p *udf.Plan) {
	for b, err := range p.Run(context.Background(), batches(), udf.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, c := range b.Columns() {
			fmt.Println(b.ColumnName(i), c)
		}
		b.Release()
	}
}

func ExampleScalar1() {
	// A function over slices of numbers: it never sees a null.
	sqrt := udf.Scalar1("sqrt", func(out, x []float64) error {
		for i := range x {
			out[i] = math.Sqrt(math.Abs(x[i]))
		}
		return nil
	}, udf.ScalarOptions{})
	p, err := udf.NewPlan(schema, udf.With("root", sqrt, "pnl"), udf.Select("root"))
	if err != nil {
		panic(err)
	}
	print(p)
	// Output:
	// root [10 2]
	// root [(null) 5]
}

func ExampleGroupBy() {
	p, err := udf.NewPlan(schema, udf.GroupBy([]string{"desk"},
		udf.Count("trades", ""), udf.Sum[float64]("total", "pnl"), udf.Min[float64]("worst", "pnl")))
	if err != nil {
		panic(err)
	}
	print(p)
	// Output:
	// desk ["rates" "fx"]
	// trades [2 2]
	// total [75 -4]
	// worst [-25 -4]
}

func ExampleNewAggregate() {
	// The mean, with a state of its own.
	type state struct{ sum, n float64 }
	mean := udf.NewAggregate("mean", "pnl", udf.Aggregator[float64, state, float64]{
		Update: func(states []state, groups []uint32, values []float64) {
			for i, x := range values {
				s := &states[groups[i]]
				s.sum += x
				s.n++
			}
		},
		Merge: func(into, later *state) {
			into.sum += later.sum
			into.n += later.n
		},
		Result: func(s *state) float64 { return s.sum / s.n },
	})
	p, err := udf.NewPlan(schema, udf.GroupBy(nil, mean))
	if err != nil {
		panic(err)
	}
	print(p)
	// Output: mean [23.666666666666668]
}

func ExampleTable() {
	// Rows with a profit, and only those.
	gains := udf.Table("gains", schema, func(_ *udf.Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
		pnl := b.Column(1).(*array.Float64)
		for i := range b.NumRows() {
			if pnl.IsValid(int(i)) && pnl.Value(int(i)) > 0 {
				if err := emit(b.NewSlice(i, i+1)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	p, err := udf.NewPlan(schema, gains)
	if err != nil {
		panic(err)
	}
	print(p)
	// Output:
	// desk ["rates"]
	// pnl [100]
}

func ExampleIterator() {
	// Every second batch of a stream: state from batch to batch.
	second := udf.Iterator("second", nil, func(_ *udf.Call, in iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[arrow.RecordBatch, error] {
		return func(yield func(arrow.RecordBatch, error) bool) {
			n := 0
			for b, err := range in {
				n++
				if err == nil && n%2 != 0 {
					b.Release()
					continue
				}
				if !yield(b, err) {
					return
				}
			}
		}
	})
	p, err := udf.NewPlan(schema, second, udf.Select("desk"))
	if err != nil {
		panic(err)
	}
	print(p)
	// Output: desk ["fx" "rates"]
}

func ExampleNewScalar() {
	// A function over Arrow arrays: the length of each string.
	length := udf.NewScalar("length", []arrow.DataType{arrow.BinaryTypes.String}, arrow.PrimitiveTypes.Int32,
		func(c *udf.Call, rows int, args []arrow.Array) (arrow.Array, error) {
			out := array.NewInt32Builder(c.Mem)
			defer out.Release()
			for i := range rows {
				out.Append(int32(args[0].(*array.String).ValueLen(i)))
			}
			return out.NewArray(), nil
		})
	p, err := udf.NewPlan(schema, udf.With("length", length, "desk"), udf.Select("length"))
	if err != nil {
		panic(err)
	}
	print(p)
	// Output:
	// length [5 2]
	// length [2 5]
}

func ExampleProfiler() {
	negate := udf.Scalar1("negate", udf.Each(func(x float64) float64 { return -x }), udf.ScalarOptions{})
	p, err := udf.NewPlan(schema, udf.With("pnl", negate, "pnl"))
	if err != nil {
		panic(err)
	}
	var prof udf.Profiler
	for b, err := range p.Run(context.Background(), batches(), udf.Options{Profiler: &prof}) {
		if err != nil {
			panic(err)
		}
		b.Release()
	}
	for _, f := range prof.Profiles() {
		fmt.Println(f.Name, f.Batches, f.Rows, f.Alloc > 0)
	}
	// Output: negate 2 4 true
}

func ExampleServe() {
	// What another process would send.
	var request, response bytes.Buffer
	w := ipc.NewWriter(&request, ipc.WithSchema(schema))
	for b := range batches() {
		if err := w.Write(b); err != nil {
			panic(err)
		}
		b.Release()
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	double := udf.Scalar1("double", udf.Each(func(x float64) float64 { return 2 * x }), udf.ScalarOptions{})
	err := udf.Serve(context.Background(), &request, &response, udf.Options{}, udf.With("pnl", double, "pnl"))
	if err != nil {
		panic(err)
	}
	r, err := ipc.NewReader(&response)
	if err != nil {
		panic(err)
	}
	defer r.Release()
	for b, err := range udf.ReadStream(context.Background(), r) {
		if err != nil {
			panic(err)
		}
		fmt.Println(b.Column(1))
		b.Release()
	}
	// Output:
	// [200 -8]
	// [(null) -50]
}
