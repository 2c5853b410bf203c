package shred

import (
	"errors"
	"strconv"
	"strings"

	"github.com/frazil/frazil/variant"
)

// The situations that callers tell apart with errors.Is.
var (
	// ErrSchema is returned when a schema text does not parse, when a schema
	// asks for a type that the shredding spec does not list, and when the
	// group of a file has a layout that the spec rejects.
	ErrSchema = errors.New("shred: invalid shredding schema")

	// ErrCorrupt is returned when the leaves of a file contradict the spec or
	// each other: value and typed_value both set, a residual that is not an
	// object beside shredded fields, levels that do not fit the schema.
	ErrCorrupt = errors.New("shred: corrupt shredded column")

	// ErrCast is returned when a value does not cast to the requested type in
	// strict mode. It is variant.ErrCast.
	ErrCast = variant.ErrCast

	// ErrDuplicateKey is returned when an object that is written has the same
	// key twice.
	ErrDuplicateKey = errors.New("shred: duplicate key")

	// ErrFull is returned when a row would make a buffer larger than its 32-bit
	// offsets can tell. The Writer takes rows again after Reset.
	ErrFull = errors.New("shred: buffers are full")
)

// Error is an error of one row. Row is its index in the batch that was read,
// negative where whoever holds the error tells the row in a better way.
// Path is the normalized path of the request, Value the JSON text of the value
// that was refused, cut to some 100 bytes, both empty when they do not apply.
type Error struct {
	Row   int
	Path  string
	Value string
	Err   error
}

// Error implements error.
func (e *Error) Error() string {
	var parts []string
	if e.Row >= 0 {
		parts = append(parts, "row "+strconv.Itoa(e.Row))
	}
	if e.Path != "" {
		parts = append(parts, "path "+e.Path)
	}
	if e.Value != "" {
		parts = append(parts, "value "+e.Value)
	}
	what := strings.TrimPrefix(e.Err.Error(), "shred: ")
	if len(parts) == 0 {
		return "shred: " + what
	}
	return "shred: " + strings.Join(parts, ", ") + ": " + what
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
