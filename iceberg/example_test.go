package iceberg_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/iceberg"
)

// exampleTable makes a table in a new warehouse, which cleanup removes.
func exampleTable(ctx context.Context) (t *iceberg.Table, cleanup func()) {
	dir, err := os.MkdirTemp("", "frazil")
	if err != nil {
		log.Fatal(err)
	}
	cat, err := iceberg.OpenWarehouse(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	t, err = cat.Create(ctx, "risk.trades", iceberg.TableSpec{
		Columns: []iceberg.Column{
			{Name: "id", Type: ice.StringType{}},
			{Name: "region", Type: ice.StringType{}, Default: "EMEA"},
			{Name: "vector", Type: ice.VariantType{}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	return t, func() {
		_ = cat.Close()
		_ = os.RemoveAll(dir)
	}
}

func lines(rows ...string) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		for _, r := range rows {
			if !yield([]byte(r), nil) {
				return
			}
		}
	}
}

func ExampleCatalog_Create() {
	ctx := context.Background()
	t, cleanup := exampleTable(ctx)
	defer cleanup()
	fmt.Println(t.Name())
	for _, f := range t.Schema().Fields() {
		fmt.Println(f.Name, f.Type, f.WriteDefault)
	}
	fmt.Println(t.Properties()["write.parquet.shred-variants"])
	// Output:
	// risk.trades
	// id string <nil>
	// region string EMEA
	// vector variant <nil>
	// true
}

func ExampleTable_AppendJSON() {
	ctx := context.Background()
	t, cleanup := exampleTable(ctx)
	defer cleanup()
	c, err := t.AppendJSON(ctx, lines(
		`{"id":"T1","vector":{"model":"SABR","dv01":12.5}}`,
		`{"id":"T2","region":"APAC","vector":{"model":"HullWhite","dv01":-3.25}}`,
	), iceberg.AppendOptions{Summary: map[string]string{"job": "example"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Rows, "rows in", len(c.Files), "file")
	info, err := t.Inspect(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Snapshots[0].Operation, info.Snapshots[0].Summary["job"])
	fmt.Println(info.DataFiles[0].Shredded["vector"])
	// Output:
	// 2 rows in 1 file
	// append example
	// struct<dv01 decimal(9,2), model string>
}

// A row that does not fit goes to the caller's function, or ends the append.
func ExampleAppender() {
	ctx := context.Background()
	t, cleanup := exampleTable(ctx)
	defer cleanup()
	w, err := t.NewAppender(ctx, iceberg.AppendOptions{
		Reject: func(line int64, raw []byte, err error) error {
			fmt.Println("rejected:", err)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range []string{`{"id":"T1"}`, `{"id":2}`, `{"id":"T3"}`} {
		if err := w.WriteJSON([]byte(row)); err != nil {
			log.Fatal(err)
		}
	}
	c, err := w.Commit(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Rows, "rows,", c.Rejected, "rejected")
	// Output:
	// rejected: line 2, column "id": "2" does not fit string
	// 2 rows, 1 rejected
}

func ExampleTable_AddColumn() {
	ctx := context.Background()
	t, cleanup := exampleTable(ctx)
	defer cleanup()
	err := t.AddColumn(ctx, "", iceberg.Column{Name: "weight", Type: ice.Float64Type{}, Default: 1.0})
	if err != nil {
		log.Fatal(err)
	}
	f, _ := t.Schema().FindFieldByName("weight")
	fmt.Println("rows before it read", f.InitialDefault, "and new ones without it get", f.WriteDefault)
	err = t.AddColumn(ctx, "", iceberg.Column{Name: "must", Type: ice.Float64Type{}, Required: true})
	fmt.Println(errors.Is(err, iceberg.ErrInvalid))
	// Output:
	// rows before it read 1 and new ones without it get 1
	// true
}

func ExampleParseColumns() {
	cols, err := iceberg.ParseColumns("id:bigint, price:decimal(9,2), legs:array<struct<tenor:string>>")
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range cols {
		fmt.Println(c.Name, c.Type)
	}
	// Output:
	// id long
	// price decimal(9, 2)
	// legs list<struct<0: tenor: optional string>>
}

func ExampleScan_JSON() {
	ctx := context.Background()
	t, cleanup := exampleTable(ctx)
	defer cleanup()
	_, err := t.AppendJSON(ctx, lines(`{"id":"T1","vector":{"dv01":12.5}}`, `{"id":"T2"}`), iceberg.AppendOptions{})
	if err != nil {
		log.Fatal(err)
	}
	scan, err := t.Scan(ctx, iceberg.ScanOptions{Columns: []string{"id", "vector"}})
	if err != nil {
		log.Fatal(err)
	}
	for text, err := range scan.JSON(ctx, iceberg.JSONRows) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(string(text))
	}
	// Output:
	// {"id":"T1","vector":{"dv01":12.5}}
	// {"id":"T2","vector":null}
}
