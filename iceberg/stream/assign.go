package stream

import (
	"context"
	"errors"
	"fmt"
)

// Assigned implements Assignee. It is the one place where a query decides at
// which offset to read a partition:
//
//  1. A sink that stores offsets with its output is right about every
//     partition, also about one that it has never seen: that starts from the
//     beginning, whatever a consumer group or a checkpoint says, because rows
//     and offsets are one commit.
//  2. Otherwise the checkpoint and the source's published progress are both
//     written after the output; the larger one is the newer.
//  3. Otherwise the source's default.
func (e *engine) Assigned(ctx context.Context, parts map[Partition]Position) (Offsets, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if errors.Is(e.broken, errSessionOver) { // a late call of a source that closes
		return nil, e.broken
	}
	stored, err := e.q.Sink.Recover(ctx, e.q.Name)
	if err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	start := make(Offsets, len(parts))
	for p, pos := range parts {
		start[p] = pos.Start
		if stored != nil {
			if next, ok := stored[p]; ok {
				start[p] = next
			}
			continue
		}
		if next, ok := e.ckpt.Offsets[p]; ok {
			start[p] = next
		}
		if pos.Committed > start[p] || pos.Committed >= 0 && !e.knows(p) {
			start[p] = pos.Committed
		}
	}
	for p, next := range start {
		e.from[p], e.next[p] = next, next
	}
	e.ends = nil // AvailableNow looks for the ends of the new partitions too
	e.count.rebalance.Add(1)
	e.q.Logger.Debug("partitions assigned", "start", start)
	return start, nil
}

func (e *engine) knows(p Partition) bool {
	_, ok := e.ckpt.Offsets[p]
	return ok
}

// Revoked implements Assignee. What was read of the partitions is committed
// while they are still ours. If they are lost already, or the commit fails,
// the open epoch mixes records that another reader has or will get with
// records that are still ours: the session ends and recovers.
func (e *engine) Revoked(ctx context.Context, parts []Partition, lost bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil {
		return
	}
	touched := false
	for _, p := range parts {
		touched = touched || e.next[p] > e.from[p]
	}
	switch {
	case touched && lost:
		e.broken = fmt.Errorf("%w: partitions were lost in the middle of an epoch", ErrFenced)
	case touched:
		if err := e.commit(ctx, true); err != nil {
			e.broken = err
		}
	}
	for _, p := range parts {
		delete(e.from, p)
		delete(e.next, p)
		// Another reader moves this partition on: what this process remembers
		// of it is out of date from now on.
		delete(e.ckpt.Offsets, p)
	}
	e.q.Logger.Debug("partitions revoked", "partitions", parts, "lost", lost)
}
