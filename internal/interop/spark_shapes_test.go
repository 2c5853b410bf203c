//go:build interop

package interop

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
)

// TestSparkReadsNestedVariants: Variants inside structs, lists and maps.
func TestSparkReadsNestedVariants(t *testing.T) {
	dir, cat := warehouse(t)
	s := startSpark(t, dir)
	works(t, spark, "reads Variants inside structs, lists and maps, and adds to them")
	const name = "demo.nested"
	tbl, err := cat.Create(t.Context(), name, iceberg.TableSpec{Columns: columns(t, "id:bigint,s:struct<a:int,doc:variant>,l:array<variant>,m:map<string,variant>")})
	require.NoError(t, err)
	appendRows(t, tbl,
		`{"id":1,"s":{"a":1,"doc":{"x":1.5,"y":["p",null]}},"l":[1,"two",null,{"k":[]}],"m":{"k":{"deep":{"er":true}}}}`,
		`{"id":2,"s":{"a":null,"doc":null},"l":[],"m":{}}`,
		`{"id":3}`)
	requireSameRows(t, scanRows(t, tbl), s.query(t, rowsOf(name)))
	s.exec(t, "insert into "+name+` select 4, named_struct('a', 2, 'doc', parse_json('{"x":[1,2]}')), array(parse_json('"t"')), map('m', parse_json('2.25'))`)
	requireSameRows(t, s.query(t, rowsOf(name)), scanRows(t, tbl))
	require.Len(t, scanRows(t, tbl), 4)
}

// TestSparkUpgradesTables: a table that Spark makes as format 2, with position
// deletes, and upgrades to 3; we add a Variant column and change rows of both times.
func TestSparkUpgradesTables(t *testing.T) {
	dir, cat := warehouse(t)
	s := startSpark(t, dir)
	works(t, spark, "makes tables of format 2 with position deletes and upgrades them; we go on writing")
	const name = "demo.upgraded"
	s.exec(t, "create namespace demo",
		"create table "+name+" (id bigint, name string) tblproperties ('format-version'='2', 'write.delete.mode'='merge-on-read')",
		"insert into "+name+" select id, 'n' || id from range(0, 20, 1, 1)",
		"delete from "+name+" where id in (3, 4)",
		"alter table "+name+" set tblproperties ('format-version'='3')",
		"insert into "+name+" values (100, 'of three')")
	tbl, err := cat.Load(t.Context(), name)
	require.NoError(t, err)
	same := func(rows int) {
		t.Helper()
		requireSameRows(t, s.query(t, rowsOf(name)+" order by id"), byID(t, scanRows(t, tbl)))
		require.Len(t, scanRows(t, tbl), rows)
	}
	same(19)
	require.NoError(t, tbl.AddColumn(t.Context(), "", iceberg.Column{Name: "doc", Type: columns(t, "d:variant")[0].Type}))
	appendRows(t, tbl, `{"id":101,"doc":{"a":[1,{"b":2.5}]}}`)
	same(20)
	_, err = tbl.Delete(t.Context(), where(t, "id = 5 OR id = 100"), iceberg.WriteOptions{})
	require.NoError(t, err)
	same(18)
	s.exec(t, "delete from "+name+" where id < 2")
	same(16)
	require.NoError(t, tbl.Verify(t.Context()))
}

// TestSparkAndBranches: what either writes on a branch is the same to the other, and
// main stays as it is.
func TestSparkAndBranches(t *testing.T) {
	dir, cat := warehouse(t)
	s := startSpark(t, dir)
	works(t, spark, "makes, reads and writes branches and tags that we read and write")
	const name = "demo.branched"
	tbl, err := cat.Create(t.Context(), name, iceberg.TableSpec{Columns: columns(t, "id:bigint,doc:variant")})
	require.NoError(t, err)
	appendRows(t, tbl, `{"id":1,"doc":{"a":1}}`)
	s.exec(t, "alter table "+name+" create branch audit", "alter table "+name+" create tag one",
		"insert into "+name+`.branch_audit select 2, parse_json('{"a":2}')`)
	require.NoError(t, tbl.Refresh(t.Context()))
	_, err = tbl.AppendJSON(t.Context(), lines(`{"id":3,"doc":[3]}`), iceberg.AppendOptions{ByName: true, Branch: "audit"})
	require.NoError(t, err)
	_, err = tbl.Delete(t.Context(), where(t, "id = 1"), iceberg.WriteOptions{Branch: "audit"})
	require.NoError(t, err)
	for ref, rows := range map[string]int{"audit": 2, "main": 1, "one": 1} {
		theirs := s.query(t, "select * from "+name+" version as of '"+ref+"'")
		require.Len(t, theirs, rows, ref)
		requireSameSet(t, theirs, readRows(t, tbl, iceberg.ScanOptions{Ref: ref}))
	}
}

// TestSparkPartitionsAlike: the same rows, written by both, are in the same
// partitions, for every transform.
func TestSparkPartitionsAlike(t *testing.T) {
	dir, cat := warehouse(t)
	s := startSpark(t, dir)
	works(t, spark, "puts rows into the partitions that we put them into, for every transform")
	for i, part := range []string{
		"bucket(7,id),truncate(2,name),month(at)", "id,bucket(5,name),day(at),truncate(50,n)", "truncate(10,id),bucket(3,n),hour(at),day", "year(at),name",
	} {
		t.Run(part, func(t *testing.T) {
			name := fmt.Sprintf("demo.part_%d", i)
			fields, err := iceberg.ParsePartition(part)
			require.NoError(t, err)
			tbl, err := cat.Create(t.Context(), name, iceberg.TableSpec{Columns: columns(t, "id:bigint,name:string,at:timestamp,day:date,n:decimal(9,2)"), Partition: fields})
			require.NoError(t, err)
			appendRows(t, tbl,
				`{"id":-11,"name":"naïve","at":"1969-12-31T23:59:59.999999Z","day":"1969-12-31","n":"-0.01"}`,
				`{"id":7,"name":"漢字 text","at":"2026-07-01T12:30:00Z","day":"2026-07-01","n":"123456.78"}`,
				`{"id":25,"name":"","at":"1970-01-01T00:00:00Z","day":"1970-01-01","n":"0.00"}`,
				`{}`)
			ours := s.query(t, "select partition, record_count from "+name+".partitions")
			s.exec(t, "insert into "+name+" select * from "+name)
			both := s.query(t, "select partition, cast(record_count / 2 as bigint) as record_count from "+name+".partitions where record_count % 2 = 0")
			requireSameSet(t, ours, both)
			require.NoError(t, tbl.Refresh(t.Context()))
			// Spark's JSON has no microseconds, so the timestamp stays out.
			requireSameRows(t, s.query(t, "select id, name, day, n, _row_id, _last_updated_sequence_number from "+name),
				readRows(t, tbl, iceberg.ScanOptions{Columns: []string{"id", "name", "day", "n"}, Lineage: true}))
		})
	}
}

// byID orders rows, given as JSON texts, by their column id.
func byID(t *testing.T, rows []string) []string {
	t.Helper()
	return sortedBy(t, rows, "id")
}
