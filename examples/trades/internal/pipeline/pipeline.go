package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/iceberg"
)

// Options configures a run.
type Options struct {
	Trades  int     // number of events to produce
	Seed    uint64  // of the events and of the simulation
	Rate    float64 // events per second; 0 means as fast as possible
	Bad     float64 // share of bad events
	Dir     string  // created; warehouse, checkpoints and report go here
	Brokers string  // "" starts an embedded broker

	// Interval is the time between commits of the ingest job. Default: 1 s.
	Interval time.Duration

	// Progress is told what is going on; it may be nil. total is 0 when it is
	// not known.
	Progress func(stage string, done, total int64)

	Logger *slog.Logger // default: slog.Default()
}

// ErrUsed is returned for a folder that holds the tables of an earlier run.
var ErrUsed = errors.New("the folder holds the tables of an earlier run: give a new one with -dir")

// stopPatience is how long the streaming jobs may take to commit what they have
// read when a run is interrupted.
const stopPatience = 1200 * time.Millisecond

// pipeline is one run.
type pipeline struct {
	o       Options
	began   time.Time
	brokers []string
	catalog *iceberg.Catalog
	trades  *iceberg.Table
	closers []func()
	sum     Summary
	streams streamResult
}

// Run runs all jobs and returns the summary. When ctx ends, the streaming jobs
// commit what they have read, and Run returns within two seconds with ctx's
// error; the tables are whole at any time.
func Run(ctx context.Context, o Options) (*Summary, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	p := &pipeline{o: o, began: time.Now()}
	defer p.close()
	steps := []func(context.Context) error{p.open, p.stream, p.analyse, p.writeReport}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, err
		}
	}
	return &p.sum, nil
}

// open prepares folder, broker, topics, catalog and table.
func (p *pipeline) open(ctx context.Context) error {
	p.o.Progress("set up", 0, 0)
	if err := p.openBroker(ctx); err != nil {
		return err
	}
	warehouse := filepath.Join(p.o.Dir, "warehouse")
	if err := os.MkdirAll(warehouse, 0o755); err != nil {
		return err
	}
	catalog, err := iceberg.OpenWarehouse(ctx, warehouse)
	if err != nil {
		return err
	}
	p.catalog = catalog
	p.closers = append(p.closers, func() {
		if err := catalog.Close(); err != nil {
			p.o.Logger.Warn("close the catalog", "err", err)
		}
	})
	if p.trades, err = catalog.LoadOrCreate(ctx, trade.VectorsTable, trade.VectorsSpec()); err != nil {
		return err
	}
	if len(p.trades.Metadata().Snapshots()) > 0 {
		return fmt.Errorf("%s: %w", p.o.Dir, ErrUsed)
	}
	return nil
}

// openBroker comes before the folder is made: it is what may not be there.
func (p *pipeline) openBroker(ctx context.Context) error {
	if p.brokers = kafka.Split(p.o.Brokers); len(p.brokers) == 0 {
		brokers, stop, err := kafka.Embedded()
		if err != nil {
			return err
		}
		p.brokers = brokers
		p.closers = append(p.closers, stop)
	}
	return kafka.Create(ctx, p.brokers, trade.Topic, trade.AlertsTopic, trade.DeadLetterTopic, trade.AlertsDeadTopic)
}

func (p *pipeline) close() {
	for i := len(p.closers) - 1; i >= 0; i-- {
		p.closers[i]()
	}
	p.closers = nil
}
