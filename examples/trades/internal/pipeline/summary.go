package pipeline

import (
	"fmt"
	"io"

	"github.com/frazil/frazil/examples/trades/internal/report"
	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/udf"
)

// Summary is what a run prints with -json.
type Summary struct {
	Trades      int64       `json:"trades"` // good events
	BadRecords  int64       `json:"bad_records"`
	Alerts      Alerts      `json:"alerts"`
	Table       Table       `json:"table"`
	Batch       Batch       `json:"batch"`
	SummaryRows int64       `json:"summary_rows"`
	Corrections Corrections `json:"corrections"`
	Report      string      `json:"report"`
	Directory   string      `json:"directory"`
	Seconds     float64     `json:"seconds"`

	Profiler *udf.Profiler `json:"-"`
	report   *report.Data
}

// Alerts counts the alerts by level.
type Alerts struct {
	Critical int     `json:"critical"`
	High     int     `json:"high"`
	Latency  Latency `json:"latency_ms"`
}

// Latency is from the broker's time of a trade to that of its alert, in
// milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Table describes the table of trades.
type Table struct {
	Metadata       string `json:"metadata"`  // file, after the corrections
	Snapshots      int    `json:"snapshots"` // after the corrections
	Rows           int64  `json:"rows"`      // before them
	DataFiles      int    `json:"data_files"`
	ShreddedLeaves int    `json:"shredded_leaves"` // distinct typed leaves
}

// Batch describes the batch job.
type Batch struct {
	Rows        int64      `json:"rows"`
	Seconds     float64    `json:"seconds"`
	VaR99Total  float64    `json:"var99_total"`
	ColumnsRead []string   `json:"columns_read"`
	BytesRead   int64      `json:"bytes_read"`
	UDF         []Function `json:"udf"`
}

// Function is what a vectorized function cost, added up over the workers.
type Function struct {
	Name       string  `json:"name"`
	Rows       int64   `json:"rows"`
	Seconds    float64 `json:"seconds"`
	AllocBytes int64   `json:"alloc_bytes"`
}

// Corrections describes the two corrected trades.
type Corrections struct {
	Amended   string               `json:"amended"`
	Cancelled string               `json:"cancelled"`
	RowsAfter int64                `json:"rows_after"`
	Vectors   []iceberg.VectorInfo `json:"deletion_vectors"`
}

// WriteText prints the summary for people.
func (s *Summary) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.line("%d trades in %.1f s, %d bad records set aside", s.Trades, s.Seconds, s.BadRecords)
	p.line("")
	p.line("alerts    %d critical, %d high; latency p50 %v ms, p95 %v ms, p99 %v ms, max %v ms",
		s.Alerts.Critical, s.Alerts.High, s.Alerts.Latency.P50, s.Alerts.Latency.P95, s.Alerts.Latency.P99, s.Alerts.Latency.Max)
	p.line("table     %d rows in %d data files, %d snapshots, %d shredded leaves",
		s.Table.Rows, s.Table.DataFiles, s.Table.Snapshots, s.Table.ShreddedLeaves)
	p.line("batch     %d rows in %.2f s, %.1f MB read; sum of 99 %% VaR %.2f; %d summary rows",
		s.Batch.Rows, s.Batch.Seconds, float64(s.Batch.BytesRead)/1e6, s.Batch.VaR99Total, s.SummaryRows)
	if s.Corrections.Amended == "" {
		p.line("corrected nothing: that takes two trades")
	} else {
		p.line("amended   %s", s.Corrections.Amended)
		p.line("cancelled %s; %d rows remain", s.Corrections.Cancelled, s.Corrections.RowsAfter)
	}
	for _, v := range s.Corrections.Vectors {
		p.line("          vector of %d rows in %s", v.Cardinality, v.Puffin)
		p.line("                 for %s", v.DataFile)
	}
	p.line("")
	if p.err == nil {
		p.err = s.Profiler.WriteTable(w)
	}
	p.line("")
	p.line("report    %s", s.Report)
	p.line("metadata  %s", s.Table.Metadata)
	return p.err
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
