package iceberg

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	ice "github.com/apache/iceberg-go"
)

// Appender writes rows into new data files and commits them at the end. Its
// methods must not be called concurrently; it uses more goroutines by itself.
// It must be ended by Commit or Abort.
type Appender struct {
	t    *Table
	opts AppendOptions
	err  error // sticky
	done bool
}

// NewAppender starts an append to the table's current schema and partition
// spec. ctx bounds the writing of files; Commit has its own.
func (t *Table) NewAppender(ctx context.Context, opts AppendOptions) (*Appender, error) {
	if err := t.writable(); err != nil {
		return nil, err
	}
	return &Appender{t: t, opts: opts}, nil
}

// WriteJSON adds one JSON row. line is not kept. Unless Reject is set, a bad
// row, this one or an earlier one, ends the append with a *RowError.
func (w *Appender) WriteJSON(line []byte) error { return w.err }

// WriteBatch adds the rows of an Arrow batch. The batch is not kept.
func (w *Appender) WriteBatch(batch arrow.RecordBatch) error { return w.err }

// Flush writes out and closes all data files and returns them, in the order of
// their first rows. They are part of no snapshot yet.
func (w *Appender) Flush(ctx context.Context) ([]ice.DataFile, error) { return nil, w.err }

// Commit flushes and commits all rows in one snapshot. An append without rows
// makes none, unless Properties are to be set. After an error the data files
// are removed, except when the outcome of the commit is not known.
func (w *Appender) Commit(ctx context.Context) (*Commit, error) { return nil, w.err }

// Abort drops the rows and removes their files. It does nothing after Commit.
func (w *Appender) Abort() error { return nil }

// fail aborts because of err and returns it.
func (w *Appender) fail(err error) error { return errors.Join(err, w.Abort()) }
