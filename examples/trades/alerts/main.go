// Alerts reports large trades in real time: the second job of the trade
// pipeline on its own. It runs until it is interrupted, and then reports the
// latency of its alerts.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

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
	common.Register(flags)
	flags.StringVar(&o.Group, "group", "trade-alerts", "consumer group, shared by all processes of the job")
	flags.StringVar(&o.Checkpoint, "checkpoint", "", "folder of the progress file (default the group's offsets only)")
	flags.StringVar(&o.TransactionalID, "transactional-id", "", "write alerts exactly once; an id of this process's own")
	flags.Usage = service.Usage(flags, "Reports large trades on the topic "+trade.AlertsTopic+".",
		"go run ./examples/trades/alerts -brokers localhost:9092")
	if err := service.Parse(flags, args); err != nil {
		return err
	}
	var err error
	if o.Brokers, err = common.BrokerList(); err != nil {
		return err
	}
	if err := kafka.Create(ctx, o.Brokers, trade.Topic, trade.AlertsTopic, trade.AlertsDeadTopic); err != nil {
		return err
	}
	before, err := kafka.Ends(ctx, o.Brokers, trade.AlertsTopic)
	if err != nil {
		return err
	}
	q, err := alert.Query(o)
	if err != nil {
		return err
	}
	if err := service.RunQuery(ctx, q, stderr); err != nil {
		return err
	}
	return report(o.Brokers, before, stderr)
}

// patience is how long the final report may take to read the alerts back.
const patience = 10 * time.Second

// report reads back the alerts that were written since the job began, and says
// how long each took from broker to broker.
func report(brokers []string, from map[int32]int64, w io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := alert.Read(ctx, brokers, from)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d critical and %d high alerts; broker to broker p50 %s, p95 %s, p99 %s, max %s\n",
		r.Critical, r.High, r.Percentile(0.50), r.Percentile(0.95), r.Percentile(0.99), r.Percentile(1))
	return nil
}
