package iceberg

import (
	"context"
	"testing"

	ice "github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/tradegen"
)

// tradesSpec is the table of the trades pipeline: a shredded Variant beside
// ordinary columns with defaults, partitioned by two of them.
func tradesSpec() TableSpec {
	str := ice.StringType{}
	return TableSpec{
		Columns: []Column{
			{Name: "trade_id", Type: str},
			{Name: "book_id", Type: str},
			{Name: "desk", Type: str},
			{Name: "asset_class", Type: str, Default: "UNKNOWN"},
			{Name: "execution_time", Type: str},
			{Name: "pricing_vector", Type: ice.VariantType{}},
			{Name: "var_contribution", Type: ice.Float64Type{}, Default: 0.0},
			{Name: "risk_weight", Type: ice.Float64Type{}, Default: 1.0},
			{Name: "trade_date", Type: ice.DateType{}},
			{Name: "region", Type: str, Default: "EMEA"},
		},
		Partition: []PartitionField{{Source: "trade_date"}, {Source: "asset_class"}},
	}
}

func tradeLines(n int) ([][]byte, int64) {
	g := tradegen.New(1, tradegen.Options{})
	out := make([][]byte, n)
	var bytes int64
	for i := range out {
		out[i], _ = g.AppendNext(nil)
		bytes += int64(len(out[i]))
	}
	return out, bytes
}

// BenchmarkLoadTrades measures NDJSON in memory to a committed snapshot.
func BenchmarkLoadTrades(b *testing.B) {
	for _, mode := range []struct {
		name       string
		partition  bool
		unshredded bool
	}{{"partitioned/shredded", true, false}, {"flat/shredded", false, false}, {"partitioned/plain", true, true}} {
		b.Run(mode.name, func(b *testing.B) {
			const rows = 200_000
			lines, bytes := tradeLines(rows)
			cat := newCatalog(b)
			spec := tradesSpec()
			spec.Unshredded = mode.unshredded
			if !mode.partition {
				spec.Partition = nil
			}
			tbl, err := cat.Create(context.Background(), "risk.trades", spec)
			require.NoError(b, err)
			b.SetBytes(bytes)
			b.ReportAllocs()
			var size int64
			var cpu processor
			for b.Loop() {
				cpu.begin()
				c, err := tbl.AppendJSON(context.Background(), func(yield func([]byte, error) bool) {
					for _, l := range lines {
						if !yield(l, nil) {
							return
						}
					}
				}, AppendOptions{})
				require.NoError(b, err)
				cpu.end()
				require.EqualValues(b, rows, c.Rows)
				size = c.Bytes
			}
			cpu.report(b)
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(size)/rows, "B/row")
		})
	}
}
