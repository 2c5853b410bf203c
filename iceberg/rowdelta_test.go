package iceberg

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"
)

// where parses a predicate of a test.
func where(t testing.TB, text string) Expr {
	t.Helper()
	e, err := ParseWhere(text)
	require.NoError(t, err)
	return e
}

func set(t testing.TB, text string) Assignment {
	t.Helper()
	a, err := ParseSet(text)
	require.NoError(t, err)
	return a
}

func deleteRows(t testing.TB, tbl *Table, predicate string) *Changes {
	t.Helper()
	c, err := tbl.Delete(context.Background(), where(t, predicate), WriteOptions{})
	require.NoError(t, err)
	return c
}

// vectorsOf counts the live deletion vectors by data file.
func vectorsOf(t testing.TB, tbl *Table) map[string]int64 {
	t.Helper()
	fs, err := tbl.FS(context.Background())
	require.NoError(t, err)
	out := map[string]int64{}
	for f, err := range deleteFiles(fs, tbl.Unwrap().CurrentSnapshot()) {
		require.NoError(t, err)
		require.True(t, table.IsDeletionVector(f), f.FilePath())
		require.NotContains(t, out, *f.ReferencedDataFile(), "two vectors for one file")
		out[*f.ReferencedDataFile()] = f.Count()
	}
	return out
}

func summary(tbl *Table) map[string]string { return tbl.Unwrap().CurrentSnapshot().Summary.Properties }

// D01, D21: every delete replaces the file's vector by the union, and the
// summary counts it.
func TestDeleteReplacesVectorD01D21(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint", "")
	appendRows(t, tbl, `{"id":1}`, `{"id":2}`, `{"id":3}`, `{"id":4}`, `{"id":5}`)

	c := deleteRows(t, tbl, "id = 2")
	require.EqualValues(t, 1, c.Deleted)
	require.Equal(t, "1", summary(tbl)["added-dvs"])
	c = deleteRows(t, tbl, "id = 4")
	require.EqualValues(t, 1, c.Deleted)
	require.Equal(t, []string{`{"id":1}`, `{"id":3}`, `{"id":5}`}, readJSON(t, tbl))
	require.Equal(t, "1", summary(tbl)["added-dvs"])
	require.Equal(t, "1", summary(tbl)["removed-dvs"])
	require.Equal(t, "1", summary(tbl)["total-delete-files"])
	require.Equal(t, "2", summary(tbl)["total-position-deletes"])
	require.Len(t, vectorsOf(t, tbl), 1)

	before := c.SnapshotID
	c = deleteRows(t, tbl, "id = 2")
	require.Zero(t, c.SnapshotID, "no row is left to delete")
	require.Equal(t, before, tbl.Unwrap().CurrentSnapshot().SnapshotID)
	deleteRows(t, tbl, "id = 5")
	require.Equal(t, []string{`{"id":1}`, `{"id":3}`}, readJSON(t, tbl))
	requireOracle(t, tbl)
}

// D05: a file of which every row goes is dropped, with its own vector, and the
// vector that shares the Puffin file stays.
func TestDropWholeFileD05(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,p:string", "p")
	appendRows(t, tbl, `{"id":1,"p":"a"}`, `{"id":2,"p":"a"}`, `{"id":3,"p":"b"}`, `{"id":4,"p":"b"}`)
	c := deleteRows(t, tbl, "id IN (1, 3)")
	require.Len(t, c.Vectors, 2)
	require.Equal(t, c.Vectors[0].FilePath(), c.Vectors[1].FilePath(), "one Puffin file")

	c = deleteRows(t, tbl, "p = 'a'")
	require.EqualValues(t, 1, c.Deleted)
	require.Len(t, c.Dropped, 1)
	require.Empty(t, c.Vectors)
	require.Len(t, vectorsOf(t, tbl), 1)
	require.Equal(t, []string{`{"id":4,"p":"b"}`}, readJSON(t, tbl))
	requireOracle(t, tbl)

	c = deleteRows(t, tbl, "id >= 4")
	require.Len(t, c.Dropped, 1)
	require.Empty(t, readJSON(t, tbl))
	require.Empty(t, vectorsOf(t, tbl))
}

func TestUpdateKeepsRowIDs(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,name:string,v:variant", "")
	appendRows(t, tbl, `{"id":1,"name":"a","v":{"x":1}}`, `{"id":2,"name":"b","v":[2]}`, `{"id":3,"name":"c"}`)
	c, err := tbl.Update(context.Background(), []Assignment{set(t, "name = 'z'"), set(t, `v = '{"y":2}'`)}, where(t, "id >= 2"), WriteOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 2, c.Updated)
	require.Equal(t, []string{
		`{"id":1,"name":"a","v":{"x":1},"_row_id":0,"_last_updated_sequence_number":1}`,
		`{"id":2,"name":"z","v":{"y":2},"_row_id":1,"_last_updated_sequence_number":2}`,
		`{"id":3,"name":"z","v":{"y":2},"_row_id":2,"_last_updated_sequence_number":2}`,
	}, scanJSON(t, tbl, ScanOptions{Lineage: true}))

	// D19: a second update of the same rows, and a delete beside them.
	c, err = tbl.Update(context.Background(), []Assignment{set(t, "name = v")}, where(t, "id = 2"), WriteOptions{})
	require.ErrorIs(t, err, ErrInvalid)
	require.Nil(t, c)
	_, err = tbl.Update(context.Background(), []Assignment{set(t, "id = 20"), set(t, "name = variant_get(v, '$.y', 'string')")}, where(t, "id = 2"), WriteOptions{})
	require.NoError(t, err)
	deleteRows(t, tbl, "id = 3")
	require.Equal(t, []string{
		`{"id":1,"name":"a","v":{"x":1},"_row_id":0,"_last_updated_sequence_number":1}`,
		`{"id":20,"name":"2","v":{"y":2},"_row_id":1,"_last_updated_sequence_number":3}`,
	}, scanJSON(t, tbl, ScanOptions{Lineage: true}))
	requireOracle(t, tbl)
}

func TestMerge(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,name:string,n:int,v:variant", "")
	appendRows(t, tbl, `{"id":1,"name":"a","n":10}`, `{"id":2,"name":"b","n":20}`, `{"id":3,"name":"c","n":30}`, `{"name":"null key","n":0}`)
	c, err := tbl.MergeJSON(context.Background(), rowsOf(
		`{"id":2,"n":21}`, `{"id":3,"name":null,"v":{"k":1}}`, `{"id":9,"name":"new"}`, `{"id":null,"name":"never matches"}`,
	), MergeOptions{On: []string{"id"}})
	require.NoError(t, err)
	require.EqualValues(t, 2, c.Updated)
	require.EqualValues(t, 2, c.Inserted)
	require.Equal(t, []string{
		`{"id":1,"name":"a","n":10,"v":null,"_row_id":0,"_last_updated_sequence_number":1}`,
		`{"id":null,"name":"null key","n":0,"v":null,"_row_id":3,"_last_updated_sequence_number":1}`,
		`{"id":2,"name":"b","n":21,"v":null,"_row_id":1,"_last_updated_sequence_number":2}`,
		`{"id":3,"name":null,"n":30,"v":{"k":1},"_row_id":2,"_last_updated_sequence_number":2}`,
		`{"id":9,"name":"new","n":null,"v":null,"_row_id":6,"_last_updated_sequence_number":2}`,
		`{"id":null,"name":"never matches","n":null,"v":null,"_row_id":7,"_last_updated_sequence_number":2}`,
	}, scanJSON(t, tbl, ScanOptions{Lineage: true}))

	_, err = tbl.MergeJSON(context.Background(), rowsOf(`{"id":1,"n":1}`, `{"id":1,"n":2}`), MergeOptions{On: []string{"id"}})
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "two source rows")
}

func TestMergeClauses(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,n:int", "")
	appendRows(t, tbl, `{"id":1,"n":10}`, `{"id":2,"n":20}`, `{"id":3,"n":30}`)
	c, err := tbl.MergeJSON(context.Background(), rowsOf(`{"id":1,"n":5}`, `{"id":2,"n":99}`, `{"id":3,"n":-1}`, `{"id":4,"n":1}`, `{"id":5,"n":-1}`), MergeOptions{
		On: []string{"id"},
		When: []MergeClause{
			{Matched: true, And: where(t, "source.n < 0"), Do: MergeDelete},
			{Matched: true, And: where(t, "source.n > target.n"), Do: MergeUpdate},
			{And: where(t, "source.n > 0"), Do: MergeInsert},
		},
	})
	require.NoError(t, err)
	require.Equal(t, [3]int64{1, 1, 1}, [3]int64{c.Deleted, c.Updated, c.Inserted})
	require.Equal(t, []string{`{"id":1,"n":10}`, `{"id":2,"n":99}`, `{"id":4,"n":1}`}, scanJSON(t, tbl, ScanOptions{}))
}

// scanJSON reads a table as JSON rows.
func scanJSON(t testing.TB, tbl *Table, opts ScanOptions) []string {
	t.Helper()
	out, err := tryScanJSON(tbl, opts)
	require.NoError(t, err)
	return out
}

func tryScanJSON(tbl *Table, opts ScanOptions) ([]string, error) {
	ctx := context.Background()
	scan, err := tbl.Scan(ctx, opts)
	if err != nil {
		return nil, err
	}
	r := NewRenderer(scan.Schema())
	var out []string
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			return out, err
		}
		if err := r.Bind(batch); err != nil {
			return out, err
		}
		for i := range int(batch.NumRows()) {
			row, err := r.AppendRow(nil, i)
			if err != nil {
				return out, fmt.Errorf("row %d: %w", i, err)
			}
			out = append(out, string(row))
		}
		batch.Release()
	}
	return out, nil
}

// requireOracle compares the ids with those that iceberg-go reads.
func requireOracle(t testing.TB, tbl *Table) {
	t.Helper()
	var ids []string
	for _, row := range scanJSON(t, tbl, ScanOptions{Columns: []string{"id"}}) {
		id := strings.TrimSuffix(strings.TrimPrefix(row, `{"id":`), "}")
		if id == "null" {
			id = "(null)"
		}
		ids = append(ids, id)
	}
	require.ElementsMatch(t, oracleRows(t, tbl, "id"), ids)
}

// TestWholeFilesGoWithoutVectors updates every row: the old files leave the
// table, and the rows keep their ids.
func TestWholeFilesGoWithoutVectors(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,s:string", "")
	appendRows(t, tbl, `{"id":1,"s":"a"}`, `{"id":2,"s":"b"}`)
	appendRows(t, tbl, `{"id":3,"s":"c"}`)
	deleteRows(t, tbl, "id = 1")
	c, err := tbl.Update(context.Background(), []Assignment{set(t, "s = 'z'")}, where(t, "id > 0"), WriteOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 2, c.Updated)
	require.Len(t, c.Dropped, 2)
	require.Empty(t, c.Vectors)
	require.Empty(t, vectorsOf(t, tbl))
	require.Equal(t, []string{
		`{"id":2,"s":"z","_row_id":1,"_last_updated_sequence_number":4}`,
		`{"id":3,"s":"z","_row_id":2,"_last_updated_sequence_number":4}`,
	}, scanJSON(t, tbl, ScanOptions{Lineage: true}))
	require.EqualValues(t, "overwrite", tbl.Unwrap().CurrentSnapshot().Summary.Operation)
}
