package stream

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
)

// flaky is a catalog whose commits fail in a chosen way.
type flaky struct {
	catalog.Catalog
	calls atomic.Int64
	on    func(call int64, commit func() error) error
}

func (f *flaky) CommitTable(ctx context.Context, id table.Identifier, reqs []table.Requirement, ups []table.Update) (meta table.Metadata, loc string, err error) {
	commit := func() error {
		meta, loc, err = f.Catalog.CommitTable(ctx, id, reqs, ups)
		return err
	}
	if f.on == nil {
		return meta, loc, commit()
	}
	err = f.on(f.calls.Add(1), commit)
	return meta, loc, err
}

// warehouse makes a table with the columns n and doc behind a flaky catalog.
func warehouse(t *testing.T) (*flaky, func() *iceberg.Table) {
	t.Helper()
	inner, err := iceberg.OpenWarehouse(t.Context(), t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, inner.Close()) })
	cols, err := iceberg.ParseColumns("n:bigint,doc:variant")
	require.NoError(t, err)
	_, err = inner.Create(t.Context(), "ns.t", iceberg.TableSpec{Columns: cols})
	require.NoError(t, err)
	f := &flaky{Catalog: inner.Unwrap()}
	cat := iceberg.WrapCatalog(f)
	return f, func() *iceberg.Table {
		tbl, err := cat.Load(t.Context(), "ns.t")
		require.NoError(t, err)
		return tbl
	}
}

// jsonLines is a transform that makes a row of a number.
func jsonLines(_ context.Context, in *Record, out *Output) error {
	out.Emit(nil, fmt.Appendf(nil, `{"n":%s,"doc":{"v":%s},"not_a_column":1}`, in.Value, in.Value))
	return nil
}

// column reads the column n, in the order of the table.
func column(t *testing.T, tbl *iceberg.Table) []string {
	t.Helper()
	require.NoError(t, tbl.Refresh(t.Context()))
	scan, err := tbl.Scan(t.Context(), iceberg.ScanOptions{Columns: []string{"n"}})
	require.NoError(t, err)
	var out []string
	for b, err := range scan.Batches(t.Context()) {
		require.NoError(t, err)
		c := b.Column(0).(*array.Int64)
		for i := range c.Len() {
			out = append(out, fmt.Sprint(c.Value(i)))
		}
		b.Release()
	}
	return out
}

func toTable(pattern string, tbl *iceberg.Table) Query {
	return Query{
		Name: "q", Source: limited{NewFileSource(pattern), 10}, Transform: jsonLines,
		Sink: NewIcebergSink(tbl, IcebergSinkOptions{}), Trigger: AvailableNow(), MaxRecords: 1,
	}
}

func TestTableSinkWritesEachRecordOnceAndCarriesOffsets(t *testing.T) {
	_, open := warehouse(t)
	pattern, path := lines(t, 30)
	require.NoError(t, run(t, toTable(pattern, open())))
	tbl := open()
	require.Equal(t, numbers(0, 30), column(t, tbl))
	require.Len(t, tbl.Metadata().Snapshots(), 3, "one snapshot an epoch")

	other := filepath.Join(filepath.Dir(path), "b.ndjson")
	appendLines(t, other, 30, 35)
	require.NoError(t, run(t, toTable(pattern, open())))
	tbl = open()
	require.Equal(t, numbers(0, 35), column(t, tbl))

	// The newest summary and the property tell all partitions, and agree.
	want := Offsets{{Topic: path}: 80, {Topic: other}: 15}
	head := tbl.Metadata().CurrentSnapshot()
	summary, ok, err := parseState(head.Summary.Properties[stateKey("q")])
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, summary.Offsets)
	require.Equal(t, head.Summary.Properties[iceberg.CommitIDKey], summary.Commit)
	prop, _, err := parseState(tbl.Properties()[stateKey("q")])
	require.NoError(t, err)
	require.Equal(t, summary, prop)
	require.Equal(t, int64(4), prop.Epoch)
}

// TestLostAnswersAndConflictsOfCommits covers K06, R02: the catalog applies a
// commit and the answer is lost, or another writer is faster.
func TestLostAnswersAndConflictsOfCommits_K06_R02(t *testing.T) {
	lost := errors.New("connection reset")
	for name, on := range map[string]func(int64, func() error) error{
		"answer lost": func(call int64, commit func() error) error {
			if err := commit(); err != nil {
				return err
			}
			if call%2 == 1 {
				return lost
			}
			return nil
		},
		"request lost": func(call int64, commit func() error) error {
			if call%2 == 1 {
				return lost
			}
			return commit()
		},
		"conflict": func(call int64, commit func() error) error {
			if call%3 == 1 {
				return table.ErrCommitFailed
			}
			return commit()
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, open := warehouse(t)
			pattern, _ := lines(t, 50)
			f.on = on
			require.NoError(t, run(t, toTable(pattern, open())))
			f.on = nil
			require.Equal(t, numbers(0, 50), column(t, open()))
			require.Len(t, open().Metadata().Snapshots(), 5)
		})
	}
}

// TestCrashAtEachCommit covers R01, R02: the process dies right before or right
// after the catalog applied its k-th commit, and another one goes on.
func TestCrashAtEachCommit_R01_R02(t *testing.T) {
	for _, after := range []bool{false, true} {
		for k := int64(1); k <= 4; k++ {
			f, open := warehouse(t)
			pattern, _ := lines(t, 40)
			ctx, die := context.WithCancel(t.Context())
			f.on = func(call int64, commit func() error) error {
				if call != k {
					return commit()
				}
				if after {
					require.NoError(t, commit())
				}
				die() // nothing that the process does from here on counts
				return context.Canceled
			}
			q := toTable(pattern, open())
			q.Logger = quiet
			err := Run(ctx, q)
			if !after || k < 4 {
				require.Error(t, err)
			}
			f.on = nil
			require.NoError(t, run(t, toTable(pattern, open())))
			require.Equal(t, numbers(0, 40), column(t, open()), "after %v k %d", after, k)
		}
	}
}

// TestStaleWriterIsFenced covers K02, R06: a writer that still holds records of
// a partition that another has moved on commits nothing.
func TestStaleWriterIsFenced_K02_R06(t *testing.T) {
	_, open := warehouse(t)
	p := Partition{"t", 0}
	write := func(s *IcebergSink, from, to int64) error {
		for n := from; n < to; n++ {
			rec := Record{Value: fmt.Appendf(nil, `{"n":%d}`, n), Partition: p, Offset: n}
			require.NoError(t, s.Write(t.Context(), []Record{rec}, nil))
		}
		return s.Commit(t.Context(), Epoch{Query: "q", ID: 1, From: Offsets{p: from}, To: Offsets{p: to}})
	}
	fresh := func() *IcebergSink {
		s := NewIcebergSink(open(), IcebergSinkOptions{})
		_, err := s.Recover(t.Context(), "q")
		require.NoError(t, err)
		return s
	}
	stale, current := fresh(), fresh()
	require.NoError(t, write(current, 0, 5))
	require.ErrorIs(t, write(stale, 0, 3), ErrFenced)
	require.ErrorIs(t, write(stale, 0, 5), ErrFenced)
	require.ErrorIs(t, write(stale, 3, 9), ErrFenced)
	require.NoError(t, write(current, 5, 7))
	require.Equal(t, numbers(0, 7), column(t, open()))

	// Other partitions that were committed meanwhile are carried forward.
	other := fresh()
	q := Partition{"t", 1}
	rec := Record{Value: []byte(`{"n":7}`), Partition: q}
	require.NoError(t, current.Write(t.Context(), []Record{rec}, nil))
	require.NoError(t, write(other, 7, 8))
	require.NoError(t, current.Commit(t.Context(), Epoch{Query: "q", ID: 3, From: Offsets{q: 0}, To: Offsets{q: 1}}))
	st, err := storedState(open().Metadata(), "", "q")
	require.NoError(t, err)
	require.Equal(t, Offsets{p: 8, q: 1}, st.Offsets)
}

// TestEpochsWithoutRowsMoveTheOffsets covers R01, K05: they set the property only,
// and later epochs build on it.
func TestEpochsWithoutRowsMoveTheOffsets_R01_K05(t *testing.T) {
	_, open := warehouse(t)
	pattern, path := lines(t, 10)
	drop := toTable(pattern, open())
	drop.Transform = func(context.Context, *Record, *Output) error { return nil }
	require.NoError(t, run(t, drop))
	require.Empty(t, open().Metadata().Snapshots())
	appendLines(t, path, 10, 20)
	require.NoError(t, run(t, toTable(pattern, open())))
	require.Equal(t, numbers(10, 20), column(t, open()))
	appendLines(t, path, 20, 30)
	drop.Sink = NewIcebergSink(open(), IcebergSinkOptions{})
	require.NoError(t, run(t, drop))
	require.Len(t, open().Metadata().Snapshots(), 1)
	appendLines(t, path, 30, 40)
	require.NoError(t, run(t, toTable(pattern, open())))
	require.Equal(t, append(numbers(10, 20), numbers(30, 40)...), column(t, open()))
}

// TestOffsetsFollowARollback covers K11: rows that a rollback removed are read
// again, at once by a running query and by a new one.
func TestOffsetsFollowARollback_K11(t *testing.T) {
	_, open := warehouse(t)
	pattern, path := lines(t, 30)
	require.NoError(t, run(t, toTable(pattern, open())))
	tbl := open()
	first := tbl.Metadata().Snapshots()[0].SnapshotID
	rollback(t, tbl, first)
	require.Equal(t, numbers(0, 10), column(t, open()))
	appendLines(t, path, 30, 40)
	require.NoError(t, run(t, toTable(pattern, open())))
	require.Equal(t, numbers(0, 40), column(t, open()))
}

func rollback(t *testing.T, tbl *iceberg.Table, to int64) {
	t.Helper()
	tx := tbl.Unwrap().NewTransaction()
	require.NoError(t, tx.RollbackToSnapshot(to))
	_, err := tx.Commit(t.Context())
	require.NoError(t, err)
}

// TestBadRowsOfATableSink: what the table refuses goes to the dead letters with
// its place, and the rest is committed.
func TestBadRowsOfATableSink(t *testing.T) {
	_, open := warehouse(t)
	pattern, _ := lines(t, 10)
	q := toTable(pattern, open())
	q.Transform = func(ctx context.Context, in *Record, out *Output) error {
		if string(in.Value) == "4" {
			out.Emit(in.Key, []byte(`{"n":"four"}`))
			return nil
		}
		if string(in.Value) == "6" {
			out.Emit(in.Key, []byte(`{"n":6,"doc":{"a":1,"a":2}}`))
			return nil
		}
		return jsonLines(ctx, in, out)
	}
	var dead []string
	q.DeadLetter = DeadLetterFunc(func(_ context.Context, _ string, r *Record, reason error) error {
		dead = append(dead, fmt.Sprintf("%s@%d", r.Value, r.Offset))
		require.ErrorIs(t, reason, iceberg.ErrRow)
		return nil
	})
	require.NoError(t, run(t, q))
	require.ElementsMatch(t, []string{`{"n":"four"}@8`, `{"n":6,"doc":{"a":1,"a":2}}@12`}, dead)
	require.Equal(t, []string{"0", "1", "2", "3", "5", "7", "8", "9"}, column(t, open()))
}

// TestManyWritersOneTable runs members of a group that come and go against one
// real table.
func TestManyWritersOneTable_R06_K08(t *testing.T) {
	_, open := warehouse(t)
	_, brokers := broker(t, 4)
	member := func() *Running {
		r, err := Start(t.Context(), Query{
			Name: "q", Transform: jsonLines, Logger: quiet,
			Source:  NewKafkaSource(KafkaSourceOptions{Brokers: brokers, Topics: []string{"in"}, Group: "g"}),
			Sink:    NewIcebergSink(open(), IcebergSinkOptions{Workers: 1}),
			Trigger: ProcessingTime(30 * time.Millisecond),
		})
		require.NoError(t, err)
		return r
	}
	var sent int
	send := func(n int) {
		produce(t, brokers, "in", sent, sent+n)
		sent += n
	}
	first := member()
	send(100)
	second := member()
	send(100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = first.Stop(ctx) // dies without committing what it has read
	send(100)
	third := member()
	send(100)
	reader := open()
	require.Eventually(t, func() bool { return len(column(t, reader)) >= sent }, 30*time.Second, 50*time.Millisecond)
	require.NoError(t, second.Stop(t.Context()))
	require.NoError(t, third.Stop(t.Context()))
	require.Equal(t, numbers(0, sent), byNumber(column(t, reader)))
}
