package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Running is a query at work. It is safe for concurrent use.
type Running struct {
	eng  *engine
	stop context.CancelFunc // asks for a graceful end
	kill context.CancelFunc // ends at once
	done chan struct{}
	err  error // valid once done is closed
}

// Start validates the query and runs it in the background until its source is
// drained (AvailableNow), Stop is called, ctx ends, or it fails. It returns
// once the query is set up, which does not mean that partitions are assigned.
func Start(ctx context.Context, q Query) (*Running, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	q.setDefaults()
	ckpt, err := loadCheckpoint(q.Checkpoint, q.Name)
	if err != nil {
		return nil, err
	}
	runCtx, kill := context.WithCancel(ctx)
	softCtx, stop := context.WithCancel(runCtx)
	r := &Running{eng: newEngine(q, ckpt), stop: stop, kill: kill, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer kill()
		r.err = r.eng.run(runCtx, softCtx)
	}()
	return r, nil
}

// Run starts queries and waits for all of them. When one fails the others are
// stopped gracefully, and the errors are joined.
func Run(ctx context.Context, queries ...Query) error {
	running := make([]*Running, 0, len(queries))
	var errs []error
	for _, q := range queries {
		r, err := Start(ctx, q)
		if err != nil {
			errs = append(errs, err)
			break
		}
		running = append(running, r)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, r := range running {
		if len(errs) > 0 {
			r.stop()
		}
		wg.Go(func() {
			err := r.Wait()
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				return
			}
			errs = append(errs, err)
			for _, other := range running {
				other.stop()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Stop ends the query gracefully: what was read so far is committed, progress
// is saved, and source and sink are closed. When ctx ends first, the current
// epoch is dropped instead; its records are read again by the next start.
func (r *Running) Stop(ctx context.Context) error {
	r.stop()
	select {
	case <-r.done:
	case <-ctx.Done():
		r.kill()
		<-r.done
	}
	return r.err
}

// Wait blocks until the query has ended and gives its error: nil after Stop or
// when an AvailableNow query is through.
func (r *Running) Wait() error {
	<-r.done
	return r.err
}

// Done is closed when the query has ended.
func (r *Running) Done() <-chan struct{} { return r.done }

// Counters are the query's counters at this moment.
func (r *Running) Counters() Counters { return r.eng.count.snapshot() }

// protect turns a panic of foreign code into an error.
func protect(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w in %s: %v", ErrPanic, what, p)
		}
	}()
	return f()
}
