package ingest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/examples/trades/internal/produce"
	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/iceberg/stream"
	"github.com/frazil/frazil/internal/tradegen"
)

// The environment of a process that runs the job for a test, in place of tests.
const (
	childBrokers   = "FRAZIL_TEST_INGEST_BROKERS"
	childWarehouse = "FRAZIL_TEST_INGEST_WAREHOUSE"
)

func TestMain(m *testing.M) {
	if brokers := os.Getenv(childBrokers); brokers != "" {
		if err := child(brokers, os.Getenv(childWarehouse)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child ingests until it is killed.
func child(brokers, warehouse string) error {
	ctx := context.Background()
	cat, err := iceberg.OpenWarehouse(ctx, warehouse)
	if err != nil {
		return err
	}
	defer cat.Close()
	return ingest(ctx, cat, Options{
		Brokers: kafka.Split(brokers), Interval: 20 * time.Millisecond,
		OnCommit: func(_ stream.Epoch, c *iceberg.Commit) { fmt.Println("committed", c.Rows) },
	})
}

func ingest(ctx context.Context, cat *iceberg.Catalog, o Options) error {
	tbl, err := cat.LoadOrCreate(ctx, trade.VectorsTable, trade.VectorsSpec())
	if err != nil {
		return err
	}
	q, err := Query(tbl, o)
	if err != nil {
		return err
	}
	q.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	q.MaxRecords = 400
	return stream.Run(ctx, q)
}

// startBroker starts an embedded broker that holds n events.
func startBroker(t *testing.T, n int, bad float64) []string {
	t.Helper()
	brokers, stop, err := kafka.Embedded()
	require.NoError(t, err)
	t.Cleanup(stop)
	require.NoError(t, kafka.Create(t.Context(), brokers, trade.Topic, trade.DeadLetterTopic))
	_, err = produce.Run(t.Context(), produce.Options{Brokers: brokers, Trades: n, Seed: 3, Bad: bad})
	require.NoError(t, err)
	return brokers
}

// wantIDs are the ids of the good events.
func wantIDs(n int, bad float64) []string {
	g := tradegen.New(3, tradegen.Options{Bad: bad})
	var ids []string
	for range n {
		if _, tr := g.AppendNext(nil); !tr.Bad {
			ids = append(ids, tr.ID)
		}
	}
	return ids
}

func open(t *testing.T, dir string) *iceberg.Catalog {
	t.Helper()
	cat, err := iceberg.OpenWarehouse(t.Context(), dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cat.Close()) })
	return cat
}

func tableIDs(t *testing.T, cat *iceberg.Catalog) []string {
	t.Helper()
	tbl, err := cat.Load(t.Context(), trade.VectorsTable)
	require.NoError(t, err)
	scan, err := tbl.Scan(t.Context(), iceberg.ScanOptions{Columns: []string{"trade_id"}})
	require.NoError(t, err)
	var ids []string
	for b, err := range scan.Batches(t.Context()) {
		require.NoError(t, err)
		c := b.Column(0).(*array.String)
		for i := range c.Len() {
			ids = append(ids, strings.Clone(c.Value(i)))
		}
		b.Release()
	}
	slices.Sort(ids)
	return ids
}

// TestKilledIngestGoesOnWithoutGapsOrRepeats kills the job's process with a
// signal that it cannot notice, at a different commit each time, and starts it
// again.
func TestKilledIngestGoesOnWithoutGapsOrRepeats(t *testing.T) {
	const n = 6000
	brokers := startBroker(t, n, 0.01)
	dir := t.TempDir()
	cat := open(t, dir)
	_, err := cat.Create(t.Context(), trade.VectorsTable, trade.VectorsSpec())
	require.NoError(t, err)
	for kill := range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childBrokers+"="+strings.Join(brokers, ","), childWarehouse+"="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		commits := make(chan string, 100)
		go func() {
			defer close(commits)
			for lines := bufio.NewScanner(out); lines.Scan(); {
				commits <- lines.Text()
			}
		}()
		for range kill + 1 { // that many commits, and some of the next
			select {
			case _, ok := <-commits:
				require.True(t, ok, "the job ended by itself")
			case <-time.After(15 * time.Second): // it was through before it could be killed
			}
		}
		time.Sleep(time.Duration(7*kill) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	rows := tableIDs(t, cat)
	require.NotEmpty(t, rows, "a killed job leaves a readable table")
	require.NoError(t, ingest(t.Context(), cat, Options{Brokers: brokers, Drain: true}))
	require.Equal(t, wantIDs(n, 0.01), tableIDs(t, cat))
}

// TestTableHasTheDefinedShape: schema, defaults, partitions and properties, and
// what the defaults make of events that lack a field.
func TestTableHasTheDefinedShape(t *testing.T) {
	const n = 300
	brokers := startBroker(t, n, 0)
	dir := t.TempDir()
	cat := open(t, dir)
	require.NoError(t, ingest(t.Context(), cat, Options{Brokers: brokers, Drain: true}))
	tbl, err := cat.Load(t.Context(), trade.VectorsTable)
	require.NoError(t, err)
	require.Equal(t, 3, tbl.Metadata().Version())
	for key, want := range map[string]string{
		"write.delete.mode": "merge-on-read", "write.update.mode": "merge-on-read", "write.merge.mode": "merge-on-read",
		"write.parquet.shred-variants": "true", "read.parquet.vectorization.enabled": "false",
	} {
		require.Equal(t, want, tbl.Properties()[key], key)
	}
	in, err := tbl.Inspect(t.Context())
	require.NoError(t, err)
	var columns []string
	for _, c := range in.Schema {
		columns = append(columns, fmt.Sprint(c.Name, " ", c.Type, " ", c.WriteDefault))
	}
	require.Equal(t, []string{
		"trade_id string <nil>", "book_id string <nil>", "desk string <nil>", "asset_class string UNKNOWN",
		"execution_time string <nil>", "pricing_vector variant <nil>", "var_contribution double 0",
		"risk_weight double 1", "trade_date date <nil>", "region string EMEA",
	}, columns)
	require.Len(t, in.DataFiles, 15, "five days, three asset classes")
	for _, f := range in.DataFiles {
		require.Len(t, f.Partition, 2)
		require.NotEmpty(t, f.Shredded["pricing_vector"])
	}
	for where, some := range map[string]bool{
		"region IS NULL": false, "risk_weight IS NULL": false, "var_contribution IS NULL": false, "asset_class IS NULL": false,
		"risk_weight = 1.0": true, "var_contribution = 0.0": true, "region = 'EMEA'": true,
	} {
		expr, err := iceberg.ParseWhere(where)
		require.NoError(t, err)
		scan, err := tbl.Scan(t.Context(), iceberg.ScanOptions{Columns: []string{"trade_id"}, Where: expr})
		require.NoError(t, err)
		var rows int64
		for b, err := range scan.Batches(t.Context()) {
			require.NoError(t, err)
			rows += b.NumRows()
			b.Release()
		}
		require.Equal(t, some, rows > 0, where)
	}
	_, err = os.Stat(filepath.Join(dir, "catalog.db"))
	require.NoError(t, err)
}
