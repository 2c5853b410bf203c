package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/frazil/frazil/iceberg"
)

func compactCommand() command {
	return command{
		name:    "compact",
		about:   "rewrite small files and files with deleted rows into larger ones, shredded anew",
		example: `lake compact -warehouse /tmp/w -table risk.trades -where "trade_date = DATE '2026-07-01'"`,
		run:     runCompact,
	}
}

func reshredCommand() command {
	return command{
		name:    "reshred",
		about:   "copy the rows appended since the last time into another table, shredded; it is created when it does not exist",
		example: "lake reshred -warehouse /tmp/w -table risk.raw -to risk.trades",
		run:     runReshred,
	}
}

func expireCommand() command {
	return command{
		name:    "expire",
		about:   "forget old snapshots and remove the files that only they need",
		example: "lake expire -warehouse /tmp/w -table risk.trades -keep 5",
		run:     runExpire,
	}
}

func orphansCommand() command {
	return command{
		name:    "orphans",
		about:   "list files older than three days that belong to no snapshot, and remove them on demand",
		example: "lake orphans -warehouse /tmp/w -table risk.trades -delete",
		run:     runOrphans,
	}
}

// withTable runs fn on the table that the flags name.
func withTable(ctx context.Context, src *source, fn func(t *iceberg.Table) error) error {
	t, closeTable, err := src.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(t), closeTable())
}

func runCompact(ctx context.Context, io streams, args []string) error {
	fs := compactCommand().flags(io)
	var src source
	src.register(fs, false)
	where := fs.String("where", "", "only files that may hold rows for which `EXPR` is true; all their rows are kept")
	if err := parseAll(fs, args); err != nil {
		return err
	}
	var expr iceberg.Expr
	if *where != "" {
		var err error
		if expr, err = iceberg.ParseWhere(*where); err != nil {
			return err
		}
	}
	return withTable(ctx, &src, func(t *iceberg.Table) error {
		c, err := t.Compact(ctx, iceberg.CompactOptions{Where: expr})
		if err != nil {
			return err
		}
		if err := t.MergeManifests(ctx); err != nil {
			return err
		}
		fmt.Fprintf(io.out, "%s with %s became %d\n", count(len(c.Removed), "file"), count(c.Rows, "row"), len(c.Files))
		return nil
	})
}

func runReshred(ctx context.Context, io streams, args []string) error {
	fs := reshredCommand().flags(io)
	var src source
	src.register(fs, false)
	to := fs.String("to", "", "the table to copy into, as `namespace.name`")
	var opts iceberg.ReshredOptions
	fs.BoolVar(&opts.SkipDeletes, "skip-deletes", false, "go on when rows of the table were deleted; those that were copied before stay in the target")
	if err := parseAll(fs, args); err != nil {
		return err
	}
	if *to == "" {
		return errors.New("name the target with -to namespace.name")
	}
	cat, err := src.openCatalog(ctx)
	if err != nil {
		return err
	}
	c, err := reshred(ctx, cat, src.table, *to, opts)
	if err = errors.Join(err, cat.Close()); err != nil {
		return err
	}
	fmt.Fprintf(io.out, "%s into %s\n", count(c.Rows, "row"), *to)
	return nil
}

func reshred(ctx context.Context, cat *iceberg.Catalog, from, to string, opts iceberg.ReshredOptions) (*iceberg.Commit, error) {
	source, err := cat.Load(ctx, from)
	if err != nil {
		return nil, err
	}
	target, err := cat.LoadOrCreate(ctx, to, specOf(source))
	if err != nil {
		return nil, err
	}
	return iceberg.Reshred(ctx, source, target, opts)
}

// specOf describes a new table with the columns and partitions of t.
func specOf(t *iceberg.Table) iceberg.TableSpec {
	schema := t.Schema()
	var spec iceberg.TableSpec
	for _, f := range schema.Fields() {
		spec.Columns = append(spec.Columns, iceberg.Column{
			Name: f.Name, Type: f.Type, Required: f.Required, Doc: f.Doc, Default: f.WriteDefault,
		})
	}
	parts := t.Unwrap().Spec()
	for _, p := range parts.Fields() {
		if name, ok := schema.FindColumnName(p.SourceID()); ok {
			spec.Partition = append(spec.Partition, iceberg.PartitionField{Source: name, Transform: p.Transform, Name: p.Name})
		}
	}
	return spec
}

func runExpire(ctx context.Context, io streams, args []string) error {
	fs := expireCommand().flags(io)
	var src source
	src.register(fs, false)
	keep := fs.Int("keep", 1, "keep the newest `N` snapshots of each branch")
	if err := parseAll(fs, args); err != nil {
		return err
	}
	if *keep < 1 {
		return errors.New("-keep is at least 1")
	}
	return withTable(ctx, &src, func(t *iceberg.Table) error {
		e, err := t.Expire(ctx, iceberg.ExpireOptions{Keep: *keep})
		if err == nil {
			fmt.Fprintf(io.out, "%s expired\n", count(len(e.Snapshots), "snapshot"))
		}
		return err
	})
}

func runOrphans(ctx context.Context, io streams, args []string) error {
	fs := orphansCommand().flags(io)
	var src source
	src.register(fs, false)
	remove := fs.Bool("delete", false, "remove the files")
	if err := parseAll(fs, args); err != nil {
		return err
	}
	return withTable(ctx, &src, func(t *iceberg.Table) error {
		orphans, err := t.RemoveOrphans(ctx, iceberg.OrphanOptions{Delete: *remove})
		if err != nil {
			return err
		}
		for _, o := range orphans {
			fmt.Fprintln(io.out, o.Path)
		}
		verb := "found"
		if *remove {
			verb = "removed"
		}
		fmt.Fprintf(io.err, "%s %s\n", count(len(orphans), "file"), verb)
		return nil
	})
}
