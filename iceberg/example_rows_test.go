package iceberg_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/variant"
)

// trades makes a small table in a temporary warehouse.
func trades(ctx context.Context) (*iceberg.Table, func()) {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	cat, err := iceberg.OpenWarehouse(ctx, dir)
	check(err)
	cols, err := iceberg.ParseColumns("id:string,notional:double,vec:variant")
	check(err)
	t, err := cat.Create(ctx, "risk.trades", iceberg.TableSpec{Columns: cols})
	check(err)
	lines := `{"id":"T1","notional":60e6,"vec":{"model":"SABR","greeks":{"delta":0.25}}}
{"id":"T2","notional":1e6,"vec":{"model":"HullWhite","dv01":-12.5}}
{"id":"T3","notional":30e6,"vec":{"model":"SABR","greeks":{"delta":-0.5}}}`
	_, err = t.AppendJSON(ctx, iceberg.JSONLines(strings.NewReader(lines)), iceberg.AppendOptions{})
	check(err)
	return t, func() {
		check(cat.Close())
		check(os.RemoveAll(dir))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// show prints the rows of a scan.
func show(ctx context.Context, t *iceberg.Table, opts iceberg.ScanOptions) {
	scan, err := t.Scan(ctx, opts)
	check(err)
	render := iceberg.NewRenderer(scan.Schema())
	for batch, err := range scan.Batches(ctx) {
		check(err)
		check(render.Bind(batch))
		for i := range int(batch.NumRows()) {
			row, err := render.AppendRow(nil, i)
			check(err)
			fmt.Println(string(row))
		}
		batch.Release()
	}
}

func ExampleTable_Scan() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	path, err := variant.ParsePath("$.greeks.delta")
	check(err)
	typ, err := variant.ParseType("double")
	check(err)
	where, err := iceberg.ParseWhere("notional > 10e6 AND variant_get(vec, '$.model', 'string') = 'SABR'")
	check(err)
	show(ctx, t, iceberg.ScanOptions{
		Columns:     []string{"id"},
		Extractions: []iceberg.Extraction{{Name: "delta", Column: "vec", Path: path, Type: typ}},
		Where:       where,
	})
	// Output:
	// {"id":"T1","delta":0.25}
	// {"id":"T3","delta":-0.5}
}

func ExampleTable_Delete() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	where, err := iceberg.ParseWhere("id = 'T2'")
	check(err)
	c, err := t.Delete(ctx, where, iceberg.WriteOptions{})
	check(err)
	fmt.Println(c.Deleted, "row,", len(c.Vectors), "deletion vector")
	show(ctx, t, iceberg.ScanOptions{Columns: []string{"id"}})
	// Output:
	// 1 row, 1 deletion vector
	// {"id":"T1"}
	// {"id":"T3"}
}

func ExampleTable_Update() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	set, err := iceberg.ParseSet("notional = 2.5e6")
	check(err)
	where, err := iceberg.ParseWhere("id = 'T2'")
	check(err)
	_, err = t.Update(ctx, []iceberg.Assignment{set, iceberg.SetJSON("vec", `{"dv01":-13}`)}, where, iceberg.WriteOptions{})
	check(err)
	show(ctx, t, iceberg.ScanOptions{Where: where, Lineage: true})
	// Output:
	// {"id":"T2","notional":2500000.0,"vec":{"dv01":-13},"_row_id":1,"_last_updated_sequence_number":2}
}

func ExampleTable_MergeJSON() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	lines := `{"id":"T3","notional":31e6}
{"id":"T4","notional":5e6,"vec":{"model":"BlackScholes"}}`
	c, err := t.MergeJSON(ctx, iceberg.JSONLines(strings.NewReader(lines)), iceberg.MergeOptions{On: []string{"id"}})
	check(err)
	fmt.Println(c.Updated, "updated,", c.Inserted, "inserted")
	where, err := iceberg.ParseWhere("id >= 'T3'")
	check(err)
	show(ctx, t, iceberg.ScanOptions{Where: where})
	// Output:
	// 1 updated, 1 inserted
	// {"id":"T3","notional":31000000.0,"vec":{"greeks":{"delta":-0.5},"model":"SABR"}}
	// {"id":"T4","notional":5000000.0,"vec":{"model":"BlackScholes"}}
}

func ExampleParseWhere() {
	e, err := iceberg.ParseWhere("desk = 'FX' and not (notional between 1 and 10 or region is null)")
	check(err)
	fmt.Println(e)
	_, err = iceberg.ParseWhere("desk = = 'FX'")
	fmt.Println(err)
	// Output:
	// (desk = 'FX' AND NOT (((notional >= 1 AND notional <= 10) OR region IS NULL)))
	// predicate "desk = = 'FX'" at 7: "=" where a column or a literal is expected
}
