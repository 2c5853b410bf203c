package iceberg

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
)

// AppendOptions configures an append. The zero value is the default.
type AppendOptions struct {
	// Reject is told of each row that does not fit the table: its 1-based
	// number, its text (nil for rows of Arrow batches; valid during the call)
	// and why, a *RowError. When it returns nil the row is left out and the
	// append goes on; an error ends it. Calls come one at a time, not always in
	// the order of the rows. Default: the first bad row ends the append.
	Reject func(line int64, raw []byte, err error) error

	// ByName takes JSON rows as objects whose fields are the columns, also for
	// a table with a single Variant column, which otherwise takes whole rows.
	ByName bool

	// Summary entries are added to the snapshot's summary.
	Summary map[string]string

	// Properties are set on the table in the same commit. Those that shredded
	// files need are added to the map.
	Properties map[string]string

	// Check is called with the newest version of the table before each attempt
	// to commit, and an error from it ends the append. The attempt succeeds only
	// on exactly that version of the branch. Check may change the entries of
	// Summary and Properties: an attempt reads both after it.
	Check func(ctx context.Context, t *Table) error

	// CommitID identifies the commit over retries: it is written into the
	// snapshot's summary, and a commit whose id the table's history already
	// holds is reported as done and not repeated. Default: a random id.
	CommitID string

	// Branch is the branch to commit to. Default "main".
	Branch string

	// TargetFileBytes is the size at which a data file is closed and the next
	// begins. Default: write.target-file-size-bytes, else 512 MiB.
	TargetFileBytes int64

	// RowGroupBytes is the size of a row group's values in memory at which it is
	// written, at most 1 GiB; MemoryBytes makes them smaller. Default:
	// write.parquet.row-group-size-bytes, else 32 MiB.
	RowGroupBytes int64

	// MemoryBytes bounds the rows held in memory over all partitions.
	// Default 256 MiB.
	MemoryBytes int64

	// Workers is the number of goroutines that shred and encode. Default: one
	// per processor.
	Workers int

	// SampleRows is the number of rows of a file from which the layout of its
	// Variant columns is inferred. Default:
	// write.parquet.variant-inference-buffer-size, else 100.
	SampleRows int

	// Unshredded stores Variants as plain binary values, also in a table that
	// has write.parquet.shred-variants=true.
	Unshredded bool

	// lineage keeps the columns _row_id and _last_updated_sequence_number of
	// Arrow batches: for rows that move from one file to another.
	lineage bool
}

// AppendJSON appends JSON rows, one an element of rows, in one commit. An error
// from rows ends the append, and nothing is committed.
func (t *Table) AppendJSON(ctx context.Context, rows iter.Seq2[[]byte, error], opts AppendOptions) (*Commit, error) {
	w, err := t.NewAppender(ctx, opts)
	if err != nil {
		return nil, err
	}
	for row, err := range rows {
		if err == nil {
			err = w.WriteJSON(row)
		}
		if err != nil {
			return nil, w.fail(err)
		}
	}
	return w.Commit(ctx)
}

// Append appends Arrow batches in one commit. Columns are matched by name; one
// that a batch lacks gets its write default. The batches are not released. An
// error from batches ends the append, and nothing is committed.
func (t *Table) Append(ctx context.Context, batches iter.Seq2[arrow.RecordBatch, error], opts AppendOptions) (*Commit, error) {
	w, err := t.NewAppender(ctx, opts)
	if err != nil {
		return nil, err
	}
	for batch, err := range batches {
		if err == nil {
			err = w.WriteBatch(batch)
		}
		if err != nil {
			return nil, w.fail(err)
		}
	}
	return w.Commit(ctx)
}
