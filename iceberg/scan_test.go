package iceberg

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/frazil/frazil/variant"
)

// shared is the folder of the conformance tables; the test is skipped without.
func shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("FRAZIL_SHARED")
	if dir == "" {
		t.Skip("FRAZIL_SHARED is not set")
	}
	return dir
}

// conformanceTable opens one of the tables that Spark wrote.
func conformanceTable(t testing.TB, name string) *Table {
	t.Helper()
	dir := filepath.Join(shared(t), "conformance", name)
	var info struct{ Metadata string }
	text, err := os.ReadFile(filepath.Join(dir, "case.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &info))
	tbl, err := OpenMetadata(filepath.Join(dir, info.Metadata))
	require.NoError(t, err)
	return tbl
}

// expectedRow is a line of expected.ndjson: what Spark reads.
type expectedRow struct {
	Row      string
	RowID    *int64 `json:"_row_id"`
	Seq      *int64 `json:"_last_updated_sequence_number"`
	Variants map[string]struct {
		SQLNull bool `json:"sql_null"`
		JSON    *string
	}
	Gets []struct {
		Col, Path, Type, Status string
		JSON                    *string
	}
}

func expectedRows(t testing.TB, name string) []expectedRow {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(shared(t), "conformance", name, "expected.ndjson"))
	require.NoError(t, err)
	var out []expectedRow
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var row expectedRow
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		out = append(out, row)
	}
	return out
}

// TestConformanceLineage compares row ids, sequence numbers and counts of every
// table with what Spark reads (L12, D08, D17, D19). The values themselves are
// compared by the conformance tool, which knows how Spark prints numbers.
func TestConformanceLineage(t *testing.T) {
	cases, err := os.ReadDir(filepath.Join(shared(t), "conformance"))
	require.NoError(t, err)
	for _, c := range cases {
		if _, err := os.Stat(filepath.Join(shared(t), "conformance", c.Name(), "case.json")); err != nil {
			continue
		}
		t.Run(c.Name(), func(t *testing.T) {
			tbl := conformanceTable(t, c.Name())
			var got, want []string
			got = append(got, scanJSON(t, tbl, ScanOptions{Columns: []string{ice.RowIDColumnName, ice.LastUpdatedSequenceNumberColumnName}})...)
			for _, row := range expectedRows(t, c.Name()) {
				want = append(want, fmt.Sprintf(`{"_row_id":%s,"_last_updated_sequence_number":%s}`, orNull(row.RowID), orNull(row.Seq)))
			}
			require.ElementsMatch(t, want, got)
		})
	}
}

func orNull(v *int64) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}

// TestConformanceGets compares text extractions with Spark's.
func TestConformanceGets(t *testing.T) {
	for _, name := range []string{"trades_flat_s", "trades_flat_u", "dv_single_s", "nested_objects_s", "arr_objects_s", "missing_vs_null_s", "partial_shred_s"} {
		t.Run(name, func(t *testing.T) {
			tbl, want := conformanceTable(t, name), expectedRows(t, name)
			byID := map[int64]expectedRow{}
			for _, row := range want {
				byID[*row.RowID] = row
			}
			ids := scanJSON(t, tbl, ScanOptions{Columns: []string{ice.RowIDColumnName}})
			for i, g := range want[0].Gets {
				if g.Type != "string" && g.Type != "int" && g.Type != "boolean" {
					continue
				}
				x := extraction(t, g.Col, g.Path, g.Type)
				x.Name, x.Try = "r", true
				got := scanJSON(t, tbl, ScanOptions{Extractions: []Extraction{x}})
				require.Len(t, got, len(want))
				for k, text := range got {
					var id struct {
						RowID int64 `json:"_row_id"`
					}
					require.NoError(t, json.Unmarshal([]byte(ids[k]), &id))
					require.JSONEq(t, *byID[id.RowID].Gets[i].JSON, text, "%s %s row %d", g.Path, g.Type, id.RowID)
				}
			}
		})
	}
}

// S34: an extraction reads its own leaf and nothing else, and the counters show
// it; a whole Variant reads them all.
func TestScanReadsOnlyItsLeavesS34(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,v:variant", "")
	rng := rand.New(rand.NewPCG(3, 4))
	fields := make([]string, 50)
	var rows []string
	for i := range 5000 {
		for k := range fields {
			fields[k] = fmt.Sprintf(`"f%02d":%d`, k, rng.IntN(1<<30))
		}
		rows = append(rows, fmt.Sprintf(`{"id":%d,"v":{%s}}`, i, strings.Join(fields, ",")))
	}
	appendRows(t, tbl, rows...)

	one := drainScan(t, tbl, ScanOptions{Extractions: []Extraction{extraction(t, "v", "$.f07", "bigint")}})
	require.Equal(t, []string{"v.typed_value.f07.typed_value"}, one.ColumnsRead)
	all := drainScan(t, tbl, ScanOptions{Columns: []string{"v"}})
	require.Greater(t, len(all.ColumnsRead), 50)
	require.Positive(t, one.PageBytes)
	require.Less(t, one.PageBytes*20, all.PageBytes)
	two := drainScan(t, tbl, ScanOptions{
		Columns: []string{"id"}, Extractions: []Extraction{extraction(t, "v", "$.f07", "bigint")}, Where: where(t, "variant_get(v, '$.f07', 'bigint') >= 0"),
	})
	require.Equal(t, []string{"id", "v.typed_value.f07.typed_value"}, two.ColumnsRead)
	ids := drainScan(t, tbl, ScanOptions{Columns: []string{"id"}})
	require.Equal(t, one.PageBytes+ids.PageBytes, two.PageBytes, "a leaf that filter and result share is read once")
	none := drainScan(t, tbl, ScanOptions{Columns: []string{"v"}, Where: where(t, "id < 0")})
	require.Zero(t, none.PageBytes)
}

// S33: a null row stays null beside its own extractions.
func TestWholeVariantBesideExtractionS33(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,v:variant", "")
	appendRows(t, tbl, `{"id":1,"v":{"a":1}}`, `{"id":2}`, `{"id":3,"v":null}`, `{"id":4,"v":{"b":[]}}`)
	x := extraction(t, "v", "$.a", "int")
	require.Equal(t, []string{
		`{"v":{"a":1},"v['a']":1}`, `{"v":null,"v['a']":null}`, `{"v":null,"v['a']":null}`, `{"v":{"b":[]},"v['a']":null}`,
	}, scanJSON(t, tbl, ScanOptions{Columns: []string{"v"}, Extractions: []Extraction{x}}))
	require.Equal(t, []string{`{"id":2,"v['a']":null}`}, scanJSON(t, tbl, ScanOptions{
		Columns: []string{"id"}, Extractions: []Extraction{x}, Where: where(t, "v IS NULL"),
	}))
	whole := Extraction{Column: "v", Name: "w"}
	require.Equal(t, []string{`{"w":{"a":1}}`, `{"w":null}`, `{"w":null}`, `{"w":{"b":[]}}`}, scanJSON(t, tbl, ScanOptions{Extractions: []Extraction{whole}}))
}

// A value that does not cast is no error in a row that is deleted or filtered
// out.
func TestStrictCastLooksAtLiveRows(t *testing.T) {
	for _, shredding := range []string{"", `,"pad":1`} {
		tbl := newTable(t, newCatalog(t), "id:bigint,v:variant", "")
		appendRows(t, tbl, `{"id":1,"v":{"a":1`+shredding+`}}`, `{"id":2,"v":{"a":"x"}}`, `{"id":3,"v":{"a":3}}`)
		opts := ScanOptions{Columns: []string{"id"}, Extractions: []Extraction{extraction(t, "v", "$.a", "int")}}
		_, err := tryScanJSON(tbl, opts)
		require.ErrorIs(t, err, ErrRow)
		opts.Where = where(t, "id <> 2")
		want := []string{`{"id":1,"v['a']":1}`, `{"id":3,"v['a']":3}`}
		require.Equal(t, want, scanJSON(t, tbl, opts))
		deleteRows(t, tbl, "id = 2")
		opts.Where = Expr{}
		require.Equal(t, want, scanJSON(t, tbl, opts))
	}
}

// D08: the limit counts rows that are neither deleted nor filtered out.
func TestLimitD08(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint", "")
	var rows []string
	for i := range 5000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d}`, i))
	}
	appendRows(t, tbl, rows...)
	deleteRows(t, tbl, "id < 1000")
	for _, batch := range []int{0, 7, 1000} {
		got := scanJSON(t, tbl, ScanOptions{Limit: 10, BatchRows: batch})
		require.Len(t, got, 10)
		require.Equal(t, `{"id":1000}`, got[0])
		got = scanJSON(t, tbl, ScanOptions{Limit: 3, BatchRows: batch, Where: where(t, "id >= 4000")})
		require.Equal(t, []string{`{"id":4000}`, `{"id":4001}`, `{"id":4002}`}, got)
		require.Len(t, scanJSON(t, tbl, ScanOptions{BatchRows: batch}), 4000)
	}
	scan, err := tbl.Scan(context.Background(), ScanOptions{Columns: []string{}})
	require.NoError(t, err)
	count := int64(0)
	for rec, err := range scan.Batches(context.Background()) {
		require.NoError(t, err)
		count += rec.NumRows()
		rec.Release()
	}
	require.EqualValues(t, 4000, count, "a count reads no column")
	require.Zero(t, scan.Stats().PageBytes)
}

// A scan gives back all memory, whether it is read to the end, broken off,
// cancelled or ends in an error, and leaves no goroutine behind.
func TestScanLeavesNothingBehind(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,s:string,v:variant,l:array<int>", "s")
	for f := range 4 {
		var rows []string
		for i := range 300 {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"s":"p%d","v":{"a":%d,"b":"x"},"l":[1,2]}`, i, f%3, i))
		}
		appendRows(t, tbl, rows...)
	}
	deleteRows(t, tbl, "id BETWEEN 10 AND 20")
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	strict := extraction(t, "v", "$.b", "int")
	for _, c := range []struct {
		name string
		opts ScanOptions
		stop int // batches after which to stop
		end  bool
	}{
		{name: "all"},
		{name: "where", opts: ScanOptions{Where: where(t, "id < 100 OR variant_get(v, '$.a', 'int') > 250")}},
		{name: "sparse", opts: ScanOptions{Where: where(t, "id IN (5, 77, 150)"), Lineage: true}},
		{name: "broken off", stop: 2},
		{name: "cancelled", stop: 2, end: true},
		{name: "limit", opts: ScanOptions{Limit: 50}},
		{name: "error", opts: ScanOptions{Extractions: []Extraction{strict}}},
		{name: "unordered", opts: ScanOptions{Unordered: true}},
		{name: "unordered broken off", opts: ScanOptions{Unordered: true}, stop: 1},
		{name: "unordered error", opts: ScanOptions{Unordered: true, Extractions: []Extraction{strict}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			c.opts.BatchRows, c.opts.Allocator, c.opts.Workers = 64, mem, 3
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			scan, err := tbl.Scan(ctx, c.opts)
			require.NoError(t, err)
			n := 0
			for rec, err := range scan.Batches(ctx) {
				if err != nil {
					require.True(t, c.end || strings.Contains(c.name, "error"), "%v", err)
					break
				}
				rec.Release()
				if n++; n == c.stop && c.end {
					cancel()
				} else if n == c.stop {
					break
				}
			}
		})
	}
}

// Workers change nothing in the order of the rows.
func TestScanOrder(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint", "bucket(3,id)")
	id := 0
	for range 5 {
		var rows []string
		for range 40 {
			rows = append(rows, fmt.Sprintf(`{"id":%d}`, id))
			id++
		}
		appendRows(t, tbl, rows...)
	}
	want := scanJSON(t, tbl, ScanOptions{Workers: 1})
	require.Len(t, want, 200)
	for _, workers := range []int{2, 3, 16} {
		require.Equal(t, want, scanJSON(t, tbl, ScanOptions{Workers: workers, BatchRows: 7}))
	}
	require.ElementsMatch(t, want, scanJSON(t, tbl, ScanOptions{Workers: 4, BatchRows: 7, Unordered: true}))
	seqs := scanJSON(t, tbl, ScanOptions{Columns: []string{ice.LastUpdatedSequenceNumberColumnName}})
	require.IsNonDecreasing(t, seqs)
}

func TestScanVersions(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint", "")
	first := appendRows(t, tbl, `{"id":1}`).SnapshotID
	appendRows(t, tbl, `{"id":2}`)
	require.Equal(t, []string{`{"id":1}`}, scanJSON(t, tbl, ScanOptions{SnapshotID: first}))
	require.Equal(t, []string{`{"id":1}`, `{"id":2}`}, scanJSON(t, tbl, ScanOptions{Ref: "main"}))
	_, err := tryScanJSON(tbl, ScanOptions{SnapshotID: 42})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = tryScanJSON(tbl, ScanOptions{Ref: "nope"})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = tryScanJSON(tbl, ScanOptions{Ref: "main", SnapshotID: first})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = tryScanJSON(tbl, ScanOptions{Columns: []string{"nope"}})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = tryScanJSON(tbl, ScanOptions{Limit: -1, Workers: -1})
	require.ErrorIs(t, err, ErrInvalid)
	empty, err := newCatalog(t).Create(context.Background(), "ns.empty", TableSpec{Columns: []Column{{Name: "v", Type: ice.VariantType{}}}})
	require.NoError(t, err)
	require.Empty(t, scanJSON(t, empty, ScanOptions{Extractions: []Extraction{{Column: "v", Path: variant.Path{}}}}))
}

// An incremental scan sees what was appended, not what was changed.
func TestScanAfter(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint", "")
	first := appendRows(t, tbl, `{"id":1}`, `{"id":2}`).SnapshotID
	second := appendRows(t, tbl, `{"id":3}`).SnapshotID
	deleteRows(t, tbl, "id IN (1, 3)")
	_, err := tbl.Update(context.Background(), []Assignment{set(t, "id = 20")}, where(t, "id = 2"), WriteOptions{})
	require.NoError(t, err)
	last := appendRows(t, tbl, `{"id":4}`).SnapshotID
	require.Equal(t, []string{`{"id":3}`, `{"id":4}`}, scanJSON(t, tbl, ScanOptions{After: first}))
	require.Equal(t, []string{`{"id":3}`}, scanJSON(t, tbl, ScanOptions{After: first, SnapshotID: second}))
	require.Equal(t, []string{`{"id":4}`}, scanJSON(t, tbl, ScanOptions{After: first, Where: where(t, "id > 3")}))
	require.Empty(t, scanJSON(t, tbl, ScanOptions{After: last}))
	_, err = tryScanJSON(tbl, ScanOptions{After: 5})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = tryScanJSON(tbl, ScanOptions{After: last, SnapshotID: first})
	require.ErrorIs(t, err, ErrInvalid)
}

func BenchmarkScanAll(b *testing.B) {
	tbl := benchTable(b, true)
	runtime.GC()
	for b.Loop() {
		drainScan(b, tbl, ScanOptions{})
	}
}
