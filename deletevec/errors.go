package deletevec

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrCorrupt is returned when bytes from outside break the format of a
	// blob or of a Puffin file, or contradict the manifest that points at them.
	ErrCorrupt = errors.New("deletevec: corrupt deletion vector")

	// ErrPosition is returned when a position to add is negative.
	ErrPosition = errors.New("deletevec: negative row position")

	// ErrEmpty is returned when a vector without positions is given to a
	// Writer: a data file without deleted rows has no vector.
	ErrEmpty = errors.New("deletevec: empty deletion vector")

	// ErrTooLarge is returned when the positions of one vector need a blob of
	// 2 GiB or more, which other readers of the format cannot address.
	ErrTooLarge = errors.New("deletevec: deletion vector of 2 GiB or more")

	// ErrClosed is returned when a Writer is used after Close.
	ErrClosed = errors.New("deletevec: writer is closed")
)

// Error says where a vector went wrong. It unwraps to the cause, which Is
// [ErrCorrupt] for bad bytes and an error of the reader otherwise.
type Error struct {
	File     string // the Puffin file; empty when the blob was parsed from memory
	DataFile string // the data file that the vector belongs to; empty when unknown
	Offset   int64  // bytes from the start of File, or of the blob when File is empty
	Err      error
}

// Error names the offset first, then the files that are known.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v at offset %d", e.Err, e.Offset)
	if e.File != "" {
		fmt.Fprintf(&b, " of %s", e.File)
	}
	if e.DataFile != "" {
		fmt.Fprintf(&b, " (deleted rows of %s)", e.DataFile)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// corrupt is an ErrCorrupt at an offset that counts from the start of the
// bytes at hand; locate moves it once the caller knows the file.
func corrupt(offset int, format string, args ...any) *Error {
	return &Error{Offset: int64(offset), Err: fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)}
}

// locate adds to err what only the caller knows: the files, and where in the
// Puffin file the bytes begin.
func locate(err error, file, dataFile string, base int64) error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{File: file, DataFile: dataFile, Offset: base, Err: err}
	}
	out := *e
	out.File, out.DataFile = file, dataFile
	out.Offset += base
	return &out
}
