// Producer sends seeded trade events to Kafka: the first job of the trade
// pipeline on its own.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/examples/trades/internal/produce"
	"github.com/frazil/frazil/examples/trades/internal/service"
	"github.com/frazil/frazil/examples/trades/internal/trade"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(service.ExitCode("producer", err, os.Stderr))
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	var common service.Flags
	o := produce.Options{}
	flags := flag.NewFlagSet("producer", flag.ContinueOnError)
	flags.SetOutput(stderr)
	common.Register(flags)
	flags.IntVar(&o.Trades, "trades", 20000, "number of trade events")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the events")
	flags.Float64Var(&o.Rate, "rate", 5000, "events per second; 0 is as fast as possible")
	flags.Float64Var(&o.Bad, "bad", 0, "share of malformed or incomplete events, 0 to 1")
	flags.Usage = service.Usage(flags, "Sends trade events to the topic "+trade.Topic+".",
		"go run ./examples/trades/producer -brokers localhost:9092 -trades 100000")
	if err := service.Parse(flags, args); err != nil {
		return err
	}
	var err error
	if o.Brokers, err = common.BrokerList(); err != nil {
		return err
	}
	if err := kafka.Create(ctx, o.Brokers, trade.Topic); err != nil {
		return err
	}
	progress := service.NewProgress(stderr)
	o.OnSent = func(sent int) { progress.Show("produce", int64(sent), int64(o.Trades)) }
	stats, err := produce.Run(ctx, o)
	progress.Done()
	fmt.Fprintf(stderr, "%d events sent in %v, %d of them bad\n", stats.Events, stats.Took, stats.Bad)
	return err
}
