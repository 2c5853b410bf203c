package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/iceberg"
)

func options(t *testing.T) Options {
	t.Helper()
	return Options{
		Trades: 3000, Seed: 42, Bad: 0.002, Dir: t.TempDir(), Interval: 100 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

func TestSameSeedSameFiguresHoweverTheStreamIsCut(t *testing.T) {
	o := options(t)
	o.Interval = time.Hour // everything in one commit
	first, err := Run(t.Context(), o)
	require.NoError(t, err)
	o = options(t)
	o.Rate, o.Interval = 2000, 50*time.Millisecond
	second, err := Run(t.Context(), o)
	require.NoError(t, err)

	require.InDelta(t, 6, first.BadRecords, 1)
	require.Equal(t, int64(3000), first.Trades+first.BadRecords)
	require.Equal(t, first.Trades, first.Table.Rows)
	require.Equal(t, first.Trades, first.Batch.Rows)
	require.Equal(t, first.Trades-1, first.Corrections.RowsAfter)
	require.Positive(t, first.Batch.VaR99Total)
	require.Positive(t, first.Alerts.High)
	require.Positive(t, first.Alerts.Critical)
	require.Greater(t, second.Table.Snapshots, first.Table.Snapshots, "the second run commits more often")

	require.Equal(t, first.Batch.VaR99Total, second.Batch.VaR99Total, "to the last digit")
	require.Equal(t, first.Trades, second.Trades)
	require.Equal(t, first.BadRecords, second.BadRecords)
	require.Equal(t, first.Alerts.Critical, second.Alerts.Critical)
	require.Equal(t, first.Alerts.High, second.Alerts.High)
	require.Equal(t, first.Corrections.Amended, second.Corrections.Amended)
	require.Equal(t, first.SummaryRows, second.SummaryRows)
	require.Equal(t, first.Table.ShreddedLeaves, second.Table.ShreddedLeaves)
	goleak.VerifyNone(t)
}

// TestSummaryReportAndTablesAgree looks at everything that a run leaves behind.
func TestSummaryReportAndTablesAgree(t *testing.T) {
	o := options(t)
	s, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.FileExists(t, s.Report)
	require.Equal(t, filepath.Join(o.Dir, "report.html"), s.Report)
	page, err := os.ReadFile(s.Report)
	require.NoError(t, err)
	require.Contains(t, string(page), "$.scenarios[*].breakdown.by_sector.financials")

	var text bytes.Buffer
	require.NoError(t, s.WriteText(&text))
	require.Contains(t, text.String(), s.Corrections.Amended)

	b, err := json.Marshal(s)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(b, &fields))
	for _, name := range []string{"trades", "bad_records", "alerts", "table", "batch", "summary_rows", "corrections", "report"} {
		require.Contains(t, fields, name)
	}

	// Five leaves for five paths, and the four plain columns.
	require.Len(t, s.Batch.ColumnsRead, 9)
	require.Len(t, s.Batch.UDF, 1)
	require.Equal(t, s.Batch.Rows, s.Batch.UDF[0].Rows)

	tbl, err := iceberg.OpenMetadata(s.Table.Metadata)
	require.NoError(t, err)
	in, err := tbl.Inspect(t.Context())
	require.NoError(t, err)
	require.Len(t, in.DataFiles, s.Table.DataFiles)
	require.Len(t, in.Snapshots, s.Table.Snapshots)
	require.Len(t, in.DeletionVectors, len(s.Corrections.Vectors))

	cat, err := iceberg.OpenWarehouse(t.Context(), filepath.Join(o.Dir, "warehouse"))
	require.NoError(t, err)
	defer cat.Close()
	sums, err := cat.Load(t.Context(), trade.SummaryTable)
	require.NoError(t, err)
	scan, err := sums.Scan(t.Context(), iceberg.ScanOptions{})
	require.NoError(t, err)
	var rows int64
	for b, err := range scan.Batches(t.Context()) {
		require.NoError(t, err)
		rows += b.NumRows()
		b.Release()
	}
	require.Equal(t, s.SummaryRows, rows)

	_, err = Run(t.Context(), o)
	require.ErrorIs(t, err, ErrUsed)
}

func TestFewTradesAreNoSpecialCase(t *testing.T) {
	for _, n := range []int{1, 2, 7} {
		o := options(t)
		o.Trades, o.Bad = n, 0
		s, err := Run(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, int64(n), s.Table.Rows)
	}
	o := options(t)
	o.Trades, o.Bad = 3, 1
	s, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Zero(t, s.Table.Rows)
	require.Equal(t, int64(3), s.BadRecords)
	var text strings.Builder
	require.NoError(t, s.WriteText(&text))
	require.Contains(t, text.String(), "corrected nothing: that takes two trades")
	require.NotContains(t, text.String(), "amended")
}

// A broker that is not there left an empty folder behind.
func TestNoFolderWithoutABroker(t *testing.T) {
	o := options(t)
	o.Dir = filepath.Join(t.TempDir(), "run")
	o.Brokers = "127.0.0.1:1"
	_, err := Run(t.Context(), o)
	require.Error(t, err)
	require.NoDirExists(t, o.Dir)
}

// TestRunsShareARealBroker: a run with -brokers leaves out what earlier runs
// have left in the topics.
func TestRunsShareARealBroker(t *testing.T) {
	brokers, stop, err := kafka.Embedded()
	require.NoError(t, err)
	defer stop()
	var before *Summary
	for range 2 {
		o := options(t)
		o.Brokers = strings.Join(brokers, ",")
		s, err := Run(t.Context(), o)
		require.NoError(t, err)
		if before != nil {
			require.Equal(t, before.Trades, s.Trades)
			require.Equal(t, before.Alerts.High, s.Alerts.High)
			require.Equal(t, before.Batch.VaR99Total, s.Batch.VaR99Total)
		}
		before = s
	}
}

// TestInterruptedRunLeavesAReadableTable stops a run while it produces.
func TestInterruptedRunLeavesAReadableTable(t *testing.T) {
	o := options(t)
	o.Trades, o.Rate = 1_000_000, 5000
	cat, err := iceberg.OpenWarehouse(t.Context(), filepath.Join(o.Dir, "warehouse"))
	require.NoError(t, err)
	defer cat.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(stage string, _, _ int64) {
		if stage != "produce" {
			return
		}
		if tbl, err := cat.Load(t.Context(), trade.VectorsTable); err == nil && tbl.Metadata().CurrentSnapshot() != nil {
			cancel() // in the middle: there is a first commit, and more to produce
		}
	}
	leaks := goleak.IgnoreCurrent()
	_, err = Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	goleak.VerifyNone(t, leaks)

	tbl, err := cat.Load(t.Context(), trade.VectorsTable)
	require.NoError(t, err)
	scan, err := tbl.Scan(t.Context(), iceberg.ScanOptions{})
	require.NoError(t, err)
	var rows int64
	for b, err := range scan.Batches(t.Context()) {
		require.NoError(t, err)
		rows += b.NumRows()
		b.Release()
	}
	require.Positive(t, rows)
}
