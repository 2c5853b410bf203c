package udf

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Options are the choices of [Plan.Run]. The zero value is the default.
type Options struct {
	// Workers is how many batches are worked on at the same time. Default:
	// the number of processors that Go uses.
	Workers int
	// Mem allocates results. Default: Go's heap.
	Mem memory.Allocator
	// Profiler collects what each function costs. Default: nothing is
	// measured.
	Profiler *Profiler
}

func (o Options) defaults() (Options, error) {
	if o.Workers < 0 {
		return o, fmt.Errorf("udf: %d workers", o.Workers)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Mem == nil {
		o.Mem = memory.DefaultAllocator
	}
	return o, nil
}

// Plan is a row of stages whose columns and types fit. It may run any number of
// times, at the same time too.
type Plan struct {
	in, out *arrow.Schema
	stages  []bound
}

// NewPlan binds stages to the schema of a stream. Columns that are missing or of
// another type are an [ErrType] here, before any row flows.
func NewPlan(in *arrow.Schema, stages ...Stage) (*Plan, error) {
	p := &Plan{in: in, out: in}
	for _, s := range stages {
		b, err := s.bind(p.out)
		if err != nil {
			return nil, failed(err, s.name, -1)
		}
		p.stages = append(p.stages, b)
		p.out = b.out
	}
	return p, nil
}

// Schema is the schema of the results.
func (p *Plan) Schema() *arrow.Schema { return p.out }

// Run sends a stream of batches through the stages and returns the results, in
// the order of the input whatever the number of workers. At most 2*Workers
// batches of each run of parallel stages are in memory at once.
//
// Run takes the batches of in and releases them; the batches of the result
// belong to who gets them. The stream ends with the first error, which is an
// [*Error] with the function and the batch; it Is context.Canceled or
// DeadlineExceeded when ctx ends. A consumer may stop early: Run then waits for
// the calls that are under way, and for in to give the batch that it is about to
// give. in is read by one goroutine, not always the same one as the consumer's.
func (p *Plan) Run(ctx context.Context, in iter.Seq2[arrow.RecordBatch, error], o Options) iter.Seq2[arrow.RecordBatch, error] {
	o, err := o.defaults()
	if err != nil {
		return fail(err)
	}
	stream := p.input(ctx, in)
	for i := 0; i < len(p.stages); {
		s := &p.stages[i]
		switch {
		case s.stream != nil:
			stream = runIterator(ctx, s, stream, o)
			i++
		case s.group != nil:
			stream = runGroup(ctx, s, stream, o)
			i++
		default:
			j := i
			for j < len(p.stages) && p.stages[j].batch != nil {
				j++
			}
			stream = runBatches(ctx, p.stages[i:j], stream, o)
			i = j
		}
	}
	return stream
}

func fail(err error) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) { yield(nil, err) }
}

// input checks the batches that come from outside, and the context before each.
func (p *Plan) input(ctx context.Context, in iter.Seq2[arrow.RecordBatch, error]) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		n := 0
		for b, err := range in {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && !sameTypes(b.Schema(), p.in) {
				err = fmt.Errorf("%w: batch of %v, the plan is for %v", ErrType, b.Schema(), p.in)
			}
			if err != nil {
				if b != nil {
					b.Release()
				}
				yield(nil, failed(err, "input", n))
				return
			}
			if !yield(b, nil) {
				return
			}
			n++
		}
	}
}

// runBatches runs a row of stages that need one batch each, fused, on workers.
func runBatches(ctx context.Context, stages []bound, in iter.Seq2[arrow.RecordBatch, error], o Options) iter.Seq2[arrow.RecordBatch, error] {
	meters := make([]*stats, len(stages))
	for i := range stages {
		meters[i] = o.Profiler.stats(stages[i].name)
	}
	work := func(ctx context.Context, n int, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
		defer b.Release()
		return chain(ctx, stages, meters, n, b, emit, o)
	}
	return ordered(ctx, in, o.Workers, work, arrow.RecordBatch.Release)
}

// chain calls the first stage with b, and each of its results goes through the
// rest.
func chain(ctx context.Context, stages []bound, meters []*stats, n int, b arrow.RecordBatch,
	emit func(arrow.RecordBatch) error, o Options,
) error {
	if len(stages) == 0 {
		b.Retain()
		return emit(b)
	}
	if err := ctx.Err(); err != nil {
		return failed(err, stages[0].name, n)
	}
	meters[0].rowsIn(b.NumRows())
	m := meters[0].start()
	defer m.stop()
	c := &Call{Mem: meters[0].allocator(o.Mem), Batch: n, ctx: ctx}
	err := guard(func() error {
		return stages[0].batch(c, b, func(res arrow.RecordBatch) error {
			// The time of the stages after this one is theirs.
			m.pause()
			defer m.resume()
			defer res.Release()
			return chain(ctx, stages[1:], meters[1:], n, res, emit, o)
		})
	})
	if err != nil {
		return failed(err, stages[0].name, n)
	}
	return nil
}

// runIterator gives the stream to a stage that keeps state.
func runIterator(ctx context.Context, s *bound, in iter.Seq2[arrow.RecordBatch, error], o Options) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		st := o.Profiler.stats(s.name)
		m := st.startWall()
		defer m.stop()
		c := &Call{Mem: st.allocator(o.Mem), ctx: ctx}
		batches := 0
		source := func(yield func(arrow.RecordBatch, error) bool) {
			m.pause()
			defer m.resume()
			for b, err := range in {
				m.resume()
				if err == nil {
					c.Batch = batches
					batches++
					st.rowsIn(b.NumRows())
				}
				more := yield(b, err)
				m.pause()
				if !more {
					return
				}
			}
		}
		consume := func(b arrow.RecordBatch, err error) bool {
			m.pause()
			defer m.resume()
			return yield(b, err)
		}
		if err := iterate(s, s.stream(c, source), consume); err != nil {
			m.pause()
			yield(nil, failed(err, s.name, max(batches-1, 0)))
			m.resume()
		}
	}
}

// errStopped says that the consumer wants no more.
var errStopped = errors.New("udf: stopped")

// iterate passes the results of a stage on until the first error. A panic of
// the stage is an error; one of the consumer is not caught.
func iterate(s *bound, results iter.Seq2[arrow.RecordBatch, error], yield func(arrow.RecordBatch, error) bool) error {
	var consumer any // the panic of the consumer
	err := guard(func() error {
		for b, err := range results {
			if err == nil && !sameTypes(b.Schema(), s.out) {
				err = fmt.Errorf("%w: result %v, want %v", ErrType, b.Schema(), s.out)
			}
			if err != nil {
				if b != nil {
					b.Release()
				}
				return err
			}
			if !protect(&consumer, func() bool { return yield(b, nil) }) {
				return errStopped
			}
		}
		return nil
	})
	if consumer != nil {
		panic(consumer)
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// protect keeps a panic of f for later and stops.
func protect(p *any, f func() bool) (more bool) {
	defer func() {
		if *p = recover(); *p != nil {
			more = false
		}
	}()
	return f()
}
