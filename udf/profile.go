package udf

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Profile is what one function cost, over all batches and workers of the runs
// that its [Profiler] watched.
type Profile struct {
	Name    string
	Batches int64
	Rows    int64 // that went in
	// Wall is the time spent inside the function, added up over the workers;
	// the functions it feeds or is fed by do not count.
	Wall time.Duration
	// CPU is the time that the threads of the workers ran, during Wall, by
	// the clock of the operating system. It has the parts of garbage
	// collection that the runtime makes the allocating goroutine do, and not
	// the rest of it; and nothing of goroutines that the function starts. It
	// is -1 where it is not measured: outside Linux, and for iterators, which
	// may change threads.
	CPU time.Duration
	// Alloc is the bytes of Arrow buffers that the function took from
	// [Call.Mem], and Peak the most that were held at one time, results still
	// in use by later functions included. Go's heap is not in it.
	Alloc int64
	Peak  int64
}

// Profiler collects profiles. The zero value is ready. One Profiler may watch
// several runs, at the same time too; functions of the same name share a
// profile. A nil Profiler measures nothing.
type Profiler struct {
	mu    sync.Mutex
	order []*stats
	index map[string]*stats
}

// stats are the counters behind a Profile. All methods work on nil.
type stats struct {
	name          string
	batches, rows atomic.Int64
	wall, cpu     atomic.Int64 // nanoseconds
	noCPU         atomic.Bool
	alloc         atomic.Int64
	live, peak    atomic.Int64
}

func (p *Profiler) stats(name string) *stats {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.index[name]
	if s == nil {
		if p.index == nil {
			p.index = make(map[string]*stats)
		}
		s = &stats{name: name}
		p.index[name] = s
		p.order = append(p.order, s)
	}
	return s
}

// Profiles are the profiles so far, in the order in which the functions first
// appeared.
func (p *Profiler) Profiles() []Profile {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]Profile, len(p.order))
	for i, s := range p.order {
		out[i] = Profile{
			Name:    s.name,
			Batches: s.batches.Load(),
			Rows:    s.rows.Load(),
			Wall:    time.Duration(s.wall.Load()),
			CPU:     time.Duration(s.cpu.Load()),
			Alloc:   s.alloc.Load(),
			Peak:    s.peak.Load(),
		}
		if s.noCPU.Load() {
			out[i].CPU = -1
		}
	}
	return out
}

// WriteTable prints the profiles as a table for people.
func (p *Profiler) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "function\tbatches\trows\twall\tcpu\trows/s\talloc\tpeak\t")
	for _, f := range p.Profiles() {
		cpu, rate := "-", "-"
		if f.CPU >= 0 {
			cpu = f.CPU.Round(10 * time.Microsecond).String()
		}
		if f.Wall > 0 {
			rate = fmt.Sprintf("%.0f", float64(f.Rows)/f.Wall.Seconds())
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%v\t%s\t%s\t%s\t%s\t\n", f.Name, f.Batches, f.Rows,
			f.Wall.Round(10*time.Microsecond), cpu, rate, byteText(f.Alloc), byteText(f.Peak))
	}
	return t.Flush()
}

func byteText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

func (s *stats) rowsIn(rows int64) {
	if s != nil {
		s.batches.Add(1)
		s.rows.Add(rows)
	}
}

// meter measures one call. It may pause and resume; pausing twice is pausing
// once for each resume. All methods work on nil.
type meter struct {
	s       *stats
	depth   int  // pauses
	threads bool // measure the thread's clock too
	wall    time.Time
	cpu     time.Duration
}

// start begins to measure a call that stays on its thread.
func (s *stats) start() *meter {
	if s == nil {
		return nil
	}
	m := &meter{s: s, threads: hasThreadClock}
	if !m.threads {
		s.noCPU.Store(true)
	}
	m.begin()
	return m
}

// startWall begins to measure a call that may change threads.
func (s *stats) startWall() *meter {
	if s == nil {
		return nil
	}
	s.noCPU.Store(true)
	m := &meter{s: s}
	m.begin()
	return m
}

func (m *meter) begin() {
	if m.threads {
		runtime.LockOSThread() // so that both readings are of one clock
		m.cpu = threadClock()
	}
	m.wall = time.Now()
}

func (m *meter) end() {
	m.s.wall.Add(int64(time.Since(m.wall)))
	if m.threads {
		m.s.cpu.Add(int64(threadClock() - m.cpu))
		runtime.UnlockOSThread()
	}
}

func (m *meter) pause() {
	if m == nil {
		return
	}
	if m.depth == 0 {
		m.end()
	}
	m.depth++
}

func (m *meter) resume() {
	if m == nil {
		return
	}
	m.depth--
	if m.depth == 0 {
		m.begin()
	}
}

// stop ends the measurement, paused or not.
func (m *meter) stop() {
	if m != nil && m.depth == 0 {
		m.end()
	}
}

// allocator counts what mem gives.
func (s *stats) allocator(mem memory.Allocator) memory.Allocator {
	if s == nil {
		return mem
	}
	return &counter{Allocator: mem, s: s}
}

// counter is an allocator that counts.
type counter struct {
	memory.Allocator
	s *stats
}

func (c *counter) Allocate(size int) []byte {
	b := c.Allocator.Allocate(size)
	c.s.took(size)
	return b
}

func (c *counter) Reallocate(size int, b []byte) []byte {
	old := len(b)
	b = c.Allocator.Reallocate(size, b)
	c.s.live.Add(int64(-old))
	c.s.took(size)
	return b
}

func (c *counter) Free(b []byte) {
	c.s.live.Add(int64(-len(b)))
	c.Allocator.Free(b)
}

func (s *stats) took(size int) {
	s.alloc.Add(int64(size))
	live := s.live.Add(int64(size))
	for {
		peak := s.peak.Load()
		if live <= peak || s.peak.CompareAndSwap(peak, live) {
			return
		}
	}
}
