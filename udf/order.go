package udf

import (
	"context"
	"iter"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
)

// job is one batch on its way. Its worker sends results to out, sets err, and
// closes out.
type job[T any] struct {
	n     int
	batch arrow.RecordBatch // owned by the worker once it has the job
	out   chan T
	err   error
}

// ordered calls work for each batch on a number of goroutines and yields the
// results in the order of the input. work owns its batch. drop disposes of
// results that nobody takes.
//
// Memory is bounded because a job enters the queue, whose capacity is workers,
// before a worker may take it, and a worker waits with its second result until
// the first is taken.
func ordered[T any](ctx context.Context, in iter.Seq2[arrow.RecordBatch, error], workers int,
	work func(ctx context.Context, n int, b arrow.RecordBatch, emit func(T) error) error, drop func(T),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		queue := make(chan *job[T], workers) // in the order of the input
		todo := make(chan *job[T])
		var wg sync.WaitGroup
		wg.Go(func() { dispatch(ctx, in, queue, todo) })
		for range workers {
			wg.Go(func() {
				for j := range todo {
					j.run(ctx, work, drop)
				}
			})
		}
		defer func() {
			cancel()
			for j := range queue { // dispatch closes it
				j.dispose(drop)
			}
			wg.Wait()
		}()
		for j := range queue {
			for res := range j.out {
				if !yield(res, nil) {
					j.dispose(drop)
					return
				}
			}
			if j.err != nil {
				var none T
				yield(none, j.err)
				return
			}
		}
	}
}

// dispatch makes jobs of the batches until there are no more or ctx ends.
func dispatch[T any](ctx context.Context, in iter.Seq2[arrow.RecordBatch, error], queue, todo chan *job[T]) {
	defer close(queue)
	defer close(todo)
	n := 0
	err := guard(func() error {
		for b, err := range in {
			if err != nil {
				return err
			}
			j := &job[T]{n: n, batch: b, out: make(chan T, 1)}
			n++
			select {
			case queue <- j:
			case <-ctx.Done():
				b.Release()
				return ctx.Err()
			}
			select {
			case todo <- j:
			case <-ctx.Done():
				b.Release()
				j.err = failed(ctx.Err(), "input", j.n)
				close(j.out)
				return nil
			}
		}
		return nil
	})
	if err == nil {
		return
	}
	last := &job[T]{n: n, out: make(chan T), err: failed(err, "input", n)}
	close(last.out)
	queue <- last // the consumer empties the queue whatever happens
}

// run does the work of one job.
func (j *job[T]) run(ctx context.Context, work func(context.Context, int, arrow.RecordBatch, func(T) error) error, drop func(T)) {
	defer close(j.out)
	j.err = work(ctx, j.n, j.batch, func(res T) error {
		select {
		case j.out <- res:
			return nil
		case <-ctx.Done():
			drop(res)
			return ctx.Err()
		}
	})
}

// dispose empties a job that nobody reads any more.
func (j *job[T]) dispose(drop func(T)) {
	for res := range j.out {
		drop(res)
	}
}
