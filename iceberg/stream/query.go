package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Query describes a stream: source -> transform -> sink. The zero values of
// the optional fields are the defaults.
type Query struct {
	// Name identifies the query: its checkpoint, and its offsets in a table.
	// The same name goes on where it stopped; a new name starts from the
	// beginning and therefore writes everything once more. Required.
	Name string

	Source Source // required
	Sink   Sink   // required

	// Transform is stateless; nil passes records through.
	Transform Transform

	Trigger    Trigger    // when epochs end; the zero Trigger is ProcessingTime(0)
	OutputMode OutputMode // default OutputAppend

	// RealTimeEnabled must be set to use the RealTime trigger: records are
	// then written before their epoch ends, so that a sink that cannot take
	// them back may see some of them again after a failure.
	RealTimeEnabled bool

	// Checkpoint is the folder of the query's progress file; it is created.
	// It may be empty when the sink keeps the offsets itself or the source's
	// consumer group does.
	Checkpoint string

	// DeadLetter takes the records that a transform or a sink refuses. When it
	// is nil they are logged and counted.
	DeadLetter DeadLetter

	// FailOnBad ends the query at the first bad record instead.
	FailOnBad bool

	// MaxRecords and MaxBytes end an epoch early, before its interval is over,
	// so that its memory stays bounded. Defaults: 200,000 records, 64 MiB of values.
	MaxRecords int
	MaxBytes   int64

	// OnProgress is called after each epoch, from the query's goroutine.
	OnProgress func(Progress)

	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

// Transform makes zero or more output records of one input record. An error
// makes the record a bad one, whose output is dropped. A transform is called
// from one goroutine at a time and keeps no state that a replay would spoil.
type Transform func(ctx context.Context, in *Record, out *Output) error

// OutputMode says what a sink sees of a result that changes.
type OutputMode uint8

// The output modes. Queries are stateless, so both write each result once; the
// real-time trigger asks for OutputUpdate, because what it writes is visible
// before the epoch that contains it is complete.
const (
	OutputAppend OutputMode = iota
	OutputUpdate
)

// String names the mode.
func (m OutputMode) String() string {
	switch m {
	case OutputAppend:
		return "append"
	case OutputUpdate:
		return "update"
	default:
		return fmt.Sprintf("OutputMode(%d)", uint8(m))
	}
}

type triggerKind uint8

const (
	processingTime triggerKind = iota
	realTime
	availableNow
)

// Trigger says when records flow and when an epoch ends. Make one with
// RealTime, ProcessingTime or AvailableNow.
type Trigger struct {
	kind     triggerKind
	interval time.Duration
}

// RealTime lets each record flow on as soon as the source delivers it. The
// interval only says how often progress is saved.
func RealTime(checkpoint time.Duration) Trigger {
	return Trigger{kind: realTime, interval: checkpoint}
}

// ProcessingTime ends an epoch each interval, or as soon as there is anything
// when the interval is 0.
func ProcessingTime(interval time.Duration) Trigger {
	return Trigger{kind: processingTime, interval: interval}
}

// AvailableNow reads what the source holds at the start, in as many epochs as
// memory asks for, and ends the query.
func AvailableNow() Trigger { return Trigger{kind: availableNow} }

// String says when records flow and epochs end, for logs.
func (t Trigger) String() string {
	switch t.kind {
	case realTime:
		return "real time, checkpoint every " + t.interval.String()
	case availableNow:
		return "available now"
	case processingTime:
		return "processing time " + t.interval.String()
	default:
		return "unknown trigger"
	}
}

// Validate reports all problems of the query at once.
func (q *Query) Validate() error {
	var errs []error
	if q.Name == "" {
		errs = append(errs, invalidf("Name is empty"))
	}
	if q.Source == nil {
		errs = append(errs, invalidf("Source is nil"))
	}
	if q.Sink == nil {
		errs = append(errs, invalidf("Sink is nil"))
	}
	if q.Trigger.interval < 0 {
		errs = append(errs, invalidf("%v: the interval is negative", q.Trigger))
	}
	if q.Trigger.kind == realTime {
		errs = append(errs, q.validateRealTime()...)
	}
	if l, ok := q.Sink.(linker); ok && q.Source != nil {
		if err := l.link(q.Source); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("query %q: %w", q.Name, errors.Join(errs...))
}

func (q *Query) validateRealTime() []error {
	var errs []error
	if !q.RealTimeEnabled {
		errs = append(errs, invalidf("the RealTime trigger needs Query.RealTimeEnabled = true"))
	}
	if q.OutputMode != OutputUpdate {
		errs = append(errs, fmt.Errorf("%w: %w: the RealTime trigger writes in output mode update, not %v",
			ErrOutputMode, ErrInvalid, q.OutputMode))
	}
	if q.Trigger.interval == 0 {
		errs = append(errs, invalidf("the RealTime trigger needs an interval above 0 between checkpoints"))
	}
	return errs
}

func (q *Query) setDefaults() {
	if q.MaxRecords <= 0 {
		q.MaxRecords = 200_000
	}
	if q.MaxBytes <= 0 {
		q.MaxBytes = 64 << 20
	}
	if q.Logger == nil {
		q.Logger = slog.Default()
	}
	q.Logger = q.Logger.With("query", q.Name)
}
