package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
)

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 7, "rounds of which the best counts")
	flag.IntVar(&o.docs, "docs", 2000, "generated documents")
	flag.BoolVar(&o.pricing, "pricing", false, "measure the generated documents only")
	flag.BoolVar(&o.rust, "rust", false, "measure Rust's parquet-variant too; needs cargo")
	flag.BoolVar(&o.duckdb, "duckdb", false, "measure DuckDB too; needs python3")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	if err := compare(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	rounds, docs          int
	pricing, rust, duckdb bool
}

// compare measures corpus by corpus and prints the tables at the end.
func compare(o options) error {
	all := corpora(o.docs)
	if o.pricing {
		all = all[:1]
	}
	engines := setUp(o)
	tables := []*table{
		{title: "JSON to Variant", job: intoVariant},
		{title: "Variant to JSON", job: intoJSON},
		{title: "validation", job: validation},
		{title: "one path", job: onePath, parts: len(getPaths)},
	}
	var notes []string
	for i, c := range all {
		fmt.Fprintln(os.Stderr, "measuring", c.name)
		e, err := encodeCorpus(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		runs, err := startAll(engines, c, e)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for _, t := range tables {
			if works := e.works(c, t.job); t.job != onePath || i == 0 {
				t.measure(append(works, runs.works(t.job)...), c, o.rounds)
			}
		}
		notes = append(notes, runs.compareValues(c, e)...)
		runs.close()
	}
	structs, err := measureStructs(o.rounds)
	if err != nil {
		return err
	}
	for _, t := range append(tables, structs...) {
		t.print()
	}
	printNotes(notes)
	fmt.Fprintln(os.Stderr, "lookups that led somewhere:", found)
	return nil
}
