package pq

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrCorrupt is returned when the bytes of a file contradict the Parquet
	// format or the file's own metadata, or exceed a limit of ReaderOptions.
	ErrCorrupt = errors.New("corrupt Parquet file")

	// ErrUnsupported is returned when a file is well formed but uses something
	// that this package does not read: encryption, the codec LZO, the encoding ALP.
	ErrUnsupported = errors.New("unsupported Parquet feature")

	// ErrInput is returned when buffers or arrays that are to be written do not
	// fit the schema.
	ErrInput = errors.New("invalid input for a Parquet file")
)

// Error tells where in a file something went wrong. It unwraps to one of the
// package's sentinels or to the error of the underlying reader or writer.
type Error struct {
	File     string // ReaderOptions.Name; "" when unknown
	RowGroup int    // -1 when the error belongs to no row group
	Column   string // dotted path of the leaf; "" when the error belongs to no column
	Err      error
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("pq: ")
	if e.File != "" {
		fmt.Fprintf(&b, "%s: ", e.File)
	}
	if e.RowGroup >= 0 {
		fmt.Fprintf(&b, "row group %d: ", e.RowGroup)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "column %s: ", printable(e.Column))
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// printable quotes a name of a file that would break the line or hide in it.
func printable(name string) string {
	if q := strconv.Quote(name); q[1:len(q)-1] != name {
		return q
	}
	return name
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// corruptf makes an error that Is ErrCorrupt.
func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// unsupportedf makes an error that Is ErrUnsupported.
func unsupportedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// inputf makes an error that Is ErrInput.
func inputf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}
