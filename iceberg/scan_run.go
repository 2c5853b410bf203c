package iceberg

import (
	"context"
	"iter"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
)

// scanRun is one pass over the tasks of a scan.
//
// One goroutine hands out jobs in order; each worker takes the next one and
// sends its batches into the job's own channel. The consumer empties the
// channels in the order of the jobs, so the batches that wait are bounded by
// workers x (aheadBatches + 1).
type scanRun struct {
	spec      *readSpec
	schema    *arrow.Schema // of the batches
	index     []int         // of each column among the needs
	tasks     []fileTask
	workers   int
	unordered bool
	positions bool // results carry the positions of their rows
}

// aheadBatches is how many batches of one job may wait for the consumer.
const aheadBatches = 4

// scanJob is some row groups of one file.
type scanJob struct {
	task   *fileTask
	shared *sharedFile // nil: the worker opens the file and reads all of it
	groups []int
	out    chan scanResult
}

// scanResult is a batch of rows of one file. Positions are those of its rows in
// the file, ascending, when the run asks for them.
type scanResult struct {
	rec       arrow.RecordBatch
	task      *fileTask
	positions []int64
	err       error
}

// sharedFile is an open file whose row groups go to different workers; the
// last of them closes it.
type sharedFile struct {
	mu     sync.Mutex
	users  int
	reader *fileReader
}

func (f *sharedFile) release() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users--; f.users > 0 {
		return nil
	}
	return f.reader.close()
}

// results reads all tasks. After a result with an error there is none.
func (r *scanRun) results(ctx context.Context) iter.Seq[scanResult] {
	return func(yield func(scanResult) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var group sync.WaitGroup
		workers := min(r.workers, max(len(r.tasks), 1)*64)
		queue := make(chan *scanJob)             // to the workers
		order := make(chan *scanJob, workers)    // to the consumer
		merged := make(chan scanResult, workers) // unordered: all batches
		group.Go(func() {
			defer close(order)
			defer close(queue)
			r.handOut(ctx, queue, order)
		})
		for range workers {
			group.Go(func() {
				for job := range queue {
					r.work(ctx, job)
				}
			})
		}
		// Nothing outlives the loop: what nobody took is released, so that no
		// sender hangs.
		var current *scanJob
		defer func() {
			cancel()
			if current != nil {
				drainResults(current.out)
			}
			drain(order)
			drainResults(merged)
			group.Wait()
		}()
		if !r.unordered {
			close(merged)
			consume(ctx, order, &current, yield)
			return
		}
		group.Go(func() { merge(ctx, order, merged) })
		for res := range merged {
			if !yield(res) || res.err != nil {
				return
			}
		}
	}
}

// consume yields the results of the jobs in order; current is the job that it
// is at.
func consume(ctx context.Context, order <-chan *scanJob, current **scanJob, yield func(scanResult) bool) {
	for job := range order {
		*current = job
		for res := range job.out {
			if !yield(res) || res.err != nil {
				return
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		yield(scanResult{err: err})
	}
}

// merge sends the results of all jobs into one channel as they come.
func merge(ctx context.Context, order <-chan *scanJob, merged chan<- scanResult) {
	var group sync.WaitGroup
	for job := range order {
		group.Go(func() {
			for res := range job.out {
				select {
				case merged <- res:
				case <-ctx.Done():
					res.release()
				}
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		select {
		case merged <- scanResult{err: err}:
		default:
		}
	}
	close(merged)
}

func (r scanResult) release() {
	if r.rec != nil {
		r.rec.Release()
	}
}

func drain(order <-chan *scanJob) {
	for job := range order {
		drainResults(job.out)
	}
}

func drainResults(results <-chan scanResult) {
	for res := range results {
		res.release()
	}
}

// handOut makes the jobs. With fewer files than workers it opens the files
// itself, to divide them by row group.
func (r *scanRun) handOut(ctx context.Context, queue, order chan<- *scanJob) {
	divide := len(r.tasks) < 2*r.workers && r.workers > 1
	for i := range r.tasks {
		jobs := []*scanJob{{task: &r.tasks[i]}}
		var failed error
		if divide {
			jobs, failed = r.divide(ctx, &r.tasks[i])
		}
		for k, job := range jobs {
			job.out = make(chan scanResult, aheadBatches)
			if failed != nil {
				job.out <- scanResult{err: failed}
				close(job.out)
			}
			select {
			case order <- job:
			case <-ctx.Done():
				abandon(jobs[k:])
				return
			}
			if failed != nil {
				return
			}
			select {
			case queue <- job:
			case <-ctx.Done():
				close(job.out)
				abandon(jobs[k:])
				return
			}
		}
	}
}

// abandon gives back the files of jobs that no worker gets.
func abandon(jobs []*scanJob) {
	for _, job := range jobs {
		if job.shared != nil {
			_ = job.shared.release() // the scan has been given up
		}
	}
}

// divide opens a file and makes a job of each row group that may have rows.
func (r *scanRun) divide(ctx context.Context, task *fileTask) ([]*scanJob, error) {
	reader, err := r.spec.openFile(ctx, task)
	if err != nil {
		return []*scanJob{{task: task}}, err
	}
	groups := reader.allGroups()
	if len(groups) == 0 {
		return nil, reader.close()
	}
	shared := &sharedFile{users: len(groups), reader: reader}
	jobs := make([]*scanJob, len(groups))
	for i := range groups {
		jobs[i] = &scanJob{task: task, shared: shared, groups: groups[i : i+1]}
	}
	return jobs, nil
}

// work reads one job.
func (r *scanRun) work(ctx context.Context, job *scanJob) {
	defer close(job.out)
	if err := r.read(ctx, job); err != nil && context.Cause(ctx) == nil {
		select {
		case job.out <- scanResult{err: fileError(job.task.file.FilePath(), err)}:
		case <-ctx.Done():
		}
	}
}

func (r *scanRun) read(ctx context.Context, job *scanJob) (err error) {
	reader, done, err := r.reader(ctx, job)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := done(); err == nil {
			err = closeErr
		}
	}()
	groups := job.groups
	if groups == nil {
		groups = reader.allGroups()
	}
	return reader.each(ctx, groups, func(b *fileBatch) error {
		rec, err := b.record(r.schema, r.index)
		if err != nil {
			return err
		}
		res := scanResult{rec: rec, task: job.task}
		if r.positions {
			res.positions = make([]int64, 0, b.mask.Live())
			b.positions(func(pos int64) { res.positions = append(res.positions, pos) })
		}
		select {
		case job.out <- res:
			return nil
		case <-ctx.Done():
			rec.Release()
			return context.Cause(ctx)
		}
	})
}

// reader gives the job a reader of its own and what to call at the end.
func (r *scanRun) reader(ctx context.Context, job *scanJob) (*fileReader, func() error, error) {
	if job.shared == nil {
		reader, err := r.spec.openFile(ctx, job.task)
		if err != nil {
			return nil, nil, err
		}
		return reader, reader.close, nil
	}
	reader, err := job.shared.reader.clone()
	if err != nil {
		_ = job.shared.release() // the first error says what went wrong
		return nil, nil, err
	}
	return reader, func() error {
		reader.releaseSources()
		return job.shared.release()
	}, nil
}

// clone makes a reader of the same open file for another goroutine.
func (r *fileReader) clone() (*fileReader, error) {
	out := &fileReader{readSpec: r.readSpec, task: r.task, file: r.file, vector: r.vector}
	for _, h := range r.hashes {
		out.hashes = append(out.hashes, &equalitySet{keys: h.keys})
	}
	return out, out.prepare()
}
