// Batch computes value at risk by day, desk and asset class from the table of
// trades: the fourth job of the trade pipeline on its own.
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

	"github.com/frazil/frazil/examples/trades/internal/batch"
	"github.com/frazil/frazil/examples/trades/internal/service"
	"github.com/frazil/frazil/examples/trades/internal/trade"
	_ "github.com/frazil/frazil/iceberg/cloud" // REST, Glue, object stores
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(service.ExitCode("batch", err, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var common service.Flags
	o := batch.Options{}
	flags := flag.NewFlagSet("batch", flag.ContinueOnError)
	flags.SetOutput(stderr)
	common.Register(flags)
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the simulation")
	amend := flags.String("amend", "", "id of a trade to amend; needs -cancel")
	cancel := flags.String("cancel", "", "id of a trade to cancel; needs -amend")
	flags.Usage = service.Usage(flags, "Sums up the table "+trade.VectorsTable+" in "+trade.SummaryTable+".",
		"go run ./examples/trades/batch -warehouse /tmp/run/warehouse")
	if err := service.Parse(flags, args); err != nil {
		return err
	}
	catalog, err := common.OpenCatalog(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, catalog.Close()) }()
	trades, err := catalog.Load(ctx, trade.VectorsTable)
	if err != nil {
		return err
	}
	summary, err := catalog.LoadOrCreate(ctx, trade.SummaryTable, trade.SummarySpec())
	if err != nil {
		return err
	}
	res, err := batch.Run(ctx, trades, o)
	if err != nil {
		return err
	}
	if err := batch.Store(ctx, summary, res.Groups); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d trades in %v, %d bytes read, sum of 99 %% VaR %.2f, %d summary rows\n",
		res.Rows, res.Took, res.Scan.BytesRead, res.TotalVaR, len(res.Groups))
	if err := res.WriteProfile(stdout); err != nil {
		return err
	}
	if *amend == "" && *cancel == "" {
		return nil
	}
	fixes, err := batch.Correct(ctx, trades, *amend, *cancel, res.Rows)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s amended, %s cancelled, %d rows remain\n", fixes.Amended, fixes.Cancelled, fixes.RowsAfter)
	for _, v := range fixes.Vectors {
		fmt.Fprintf(stdout, "vector of %d rows in %s for %s\n", v.Cardinality, v.Puffin, v.DataFile)
	}
	return nil
}
