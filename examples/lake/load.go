package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/frazil/frazil/iceberg"
)

func loadCommand() command {
	return command{
		name:    "load",
		args:    "FILE.ndjson | -",
		about:   "append JSON lines to a table, which is created when it does not exist",
		example: "lake load -warehouse /tmp/w -table risk.trades -columns trade_id:string,notional:double -variant pricing_vector trades.ndjson",
		run: func(ctx context.Context, io streams, args []string) error {
			l := &loader{io: io}
			return l.run(ctx, args)
		},
	}
}

// loader holds the flags of load and its state.
type loader struct {
	io        streams
	src       source
	variant   string
	columns   string
	shred     bool
	partition string
	onError   string
	stats     bool

	given   map[string]bool // flags on the command line
	created bool
	shown   int // rejected lines that were printed
	bytes   int64
}

// maxShown bounds the rejected lines that are printed one by one.
const maxShown = 20

func (l *loader) flags() *flag.FlagSet {
	fs := loadCommand().flags(l.io)
	l.src.register(fs, false)
	fs.StringVar(&l.variant, "variant", "", "`COL` of type variant: of a new table without -columns the only one, which holds whole lines (default \"doc\"); with -columns the field of that name")
	fs.StringVar(&l.columns, "columns", "", "fields that become columns, as `name:type,...`; types: boolean, int, bigint, float, double, decimal(p,s), string, binary, date, timestamp, ...")
	fs.BoolVar(&l.shred, "shred", true, "store frequent fields of Variants as typed columns")
	fs.StringVar(&l.partition, "partition", "", "partition a new table by `a,b`; transforms such as day(ts) or bucket(16,id) too")
	fs.StringVar(&l.onError, "on-error", "stop", "on a bad line: `stop` and load nothing, or skip it")
	fs.BoolVar(&l.stats, "stats", false, "print figures as JSON on the last line of stderr")
	return fs
}

func (l *loader) run(ctx context.Context, args []string) error {
	start := time.Now()
	fs := l.flags()
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return errors.New("give one file, or - for the standard input")
	}
	if l.onError != "stop" && l.onError != "skip" {
		return fmt.Errorf("-on-error is stop or skip, not %q", l.onError)
	}
	l.given = map[string]bool{}
	fs.Visit(func(f *flag.Flag) { l.given[f.Name] = true })
	in, closeIn, err := l.openInput(fs.Arg(0))
	if err != nil {
		return err
	}
	defer closeIn()
	cat, err := l.src.openCatalog(ctx)
	if err != nil {
		return err
	}
	commit, err := l.load(ctx, cat, in)
	if err != nil && l.created {
		err = errors.Join(err, l.dropEmpty(context.WithoutCancel(ctx), cat))
	}
	if err = errors.Join(err, cat.Close()); err != nil {
		return err
	}
	return l.report(commit, start)
}

// dropEmpty removes the table that this load created, unless somebody else has
// put rows into it by now.
func (l *loader) dropEmpty(ctx context.Context, cat *iceberg.Catalog) error {
	t, err := cat.Load(ctx, l.src.table)
	if err != nil || t.Metadata().CurrentSnapshot() != nil {
		return err
	}
	return cat.Drop(ctx, l.src.table)
}

func (l *loader) openInput(name string) (io.Reader, func() error, error) {
	if name == "-" {
		return l.io.in, func() error { return nil }, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}

func (l *loader) load(ctx context.Context, cat *iceberg.Catalog, in io.Reader) (*iceberg.Commit, error) {
	t, err := l.table(ctx, cat)
	if err != nil {
		return nil, err
	}
	opts := iceberg.AppendOptions{ByName: l.columns != "", Unshredded: !l.shred}
	if l.onError == "skip" {
		opts.Reject = l.reject
	}
	w, err := t.NewAppender(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := l.copy(w, newContextReader(ctx, in)); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w.Commit(ctx)
}

// table loads the table or creates it by the flags.
func (l *loader) table(ctx context.Context, cat *iceberg.Catalog) (*iceberg.Table, error) {
	cols, err := l.tableColumns()
	if err != nil {
		return nil, err
	}
	t, err := cat.Load(ctx, l.src.table)
	if err == nil {
		return t, l.checkExisting(t, cols)
	}
	if !errors.Is(err, iceberg.ErrNoTable) {
		return nil, err
	}
	spec := iceberg.TableSpec{Columns: cols, Unshredded: !l.shred}
	if spec.Partition, err = l.partitionFields(); err != nil {
		return nil, err
	}
	t, err = cat.Create(ctx, l.src.table, spec)
	l.created = err == nil
	return t, err
}

// tableColumns are the columns that the flags ask for.
func (l *loader) tableColumns() ([]iceberg.Column, error) {
	if l.columns == "" {
		name := l.variant
		if name == "" {
			name = "doc"
		}
		return variantColumn(nil, name)
	}
	cols, err := iceberg.ParseColumns(l.columns)
	if err == nil && l.variant != "" {
		return variantColumn(cols, l.variant)
	}
	return cols, err
}

// variantColumn appends a column of type variant.
func variantColumn(cols []iceberg.Column, name string) ([]iceberg.Column, error) {
	typ, err := iceberg.ParseType("variant")
	return append(cols, iceberg.Column{Name: name, Type: typ}), err
}

func (l *loader) partitionFields() ([]iceberg.PartitionField, error) {
	if l.partition == "" {
		return nil, nil
	}
	return iceberg.ParsePartition(l.partition)
}

func (l *loader) reject(_ int64, _ []byte, err error) error {
	switch {
	case l.shown < maxShown:
		fmt.Fprintln(l.io.err, "skipped:", oneLine(err))
	case l.shown == maxShown:
		fmt.Fprintln(l.io.err, "skipped: more lines, which are only counted")
	}
	l.shown++
	return nil
}

// The longest line, and what is read ahead.
const (
	maxLine    = 128 << 20
	readBuffer = 1 << 20
)

// copy hands the lines to the appender, which counts them.
func (l *loader) copy(w *iceberg.Appender, in io.Reader) error {
	r := bufio.NewReaderSize(in, readBuffer)
	p := newProgress(l.io.err, "lines")
	defer p.clear()
	var long []byte
	for n := int64(1); ; n++ {
		line, err := r.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(long) > maxLine {
				return fmt.Errorf("line %d is longer than %d bytes", n, maxLine)
			}
			long = append(long, line...)
			line, err = r.ReadSlice('\n')
		}
		if len(long) > 0 {
			line, long = append(long, line...), long[:0]
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		l.bytes += int64(len(line))
		if len(line) > 0 {
			if err := w.WriteJSON(line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
		p.show(n)
	}
}

func (l *loader) report(c *iceberg.Commit, start time.Time) error {
	fmt.Fprintf(l.io.out, "%s into %s: %s, %s\n",
		count(c.Rows, "row"), l.src.table, count(len(c.Files), "file"), count(c.Bytes, "byte"))
	if c.Rejected > 0 {
		fmt.Fprintf(l.io.err, "%s skipped\n", count(c.Rejected, "line"))
	}
	if !l.stats {
		return nil
	}
	files := len(c.Files)
	s := stats{Rows: c.Rows, BytesIn: &l.bytes, Files: &files, FileBytes: &c.Bytes, Rejected: &c.Rejected}
	return s.print(l.io.err, start)
}
