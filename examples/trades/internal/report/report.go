// Package report draws the page that a run of the pipeline leaves behind: one
// HTML file with its own style and drawings, which needs no network. It follows
// the reader's light or dark scheme.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"time"
)

// Data is what the page shows.
type Data struct {
	Seed      uint64
	Directory string
	Took      time.Duration

	Trades, Bad    int64
	Critical, High int
	Latencies      []time.Duration // sorted
	P50, P95, P99  time.Duration
	Max            time.Duration

	TotalVaR float64
	VaR      []DeskVaR // one per desk and asset class
	Layers   []Layer
	Leaves   []Leaf
	Vectors  []Vector
	Columns  []string // leaves that the batch job read
	Read     int64    // bytes that it read
	Profile  []Function

	Amended, Cancelled string
}

// DeskVaR is the value at risk of a desk in an asset class, over all days.
type DeskVaR struct {
	Desk, Class string
	Trades      int64
	VaR         float64
}

// Layer is a topic or a table.
type Layer struct {
	Name, Kind string
	Rows       int64
	Files      int // 0 for a topic
	Bytes      int64
	Snapshots  int
}

// Leaf is a typed leaf of the shredded column.
type Leaf struct {
	Path, Type string // the types of all files, if they differ
	Files      int
}

// Vector is a deletion vector.
type Vector struct {
	DataFile, Puffin string
	Cardinality      int64
}

// Function is a line of the profiler's table.
type Function struct {
	Name       string
	Rows       int64
	Wall, CPU  time.Duration
	AllocBytes int64
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"count": count, "size": size, "money": money, "ms": millis, "dur": duration, "base": filepath.Base, "px": px,
}).Parse(pageText))

// Write draws the page into a file.
func Write(path string, d *Data) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	view := struct {
		*Data
		Histogram histogram
		Desks     desks
	}{d, newHistogram(d.Latencies), newDesks(d.VaR)}
	if err := page.Execute(f, view); err != nil {
		_ = f.Close()
		return fmt.Errorf("report: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
