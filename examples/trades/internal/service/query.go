package service

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/frazil/frazil/iceberg/stream"
)

// stopPatience is how long a query may take to commit what it has read when
// the program is interrupted.
const stopPatience = 1500 * time.Millisecond

// RunQuery runs a query until it ends or ctx does, shows its progress, and
// prints its counters at the end. Being interrupted is the normal end.
func RunQuery(ctx context.Context, q stream.Query, stderr io.Writer) error {
	progress := NewProgress(stderr)
	q.Logger = NewLogger(stderr)
	r, err := stream.Start(context.WithoutCancel(ctx), q)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for running := true; running; {
		select {
		case <-r.Done():
			running = false
		case <-ctx.Done():
			running = false
		case <-ticker.C:
			c := r.Counters()
			progress.Note(fmt.Sprintf("%d read, %d bad, %d epochs", c.Records, c.Bad, c.Epochs))
		}
	}
	progress.Done()
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	err = r.Stop(limit)
	c := r.Counters()
	fmt.Fprintf(stderr, "%d records read, %d written, %d bad, %d epochs\n", c.Records, c.Emitted, c.Bad, c.Epochs)
	return err
}
