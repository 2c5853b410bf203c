package iceberg

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
)

// JSONForm says what Scan.JSON prints of a row.
type JSONForm uint8

// The forms.
const (
	JSONRows  JSONForm = iota // an object of all columns
	JSONCells                 // the value of the first column alone
)

// JSON reads the rows as JSON, one a line, in the form of Renderer. It yields
// the lines of a batch together, each with its line feed; they are valid until
// the next step. The lines before a row that cannot be printed are yielded ahead
// of the error. Breaking off the loop or cancelling ctx ends all reading before
// the loop returns.
//
// As many batches as the scan has workers are printed at the same time, beside
// the reading. It keeps up to workers + 2 batches and as many buffers in memory.
func (s *Scan) JSON(ctx context.Context, form JSONForm) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		p := &printRun{
			scan: s, form: form,
			queue: make(chan *printJob),
			order: make(chan *printJob, s.opts.Workers),
			spare: make(chan []byte, s.opts.Workers+2),
		}
		var group sync.WaitGroup
		group.Go(func() { p.handOut(ctx) })
		for range s.opts.Workers {
			group.Go(p.work)
		}
		defer group.Wait()
		defer func() {
			cancel()
			for job := range p.order {
				<-job.done
			}
		}()
		p.consume(yield)
	}
}

// printRun is one pass of JSON. One goroutine reads batches and hands them to
// the workers, which print them; the consumer takes them in the order of order.
type printRun struct {
	scan  *Scan
	form  JSONForm
	queue chan *printJob
	order chan *printJob
	spare chan []byte // buffers to print into
}

// printJob is a batch and, once done is closed, its lines. A job without a batch
// is the error that ends the scan.
type printJob struct {
	rec   arrow.RecordBatch
	lines []byte
	err   error
	done  chan struct{}
}

func (p *printRun) handOut(ctx context.Context) {
	defer close(p.queue)
	defer close(p.order)
	for rec, err := range p.scan.Batches(ctx) {
		job := &printJob{rec: rec, err: err, done: make(chan struct{})}
		if err != nil {
			close(job.done)
			p.order <- job // somebody always empties order
			return
		}
		p.order <- job
		p.queue <- job // workers always come back
	}
}

func (p *printRun) work() {
	render := NewRenderer(p.scan.schema)
	for job := range p.queue {
		select {
		case job.lines = <-p.spare:
		default:
		}
		job.lines, job.err = p.print(render, job.rec, job.lines[:0])
		job.rec.Release()
		close(job.done)
	}
}

// sampleRows is the number of rows after which the size of a batch's text is
// estimated, so that its buffer is made once.
const sampleRows = 64

// print appends the rows of a batch. On an error dst holds the rows before.
func (p *printRun) print(render *Renderer, rec arrow.RecordBatch, dst []byte) ([]byte, error) {
	if err := render.Bind(rec); err != nil {
		return dst, err
	}
	rows := int(rec.NumRows())
	for i := range rows {
		if i == sampleRows {
			rest := (len(dst)/sampleRows + 1) * (rows - i)
			dst = slices.Grow(dst, rest+rest/8)
		}
		out, err := dst, error(nil)
		switch p.form {
		case JSONRows:
			out, err = render.AppendRow(dst, i)
		case JSONCells:
			out, err = render.AppendCell(dst, 0, i)
		}
		if err != nil {
			return dst, err
		}
		dst = append(out, '\n')
	}
	return dst, nil
}

func (p *printRun) consume(yield func([]byte, error) bool) {
	for job := range p.order {
		<-job.done
		if len(job.lines) > 0 && !yield(job.lines, nil) {
			return
		}
		if job.err != nil {
			yield(nil, job.err)
			return
		}
		select {
		case p.spare <- job.lines:
		default:
		}
	}
}
