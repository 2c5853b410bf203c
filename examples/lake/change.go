package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/frazil/frazil/iceberg"
)

func deleteCommand() command {
	return command{
		name:    "delete",
		about:   "delete the rows for which a predicate is true, in one snapshot",
		example: `lake delete -warehouse /tmp/w -table risk.trades -where "trade_id = 'T-000017'"`,
		run:     runDelete,
	}
}

func updateCommand() command {
	return command{
		name:    "update",
		about:   "set columns of the rows for which a predicate is true, in one snapshot",
		example: `lake update -warehouse /tmp/w -table risk.trades -set notional=1e6 -set "desk='FX'" -where "trade_id = 'T-000017'"`,
		run:     runUpdate,
	}
}

func mergeCommand() command {
	return command{
		name:    "merge",
		args:    "FILE.ndjson | -",
		about:   "update the rows that have the keys of JSON lines, and insert the other lines, in one snapshot",
		example: "lake merge -warehouse /tmp/w -table risk.trades -key trade_id amended.ndjson",
		run:     runMerge,
	}
}

func runDelete(ctx context.Context, io streams, args []string) error {
	fs := deleteCommand().flags(io)
	var src source
	src.register(fs, false)
	where := whereFlag(fs)
	if err := parseAll(fs, args); err != nil {
		return err
	}
	expr, err := where.parse()
	if err != nil {
		return err
	}
	return change(ctx, io, &src, func(t *iceberg.Table) (*iceberg.Changes, error) {
		return t.Delete(ctx, expr, iceberg.WriteOptions{})
	})
}

func runUpdate(ctx context.Context, io streams, args []string) error {
	fs := updateCommand().flags(io)
	var src source
	src.register(fs, false)
	where := whereFlag(fs)
	var sets setFlag
	fs.Var(&sets, "set", "`col=value`: a literal, a column, or variant_get of one; JSON in quotes for a Variant; may be repeated")
	if err := parseAll(fs, args); err != nil {
		return err
	}
	expr, err := where.parse()
	if err != nil {
		return err
	}
	if len(sets) == 0 {
		return errors.New("say what to set with -set col=value")
	}
	return change(ctx, io, &src, func(t *iceberg.Table) (*iceberg.Changes, error) {
		return t.Update(ctx, sets, expr, iceberg.WriteOptions{})
	})
}

func runMerge(ctx context.Context, io streams, args []string) error {
	fs := mergeCommand().flags(io)
	var src source
	src.register(fs, false)
	keys := fs.String("key", "", "columns `a,b` that tell which row a line is for")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return errors.New("name one file of JSON lines, or - for stdin")
	}
	if *keys == "" {
		return errors.New("name the key columns with -key a,b")
	}
	opts := iceberg.MergeOptions{}
	for _, k := range strings.Split(*keys, ",") {
		opts.On = append(opts.On, strings.TrimSpace(k))
	}
	in := io.in
	if name := fs.Arg(0); name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	return change(ctx, io, &src, func(t *iceberg.Table) (*iceberg.Changes, error) {
		return t.MergeJSON(ctx, iceberg.JSONLines(in), opts)
	})
}

// change runs an operation on the table and says what it did.
func change(ctx context.Context, io streams, src *source, op func(t *iceberg.Table) (*iceberg.Changes, error)) (err error) {
	start := time.Now()
	t, closeTable, err := src.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTable()) }()
	done, err := op(t)
	if err != nil {
		return err
	}
	if done.SnapshotID == 0 {
		fmt.Fprintln(io.err, "no row matches; nothing was committed")
		return nil
	}
	fmt.Fprintf(io.err, "deleted %d, updated %d, inserted %s; %s; %s added, %d dropped; snapshot %d, %s\n",
		done.Deleted, done.Updated, count(done.Inserted, "row"), count(len(done.Vectors), "deletion vector"),
		count(len(done.Files), "file"), len(done.Dropped), done.SnapshotID, time.Since(start).Round(time.Millisecond))
	return nil
}

// requiredWhere is a -where that must be given: a forgotten one would change
// every row.
type requiredWhere struct{ text *string }

func whereFlag(fs *flag.FlagSet) requiredWhere {
	return requiredWhere{fs.String("where", "", "the rows to change: those for which `EXPR` is true; TRUE means all")}
}

func (w requiredWhere) parse() (iceberg.Expr, error) {
	if *w.text == "" {
		return iceberg.Expr{}, errors.New("say which rows with -where EXPR (TRUE means all)")
	}
	return iceberg.ParseWhere(*w.text)
}

// setFlag collects -set flags.
type setFlag []iceberg.Assignment

func (s *setFlag) String() string { return "" }

func (s *setFlag) Set(text string) error {
	a, err := iceberg.ParseSet(text)
	if err != nil {
		return err
	}
	*s = append(*s, a)
	return nil
}
