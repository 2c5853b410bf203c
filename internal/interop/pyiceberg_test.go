//go:build interop

package interop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
)

// pyTable is a table of a warehouse, opened by pyiceberg's SqlCatalog.
type pyTable struct{ py, dir, name string }

func (p pyTable) run(t *testing.T, args ...string) ([]string, error) {
	t.Helper()
	out, err := tryOutput(t, p.py, append([]string{"testdata/pyiceberg_table.py", p.dir, catalogName, p.name}, args...)...)
	return outputLines(out), err
}

func (p pyTable) must(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := p.run(t, args...)
	require.NoError(t, err)
	return out
}

// plainRows reads a table as JSON texts, without lineage, in the order of the texts.
func plainRows(t *testing.T, tbl *iceberg.Table) []string {
	t.Helper()
	require.NoError(t, tbl.Refresh(t.Context()))
	return readRows(t, tbl, iceberg.ScanOptions{})
}

// TestPyicebergReadsOurTables: a table without Variant, evolved, partitioned and with
// defaults, is the same in pyiceberg, and so are its schema and defaults.
func TestPyicebergReadsOurTables(t *testing.T) {
	p := pyTable{py: python(t, pyiceberg, "pyiceberg", pyicebergPackage), name: "demo.plain"}
	works(t, pyiceberg, "reads our tables without Variant: defaults, partitions, renamed and widened columns")
	dir, cat := warehouse(t)
	p.dir = dir
	ctx := t.Context()
	part, err := iceberg.ParsePartition("day,bucket(4,id)")
	require.NoError(t, err)
	tbl, err := cat.Create(ctx, p.name, iceberg.TableSpec{Columns: columns(t, "id:int,price:float,name:string,day:date,n:decimal(9,2)"), Partition: part})
	require.NoError(t, err)
	appendRows(t, tbl, `{"id":1,"price":1.5,"name":"a","day":"2026-07-01","n":"1.50"}`, `{"id":2,"price":2.5,"name":"b"}`)
	require.NoError(t, tbl.AddColumn(ctx, "", iceberg.Column{Name: "region", Type: columns(t, "r:string")[0].Type, Default: "EMEA"}))
	require.NoError(t, tbl.SetDefault(ctx, "region", "AMER"))
	require.NoError(t, tbl.RenameColumn(ctx, "name", "label"))
	require.NoError(t, tbl.WidenColumn(ctx, "id", columns(t, "i:bigint")[0].Type))
	require.NoError(t, tbl.WidenColumn(ctx, "price", columns(t, "p:double")[0].Type))
	appendRows(t, tbl, `{"id":5000000000,"price":1e300,"label":"d","day":"2026-07-02"}`)
	requireSameSet(t, plainRows(t, tbl), p.must(t, "read"))
	require.Contains(t, p.must(t, "schema"), `[6, "region", "string", "EMEA", "AMER"]`)
}

// TestPyicebergCannot: what this version refuses, with its words. When one of these
// works, the table of engines has to say so.
func TestPyicebergCannot(t *testing.T) {
	p := pyTable{py: python(t, pyiceberg, "pyiceberg", pyicebergPackage), name: "demo.variant"}
	fails(t, pyiceberg, "opens tables with a Variant", "\"Unsupported field type: 'variant'\"")
	fails(t, pyiceberg, "appends to format 3, or changes its schema", "\"Writing V3 is not yet supported\"")
	dir, cat := warehouse(t)
	p.dir = dir
	tbl, err := cat.Create(t.Context(), p.name, iceberg.TableSpec{Columns: columns(t, "id:bigint,doc:variant")})
	require.NoError(t, err)
	appendRows(t, tbl, `{"id":1,"doc":{"a":1}}`)
	_, err = p.run(t, "read")
	require.ErrorContains(t, err, "Unsupported field type: 'variant'")

	p.name = "demo.plain"
	tbl, err = cat.Create(t.Context(), p.name, iceberg.TableSpec{Columns: columns(t, "id:bigint,name:string")})
	require.NoError(t, err)
	appendRows(t, tbl, `{"id":1,"name":"a"}`, `{"id":2,"name":"b"}`)
	_, err = p.run(t, "append", `[{"id":3,"name":"c"}]`)
	require.ErrorContains(t, err, "Cannot write manifest for table version: 3")
	_, err = p.run(t, "rename", "name", "label")
	require.ErrorContains(t, err, "Writing V3 is not yet supported")
	require.Len(t, plainRows(t, tbl), 2, "a refused commit leaves the table as it was")
	require.NoError(t, tbl.Verify(t.Context()))
}

// TestPyicebergReadsDeletes: rows that our deletion vectors mark are gone.
func TestPyicebergReadsDeletes(t *testing.T) {
	p := pyTable{py: python(t, pyiceberg, "pyiceberg", pyicebergPackage), name: "demo.deleted"}
	works(t, pyiceberg, "reads our deletion vectors")
	dir, cat := warehouse(t)
	p.dir = dir
	tbl, err := cat.Create(t.Context(), p.name, iceberg.TableSpec{Columns: columns(t, "id:bigint,name:string")})
	require.NoError(t, err)
	appendRows(t, tbl, `{"id":1,"name":"a"}`, `{"id":2,"name":"b"}`, `{"id":3,"name":"c"}`)
	_, err = tbl.Delete(t.Context(), where(t, "id = 2"), iceberg.WriteOptions{})
	require.NoError(t, err)
	requireSameSet(t, plainRows(t, tbl), p.must(t, "read"))
}

// TestWeReadPyicebergTables: a table of format 2 that pyiceberg makes in our catalog,
// appends to, deletes from and evolves is the same to us, and we go on writing it.
func TestWeReadPyicebergTables(t *testing.T) {
	p := pyTable{py: python(t, pyiceberg, "pyiceberg", pyicebergPackage), name: "demo.theirs"}
	works(t, pyiceberg, "writes tables of format 2 in our catalog, which we read and append to")
	dir, cat := warehouse(t)
	p.dir = dir
	first, err := cat.Create(t.Context(), "demo.ours", iceberg.TableSpec{Columns: columns(t, "id:bigint")})
	require.NoError(t, err)
	appendRows(t, first, `{"id":1}`) // so that the namespace is there
	p.must(t, "create", `[{"id":1,"name":"a","x":1.5,"tags":["p","q"]},{"id":2,"name":null,"x":2.5,"tags":[]}]`)
	tbl, err := cat.Load(t.Context(), p.name)
	require.NoError(t, err)
	same := func() {
		t.Helper()
		requireSameSet(t, p.must(t, "read"), plainRows(t, tbl))
	}
	same()
	p.must(t, "append", `[{"id":3,"name":"c","x":null,"tags":null}]`)
	same()
	p.must(t, "delete", "id = 1")
	same()
	p.must(t, "rename", "name", "label")
	same()
	appendRows(t, tbl, `{"id":4,"label":"ours","x":0.5,"tags":["z"]}`)
	same()
	require.Len(t, plainRows(t, tbl), 3)
}
