package udf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// MaxMessage is the size in bytes of the largest message that [Serve] reads, and
// of the largest buffer that it decompresses one into: a length in the bytes of a
// stranger must not decide how much memory we take.
const MaxMessage = 256 << 20

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
		in, err = ipc.NewReader(&framed{r: r}, ipc.WithAllocator(&limited{Allocator: o.Mem}))
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
	out := ipc.NewWriter(w, ipc.WithSchema(p.Schema()), ipc.WithAllocator(o.Mem))
	for b, err := range p.Run(ctx, ReadStream(in), o) {
		if err != nil {
			return err
		}
		err = out.Write(b)
		b.Release()
		if err != nil {
			return fmt.Errorf("udf: write results: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("udf: write results: %w", err)
	}
	return nil
}

// RecordReader is what [ReadStream] reads: the readers of Arrow IPC files and
// streams and of Flight.
type RecordReader interface {
	Next() bool
	RecordBatch() arrow.RecordBatch
	Err() error
}

// ReadStream makes a stream for [Plan.Run] of a reader. The batches belong to
// who gets them. Bytes that the reader cannot make sense of, a panic of it
// included, are an error that Is [ErrStream].
func ReadStream(r RecordReader) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for {
			var b arrow.RecordBatch
			err := guard(func() error {
				if r.Next() {
					b = r.RecordBatch()
					b.Retain()
					if err := array.ValidateRecordFull(b); err != nil {
						return err
					}
				}
				return r.Err()
			})
			switch {
			case err != nil && err != io.EOF:
				if b != nil {
					b.Release()
				}
				yield(nil, streamError(err))
				return
			case b == nil || !yield(b, nil):
				return
			}
		}
	}
}

// streamError says that the bytes are broken. A panic of the library about them is
// not one of a function.
func streamError(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Stack != nil {
		return fmt.Errorf("%w: %v", ErrStream, e.Err)
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
