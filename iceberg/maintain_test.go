package iceberg

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lineage reads all rows with their ids and the sequence numbers of their last
// change, sorted by id.
func lineage(t *testing.T, tbl *Table) []string {
	t.Helper()
	scan, err := tbl.Scan(bg, ScanOptions{Lineage: true})
	require.NoError(t, err)
	r := NewRenderer(scan.Schema())
	var out []string
	for batch, err := range scan.Batches(bg) {
		require.NoError(t, err)
		require.NoError(t, r.Bind(batch))
		for i := range int(batch.NumRows()) {
			row, err := r.AppendRow(nil, i)
			require.NoError(t, err)
			out = append(out, string(row))
		}
		batch.Release()
	}
	slices.Sort(out)
	return out
}

// manyFiles makes two partitions of several files with deleted and changed rows.
func manyFiles(t *testing.T, cat *Catalog) *Table {
	t.Helper()
	tbl := newTable(t, cat, "id:bigint,k:string,doc:variant", "k")
	for i := range 6 {
		var rows []string
		for j := range 40 {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"k":"%c","doc":{"n":%d,"s":"x%d"}}`, i*100+j, 'a'+j%2, j, j))
		}
		appendRows(t, tbl, rows...)
	}
	for _, w := range []string{"id = 3", "id = 5", "id IN (102, 204)", "id >= 530"} {
		_, err := tbl.Delete(bg, where(t, w), WriteOptions{})
		require.NoError(t, err)
	}
	return tbl
}

// L10, D05, S20: compaction keeps rows, ids and ages, and drops exactly the
// vectors of the files that go.
func TestCompactKeepsRowsAndIDs(t *testing.T) {
	cat := newCatalog(t)
	tbl := manyFiles(t, cat)
	before := lineage(t, tbl)
	require.Len(t, before, 6*40-4-10)
	c, err := tbl.Compact(bg, CompactOptions{Where: where(t, "k = 'a'")})
	require.NoError(t, err)
	require.Len(t, c.Removed, 6)
	require.Len(t, c.Files, 1)
	require.Equal(t, before, lineage(t, tbl))
	require.NoError(t, tbl.Verify(bg))
	info, err := tbl.Inspect(bg)
	require.NoError(t, err)
	require.Len(t, info.DataFiles, 7)
	require.Equal(t, "replace", info.Snapshots[len(info.Snapshots)-1].Operation)
	for _, v := range info.DeletionVectors {
		require.Contains(t, v.DataFile, "k=b", "vectors of the other partition stay")
	}
	require.NotEmpty(t, info.DeletionVectors)

	for range 2 { // twice: what was reconstructed is reconstructed again
		c, err = tbl.Compact(bg, CompactOptions{All: true})
		require.NoError(t, err)
		require.Len(t, c.Files, 2)
		require.Equal(t, before, lineage(t, tbl))
	}
	info, err = tbl.Inspect(bg)
	require.NoError(t, err)
	require.Empty(t, info.DeletionVectors)
	require.Contains(t, info.DataFiles[0].Shredded, "doc")

	c, err = tbl.Compact(bg, CompactOptions{})
	require.NoError(t, err)
	require.Zero(t, c.SnapshotID, "nothing is left to do")
	require.Empty(t, c.Removed)
}

func TestCompactBesideOtherWriters(t *testing.T) {
	cat := newCatalog(t)
	manyFiles(t, cat)
	other, err := cat.Load(bg, "ns.t")
	require.NoError(t, err)
	f := &faults{commit: func(n int, do func() error) error {
		switch n {
		case 1: // an append: the files that were read are as they were
			appendRows(t, other, `{"id":1000,"k":"c"}`)
		case 2: // a delete in a file that was read
			_, err := other.Delete(bg, where(t, "id = 7"), WriteOptions{})
			require.NoError(t, err)
		}
		return do()
	}}
	tbl := faulty(t, cat, "ns.t", f)
	c, err := tbl.Compact(bg, CompactOptions{})
	require.NoError(t, err)
	require.Equal(t, 3, c.Attempts)
	require.NoError(t, other.Refresh(bg))
	require.NoError(t, other.Verify(bg))
	rows := lineage(t, other)
	require.Len(t, rows, 6*40-4-10+1-1)
	require.False(t, slices.ContainsFunc(rows, func(r string) bool { return strings.HasPrefix(r, `{"id":7,`) }), "the delete is not lost")
	// Only live files and those of older snapshots are there.
	live := 0
	for _, path := range dataFiles(t, other) {
		if strings.Contains(path, c.writerID()) {
			live++
		}
	}
	require.Equal(t, len(c.Files), live)
}

// writerID is the part that the names of all new files share.
func (c *Compaction) writerID() string {
	name := filepath.Base(c.Files[0].FilePath())
	return strings.TrimSuffix(name[strings.Index(name, "-"):], ".parquet")
}

func TestExpireRemovesWhatOnlyOldSnapshotsNeed(t *testing.T) {
	cat := newCatalog(t)
	tbl := manyFiles(t, cat)
	_, err := tbl.Compact(bg, CompactOptions{})
	require.NoError(t, err)
	before := lineage(t, tbl)
	count := len(tbl.Metadata().Snapshots())
	e, err := tbl.Expire(bg, ExpireOptions{Keep: 2})
	require.NoError(t, err)
	require.Len(t, e.Snapshots, count-2)
	require.Len(t, tbl.Metadata().Snapshots(), 2)
	require.Len(t, dataFiles(t, tbl), 12+2, "the snapshot before the compaction is retained")
	e, err = tbl.Expire(bg, ExpireOptions{})
	require.NoError(t, err)
	require.Len(t, e.Snapshots, 1)
	require.Len(t, dataFiles(t, tbl), 2)
	require.Empty(t, filesBelow(t, plainPath(tbl.Location()), ".puffin"))
	require.Equal(t, before, lineage(t, tbl))
	require.NoError(t, tbl.Verify(bg))
	e, err = tbl.Expire(bg, ExpireOptions{})
	require.NoError(t, err)
	require.Empty(t, e.Snapshots)
}

// D05: a Puffin file stays while any vector in it is live.
func TestExpireKeepsSharedPuffins(t *testing.T) {
	cat := newCatalog(t)
	tbl := manyFiles(t, cat)
	_, err := tbl.Compact(bg, CompactOptions{Where: where(t, "k = 'a'")})
	require.NoError(t, err)
	before := lineage(t, tbl)
	_, err = tbl.Expire(bg, ExpireOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, filesBelow(t, plainPath(tbl.Location()), ".puffin"))
	require.Equal(t, before, lineage(t, tbl))
	require.NoError(t, tbl.Verify(bg))
}

func TestOrphans(t *testing.T) {
	cat := newCatalog(t)
	tbl := manyFiles(t, cat)
	before := lineage(t, tbl)
	dir := plainPath(tbl.Location())
	old := filepath.Join(dir, "data", "k=a", "lost.parquet")
	young := filepath.Join(dir, "data", "young.parquet")
	for _, p := range []string{old, young} {
		require.NoError(t, os.WriteFile(p, []byte("x"), 0o600))
	}
	week := time.Now().Add(-7 * 24 * time.Hour)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != young {
			err = os.Chtimes(path, week, week)
		}
		return err
	})
	require.NoError(t, err)
	found, err := tbl.RemoveOrphans(bg, OrphanOptions{})
	require.NoError(t, err)
	require.Equal(t, []Orphan{{Path: old, Bytes: 1}}, found)
	require.FileExists(t, old, "a dry run")
	found, err = tbl.RemoveOrphans(bg, OrphanOptions{Delete: true})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoFileExists(t, old)
	require.FileExists(t, young)
	require.Equal(t, before, lineage(t, tbl))
	require.NoError(t, tbl.Verify(bg))

	// A warehouse that is known by another spelling of the same place.
	uri, err := OpenCatalog(bg, "sqlite:"+filepath.Join(t.TempDir(), "c.db"), map[string]string{"warehouse": "file://" + t.TempDir()})
	require.NoError(t, err)
	defer func() { require.NoError(t, uri.Close()) }()
	tbl = newTable(t, uri, "id:bigint", "")
	appendRows(t, tbl, `{"id":1}`)
	found, err = tbl.RemoveOrphans(context.Background(), OrphanOptions{OlderThan: time.Nanosecond})
	require.NoError(t, err)
	require.Empty(t, found)
}

// A table of a stream got a manifest a commit, and each scan read them all. Now
// commits merge them, on their branch, and rows keep their ids (L10).
func TestManyCommitsStayPlannable(t *testing.T) {
	cat := newCatalog(t)
	newTable(t, cat, "id bigint", "")
	f := &faults{}
	tbl := faulty(t, cat, "ns.t", f)
	require.NoError(t, tbl.SetProperties(bg, map[string]string{"commit.manifest.min-count-to-merge": "15"}))
	manifests := func() int {
		fs, err := tbl.FS(bg)
		require.NoError(t, err)
		list, err := tbl.Metadata().CurrentSnapshot().Manifests(fs)
		require.NoError(t, err)
		return len(list)
	}
	opens := func() int64 {
		require.NoError(t, tbl.Refresh(bg))
		fresh := Wrap(tbl.Unwrap(), nil) // remembers no manifest
		before := f.opens.Load()
		_, err := fresh.Scan(bg, ScanOptions{})
		require.NoError(t, err)
		return f.opens.Load() - before
	}
	most := int64(0)
	for i := range 70 {
		appendRows(t, tbl, numbered(1, `{"id":%d}`)...)
		require.Less(t, manifests(), 15+manifestsLook)
		if i%5 == 0 {
			most = max(most, opens())
		}
	}
	require.Less(t, most, int64(2*(15+manifestsLook)+10))
	seen := map[string]bool{}
	for _, row := range scanJSON(t, tbl, ScanOptions{Lineage: true}) {
		require.False(t, seen[row], row)
		seen[row] = true
	}
	require.Len(t, seen, 70)

	require.NoError(t, tbl.SetProperties(bg, map[string]string{"commit.manifest-merge.enabled": "false"}))
	before := manifests()
	for range 20 {
		appendRows(t, tbl, `{"id":1}`)
	}
	require.Equal(t, before+20, manifests())
}
