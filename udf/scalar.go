package udf

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// chunkRows is the number of rows that a slice function sees at once: few
// enough to stay in the first-level cache and to notice a cancelled context
// soon, enough to make the call's own cost disappear.
const chunkRows = 1024

// Nulls is what a slice function wants to be done about null arguments.
type Nulls uint8

const (
	// Propagate: a row with a null argument has a null result, and the
	// function does not see the row.
	Propagate Nulls = iota
	// ZeroValue: the function sees a null as the zero value of its type; no
	// result is null.
	ZeroValue
	// Refuse: a null is an [ErrNull] that names the row.
	Refuse
)

// String names the policy.
func (n Nulls) String() string {
	switch n {
	case Propagate:
		return "propagate"
	case ZeroValue:
		return "zero value"
	case Refuse:
		return "refuse"
	}
	return fmt.Sprintf("Nulls(%d)", uint8(n))
}

// ScalarOptions are the choices of the slice constructors. The zero value is
// the default.
type ScalarOptions struct {
	// Nulls is the null policy. Default Propagate.
	Nulls Nulls
	// Out is the type of the result, for types with parameters such as
	// decimals and timestamps. Default: the plain type of the Go type;
	// decimal(38,0); timestamp in UTC microseconds.
	Out arrow.DataType
}

// Call is what a function gets beside its arguments.
type Call struct {
	// Mem allocates the result. Its bytes are counted for the profile.
	Mem memory.Allocator
	// Batch is the index of the input batch in its stream, from 0.
	Batch int

	ctx context.Context
}

// Context ends when the run is cancelled. A function that works long on one
// batch looks at it now and then; slice functions need not, as they are called
// for at most 1,024 rows at a time.
func (c *Call) Context() context.Context {
	if c.ctx == nil {
		return context.Background()
	}
	return c.ctx
}

// Scalar is a function of one result per row. It is safe for concurrent use
// when the Go function in it is; the workers of [Run] call it at the same time.
type Scalar struct {
	name  string
	in    int // number of arguments
	check func(types []arrow.DataType) (arrow.DataType, error)
	eval  func(c *Call, rows int, args []arrow.Array) (arrow.Array, error)
}

// NewScalar makes a function that works on Arrow arrays itself: nested types,
// Variant columns in their storage struct, dictionaries. in are the types that
// it takes (nil takes any types) and out the type of its result. f returns an
// array of rows values, which its caller releases; it must respect the offset of
// sliced arguments, which the methods of arrays do.
func NewScalar(name string, in []arrow.DataType, out arrow.DataType,
	f func(c *Call, rows int, args []arrow.Array) (arrow.Array, error),
) *Scalar {
	return &Scalar{
		name: name,
		in:   len(in),
		eval: f,
		check: func(types []arrow.DataType) (arrow.DataType, error) {
			for i, t := range in {
				if i < len(types) && !arrow.TypeEqual(t, types[i]) {
					return nil, fmt.Errorf("%w: %v, the function takes %v", ErrType, types[i], t)
				}
			}
			return out, nil
		},
	}
}

// Name is the function's name in errors and profiles.
func (s *Scalar) Name() string { return s.name }

// Result is the type of the result for arguments of the given types; an
// [ErrType] when the function does not take them.
func (s *Scalar) Result(types ...arrow.DataType) (arrow.DataType, error) {
	if s.in > 0 && len(types) != s.in {
		return nil, failed(fmt.Errorf("%w: %d arguments, the function takes %d", ErrType, len(types), s.in), s.name, -1)
	}
	t, err := s.check(types)
	if err != nil {
		return nil, failed(err, s.name, -1)
	}
	return t, nil
}

// Eval calls the function once, outside a stream. All arguments have rows
// values. The caller releases the result. A panic of the function is an error
// that Is [ErrPanic].
func (s *Scalar) Eval(ctx context.Context, mem memory.Allocator, rows int, args ...arrow.Array) (arrow.Array, error) {
	types := make([]arrow.DataType, len(args))
	for i, a := range args {
		types[i] = a.DataType()
	}
	out, err := s.Result(types...)
	if err != nil {
		return nil, err
	}
	if mem == nil {
		mem = memory.DefaultAllocator
	}
	return s.call(&Call{Mem: mem, ctx: ctx}, rows, args, out)
}

// call runs the function and checks what it returns.
func (s *Scalar) call(c *Call, rows int, args []arrow.Array, out arrow.DataType) (res arrow.Array, err error) {
	defer func() {
		if err != nil {
			err = failed(err, s.name, c.Batch)
		}
	}()
	for _, a := range args {
		if a.Len() != rows {
			return nil, fmt.Errorf("%w: %d values in a batch of %d rows", ErrType, a.Len(), rows)
		}
	}
	err = guard(func() error {
		res, err = s.eval(c, rows, args)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case res == nil:
		return nil, fmt.Errorf("%w: no result", ErrType)
	case res.Len() != rows || !arrow.TypeEqual(res.DataType(), out):
		err = fmt.Errorf("%w: result of %d %v, want %d %v", ErrType, res.Len(), res.DataType(), rows, out)
		res.Release()
		return nil, err
	}
	return res, nil
}

// Scalar1 makes a function of one column over Go slices: f fills out, one value
// for each of a. The slices are valid during the call only.
func Scalar1[A, R Value](name string, f func(out []R, a []A) error, o ScalarOptions) *Scalar {
	ca := codecOf[A]()
	return overSlices(name, o, []func(arrow.DataType) error{ca.check}, func() slicer[R] {
		a := input[A]{codec: ca}
		return slicer[R]{columns: []column{&a}, call: func(out []R) error { return f(out, a.values) }}
	})
}

// Scalar2 is [Scalar1] for two columns.
func Scalar2[A, B, R Value](name string, f func(out []R, a []A, b []B) error, o ScalarOptions) *Scalar {
	ca, cb := codecOf[A](), codecOf[B]()
	return overSlices(name, o, []func(arrow.DataType) error{ca.check, cb.check}, func() slicer[R] {
		a, b := input[A]{codec: ca}, input[B]{codec: cb}
		return slicer[R]{columns: []column{&a, &b}, call: func(out []R) error { return f(out, a.values, b.values) }}
	})
}

// Scalar3 is [Scalar1] for three columns.
func Scalar3[A, B, C, R Value](name string, f func(out []R, a []A, b []B, c []C) error, o ScalarOptions) *Scalar {
	ca, cb, cc := codecOf[A](), codecOf[B](), codecOf[C]()
	return overSlices(name, o, []func(arrow.DataType) error{ca.check, cb.check, cc.check}, func() slicer[R] {
		a, b, c := input[A]{codec: ca}, input[B]{codec: cb}, input[C]{codec: cc}
		return slicer[R]{
			columns: []column{&a, &b, &c},
			call:    func(out []R) error { return f(out, a.values, b.values, c.values) },
		}
	})
}

// Scalar4 is [Scalar1] for four columns.
func Scalar4[A, B, C, D, R Value](name string, f func(out []R, a []A, b []B, c []C, d []D) error, o ScalarOptions) *Scalar {
	ca, cb, cc, cd := codecOf[A](), codecOf[B](), codecOf[C](), codecOf[D]()
	checks := []func(arrow.DataType) error{ca.check, cb.check, cc.check, cd.check}
	return overSlices(name, o, checks, func() slicer[R] {
		a, b, c, d := input[A]{codec: ca}, input[B]{codec: cb}, input[C]{codec: cc}, input[D]{codec: cd}
		return slicer[R]{
			columns: []column{&a, &b, &c, &d},
			call:    func(out []R) error { return f(out, a.values, b.values, c.values, d.values) },
		}
	})
}

// Each turns a function of one value into one that [Scalar1] takes.
func Each[A, R Value](f func(A) R) func(out []R, a []A) error {
	return func(out []R, a []A) error {
		for i, x := range a {
			out[i] = f(x)
		}
		return nil
	}
}

// Each2 turns a function of two values into one that [Scalar2] takes.
func Each2[A, B, R Value](f func(A, B) R) func(out []R, a []A, b []B) error {
	return func(out []R, a []A, b []B) error {
		for i, x := range a {
			out[i] = f(x, b[i])
		}
		return nil
	}
}

// overSlices is the part of the slice constructors that does not depend on the
// number of columns.
func overSlices[R Value](
	name string, o ScalarOptions, checks []func(arrow.DataType) error, newSlicer func() slicer[R],
) *Scalar {
	result := codecOf[R]()
	if o.Out == nil {
		o.Out = result.dtype
	}
	return &Scalar{
		name: name,
		in:   len(checks),
		check: func(types []arrow.DataType) (arrow.DataType, error) {
			errs := []error{result.check(o.Out)}
			for i, check := range checks {
				errs = append(errs, check(types[i]))
			}
			return o.Out, errors.Join(errs...)
		},
		eval: func(c *Call, rows int, args []arrow.Array) (arrow.Array, error) {
			s := newSlicer()
			return s.eval(c, rows, args, o, result)
		},
	}
}

// finish makes the array of a fixed-width result.
func finish(t arrow.DataType, rows int, values, valid *memory.Buffer, nulls int) arrow.Array {
	data := array.NewData(t, rows, []*memory.Buffer{valid, values}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
