package shred

import (
	"errors"
	"strconv"
	"strings"
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
	// strict mode.
	ErrCast = errors.New("shred: value does not cast")

	// ErrDuplicateKey is returned when an object that is written has the same
	// key twice.
	ErrDuplicateKey = errors.New("shred: duplicate key")
)

// Error is an error of one row. Row counts from the start of the batches that
// were read, or of the rows that were written since the last Reset. Path is the
// normalized path of the request or field, Value the JSON text of the value that
// was refused, both empty when they do not apply.
type Error struct {
	Row   int
	Path  string
	Value string
	Err   error
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("shred: row ")
	b.WriteString(strconv.Itoa(e.Row))
	if e.Path != "" {
		b.WriteString(", path ")
		b.WriteString(e.Path)
	}
	if e.Value != "" {
		b.WriteString(", value ")
		b.WriteString(e.Value)
	}
	b.WriteString(": ")
	b.WriteString(strings.TrimPrefix(e.Err.Error(), "shred: "))
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
