// Package produce is the first job: it sends seeded trade events to a topic,
// keyed by trade id, at a steady rate.
package produce

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/internal/tradegen"
)

// Options configures the job.
type Options struct {
	Brokers []string
	Trades  int     // number of events
	Seed    uint64  // of the events
	Rate    float64 // events per second; 0 or less means as fast as possible
	Bad     float64 // share of malformed or incomplete events
	// OnSent is called now and then with the number of events sent so far.
	OnSent func(sent int)
}

// Stats says what was sent.
type Stats struct {
	Events int // all, bad ones included
	Bad    int
	Bytes  int64
	Took   time.Duration
}

// tick is how often the producer catches up with its rate.
const tick = 2 * time.Millisecond

// Run sends all events and waits until the broker has them. When ctx ends
// first, it returns what was sent and ctx's error.
func Run(ctx context.Context, o Options) (Stats, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(o.Brokers...), kgo.DefaultProduceTopic(trade.Topic), kgo.ProducerLinger(0))
	if err != nil {
		return Stats{}, fmt.Errorf("producer: %w", err)
	}
	defer cl.Close()
	p := &producer{o: o, cl: cl, gen: tradegen.New(o.Seed, tradegen.Options{Bad: o.Bad})}
	start := time.Now()
	err = p.run(ctx, start)
	if err == nil {
		err = cl.Flush(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		err = p.failed
	}
	p.stats.Took = time.Since(start)
	if err != nil {
		return p.stats, fmt.Errorf("producer: %w", err)
	}
	return p.stats, nil
}

type producer struct {
	o     Options
	cl    *kgo.Client
	gen   *tradegen.Gen
	stats Stats

	mu     sync.Mutex
	failed error
}

// run sends in ticks: at each, the events that the rate asks for by then.
func (p *producer) run(ctx context.Context, start time.Time) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for p.stats.Events < p.o.Trades {
		due := p.o.Trades
		if p.o.Rate > 0 {
			due = min(due, int(time.Since(start).Seconds()*p.o.Rate)+1)
		}
		for p.stats.Events < due && ctx.Err() == nil {
			p.send(ctx)
		}
		if p.o.OnSent != nil {
			p.o.OnSent(p.stats.Events)
		}
		if p.stats.Events >= p.o.Trades {
			break
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (p *producer) send(ctx context.Context) {
	value, t := p.gen.AppendNext(nil)
	p.stats.Events++
	p.stats.Bytes += int64(len(value))
	if t.Bad {
		p.stats.Bad++
	}
	p.cl.Produce(ctx, &kgo.Record{Key: []byte(t.ID), Value: value}, func(_ *kgo.Record, err error) {
		if err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.failed = err
		}
	})
}
