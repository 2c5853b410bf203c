package stream

import (
	"context"
	"time"
)

// Source is an ordered set of partitions that can be read again from any
// offset that it still holds. A query calls its methods from one goroutine;
// after Close, Open may be called again.
type Source interface {
	// Open starts reading. Partitions may come and go while the source is
	// open; it tells a by calling its methods, which never run while the
	// query works on what Poll returned.
	Open(ctx context.Context, a Assignee) error

	// Poll waits until records are there or ctx is done, and returns at most
	// max of them: none and no error when ctx ended first.
	Poll(ctx context.Context, max int) ([]Record, error)

	// Ends tells where each assigned partition ends at present.
	Ends(ctx context.Context) (Offsets, error)

	// Commit publishes progress for others to see, such as the members of a
	// consumer group. It is called after the sink and the checkpoint have it.
	Commit(ctx context.Context, next Offsets) error

	// Close stops reading and gives up the partitions.
	Close() error
}

// Assignee is told which partitions a source reads. A running query is one.
type Assignee interface {
	// Assigned is told which partitions arrive and what the source knows of
	// them. It answers with the offset at which to start each.
	Assigned(ctx context.Context, parts map[Partition]Position) (Offsets, error)

	// Revoked is called when partitions are about to go to another reader.
	// Unless they are already lost, what was read of them is committed first.
	Revoked(ctx context.Context, parts []Partition, lost bool)
}

// Position is what a source knows about a partition that it is about to read.
type Position struct {
	Start     int64 // where a query without any progress starts
	Committed int64 // progress published by Commit, or -1
}

// Epoch is a unit of progress: the records from From up to, not including, To.
// Only partitions that moved are in it.
type Epoch struct {
	Query string
	ID    int64 // counts up within a query; an epoch that failed is tried again under its number
	From  Offsets
	To    Offsets
}

// Sink takes the output of a query. Its methods are called from one goroutine;
// after Close, Recover may be called again.
type Sink interface {
	// Recover prepares the sink and tells up to which offsets it holds output.
	// A nil map says that the sink stores no offsets; the query's checkpoint
	// decides then. It is called at the start and whenever partitions arrive.
	Recover(ctx context.Context, query string) (Offsets, error)

	// Write takes records of the current epoch, in order. A record that does
	// not fit is given to bad with the reason and leaves no trace in the sink.
	Write(ctx context.Context, recs []Record, bad func(*Record, error)) error

	// Commit makes all that was written since the last Commit durable,
	// together with e.To if the sink stores offsets. When it fails, none of it
	// may count as written.
	Commit(ctx context.Context, e Epoch) error

	// Abort drops what was written since the last Commit, as far as the sink can.
	Abort(ctx context.Context) error

	Close() error
}

// pacer is a sink that must commit more often than the trigger says.
type pacer interface {
	maxCommitInterval() time.Duration
}

// linker is a sink that works only with certain sources, which it prepares.
type linker interface {
	link(src Source) error
}

// DeadLetter takes records that could not be processed, with the reason. A
// record may arrive again after a failure.
type DeadLetter interface {
	Put(ctx context.Context, query string, r *Record, reason error) error
	// Flush makes what was put durable. It is called before each commit.
	Flush(ctx context.Context) error
	Close() error
}
