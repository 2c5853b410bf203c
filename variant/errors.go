package variant

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrCorrupt is returned when bytes are no Variant: they break a rule of
	// VariantEncoding.md, or of Go's memory. Errors that wrap it are of type
	// *CorruptError.
	ErrCorrupt = errors.New("variant: corrupt bytes")
	// ErrSyntax is returned when a text is not JSON, or is JSON that cannot
	// become a Variant. Errors that wrap it are of type *SyntaxError.
	ErrSyntax = errors.New("variant: invalid JSON")
	// ErrDuplicateKey is returned when an object names a key twice.
	ErrDuplicateKey = errors.New("duplicate key")
	// ErrRange is returned when a number fits no type of the encoding.
	ErrRange = errors.New("number out of range")
	// ErrDepth is returned when containers nest deeper than MaxDepth.
	ErrDepth = errors.New("nested too deep")
	// ErrTooLarge is returned when a value exceeds the limit on its size.
	ErrTooLarge = errors.New("value too large")
	// ErrText is returned when a text or a name is not UTF-8.
	ErrText = errors.New("text is not UTF-8")
	// ErrUnknownKey is returned when an object is built over a given
	// dictionary that lacks one of its names.
	ErrUnknownKey = errors.New("variant: name is not in the dictionary")
	// ErrUsage is returned when events or calls come in an order that makes no
	// value, such as a key outside an object.
	ErrUsage = errors.New("variant: misuse")
)

// MaxDepth is the number of containers that may be open at once. Every part of
// the package that walks a value has the same limit, so nothing is written that
// cannot be read back, and no input exhausts a stack.
const MaxDepth = 1000

// MaxSize is the default limit on one value, and on one JSON text, in bytes.
const MaxSize = 128 << 20

// CorruptError tells where bytes stopped being a Variant.
type CorruptError struct {
	Part   string // "metadata" or "value"
	Offset int    // of the byte where the rule was broken, from the part's start
	Reason string
}

// Error tells part, offset and reason.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("variant: corrupt %s at byte %d: %s", e.Part, e.Offset, e.Reason)
}

// Is reports whether target is ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// SyntaxError tells where a JSON text stopped making sense.
type SyntaxError struct {
	Offset  int    // of the byte, from 0
	Line    int    // from 1; lines end at line feeds
	Path    string // of the innermost value, as in $.legs[3].tenor
	Excerpt string // a few bytes around Offset, made printable
	Err     error  // the reason: one of the sentinels, or a text of its own
}

// Error tells reason, place and excerpt in one line.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("variant: %v at byte %d (line %d, %s) near %s",
		e.Err, e.Offset, e.Line, shortPath(e.Path), strconv.Quote(e.Excerpt))
}

// shortPath leaves out the middle of a path that would bury the message: a
// thousand levels are a path of thousands of bytes.
func shortPath(p string) string {
	const head, tail = 100, 60
	if len(p) <= head+tail {
		return p
	}
	return strings.ToValidUTF8(p[:head], "") + "..." + strings.ToValidUTF8(p[len(p)-tail:], "")
}

// Unwrap returns the reason.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Is reports whether target is ErrSyntax.
func (e *SyntaxError) Is(target error) bool { return target == ErrSyntax }

func corruptMeta(offset int, reason string) error {
	return &CorruptError{Part: "metadata", Offset: offset, Reason: reason}
}

func corruptValue(offset int, reason string) error {
	return &CorruptError{Part: "value", Offset: offset, Reason: strings.TrimPrefix(reason, "variant: ")}
}
