package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/google/uuid"

	"github.com/frazil/frazil/iceberg"
)

// IcebergSinkOptions configures a table sink. The zero value is the default.
type IcebergSinkOptions struct {
	// Branch is the branch to commit to. Default "main".
	Branch string

	// TargetFileBytes and MemoryBytes are those of iceberg.AppendOptions.
	TargetFileBytes int64
	MemoryBytes     int64

	// Workers is the number of goroutines that shred and encode. Default: one
	// per processor.
	Workers int

	// OnCommit is called after each commit that took place.
	OnCommit func(e Epoch, c *iceberg.Commit)
}

// IcebergSink appends records to a table, exactly once. The value of a record
// is a JSON object whose fields are the table's columns.
//
// Rows and offsets are one commit. It is applied only on a version of the
// table whose stored offset of every partition in the epoch is the one at
// which the epoch began; otherwise another writer was faster, and the sink
// answers ErrFenced. So any number of processes may feed one table under one
// query name: a record becomes a row once, whoever read it.
type IcebergSink struct {
	t     *iceberg.Table
	o     IcebergSinkOptions
	query string

	known Offsets // stored in the table, as far as this sink has seen

	app    *iceberg.Appender // the open epoch; nil when nothing was written
	commit *pendingCommit    // of app
	places []place           // of the rows of app, by number

	mu      sync.Mutex
	refused []refusal // collected by the appender's goroutines
}

// place says where a row came from, for its dead letter.
type place struct {
	key    []byte
	part   Partition
	offset int64
}

type refusal struct {
	line   int64
	value  []byte
	reason error
}

// NewIcebergSink returns a sink that appends to t.
func NewIcebergSink(t *iceberg.Table, o IcebergSinkOptions) *IcebergSink {
	return &IcebergSink{t: t, o: o}
}

// Recover implements Sink: the table's stored offsets, of fresh metadata.
func (s *IcebergSink) Recover(ctx context.Context, query string) (Offsets, error) {
	s.query = query
	if err := s.t.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("iceberg sink: %w", err)
	}
	st, err := storedState(s.t.Metadata(), s.o.Branch, query)
	if err != nil {
		return nil, err
	}
	s.known = st.Offsets.Clone()
	return st.Offsets, nil
}

// Write implements Sink.
func (s *IcebergSink) Write(ctx context.Context, recs []Record, bad func(*Record, error)) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	for i := range recs {
		r := &recs[i]
		s.places = append(s.places, place{r.Key, r.Partition, r.Offset})
		if err := s.app.WriteJSON(r.Value); err != nil {
			return fmt.Errorf("iceberg sink: %w", err)
		}
	}
	s.report(bad)
	s.commit.bad = bad
	return nil
}

// open starts an append unless one is open.
func (s *IcebergSink) open(ctx context.Context) error {
	if s.app != nil {
		return nil
	}
	pc := newPendingCommit(s.query, s.o.Branch)
	app, err := s.t.NewAppender(ctx, iceberg.AppendOptions{
		Reject: s.reject, ByName: true,
		Summary: pc.summary, Properties: pc.properties, Check: pc.check, CommitID: pc.id,
		Branch: s.o.Branch, TargetFileBytes: s.o.TargetFileBytes, MemoryBytes: s.o.MemoryBytes, Workers: s.o.Workers,
	})
	if err != nil {
		return fmt.Errorf("iceberg sink: %w", err)
	}
	s.app, s.commit, s.places = app, pc, s.places[:0]
	return nil
}

// reject keeps a refused row until the query's goroutine asks for it.
func (s *IcebergSink) reject(line int64, raw []byte, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, refusal{line, append([]byte(nil), raw...), err})
	return nil
}

// report hands the refused rows on.
func (s *IcebergSink) report(bad func(*Record, error)) {
	s.mu.Lock()
	refused := s.refused
	s.refused = nil
	s.mu.Unlock()
	for _, f := range refused {
		p := s.places[f.line-1]
		bad(&Record{Key: p.key, Value: f.value, Partition: p.part, Offset: p.offset}, f.reason)
	}
}

// Commit implements Sink. Refused rows are handed on before anything becomes
// visible.
func (s *IcebergSink) Commit(ctx context.Context, e Epoch) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	pc := s.commit
	pc.epoch, pc.known = e, s.known
	files, err := s.app.Flush(ctx)
	if err != nil {
		return fmt.Errorf("iceberg sink: %w", err)
	}
	pc.rows = len(files) > 0
	if pc.bad != nil {
		s.report(pc.bad)
	}
	done, err := s.app.Commit(ctx)
	s.app, s.commit = nil, nil
	switch {
	case errors.Is(err, errApplied):
		maps.Copy(s.known, e.To)
		return nil
	case err != nil:
		return fmt.Errorf("iceberg sink: %w", err)
	}
	maps.Copy(s.known, e.To)
	if s.o.OnCommit != nil {
		s.o.OnCommit(e, done)
	}
	return nil
}

// Abort implements Sink: files of the open epoch are removed.
func (s *IcebergSink) Abort(context.Context) error {
	s.mu.Lock()
	s.refused = nil
	s.mu.Unlock()
	if s.app == nil {
		return nil
	}
	app := s.app
	s.app, s.commit = nil, nil
	return app.Abort()
}

// Close implements Sink. The table belongs to the caller.
func (s *IcebergSink) Close() error { return s.Abort(context.Background()) }

// errApplied ends the retries of a commit that an earlier attempt has made.
var errApplied = errors.New("stream: already applied")

// pendingCommit is the commit of one epoch. summary and properties are read by
// the table after each call of check, which fills them.
type pendingCommit struct {
	query, branch       string
	id                  string
	epoch               Epoch
	known               Offsets
	rows                bool
	bad                 func(*Record, error)
	summary, properties map[string]string
}

func newPendingCommit(query, branch string) *pendingCommit {
	key := stateKey(query)
	return &pendingCommit{
		query: query, branch: branch, id: uuid.NewString(),
		summary: map[string]string{key: ""}, properties: map[string]string{key: ""},
	}
}

// check is the offset rule. It runs on the newest version of the table before
// each attempt, and the attempt succeeds only on that version.
func (c *pendingCommit) check(_ context.Context, t *iceberg.Table) error {
	st, err := storedState(t.Metadata(), c.branch, c.query)
	if err != nil {
		return err
	}
	if st.ID == c.id {
		return errApplied
	}
	for p, from := range c.epoch.From {
		next, stored := st.Offsets[p]
		_, expected := c.known[p]
		switch {
		case stored && next != from:
			return fmt.Errorf("%w: %v is stored at %d, the epoch began at %d", ErrFenced, p, next, from)
		case !stored && expected: // rolled back to before the partition's first rows
			return fmt.Errorf("%w: %v is no longer stored", ErrFenced, p)
		}
	}
	next := state{ID: c.id, Commit: st.Commit, Epoch: st.Epoch + 1, Offsets: st.Offsets.Clone()}
	maps.Copy(next.Offsets, c.epoch.To)
	if c.rows {
		next.Commit = c.id
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	c.summary[stateKey(c.query)] = string(text)
	c.properties[stateKey(c.query)] = string(text)
	return nil
}
