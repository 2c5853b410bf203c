package iceberg

import (
	"context"
	"fmt"
	"path"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/pq"
)

// newTableV2 creates a table of format version 2 with the columns id and s.
func newTableV2(t testing.TB, cat *Catalog) *Table {
	t.Helper()
	ctx := context.Background()
	ident := table.Identifier{"ns", "old"}
	require.NoError(t, cat.ensureNamespace(ctx, ident))
	schema := ice.NewSchema(0,
		ice.NestedField{ID: 1, Name: "id", Type: ice.Int64Type{}},
		ice.NestedField{ID: 2, Name: "s", Type: ice.StringType{}})
	tbl, err := cat.Unwrap().CreateTable(ctx, ident, schema, catalog.WithProperties(ice.Properties{"format-version": "2"}))
	require.NoError(t, err)
	return Wrap(tbl, cat.Unwrap())
}

// writeDeleteFile writes a Parquet file of deletes below the table.
func writeDeleteFile(t testing.TB, tbl *Table, name string, fields []ice.NestedField, cols ...arrow.Array) (string, int64) {
	t.Helper()
	fs, err := tbl.FS(context.Background())
	require.NoError(t, err)
	location := path.Join(tbl.Location(), "data", name)
	out, err := fs.(iceio.WriteFileIO).Create(location)
	require.NoError(t, err)
	root := rootNode(fields, nil)
	w, err := pq.NewWriter(out, root, pq.WriterOptions{})
	require.NoError(t, err)
	g := &rowGroup{}
	for i, n := range root.Children {
		s, err := pq.NewStriper(n)
		require.NoError(t, err)
		require.NoError(t, s.Append(cols[i]))
		g.bufs = append(g.bufs, s.Buffers()...)
	}
	require.NoError(t, w.WriteRowGroup(g.bufs, cols[0].Len()))
	meta, err := w.Close()
	require.NoError(t, err)
	require.NoError(t, out.Close())
	return location, meta.Size
}

// deletePositions commits a position delete file: pairs of data file and row.
func deletePositions(t testing.TB, tbl *Table, name string, paths []string, positions []int64) {
	t.Helper()
	p, n := array.NewStringBuilder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	p.AppendValues(paths, nil)
	n.AppendValues(positions, nil)
	fields := []ice.NestedField{
		{ID: deletePathField, Name: "file_path", Type: ice.StringType{}, Required: true},
		{ID: deletePosField, Name: "pos", Type: ice.Int64Type{}, Required: true},
	}
	location, size := writeDeleteFile(t, tbl, name, fields, p.NewArray(), n.NewArray())
	b, err := ice.NewDataFileBuilder(*ice.UnpartitionedSpec, ice.EntryContentPosDeletes, location, ice.ParquetFile, nil, nil, nil, int64(len(paths)), size)
	require.NoError(t, err)
	commitDeletes(t, tbl, b.Build())
}

// deleteEqual commits an equality delete file of ids; nil is null.
func deleteEqual(t testing.TB, tbl *Table, values ...any) {
	t.Helper()
	ids := array.NewInt64Builder(memory.DefaultAllocator)
	for _, v := range values {
		if n, ok := v.(int); ok {
			ids.Append(int64(n))
			continue
		}
		ids.AppendNull()
	}
	location, size := writeDeleteFile(t, tbl, "eq-"+uuid.NewString()+".parquet", []ice.NestedField{{ID: 1, Name: "id", Type: ice.Int64Type{}}}, ids.NewArray())
	b, err := ice.NewDataFileBuilder(*ice.UnpartitionedSpec, ice.EntryContentEqDeletes, location, ice.ParquetFile, nil, nil, nil, int64(len(values)), size)
	require.NoError(t, err)
	commitDeletes(t, tbl, b.EqualityFieldIDs([]int{1}).Build())
}

func commitDeletes(t testing.TB, tbl *Table, files ...ice.DataFile) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, tbl.Refresh(ctx))
	tx := tbl.Unwrap().NewTransaction()
	require.NoError(t, tx.NewRowDelta(nil).AddDeletes(files...).Commit(ctx))
	_, err := tx.Commit(ctx)
	require.NoError(t, err)
	require.NoError(t, tbl.Refresh(ctx))
}

func upgrade(t testing.TB, tbl *Table) {
	t.Helper()
	tx := tbl.Unwrap().NewTransaction()
	require.NoError(t, tx.UpgradeFormatVersion(3))
	_, err := tx.Commit(context.Background())
	require.NoError(t, err)
	require.NoError(t, tbl.Refresh(context.Background()))
}

// D06: position delete files of a table that was upgraded to version 3 become
// part of the vectors, and go; nothing comes back.
func TestPositionDeletesBecomeVectorsD06(t *testing.T) {
	tbl := newTableV2(t, newCatalog(t))
	appendRows(t, tbl, `{"id":1}`, `{"id":2}`, `{"id":3}`, `{"id":4}`)
	appendRows(t, tbl, `{"id":11}`, `{"id":12}`, `{"id":13}`)
	f1, f2 := tasksOf(t, tbl)[0].file.FilePath(), tasksOf(t, tbl)[1].file.FilePath()
	deletePositions(t, tbl, "p1.parquet", []string{f1}, []int64{0})
	deletePositions(t, tbl, "p2.parquet", []string{f1, f2}, []int64{1, 2})
	want := []string{`{"id":3,"s":null}`, `{"id":4,"s":null}`, `{"id":11,"s":null}`, `{"id":12,"s":null}`}
	require.Equal(t, want, scanJSON(t, tbl, ScanOptions{}))
	_, err := tbl.Delete(context.Background(), where(t, "id = 4"), WriteOptions{})
	require.ErrorIs(t, err, ErrUnsupported, "a version 2 table takes no vectors")

	upgrade(t, tbl)
	require.Equal(t, want, scanJSON(t, tbl, ScanOptions{}))
	deleteRows(t, tbl, "id = 4")
	want = []string{`{"id":3,"s":null}`, `{"id":11,"s":null}`, `{"id":12,"s":null}`}
	require.Equal(t, want, scanJSON(t, tbl, ScanOptions{}))
	require.Equal(t, map[string]int64{f1: 3, f2: 1}, vectorsOf(t, tbl), "both position delete files are gone")
	deleteRows(t, tbl, "id = 11")
	require.Equal(t, map[string]int64{f1: 3, f2: 2}, vectorsOf(t, tbl))
	require.Equal(t, []string{`{"id":3,"s":null}`, `{"id":12,"s":null}`}, scanJSON(t, tbl, ScanOptions{}))
	requireOracle(t, tbl)
}

// D06: rows that are newer than the position deletes keep iceberg-go from
// replacing them; they stay, and the vector wins.
func TestPositionDeletesBesideNewRowsD06(t *testing.T) {
	tbl := newTableV2(t, newCatalog(t))
	appendRows(t, tbl, `{"id":1}`, `{"id":2}`, `{"id":3}`)
	deletePositions(t, tbl, "p1.parquet", []string{tasksOf(t, tbl)[0].file.FilePath()}, []int64{0})
	upgrade(t, tbl)
	appendRows(t, tbl, `{"id":4}`, `{"id":5}`)
	deleteRows(t, tbl, "id IN (2, 5)")
	require.Equal(t, []string{`{"id":3,"s":null}`, `{"id":4,"s":null}`}, scanJSON(t, tbl, ScanOptions{}))
	deleteRows(t, tbl, "id = 3")
	require.Equal(t, []string{`{"id":4,"s":null}`}, scanJSON(t, tbl, ScanOptions{}))
}

func tasksOf(t testing.TB, tbl *Table) []fileTask {
	t.Helper()
	plan, err := tbl.plan(context.Background(), version{}, Expr{}, 1)
	require.NoError(t, err)
	return plan.tasks
}

// D17: an equality delete applies to older files only, not to those of its own
// commit, a null key included.
func TestEqualityDeletesD17(t *testing.T) {
	tbl := newTableV2(t, newCatalog(t))
	appendRows(t, tbl, `{"id":1,"s":"a"}`, `{"id":2,"s":"b"}`, `{"id":null,"s":"n"}`, `{"id":3,"s":"c"}`)
	deleteEqual(t, tbl, 2, nil)
	appendRows(t, tbl, `{"id":2,"s":"again"}`)
	want := []string{`{"s":"a"}`, `{"s":"c"}`, `{"s":"again"}`}
	require.Equal(t, want, scanJSON(t, tbl, ScanOptions{Columns: []string{"s"}}))
	require.Equal(t, want[2:], scanJSON(t, tbl, ScanOptions{Columns: []string{"s"}, Where: where(t, "id = 2")}))
	require.Equal(t, []string{`{"id":1,"s":"a"}`}, scanJSON(t, tbl, ScanOptions{Where: where(t, "id < 3 AND s <> 'again'")}))

	upgrade(t, tbl)
	c := deleteRows(t, tbl, "id IN (1, 2)")
	require.EqualValues(t, 2, c.Deleted, "the row that an equality delete has taken does not count")
	require.Equal(t, []string{`{"s":"c"}`}, scanJSON(t, tbl, ScanOptions{Columns: []string{"s"}}))
}

// D16: a vector that does not say which data file it belongs to, or where it
// lies, is corrupt; it is not guessed from bounds.
func TestVectorWithoutReferenceD16(t *testing.T) {
	for name, broken := range map[string]func(b *ice.DataFileBuilder, data string){
		"reference": func(b *ice.DataFileBuilder, data string) {
			bound := map[int][]byte{deletePathField: []byte(data)}
			b.ContentOffset(4).ContentSizeInBytes(40).LowerBoundValues(bound).UpperBoundValues(bound)
		},
		"offset": func(b *ice.DataFileBuilder, data string) { b.ReferencedDataFile(data).ContentSizeInBytes(40) },
		"size":   func(b *ice.DataFileBuilder, data string) { b.ReferencedDataFile(data).ContentOffset(4) },
	} {
		t.Run(name, func(t *testing.T) {
			tbl := newTable(t, newCatalog(t), "id:bigint", "")
			appendRows(t, tbl, `{"id":1}`, `{"id":2}`)
			data := tasksOf(t, tbl)[0].file.FilePath()
			b, err := ice.NewDataFileBuilder(*ice.UnpartitionedSpec, ice.EntryContentPosDeletes, data+".puffin", ice.PuffinFile, nil, nil, nil, 1, 100)
			require.NoError(t, err)
			broken(b, data)
			snapshot := forgedSnapshot(t, tbl, b.Build())
			_, err = (&vectorMemo{}).live(forgedFS(t, tbl), snapshot)
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
}

func forgedFS(t testing.TB, tbl *Table) iceio.IO {
	t.Helper()
	fs, err := tbl.FS(context.Background())
	require.NoError(t, err)
	return fs
}

// forgedSnapshot writes a manifest and a manifest list with one delete file, as
// a careless writer would.
func forgedSnapshot(t testing.TB, tbl *Table, file ice.DataFile) *table.Snapshot {
	t.Helper()
	fs := forgedFS(t, tbl).(iceio.WriteFileIO)
	id := int64(77)
	manifest := path.Join(tbl.Location(), "metadata", "forged-m0.avro")
	out, err := fs.Create(manifest)
	require.NoError(t, err)
	entry := ice.NewManifestEntry(ice.EntryStatusADDED, &id, nil, nil, file)
	w, err := ice.NewManifestWriter(3, out, *ice.UnpartitionedSpec, tbl.Schema(), id, ice.WithManifestWriterContent(ice.ManifestContentDeletes))
	require.NoError(t, err)
	require.NoError(t, w.Add(entry))
	require.NoError(t, w.Close())
	m, err := w.ToManifestFile(manifest, 1, ice.WithManifestFileContent(ice.ManifestContentDeletes))
	require.NoError(t, err)
	require.NoError(t, out.Close())
	list := path.Join(tbl.Location(), "metadata", "forged-list.avro")
	out, err = fs.Create(list)
	require.NoError(t, err)
	seq, first := int64(9), int64(0)
	require.NoError(t, ice.WriteManifestList(3, out, id, nil, &seq, first, []ice.ManifestFile{m}))
	require.NoError(t, out.Close())
	return &table.Snapshot{SnapshotID: id, SequenceNumber: seq, ManifestList: list}
}

// D02: two vectors for one file, or a second beside the first, are refused
// before anything is published.
func TestOneVectorAFileD02(t *testing.T) {
	vector := func(path, data string) ice.DataFile {
		b, err := ice.NewDataFileBuilder(*ice.UnpartitionedSpec, ice.EntryContentPosDeletes, path, ice.PuffinFile, nil, nil, nil, 1, 100)
		require.NoError(t, err)
		return b.ReferencedDataFile(data).ContentOffset(4).ContentSizeInBytes(40).Build()
	}
	old, a, b := vector("old.puffin", "f"), vector("a.puffin", "f"), vector("b.puffin", "f")
	none := func(string) ice.DataFile { return nil }
	live := func(string) ice.DataFile { return old }
	require.NoError(t, checkOneVector([]ice.DataFile{a}, nil, none))
	require.NoError(t, checkOneVector([]ice.DataFile{a}, []ice.DataFile{old}, live))
	require.ErrorIs(t, checkOneVector([]ice.DataFile{a, b}, nil, none), ErrInvalid)
	require.ErrorIs(t, checkOneVector([]ice.DataFile{a}, nil, live), ErrInvalid)
	require.ErrorIs(t, checkOneVector([]ice.DataFile{a}, []ice.DataFile{vector("old.puffin", "g")}, live), ErrInvalid)
}

// D03, K08: writers that delete from one file at the same time lose nothing and
// leave one vector; a row that an update has moved is found where it is.
func TestConcurrentDeletesD03(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,n:int", "")
	var rows []string
	for i := range 40 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"n":0}`, i))
	}
	appendRows(t, tbl, rows...)
	errs := make(chan error)
	const writers = 4
	for w := range writers {
		go func() {
			mine, err := cat.Load(context.Background(), "ns.t")
			for i := w; i < 20 && err == nil; i += writers {
				var e Expr
				if e, err = ParseWhere(fmt.Sprintf("id = %d", i)); err != nil {
					break
				}
				if i%2 == 0 {
					_, err = mine.Delete(context.Background(), e, WriteOptions{})
				} else {
					var s Assignment
					if s, err = ParseSet("n = 1"); err == nil {
						_, err = mine.Update(context.Background(), []Assignment{s}, e, WriteOptions{})
					}
				}
			}
			errs <- err
		}()
	}
	for range writers {
		require.NoError(t, <-errs)
	}
	require.NoError(t, tbl.Refresh(context.Background()))
	require.Len(t, scanJSON(t, tbl, ScanOptions{}), 30)
	require.Len(t, scanJSON(t, tbl, ScanOptions{Where: where(t, "n = 1 AND id < 20")}), 10)
	vectorsOf(t, tbl)
	requireOracle(t, tbl)
}

// Copy-on-write leaves no vector, keeps row ids, and sequence numbers of the
// rows that did not change.
func TestCopyOnWrite(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,v:variant", "")
	appendRows(t, tbl, `{"id":1,"v":{"a":1}}`, `{"id":2,"v":{"a":2}}`, `{"id":3,"v":{"a":3}}`)
	deleteRows(t, tbl, "id = 1")
	tx := tbl.Unwrap().NewTransaction()
	require.NoError(t, tx.SetProperties(ice.Properties{propDeleteMode: modeCopyOnWrite, propUpdateMode: modeCopyOnWrite}))
	_, err := tx.Commit(context.Background())
	require.NoError(t, err)
	require.NoError(t, tbl.Refresh(context.Background()))

	_, err = tbl.Update(context.Background(), []Assignment{set(t, "id = 30")}, where(t, "id = 3"), WriteOptions{})
	require.NoError(t, err)
	require.Empty(t, vectorsOf(t, tbl))
	require.ElementsMatch(t, []string{
		`{"id":30,"v":{"a":3},"_row_id":2,"_last_updated_sequence_number":3}`,
		`{"id":2,"v":{"a":2},"_row_id":1,"_last_updated_sequence_number":1}`,
	}, scanJSON(t, tbl, ScanOptions{Lineage: true}))
	appendRows(t, tbl, `{"id":4}`)
	c := deleteRows(t, tbl, "id IN (30, 4)")
	require.EqualValues(t, 2, c.Deleted)
	require.Len(t, c.Dropped, 2)
	require.Empty(t, vectorsOf(t, tbl))
	require.Equal(t, []string{`{"id":2,"v":{"a":2},"_row_id":1,"_last_updated_sequence_number":1}`}, scanJSON(t, tbl, ScanOptions{Lineage: true}))
	ids := map[string]bool{}
	appendRows(t, tbl, `{"id":5}`, `{"id":6}`)
	for _, row := range scanJSON(t, tbl, ScanOptions{Columns: []string{ice.RowIDColumnName}}) {
		require.False(t, ids[row], "row id used twice: %s", row)
		ids[row] = true
	}
}
