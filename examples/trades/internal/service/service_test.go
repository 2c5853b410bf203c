package service

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExitCodes(t *testing.T) {
	var out bytes.Buffer
	require.Equal(t, 0, ExitCode("p", nil, &out))
	var help bytes.Buffer
	flags := flag.NewFlagSet("p", flag.ContinueOnError)
	flags.SetOutput(&help)
	flags.Usage = Usage(flags, "What it does.", "p -x")
	require.Equal(t, 2, ExitCode("p", Parse(flags, []string{"-nope"}), &out))
	require.Equal(t, "p: flag provided but not defined: -nope; -h explains the flags\n", out.String(), "one line, no help")
	require.Empty(t, help.String())
	out.Reset()
	require.Equal(t, 0, ExitCode("p", Parse(flags, []string{"-h"}), &out))
	require.Contains(t, help.String(), "What it does.")
	require.Empty(t, out.String())
	require.Equal(t, 1, ExitCode("p", errors.Join(errors.New("a"), errors.New("b")), &out))
	require.Equal(t, "p: a; b\n", out.String(), "one line")
}

func TestCatalogFlags(t *testing.T) {
	parse := func(args ...string) *Flags {
		f := &Flags{}
		flags := flag.NewFlagSet("x", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		f.Register(flags)
		require.NoError(t, flags.Parse(args))
		return f
	}
	_, err := parse().BrokerList()
	require.ErrorContains(t, err, "-brokers")
	got, err := parse("-brokers", "a:1, b:2").BrokerList()
	require.NoError(t, err)
	require.Equal(t, []string{"a:1", "b:2"}, got)

	_, err = parse().OpenCatalog(t.Context())
	require.ErrorContains(t, err, "-warehouse")
	_, err = parse("-warehouse", "s3://bucket").OpenCatalog(t.Context())
	require.ErrorContains(t, err, "-catalog")
	dir := filepath.Join(t.TempDir(), "w")
	cat, err := parse("-warehouse", dir, "-prop", "a=b=c").OpenCatalog(t.Context())
	require.NoError(t, err)
	require.NoError(t, cat.Close())
	require.FileExists(t, filepath.Join(dir, "catalog.db"))
}

func TestProgressIsSilentOffATerminal(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	p.Show("stage", 1, 2)
	p.Done()
	require.Empty(t, out.String())

	p = &Progress{w: &out}
	p.Show("produce", 5, 10)
	p.Show("produce", 6, 10) // too soon
	p.Show("batch", 0, 0)
	p.Done()
	require.Equal(t, "\rproduce           [############............] 5 of 10\n\rbatch\n", out.String())
}
