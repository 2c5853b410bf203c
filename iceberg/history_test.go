package iceberg

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// changeTable makes a change with iceberg-go, as another program would.
func changeTable(t testing.TB, tbl *Table, change func(tx *table.Transaction) error) {
	t.Helper()
	require.NoError(t, tbl.Refresh(bg))
	tx := tbl.Unwrap().NewTransaction()
	require.NoError(t, change(tx))
	_, err := tx.Commit(bg)
	require.NoError(t, err)
	require.NoError(t, tbl.Refresh(bg))
}

// setRef makes a branch or a tag of the current snapshot.
func setRef(t testing.TB, tbl *Table, name string, typ table.RefType) {
	t.Helper()
	s := tbl.Metadata().CurrentSnapshot().SnapshotID
	update := table.NewSetSnapshotRefUpdate(name, s, typ, 0, 0, 0)
	_, _, err := tbl.cat.CommitTable(bg, tbl.Unwrap().Identifier(), nil, []table.Update{update})
	require.NoError(t, err)
	require.NoError(t, tbl.Refresh(bg))
}

// equalityFile commits an equality delete file with one column.
func equalityFile(t testing.TB, tbl *Table, f ice.NestedField, arr arrow.Array) {
	t.Helper()
	location, size := writeDeleteFile(t, tbl, "eq-"+uuid.NewString()+".parquet", []ice.NestedField{f}, arr)
	b, err := ice.NewDataFileBuilder(*ice.UnpartitionedSpec, ice.EntryContentEqDeletes, location, ice.ParquetFile, nil, nil, nil, int64(arr.Len()), size)
	require.NoError(t, err)
	commitDeletes(t, tbl, b.EqualityFieldIDs([]int{f.ID}).Build())
}

// D17: an equality delete goes by field id: through a rename, a wider type, and
// for older files a column that was added, and also when its column is dropped
// later (Iceberg spec, "Equality Delete Files").
func TestEqualityDeletesOfEvolvedColumnsD17(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id int, s string", "")
	appendRows(t, tbl, `{"id":1,"s":"a"}`, `{"id":2,"s":"b"}`, `{"id":3,"s":null}`)
	ids := array.NewInt32Builder(memory.DefaultAllocator)
	ids.Append(2)
	equalityFile(t, tbl, ice.NestedField{ID: 1, Name: "id", Type: ice.Int32Type{}}, ids.NewArray())
	require.NoError(t, tbl.WidenColumn(bg, "id", ice.Int64Type{}))
	require.NoError(t, tbl.RenameColumn(bg, "id", "number"))
	appendRows(t, tbl, `{"number":2,"s":"c"}`)
	require.Equal(t, []string{`{"number":1,"s":"a"}`, `{"number":3,"s":null}`, `{"number":2,"s":"c"}`}, readJSON(t, tbl))

	require.NoError(t, tbl.AddColumn(bg, "", Column{Name: "w", Type: ice.Int64Type{}, Default: 7}))
	appendRows(t, tbl, `{"number":8,"s":"d","w":8}`)
	w := fieldByName(t, tbl, "w")
	sevens := array.NewInt64Builder(memory.DefaultAllocator)
	sevens.Append(8)
	equalityFile(t, tbl, ice.NestedField{ID: w.ID, Name: "w", Type: ice.Int64Type{}}, sevens.NewArray())
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.AppendNull()
	equalityFile(t, tbl, ice.NestedField{ID: 2, Name: "s", Type: ice.StringType{}}, texts.NewArray())
	want := []string{`{"number":1}`, `{"number":2}`}
	require.Equal(t, want, scanJSON(t, tbl, ScanOptions{Columns: []string{"number"}}))

	require.NoError(t, tbl.DropColumn(bg, "s"))
	require.NoError(t, tbl.DropColumn(bg, "w"))
	require.Equal(t, want, scanJSON(t, tbl, ScanOptions{Columns: []string{"number"}}))
	require.NoError(t, tbl.AddColumn(bg, "", Column{Name: "s", Type: ice.Int64Type{}}))
	require.Equal(t, want, scanJSON(t, tbl, ScanOptions{Columns: []string{"number"}}))
	_, err := tbl.Compact(bg, CompactOptions{})
	require.NoError(t, err)
	require.Equal(t, want, scanJSON(t, tbl, ScanOptions{Columns: []string{"number"}}))
}

// Rows written under three partition specs are read, changed and compacted
// together, and the vectors are of the partitions of their files.
func TestPartitionEvolution(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id bigint, p string, d date", "p")
	rows := []string{`{"id":1,"p":"a","d":"2026-07-01"}`, `{"id":2,"p":"b","d":"2026-07-02"}`, `{"id":3,"p":"a","d":"2026-08-01"}`}
	appendRows(t, tbl, rows...)
	changeTable(t, tbl, func(tx *table.Transaction) error {
		return tx.UpdateSpec(true).AddField("d", ice.MonthTransform{}, "m").Commit()
	})
	appendRows(t, tbl, `{"id":4,"p":"a","d":"2026-08-02"}`)
	require.NoError(t, tbl.RenameColumn(bg, "p", "desk")) // the source of a partition
	changeTable(t, tbl, func(tx *table.Transaction) error { return tx.UpdateSpec(true).RemoveField("p").Commit() })
	appendRows(t, tbl, `{"id":5,"desk":"a","d":"2026-08-03"}`)
	ids := func(text string) []string {
		return scanJSON(t, tbl, ScanOptions{Columns: []string{"id"}, Where: where(t, text)})
	}
	require.Len(t, ids("desk = 'a'"), 4)
	require.Len(t, ids("d >= DATE '2026-08-01'"), 3)
	require.Len(t, ids("desk = 'b' AND d < DATE '2026-08-01'"), 1)

	before := lineage(t, tbl)
	c, err := tbl.Update(bg, []Assignment{set(t, "desk = 'z'")}, where(t, "id IN (1, 4, 5)"), WriteOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 3, c.Updated)
	spec := tbl.Unwrap().Spec()
	for _, f := range c.Files {
		require.EqualValues(t, spec.ID(), f.SpecID())
	}
	require.Equal(t, len(before), len(lineage(t, tbl)))
	require.Len(t, ids("desk = 'z'"), 3)
	deleteRows(t, tbl, "desk = 'a' OR id = 2")
	require.Equal(t, []string{`{"id":1}`, `{"id":4}`, `{"id":5}`}, slices.Sorted(slices.Values(ids("TRUE"))))
	_, err = tbl.Compact(bg, CompactOptions{All: true})
	require.NoError(t, err)
	require.Equal(t, []string{`{"id":1}`, `{"id":4}`, `{"id":5}`}, slices.Sorted(slices.Values(ids("TRUE"))))
	require.NoError(t, tbl.Verify(bg))
	requireOracle(t, tbl)
}

// Types are widened inside structs, lists and maps, and old files are read as the
// new ones, with predicates on them too.
func TestNestedPromotions(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id bigint, s struct<x:int,f:float>, l array<int>, m map<string,decimal(4,2)>, ls array<struct<y:int>>", "")
	appendRows(t, tbl, `{"id":1,"s":{"x":1,"f":1.5},"l":[1,null],"m":{"k":1.25},"ls":[{"y":1},null]}`, `{"id":2}`)
	for path, to := range map[string]ice.Type{
		"s.x": ice.Int64Type{}, "s.f": ice.Float64Type{}, "l.element": ice.Int64Type{},
		"m.value": ice.DecimalTypeOf(12, 2), "ls.element.y": ice.Int64Type{},
	} {
		require.NoError(t, tbl.WidenColumn(bg, path, to), path)
	}
	require.NoError(t, tbl.AddColumn(bg, "ls.element", Column{Name: "z", Type: ice.Int64Type{}, Default: 9}))
	appendRows(t, tbl, `{"id":3,"s":{"x":5000000000,"f":1e300},"l":[5000000000],"m":{"k":1234567890.25},"ls":[{"y":5000000000,"z":1}]}`)
	want := []string{
		`{"id":1,"s":{"x":1,"f":1.5},"l":[1,null],"m":{"k":1.25},"ls":[{"y":1,"z":9},null]}`,
		`{"id":2,"s":null,"l":null,"m":null,"ls":null}`,
		`{"id":3,"s":{"x":5000000000,"f":1.0e+300},"l":[5000000000],"m":{"k":1234567890.25},"ls":[{"y":5000000000,"z":1}]}`,
	}
	require.Equal(t, want, readJSON(t, tbl))
	require.Equal(t, []string{`{"id":3}`}, scanJSON(t, tbl, ScanOptions{Columns: []string{"id"}, Where: where(t, "s.x > 1")}))
	_, err := tbl.Compact(bg, CompactOptions{All: true})
	require.NoError(t, err)
	require.Equal(t, want, readJSON(t, tbl))
}

// Branches take rows and deletes of their own; ids of rows are never given out
// twice (L12), and Expire keeps what branches and tags need.
func TestBranchesAndTags(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id bigint", "")
	appendRows(t, tbl, numbered(4, `{"id":%d}`)...)
	setRef(t, tbl, "dev", table.BranchRef)
	setRef(t, tbl, "v1", table.TagRef)
	_, err := tbl.AppendJSON(bg, rowsOf(`{"id":10}`, `{"id":11}`), AppendOptions{Branch: "dev"})
	require.NoError(t, err)
	appendRows(t, tbl, `{"id":20}`)
	_, err = tbl.Delete(bg, where(t, "id IN (1, 10)"), WriteOptions{Branch: "dev"})
	require.NoError(t, err)
	deleteRows(t, tbl, "id IN (2, 20)")
	_, err = tbl.Update(bg, []Assignment{set(t, "id = 30")}, where(t, "id = 3"), WriteOptions{Branch: "dev"})
	require.NoError(t, err)
	check := func() {
		require.Equal(t, []string{`{"id":0}`, `{"id":1}`, `{"id":3}`}, scanJSON(t, tbl, ScanOptions{}))
		require.Equal(t, []string{`{"id":0}`, `{"id":2}`, `{"id":11}`, `{"id":30}`}, scanJSON(t, tbl, ScanOptions{Ref: "dev"}))
		require.Equal(t, []string{`{"id":0}`, `{"id":1}`, `{"id":2}`, `{"id":3}`}, scanJSON(t, tbl, ScanOptions{Ref: "v1"}))
	}
	check()
	owner := map[string]string{}
	for _, ref := range []string{"main", "dev", "v1"} {
		for _, row := range scanJSON(t, tbl, ScanOptions{Ref: ref, Lineage: true, Columns: []string{"id"}}) {
			id, rowID, err := idsOf(row)
			require.NoError(t, err)
			if id == "30" {
				id = "3" // the row that was updated
			}
			require.Contains(t, []string{"", id}, owner[rowID], "row id %s", rowID)
			owner[rowID] = id
		}
	}
	_, err = tbl.Compact(bg, CompactOptions{})
	require.NoError(t, err)
	check()
	e, err := tbl.Expire(bg, ExpireOptions{Keep: 1})
	require.NoError(t, err)
	require.NotEmpty(t, e.Snapshots)
	check()
	orphans, err := tbl.RemoveOrphans(bg, OrphanOptions{OlderThan: 1})
	require.NoError(t, err)
	require.Empty(t, orphans)
	require.NoError(t, tbl.Verify(bg))
}

// idsOf reads a row of the columns id and _row_id.
func idsOf(row string) (id, rowID string, err error) {
	var v struct {
		ID    json.Number `json:"id"`
		RowID json.Number `json:"_row_id"`
	}
	err = json.Unmarshal([]byte(row), &v)
	return v.ID.String(), v.RowID.String(), err
}
