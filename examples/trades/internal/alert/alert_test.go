package alert

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/examples/trades/internal/produce"
	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/iceberg/stream"
	"github.com/frazil/frazil/internal/tradegen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPercentiles(t *testing.T) {
	r := &Report{}
	require.Zero(t, r.Percentile(0.5))
	for i := range 100 {
		r.Latencies = append(r.Latencies, time.Duration(i+1))
	}
	require.Equal(t, time.Duration(50), r.Percentile(0.50))
	require.Equal(t, time.Duration(99), r.Percentile(0.99))
	require.Equal(t, time.Duration(100), r.Percentile(1))
	require.Equal(t, time.Duration(1), r.Percentile(0))
}

// TestEveryLargeTradeIsAlertedOnce compares the topic with the generator.
func TestEveryLargeTradeIsAlertedOnce(t *testing.T) {
	for _, txn := range []string{"", "alerts-1"} {
		brokers, stop, err := kafka.Embedded()
		require.NoError(t, err)
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		require.NoError(t, kafka.Create(ctx, brokers, trade.Topic, trade.AlertsTopic, trade.AlertsDeadTopic))
		q, err := Query(Options{Brokers: brokers, Group: "alerts", Checkpoint: t.TempDir(), TransactionalID: txn})
		require.NoError(t, err)
		q.Logger = slog.New(slog.DiscardHandler)
		run, err := stream.Start(ctx, q)
		require.NoError(t, err)
		const n = 3000
		stats, err := produce.Run(ctx, produce.Options{Brokers: brokers, Trades: n, Seed: 9, Bad: 0.01})
		require.NoError(t, err)
		require.Eventually(t, func() bool { return run.Counters().Records == n }, 30*time.Second, 5*time.Millisecond)
		require.NoError(t, run.Stop(ctx))
		require.Equal(t, int64(stats.Bad), run.Counters().Bad)

		var critical, high int
		g := tradegen.New(9, tradegen.Options{Bad: 0.01})
		for range n {
			_, tr := g.AppendNext(nil)
			if level, ok := levelOf(tr.Notional); ok && !tr.Bad {
				if level == Critical {
					critical++
				} else {
					high++
				}
			}
		}
		report, err := Read(ctx, brokers, nil)
		require.NoError(t, err)
		require.Equal(t, critical, report.Critical)
		require.Equal(t, high, report.High)
		require.Len(t, report.Latencies, critical+high)
		require.Positive(t, critical)
	}
}
