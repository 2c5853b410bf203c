package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/frazil/frazil/iceberg"
)

func inspectCommand() command {
	return command{
		name:    "inspect",
		about:   "show the schema, snapshots, files and deletion vectors of a table",
		example: "lake inspect -warehouse /tmp/w -table risk.trades -json",
		run:     runInspect,
	}
}

func runInspect(ctx context.Context, io streams, args []string) (err error) {
	fs := inspectCommand().flags(io)
	var src source
	src.register(fs, true)
	asJSON := fs.Bool("json", false, "print one JSON object")
	verify := fs.Bool("verify", false, "also check the files against the manifests, Puffin footers included")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	t, closeTable, err := src.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTable()) }()
	if *verify { // first: a table with damaged files cannot be shown
		if err := t.Verify(ctx); err != nil {
			return err
		}
	}
	info, err := t.Inspect(ctx)
	if err != nil {
		return err
	}
	if *asJSON {
		text, err := info.MarshalIndent()
		if err != nil {
			return err
		}
		fmt.Fprintf(io.out, "%s\n", text)
	} else if err := printInspection(io, info); err != nil {
		return err
	}
	if *verify {
		fmt.Fprintln(io.err, "verified")
	}
	return nil
}

func printInspection(io streams, info *iceberg.Inspection) error {
	w := tabwriter.NewWriter(io.out, 2, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COLUMN\tID\tTYPE\tDEFAULT")
	for _, c := range info.Schema {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", c.Name, c.ID, c.Type, defaultText(c))
	}
	fmt.Fprintln(w, "\nSNAPSHOT\tOPERATION\tROWS ADDED\tROWS IN ALL")
	for _, s := range info.Snapshots {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", s.ID, s.Operation, s.Summary["added-records"], s.Summary["total-records"])
	}
	fmt.Fprintln(w, "\nDATA FILE\tROWS\tBYTES\tPARTITION")
	for _, f := range info.DataFiles {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", f.Path, f.Rows, f.Bytes, partitionText(f.Partition))
		for col, layout := range f.Shredded {
			fmt.Fprintf(w, "  %s: %s\n", col, layout)
		}
	}
	if len(info.DeletionVectors) > 0 {
		fmt.Fprintln(w, "\nDELETION VECTOR\tDELETED ROWS\tOF DATA FILE")
	}
	for _, v := range info.DeletionVectors {
		fmt.Fprintf(w, "%s\t%d\t%s\n", v.Puffin, v.Cardinality, v.DataFile)
	}
	return w.Flush()
}

func defaultText(c iceberg.ColumnInfo) string {
	if c.InitialDefault == nil && c.WriteDefault == nil {
		return ""
	}
	return fmt.Sprintf("%v (rows before it: %v)", c.WriteDefault, c.InitialDefault)
}

func partitionText(p map[string]any) string {
	parts := make([]string, 0, len(p))
	for name, v := range p {
		parts = append(parts, fmt.Sprintf("%s=%v", name, v))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}
