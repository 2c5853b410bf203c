// Alerts reports large trades in real time: the second job of the trade
// pipeline on its own. It runs until it is interrupted.
package main

import (
	"context"
	"flag"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/frazil/frazil/examples/trades/internal/alert"
	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/examples/trades/internal/service"
	"github.com/frazil/frazil/examples/trades/internal/trade"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(service.ExitCode("alerts", err, os.Stderr))
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	var common service.Flags
	o := alert.Options{}
	flags := flag.NewFlagSet("alerts", flag.ContinueOnError)
	flags.SetOutput(stderr)
	common.Brokers(flags)
	flags.StringVar(&o.Group, "group", "trade-alerts", "consumer group, shared by all processes of the job")
	flags.StringVar(&o.Checkpoint, "checkpoint", "", "folder of the progress file (default the group's offsets only)")
	flags.StringVar(&o.TransactionalID, "transactional-id", "", "write alerts exactly once; an id of this process's own")
	flags.Usage = service.Usage(flags, "Reports large trades on the topic "+trade.AlertsTopic+".",
		"go run ./examples/trades/alerts -brokers localhost:9092")
	if err := flags.Parse(args); err != nil {
		return service.FlagError(err)
	}
	var err error
	if o.Brokers, err = common.BrokerList(); err != nil {
		return err
	}
	if err := kafka.Create(ctx, o.Brokers, trade.Topic, trade.AlertsTopic, trade.AlertsDeadTopic); err != nil {
		return err
	}
	q, err := alert.Query(o)
	if err != nil {
		return err
	}
	return service.RunQuery(ctx, q, stderr)
}
