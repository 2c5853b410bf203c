package iceberg

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"
)

// faults is a catalog and a file system between a table and the real ones, to
// make calls fail.
type faults struct {
	table.CatalogIO
	// commit may replace a commit; do makes it.
	commit func(n int, do func() error) error
	// load may make a load fail.
	load func() error
	// write may make the n-th creation, write or closing of a file fail.
	write func(n int) error

	commits int
	writes  atomic.Int64
	opens   atomic.Int64
}

// faulty opens a table through faults.
func faulty(t testing.TB, cat *Catalog, name string, f *faults) *Table {
	t.Helper()
	f.CatalogIO = cat.Unwrap()
	ident, err := parseName(name)
	require.NoError(t, err)
	tbl, err := f.LoadTable(context.Background(), ident)
	require.NoError(t, err)
	return Wrap(tbl, f)
}

func (f *faults) LoadTable(ctx context.Context, ident table.Identifier) (*table.Table, error) {
	if f.load != nil {
		if err := f.load(); err != nil {
			return nil, err
		}
	}
	tbl, err := f.CatalogIO.LoadTable(ctx, ident)
	if err != nil {
		return nil, err
	}
	fsF := func(ctx context.Context) (iceio.IO, error) {
		fs, err := tbl.FS(ctx)
		if err != nil {
			return nil, err
		}
		return faultyIO{fs.(iceio.WriteFileIO), f}, nil
	}
	return table.New(ident, tbl.Metadata(), tbl.MetadataLocation(), fsF, f), nil
}

func (f *faults) CommitTable(ctx context.Context, ident table.Identifier, reqs []table.Requirement, updates []table.Update) (meta table.Metadata, loc string, err error) {
	f.commits++
	do := func() error {
		meta, loc, err = f.CatalogIO.CommitTable(ctx, ident, reqs, updates)
		return err
	}
	if f.commit != nil {
		err = f.commit(f.commits, do)
		return meta, loc, err
	}
	return meta, loc, do()
}

type faultyIO struct {
	iceio.WriteFileIO
	f *faults
}

func (io faultyIO) step() error {
	n := io.f.writes.Add(1)
	if io.f.write == nil {
		return nil
	}
	return io.f.write(int(n))
}

func (io faultyIO) Open(name string) (iceio.File, error) {
	io.f.opens.Add(1)
	return io.WriteFileIO.Open(name)
}

func (io faultyIO) Create(name string) (iceio.FileWriter, error) {
	if err := io.step(); err != nil {
		return nil, err
	}
	w, err := io.WriteFileIO.Create(name)
	return faultyWriter{w, io}, err
}

type faultyWriter struct {
	iceio.FileWriter
	io faultyIO
}

func (w faultyWriter) Write(p []byte) (int, error) {
	if err := w.io.step(); err != nil {
		return 0, err
	}
	return w.FileWriter.Write(p)
}

func (w faultyWriter) Close() error {
	return errors.Join(w.io.step(), w.FileWriter.Close())
}

var errInjected = errors.New("injected fault")

func sameRows(t *testing.T, want int, tbl *Table) {
	t.Helper()
	got := oracleRows(t, tbl, "id")
	seen := map[string]bool{}
	for _, id := range got {
		require.False(t, seen[id], "row %s occurs twice", id)
		seen[id] = true
	}
	require.Len(t, got, want)
}

// K06: the catalog applies the commit, and its answer is lost.
func TestLostAnswerIsFoundInTheHistory(t *testing.T) {
	cat := newCatalog(t)
	newTable(t, cat, "id:bigint", "")
	f := &faults{commit: func(n int, do func() error) error {
		if err := do(); err != nil || n > 1 {
			return err
		}
		return errInjected
	}}
	tbl := faulty(t, cat, "ns.t", f)
	c := appendRows(t, tbl, numbered(10, `{"id":%d}`)...)
	require.NotZero(t, c.SnapshotID)
	require.EqualValues(t, 10, c.Rows)
	require.Len(t, c.Files, 1)
	require.Equal(t, 1, f.commits)
	sameRows(t, 10, tbl)
	require.NoError(t, tbl.Verify(context.Background()))
	c = appendRows(t, tbl, `{"id":100}`)
	require.Equal(t, 1, c.Attempts)
	sameRows(t, 11, tbl)
}

// K08: errors that say nothing about the outcome, before anything was applied.
func TestRefusedCommitsAreRebuilt(t *testing.T) {
	for _, refusal := range []error{table.ErrCommitFailed, errors.New("400 bad request"), errors.New("500 internal error")} {
		t.Run(refusal.Error(), func(t *testing.T) {
			cat := newCatalog(t)
			newTable(t, cat, "id:bigint", "")
			f := &faults{commit: func(n int, do func() error) error {
				if n < 3 {
					return refusal
				}
				return do()
			}}
			tbl := faulty(t, cat, "ns.t", f)
			c := appendRows(t, tbl, numbered(10, `{"id":%d}`)...)
			require.Equal(t, 3, c.Attempts)
			sameRows(t, 10, tbl)
			// The manifests of the refused attempts are gone.
			require.Len(t, filesBelow(t, plainPath(tbl.Location()), ".avro"), 2)
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	require.NoError(t, tbl.SetProperties(context.Background(), map[string]string{propNumRetries: "2"}))
	f := &faults{commit: func(int, func() error) error { return table.ErrCommitFailed }}
	tbl = faulty(t, cat, "ns.t", f)
	_, err := tbl.AppendJSON(context.Background(), rowsOf(`{"id":1}`), AppendOptions{})
	require.ErrorIs(t, err, ErrConflict)
	require.Equal(t, 3, f.commits)
	require.Empty(t, dataFiles(t, tbl), "a clean refusal leaves no file")
	require.Empty(t, filesBelow(t, plainPath(tbl.Location()), ".avro"))
}

// K06: neither the commit nor the question about it is answered.
func TestUnknownOutcomeKeepsTheFiles(t *testing.T) {
	cat := newCatalog(t)
	newTable(t, cat, "id:bigint", "")
	down := false
	f := &faults{
		commit: func(_ int, do func() error) error {
			down = true
			return errors.Join(errInjected, do())
		},
		load: func() error {
			if down {
				return errInjected
			}
			return nil
		},
	}
	tbl := faulty(t, cat, "ns.t", f)
	opts := AppendOptions{CommitID: "job-1-epoch-7"}
	_, err := tbl.AppendJSON(context.Background(), rowsOf(numbered(10, `{"id":%d}`)...), opts)
	require.ErrorIs(t, err, ErrUnknownOutcome)
	require.NotEmpty(t, dataFiles(t, tbl))

	// The catalog is back: the same id is seen to be done.
	down, f.commit = false, nil
	c, err := tbl.AppendJSON(context.Background(), rowsOf(numbered(10, `{"id":%d}`)...), opts)
	require.NoError(t, err)
	require.Zero(t, c.Attempts)
	require.NotZero(t, c.SnapshotID)
	sameRows(t, 10, tbl)
	require.Len(t, dataFiles(t, tbl), 1, "the second set of files is removed")
}

func TestCheckSeesEachNewVersion(t *testing.T) {
	cat := newCatalog(t)
	newTable(t, cat, "id:bigint", "")
	other, err := cat.Load(context.Background(), "ns.t")
	require.NoError(t, err)
	f := &faults{commit: func(n int, do func() error) error {
		if n < 3 {
			appendRows(t, other, fmt.Sprintf(`{"id":%d}`, 100+n))
		}
		return do()
	}}
	tbl := faulty(t, cat, "ns.t", f)
	var seen []int64
	c, err := tbl.AppendJSON(context.Background(), rowsOf(`{"id":1}`), AppendOptions{
		Check: func(_ context.Context, t *Table) error {
			seen = append(seen, t.Metadata().LastSequenceNumber())
			return nil
		},
		Summary:    map[string]string{"k": "v"},
		Properties: map[string]string{"p": "q"},
	})
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2}, seen)
	require.Equal(t, 3, c.Attempts)
	require.EqualValues(t, 3, c.SequenceNumber)
	require.Equal(t, "v", tbl.Metadata().CurrentSnapshot().Summary.Properties["k"])
	require.Equal(t, "q", tbl.Properties()["p"])
	sameRows(t, 3, tbl)

	stop := errors.New("stale")
	_, err = tbl.AppendJSON(context.Background(), rowsOf(`{"id":2}`), AppendOptions{
		Check: func(context.Context, *Table) error { return stop },
	})
	require.ErrorIs(t, err, stop)
	sameRows(t, 3, tbl)
	require.Len(t, dataFiles(t, tbl), 3)
}

// K08, L09: writers of one handle and of two catalogs; no row is lost, and no
// two rows share an id.
func TestConcurrentAppendsLoseNothing(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	second, err := OpenCatalog(context.Background(), cat.warehouse+"/catalog.db", nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, second.Close()) })
	far, err := second.Load(context.Background(), "ns.t")
	require.NoError(t, err)
	const writers, rows = 8, 1000
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wg.Go(func() {
			handle := tbl
			if w%2 == 1 {
				handle = far
			}
			var lines []string
			for i := range rows {
				lines = append(lines, fmt.Sprintf(`{"id":%d}`, w*rows+i))
			}
			_, errs[w] = handle.AppendJSON(context.Background(), rowsOf(lines...), AppendOptions{})
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, tbl.Refresh(context.Background()))
	sameRows(t, writers*rows, tbl)
	require.EqualValues(t, writers*rows, tbl.Metadata().NextRowID())
	next := int64(0)
	for _, s := range tbl.Metadata().Snapshots() {
		require.EqualValues(t, next, *s.FirstRowID)
		require.EqualValues(t, rows, *s.AddedRows)
		next += *s.AddedRows
	}
	require.Len(t, filesBelow(t, plainPath(tbl.Location()), ".avro"), 2*writers, "refused attempts leave no manifests")
}

// Every write of an append is made to fail in turn, until none is left.
func TestCrashAtEveryWrite(t *testing.T) {
	for k := 1; ; k++ {
		cat := newCatalog(t)
		tbl := newTable(t, cat, "id:bigint,p:int,doc:variant", "p")
		appendRows(t, tbl, `{"id":-1,"p":0,"doc":{"a":1}}`)
		before := dataFiles(t, tbl)
		f := &faults{write: func(n int) error {
			if n == k {
				return errInjected
			}
			return nil
		}}
		broken := faulty(t, cat, "ns.t", f)
		_, err := broken.AppendJSON(context.Background(),
			rowsOf(`{"id":1,"p":1,"doc":{"a":1}}`, `{"id":2,"p":2,"doc":{"a":2}}`, `{"id":3,"p":1,"doc":[1]}`), AppendOptions{})
		require.NoError(t, tbl.Refresh(context.Background()))
		require.NoError(t, tbl.Verify(context.Background()))
		if err == nil {
			sameRows(t, 4, tbl)
			require.Greater(t, k, 8, "an append makes more writes than that")
			return
		}
		require.ErrorIs(t, err, errInjected)
		sameRows(t, 1, tbl)
		require.Equal(t, before, dataFiles(t, tbl), "write %d", k)
		require.Len(t, filesBelow(t, plainPath(tbl.Location()), ".avro"), 2, "write %d", k)
	}
}

// K09: what a commit reads does not grow with the table.
func TestCommitCostIsFlat(t *testing.T) {
	cat := newCatalog(t)
	newTable(t, cat, "id:bigint", "")
	f := &faults{}
	tbl := faulty(t, cat, "ns.t", f)
	cost := func() int64 {
		before := f.opens.Load()
		appendRows(t, tbl, `{"id":1}`)
		return f.opens.Load() - before
	}
	for range 3 {
		cost()
	}
	early := cost()
	for range 30 {
		cost()
	}
	require.Equal(t, early, cost())
}

// L08: the worked example of the spec, "Row Lineage Example": row ids follow
// the order of manifests and files.
func TestRowIDsFollowTheSpecsExample(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	ranges := []struct{ first, rows int64 }{}
	for _, n := range []int{125, 75, 100} {
		appendRows(t, tbl, numbered(n, `{"id":%d}`)...)
		s := tbl.Metadata().CurrentSnapshot()
		ranges = append(ranges, struct{ first, rows int64 }{*s.FirstRowID, *s.AddedRows})
	}
	require.Equal(t, []struct{ first, rows int64 }{{0, 125}, {125, 75}, {200, 100}}, ranges)
	fs, err := tbl.FS(context.Background())
	require.NoError(t, err)
	manifests, err := tbl.Metadata().CurrentSnapshot().Manifests(fs)
	require.NoError(t, err)
	got := map[int64]int64{}
	for _, m := range manifests {
		require.NotNil(t, m.FirstRowID())
		got[*m.FirstRowID()] = m.AddedRows()
		for e, err := range m.Entries(fs, true) {
			require.NoError(t, err)
			require.Equal(t, *m.FirstRowID(), *e.DataFile().FirstRowID(), "inherited, not written")
		}
	}
	require.Equal(t, map[int64]int64{0: 125, 125: 75, 200: 100}, got)
}

// An attempt without an answer comes true while the next one is on its way: its
// files, which the next attempt did not touch, are live.
func TestLateCommitKeepsItsFiles(t *testing.T) {
	for _, op := range []string{"append", "delete"} {
		t.Run(op, func(t *testing.T) {
			cat := newCatalog(t)
			first := newTable(t, cat, "id:bigint", "")
			appendRows(t, first, numbered(10, `{"id":%d}`)...)
			var late func() error
			f := &faults{commit: func(n int, do func() error) error {
				switch n {
				case 1:
					late = do
					return errInjected
				case 2:
					require.NoError(t, late())
				}
				return do()
			}}
			tbl := faulty(t, cat, "ns.t", f)
			want := 11
			if op == "append" {
				c := appendRows(t, tbl, `{"id":10}`)
				require.Equal(t, 2, c.Attempts)
				require.EqualValues(t, 1, c.Rows)
			} else {
				where, err := ParseWhere("id = 3")
				require.NoError(t, err)
				_, err = tbl.Delete(context.Background(), where, WriteOptions{})
				require.NoError(t, err)
				want = 9
			}
			require.Equal(t, 2, f.commits)
			require.NoError(t, tbl.Verify(context.Background()))
			require.Len(t, readJSON(t, tbl), want)
		})
	}
}

// L10: merging manifests keeps the row ids of the files in them.
func TestMergedManifestsKeepRowIDs(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	for i := range 6 {
		appendRows(t, tbl, numbered(i+1, `{"id":%d}`)...)
	}
	ids := func() []string {
		scan, err := tbl.Scan(context.Background(), ScanOptions{Lineage: true, Columns: []string{"id"}})
		require.NoError(t, err)
		var out []string
		for batch, err := range scan.Batches(context.Background()) {
			require.NoError(t, err)
			out = append(out, cells(t, batch, []string{rowIDName, lastUpdatedName, "id"})...)
			batch.Release()
		}
		return out
	}
	before := ids()
	require.Len(t, before, 21)
	require.NoError(t, tbl.MergeManifests(context.Background()))
	fs, err := tbl.FS(context.Background())
	require.NoError(t, err)
	manifests, err := tbl.Metadata().CurrentSnapshot().Manifests(fs)
	require.NoError(t, err)
	require.Len(t, manifests, 1)
	require.Equal(t, before, ids())
	appendRows(t, tbl, `{"id":99}`)
	require.Equal(t, before, ids()[:21])
	require.NoError(t, tbl.MergeManifests(context.Background()), "nothing to do is no error")
}
