package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// stats is the JSON object that -stats prints as the last line of stderr.
// Fields that do not apply are left out.
type stats struct {
	Rows        int64    `json:"rows"`
	Seconds     float64  `json:"seconds"`
	BytesIn     *int64   `json:"bytes_in,omitempty"`
	Files       *int     `json:"files,omitempty"`
	FileBytes   *int64   `json:"file_bytes,omitempty"`
	BytesRead   *int64   `json:"bytes_read,omitempty"`
	ColumnsRead []string `json:"columns_read,omitempty"`
	Rejected    *int64   `json:"rejected,omitempty"`
	PeakRSS     *int64   `json:"peak_rss_bytes,omitempty"`
}

// print ends the measurement that began at start.
func (s *stats) print(w io.Writer, start time.Time) error {
	s.Seconds = time.Since(start).Seconds()
	if rss := peakRSS(); rss > 0 {
		s.PeakRSS = &rss
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// peakRSS is the most memory the process has had in use, in bytes, 0 where the
// system does not tell.
func peakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, ok := strings.Cut(string(status), "VmHWM:")
	if !ok {
		return 0
	}
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
}

// progress shows a count on a terminal while a command works.
type progress struct {
	w     io.Writer
	on    bool
	what  string
	start time.Time
	last  time.Time
}

const progressInterval = 200 * time.Millisecond

func newProgress(w io.Writer, what string) *progress {
	p := &progress{w: w, what: what, start: time.Now()}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.on = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// show prints the count when it is time to.
func (p *progress) show(n int64) {
	if !p.on || time.Since(p.last) < progressInterval {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.w, "\r%s %d, %.0f/s ", p.what, n, float64(n)/time.Since(p.start).Seconds())
}

// clear removes the line.
func (p *progress) clear() {
	if p.on {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
