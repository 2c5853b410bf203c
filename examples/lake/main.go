// Command lake is a small tool for Iceberg tables with Variant columns: it loads
// JSON, reads tables back and shows what they hold.
//
//	go run ./examples/lake load -warehouse /tmp/w -table demo.events events.ndjson
//	go run ./examples/lake scan -warehouse /tmp/w -table demo.events
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// command is one verb of the tool.
type command struct {
	name    string
	args    string // what follows the flags
	about   string
	example string
	run     func(ctx context.Context, io streams, args []string) error
}

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// commands lists the verbs in the order of the help text.
func commands() []command {
	return []command{
		loadCommand(), scanCommand(), getCommand(), deleteCommand(), updateCommand(), mergeCommand(),
		compactCommand(), reshredCommand(), expireCommand(), orphansCommand(), inspectCommand(),
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lake:", oneLine(err))
		os.Exit(1)
	}
}

func run(ctx context.Context, io streams, args []string) error {
	if len(args) == 0 || strings.TrimLeft(args[0], "-") == "h" || strings.TrimLeft(args[0], "-") == "help" {
		if len(args) == 0 {
			return errors.New("give a command; lake -h lists them")
		}
		usage(io.err)
		return nil
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, io, args[1:])
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, hint(err))
		}
		return nil
	}
	return fmt.Errorf("there is no command %q; lake -h lists them", args[0])
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: lake COMMAND [flags] [args]; lake COMMAND -h explains one")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.about)
	}
}

// flags makes the flag set of a command, whose help shows the example.
func (c command) flags(io streams) *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.err)
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "usage: lake %s [flags] %s\n%s\n\nexample:\n  %s\n\nflags:\n", c.name, c.args, c.about, c.example)
		fs.PrintDefaults()
	}
	return fs
}

// parseFlags parses flags. A mistake in them is an error of one line; the help is
// printed only on demand.
func parseFlags(fs *flag.FlagSet, args []string) error {
	w := fs.Output()
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	fs.SetOutput(w)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fs.Usage()
	case err != nil:
		err = fmt.Errorf("%w; lake %s -h explains the flags", err, fs.Name())
	}
	return err
}

// oneLine makes one line of an error that joins several.
func oneLine(err error) string { return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ") }

// count says how many there are: 1 row, 2 rows.
func count[T int | int64](n T, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}
