package pipeline

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/frazil/frazil/examples/trades/internal/alert"
	"github.com/frazil/frazil/examples/trades/internal/batch"
	"github.com/frazil/frazil/examples/trades/internal/report"
	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/iceberg"
)

// analyse runs the batch job and the corrections, and fills the summary.
func (p *pipeline) analyse(ctx context.Context) error {
	if err := p.trades.Refresh(ctx); err != nil {
		return err
	}
	rows := p.streams.ingest.Emitted
	p.o.Progress("batch", 0, rows)
	res, err := batch.Run(ctx, p.trades, batch.Options{
		Seed: p.o.Seed, OnRows: func(n int64) { p.o.Progress("batch", n, rows) },
	})
	if err != nil {
		return err
	}
	summary, err := p.catalog.LoadOrCreate(ctx, trade.SummaryTable, trade.SummarySpec())
	if err != nil {
		return err
	}
	if err := batch.Store(ctx, summary, res.Groups); err != nil {
		return err
	}
	p.o.Progress("correct", 0, 0)
	fixes := &batch.Corrections{}
	if res.OtherTrade != "" {
		if fixes, err = batch.Correct(ctx, p.trades, res.WorstTrade, res.OtherTrade, res.Rows); err != nil {
			return err
		}
	}
	return p.summarize(ctx, res, fixes, summary)
}

// summarize puts together what the jobs have told.
func (p *pipeline) summarize(ctx context.Context, res *batch.Result, fixes *batch.Corrections, summary *iceberg.Table) error {
	in, err := p.trades.Inspect(ctx)
	if err != nil {
		return err
	}
	sums, err := summary.Inspect(ctx)
	if err != nil {
		return err
	}
	leaves, err := typedLeaves(in, "pricing_vector")
	if err != nil {
		return err
	}
	a := p.streams.alerts
	p.sum = Summary{
		Trades:     p.streams.ingest.Records - p.streams.ingest.Bad,
		BadRecords: p.streams.ingest.Bad,
		Alerts:     Alerts{Critical: a.Critical, High: a.High, Latency: latencies(a)},
		Table: Table{
			Metadata: localPath(p.trades.Unwrap().MetadataLocation()), Snapshots: len(in.Snapshots),
			Rows: res.Rows, DataFiles: len(in.DataFiles), ShreddedLeaves: len(leaves),
		},
		Batch:       batchSummary(res),
		SummaryRows: int64(len(res.Groups)),
		Corrections: Corrections{
			Amended: fixes.Amended, Cancelled: fixes.Cancelled, RowsAfter: fixes.RowsAfter, Vectors: vectors(fixes.Vectors),
		},
		Directory: p.o.Dir,
		Profiler:  res.Profiler,
	}
	p.sum.report = p.reportData(res, fixes, leaves, in, sums)
	return nil
}

func latencies(a *alert.Report) Latency {
	ms := func(share float64) float64 { return float64(a.Percentile(share)) / float64(time.Millisecond) }
	return Latency{P50: ms(0.50), P95: ms(0.95), P99: ms(0.99), Max: ms(1)}
}

func batchSummary(res *batch.Result) Batch {
	b := Batch{
		Rows: res.Rows, Seconds: res.Took.Seconds(), VaR99Total: res.TotalVaR,
		ColumnsRead: res.Scan.ColumnsRead, BytesRead: res.Scan.BytesRead, UDF: []Function{},
	}
	for _, f := range res.Profiler.Profiles() {
		b.UDF = append(b.UDF, Function{Name: f.Name, Rows: f.Rows, Seconds: f.Wall.Seconds(), AllocBytes: f.Alloc})
	}
	return b
}

func vectors(in []iceberg.VectorInfo) []iceberg.VectorInfo {
	out := make([]iceberg.VectorInfo, len(in))
	for i, v := range in {
		out[i] = iceberg.VectorInfo{DataFile: localPath(v.DataFile), Puffin: localPath(v.Puffin), Cardinality: v.Cardinality}
	}
	return out
}

// localPath makes a plain path of a file URI.
func localPath(location string) string { return strings.TrimPrefix(location, "file://") }

// reportData gathers what the page shows.
func (p *pipeline) reportData(res *batch.Result, fixes *batch.Corrections, leaves []report.Leaf, in, sums *iceberg.Inspection) *report.Data {
	a := p.streams.alerts
	d := &report.Data{
		Seed: p.o.Seed, Directory: p.o.Dir,
		Trades: p.sum.Trades, Bad: p.sum.BadRecords, Critical: a.Critical, High: a.High,
		Latencies: a.Latencies, P50: a.Percentile(0.50), P95: a.Percentile(0.95), P99: a.Percentile(0.99), Max: a.Percentile(1),
		TotalVaR: res.TotalVaR, VaR: deskVaR(res.Groups), Leaves: leaves,
		Columns: leafNames(res.Scan.ColumnsRead), Read: res.Scan.BytesRead,
		Amended: fixes.Amended, Cancelled: fixes.Cancelled,
		Layers: []report.Layer{
			{Name: trade.Topic, Kind: "topic", Rows: int64(p.streams.produced.Events), Bytes: p.streams.produced.Bytes},
			{Name: trade.AlertsTopic, Kind: "topic", Rows: int64(a.Critical + a.High), Bytes: a.Bytes},
			tableLayer(trade.VectorsTable, in),
			tableLayer(trade.SummaryTable, sums),
		},
	}
	for _, v := range fixes.Vectors {
		d.Vectors = append(d.Vectors, report.Vector{DataFile: v.DataFile, Puffin: v.Puffin, Cardinality: v.Cardinality})
	}
	for _, f := range res.Profiler.Profiles() {
		d.Profile = append(d.Profile, report.Function{Name: f.Name, Rows: f.Rows, Wall: f.Wall, CPU: f.CPU, AllocBytes: f.Alloc})
	}
	return d
}

// tableLayer describes a table as it is after the corrections.
func tableLayer(name string, in *iceberg.Inspection) report.Layer {
	l := report.Layer{Name: name, Kind: "table", Files: len(in.DataFiles), Snapshots: len(in.Snapshots)}
	for _, f := range in.DataFiles {
		l.Rows += f.Rows
		l.Bytes += f.Bytes
	}
	for _, v := range in.DeletionVectors {
		l.Rows -= v.Cardinality
	}
	return l
}

// deskVaR sums the groups over the days.
func deskVaR(groups []batch.Group) []report.DeskVaR {
	var out []report.DeskVaR
	for i := range groups {
		g := &groups[i]
		at := slices.IndexFunc(out, func(d report.DeskVaR) bool { return d.Desk == g.Desk && d.Class == g.Class })
		if at < 0 {
			at = len(out)
			out = append(out, report.DeskVaR{Desk: g.Desk, Class: g.Class})
		}
		out[at].Trades += g.Trades
		out[at].VaR += g.TotalVaR
	}
	return out
}

// leafNames makes the physical names of leaves shorter: the groups that
// shredding adds say nothing to a reader of the page.
func leafNames(columns []string) []string {
	out := make([]string, 0, len(columns))
	for _, c := range columns {
		c = strings.NewReplacer(".typed_value.list.element", "[*]", ".list.element", "[*]", ".typed_value", "").Replace(c)
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// writeReport draws the page, the last step.
func (p *pipeline) writeReport(context.Context) error {
	p.o.Progress("report", 0, 0)
	path := filepath.Join(p.o.Dir, "report.html")
	p.sum.Seconds = time.Since(p.began).Seconds()
	p.sum.report.Took = time.Since(p.began)
	p.sum.Report = path
	return report.Write(path, p.sum.report)
}
