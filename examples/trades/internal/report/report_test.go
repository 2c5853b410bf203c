package report

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func sample() *Data {
	d := &Data{
		Seed: 42, Directory: "/data/run", Took: 7300 * time.Millisecond,
		Trades: 19980, Bad: 20, Critical: 104, High: 313,
		P50: time.Millisecond, P95: 3 * time.Millisecond, P99: 14 * time.Millisecond, Max: 23 * time.Millisecond,
		TotalVaR: 4.81e9,
		VaR: []DeskVaR{
			{"EQD", "EQUITY", 6012, 1.9e9},
			{"EXO", "EQUITY", 1988, 6.1e8},
			{"EXO", "RATES", 1402, 3.3e8},
			{"EXO", "FX", 833, 1.2e8},
			{"IRD", "RATES", 5598, 1.2e9},
			{"FXO", "FX", 4167, 6.5e8},
		},
		Layers: []Layer{
			{Name: "trade-risk-vectors", Kind: "topic", Rows: 20000, Bytes: 16055971},
			{Name: "trade-alerts", Kind: "topic", Rows: 417, Bytes: 105000},
			{Name: "risk.trade_risk_vectors", Kind: "table", Rows: 19979, Files: 76, Bytes: 3600000, Snapshots: 7},
			{Name: "risk.daily_risk_summary", Kind: "table", Rows: 30, Files: 1, Bytes: 4300, Snapshots: 1},
		},
		Leaves: []Leaf{
			{"$.dividend_yield", "decimal(4,4)", 25},
			{"$.greeks.delta", "decimal(9,6)", 50},
			{"$.scenarios[*].breakdown.by_sector.financials", "decimal(9,2)", 25},
			{"$.model", "string", 75},
			{"$.curve_sensitivities.10Y", "decimal(9,3)", 25},
			{"$.model_params.calibration.fit_error", "decimal(9,8)", 75},
			{"$['odd <name>']", "string", 1},
		},
		Vectors: []Vector{
			{"file:///w/data/trade_date=2026-07-01/asset_class=EQUITY/00000-aaaa.parquet", "file:///w/data/00000-bbbb-deletes.puffin", 1},
			{"file:///w/data/trade_date=2026-07-02/asset_class=FX/00003-cccc.parquet", "file:///w/data/00001-dddd-deletes.puffin", 1},
		},
		Columns: []string{"pricing_vector.typed_value.greeks.typed_value.delta.typed_value", "trade_id"},
		Read:    612345,
		Profile: []Function{{Name: "var99", Rows: 19980, Wall: 410 * time.Millisecond, CPU: 780 * time.Millisecond, AllocBytes: 1 << 20}},
		Amended: "T000000001", Cancelled: "T000000002",
	}
	for i := range 417 {
		d.Latencies = append(d.Latencies, time.Duration(i*i/2500)*time.Millisecond/3)
	}
	return d
}

// TestPageNeedsNoNetworkAndEscapes writes the page where FRAZIL_REPORT says, to
// be looked at, or into a temporary folder.
func TestPageNeedsNoNetworkAndEscapes(t *testing.T) {
	path := os.Getenv("FRAZIL_REPORT")
	if path == "" {
		path = filepath.Join(t.TempDir(), "report.html")
	}
	require.NoError(t, Write(path, sample()))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	text := string(b)
	require.NotRegexp(t, regexp.MustCompile(`(src|href)=|url\(|@import|http`), text)
	require.Contains(t, text, "odd &lt;name&gt;")
	require.NotContains(t, text, "ZgotmplZ")
	for _, part := range []string{"19,980", "104 + 313", "EQD", "EQUITY", "decimal(9,6)", "00000-bbbb-deletes.puffin", "var99", "4.81 bn"} {
		require.Contains(t, text, part)
	}
}

func TestPageOfAnEmptyRun(t *testing.T) {
	require.NoError(t, Write(filepath.Join(t.TempDir(), "r.html"), &Data{}))
	require.Error(t, Write(filepath.Join(t.TempDir(), "missing", "r.html"), &Data{}))
}

func TestHistogramCountsEveryLatencyOnce(t *testing.T) {
	h := newHistogram([]time.Duration{0, time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond, time.Hour})
	var total int
	for _, b := range h.Bars {
		total += b.Count
		require.LessOrEqual(t, b.Y+b.H, h.Base+0.01)
		require.GreaterOrEqual(t, b.Y, histTop-0.01)
	}
	require.Equal(t, 5, total)
	require.Equal(t, 1, h.Bars[len(h.Bars)-1].Count)
	for n, want := range map[int]int{1: 1, 3: 4, 9: 10, 313: 400, 401: 800} {
		require.Equal(t, want, niceCeil(n))
	}
}

func TestDeskBarsAddUp(t *testing.T) {
	d := newDesks(sample().VaR)
	require.Len(t, d.Rows, 4)
	require.Equal(t, "EQD", d.Rows[0].Desk, "largest first")
	for _, r := range d.Rows {
		var sum float64
		for _, p := range r.Parts {
			sum += p.VaR
		}
		require.InDelta(t, r.Total, sum, 1)
		require.LessOrEqual(t, r.End, d.Right+8.1)
	}
}

func TestNumbersReadWell(t *testing.T) {
	require.Equal(t, "1,234,567", count(1234567))
	require.Equal(t, "-12", count(-12))
	require.Equal(t, "999", count(999))
	require.Equal(t, "16.1 MB", size(16055971))
	require.Equal(t, "12 B", size(12))
	require.Equal(t, "-3.0 m", money(-3e6))
	require.Equal(t, "0.5", millis(500*time.Microsecond))
	require.Equal(t, "1.50 s", duration(1500*time.Millisecond))
}
