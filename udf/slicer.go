package udf

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// column is an argument of a slice function, seen without its type.
type column interface {
	// load sets the values to rows from..to-1 of a.
	load(a arrow.Array, from, to int)
	// pick keeps the values of the given rows.
	pick(rows []int)
	// zero replaces the values of the given rows by zero values.
	zero(rows []int)
}

// input is a column of values of one Go type.
type input[T Value] struct {
	codec  codec[T]
	values []T // may be the memory of the array: not to be written
	buf    []T
}

func (in *input[T]) load(a arrow.Array, from, to int) {
	if in.buf == nil && in.codec.view == nil {
		in.buf = make([]T, chunkRows)
	}
	in.values = in.codec.load(a, from, to, in.buf)
}

// own makes the values writable.
func (in *input[T]) own() {
	if in.buf == nil {
		in.buf = make([]T, chunkRows)
	}
	in.values = in.buf[:copy(in.buf, in.values)]
}

func (in *input[T]) pick(rows []int) {
	in.own()
	for i, r := range rows {
		in.values[i] = in.values[r]
	}
	in.values = in.values[:len(rows)]
}

func (in *input[T]) zero(rows []int) {
	in.own()
	var none T
	for _, r := range rows {
		in.values[r] = none
	}
}

// slicer calls a slice function chunk by chunk for one batch.
type slicer[R Value] struct {
	columns []column
	call    func(out []R) error
	out     []R // room for the results of rows without nulls
	live    []int
	null    []int
}

func (s *slicer[R]) eval(c *Call, rows int, args []arrow.Array, o ScalarOptions, res codec[R]) (arrow.Array, error) {
	var out []R
	var values *memory.Buffer
	if res.view != nil {
		values = memory.NewResizableBuffer(c.Mem)
		defer values.Release()
		values.Resize(rows * o.Out.(arrow.FixedWidthDataType).Bytes())
		out = res.view(values.Bytes())
	} else {
		out = make([]R, rows)
	}
	var valid *memory.Buffer
	nulls := 0
	if o.Nulls == Propagate && hasNulls(args) {
		valid = memory.NewResizableBuffer(c.Mem)
		defer valid.Release()
		valid.Resize((rows + 7) / 8)
		clear(valid.Bytes())
	}
	for from := 0; from < rows; from += chunkRows {
		if err := c.Context().Err(); err != nil {
			return nil, err
		}
		to := min(from+chunkRows, rows)
		if err := s.chunk(args, from, out[from:to], o.Nulls, valid); err != nil {
			return nil, err
		}
		nulls += len(s.null)
	}
	if nulls == 0 || o.Nulls != Propagate {
		valid, nulls = nil, 0
	}
	if res.view != nil {
		return finish(o.Out, rows, values, valid, nulls), nil
	}
	var bits []byte
	if valid != nil {
		bits = valid.Bytes()
	}
	return res.build(c.Mem, o.Out, out, bits), nil
}

// chunk fills out with the results of the rows that begin at from, and their
// bits in valid.
func (s *slicer[R]) chunk(args []arrow.Array, from int, out []R, policy Nulls, valid *memory.Buffer) error {
	for i, c := range s.columns {
		c.load(args[i], from, from+len(out))
	}
	s.live, s.null = s.live[:0], s.null[:0]
	if hasNulls(args) {
		s.live, s.null = splitRows(args, from, len(out), s.live, s.null)
	}
	if len(s.null) == 0 {
		if valid != nil {
			bitutil.SetBitsTo(valid.Bytes(), int64(from), int64(len(out)), true)
		}
		return s.call(out)
	}
	switch policy {
	case ZeroValue:
		for i, c := range s.columns {
			_, null := splitRows(args[i:i+1], from, len(out), s.live[:0], s.null[:0])
			c.zero(null)
		}
		return s.call(out)
	case Refuse:
		return atRow(from+s.null[0], ErrNull)
	case Propagate:
		return s.scatter(from, out, valid)
	}
	panic(fmt.Sprintf("BUG: udf: null policy %d", policy))
}

// scatter calls the function for the rows without nulls and puts the results
// where they belong. The values of the other rows are zero.
func (s *slicer[R]) scatter(from int, out []R, valid *memory.Buffer) error {
	clear(out)
	if len(s.live) == 0 {
		return nil
	}
	for _, c := range s.columns {
		c.pick(s.live)
	}
	if s.out == nil {
		s.out = make([]R, chunkRows)
	}
	res := s.out[:len(s.live)]
	if err := s.call(res); err != nil {
		return err
	}
	for i, r := range s.live {
		out[r] = res[i]
		bitutil.SetBit(valid.Bytes(), from+r)
	}
	return nil
}
