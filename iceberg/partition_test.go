package iceberg

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/stretchr/testify/require"
)

// partitionRows counts the live rows by partition.
func partitionRows(t *testing.T, tbl *Table) map[string]int64 {
	t.Helper()
	info, err := tbl.Inspect(bg)
	require.NoError(t, err)
	out := map[string]int64{}
	for _, f := range info.DataFiles {
		names := make([]string, 0, len(f.Partition))
		for n, v := range f.Partition {
			names = append(names, fmt.Sprintf("%s=%v", n, v))
		}
		slices.Sort(names)
		out[fmt.Sprint(names)] += f.Rows
	}
	return out
}

// Rows that Spark has put into partitions by year, month, truncate and bucket,
// dates before 1970 and nulls among them, land in the same partitions here,
// whether they come as JSON or as Arrow batches.
func TestPartitionsAgreeWithSpark(t *testing.T) {
	for _, name := range []string{"partition_transforms", "trades_s"} {
		meta := filepath.Join(sharedDir(t), "conformance", name, "metadata", "v2.metadata.json")
		spark, err := OpenMetadata(meta)
		require.NoError(t, err)
		spec := specLike(t, spark)
		want := partitionRows(t, spark)
		require.Greater(t, len(want), 10)

		cat := newCatalog(t)
		asJSON, err := cat.Create(bg, "ns.json", spec)
		require.NoError(t, err)
		appendRows(t, asJSON, readJSON(t, spark)...)
		require.Equal(t, want, partitionRows(t, asJSON), name)

		asBatches, err := cat.Create(bg, "ns.batches", spec)
		require.NoError(t, err)
		scan, err := spark.Scan(bg, ScanOptions{})
		require.NoError(t, err)
		_, err = asBatches.Append(bg, scan.Batches(bg), AppendOptions{})
		require.NoError(t, err)
		require.Equal(t, want, partitionRows(t, asBatches), name)

		rows := readJSON(t, spark)
		slices.Sort(rows)
		for _, tbl := range []*Table{asJSON, asBatches} {
			got := readJSON(t, tbl)
			slices.Sort(got)
			require.Equal(t, rows, got, name)
			require.NoError(t, tbl.Verify(bg))
		}
	}
}

func specLike(t *testing.T, tbl *Table) TableSpec {
	t.Helper()
	var spec TableSpec
	for _, f := range tbl.Schema().Fields() {
		spec.Columns = append(spec.Columns, Column{Name: f.Name, Type: f.Type, Required: f.Required})
	}
	parts := tbl.Unwrap().Spec()
	for _, p := range parts.Fields() {
		source, ok := tbl.Schema().FindColumnName(p.SourceID())
		require.True(t, ok)
		spec.Partition = append(spec.Partition, PartitionField{Source: source, Transform: p.Transform, Name: p.Name})
	}
	return spec
}

func TestParsePartition(t *testing.T) {
	fields, err := ParsePartition("a, bucket(16, id),day(ts),truncate(4,name),year(d)")
	require.NoError(t, err)
	var got []string
	for _, f := range fields {
		text := "identity"
		if f.Transform != nil {
			text = f.Transform.String()
		}
		got = append(got, f.Source+" "+text)
	}
	require.Equal(t, []string{"a identity", "id bucket[16]", "ts day", "name truncate[4]", "d year"}, got)
	for _, bad := range []string{"", "a,,b", "bucket(x,id)", "bucket(0,id)", "day(ts", "nope(ts)", "bucket(-1,a)"} {
		_, err := ParsePartition(bad)
		require.ErrorIs(t, err, ErrInvalid, bad)
	}
}

func TestParseTypes(t *testing.T) {
	for text, want := range map[string]string{
		"BIGINT": "long", " decimal( 9 , 2 ) ": "decimal(9, 2)", "timestamp_ntz": "timestamp", "timestamp": "timestamptz",
		"array<map<string,struct<`a b`:int,c:variant>>>": "list<map<string, struct<0: a b: optional int, 0: c: optional variant>>>",
		"fixed(3)": "fixed[3]", "tinyint": "int",
	} {
		got, err := ParseType(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String())
	}
	for _, bad := range []string{"", "in", "decimal", "decimal(39,0)", "decimal(2,3)", "array<int", "array<>", "map<int>", "struct<>", "struct<a>", "int x", "fixed(-1)", "decimal(1,2,3)"} {
		_, err := ParseType(bad)
		require.ErrorIs(t, err, ErrInvalid, bad)
	}
	deep := ""
	for range 10_000 {
		deep += "array<"
	}
	_, err := ParseType(deep)
	require.ErrorIs(t, err, ErrInvalid)
	_, err = ParseColumns("a:int,b")
	require.ErrorIs(t, err, ErrInvalid)
}

// A table partitioned by a field of a struct could be created and not written.
func TestPartitionByNestedField(t *testing.T) {
	cat := newCatalog(t)
	cols, err := ParseColumns("id bigint, s struct<region:string,at:struct<day:date>>")
	require.NoError(t, err)
	parts, err := ParsePartition("s.region, month(s.at.day)")
	require.NoError(t, err)
	tbl, err := cat.Create(bg, "ns.t", TableSpec{Columns: cols, Partition: parts})
	require.NoError(t, err)
	rows := []string{
		`{"id":1,"s":{"region":"EU","at":{"day":"2026-07-01"}}}`,
		`{"id":2,"s":{"region":"EU","at":{"day":"2026-07-31"}}}`,
		`{"id":3,"s":{"region":"US","at":{"day":null}}}`,
		`{"id":4,"s":null}`,
		`{"id":5,"s":{"region":null,"at":null}}`,
	}
	c := appendRows(t, tbl, append(rows, `{"id":6,"s":{"region":"EU","at":{}}}`, `{"id":7}`)...)
	require.Len(t, c.Files, 4)
	require.ElementsMatch(t, append(rows, `{"id":6,"s":{"region":"EU","at":{"day":null}}}`, `{"id":7,"s":null}`), readJSON(t, tbl))
	require.Equal(t, map[int]any{1000: "EU", 1001: int32(678)}, c.Files[0].Partition())
	require.Equal(t, int64(2), c.Files[0].Count())

	// The same rows as Arrow batches, sliced, go to the same partitions.
	scan, err := tbl.Scan(bg, ScanOptions{})
	require.NoError(t, err)
	w, err := tbl.NewAppender(bg, AppendOptions{})
	require.NoError(t, err)
	for batch, err := range scan.Batches(bg) {
		require.NoError(t, err)
		for i := range batch.NumRows() {
			part := batch.NewSlice(i, i+1)
			require.NoError(t, w.WriteBatch(part))
			part.Release()
		}
		batch.Release()
	}
	again, err := w.Commit(bg)
	require.NoError(t, err)
	require.Len(t, again.Files, 4)
	for i := range c.Files {
		require.Equal(t, c.Files[i].Count(), again.Files[i].Count())
		require.Equal(t, c.Files[i].Partition(), again.Files[i].Partition())
	}

	// Partitions prune, and whole ones go without a look at their rows.
	require.Len(t, scanJSON(t, tbl, ScanOptions{Where: where(t, "s.region = 'US'")}), 2)
	deleteRows(t, tbl, "s.region = 'EU'")
	require.Len(t, readJSON(t, tbl), 8)

	_, err = cat.Create(bg, "ns.bad", TableSpec{Columns: append(cols, Column{Name: "l", Type: &ice.ListType{ElementID: 9, Element: ice.Int32Type{}}}), Partition: []PartitionField{{Source: "l.element"}}})
	require.ErrorIs(t, err, ErrInvalid)
}

// Missing fields of a struct with defaults are partitioned by them.
func TestPartitionByNestedDefault(t *testing.T) {
	cat := newCatalog(t)
	fields := []ice.NestedField{{ID: 3, Name: "r", Type: ice.StringType{}, WriteDefault: "EU"}}
	tbl, err := cat.Create(bg, "ns.t", TableSpec{
		Columns:   []Column{{Name: "id", Type: ice.Int64Type{}}, {Name: "s", Type: &ice.StructType{FieldList: fields}, Default: map[string]any{}}},
		Partition: []PartitionField{{Source: "s.r"}},
	})
	require.NoError(t, err)
	c := appendRows(t, tbl, `{"id":1}`, `{"id":2,"s":{}}`, `{"id":3,"s":{"r":"EU"}}`, `{"id":4,"s":null}`)
	require.Len(t, c.Files, 2)
	require.Equal(t, "EU", c.Files[0].Partition()[1000])
	require.Equal(t, int64(3), c.Files[0].Count())
}

// Columns whose names manifests cannot hold as they are can be partitioned by.
func TestPartitionByOddNames(t *testing.T) {
	for _, name := range []string{"a-b", "1st", "größe", "a b", "x/y", "k=v"} {
		cat := newCatalog(t)
		tbl, err := cat.Create(bg, "ns.t", TableSpec{
			Columns:   []Column{{Name: name, Type: ice.StringType{}}},
			Partition: []PartitionField{{Source: name}, {Source: name, Transform: ice.BucketTransform{NumBuckets: 4}}},
		})
		require.NoError(t, err, name)
		row := fmt.Sprintf(`{%q:"v/=%%20ä"}`, name)
		appendRows(t, tbl, row)
		require.Equal(t, []string{row}, readJSON(t, tbl))
		deleteRows(t, tbl, "TRUE")
		require.Empty(t, readJSON(t, tbl))
	}
}

// iceberg-go writes a bound that is an empty text as none, and takes a manifest
// without bounds for one without values: scans of a table partitioned by texts
// missed rows when one of the texts was empty. They find them also in lists as
// iceberg-go writes them.
func TestEmptyTextAsPartitionIsFound(t *testing.T) {
	for _, partition := range []string{"s", "truncate(1,s)"} {
		cat := newCatalog(t)
		tbl := newTable(t, cat, "id bigint, s string", partition)
		appendRows(t, tbl, `{"id":1,"s":""}`, `{"id":2,"s":"x"}`, `{"id":3,"s":"y"}`)
		appendRows(t, tbl, `{"id":4,"s":""}`, `{"id":5}`)
		appendRows(t, tbl, `{"id":6}`)
		written := listBytes(t, tbl)
		for _, list := range [][]byte{written, unbounded(t, written)} {
			fs, err := tbl.FS(bg)
			require.NoError(t, err)
			require.NoError(t, fs.(iceio.WriteFileIO).WriteFile(tbl.Unwrap().CurrentSnapshot().ManifestList, list))
			tbl, err = cat.Load(bg, "ns.t")
			require.NoError(t, err)
			for text, want := range map[string]string{
				"s = 'x'": "2", "s = ''": "1 4", "s < 'y'": "1 2 4", "s IN ('', 'y')": "1 3 4",
				"s IS NOT NULL": "1 2 3 4", "s IS NULL": "5 6", "s LIKE 'y%'": "3",
			} {
				require.Equal(t, want, sortedIDs(idsWhere(t, tbl, text)), "%s partitioned by %s", text, partition)
			}
		}
		deleteRows(t, tbl, "s <= 'x'")
		require.Equal(t, "3 5 6", sortedIDs(idsWhere(t, tbl, "true")))
	}
}
