//go:build interop

package interop

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/variant"
)

type dayKey struct{ date, desk, class string }

type dayTotal struct {
	trades      int
	dv01, delta int64 // unscaled sums
	hasDV01     bool
	hasDelta    bool
}

func extraction(t *testing.T, path, typ string) iceberg.Extraction {
	t.Helper()
	p, err := variant.ParsePath(path)
	require.NoError(t, err)
	v, err := variant.ParseType(typ)
	require.NoError(t, err)
	return iceberg.Extraction{Column: "pricing_vector", Path: p, Type: v}
}

// summary computes by a scan what TestSparkComputesTheSummary asks Spark for.
func summary(t *testing.T, tbl *iceberg.Table) []string {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, tbl.Refresh(ctx))
	scan, err := tbl.Scan(ctx, iceberg.ScanOptions{
		Columns:     []string{"trade_date", "desk", "asset_class"},
		Extractions: []iceberg.Extraction{extraction(t, "$.dv01", "decimal(18,2)"), extraction(t, "$.greeks.delta", "decimal(18,6)")},
	})
	require.NoError(t, err)
	totals := map[dayKey]*dayTotal{}
	for batch, err := range scan.Batches(ctx) {
		require.NoError(t, err)
		for i := range int(batch.NumRows()) {
			k := dayKey{batch.Column(0).ValueStr(i), batch.Column(1).ValueStr(i), batch.Column(2).ValueStr(i)}
			sum := totals[k]
			if sum == nil {
				sum = &dayTotal{}
				totals[k] = sum
			}
			sum.trades++
			sum.hasDV01 = add(batch.Column(3), i, &sum.dv01) || sum.hasDV01
			sum.hasDelta = add(batch.Column(4), i, &sum.delta) || sum.hasDelta
		}
		batch.Release()
	}
	var rows []string
	for k, s := range totals {
		rows = append(rows, fmt.Sprintf(`{"trade_date":%q,"desk":%q,"asset_class":%q,"trades":%d,"dv01":%s,"delta":%s}`,
			k.date, k.desk, k.class, s.trades, scaled(s.dv01, 2, s.hasDV01), scaled(s.delta, 6, s.hasDelta)))
	}
	slices.Sort(rows) // by date, desk and class, which come first
	return rows
}

func add(col arrow.Array, i int, sum *int64) bool {
	if col.IsNull(i) {
		return false
	}
	*sum += int64(col.(*array.Decimal128).Value(i).LowBits())
	return true
}

func scaled(v int64, scale int, known bool) string {
	if !known {
		return "null"
	}
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	digits := fmt.Sprintf("%0*d", scale+1, v)
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}
