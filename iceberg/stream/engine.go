package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// pollSize bounds how many records one Poll hands over; it keeps the time
// between two looks at the clock short.
const pollSize = 10_000

// maxFenced is how many epochs in a row may be lost to another writer before
// the query gives up: two processes that read the same partitions without a
// consumer group would else replace each other for ever.
const maxFenced = 10

// engine runs one query. Its state is guarded by mu, which is free only while
// the source polls; that is when partitions come and go.
type engine struct {
	q     Query
	count counters

	mu    sync.Mutex
	ckpt  checkpoint
	from  Offsets // where the current epoch began; the keys are the assigned partitions
	next  Offsets // the next record of each; from[p] <= next[p]
	ends  Offsets // AvailableNow: where to stop; nil until known
	out   Output
	epoch struct {
		records, bad, bytes int64
		began               time.Time // zero while the epoch is empty
	}
	saved  time.Time // when progress was last saved
	broken error     // set by Revoked when the current epoch can no longer be committed

	committing bool  // inside the sink's Commit
	refused    error // why a refused record could not be set aside
}

func newEngine(q Query, c checkpoint) *engine {
	return &engine{q: q, ckpt: c, from: Offsets{}, next: Offsets{}}
}

// run holds sessions until one ends for good. A session that lost its epoch to
// another writer is followed by a new one, which recovers like a fresh start.
func (e *engine) run(ctx, soft context.Context) error {
	defer func() {
		if e.q.DeadLetter != nil {
			if err := e.q.DeadLetter.Close(); err != nil {
				e.q.Logger.Warn("close dead letters", "err", err)
			}
		}
	}()
	for fenced := 0; ; {
		before := e.count.epochs.Load()
		err := e.session(ctx, soft)
		if !errors.Is(err, ErrFenced) || ctx.Err() != nil {
			return e.verdict(ctx, soft, err)
		}
		e.count.fenced.Add(1)
		if fenced++; e.count.epochs.Load() > before {
			fenced = 1
		}
		if fenced > maxFenced {
			return fmt.Errorf("stream: query %s gives up after %d tries: %w", e.q.Name, fenced, err)
		}
		e.q.Logger.Info("start again from the stored offsets", "reason", err)
		select {
		case <-time.After(time.Duration(fenced) * 50 * time.Millisecond):
		case <-soft.Done():
			return nil
		}
	}
}

// verdict turns the end of the last session into the query's error.
func (e *engine) verdict(ctx, soft context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return fmt.Errorf("stream: query %s: %w", e.q.Name, context.Cause(ctx))
	case soft.Err() != nil && errors.Is(err, context.Canceled):
		return nil
	}
	return fmt.Errorf("stream: query %s: %w", e.q.Name, err)
}

// session opens the source, works until told to stop, and closes everything.
func (e *engine) session(ctx, soft context.Context) (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.from)
	clear(e.next)
	e.ends, e.broken = nil, nil
	e.resetEpoch()
	defer func() {
		if err != nil {
			// The run's context may be over; dropping files needs another.
			clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			if aerr := e.q.Sink.Abort(clean); aerr != nil {
				e.q.Logger.Warn("abort the epoch", "err", aerr)
			}
			e.resetEpoch()
		}
		// The last commit is done or given up, so partitions may go now. The
		// source may call Revoked while it closes.
		e.broken = errSessionOver
		e.mu.Unlock()
		cerr := e.q.Source.Close()
		e.mu.Lock()
		err = errors.Join(err, cerr, e.q.Sink.Close())
	}()
	if _, err := e.q.Sink.Recover(ctx, e.q.Name); err != nil {
		return err
	}
	e.mu.Unlock()
	err = e.q.Source.Open(soft, e)
	e.mu.Lock()
	if err != nil {
		return err
	}
	e.saved = time.Now()
	return e.loop(ctx, soft)
}

var errSessionOver = errors.New("stream: session is over")

// loop is the life of a session: poll, transform, write, and commit when due.
func (e *engine) loop(ctx, soft context.Context) error {
	for {
		recs, err := e.poll(soft)
		if err != nil {
			return err
		}
		if e.broken != nil {
			return e.broken
		}
		if err := e.process(ctx, recs); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		stopping := soft.Err() != nil
		drained, err := e.drained(ctx)
		if err != nil {
			return err
		}
		if stopping || drained || e.due() {
			if err := e.commit(ctx, stopping || drained); err != nil {
				return err
			}
		}
		if stopping || drained {
			return nil //nolint:nilerr // a soft stop is an end, not an error
		}
	}
}

// poll waits for records, not longer than the epoch may stay open. The lock is
// released meanwhile.
func (e *engine) poll(soft context.Context) ([]Record, error) {
	wait, cancel := context.WithTimeout(soft, e.patience())
	defer cancel()
	room := min(pollSize, max(e.q.MaxRecords-int(e.epoch.records), 1))
	e.mu.Unlock()
	recs, err := e.q.Source.Poll(wait, room)
	e.mu.Lock()
	return recs, err
}

// interval is how long an epoch may stay open.
func (e *engine) interval() time.Duration {
	interval := e.q.Trigger.interval
	if e.q.Trigger.kind == availableNow {
		interval = time.Hour // size and the end decide
	}
	if p, ok := e.q.Sink.(pacer); ok {
		interval = min(interval, p.maxCommitInterval())
	}
	return interval
}

// patience is how long Poll may wait.
func (e *engine) patience() time.Duration {
	switch {
	case e.q.Trigger.kind == availableNow:
		return 100 * time.Millisecond // look for the end
	case e.epoch.began.IsZero():
		return time.Second
	}
	return max(time.Until(e.epoch.began.Add(e.interval())), 0)
}

// due says whether the open epoch has to end.
func (e *engine) due() bool {
	if e.epoch.began.IsZero() {
		return false
	}
	return e.epoch.records >= int64(e.q.MaxRecords) || e.epoch.bytes >= e.q.MaxBytes ||
		time.Since(e.epoch.began) >= e.interval()
}

// drained says whether an AvailableNow query has read what was there when it
// found its partitions.
func (e *engine) drained(ctx context.Context) (bool, error) {
	if e.q.Trigger.kind != availableNow {
		return false, nil
	}
	if e.ends == nil {
		ends, err := e.q.Source.Ends(ctx)
		if err != nil {
			return false, err
		}
		e.ends = ends
	}
	for p, next := range e.next {
		if next < e.ends[p] {
			return false, nil
		}
	}
	// A member of a group may have to wait for its partitions.
	return len(e.next) > 0 || len(e.ends) == 0, nil
}

// process transforms records and writes the result.
func (e *engine) process(ctx context.Context, recs []Record) error {
	if len(recs) == 0 {
		return nil
	}
	if e.epoch.began.IsZero() {
		e.epoch.began = time.Now()
	}
	e.out.recs = e.out.recs[:0]
	for i := range recs {
		if err := e.take(ctx, &recs[i]); err != nil {
			return err
		}
	}
	if len(e.out.recs) == 0 {
		return nil
	}
	e.count.emitted.Add(int64(len(e.out.recs)))
	err := protect("sink", func() error { return e.q.Sink.Write(ctx, e.out.recs, e.refuse(ctx)) })
	return errors.Join(err, e.takeRefused())
}

// take moves the position past one record and appends its output to e.out.
func (e *engine) take(ctx context.Context, r *Record) error {
	next, assigned := e.next[r.Partition]
	if !assigned || r.Offset < next {
		// Fetched before the partition was revoked or the position moved.
		return nil
	}
	e.next[r.Partition] = r.next()
	if r.control {
		return nil
	}
	e.epoch.records++
	e.epoch.bytes += int64(len(r.Value))
	e.count.records.Add(1)
	e.count.bytes.Add(int64(len(r.Value)))
	if e.q.Transform == nil {
		e.out.recs = append(e.out.recs, *r)
		return nil
	}
	from := len(e.out.recs)
	e.out.origin = r
	err := protect("transform", func() error { return e.q.Transform(ctx, r, &e.out) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrPanic):
		return &RecordError{Query: e.q.Name, Partition: r.Partition, Offset: r.Offset, Err: err}
	}
	e.out.recs = e.out.recs[:from]
	return e.bad(ctx, r, err)
}

// bad sets a record aside.
func (e *engine) bad(ctx context.Context, r *Record, reason error) error {
	e.count.bad.Add(1)
	e.epoch.bad++
	if e.q.FailOnBad {
		return &RecordError{
			Query: e.q.Name, Partition: r.Partition, Offset: r.Offset,
			Err: fmt.Errorf("%w: %w", ErrBadRecord, reason),
		}
	}
	if e.q.DeadLetter == nil {
		e.q.Logger.Warn("bad record", "partition", r.Partition.String(), "offset", r.Offset, "reason", reason)
		return nil
	}
	if err := e.q.DeadLetter.Put(ctx, e.q.Name, r, reason); err != nil {
		return fmt.Errorf("dead letter: %w", err)
	}
	return nil
}

// refuse is what a sink calls for a record that does not fit. A sink may find
// out as late as in Commit, when the dead letters have been flushed already.
func (e *engine) refuse(ctx context.Context) func(*Record, error) {
	return func(r *Record, reason error) {
		e.count.emitted.Add(-1)
		err := e.bad(ctx, r, reason)
		if err == nil && e.committing && e.q.DeadLetter != nil {
			err = e.q.DeadLetter.Flush(ctx)
		}
		e.refused = errors.Join(e.refused, err)
	}
}

// takeRefused gives the errors that came up in refuse.
func (e *engine) takeRefused() error {
	err := e.refused
	e.refused = nil
	return err
}

// commit ends the epoch. Its order is the recovery path: dead letters, output
// with offsets, checkpoint, the source's own progress. A crash between any two
// repeats what follows the last durable step, and no record is passed over.
func (e *engine) commit(ctx context.Context, last bool) error {
	ep := Epoch{Query: e.q.Name, ID: e.ckpt.Epoch + 1, From: Offsets{}, To: Offsets{}}
	for p, next := range e.next {
		if from := e.from[p]; next > from {
			ep.From[p], ep.To[p] = from, next
		}
	}
	if len(ep.To) == 0 {
		e.resetEpoch()
		return e.save(ctx, last)
	}
	if e.q.DeadLetter != nil {
		if err := e.q.DeadLetter.Flush(ctx); err != nil {
			return fmt.Errorf("dead letters: %w", err)
		}
	}
	began := time.Now()
	e.committing = true
	err := protect("sink", func() error { return e.q.Sink.Commit(ctx, ep) })
	e.committing = false
	if err := errors.Join(err, e.takeRefused()); err != nil {
		return err
	}
	took := time.Since(began)
	maps.Copy(e.from, ep.To)
	maps.Copy(e.ckpt.Offsets, ep.To)
	e.ckpt.Epoch = ep.ID
	e.count.epochs.Add(1)
	if err := e.save(ctx, last); err != nil {
		return err
	}
	return e.report(took)
}

// save writes the checkpoint and publishes progress. Sinks that commit more
// often than the trigger asks keep the offsets themselves, so the file follows
// the trigger's pace.
func (e *engine) save(ctx context.Context, last bool) error {
	if !last && e.q.Trigger.kind == realTime && time.Since(e.saved) < e.q.Trigger.interval {
		return nil
	}
	e.saved = time.Now()
	if len(e.ckpt.Offsets) == 0 {
		return nil
	}
	if err := e.ckpt.save(e.q.Checkpoint); err != nil {
		return err
	}
	mine := Offsets{}
	for p := range e.from {
		if next, ok := e.ckpt.Offsets[p]; ok {
			mine[p] = next
		}
	}
	return e.q.Source.Commit(ctx, mine)
}

func (e *engine) report(took time.Duration) error {
	p := Progress{
		Query: e.q.Name, Epoch: e.ckpt.Epoch, Records: e.epoch.records, Bad: e.epoch.bad,
		Commit: took, Offsets: e.next.Clone(), Total: e.count.snapshot(),
	}
	if !e.epoch.began.IsZero() {
		p.Duration = time.Since(e.epoch.began)
	}
	e.resetEpoch()
	if e.q.OnProgress == nil {
		return nil
	}
	return protect("progress listener", func() error { e.q.OnProgress(p); return nil })
}

func (e *engine) resetEpoch() {
	e.epoch.records, e.epoch.bad, e.epoch.bytes = 0, 0, 0
	e.epoch.began = time.Time{}
}
