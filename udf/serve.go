package udf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/ipccheck"
)

// MaxMessage is the size in bytes of the largest message that [Serve] reads, and
// of the largest buffer that it decompresses one into: a length in the bytes of a
// stranger must not decide how much memory we take.
const MaxMessage = ipccheck.MaxMessage

// Serve reads an Arrow IPC stream from r, sends it through the stages, and
// writes the results to w as an IPC stream: the whole of a program that Spark's
// mapInArrow, DuckDB or pandas starts and talks to over its standard input and
// output. It returns at the end of the stream, or with the first error, when w
// has an unfinished stream. Broken input is an error that Is [ErrStream], and so
// is a message larger than MaxMessage.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options, stages ...Stage) error {
	o, err := o.defaults()
	if err != nil {
		return err
	}
	var in *ipc.Reader
	err = guard(func() (err error) {
		in, err = ipc.NewReader(ipccheck.NewReader(r), ipc.WithAllocator(&limited{Allocator: o.Mem}))
		return err
	})
	if err != nil {
		return streamError(err)
	}
	defer in.Release()
	p, err := NewPlan(in.Schema(), stages...)
	if err != nil {
		return err
	}
	// The input must not keep us when something fails on the way.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := ipc.NewWriter(w, ipc.WithSchema(p.Schema()), ipc.WithAllocator(o.Mem))
	for b, err := range p.Run(ctx, ReadStream(ctx, in), o) {
		if err != nil {
			cancel()
			return err
		}
		err = out.Write(b)
		b.Release()
		if err != nil {
			cancel()
			return fmt.Errorf("udf: write results: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("udf: write results: %w", err)
	}
	return nil
}

// RecordReader is what [ReadStream] reads: the readers of Arrow IPC streams and of
// Flight.
type RecordReader interface {
	Next() bool
	RecordBatch() arrow.RecordBatch
	Err() error
	Retain()
	Release()
}

// received is what a reader gave.
type received struct {
	batch arrow.RecordBatch
	err   error
}

// ReadStream makes a stream for [Plan.Run] of a reader. The batches belong to who
// gets them, and their offsets and lengths have been checked. Bytes that make no
// sense, a panic of the reader included, are an error that Is [ErrStream].
//
// The stream ends when ctx does, even while the reader waits for its peer: the
// goroutine that reads then ends with that read, and releases what it got. Cancel
// ctx before leaving a loop over the results early.
func ReadStream(ctx context.Context, r RecordReader) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		in := make(chan received)
		r.Retain()
		go func() {
			defer close(in)
			defer r.Release()
			read(ctx, r, in)
		}()
		defer leave(cancel, in)
		for {
			select {
			case got, more := <-in:
				if !more || !yield(got.batch, got.err) {
					return
				}
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

// read sends what r gives until it ends or fails, or ctx ends.
func read(ctx context.Context, r RecordReader, out chan<- received) {
	for {
		var got received
		err := guard(func() error {
			if !r.Next() {
				return r.Err()
			}
			got.batch = r.RecordBatch()
			got.batch.Retain()
			return array.ValidateRecordFull(got.batch)
		})
		if err != nil && !errors.Is(err, io.EOF) {
			if got.batch != nil {
				got.batch.Release()
			}
			got = received{err: streamError(err)}
		}
		if got == (received{}) {
			return
		}
		select {
		case out <- got:
		case <-ctx.Done():
			if got.batch != nil {
				got.batch.Release()
			}
			return
		}
		if got.err != nil {
			return
		}
	}
}

// leave ends the goroutine that reads. It mostly ends at once, and then nothing
// of it is left when the stream has ended.
func leave(cancel func(), in <-chan received) {
	cancel()
	for {
		select {
		case got, more := <-in:
			if !more {
				return
			}
			if got.batch != nil {
				got.batch.Release()
			}
		case <-time.After(patience):
			return
		}
	}
}

// patience is how long a stream waits for a reader that may be waiting for its
// peer.
const patience = 20 * time.Millisecond

// streamError says that the bytes are broken. A panic of the library about them is
// not one of a function.
func streamError(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Stack != nil {
		return fmt.Errorf("%w: %v", ErrStream, e.Err) //nolint:errorlint // a panic on foreign bytes is not one of a function
	}
	return fmt.Errorf("%w: %w", ErrStream, err)
}

// limited is an allocator that refuses what is larger than MaxMessage. Its panic
// is caught where the reader that asked is called.
type limited struct{ memory.Allocator }

func (l *limited) Allocate(size int) []byte {
	checkSize(size)
	return l.Allocator.Allocate(size)
}

func (l *limited) Reallocate(size int, b []byte) []byte {
	checkSize(size)
	return l.Allocator.Reallocate(size, b)
}

func checkSize(size int) {
	if size < 0 || size > MaxMessage+64 { // Arrow rounds up to 64
		panic(fmt.Errorf("buffer of %d bytes, at most %d are taken", size, MaxMessage))
	}
}
