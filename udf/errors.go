package udf

import (
	"errors"
	"fmt"
)

var (
	// ErrPanic is returned when a function panicked; the [Error] has the stack.
	ErrPanic = errors.New("udf: panic")

	// ErrNull is returned when an argument is null and the function's policy is
	// [Refuse].
	ErrNull = errors.New("udf: null argument")

	// ErrType is returned when a column does not have the type that a function
	// takes, is missing, or a result is not what the function declares.
	ErrType = errors.New("udf: wrong column")

	// ErrStream is returned when the bytes of an Arrow stream are broken.
	ErrStream = errors.New("udf: broken Arrow stream")
)

// Error says which function failed, and where in the stream. It unwraps to the
// cause.
type Error struct {
	Function string // the function's name; "input" when the stream itself failed
	Batch    int    // index of the input batch, from 0; -1 before the first
	Row      int    // row of the batch; -1 when the whole batch is concerned
	Err      error
	Stack    []byte // of the goroutine that panicked; nil for other errors
}

// Error names the function, then batch and row where they are known.
func (e *Error) Error() string {
	where := ""
	if e.Batch >= 0 {
		where = fmt.Sprintf(", batch %d", e.Batch)
	}
	if e.Row >= 0 {
		where += fmt.Sprintf(", row %d", e.Row)
	}
	return fmt.Sprintf("function %s%s: %v", e.Function, where, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// failed attaches the place to err while unwinding; what is known stays.
func failed(err error, function string, batch int) error {
	var e *Error
	if errors.As(err, &e) {
		if e.Batch < 0 {
			e.Batch = batch
		}
		if e.Function == "" {
			e.Function = function
		}
		return e
	}
	return &Error{Function: function, Batch: batch, Row: -1, Err: err}
}

// atRow is an error of one row; failed adds the rest of the place.
func atRow(row int, err error) error { return &Error{Batch: -1, Row: row, Err: err} }
