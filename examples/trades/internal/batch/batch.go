// Package batch is the fourth job: it reads five leaves of the trades' pricing
// vectors, computes the value at risk of each trade with a vectorized function,
// sums by day, desk and asset class into a table, and corrects two trades.
package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/frazil/frazil/examples/trades/internal/risk"
	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/udf"
	"github.com/frazil/frazil/variant"
)

// Options configures the job.
type Options struct {
	Seed    uint64 // of the simulation
	Workers int    // 0: one per processor
	// OnRows is called now and then with the number of rows done.
	OnRows func(rows int64)
}

// Result is the outcome of the job.
type Result struct {
	Summary
	Rows     int64
	Took     time.Duration
	Scan     iceberg.ScanStats
	Profiler *udf.Profiler
}

// The columns of the scan, by position.
const (
	colID = iota
	colDesk
	colClass
	colDate
	colDelta
	colFinancials
	colFitError
	colDV01
	colModel
	colVaR // added by the function
)

// extractions are the parts of the pricing vector that the job reads. Each is
// a Parquet leaf of its own in a shredded file.
func extractions() ([]iceberg.Extraction, error) {
	list := []struct{ name, path, typ string }{
		{"delta", "$.greeks.delta", "double"},
		{"financials", "$.scenarios[0].breakdown.by_sector.financials", "double"},
		{"fit_error", "$.model_params.calibration.fit_error", "double"},
		{"dv01", "$.dv01", "double"},
		{"model", "$.model", "string"},
	}
	out := make([]iceberg.Extraction, len(list))
	for i, x := range list {
		path, err := variant.ParsePath(x.path)
		if err != nil {
			return nil, err
		}
		typ, err := variant.ParseType(x.typ)
		if err != nil {
			return nil, err
		}
		// A trade that another producer wrote with a text for a number is
		// scored without that number instead of ending the job.
		out[i] = iceberg.Extraction{Name: x.name, Column: "pricing_vector", Path: path, Type: typ, Try: true}
	}
	return out, nil
}

// Run scores all trades of a table and sums up.
func Run(ctx context.Context, trades *iceberg.Table, o Options) (*Result, error) {
	began := time.Now()
	ext, err := extractions()
	if err != nil {
		return nil, err
	}
	scan, err := trades.Scan(ctx, iceberg.ScanOptions{
		Columns:     []string{"trade_id", "desk", "asset_class", "trade_date"},
		Extractions: ext, Unordered: true, Workers: o.Workers,
	})
	if err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	plan, err := udf.NewPlan(scan.Schema(),
		udf.With("var99", risk.VaR99(o.Seed), "trade_id", "model", "delta", "financials", "fit_error", "dv01"))
	if err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	r := &Result{Profiler: &udf.Profiler{}}
	scored := plan.Run(ctx, scan.Batches(ctx), udf.Options{Workers: o.Workers, Profiler: r.Profiler})
	sums, err := r.aggregate(scored, o.OnRows)
	if err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	r.Summary = sums.summarize()
	r.Scan = scan.Stats()
	r.Took = time.Since(began)
	return r, nil
}

// aggregate consumes the scored batches.
func (r *Result) aggregate(batches iter.Seq2[arrow.RecordBatch, error], onRows func(int64)) (*aggregator, error) {
	a := newAggregator()
	for b, err := range batches {
		if err != nil {
			return nil, err
		}
		a.addBatch(b)
		r.Rows += b.NumRows()
		b.Release()
		if onRows != nil {
			onRows(r.Rows)
		}
	}
	return a, nil
}

// addBatch takes the rows of a scored batch.
func (a *aggregator) addBatch(b arrow.RecordBatch) {
	ids, desks, classes := b.Column(colID).(*array.String), b.Column(colDesk).(*array.String), b.Column(colClass).(*array.String)
	dates := b.Column(colDate).(*array.Date32)
	deltas, dvs := b.Column(colDelta).(*array.Float64), b.Column(colDV01).(*array.Float64)
	vars := b.Column(colVaR).(*array.Float64)
	for i := range ids.Len() {
		a.add(int32(dates.Value(i)), desks.Value(i), classes.Value(i), scored{
			id: ids.Value(i), var99: orZero(vars, i), delta: orZero(deltas, i), dv: orZero(dvs, i),
		})
	}
}

// orZero reads a number; a trade without it adds nothing to the sum.
func orZero(a *array.Float64, i int) float64 {
	if a.IsNull(i) {
		return 0
	}
	return a.Value(i)
}

// summaryRow is a row of the summary table.
type summaryRow struct {
	TradeDate  string  `json:"trade_date"`
	Desk       string  `json:"desk"`
	AssetClass string  `json:"asset_class"`
	TradeCount int64   `json:"trade_count"`
	TotalVaR   float64 `json:"total_var99"`
	WorstVaR   float64 `json:"worst_var99"`
	TotalDelta float64 `json:"total_delta"`
	TotalDV01  float64 `json:"total_dv01"`
}

// Store writes the groups to the summary table. The days that they cover are
// replaced, so that a job that runs again corrects its figures; between the two
// commits a reader sees the days without any.
func Store(ctx context.Context, summary *iceberg.Table, groups []Group) error {
	if err := clearDays(ctx, summary, groups); err != nil {
		return fmt.Errorf("batch: clear the summary: %w", err)
	}
	_, err := summary.AppendJSON(ctx, func(yield func([]byte, error) bool) {
		for i := range groups {
			g := &groups[i]
			row, err := json.Marshal(summaryRow{g.Day(), g.Desk, g.Class, g.Trades, g.TotalVaR, g.WorstVaR, g.Delta, g.DV01})
			if !yield(row, err) {
				return
			}
		}
	}, iceberg.AppendOptions{})
	if err != nil {
		return fmt.Errorf("batch: store the summary: %w", err)
	}
	return nil
}

// clearDays deletes the summary of the days of groups, which are sorted by day.
func clearDays(ctx context.Context, summary *iceberg.Table, groups []Group) error {
	if summary.Metadata().CurrentSnapshot() == nil || len(groups) == 0 {
		return nil
	}
	var days []string
	for i := range groups {
		if i == 0 || groups[i].Date != groups[i-1].Date {
			days = append(days, "DATE '"+groups[i].Day()+"'")
		}
	}
	where, err := iceberg.ParseWhere("trade_date IN (" + strings.Join(days, ", ") + ")")
	if err != nil {
		return err
	}
	_, err = summary.Delete(ctx, where, iceberg.WriteOptions{})
	return err
}

// WriteProfile prints what the functions cost.
func (r *Result) WriteProfile(w io.Writer) error { return r.Profiler.WriteTable(w) }
