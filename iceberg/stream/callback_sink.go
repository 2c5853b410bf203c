package stream

import (
	"context"
	"slices"
)

// CallbackSink gives each epoch's output to a function, at least once: after a
// failure the same records come again, not always cut into the same epochs.
// The function can recognise them by the epoch's offsets.
type CallbackSink struct {
	f       func(ctx context.Context, e Epoch, recs []Record) error
	pending []Record
}

// NewCallbackSink returns a sink that calls f once an epoch, also for an epoch
// without output. The records may be kept.
func NewCallbackSink(f func(ctx context.Context, e Epoch, recs []Record) error) *CallbackSink {
	return &CallbackSink{f: f}
}

// Recover implements Sink; a callback stores no offsets.
func (s *CallbackSink) Recover(context.Context, string) (Offsets, error) { return nil, nil }

// Write implements Sink.
func (s *CallbackSink) Write(_ context.Context, recs []Record, _ func(*Record, error)) error {
	s.pending = append(s.pending, recs...)
	return nil
}

// Commit implements Sink.
func (s *CallbackSink) Commit(ctx context.Context, e Epoch) error {
	recs := slices.Clip(s.pending)
	s.pending = nil
	return s.f(ctx, e, recs)
}

// Abort implements Sink.
func (s *CallbackSink) Abort(context.Context) error {
	s.pending = nil
	return nil
}

// Close implements Sink.
func (s *CallbackSink) Close() error { return nil }
