// Package ingest is the third job: it brings trades from the topic into the
// Iceberg table in micro-batches, each trade once.
package ingest

import (
	"context"
	"time"

	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/iceberg/stream"
)

// Options configures the query.
type Options struct {
	Brokers  []string
	Group    string        // consumer group; "" reads all partitions
	Interval time.Duration // between commits; 0 means one second
	// NewOnly begins at the end of the topic when the table has no rows of it yet.
	NewOnly bool
	// Drain ends the query when the topic has been read to its present end.
	Drain      bool
	Checkpoint string
	Workers    int // goroutines that shred and encode; 0: one per processor
	OnCommit   func(stream.Epoch, *iceberg.Commit)
}

// Query builds the streaming query that fills table.
func Query(table *iceberg.Table, o Options) (stream.Query, error) {
	dead, err := stream.NewKafkaDeadLetter(o.Brokers, trade.DeadLetterTopic)
	if err != nil {
		return stream.Query{}, err
	}
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	trigger := stream.ProcessingTime(o.Interval)
	if o.Drain {
		trigger = stream.AvailableNow()
	}
	start := stream.StartEarliest
	if o.NewOnly {
		start = stream.StartLatest
	}
	return stream.Query{
		Name: "trade-ingest",
		Source: stream.NewKafkaSource(stream.KafkaSourceOptions{
			Brokers: o.Brokers, Topics: []string{trade.Topic}, Group: o.Group, Start: start,
		}),
		Transform:  check(trade.NewDecoder()),
		Sink:       stream.NewIcebergSink(table, stream.IcebergSinkOptions{OnCommit: o.OnCommit, Workers: o.Workers}),
		Trigger:    trigger,
		Checkpoint: o.Checkpoint,
		DeadLetter: dead,
	}, nil
}

// check passes good events on as they are: the names of their fields are the
// names of the columns.
func check(dec *trade.Decoder) stream.Transform {
	return func(_ context.Context, in *stream.Record, out *stream.Output) error {
		if _, err := dec.Decode(in.Value); err != nil {
			return err
		}
		out.Emit(in.Key, in.Value)
		return nil
	}
}
