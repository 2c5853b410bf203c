package iceberg

import (
	"strconv"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"
)

// countsOf are the entries of the newest summary that count files, bytes and rows.
func countsOf(tbl *Table) map[string]string {
	out := map[string]string{"operation": string(tbl.Metadata().CurrentSnapshot().Summary.Operation)}
	for k, v := range summary(tbl) {
		switch k {
		case CommitIDKey, "engine-name", "engine-version", "iceberg-version", "changed-partition-count":
		default:
			out[k] = v
		}
	}
	return out
}

// D21: the entries of each summary are those that Spark writes for the same
// changes (tables dv_repeated, update_mor and rewrite_data_files of the
// conformance set). Vectors counted as position delete files before, with the
// size of the whole Puffin file each.
func TestSummaryAsJavaD21(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id bigint, p string", "p")
	appendRows(t, tbl, `{"id":1,"p":"a"}`, `{"id":2,"p":"a"}`, `{"id":3,"p":"b"}`, `{"id":4,"p":"b"}`)
	data, err := strconv.ParseInt(summary(tbl)["total-files-size"], 10, 64)
	require.NoError(t, err)
	total := func(n int64) string { return strconv.FormatInt(data+n, 10) }

	c := deleteRows(t, tbl, "id IN (1, 3)")
	blobs := *c.Vectors[0].ContentSizeInBytes() + *c.Vectors[1].ContentSizeInBytes()
	require.Equal(t, map[string]string{
		"operation": "delete", "added-delete-files": "2", "added-dvs": "2", "added-position-deletes": "2",
		"added-files-size": strconv.FormatInt(blobs, 10), "total-records": "4", "total-data-files": "2",
		"total-delete-files": "2", "total-position-deletes": "2", "total-equality-deletes": "0", "total-files-size": total(blobs),
	}, countsOf(tbl))

	// One file goes as a whole, with its vector: a delete without new vectors.
	c = deleteRows(t, tbl, "p = 'a'")
	require.Equal(t, table.OpDelete, tbl.Metadata().CurrentSnapshot().Summary.Operation)
	gone := c.Dropped[0].FileSizeBytes() + blobs/2
	require.Equal(t, strconv.FormatInt(gone, 10), summary(tbl)["removed-files-size"])
	require.Equal(t, "1", summary(tbl)["removed-dvs"])
	require.Equal(t, "1", summary(tbl)["deleted-data-files"])
	require.NotContains(t, summary(tbl), "removed-position-delete-files")
	require.Equal(t, total(blobs-gone), summary(tbl)["total-files-size"])

	done, err := tbl.Compact(bg, CompactOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"operation": "replace", "added-data-files": "1", "added-records": "1", "added-files-size": strconv.FormatInt(done.Bytes, 10),
		"deleted-data-files": "1", "deleted-records": "2", "removed-delete-files": "1", "removed-dvs": "1", "removed-position-deletes": "1",
		"removed-files-size": total(blobs - gone), "total-records": "1", "total-data-files": "1", "total-delete-files": "0",
		"total-position-deletes": "0", "total-equality-deletes": "0", "total-files-size": strconv.FormatInt(done.Bytes, 10),
	}, countsOf(tbl))
}

// An update is an overwrite, whether rows are marked or files are copied.
func TestOperationOfChanges(t *testing.T) {
	for _, mode := range []string{"merge-on-read", "copy-on-write"} {
		tbl := newTable(t, newCatalog(t), "id bigint", "")
		require.NoError(t, tbl.SetProperties(bg, map[string]string{"write.update.mode": mode, "write.delete.mode": mode}))
		appendRows(t, tbl, `{"id":1}`, `{"id":2}`, `{"id":3}`)
		_, err := tbl.Update(bg, []Assignment{set(t, "id = 4")}, where(t, "id = 1"), WriteOptions{})
		require.NoError(t, err)
		require.Equal(t, table.OpOverwrite, tbl.Metadata().CurrentSnapshot().Summary.Operation, mode)
		deleteRows(t, tbl, "TRUE")
		require.Equal(t, table.OpDelete, tbl.Metadata().CurrentSnapshot().Summary.Operation, mode)
	}
}
