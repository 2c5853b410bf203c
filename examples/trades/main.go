// Trades runs the whole trade pipeline in one process: a producer of trade
// events, alerts in real time, ingestion into an Iceberg table with a shredded
// Variant column, and a batch job that computes value at risk and corrects two
// trades. It needs nothing but Go; Kafka is embedded unless -brokers is given.
//
//	go run ./examples/trades
//	go run ./examples/trades -trades 200000 -rate 0 -bad 0.001 -dir /tmp/run -json
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/frazil/frazil/examples/trades/internal/pipeline"
	"github.com/frazil/frazil/examples/trades/internal/service"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(service.ExitCode("trades", err, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := pipeline.Options{}
	flags := flag.NewFlagSet("trades", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.Trades, "trades", 20000, "number of trade events")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the events and of the simulation")
	flags.Float64Var(&o.Rate, "rate", 5000, "events per second; 0 is as fast as possible")
	flags.Float64Var(&o.Bad, "bad", 0, "share of malformed or incomplete events, 0 to 1")
	flags.StringVar(&o.Dir, "dir", "", "folder for the warehouse and the report, created (default a new temporary one)")
	flags.StringVar(&o.Brokers, "brokers", "", "addresses of a Kafka, host:port[,host:port] (default an embedded one)")
	asJSON := flags.Bool("json", false, "print the summary as one JSON object")
	flags.Usage = service.Usage(flags, "Runs the whole trade pipeline and writes report.html.",
		"go run ./examples/trades -trades 20000 -seed 42 -bad 0.001 -dir /tmp/run")
	if err := service.Parse(flags, args); err != nil {
		return err
	}
	if err := check(flags, &o); err != nil {
		return err
	}
	progress := service.NewProgress(stderr)
	o.Progress, o.Logger = progress.Show, service.NewLogger(stderr)
	summary, err := pipeline.Run(ctx, o)
	progress.Done()
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted: what was committed is readable in %s", filepath.Join(o.Dir, "warehouse"))
		}
		return err
	}
	if *asJSON {
		return json.NewEncoder(stdout).Encode(summary)
	}
	return summary.WriteText(stdout)
}

// check validates the flags; without -dir it makes a folder.
func check(flags *flag.FlagSet, o *pipeline.Options) error {
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: see -h", flags.Arg(0))
	case o.Trades < 1:
		return errors.New("-trades must be at least 1")
	case o.Rate < 0:
		return errors.New("-rate must not be negative")
	case !(o.Bad >= 0 && o.Bad <= 1):
		return errors.New("-bad must be between 0 and 1")
	}
	var err error
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "trades-"); err != nil {
			return err
		}
		fmt.Fprintln(flags.Output(), "working in", o.Dir)
		return nil
	}
	o.Dir, err = filepath.Abs(o.Dir)
	return err
}
