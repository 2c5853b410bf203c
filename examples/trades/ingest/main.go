// Ingest brings trades from Kafka into an Iceberg table, each once: the third
// job of the trade pipeline on its own. It runs until it is interrupted, or
// with -drain until the topic has been read. Killed at any time, it goes on
// where the table says.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/frazil/frazil/examples/trades/internal/ingest"
	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/examples/trades/internal/service"
	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/iceberg"
	_ "github.com/frazil/frazil/iceberg/cloud" // REST, Glue, object stores
	"github.com/frazil/frazil/iceberg/stream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(service.ExitCode("ingest", err, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var common service.Flags
	o := ingest.Options{}
	flags := flag.NewFlagSet("ingest", flag.ContinueOnError)
	flags.SetOutput(stderr)
	common.Register(flags)
	flags.StringVar(&o.Group, "group", "", "consumer group, shared by all processes of the job (default: read all partitions)")
	flags.DurationVar(&o.Interval, "interval", 10*time.Second, "time between commits")
	flags.BoolVar(&o.Drain, "drain", false, "end when the topic has been read to its present end")
	flags.Usage = service.Usage(flags, "Appends trades to the table "+trade.VectorsTable+".",
		"go run ./examples/trades/ingest -brokers localhost:9092 -warehouse /tmp/run/warehouse")
	if err := service.Parse(flags, args); err != nil {
		return err
	}
	if o.Brokers, err = common.BrokerList(); err != nil {
		return err
	}
	catalog, err := common.OpenCatalog(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, catalog.Close()) }()
	table, err := catalog.LoadOrCreate(ctx, trade.VectorsTable, trade.VectorsSpec())
	if err != nil {
		return err
	}
	if err := kafka.Create(ctx, o.Brokers, trade.Topic, trade.DeadLetterTopic); err != nil {
		return err
	}
	o.OnCommit = func(e stream.Epoch, c *iceberg.Commit) {
		fmt.Fprintf(stdout, "epoch %d: %d rows in %d files, snapshot %d\n", e.ID, c.Rows, len(c.Files), c.SnapshotID)
	}
	q, err := ingest.Query(table, o)
	if err != nil {
		return err
	}
	return service.RunQuery(ctx, q, stderr)
}
