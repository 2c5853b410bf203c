package iceberg

import (
	"sync"
	"sync/atomic"
)

// pool runs the work of an appender: shredding of the rows of a partition, one
// worker at a time and in order, and encoding of row groups, beside it.
//
// Rows wait in two places, which together are bounded: in chunks that no worker
// has taken (queued), and in the buffers of open row groups (buffered).
type pool struct {
	mu       sync.Mutex
	cond     *sync.Cond // signals every change of what mu guards
	ready    []*part    // partitions with chunks and no worker
	jobs     []*job     // row groups to encode
	active   int        // workers at work
	queued   int64      // bytes in chunks
	closing  bool
	wg       sync.WaitGroup
	buffered atomic.Int64
	process  func(*part, *chunk)
}

func newPool(workers int, process func(*part, *chunk)) *pool {
	p := &pool{process: process}
	p.cond = sync.NewCond(&p.mu)
	for range workers {
		p.wg.Go(p.work)
	}
	return p
}

// job is work that runs once, on whichever goroutine takes it first.
type job struct {
	taken atomic.Bool
	done  chan struct{}
	run   func()
}

// finish runs j now, or waits for the goroutine that runs it.
func (j *job) finish() {
	if j.taken.CompareAndSwap(false, true) {
		j.run()
		close(j.done)
		return
	}
	<-j.done
}

// submit queues a chunk of a partition, and blocks while more than limit bytes
// are queued.
func (p *pool) submit(pt *part, c *chunk, limit int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.queued > limit {
		p.cond.Wait()
	}
	p.queued += c.size()
	pt.queue = append(pt.queue, c)
	if !pt.busy {
		pt.busy = true
		p.ready = append(p.ready, pt)
	}
	p.cond.Broadcast()
}

// start queues a job.
func (p *pool) start(run func()) *job {
	j := &job{done: make(chan struct{}), run: run}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs = append(p.jobs, j)
	p.cond.Broadcast()
	return j
}

func (p *pool) work() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		switch {
		case len(p.jobs) > 0:
			j := p.jobs[0]
			p.jobs = p.jobs[1:]
			p.away(func() {
				if j.taken.CompareAndSwap(false, true) {
					j.run()
					close(j.done)
				}
			})
		case len(p.ready) > 0:
			pt := p.ready[0]
			p.ready = p.ready[1:]
			p.serve(pt)
		case p.closing:
			return
		default:
			p.cond.Wait()
		}
	}
}

// away runs fn without the lock.
func (p *pool) away(fn func()) {
	p.active++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.active--
		p.cond.Broadcast()
	}()
	fn()
}

// serve works on the chunks that a partition has now.
func (p *pool) serve(pt *part) {
	chunks := pt.queue
	pt.queue = nil
	size := int64(0)
	for _, c := range chunks {
		size += c.size()
	}
	p.away(func() {
		for _, c := range chunks {
			p.process(pt, c)
		}
	})
	p.queued -= size
	if len(pt.queue) > 0 {
		p.ready = append(p.ready, pt)
		return
	}
	pt.busy = false
}

// wait blocks until no work is left.
func (p *pool) wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.active > 0 || len(p.jobs) > 0 || len(p.ready) > 0 {
		p.cond.Wait()
	}
}

// below blocks until fewer than limit bytes are buffered or no work is left.
func (p *pool) below(limit int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.buffered.Load() >= limit && (p.active > 0 || len(p.jobs) > 0 || len(p.ready) > 0) {
		p.cond.Wait()
	}
}

// close ends the workers after the work that is left.
func (p *pool) close() {
	p.mu.Lock()
	p.closing = true
	p.cond.Broadcast()
	p.mu.Unlock()
	p.wg.Wait()
}

// changed tells the goroutines that wait in below.
func (p *pool) changed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cond.Broadcast()
}

// idle reports that no work is left.
func (p *pool) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.active == 0 && len(p.jobs) == 0 && len(p.ready) == 0
}
