//go:build interop

package interop

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"
	"github.com/goccy/go-json"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
)

const (
	tradesTableName = "risk.trade_risk_vectors"
	summaryName     = "risk.daily_risk_summary"
	tradesSeed      = 7
)

// startTrades runs examples/trades into a folder; done gives how it ended.
func startTrades(t *testing.T) (dir string, done chan error) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "trades")
	require.NoError(t, command("../..", "go", "build", "-o", bin, "./examples/trades"))
	dir, done = t.TempDir(), make(chan error, 1)
	cmd := exec.CommandContext(t.Context(), bin, "-trades", "6000", "-rate", "1500", "-seed", strconv.Itoa(tradesSeed), "-dir", dir, "-json")
	var errs bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &errs, 10*time.Second
	require.NoError(t, cmd.Start())
	late := time.AfterFunc(engineTimeout, func() { cmd.Process.Kill() })
	go func() {
		err := cmd.Wait()
		late.Stop()
		if err != nil {
			err = fmt.Errorf("trades: %w: %s", err, tail(errs.String(), 500))
		}
		done <- err
	}()
	return filepath.Join(dir, "warehouse"), done
}

// TestSparkComputesTheSummary: Spark reads the table of examples/trades while the
// pipeline goes on committing, and each answer is a state that was committed. From
// the trades as they were before the corrections it then computes what the
// pipeline's batch job has stored: counts and sums of sensitivities to the last digit,
// values at risk but for the inverse of the normal distribution, which each library
// rounds its own way.
func TestSparkComputesTheSummary(t *testing.T) {
	dir, _ := warehouse(t)
	startSpark(t, dir) // started, or skipped, before there is something to wait for
	works(t, spark, "reads the table of `examples/trades` while it is written: every answer is a committed state")
	works(t, spark, "computes `daily_risk_summary` from the table of `examples/trades`, equal to the batch job's")
	dir, done := startTrades(t)
	s, seen, err := pollTrades(t, dir, done)
	require.NoError(t, err)
	cat, err := iceberg.OpenWarehouse(t.Context(), dir)
	require.NoError(t, err)
	defer cat.Close()
	trades, err := cat.Load(t.Context(), tradesTableName)
	require.NoError(t, err)
	states, scored := tradesStates(t, trades)
	for n := range seen {
		require.True(t, states[n], "Spark saw %d trades, which no commit had: %v", n, states)
	}
	stored, err := cat.Load(t.Context(), summaryName)
	require.NoError(t, err)
	const order = " order by trade_date, desk, asset_class"
	theirs := s.query(t, "select * from "+summaryName+order)
	require.Len(t, theirs, 30)
	requireSameSet(t, plainRows(t, stored), theirs)
	requireSameSummary(t, theirs, s.query(t, fmt.Sprintf(summarySQL, tradesSeed, scored)+order))
}

// pollTrades asks Spark for the number of trades until the pipeline has ended.
func pollTrades(t *testing.T, dir string, done chan error) (s *sparkSession, seen map[int]bool, err error) {
	t.Helper()
	seen = map[int]bool{}
	for {
		select {
		case err := <-done:
			if s == nil {
				s = startSpark(t, dir)
			}
			return s, seen, err
		case <-time.After(50 * time.Millisecond):
		}
		if _, err := os.Stat(filepath.Join(dir, "risk", "trade_risk_vectors", "metadata")); err != nil {
			continue
		}
		if s == nil {
			s = startSpark(t, dir)
		}
		var row struct{ N, IDs int }
		text := s.one(t, "select count(*) as n, count(distinct trade_id) as ids from "+tradesTableName)
		require.NoError(t, json.Unmarshal([]byte(text), &row))
		require.Equal(t, row.N, row.IDs, "a trade twice")
		seen[row.N] = true
	}
}

// tradesStates gives the numbers of rows that the table had after its commits, and
// the snapshot that the batch job read: the last that only appends.
func tradesStates(t *testing.T, tbl *iceberg.Table) (states map[int]bool, scored int64) {
	t.Helper()
	states = map[int]bool{0: true}
	for _, x := range tbl.Metadata().Snapshots() {
		rows, err := strconv.Atoi(x.Summary.Properties["total-records"])
		require.NoError(t, err)
		deleted, _ := strconv.Atoi(x.Summary.Properties["total-position-deletes"])
		states[rows-deleted] = true
		if x.Summary.Operation == table.OpAppend {
			scored = x.SnapshotID
		}
	}
	return states, scored
}

// summarySQL is the batch job in SQL. Sums run in the order of the trades' ids, one
// addition after the other, as the job's do.
const summarySQL = `
with trades as (
  select trade_id, desk, asset_class, trade_date,
    try_variant_get(pricing_vector, '$.greeks.delta', 'double') as delta,
    try_variant_get(pricing_vector, '$.scenarios[0].breakdown.by_sector.financials', 'double') as financials,
    try_variant_get(pricing_vector, '$.model_params.calibration.fit_error', 'double') as fit_error,
    try_variant_get(pricing_vector, '$.dv01', 'double') as dv01,
    try_variant_get(pricing_vector, '$.model', 'string') as model,
    var_tail(%d, trade_id) as tail
  from risk.trade_risk_vectors version as of %d
), moves as (
  select *, coalesce(delta, 0D) * 1000000D * if(model = 'SABR', 0.006D, 0.015D) as d, coalesce(dv01, 0D) * 6D as r, coalesce(financials, 0D) / 10D as s
  from trades
), scored as (
  select trade_id, desk, asset_class, trade_date, delta, dv01,
    if(delta is null and financials is null and dv01 is null, 0D,
      -((1D + abs(coalesce(fit_error, 0D))) * sqrt(d * d + r * r + s * s)) * tail) as var99
  from moves
), grouped as (
  select trade_date, desk, asset_class,
    array_sort(collect_list(struct(trade_id, var99, coalesce(delta, 0D) as delta, coalesce(dv01, 0D) as dv01))) as list
  from scored group by all
)
select trade_date, desk, asset_class, cast(size(list) as bigint) as trade_count,
  aggregate(list, 0D, (sum, x) -> sum + x.var99) as total_var99,
  aggregate(list, 0D, (most, x) -> greatest(most, x.var99)) as worst_var99,
  aggregate(list, 0D, (sum, x) -> sum + x.delta) as total_delta,
  aggregate(list, 0D, (sum, x) -> sum + x.dv01) as total_dv01
from grouped`

// requireSameSummary compares rows of the summary, in one order.
func requireSameSummary(t *testing.T, want, got []string) {
	t.Helper()
	type row struct {
		TradeDate  string  `json:"trade_date"`
		Desk       string  `json:"desk"`
		AssetClass string  `json:"asset_class"`
		Trades     int64   `json:"trade_count"`
		TotalVaR   float64 `json:"total_var99"`
		WorstVaR   float64 `json:"worst_var99"`
		TotalDelta float64 `json:"total_delta"`
		TotalDV01  float64 `json:"total_dv01"`
	}
	require.Len(t, got, len(want))
	for i := range want {
		var a, b row
		require.NoError(t, json.Unmarshal([]byte(want[i]), &a))
		require.NoError(t, json.Unmarshal([]byte(got[i]), &b))
		for _, pair := range [][2]float64{{a.TotalVaR, b.TotalVaR}, {a.WorstVaR, b.WorstVaR}} {
			require.LessOrEqual(t, math.Abs(pair[0]-pair[1]), 1e-13*math.Abs(pair[0]), "want %s\ngot  %s", want[i], got[i])
		}
		b.TotalVaR, b.WorstVaR = a.TotalVaR, a.WorstVaR
		require.Equal(t, a, b)
	}
}
