package stream

import (
	"errors"
	"fmt"
)

// The situations that callers tell apart; test with errors.Is.
var (
	// ErrInvalid is returned by Start for a query whose fields do not fit
	// together; the message lists every problem.
	ErrInvalid = errors.New("stream: invalid query")

	// ErrOutputMode is returned for an output mode that the trigger cannot
	// serve. The message starts with OUTPUT_MODE_NOT_SUPPORTED.
	ErrOutputMode = errors.New("OUTPUT_MODE_NOT_SUPPORTED")

	// ErrFenced is returned by a sink whose stored offsets are not those at
	// which the epoch began: another writer of the same query was faster.
	// Nothing was written. The query goes on from the stored offsets, and
	// fails with this error only when that happens again and again.
	ErrFenced = errors.New("stream: another writer moved the offsets")

	// ErrDataLoss is returned when records that were never read are gone from
	// the source, for example expired by its retention.
	ErrDataLoss = errors.New("stream: records were lost before they were read")

	// ErrOffsetsUnknown is returned when a table holds rows of the query but no
	// longer tells up to which offsets.
	ErrOffsetsUnknown = errors.New("stream: the table no longer tells its offsets")

	// ErrCorrupt is returned for a checkpoint or stored offsets that cannot be read.
	ErrCorrupt = errors.New("stream: corrupt progress")

	// ErrBadRecord is wrapped by the reason of a query that was asked to fail
	// on the first bad record.
	ErrBadRecord = errors.New("stream: bad record")

	// ErrPanic is wrapped when a transform or a callback panicked. The query
	// ends: a bug must not pass for a bad record.
	ErrPanic = errors.New("stream: panic")
)

// RecordError names the record at which a query stopped or that was set aside.
type RecordError struct {
	Query     string
	Partition Partition
	Offset    int64
	Err       error
}

// Error names the query and the place of the record.
func (e *RecordError) Error() string {
	return fmt.Sprintf("stream: query %s: %v offset %d: %v", e.Query, e.Partition, e.Offset, e.Err)
}

// Unwrap gives the reason to errors.Is and errors.As.
func (e *RecordError) Unwrap() error { return e.Err }

func invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}
