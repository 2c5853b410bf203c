package udf

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Aggregator says how to make one result of type R from the values of a group.
// S is the state of a group while values come in; its zero value is the start.
type Aggregator[A Value, S any, R Value] struct {
	// Update adds values: values[i] belongs to states[groups[i]]. Nulls do not
	// come here.
	Update func(states []S, groups []uint32, values []A)
	// Merge adds the state of later rows of the same group.
	Merge func(into, later *S)
	// Result is the result of a group that has values; a group without any
	// has a null result.
	Result func(s *S) R
	// Out is the type of the result where R alone does not say it, as for
	// decimals. Default: the plain type of R.
	Out arrow.DataType
}

// Aggregate is an aggregate of one column, for [GroupBy].
type Aggregate struct {
	column string // of the result
	arg    string // "" when there is none
	bind   func(t arrow.DataType) (arrow.DataType, error)
	start  func() accumulator
}

// accumulator has the states of all groups of some rows.
type accumulator interface {
	// add takes the rows of a batch; groups has one number below n for each.
	add(a arrow.Array, groups []uint32, n int)
	// merge takes the states of later rows; groups[i] is the number here of
	// their group i.
	merge(later accumulator, groups []uint32, n int)
	// result makes the column of all groups.
	result(mem memory.Allocator, groups int) arrow.Array
}

// NewAggregate makes an aggregate whose result is the column named column, from
// the values of the column named arg.
func NewAggregate[A Value, S any, R Value](column, arg string, a Aggregator[A, S, R]) *Aggregate {
	in, res := codecOf[A](), codecOf[R]()
	if a.Out == nil {
		a.Out = res.dtype
	}
	return &Aggregate{
		column: column,
		arg:    arg,
		bind: func(t arrow.DataType) (arrow.DataType, error) {
			if err := in.check(t); err != nil {
				return nil, err
			}
			return a.Out, res.check(a.Out)
		},
		start: func() accumulator { return &states[A, S, R]{Aggregator: a, in: in, res: res} },
	}
}

// Sum adds the values of each group, in the order of the stream: the same
// stream in the same batches gives the same sum to the last bit, whatever the
// number of workers. Integers wrap around.
func Sum[T int32 | int64 | float32 | float64](column, arg string) *Aggregate {
	return NewAggregate(column, arg, Aggregator[T, T, T]{
		Update: func(states []T, groups []uint32, values []T) {
			for i, x := range values {
				states[groups[i]] += x
			}
		},
		Merge:  func(into, later *T) { *into += *later },
		Result: func(s *T) T { return *s },
	})
}

// extreme is the state of Min and Max.
type extreme[T any] struct {
	value T
	any   bool
}

// Min takes the least value of each group; a NaN wins over all numbers.
func Min[T int32 | int64 | float32 | float64 | arrow.Date32 | arrow.Timestamp](column, arg string) *Aggregate {
	return best(column, arg, func(a, b T) T { return min(a, b) })
}

// Max takes the greatest value of each group; a NaN wins over all numbers.
func Max[T int32 | int64 | float32 | float64 | arrow.Date32 | arrow.Timestamp](column, arg string) *Aggregate {
	return best(column, arg, func(a, b T) T { return max(a, b) })
}

func best[T interface {
	Value
	cmp.Ordered
}](column, arg string, choose func(a, b T) T) *Aggregate {
	add := func(s *extreme[T], x T) {
		if s.any {
			x = choose(s.value, x)
		}
		*s = extreme[T]{value: x, any: true}
	}
	return NewAggregate(column, arg, Aggregator[T, extreme[T], T]{
		Update: func(states []extreme[T], groups []uint32, values []T) {
			for i, x := range values {
				add(&states[groups[i]], x)
			}
		},
		Merge:  func(into, later *extreme[T]) { add(into, later.value) },
		Result: func(s *extreme[T]) T { return s.value },
	})
}

// Count counts the rows of each group; with an arg, those where it is not null.
// The column is a bigint and never null.
func Count(column, arg string) *Aggregate {
	return &Aggregate{
		column: column,
		arg:    arg,
		bind:   func(arrow.DataType) (arrow.DataType, error) { return arrow.PrimitiveTypes.Int64, nil },
		start:  func() accumulator { return new(counts) },
	}
}

// counts is the accumulator of Count.
type counts struct{ n []int64 }

func (c *counts) add(a arrow.Array, groups []uint32, n int) {
	c.n = grow(c.n, n)
	for i, g := range groups {
		if a == nil || a.IsValid(i) {
			c.n[g]++
		}
	}
}

func (c *counts) merge(later accumulator, groups []uint32, n int) {
	c.n = grow(c.n, n)
	for i, x := range later.(*counts).n {
		c.n[groups[i]] += x
	}
}

func (c *counts) result(mem memory.Allocator, groups int) arrow.Array {
	out, view := values(mem, codecOf[int64](), arrow.PrimitiveTypes.Int64, groups)
	defer out.Release()
	copy(view, grow(c.n, groups))
	return finish(arrow.PrimitiveTypes.Int64, groups, out, nil, 0)
}

// states is the accumulator of a typed aggregate.
type states[A Value, S any, R Value] struct {
	Aggregator[A, S, R]
	in  codec[A]
	res codec[R]
	s   []S
	any []bool // the group has a value
	buf []A
	at  []uint32
}

func (t *states[A, S, R]) add(a arrow.Array, groups []uint32, n int) {
	t.s, t.any = grow(t.s, n), grow(t.any, n)
	if t.buf == nil {
		t.buf = make([]A, chunkRows)
	}
	for from := 0; from < len(groups); from += chunkRows {
		to := min(from+chunkRows, len(groups))
		vs, gs := t.in.load(a, from, to, t.buf), groups[from:to]
		if a.NullN() > 0 {
			vs, gs = t.live(a, from, vs, gs)
		}
		for _, g := range gs {
			t.any[g] = true
		}
		t.Update(t.s, gs, vs)
	}
}

// live keeps the values that are not null.
func (t *states[A, S, R]) live(a arrow.Array, from int, vs []A, gs []uint32) ([]A, []uint32) {
	t.at = t.at[:0]
	for base := 0; base < len(gs); base += 64 {
		w := validBits(a, from+base)
		for i := base; i < min(base+64, len(gs)); i++ {
			if w&1 == 1 {
				t.buf[len(t.at)] = vs[i]
				t.at = append(t.at, gs[i])
			}
			w >>= 1
		}
	}
	return t.buf[:len(t.at)], t.at
}

func (t *states[A, S, R]) merge(later accumulator, groups []uint32, n int) {
	t.s, t.any = grow(t.s, n), grow(t.any, n)
	o := later.(*states[A, S, R])
	for i := range o.s {
		switch g := groups[i]; {
		case !o.any[i]:
		case !t.any[g]:
			t.s[g], t.any[g] = o.s[i], true
		default:
			t.Merge(&t.s[g], &o.s[i])
		}
	}
}

func (t *states[A, S, R]) result(mem memory.Allocator, groups int) arrow.Array {
	t.s, t.any = grow(t.s, groups), grow(t.any, groups)
	valid := memory.NewResizableBuffer(mem)
	defer valid.Release()
	valid.Resize((groups + 7) / 8)
	clear(valid.Bytes())
	out, view := values(mem, t.res, t.Out, groups)
	if out != nil {
		defer out.Release()
		clear(view)
	}
	nulls := groups
	for i := range t.s {
		if t.any[i] {
			view[i] = t.Result(&t.s[i])
			bitutil.SetBit(valid.Bytes(), i)
			nulls--
		}
	}
	if out == nil {
		return t.res.build(mem, t.Out, view, valid.Bytes())
	}
	return finish(t.Out, groups, out, valid, nulls)
}

// values is room for a result of n values; the buffer is nil for the types that
// codec.build makes.
func values[R Value](mem memory.Allocator, c codec[R], t arrow.DataType, n int) (*memory.Buffer, []R) {
	if c.view == nil {
		return nil, make([]R, n)
	}
	b := memory.NewResizableBuffer(mem)
	b.Resize(n * t.(arrow.FixedWidthDataType).Bytes())
	return b, c.view(b.Bytes())
}

// grow extends s with zero values.
func grow[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	out := make([]T, n, max(n, 2*len(s)))
	copy(out, s)
	return out
}

// bindAggregate finds the column of a and its result's type.
func bindAggregate(a *Aggregate, in *arrow.Schema) (at int, t arrow.DataType, err error) {
	at = -1
	var arg arrow.DataType
	if a.arg != "" {
		found, err := columnIndexes(in, []string{a.arg})
		if err != nil {
			return 0, nil, err
		}
		at = found[0]
		arg = in.Field(at).Type
	}
	if t, err = a.bind(arg); err != nil {
		return 0, nil, fmt.Errorf("aggregate %s: %w", a.column, err)
	}
	return at, t, nil
}
