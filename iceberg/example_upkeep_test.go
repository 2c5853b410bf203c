package iceberg_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/frazil/frazil/iceberg"
)

// A planner hands the files of a scan out to other processes.
func ExampleScan_Tasks() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	where, err := iceberg.ParseWhere("notional > 10000000")
	check(err)
	scan, err := t.Scan(ctx, iceberg.ScanOptions{Columns: []string{"id"}, Where: where})
	check(err)
	tasks, err := scan.Tasks()
	check(err)
	for _, task := range tasks {
		bytes, err := task.MarshalBinary() // to a queue, say
		check(err)

		var received iceberg.Task // elsewhere, where t is the same table
		check(received.UnmarshalBinary(bytes))
		part, err := t.ScanTasks(ctx, []iceberg.Task{received}, iceberg.TaskOptions{})
		check(err)
		for lines, err := range part.JSON(ctx, iceberg.JSONRows) {
			check(err)
			fmt.Print(string(lines))
		}
	}
	// Output:
	// {"id":"T1"}
	// {"id":"T3"}
}

// A table can be read without its catalog, also after it has been moved.
func ExampleOpenMetadata() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	file := strings.TrimPrefix(t.Unwrap().MetadataLocation(), "file://")
	alone, err := iceberg.OpenMetadata(file)
	check(err)
	show(ctx, alone, iceberg.ScanOptions{Columns: []string{"id"}, Limit: 2})
	_, err = alone.Delete(ctx, iceberg.Expr{}, iceberg.WriteOptions{})
	fmt.Println(errors.Is(err, iceberg.ErrReadOnly))
	// Output:
	// {"id":"T1"}
	// {"id":"T2"}
	// true
}

func ExampleTable_Inspect() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	info, err := t.Inspect(ctx)
	check(err)
	for _, c := range info.Schema {
		fmt.Println(c.ID, c.Name, c.Type)
	}
	for _, f := range info.DataFiles {
		fmt.Println(f.Rows, "rows;", f.Shredded["vec"])
	}
	fmt.Println(info.Snapshots[0].Operation)
	// Output:
	// 1 id string
	// 2 notional double
	// 3 vec variant
	// 3 rows; struct<dv01 decimal(9,1), greeks struct<delta decimal(9,2)>, model string>
	// append
}

// Small files become one, and deleted rows go.
func ExampleTable_Compact() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	_, err := t.AppendJSON(ctx, lines(`{"id":"T4"}`), iceberg.AppendOptions{})
	check(err)
	where, err := iceberg.ParseWhere("id = 'T2'")
	check(err)
	_, err = t.Delete(ctx, where, iceberg.WriteOptions{})
	check(err)
	c, err := t.Compact(ctx, iceberg.CompactOptions{})
	check(err)
	fmt.Println(len(c.Removed), "files became", len(c.Files), "of", c.Rows, "rows")
	// Output:
	// 2 files became 1 of 3 rows
}

// A stream writes plain Variants; a job makes the table that is read from them.
func ExampleReshred() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	cat, err := iceberg.OpenWarehouse(ctx, dir)
	check(err)
	defer cat.Close()
	cols, err := iceberg.ParseColumns("doc:variant")
	check(err)
	raw, err := cat.Create(ctx, "web.raw", iceberg.TableSpec{Columns: cols, Unshredded: true})
	check(err)
	clicks, err := cat.Create(ctx, "web.clicks", iceberg.TableSpec{Columns: cols})
	check(err)
	for range 2 {
		_, err = raw.AppendJSON(ctx, lines(`{"page":"/a","ms":12}`, `{"page":"/b","ms":7}`), iceberg.AppendOptions{})
		check(err)
		c, err := iceberg.Reshred(ctx, raw, clicks, iceberg.ReshredOptions{})
		check(err)
		fmt.Println(c.Rows, "new rows")
	}
	info, err := clicks.Inspect(ctx)
	check(err)
	fmt.Println(info.DataFiles[0].Shredded["doc"])
	// Output:
	// 2 new rows
	// 2 new rows
	// struct<ms int, page string>
}

func ExampleTable_Expire() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	for range 3 {
		_, err := t.AppendJSON(ctx, lines(`{"id":"T9"}`), iceberg.AppendOptions{})
		check(err)
	}
	e, err := t.Expire(ctx, iceberg.ExpireOptions{Keep: 2})
	check(err)
	fmt.Println(len(e.Snapshots), "expired,", len(t.Metadata().Snapshots()), "left")
	// Output:
	// 2 expired, 2 left
}

// Files of a writer that was killed belong to nothing. They are listed first.
func ExampleTable_RemoveOrphans() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	folder := strings.TrimPrefix(t.Location(), "file://")
	check(os.WriteFile(filepath.Join(folder, "data", "left.parquet"), []byte("half a file"), 0o600))
	opts := iceberg.OrphanOptions{OlderThan: 1} // in earnest leave the default of three days
	for _, remove := range []bool{false, true, true} {
		opts.Delete = remove
		orphans, err := t.RemoveOrphans(ctx, opts)
		check(err)
		for _, o := range orphans {
			fmt.Println(filepath.Base(o.Path), o.Bytes)
		}
		fmt.Println(len(orphans))
	}
	// Output:
	// left.parquet 11
	// 1
	// left.parquet 11
	// 1
	// 0
}

// A service that uses iceberg-go already adopts this package for one table.
func ExampleWrap() {
	ctx := context.Background()
	t, done := trades(ctx)
	defer done()
	theirs := t.Unwrap() // *table.Table, of wherever it came from
	cat, err := iceberg.OpenWarehouse(ctx, filepath.Dir(filepath.Dir(strings.TrimPrefix(theirs.Location(), "file://"))))
	check(err)
	defer cat.Close()
	loaded, err := cat.Unwrap().LoadTable(ctx, theirs.Identifier())
	check(err)
	ours := iceberg.Wrap(loaded, cat.Unwrap())
	show(ctx, ours, iceberg.ScanOptions{Columns: []string{"id"}, Limit: 1})
	// Output:
	// {"id":"T1"}
}
