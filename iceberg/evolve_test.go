package iceberg

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	ice "github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"
)

var bg = context.Background()

// L05, L04: by field id, through renames, promotions, drops and new defaults.
func TestEvolutionByFieldID(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	appendRows(t, tbl, `{"id":1}`)
	require.NoError(t, tbl.AddColumn(bg, "", Column{Name: "c", Type: ice.Int32Type{}, Default: 1}))
	appendRows(t, tbl, `{"id":2}`, `{"id":3,"c":7}`)
	require.NoError(t, tbl.RenameColumn(bg, "c", "d"))
	require.NoError(t, tbl.WidenColumn(bg, "d", ice.Int64Type{}))
	appendRows(t, tbl, `{"id":4,"d":5000000000}`, `{"id":5}`)
	require.Equal(t, []string{
		`{"id":1,"d":1}`, `{"id":2,"d":1}`, `{"id":3,"d":7}`, `{"id":4,"d":5000000000}`, `{"id":5,"d":1}`,
	}, readJSON(t, tbl))

	require.NoError(t, tbl.SetDefault(bg, "d", nil)) // L04: new rows only
	appendRows(t, tbl, `{"id":6}`)
	f := fieldByName(t, tbl, "d")
	require.EqualValues(t, 1, f.InitialDefault)
	require.Nil(t, f.WriteDefault)
	require.Equal(t, `{"id":6,"d":null}`, readJSON(t, tbl)[5])
	require.Equal(t, `{"id":1,"d":1}`, readJSON(t, tbl)[0])

	require.NoError(t, tbl.DropColumn(bg, "d"))
	require.NoError(t, tbl.AddColumn(bg, "", Column{Name: "c", Type: ice.Int32Type{}, Default: 9}))
	require.Greater(t, fieldByName(t, tbl, "c").ID, f.ID)
	for _, row := range readJSON(t, tbl) {
		require.Contains(t, row, `"c":9`)
	}
	// The metadata says so to every reader.
	schemas := metadataJSON(t, tbl)["schemas"].([]any)
	last := schemas[len(schemas)-1].(map[string]any)["fields"].([]any)[1].(map[string]any)
	require.Equal(t, 9.0, last["initial-default"])
	require.Equal(t, 9.0, last["write-default"])
}

// TestPredicatesOnWidenedColumns: bounds of files that were written before an int
// became a bigint have four bytes, and those of a float; a scan or a delete with a
// predicate on such a column failed as if the table were corrupt.
func TestPredicatesOnWidenedColumns(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:int,f:float,n:decimal(4,2)", "id")
	appendRows(t, tbl, `{"id":1,"f":1.5,"n":1.25}`, `{"id":2,"f":2.5,"n":2.25}`)
	require.NoError(t, tbl.WidenColumn(bg, "id", ice.Int64Type{}))
	require.NoError(t, tbl.WidenColumn(bg, "f", ice.Float64Type{}))
	require.NoError(t, tbl.WidenColumn(bg, "n", ice.DecimalTypeOf(12, 2)))
	appendRows(t, tbl, `{"id":5000000000,"f":1e300,"n":1234567890.25}`)
	for text, want := range map[string][]string{
		"id = 2":                         {`{"id":2}`},
		"id > 2":                         {`{"id":5000000000}`},
		"id IN (1, 5000000000)":          {`{"id":1}`, `{"id":5000000000}`},
		"f < 2":                          {`{"id":1}`},
		"f >= 2.5":                       {`{"id":2}`, `{"id":5000000000}`},
		"n = 2.25 OR n > 1000000":        {`{"id":2}`, `{"id":5000000000}`},
		"id IS NULL":                     nil,
		"NOT (id = 1) AND f IS NOT NULL": {`{"id":2}`, `{"id":5000000000}`},
	} {
		require.Equal(t, want, scanJSON(t, tbl, ScanOptions{Columns: []string{"id"}, Where: where(t, text)}), text)
	}
	_, err := tbl.Delete(bg, where(t, "id = 1"), WriteOptions{})
	require.NoError(t, err)
	require.Len(t, readJSON(t, tbl), 2)
}

// L03, L07: struct defaults, nested fields added, maps and lists in between.
func TestNestedDefaults(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,s:struct<a:int>,m:map<string,struct<a:int>>,l:array<struct<a:int>>", "")
	appendRows(t, tbl, `{"id":1,"s":{"a":1},"m":{"k":{"a":1}},"l":[{"a":1},null]}`, `{"id":2}`)
	require.NoError(t, tbl.AddColumn(bg, "s", Column{Name: "x", Type: ice.Int32Type{}, Default: 5}))
	require.NoError(t, tbl.AddColumn(bg, "s", Column{Name: "y", Type: &ice.ListType{Element: ice.Int32Type{}}}))
	require.NoError(t, tbl.AddColumn(bg, "m.value", Column{Name: "x", Type: ice.StringType{}, Default: "q"}))
	require.NoError(t, tbl.AddColumn(bg, "l.element", Column{Name: "x", Type: ice.BooleanType{}, Default: true}))
	point, err := ParseType("struct<x:int,y:int>")
	require.NoError(t, err)
	for i := range point.(*ice.StructType).FieldList {
		point.(*ice.StructType).FieldList[i].InitialDefault = int32(0)
		point.(*ice.StructType).FieldList[i].WriteDefault = int32(0)
	}
	require.NoError(t, tbl.AddColumn(bg, "", Column{Name: "point", Type: point, Default: map[string]any{}}))
	appendRows(t, tbl, `{"id":3,"s":{"a":3},"l":[{}],"point":{"y":4}}`, `{"id":4,"point":null}`)
	zero := `"point":{"x":0,"y":0}`
	require.Equal(t, []string{
		`{"id":1,"s":{"a":1,"x":5,"y":null},"m":{"k":{"a":1,"x":"q"}},"l":[{"a":1,"x":true},null],` + zero + `}`,
		`{"id":2,"s":null,"m":null,"l":null,` + zero + `}`,
		`{"id":3,"s":{"a":3,"x":5,"y":null},"m":null,"l":[{"a":null,"x":true}],"point":{"x":0,"y":4}}`,
		`{"id":4,"s":null,"m":null,"l":null,"point":null}`,
	}, readJSON(t, tbl))
}

func TestDefaultsOfEveryType(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	appendRows(t, tbl, `{"id":1}`)
	day := time.Date(2026, 7, 1, 1, 2, 3, 456000, time.UTC)
	cols := []struct {
		text  string
		value any
		json  string // in the metadata
		row   string
	}{
		{"boolean", true, `true`, `true`},
		{"bigint", int64(math.MaxInt32) + 1, `2147483648`, `2147483648`},
		{"float", 0.5, `0.5`, `0.5`},
		{"double", -2, `-2.0`, `-2.0`},
		{"decimal(9,2)", "12.5", `"12.50"`, `12.50`},
		{"decimal(20,3)", "-0.001", `"-0.001"`, `-0.001`},
		{"string", "x'y", `"x'y"`, `"x'y"`},
		{"binary", []byte{0, 255}, `"00ff"`, `"AP8="`},
		{"fixed(2)", []byte{1, 2}, `"0102"`, `"AQI="`},
		{"uuid", "0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb", `"0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb"`, `"0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb"`},
		{"date", "2026-07-01", `"2026-07-01"`, `"2026-07-01"`},
		{"time", "01:02:03", `"01:02:03.000000"`, `"01:02:03.000000"`},
		{"timestamp", day, `"2026-07-01T01:02:03.000456+00:00"`, `"2026-07-01T01:02:03.000456Z"`},
		{"timestamp_ntz", "2026-07-01T01:02:03", `"2026-07-01T01:02:03.000000"`, `"2026-07-01T01:02:03.000000"`},
	}
	for i, c := range cols {
		typ, err := ParseType(c.text)
		require.NoError(t, err)
		require.NoError(t, tbl.AddColumn(bg, "", Column{Name: string(rune('a' + i)), Type: typ, Default: c.value}), c.text)
	}
	require.NoError(t, tbl.AddColumn(bg, "", Column{Name: "v", Type: ice.VariantType{}}))
	appendRows(t, tbl, `{"id":2}`)
	rows := readJSON(t, tbl)
	for i, c := range cols {
		name := string(rune('a' + i))
		require.Contains(t, rows[0], `"`+name+`":`+c.row, "initial default")
		require.Contains(t, rows[1], `"`+name+`":`+c.row, "write default")
	}
	text := filesText(t, tbl.Unwrap().MetadataLocation())
	for _, c := range cols {
		require.Contains(t, text, `"initial-default":`+c.json+`,"write-default":`+c.json, c.text)
	}
}

// S31, L06, spec "Default values": what is refused.
func TestRefusedDefinitions(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,p:string,v:variant,f:float,s:struct<a:int>", "p")
	for name, err := range map[string]error{
		"default of a Variant":      tbl.AddColumn(bg, "", Column{Name: "w", Type: ice.VariantType{}, Default: map[string]any{}}),
		"required without default":  tbl.AddColumn(bg, "", Column{Name: "w", Type: ice.Int32Type{}, Required: true}),
		"default of another type":   tbl.AddColumn(bg, "", Column{Name: "w", Type: ice.Int32Type{}, Default: "x"}),
		"default out of range":      tbl.AddColumn(bg, "", Column{Name: "w", Type: ice.Int32Type{}, Default: int64(1) << 40}),
		"struct default with value": tbl.AddColumn(bg, "", Column{Name: "w", Type: &ice.StructType{FieldList: []ice.NestedField{{Name: "a", Type: ice.Int32Type{}}}}, Default: map[string]any{"a": 1}}),
		"taken name":                tbl.AddColumn(bg, "", Column{Name: "p", Type: ice.Int32Type{}}),
		"under no struct":           tbl.AddColumn(bg, "p", Column{Name: "w", Type: ice.Int32Type{}}),
		"renamed to a taken name":   tbl.RenameColumn(bg, "p", "id"),
		"unknown column":            tbl.RenameColumn(bg, "nope", "x"),
		"narrowed":                  tbl.WidenColumn(bg, "id", ice.Int32Type{}),
		"float to long":             tbl.WidenColumn(bg, "f", ice.Int64Type{}),
		"partition source dropped":  tbl.DropColumn(bg, "p"),
		"last field dropped":        tbl.DropColumn(bg, "s.a"),
	} {
		require.ErrorIs(t, err, ErrInvalid, name)
	}
	variant := func(p []PartitionField, s []SortField) error {
		_, err := cat.Create(bg, "ns.other", TableSpec{
			Columns:   []Column{{Name: "v", Type: ice.VariantType{}}, {Name: "id", Type: ice.Int64Type{}}},
			Partition: p, Sort: s,
		})
		return err
	}
	for _, tr := range []ice.Transform{nil, ice.BucketTransform{NumBuckets: 4}, ice.TruncateTransform{Width: 2}, ice.DayTransform{}} {
		require.ErrorIs(t, variant([]PartitionField{{Source: "v", Transform: tr}}, nil), ErrInvalid)
		require.ErrorIs(t, variant(nil, []SortField{{Source: "v", Transform: tr}}), ErrInvalid)
	}
	_, err := cat.Create(bg, "ns.t", TableSpec{Columns: []Column{{Name: "id", Type: ice.Int64Type{}}}})
	require.ErrorIs(t, err, ErrTableExists)
	_, err = cat.Create(bg, "noname", TableSpec{})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = cat.Load(bg, "ns.missing")
	require.ErrorIs(t, err, ErrNoTable)
}

// L06: a required column with a default reads it in old rows and refuses null
// in new ones.
func TestRequiredColumnWithDefault(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	appendRows(t, tbl, `{"id":1}`)
	require.NoError(t, tbl.AddColumn(bg, "", Column{Name: "r", Type: ice.Int32Type{}, Required: true, Default: 3}))
	appendRows(t, tbl, `{"id":2}`)
	_, err := tbl.AppendJSON(bg, rowsOf(`{"id":3,"r":null}`), AppendOptions{})
	require.ErrorIs(t, err, ErrRow)
	require.Equal(t, []string{`{"id":1,"r":3}`, `{"id":2,"r":3}`}, readJSON(t, tbl))
	require.ErrorIs(t, tbl.SetDefault(bg, "r", nil), ErrInvalid)
}

func TestCreateSetsWhatEnginesNeed(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,day:date,v:variant", "day")
	m := metadataJSON(t, tbl)
	require.Equal(t, 3.0, m["format-version"])
	props := m["properties"].(map[string]any)
	require.Equal(t, "true", props["write.parquet.shred-variants"])
	require.Equal(t, "false", props["read.parquet.vectorization.enabled"])
	require.NotContains(t, props, "format-version")
	spec := m["partition-specs"].([]any)[0].(map[string]any)["fields"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"name": "day", "transform": "identity", "source-id": 2.0, "field-id": 1000.0}, spec)

	plain, err := cat.Create(bg, "ns.plain", TableSpec{Columns: []Column{{Name: "v", Type: ice.VariantType{}}}, Unshredded: true})
	require.NoError(t, err)
	appendRows(t, plain, numbered(50, `{"a":%d}`)...)
	info, err := plain.Inspect(bg)
	require.NoError(t, err)
	require.Empty(t, info.DataFiles[0].Shredded)

	// A table of another writer may ask for shredding and lack the other
	// property: the commit that brings the first shredded file sets it.
	require.NoError(t, plain.SetProperties(bg, map[string]string{propShredVariants: "true"}))
	appendRows(t, plain, numbered(50, `{"a":%d}`)...)
	require.Equal(t, "false", plain.Properties()[propVectorizedReads])
}

func TestWarehouseWithOddName(t *testing.T) {
	dir := t.TempDir() + "/my data % é"
	cat, err := OpenWarehouse(bg, dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, cat.Close()) }()
	tbl := newTable(t, cat, "id:bigint,k:string", "k")
	appendRows(t, tbl, `{"id":1,"k":"a/b c%"}`)
	require.Equal(t, []string{`{"id":1,"k":"a/b c%"}`}, readJSON(t, tbl))
	require.Len(t, filesBelow(t, dir, ".parquet"), 1)
}

func TestConcurrentEvolutionIsSerial(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	errs := make(chan error)
	names := []string{"a", "b", "c", "d", "e"}
	for _, n := range names {
		go func() { errs <- tbl.AddColumn(bg, "", Column{Name: n, Type: ice.StringType{}}) }()
	}
	for range names {
		require.NoError(t, <-errs)
	}
	require.NoError(t, tbl.Refresh(bg))
	require.Len(t, tbl.Schema().Fields(), 6)
	ids := map[int]bool{}
	for _, f := range tbl.Schema().Fields() {
		require.False(t, ids[f.ID])
		ids[f.ID] = true
	}
}

// TestEvolve_FloatDefaultsAreFloatsInMetadata: Java refuses a double default
// that is written as an integer, and with it the whole table.
func TestEvolve_FloatDefaultsAreFloatsInMetadata(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	cat, err := OpenWarehouse(ctx, dir)
	require.NoError(t, err)
	defer cat.Close()
	cols, err := ParseColumns("a:double,b:float,c:string")
	require.NoError(t, err)
	cols[0].Default, cols[1].Default = 1.0, 0.0
	tbl, err := cat.Create(ctx, "x.t", TableSpec{Columns: cols})
	require.NoError(t, err)
	require.NoError(t, tbl.SetProperties(ctx, map[string]string{"k": "v"}))
	text, err := os.ReadFile(strings.TrimPrefix(tbl.Unwrap().MetadataLocation(), "file://"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"write-default":1.0`)
	require.Contains(t, string(text), `"write-default":0.0`)
	left, err := filepath.Glob(filepath.Join(dir, "x", "t", "metadata", "*.tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}
