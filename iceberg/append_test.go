package iceberg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	ice "github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"
)

func TestAppendedRowsReadBackInOrder(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,name:string,ok:boolean,price:decimal(9,2),x:double,day:date", "")
	c := appendRows(t, tbl,
		`{"id":1,"name":"a\u00e9","ok":true,"price":12.5,"x":1e3,"day":"2026-07-01"}`,
		`{"id":-9223372036854775808,"name":"","ok":false,"price":"-0.01","x":"NaN","day":"1969-12-31"}`,
		``,
		`{"id":null}`,
	)
	require.EqualValues(t, 3, c.Rows)
	require.Len(t, c.Files, 1)
	require.Equal(t, []string{
		"1|aé|true|12.5|1000|2026-07-01",
		"-9223372036854775808||false|-0.01|NaN|1969-12-31",
		"(null)|(null)|(null)|(null)|(null)|(null)",
	}, oracleRows(t, tbl, "id", "name", "ok", "price", "x", "day"))
	require.Equal(t, []string{
		`{"id":1,"name":"aé","ok":true,"price":12.50,"x":1000.0,"day":"2026-07-01"}`,
		`{"id":-9223372036854775808,"name":"","ok":false,"price":-0.01,"x":"NaN","day":"1969-12-31"}`,
		`{"id":null,"name":null,"ok":null,"price":null,"x":null,"day":null}`,
	}, readJSON(t, tbl))
}

func TestWholeRowsBecomeTheSingleVariant(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "doc:variant", "")
	rows := []string{`{"a":1,"b":"x"}`, `null`, `[1,2]`, `"text"`, `{"a":2.5}`}
	for i := range 40 {
		rows = append(rows, fmt.Sprintf(`{"a":%d}`, i))
	}
	appendRows(t, tbl, rows...)
	want := make([]string, len(rows))
	for i, r := range rows {
		want[i] = `{"doc":` + r + `}`
	}
	require.Equal(t, want, readJSON(t, tbl))
	info, err := tbl.Inspect(context.Background())
	require.NoError(t, err)
	require.Contains(t, info.DataFiles[0].Shredded, "doc")
}

func TestEveryColumnTypeIsWritten(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "i:int,f:float,d38:decimal(38,10),d18:decimal(18,3),b:binary,fx:fixed(3),u:uuid,"+
		"tm:time,ts:timestamp,tn:timestamp_ntz,l:array<int>,m:map<string,bigint>,s:struct<x:int,y:array<string>>,"+
		"lv:array<variant>,sv:struct<v:variant,n:int>", "")
	row := `{"i":2147483647,"f":0.1,"d38":"1234567890123456789012345678.0123456789","d18":-1.5,"b":"AAEC","fx":"AAEC",` +
		`"u":"0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb","tm":"01:02:03.123456","ts":"2026-07-01T01:02:03.123456+02:00",` +
		`"tn":"2026-07-01 01:02:03","l":[1,null,3],"m":{"a":1,"b":null},"s":{"x":5,"y":["p",null]},` +
		`"lv":[1,{"q":[]},null],"sv":{"v":{"k":1},"n":2}}`
	empty := `{"l":[],"m":{},"s":{},"lv":[]}`
	appendRows(t, tbl, row, empty, `{}`, row)
	got := readJSON(t, tbl)
	want := `{"i":2147483647,"f":0.1,"d38":1234567890123456789012345678.0123456789,"d18":-1.500,"b":"AAEC","fx":"AAEC",` +
		`"u":"0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb","tm":"01:02:03.123456","ts":"2026-06-30T23:02:03.123456Z",` +
		`"tn":"2026-07-01T01:02:03.000000","l":[1,null,3],"m":{"a":1,"b":null},"s":{"x":5,"y":["p",null]},` +
		`"lv":[1,{"q":[]},null],"sv":{"v":{"k":1},"n":2}}`
	require.Len(t, got, 4)
	require.Equal(t, want, got[0])
	require.Equal(t, want, got[3])
	nulls := `"i":null,"f":null,"d38":null,"d18":null,"b":null,"fx":null,"u":null,"tm":null,"ts":null,"tn":null`
	require.Equal(t, `{`+nulls+`,"l":[],"m":{},"s":{"x":null,"y":null},"lv":[],"sv":null}`, got[1])
	require.Equal(t, `{`+nulls+`,"l":null,"m":null,"s":null,"lv":null,"sv":null}`, got[2])
	d38 := `1234567890123456789012345678.0123456789`
	require.Equal(t, []string{d38, `(null)`, `(null)`, d38}, oracleRows(t, tbl, "d38"))
}

func TestBadRowsNameRowAndColumn(t *testing.T) {
	bad := []struct{ row, column, reason string }{
		{`{"id":"x"}`, "id", `does not fit long`},
		{`{"id":1.5}`, "id", `does not fit long`},
		{`{"id":9223372036854775808}`, "id", `does not fit long`},
		{`{"price":1.234}`, "price", `does not fit decimal(9, 2)`},
		{`{"price":12345678.00}`, "price", `does not fit decimal(9, 2)`},
		{`{"day":"2026-02-30"}`, "day", `does not fit date`},
		{`{"name":5}`, "name", `does not fit string`},
		{`{"name":"\ud800"}`, "name", `bad escape`},
		{`{"doc":{"a":1,"a":2}}`, "doc", `duplicate key`},
		{`{"doc":{"a":}}`, "doc", `expected a value`},
		{`{"l":[1,"x"]}`, "l", `element 1`},
		{`{"id":1,"id":2}`, "", `duplicate key "id"`},
		{`{"other":nul}`, "", `expected a value`},
		{`{"id":1`, "", `unexpected end`},
		{`{"id":1} x`, "", `text after the value`},
		{`[1]`, "", `not a JSON object`},
		{`id`, "", `not a JSON object`},
	}
	for _, b := range bad {
		t.Run(b.row, func(t *testing.T) {
			cat := newCatalog(t)
			tbl := newTable(t, cat, "id:bigint,name:string,price:decimal(9,2),day:date,l:array<int>,doc:variant", "")
			_, err := tbl.AppendJSON(context.Background(), rowsOf(`{"id":1}`, b.row, `{"id":3}`), AppendOptions{})
			var re *RowError
			require.ErrorAs(t, err, &re)
			require.EqualValues(t, 2, re.Line)
			require.Equal(t, b.column, re.Column)
			require.ErrorContains(t, err, b.reason)
			require.ErrorIs(t, err, ErrRow)
			require.Nil(t, tbl.Metadata().CurrentSnapshot(), "nothing is committed")
			require.Empty(t, dataFiles(t, tbl), "the files are removed")
		})
	}
}

func TestRejectedRowsLeaveNoTrace(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,l:array<int>,s:struct<a:int,b:string>,doc:variant", "")
	var lines []int64
	var good []string
	rows := []string{}
	for i := range 500 {
		switch i % 5 {
		case 1:
			rows = append(rows, fmt.Sprintf(`{"id":%d,"l":[1,2,"x"],"doc":1}`, i))
		case 3:
			rows = append(rows, fmt.Sprintf(`{"id":%d,"l":[1],"s":{"a":1,"b":"q"},"doc":{"a":[1,2,}}`, i))
		default:
			rows = append(rows, fmt.Sprintf(`{"id":%d,"l":[%d,null],"s":{"a":%d,"b":null},"doc":{"k":%d}}`, i, i, i, i))
			good = append(good, rows[i])
		}
	}
	c, err := tbl.AppendJSON(context.Background(), rowsOf(rows...), AppendOptions{
		Reject: func(line int64, raw []byte, err error) error {
			lines = append(lines, line)
			require.Equal(t, rows[line-1], string(raw))
			return nil
		},
	})
	require.NoError(t, err)
	require.Len(t, lines, 200)
	require.EqualValues(t, 200, c.Rejected)
	require.Equal(t, good, readJSON(t, tbl))
}

func TestRejectMayEndTheAppend(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	enough := errors.New("enough")
	_, err := tbl.AppendJSON(context.Background(), rowsOf(`{"id":"a"}`, `{"id":"b"}`, `{"id":1}`), AppendOptions{
		Reject: func(line int64, _ []byte, _ error) error {
			if line == 2 {
				return enough
			}
			return nil
		},
	})
	require.ErrorIs(t, err, enough)
	require.Empty(t, dataFiles(t, tbl))
}

func TestPartitionsFanOut(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,day:date,class:string,doc:variant", "day,class,bucket(4,id),truncate(2,class)")
	var rows []string
	for i := range 3000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"day":"2026-07-0%d","class":"c/%d x","doc":{"n":%d}}`, i, i%3+1, i%2, i))
	}
	rows = append(rows, `{"id":3000}`)
	c := appendRows(t, tbl, rows...)
	require.EqualValues(t, 3001, c.Rows)
	require.Len(t, c.Files, 3*2*4+1)
	got := oracleRows(t, tbl, "id")
	require.Len(t, got, 3001)
	info, err := tbl.Inspect(context.Background())
	require.NoError(t, err)
	var unknown int
	for _, f := range info.DataFiles {
		if f.Partition["day"] == nil {
			unknown++
			require.Nil(t, f.Partition["class"])
			continue
		}
		require.Regexp(t, `^2026-07-0[123]$`, f.Partition["day"])
		require.Equal(t, "c/", f.Partition["class_trunc_2"])
		require.Contains(t, f.Path, "day="+f.Partition["day"].(string))
	}
	require.Equal(t, 1, unknown)
	// Pruning by partition through iceberg-go finds the rows again.
	require.Len(t, readJSON(t, tbl), 3001)
}

func TestManyPartitionsKeepFewFilesOpen(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,k:int", "k")
	n := 3 * maxOpenFiles
	var rows []string
	for i := range 2 * n {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"k":%d}`, i, i%n))
	}
	c := appendRows(t, tbl, rows...)
	require.EqualValues(t, 2*n, c.Rows)
	require.GreaterOrEqual(t, len(c.Files), n)
	require.Len(t, oracleRows(t, tbl, "id"), 2*n)
}

func TestFilesRollAtTheirTargetSizeAndKeepTheOrder(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,doc:variant", "")
	pad := strings.Repeat("x", 200)
	var rows []string
	for i := range 20_000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"doc":{"n":%d,"pad":"%s%d"}}`, i, i, pad, i*7919))
	}
	c, err := tbl.AppendJSON(context.Background(), rowsOf(rows...), AppendOptions{TargetFileBytes: 20_000, RowGroupBytes: 200_000})
	require.NoError(t, err)
	require.Greater(t, len(c.Files), 1)
	for _, f := range c.Files {
		require.NotEmpty(t, f.SplitOffsets())
	}
	require.Equal(t, rows, readJSON(t, tbl))
}

func TestLittleMemoryMakesSmallRowGroups(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,k:int,doc:variant", "k")
	var rows []string
	for i := range 20_000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"k":%d,"doc":{"n":%d,"s":"%d"}}`, i, i%7, i, i))
	}
	a, err := tbl.NewAppender(context.Background(), AppendOptions{MemoryBytes: 100_000})
	require.NoError(t, err)
	for _, r := range rows {
		require.NoError(t, a.WriteJSON([]byte(r)))
	}
	c, err := a.Commit(context.Background())
	require.NoError(t, err)
	require.Len(t, c.Files, 7)
	require.Zero(t, a.pool.buffered.Load(), "the account of buffered bytes is even at the end")
	require.Len(t, oracleRows(t, tbl, "id"), len(rows))
}

// TestParquetProperties looks into a file for what the table's properties ask for:
// sizes of pages, and bloom filters for plain, nested and shredded leaves.
func TestParquetProperties(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,tags:array<string>,doc:variant", "")
	require.NoError(t, tbl.SetProperties(bg, map[string]string{
		propPageRows: "100", propBloomBytes: "4096", propDictionaryBytes: "16",
		propBloomColumn + "id":                              "true",
		propBloomColumn + "tags.element":                    "true",
		propBloomColumn + "doc":                             "false",
		propBloomColumn + "doc.typed_value.s.typed_value":   "true",
		propBloomColumn + "a column that the table has not": "true",
	}))
	appendRows(t, tbl, numbered(1000, `{"id":%d,"tags":["t"],"doc":{"s":"x"}}`)...)
	f := openDataFile(t, tbl)
	filtered := map[string]bool{}
	for j, leaf := range f.Leaves() {
		x, err := f.PageIndex(0, j)
		require.NoError(t, err)
		require.Len(t, x.Pages, 10, leaf.Path)
		may, err := f.MayContain(0, j, []byte("12345678"))
		require.NoError(t, err)
		filtered[strings.Join(leaf.Path, ".")] = !may
	}
	require.Equal(t, map[string]bool{
		"id": true, "tags.list.element": true, "doc.metadata": false, "doc.value": false,
		"doc.typed_value.s.value": false, "doc.typed_value.s.typed_value": true,
	}, filtered)

	for _, ndv := range []string{"0", "many"} {
		require.NoError(t, tbl.SetProperties(bg, map[string]string{propBloomNDV + "id": ndv}))
		_, err := tbl.NewAppender(bg, AppendOptions{})
		require.ErrorIs(t, err, ErrInvalid, ndv)
	}
	require.NoError(t, tbl.SetProperties(bg, map[string]string{propBloomNDV + "id": "5"}))
	for _, fpp := range []string{"1", "a hundredth"} {
		require.NoError(t, tbl.SetProperties(bg, map[string]string{propBloomFPP + "id": fpp}))
		_, err := tbl.NewAppender(bg, AppendOptions{})
		require.ErrorIs(t, err, ErrInvalid, fpp)
	}
	require.NoError(t, tbl.SetProperties(bg, map[string]string{propBloomFPP + "id": "0.5", propPageBytes: "-1"}))
	_, err := tbl.NewAppender(bg, AppendOptions{})
	require.ErrorIs(t, err, ErrInvalid)
}

// TestRowGroupSizeOfTheTable: the table's size of row groups is taken as it is, a
// larger one than the default too; what the caller says wins.
func TestRowGroupSizeOfTheTable(t *testing.T) {
	for text, want := range map[string]int64{"": 32 << 20, "1000": 1000, "134217728": 128 << 20, "-1": 32 << 20, "99999999999": 1 << 30} {
		props := ice.Properties{}
		if text != "" {
			props[propRowGroupBytes] = text
		}
		a := &Appender{}
		a.setDefaults(props)
		require.Equal(t, want, a.opts.RowGroupBytes, text)
		a = &Appender{opts: AppendOptions{RowGroupBytes: 5}}
		a.setDefaults(props)
		require.EqualValues(t, 5, a.opts.RowGroupBytes)
	}
}

// TestBloomFilterDistinctValues: the filter of a column whose number of distinct
// values is known is made for so many, and never for more than there are values.
func TestBloomFilterDistinctValues(t *testing.T) {
	sizes := map[string]int64{}
	for _, ndv := range []string{"", "100", "1000000"} {
		tbl := newTable(t, newCatalog(t), "id:bigint", "")
		props := map[string]string{propBloomColumn + "id": "true"}
		if ndv != "" {
			props[propBloomNDV+"id"] = ndv
		}
		require.NoError(t, tbl.SetProperties(bg, props))
		appendRows(t, tbl, numbered(4000, `{"id":%d}`)...)
		info, err := os.Stat(dataFiles(t, tbl)[0])
		require.NoError(t, err)
		sizes[ndv] = info.Size()
	}
	// 4,000 values need 4.7 KiB at 0.01, and 100 values 121 bytes.
	require.InDelta(t, 8<<10-128, sizes[""]-sizes["100"], 20)
	require.Equal(t, sizes[""], sizes["1000000"])
}

// TestBloomFilterProbability: the table's share of false positives is that of the
// file, for a column and for a leaf of a Variant.
func TestBloomFilterProbability(t *testing.T) {
	sizes := map[string]int64{}
	for _, fpp := range []string{"", "0.0001", "0.5"} {
		tbl := newTable(t, newCatalog(t), "id:bigint,doc:variant", "")
		const leafName = "doc.typed_value.n.typed_value"
		props := map[string]string{propBloomColumn + "id": "true", propBloomColumn + leafName: "true"}
		if fpp != "" {
			props[propBloomFPP+"id"], props[propBloomFPP+leafName] = fpp, fpp
		}
		require.NoError(t, tbl.SetProperties(bg, props))
		appendRows(t, tbl, numbered(4000, `{"id":%[1]d,"doc":{"n":%[1]d}}`)...)
		info, err := os.Stat(dataFiles(t, tbl)[0])
		require.NoError(t, err)
		sizes[fpp] = info.Size()
	}
	// 4,000 values need 4.7 KiB at 0.01, 9.9 at 0.0001 and 1.6 at 0.5, of which
	// the filters, two in a file, take the next power of two.
	require.InDelta(t, 2*(16-8)<<10, sizes["0.0001"]-sizes[""], 100)
	require.InDelta(t, 2*(8-2)<<10, sizes[""]-sizes["0.5"], 100)
}

func TestAppendAfterTheEndIsAnError(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	a, err := tbl.NewAppender(context.Background(), AppendOptions{})
	require.NoError(t, err)
	require.NoError(t, a.Abort())
	require.NoError(t, a.Abort())
	require.ErrorIs(t, a.WriteJSON([]byte(`{}`)), ErrClosed)
	_, err = a.Commit(context.Background())
	require.ErrorIs(t, err, ErrClosed)
}

func TestCancelledAppendLeavesNothing(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint", "")
	ctx, cancel := context.WithCancel(context.Background())
	a, err := tbl.NewAppender(ctx, AppendOptions{RowGroupBytes: 1000})
	require.NoError(t, err)
	for _, r := range numbered(5000, `{"id":%d}`) {
		require.NoError(t, a.WriteJSON([]byte(r)))
	}
	cancel()
	_, err = a.Commit(context.Background())
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, dataFiles(t, tbl))
}
