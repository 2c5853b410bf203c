//go:build interop

package interop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
)

// TestSparkFindsEmptyTexts: Spark leaves out the manifests whose bounds exclude a
// value, and none that has it, where the value or its neighbour is the empty text.
func TestSparkFindsEmptyTexts(t *testing.T) {
	dir, cat := warehouse(t)
	s := startSpark(t, dir)
	works(t, spark, "finds the rows of our tables partitioned by a text, an empty one among them, by predicates on it")
	for name, part := range map[string]string{"demo.texts": "k", "demo.cut_texts": "truncate(2,k)"} {
		fields, err := iceberg.ParsePartition(part)
		require.NoError(t, err)
		tbl, err := cat.Create(t.Context(), name, iceberg.TableSpec{Columns: columns(t, "id:bigint,k:string"), Partition: fields})
		require.NoError(t, err)
		appendRows(t, tbl, `{"id":1,"k":""}`, `{"id":2,"k":"x"}`)
		appendRows(t, tbl, `{"id":3,"k":""}`)
		appendRows(t, tbl, `{"id":4,"k":""}`, `{"id":5}`)
		appendRows(t, tbl, `{"id":6}`)
		for predicate, want := range map[string][]string{
			"k = ''":        {`{"id":1}`, `{"id":3}`, `{"id":4}`},
			"k = 'x'":       {`{"id":2}`},
			"k IS NULL":     {`{"id":5}`, `{"id":6}`},
			"k IS NOT NULL": {`{"id":1}`, `{"id":2}`, `{"id":3}`, `{"id":4}`},
			"k < 'b'":       {`{"id":1}`, `{"id":3}`, `{"id":4}`},
			"k LIKE 'x%'":   {`{"id":2}`},
		} {
			require.Equal(t, want, s.query(t, "select id from "+name+" where "+predicate+" order by id"), "%s of %s", predicate, part)
		}
	}
}
