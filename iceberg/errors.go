package iceberg

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/frazil/frazil/variant"
)

// The situations that callers tell apart. Every error of this package wraps at
// most one of them; test with errors.Is.
var (
	// ErrCorrupt is returned when bytes of a table (metadata, manifests, data
	// files, deletion vectors) contradict their format.
	ErrCorrupt = errors.New("iceberg: corrupt table")

	// ErrUnsupported is returned for something valid that this package does
	// not read or write, such as an ORC file; the message names it.
	ErrUnsupported = errors.New("iceberg: not supported")

	// ErrInvalid is returned when an argument, an option or a table definition
	// is wrong, before anything has been read or written.
	ErrInvalid = errors.New("iceberg: invalid argument")

	// ErrNoTable is returned when the catalog does not know the table.
	ErrNoTable = errors.New("iceberg: no such table")

	// ErrTableExists is returned by Create when the name is taken.
	ErrTableExists = errors.New("iceberg: table exists")

	// ErrReadOnly is returned by a write to a table that was opened from its
	// metadata file, without a catalog, or by a catalog that cannot be written.
	ErrReadOnly = errors.New("iceberg: opened for reading only: tables cannot be created or changed here")

	// ErrConflict is returned when another writer's commit cannot be reconciled
	// with this one, or when the retries are used up. Nothing was committed.
	ErrConflict = errors.New("iceberg: commit conflict")

	// ErrUnknownOutcome is returned when the catalog failed in the middle of a
	// commit and could not be asked whether it took place. No file is removed.
	// Calling again with the same CommitID is safe.
	ErrUnknownOutcome = errors.New("iceberg: outcome of the commit is unknown")

	// ErrEscape is returned when a path of a table that was opened from its
	// metadata file leads out of the table's folder.
	ErrEscape = errors.New("iceberg: path leads out of the table")

	// ErrRow is wrapped by every RowError.
	ErrRow = errors.New("iceberg: row does not fit the table")

	// ErrClosed is returned by an appender after Commit or Abort.
	ErrClosed = errors.New("iceberg: appender is closed")
)

// RowError says why one row could not be written or read. It wraps ErrRow and
// the reason.
type RowError struct {
	Line   int64  // 1-based number of the row among those given to the appender, blank JSON lines counted; 0 when unknown
	File   string // the data file, when reading
	Row    int64  // 0-based position in File
	Column string // "" when the row as a whole is wrong
	Err    error
}

// Error names the file and the position in it, or the line, then the column.
func (e *RowError) Error() string {
	var b strings.Builder
	switch {
	case e.File != "":
		fmt.Fprintf(&b, "%s row %d", e.File, e.Row)
	case e.Line > 0:
		fmt.Fprintf(&b, "line %d", e.Line)
	default:
		b.WriteString("row")
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ", column %q", e.Column)
	}
	if text, ok := e.Err.(*variant.SyntaxError); ok { //nolint:errorlint // a wrapped one has a text of its own
		// Its own text counts lines too, within the row.
		fmt.Fprintf(&b, ", at %s: %v near %q", excerpt(text.Path, len(text.Path), 120), text.Err, text.Excerpt)
		return b.String()
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// excerpt is the part of a text around an offset that a message has room for.
func excerpt(text string, at, room int) string {
	if len(text) <= room {
		return text
	}
	from := min(max(at-room/2, 0), len(text)-room)
	out := strings.ToValidUTF8(text[from:from+room], "")
	if from > 0 {
		out = "..." + out
	}
	if from+room < len(text) {
		out += "..."
	}
	return out
}

// Unwrap gives ErrRow and the reason to errors.Is and errors.As.
func (e *RowError) Unwrap() []error { return []error{ErrRow, e.Err} }

func invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}

func unsupportedf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsupported}, args...)...)
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
