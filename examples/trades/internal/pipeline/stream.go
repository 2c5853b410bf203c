package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/frazil/frazil/examples/trades/internal/alert"
	"github.com/frazil/frazil/examples/trades/internal/ingest"
	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/examples/trades/internal/produce"
	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/iceberg/stream"
)

// streamResult is what the streaming jobs leave for the summary and the report.
type streamResult struct {
	produced produce.Stats
	ingest   stream.Counters
	alerts   *alert.Report
}

// stream runs producer, alerts and ingest side by side, the consumers first,
// until every event has gone through both.
func (p *pipeline) stream(ctx context.Context) error {
	before, err := kafka.Ends(ctx, p.brokers, trade.AlertsTopic)
	if err != nil {
		return err
	}
	running, err := p.startQueries(ctx)
	if err != nil {
		return err
	}
	err = p.feed(ctx, running)
	if stopErr := stopAll(ctx, running); err == nil || ctx.Err() == nil {
		err = errors.Join(err, stopErr)
	}
	if err != nil {
		return err
	}
	p.streams.ingest = running[1].Counters()
	p.streams.alerts, err = alert.Read(ctx, p.brokers, before)
	return err
}

// startQueries starts both consumers. They read all partitions and begin at
// the end of the topic, since the events of this run are yet to come. They do
// not end with ctx but by stopAll, which lets them commit.
func (p *pipeline) startQueries(ctx context.Context) ([]*stream.Running, error) {
	checkpoints := filepath.Join(p.o.Dir, "checkpoints")
	alerts, err := alert.Query(alert.Options{
		Brokers: p.brokers, Checkpoint: filepath.Join(checkpoints, "alerts"), NewOnly: true,
	})
	if err != nil {
		return nil, err
	}
	rows, err := ingest.Query(p.trades, ingest.Options{
		Brokers: p.brokers, Checkpoint: filepath.Join(checkpoints, "ingest"), NewOnly: true, Interval: p.o.Interval,
		// One worker leaves the other processors to the alerts, whose latency
		// suffers when a commit takes all of them.
		Workers: 1,
	})
	if err != nil {
		return nil, errors.Join(err, alerts.DeadLetter.Close())
	}
	var running []*stream.Running
	for _, q := range []stream.Query{alerts, rows} {
		q.Logger = p.o.Logger
		r, err := stream.Start(context.WithoutCancel(ctx), q)
		if err != nil {
			return nil, errors.Join(err, stopAll(ctx, running))
		}
		running = append(running, r)
	}
	return running, nil
}

// feed produces once the consumers have their partitions, and waits until they
// have read everything.
func (p *pipeline) feed(ctx context.Context, running []*stream.Running) error {
	if err := await(ctx, running, func() bool {
		return running[0].Counters().Rebalance > 0 && running[1].Counters().Rebalance > 0
	}); err != nil {
		return err
	}
	total := int64(p.o.Trades)
	stats, err := produce.Run(ctx, produce.Options{
		Brokers: p.brokers, Trades: p.o.Trades, Seed: p.o.Seed, Rate: p.o.Rate, Bad: p.o.Bad,
		OnSent: func(sent int) { p.o.Progress("produce", int64(sent), total) },
	})
	p.streams.produced = stats
	if err != nil {
		return err
	}
	return await(ctx, running, func() bool {
		done := min(running[0].Counters().Records, running[1].Counters().Records)
		p.o.Progress("alert and ingest", done, total)
		return done >= int64(stats.Events)
	})
}

// await waits for a condition, the end of ctx or the end of a query.
func await(ctx context.Context, running []*stream.Running, ready func() bool) error {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !ready() {
		for _, r := range running {
			select {
			case <-r.Done():
				return fmt.Errorf("a streaming job ended early: %w", errors.Join(r.Wait(), context.Cause(ctx)))
			default:
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
	return nil
}

// stopAll stops the queries side by side; each commits what it has read. An
// interrupted run does not wait for long.
func stopAll(ctx context.Context, running []*stream.Running) error {
	limit := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		limit, cancel = context.WithTimeout(limit, stopPatience)
		defer cancel()
	}
	errs := make([]error, len(running))
	done := make(chan struct{})
	for i, r := range running {
		go func() {
			errs[i] = r.Stop(limit)
			done <- struct{}{}
		}()
	}
	for range running {
		<-done
	}
	return errors.Join(errs...)
}
