//go:build interop

package interop

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/internal/tradegen"
)

// rowsOf is how Spark is asked for what scanRows gives.
func rowsOf(name string) string {
	return "select *, _row_id, _last_updated_sequence_number from " + name
}

func lines(rows ...string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range rows {
			if !yield([]byte(r), nil) {
				return
			}
		}
	}
}

func appendRows(t *testing.T, tbl *iceberg.Table, rows ...string) {
	t.Helper()
	_, err := tbl.AppendJSON(context.Background(), lines(rows...), iceberg.AppendOptions{ByName: true})
	require.NoError(t, err)
}

func where(t *testing.T, text string) iceberg.Expr {
	t.Helper()
	e, err := iceberg.ParseWhere(text)
	require.NoError(t, err)
	return e
}

func columns(t *testing.T, text string) []iceberg.Column {
	t.Helper()
	c, err := iceberg.ParseColumns(text)
	require.NoError(t, err)
	return c
}

// tradesTable makes a table as the pipeline does and fills it with n trades.
func tradesTable(t *testing.T, cat *iceberg.Catalog, name string, n int, unshredded bool) *iceberg.Table {
	t.Helper()
	cols := columns(t, "trade_id:string,book_id:string,desk:string,asset_class:string,execution_time:string,"+
		"pricing_vector:variant,risk_weight:double,trade_date:date,region:string")
	cols[3].Default, cols[6].Default, cols[8].Default = "UNKNOWN", 1.0, "EMEA"
	part, err := iceberg.ParsePartition("trade_date,asset_class")
	require.NoError(t, err)
	tbl, err := cat.Create(context.Background(), name, iceberg.TableSpec{Columns: cols, Partition: part, Unshredded: unshredded})
	require.NoError(t, err)
	gen := tradegen.New(11, tradegen.Options{})
	rows := make([]string, n)
	for i := range rows {
		event, _ := gen.AppendNext(nil)
		rows[i] = string(event)
	}
	appendRows(t, tbl, rows...)
	return tbl
}

// TestSparkReadsOurTables: rows, row ids and sequence numbers of tables that we
// append to, update, delete from, merge into and evolve are the same in Spark.
func TestSparkReadsOurTables(t *testing.T) {
	dir, cat := warehouse(t)
	ctx := context.Background()
	s := startSpark(t, dir)
	works(t, spark, "reads our tables, shredded and plain, after append, delete, update and merge: rows, row ids, sequence numbers")
	for _, unshredded := range []bool{false, true} {
		name := fmt.Sprintf("risk.trades_%t", unshredded)
		tbl := tradesTable(t, cat, name, 1500, unshredded)
		requireSameRows(t, scanRows(t, tbl), s.query(t, rowsOf(name)))

		_, err := tbl.Delete(ctx, where(t, "desk = 'FXO' AND region IS NOT NULL"), iceberg.WriteOptions{})
		require.NoError(t, err)
		set, err := iceberg.ParseSet("risk_weight = 2.5")
		require.NoError(t, err)
		_, err = tbl.Update(ctx, []iceberg.Assignment{set}, where(t, "variant_get(pricing_vector, '$.model', 'string') = 'SABR'"), iceberg.WriteOptions{})
		require.NoError(t, err)
		requireSameRows(t, scanRows(t, tbl), s.query(t, rowsOf(name)))

		_, err = tbl.MergeJSON(ctx, lines(
			`{"trade_id":"new-1","desk":"EQD","trade_date":"2026-07-01","pricing_vector":{"model":"X","spot":1.25}}`,
			`{"trade_id":"new-2","asset_class":"FX","trade_date":null,"pricing_vector":[1,"a",null]}`,
		), iceberg.MergeOptions{On: []string{"trade_id"}})
		require.NoError(t, err)
		requireSameRows(t, scanRows(t, tbl), s.query(t, rowsOf(name)))
	}
}

// TestSparkReadsEvolvedTables: defaults, renames, wider types and dropped columns.
func TestSparkReadsEvolvedTables(t *testing.T) {
	dir, cat := warehouse(t)
	ctx := context.Background()
	s := startSpark(t, dir)
	works(t, spark, "reads defaults, renamed, widened, dropped and added columns")
	tbl, err := cat.Create(ctx, "demo.evolved", iceberg.TableSpec{Columns: columns(t, "id:int,price:float,name:string,doc:variant")})
	require.NoError(t, err)
	appendRows(t, tbl, `{"id":1,"price":1.5,"name":"a","doc":{"x":1}}`, `{"id":2,"price":2.5,"name":"b","doc":null}`)
	require.NoError(t, tbl.AddColumn(ctx, "", iceberg.Column{Name: "region", Type: columns(t, "r:string")[0].Type, Default: "EMEA"}))
	appendRows(t, tbl, `{"id":3,"price":3.5,"name":"c","doc":[1.50,{"y":"z"}]}`)
	require.NoError(t, tbl.SetDefault(ctx, "region", "AMER"))
	require.NoError(t, tbl.RenameColumn(ctx, "name", "label"))
	require.NoError(t, tbl.WidenColumn(ctx, "id", columns(t, "i:bigint")[0].Type))
	require.NoError(t, tbl.WidenColumn(ctx, "price", columns(t, "p:double")[0].Type))
	appendRows(t, tbl, `{"id":5000000000,"price":1e300,"label":"d"}`)
	require.NoError(t, tbl.DropColumn(ctx, "label"))
	require.NoError(t, tbl.AddColumn(ctx, "", iceberg.Column{Name: "label", Type: columns(t, "l:bigint")[0].Type, Default: 9}))
	appendRows(t, tbl, `{"id":6,"doc":"text"}`)
	requireSameRows(t, scanRows(t, tbl), s.query(t, rowsOf("demo.evolved")))
}

// TestSparkGoesOnWriting: Spark deletes, updates, merges, appends and compacts a
// table of ours, we change it in between, and both read the same after each.
func TestSparkGoesOnWriting(t *testing.T) {
	dir, cat := warehouse(t)
	ctx := context.Background()
	s := startSpark(t, dir)
	works(t, spark, "deletes from, updates, appends to, merges into and compacts our tables, which we read and change in between")
	const name = "risk.shared"
	tbl := tradesTable(t, cat, name, 800, false)
	same := func() {
		t.Helper()
		requireSameRows(t, s.query(t, rowsOf(name)), scanRows(t, tbl))
		require.NoError(t, tbl.Verify(ctx))
	}
	for _, step := range []string{
		"delete from " + name + " where desk = 'EQD'",
		"update " + name + " set risk_weight = 3.5 where region = 'APAC'",
		"insert into " + name + " select 'spark-' || id, 'BK1', 'RATES', 'RATES', 't', parse_json('{\"dv01\":' || id || '.5}'), 1.0, date'2026-07-02', 'EMEA' from range(50)",
		"merge into " + name + " t using (select 'spark-' || id as trade_id from range(10)) u on t.trade_id = u.trade_id when matched then delete",
	} {
		s.exec(t, step)
		same()
		_, err := tbl.Delete(ctx, where(t, "trade_id LIKE '%"+fmt.Sprint(len(step)%10)+"'"), iceberg.WriteOptions{})
		require.NoError(t, err)
		same()
	}
	before := scanRows(t, tbl)
	s.exec(t, "call "+catalogName+".system.rewrite_data_files(table => '"+name+"', options => map('rewrite-all','true'))")
	requireSameRows(t, before, scanRows(t, tbl))
	same()
}

// TestRealDocumentsThroughSpark: every real document is the same JSON after
// JSON -> our table -> Spark's to_json, and after -> Spark's own table -> our scan.
func TestRealDocumentsThroughSpark(t *testing.T) {
	docs := documents(t, spark)
	dir, cat := warehouse(t)
	s := startSpark(t, dir)
	works(t, spark, "gives real documents back as the same JSON, from our tables and from its own")
	notName := regexp.MustCompile(`\W+`)
	for file, texts := range docs {
		t.Run(file, func(t *testing.T) {
			name := "docs.d_" + notName.ReplaceAllString(file, "_")
			tbl, err := cat.Create(context.Background(), name, iceberg.TableSpec{Columns: columns(t, "doc:variant")})
			require.NoError(t, err)
			var rows, want []string
			for i, text := range texts {
				rows = append(rows, string(text))
				want = append(want, fmt.Sprintf(`{"doc":%s,"_row_id":%d,"_last_updated_sequence_number":1}`, strings.TrimSpace(string(text)), i))
			}
			_, err = tbl.AppendJSON(context.Background(), lines(rows...), iceberg.AppendOptions{})
			require.NoError(t, err)
			requireSameRows(t, want, scanRows(t, tbl))
			requireSameRows(t, want, s.query(t, rowsOf(name)))

			name += "_theirs"
			s.exec(t, "create table "+name+" tblproperties ('format-version'='3', 'write.parquet.shred-variants'='true')"+
				" as select /*+ COALESCE(1) */ doc from "+strings.TrimSuffix(name, "_theirs"))
			theirs, err := cat.Load(context.Background(), name)
			require.NoError(t, err)
			requireSameRows(t, want, scanRows(t, theirs))
		})
	}
}
