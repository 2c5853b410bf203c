package udf

import (
	"fmt"
	"runtime/debug"
)

// guard runs f and turns a panic into an [ErrPanic].
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Batch: -1, Row: -1, Err: fmt.Errorf("%w: %v", ErrPanic, p), Stack: debug.Stack()}
		}
	}()
	return f()
}
