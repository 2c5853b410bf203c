package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/variant"
)

func scanCommand() command {
	return command{
		name:    "scan",
		about:   "print rows, one JSON object a line",
		example: `lake scan -warehouse /tmp/w -table risk.trades -where "notional > 50000000 AND desk = 'FX'" -columns trade_id,notional -limit 10`,
		run:     runScan,
	}
}

func getCommand() command {
	return command{
		name:    "get",
		about:   "print a part of a Variant column, one JSON value a row",
		example: `lake get -warehouse /tmp/w -table risk.trades -column pricing_vector -path '$.greeks.delta' -type double`,
		run:     runGet,
	}
}

// reading holds the flags that scan and get share.
type reading struct {
	src      source
	where    string
	limit    int64
	none     bool // -limit 0
	ref      string
	snapshot int64
	lineage  bool
	stats    bool
}

func (r *reading) register(fs *flag.FlagSet) {
	r.src.register(fs, true)
	fs.StringVar(&r.where, "where", "", "only rows for which the `EXPR` is true")
	fs.Func("limit", "at most `N` rows", func(text string) (err error) {
		r.limit, err = strconv.ParseInt(text, 10, 64)
		r.none = r.limit == 0
		return err
	})
	fs.StringVar(&r.ref, "ref", "", "read the branch or tag `NAME`")
	fs.Int64Var(&r.snapshot, "snapshot", 0, "read the snapshot with this `ID`")
	fs.BoolVar(&r.stats, "stats", false, "print figures as JSON on the last line of stderr")
}

// options turns the flags into the options of a scan.
func (r *reading) options() (iceberg.ScanOptions, error) {
	o := iceberg.ScanOptions{Limit: r.limit, Ref: r.ref, SnapshotID: r.snapshot, Lineage: r.lineage}
	if r.where == "" {
		return o, nil
	}
	var err error
	o.Where, err = iceberg.ParseWhere(r.where)
	return o, err
}

func runScan(ctx context.Context, io streams, args []string) error {
	fs := scanCommand().flags(io)
	var r reading
	r.register(fs)
	columns := fs.String("columns", "", "only these columns, as `a,b`")
	fs.BoolVar(&r.lineage, "lineage", false, "add _row_id and _last_updated_sequence_number")
	if err := parseAll(fs, args); err != nil {
		return err
	}
	opts, err := r.options()
	if err != nil {
		return err
	}
	if *columns != "" {
		for _, c := range strings.Split(*columns, ",") {
			opts.Columns = append(opts.Columns, strings.TrimSpace(c))
		}
	}
	return r.print(ctx, io, opts, iceberg.JSONRows)
}

func runGet(ctx context.Context, io streams, args []string) error {
	fs := getCommand().flags(io)
	var r reading
	r.register(fs)
	column := fs.String("column", "", "the Variant column `COL`")
	path := fs.String("path", "$", "`PATH` of the part, such as $.a.b[0]")
	typ := fs.String("type", "variant", "SQL `TYPE` to cast to")
	try := fs.Bool("try", false, "print null where a value does not cast, instead of failing")
	if err := parseAll(fs, args); err != nil {
		return err
	}
	if *column == "" {
		return errors.New("name the column with -column")
	}
	opts, err := r.options()
	if err != nil {
		return err
	}
	x := iceberg.Extraction{Column: *column, Try: *try}
	if x.Path, err = variant.ParsePath(*path); err != nil {
		return err
	}
	if x.Type, err = variant.ParseType(*typ); err != nil {
		return err
	}
	opts.Extractions = []iceberg.Extraction{x}
	return r.print(ctx, io, opts, iceberg.JSONCells)
}

// parseAll parses flags and refuses what follows them.
func parseAll(fs *flag.FlagSet, args []string) error {
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return nil
}

// print scans the table and prints its rows.
func (r *reading) print(ctx context.Context, io streams, opts iceberg.ScanOptions, form iceberg.JSONForm) (err error) {
	start := time.Now()
	t, closeTable, err := r.src.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTable()) }()
	scan, err := t.Scan(ctx, opts)
	if err != nil {
		return err
	}
	if !r.none {
		err = printRows(ctx, scan, io.out, form)
	}
	if err != nil {
		return err
	}
	if !r.stats {
		return nil
	}
	got := scan.Stats()
	files := int(got.Files)
	s := stats{Rows: got.Rows, Files: &files, BytesRead: &got.BytesRead, ColumnsRead: got.ColumnsRead}
	return s.print(io.err, start)
}

// printRows writes the lines as they come: each step of the scan is a batch, so
// they need no buffer.
func printRows(ctx context.Context, scan *iceberg.Scan, out io.Writer, form iceberg.JSONForm) error {
	for lines, err := range scan.JSON(ctx, form) {
		if err != nil {
			return err
		}
		if _, err := out.Write(lines); err != nil {
			return err
		}
	}
	return nil
}
