package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// lines writes n numbered lines into a file of a new folder and gives the
// pattern that matches it.
func lines(t *testing.T, n int) (pattern, path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "a.ndjson")
	appendLines(t, path, 0, n)
	return filepath.Join(dir, "*.ndjson"), path
}

func appendLines(t *testing.T, path string, from, to int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	for i := from; i < to; i++ {
		_, err = fmt.Fprintf(f, "%d\n", i)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
}

// memory is a sink that keeps what was committed, and may store offsets.
type memory struct {
	mu        sync.Mutex
	stores    bool // keeps offsets with the output, as a table does
	offsets   Offsets
	pending   []string
	committed []string
	epochs    []Epoch
	fail      func(e Epoch) error // before the commit takes place
	failAfter func(e Epoch) error // after it took place
	refuse    func(r *Record) error
}

func (m *memory) Recover(context.Context, string) (Offsets, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.stores {
		return nil, nil
	}
	return m.offsets.Clone(), nil
}

func (m *memory) Write(_ context.Context, recs []Record, bad func(*Record, error)) error {
	for i := range recs {
		if m.refuse != nil {
			if err := m.refuse(&recs[i]); err != nil {
				bad(&recs[i], err)
				continue
			}
		}
		m.pending = append(m.pending, string(recs[i].Value))
	}
	return nil
}

func (m *memory) Commit(_ context.Context, e Epoch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		if err := m.fail(e); err != nil {
			return err
		}
	}
	if m.offsets == nil {
		m.offsets = Offsets{}
	}
	for p, from := range e.From {
		if next, ok := m.offsets[p]; ok && m.stores && next != from {
			return ErrFenced
		}
	}
	for p, to := range e.To {
		m.offsets[p] = to
	}
	m.committed = append(m.committed, m.pending...)
	m.pending = nil
	m.epochs = append(m.epochs, e)
	if m.failAfter != nil {
		return m.failAfter(e)
	}
	return nil
}

func (m *memory) Abort(context.Context) error {
	m.pending = nil
	return nil
}

func (m *memory) Close() error { return nil }

func (m *memory) values() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.committed...)
}

func numbers(from, to int) []string {
	var s []string
	for i := from; i < to; i++ {
		s = append(s, strconv.Itoa(i))
	}
	return s
}

func run(t *testing.T, q Query) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	q.Logger = quiet
	return Run(ctx, q)
}

func TestAvailableNowDrainsAndStopsAndGoesOnWhereItWas(t *testing.T) {
	pattern, path := lines(t, 1000)
	ckpt := t.TempDir()
	sink := &memory{}
	q := Query{Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: AvailableNow(), Checkpoint: ckpt, MaxRecords: 300}
	require.NoError(t, run(t, q))
	require.Equal(t, numbers(0, 1000), sink.values())

	appendLines(t, path, 1000, 1200)
	appendLines(t, filepath.Join(filepath.Dir(path), "b.ndjson"), 1200, 1210)
	require.NoError(t, run(t, q))
	require.Equal(t, numbers(0, 1210), sink.values())
	for i, e := range sink.epochs {
		require.Equal(t, int64(i+1), e.ID, "epochs count on over restarts")
	}
	require.NoError(t, run(t, q), "nothing new")
	require.Len(t, sink.values(), 1210)
}

func TestValidateReportsAllProblemsAtOnce(t *testing.T) {
	err := (&Query{Trigger: ProcessingTime(-1)}).Validate()
	require.ErrorIs(t, err, ErrInvalid)
	for _, part := range []string{"Name is empty", "Source is nil", "Sink is nil", "negative"} {
		require.ErrorContains(t, err, part)
	}
}

func TestRealTimeNeedsUpdateModeAndTheOption(t *testing.T) {
	q := Query{Name: "q", Source: NewFileSource("*"), Sink: &memory{}, Trigger: RealTime(time.Minute)}
	_, err := Start(t.Context(), q)
	require.ErrorIs(t, err, ErrOutputMode)
	require.ErrorContains(t, err, "OUTPUT_MODE_NOT_SUPPORTED")
	require.ErrorContains(t, err, "RealTimeEnabled")

	q.OutputMode = OutputUpdate
	_, err = Start(t.Context(), q)
	require.NotErrorIs(t, err, ErrOutputMode)
	require.ErrorContains(t, err, "RealTimeEnabled")

	q.RealTimeEnabled, q.OutputMode = true, OutputAppend
	_, err = Start(t.Context(), q)
	require.ErrorIs(t, err, ErrOutputMode)
	require.NotContains(t, err.Error(), "RealTimeEnabled")
}

// TestBadRecordsAreSetAside covers a transform and a sink that refuse records.
func TestBadRecordsAreSetAside(t *testing.T) {
	pattern, _ := lines(t, 10)
	sink := &memory{refuse: func(r *Record) error {
		if string(r.Value) == "7" {
			return errors.New("seven")
		}
		return nil
	}}
	var dead []string
	q := Query{
		Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: AvailableNow(),
		Transform: func(_ context.Context, in *Record, out *Output) error {
			out.Emit(nil, in.Value)
			if string(in.Value) == "3" {
				return errors.New("three") // what was emitted is dropped
			}
			return nil
		},
		DeadLetter: DeadLetterFunc(func(_ context.Context, query string, r *Record, reason error) error {
			dead = append(dead, fmt.Sprintf("%s %s@%d %v", query, r.Value, r.Offset, reason))
			return nil
		}),
		Logger: quiet,
	}
	r, err := Start(t.Context(), q)
	require.NoError(t, err)
	require.NoError(t, r.Wait())
	require.Equal(t, []string{"0", "1", "2", "4", "5", "6", "8", "9"}, sink.values())
	require.Equal(t, []string{"q 3@6 three", "q 7@14 seven"}, dead)
	require.Equal(t, int64(2), r.Counters().Bad)
	require.Equal(t, int64(10), r.Counters().Records)
	require.Equal(t, int64(8), r.Counters().Emitted)

	q.FailOnBad = true
	err = run(t, q)
	require.ErrorIs(t, err, ErrBadRecord)
	var re *RecordError
	require.ErrorAs(t, err, &re)
	require.Equal(t, int64(6), re.Offset)
}

func TestPanicInTransformEndsTheQueryWithAnError(t *testing.T) {
	pattern, _ := lines(t, 10)
	sink := &memory{}
	err := run(t, Query{
		Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: AvailableNow(),
		Transform: func(_ context.Context, in *Record, _ *Output) error {
			if string(in.Value) == "5" {
				panic("boom")
			}
			return nil
		},
	})
	require.ErrorIs(t, err, ErrPanic)
	require.ErrorContains(t, err, "boom")
	require.ErrorContains(t, err, "offset 10")
	require.Empty(t, sink.values())
}

// TestCrashAtEveryStepOfACommit covers R01, R02: a query that dies before or
// after any commit goes on without a gap, and without repeats if its sink
// stores the offsets.
func TestCrashAtEveryStepOfACommit_R01_R02(t *testing.T) {
	crash := errors.New("crash")
	for _, stores := range []bool{true, false} {
		for _, after := range []bool{true, false} {
			for k := int64(1); k <= 5; k++ {
				pattern, _ := lines(t, 50)
				sink := &memory{stores: stores}
				q := Query{Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: AvailableNow(), Checkpoint: t.TempDir(), MaxRecords: 1}
				q.Source = limited{q.Source, 10}
				at := func(e Epoch) error {
					if e.ID == k {
						return crash
					}
					return nil
				}
				if after {
					sink.failAfter = at
				} else {
					sink.fail = at
				}
				require.ErrorIs(t, run(t, q), crash)
				sink.fail, sink.failAfter = nil, nil
				require.NoError(t, run(t, q))
				if stores || !after {
					require.Equal(t, numbers(0, 50), sink.values(), "stores %v after %v k %d", stores, after, k)
					continue
				}
				require.Subset(t, sink.values(), numbers(0, 50))
				require.Len(t, sink.values(), 60, "one epoch is repeated")
			}
		}
	}
}

// limited hands over few records at once.
type limited struct {
	Source
	n int
}

func (l limited) Poll(ctx context.Context, _ int) ([]Record, error) { return l.Source.Poll(ctx, l.n) }

// TestEmptyEpochsArePersisted covers R01: records without output move the
// progress, too.
func TestEmptyEpochsArePersisted_R01(t *testing.T) {
	pattern, _ := lines(t, 20)
	ckpt := t.TempDir()
	sink := &memory{}
	q := Query{
		Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: AvailableNow(), Checkpoint: ckpt,
		Transform: func(context.Context, *Record, *Output) error { return nil },
	}
	require.NoError(t, run(t, q))
	c, err := loadCheckpoint(ckpt, "q")
	require.NoError(t, err)
	require.Equal(t, int64(1), c.Epoch)
	require.Len(t, c.Offsets, 1)
	require.Len(t, sink.epochs, 1)
}

// TestTheSinksOffsetsWinOverACheckpoint covers K11: neither a checkpoint that is
// behind the table nor one that is ahead of it loses or repeats a record.
func TestTheSinksOffsetsWinOverACheckpoint_K11(t *testing.T) {
	pattern, path := lines(t, 100)
	old := t.TempDir()
	sink := &memory{stores: true}
	q := Query{Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: AvailableNow(), Checkpoint: old}
	require.NoError(t, run(t, q))
	saved, err := os.ReadFile(filepath.Join(old, checkpointFile))
	require.NoError(t, err)
	appendLines(t, path, 100, 200)
	require.NoError(t, run(t, q))

	// Restore the older checkpoint.
	require.NoError(t, os.WriteFile(filepath.Join(old, checkpointFile), saved, 0o644))
	appendLines(t, path, 200, 300)
	require.NoError(t, run(t, q))
	require.Equal(t, numbers(0, 300), sink.values())

	// Roll the sink back behind the checkpoint.
	sink.offsets = Offsets{Partition{Topic: path}: int64(len(strings.Join(numbers(0, 50), "\n")) + 1)}
	sink.committed = sink.committed[:50]
	require.NoError(t, run(t, q))
	require.Equal(t, numbers(0, 300), sink.values())
}

func TestFencedEpochsAreDroppedAndReadAgain_K02(t *testing.T) {
	pattern, path := lines(t, 100)
	sink := &memory{stores: true}
	moved := false
	sink.fail = func(e Epoch) error {
		if moved {
			return nil
		}
		moved = true
		// Another process commits the first half in the meantime.
		sink.offsets = Offsets{Partition{Topic: path}: int64(len(strings.Join(numbers(0, 50), "\n")) + 1)}
		sink.committed = numbers(0, 50)
		return nil
	}
	r, err := Start(t.Context(), Query{Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: AvailableNow(), Logger: quiet})
	require.NoError(t, err)
	require.NoError(t, r.Wait())
	require.Equal(t, numbers(0, 100), sink.values())
	require.Equal(t, int64(1), r.Counters().Fenced)
}

// TestAQueryThatIsAlwaysFencedStops covers R06: the old one of two writers
// stops by itself.
func TestAQueryThatIsAlwaysFencedStops_R06(t *testing.T) {
	pattern, _ := lines(t, 10)
	sink := &memory{stores: true, fail: func(Epoch) error { return ErrFenced }}
	err := run(t, Query{Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: AvailableNow()})
	require.ErrorIs(t, err, ErrFenced)
	require.Empty(t, sink.values())
}

func TestStopCommitsWhatWasReadAndCancelDropsIt(t *testing.T) {
	pattern, _ := lines(t, 100)
	sink := &memory{}
	q := Query{Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: ProcessingTime(time.Hour), Logger: quiet}
	r, err := Start(t.Context(), q)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return r.Counters().Emitted == 100 }, 10*time.Second, time.Millisecond)
	require.Empty(t, sink.values())
	require.NoError(t, r.Stop(t.Context()))
	require.Equal(t, numbers(0, 100), sink.values())

	sink = &memory{}
	q.Sink = sink
	ctx, cancel := context.WithCancel(t.Context())
	r, err = Start(ctx, q)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return r.Counters().Emitted == 100 }, 10*time.Second, time.Millisecond)
	cancel()
	require.ErrorIs(t, r.Wait(), context.Canceled)
	require.Empty(t, sink.values())
}

// TestSmallEpochsAreBoundByTimeAndLargeOnesBySize covers K12.
func TestSmallEpochsAreBoundByTimeAndLargeOnesBySize_K12(t *testing.T) {
	pattern, path := lines(t, 5)
	sink := &memory{}
	q := Query{Name: "q", Source: limited{NewFileSource(pattern), 10}, Sink: sink, Trigger: ProcessingTime(50 * time.Millisecond), MaxRecords: 20, Logger: quiet}
	r, err := Start(t.Context(), q)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(sink.values()) == 5 }, 10*time.Second, time.Millisecond, "few records, then silence")
	appendLines(t, path, 5, 105)
	require.Eventually(t, func() bool { return len(sink.values()) == 105 }, 10*time.Second, time.Millisecond)
	require.NoError(t, r.Stop(t.Context()))

	big := &memory{}
	q.Sink, q.Trigger = big, ProcessingTime(time.Hour)
	q.MaxRecords, q.MaxBytes = 0, 50
	r, err = Start(t.Context(), q)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(big.values()) >= 50 }, 10*time.Second, time.Millisecond, "bytes end an epoch of an hour")
	require.NoError(t, r.Stop(t.Context()))
	require.Equal(t, numbers(0, len(big.values())), big.values())
}

func TestSeveralQueriesRunInOneProcess(t *testing.T) {
	pattern, _ := lines(t, 100)
	a, b := &memory{}, &memory{}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, Run(ctx,
		Query{Name: "a", Source: NewFileSource(pattern), Sink: a, Trigger: AvailableNow(), Logger: quiet},
		Query{Name: "b", Source: NewFileSource(pattern), Sink: b, Trigger: AvailableNow(), Logger: quiet},
	))
	require.Equal(t, a.values(), b.values())

	// One that fails stops the others, which save what they have.
	failing := Query{
		Name: "f", Source: NewFileSource(pattern), Sink: &memory{}, Trigger: ProcessingTime(0), Logger: quiet,
		Transform: func(context.Context, *Record, *Output) error { panic("boom") },
	}
	endless := Query{Name: "e", Source: NewFileSource(pattern), Sink: &memory{}, Trigger: ProcessingTime(time.Hour), Logger: quiet}
	require.ErrorIs(t, Run(ctx, endless, failing), ErrPanic)
}

func TestProgressIsReported(t *testing.T) {
	pattern, _ := lines(t, 100)
	var got []Progress
	q := Query{
		Name: "q", Source: limited{NewFileSource(pattern), 40}, Sink: &memory{}, Trigger: AvailableNow(), MaxRecords: 1,
		OnProgress: func(p Progress) { got = append(got, p) },
	}
	require.NoError(t, run(t, q))
	require.Len(t, got, 3)
	require.Equal(t, int64(40), got[0].Records)
	require.Equal(t, int64(20), got[2].Records)
	require.Equal(t, int64(3), got[2].Epoch)
	require.Equal(t, int64(100), got[2].Total.Records)
}

func TestCheckpointFilesAreCheckedAndWhole(t *testing.T) {
	dir := t.TempDir()
	c := checkpoint{Version: 1, Query: "q", Epoch: 3, Offsets: Offsets{{"t", 0}: 5, {"t", 11}: 7, {"u", 1}: 0}}
	require.NoError(t, c.save(dir))
	got, err := loadCheckpoint(dir, "q")
	require.NoError(t, err)
	require.Equal(t, c, got)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file stays")

	_, err = loadCheckpoint(dir, "other")
	require.ErrorIs(t, err, ErrInvalid)

	whole, err := os.ReadFile(filepath.Join(dir, checkpointFile))
	require.NoError(t, err)
	for n := range len(whole) - 1 { // the last byte is a line end
		require.NoError(t, os.WriteFile(filepath.Join(dir, checkpointFile), whole[:n], 0o644))
		_, err := loadCheckpoint(dir, "q")
		require.ErrorIs(t, err, ErrCorrupt, "%s", whole[:n])
	}
	for _, bad := range []string{
		`{"version":2,"query":"q"}`, `{"version":1,"query":"q","epoch":-1}`,
		`{"version":1,"query":"q","offsets":{"t":{"-1":3}}}`, `{"version":1,"query":"q","offsets":{"t":{"1":-3}}}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, checkpointFile), []byte(bad), 0o644))
		_, err := loadCheckpoint(dir, "q")
		require.ErrorIs(t, err, ErrCorrupt, bad)
	}
}

func TestFileSourceNoticesLossAndWaitsForLineEnds(t *testing.T) {
	pattern, path := lines(t, 10)
	require.NoError(t, os.WriteFile(path, []byte("0\n1\nhalf"), 0o644))
	ckpt := t.TempDir()
	sink := &memory{}
	q := Query{Name: "q", Source: NewFileSource(pattern), Sink: sink, Trigger: AvailableNow(), Checkpoint: ckpt}
	require.NoError(t, run(t, q))
	require.Equal(t, []string{"0", "1"}, sink.values())
	require.NoError(t, os.WriteFile(path, []byte("0\n1\nhalf a line\r\n"), 0o644))
	require.NoError(t, run(t, q))
	require.Equal(t, []string{"0", "1", "half a line"}, sink.values())
	require.NoError(t, os.Truncate(path, 3))
	require.ErrorIs(t, run(t, q), ErrDataLoss)
}
