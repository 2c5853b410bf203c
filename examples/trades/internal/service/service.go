// Package service holds what the programs of the pipeline have in common: flags
// for brokers and catalogs, logging, progress on a terminal, exit codes.
package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/frazil/frazil/examples/internal/props"
	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/iceberg"
)

// Exit codes beside 0 and 1.
const exitUsage = 2

// errUsage is the error of flags that do not parse.
var errUsage = errors.New("-h explains the flags")

// Parse parses flags. A mistake in them is an error of one line; the help is
// printed only on demand.
func Parse(flags *flag.FlagSet, args []string) error {
	w := flags.Output()
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	flags.SetOutput(w)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.Usage()
	case err != nil:
		err = fmt.Errorf("%w; %w", err, errUsage)
	}
	return err
}

// ExitCode prints an error as one line and gives the program's exit code.
func ExitCode(program string, err error, w io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(w, "%s: %s\n", program, strings.ReplaceAll(err.Error(), "\n", "; "))
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	return 1
}

// Usage prints what a program does, an example and its flags.
func Usage(flags *flag.FlagSet, what, example string) func() {
	return func() {
		fmt.Fprintf(flags.Output(), "%s\n\nExample:\n  %s\n\nFlags:\n", what, example)
		flags.PrintDefaults()
	}
}

// NewLogger logs warnings and errors of the jobs.
func NewLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// Flags are those of a job that runs against real services.
type Flags struct {
	brokers   string
	catalog   string
	warehouse string
	props     props.Flag
}

// Register adds -brokers, -catalog, -warehouse and -prop. Every job takes all of
// them, so that one set of flags serves the four; each uses what it needs.
func (f *Flags) Register(flags *flag.FlagSet) {
	flags.StringVar(&f.brokers, "brokers", "", "addresses of Kafka, host:port[,host:port]; for producer, alerts and ingest")
	flags.StringVar(&f.catalog, "catalog", "", "catalog of ingest and batch: a SQLite file, http(s)://... or glue:// (default WAREHOUSE/catalog.db)")
	flags.StringVar(&f.warehouse, "warehouse", "", "root of new tables of ingest and batch: a folder or an object store's URI")
	flags.Var(&f.props, "prop", "key=value property of the catalog, may be repeated; secrets belong into the environment")
}

// BrokerList gives the addresses, or an error that says how to give them.
func (f *Flags) BrokerList() ([]string, error) {
	list := kafka.Split(f.brokers)
	if len(list) == 0 {
		return nil, errors.New("-brokers is missing: give the addresses of Kafka, as in -brokers localhost:9092")
	}
	return list, nil
}

// OpenCatalog connects to the catalog that the flags name.
func (f *Flags) OpenCatalog(ctx context.Context) (*iceberg.Catalog, error) {
	switch {
	case f.catalog == "" && f.warehouse == "":
		return nil, errors.New("-warehouse or -catalog is missing: give a folder, as in -warehouse /tmp/run/warehouse")
	case f.catalog == "" && !strings.Contains(f.warehouse, "://"):
		if err := os.MkdirAll(f.warehouse, 0o755); err != nil {
			return nil, err
		}
		f.catalog = filepath.Join(f.warehouse, "catalog.db")
	case f.catalog == "":
		return nil, errors.New("-catalog is missing: a warehouse in an object store needs one, as in -catalog http://localhost:8181")
	}
	p := map[string]string{}
	if f.warehouse != "" {
		p["warehouse"] = f.warehouse
	}
	maps.Copy(p, f.props)
	return iceberg.OpenCatalog(ctx, f.catalog, p)
}
