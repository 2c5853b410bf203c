package service

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Progress shows one line that is written over again and again, if the output
// is a terminal; otherwise it is silent. It is safe for concurrent use.
type Progress struct {
	w io.Writer // nil when silent

	mu    sync.Mutex
	stage string
	last  time.Time
	width int
}

// redraw is how often the line changes at most.
const redraw = 100 * time.Millisecond

// NewProgress returns a progress line on w.
func NewProgress(w io.Writer) *Progress {
	f, ok := w.(*os.File)
	if !ok {
		return &Progress{}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return &Progress{}
	}
	return &Progress{w: w}
}

// Show says how far a stage is. total is 0 when it is not known.
func (p *Progress) Show(stage string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil || stage == p.stage && time.Since(p.last) < redraw {
		return
	}
	if stage != p.stage && p.stage != "" {
		p.end()
	}
	p.stage, p.last = stage, time.Now()
	line := stage
	if total > 0 {
		const cells = 24
		n := int(min(done, total) * cells / total)
		line = fmt.Sprintf("%-17s [%s%s] %d of %d", stage, strings.Repeat("#", n), strings.Repeat(".", cells-n), done, total)
	}
	p.draw(line)
}

// Note shows a text in place of the last one.
func (p *Progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil {
		p.stage = text
		p.draw(text)
	}
}

func (p *Progress) draw(line string) {
	pad := max(p.width-len(line), 0)
	p.width = len(line)
	fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", pad))
}

// Done ends the line.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && p.stage != "" {
		p.end()
		p.stage = ""
	}
}

func (p *Progress) end() {
	fmt.Fprintln(p.w)
	p.width = 0
}
