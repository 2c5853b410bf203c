package iceberg

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

// bound decodes a bound with iceberg-go.
func bound(t *testing.T, typ ice.Type, b []byte) string {
	t.Helper()
	l, err := ice.LiteralFromBytes(typ, b)
	require.NoError(t, err)
	return l.String()
}

func TestMetricsOfDataFiles(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,name:string,d:decimal(9,2),d20:decimal(20,0),x:double,day:date,b:binary,s:struct<a:int>,l:array<int>,v:variant", "")
	c := appendRows(t, tbl,
		`{"id":5,"name":"`+strings.Repeat("é", 20)+`","d":1.5,"d20":-129,"x":"NaN","day":"2026-07-01","b":"//////////////////////8=","s":{"a":7},"l":[1,null],"v":{"k":10}}`,
		`{"id":-1,"name":"abc","d":-300,"d20":300,"x":-0.5,"day":null,"b":"AA==","s":null,"l":null,"v":{"k":20}}`,
	)
	f := c.Files[0]
	fields := map[string]ice.NestedField{}
	for _, nf := range tbl.Schema().Fields() {
		fields[nf.Name] = nf
	}
	bounds := func(name string) string {
		nf := fields[name]
		return bound(t, nf.Type, f.LowerBoundValues()[nf.ID]) + " " + bound(t, nf.Type, f.UpperBoundValues()[nf.ID])
	}
	require.Equal(t, "-1 5", bounds("id"))
	require.Equal(t, "abc "+strings.Repeat("é", 15)+"ê", bounds("name"), "16 characters, the last one raised")
	require.Equal(t, "-300.00 1.50", bounds("d"))
	require.Equal(t, "-129 300", bounds("d20"))
	require.Equal(t, []byte{0xff, 0x7f}, f.LowerBoundValues()[fields["d20"].ID], "fewest bytes")
	require.Equal(t, "-0.5 -0.5", bounds("x"), "NaN is no bound")
	require.EqualValues(t, 1, f.NaNValueCounts()[fields["x"].ID])
	require.Equal(t, "2026-07-01 2026-07-01", bounds("day"))
	require.EqualValues(t, 1, f.NullValueCounts()[fields["day"].ID])
	require.EqualValues(t, 2, f.ValueCounts()[fields["day"].ID])
	require.NotContains(t, f.UpperBoundValues(), fields["b"].ID, "no value above 16 bytes of 0xff")
	inner := fields["s"].Type.(*ice.StructType).FieldList[0]
	require.Equal(t, "7", bound(t, inner.Type, f.LowerBoundValues()[inner.ID]))
	element := fields["l"].Type.(*ice.ListType).ElementField()
	require.NotContains(t, f.LowerBoundValues(), element.ID, "nothing below lists")
	require.Contains(t, f.ColumnSizes(), element.ID)
	require.EqualValues(t, 4, f.SplitOffsets()[0])
	// Variant bounds are the metadata and the bytes of an object (spec,
	// "Bounds for Variant").
	lower, err := splitVariant(f.LowerBoundValues()[fields["v"].ID])
	require.NoError(t, err)
	require.Equal(t, `{"$['k']":10}`, lower.String())
	upper, err := splitVariant(f.UpperBoundValues()[fields["v"].ID])
	require.NoError(t, err)
	require.Equal(t, `{"$['k']":20}`, upper.String())
	info, err := os.Stat(plainPath(f.FilePath()))
	require.NoError(t, err)
	require.Equal(t, info.Size(), f.FileSizeBytes())
}

// splitVariant finds the end of the metadata by trying.
func splitVariant(b []byte) (variant.Value, error) {
	for n := 1; n < len(b); n++ {
		if _, err := variant.ParseMetadata(b[:n]); err == nil {
			if v, err := variant.New(b[:n], b[n:]); err == nil {
				return v, nil
			}
		}
	}
	return variant.Value{}, fmt.Errorf("no variant in %x", b)
}

func TestMetricsModes(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "a:string,b:string,c:string,d:string", "")
	require.NoError(t, tbl.SetProperties(bg, map[string]string{
		propMetricsDefault: "full", propMetricsColumn + "b": "none", propMetricsColumn + "c": "counts", propMetricsColumn + "d": "truncate(2)",
	}))
	long := strings.Repeat("z", 40)
	c := appendRows(t, tbl, fmt.Sprintf(`{"a":%q,"b":%q,"c":%q,"d":%q}`, long, long, long, long))
	f := c.Files[0]
	require.Equal(t, long, string(f.UpperBoundValues()[1]))
	require.NotContains(t, f.ValueCounts(), 2)
	require.Contains(t, f.ColumnSizes(), 2)
	require.Contains(t, f.ValueCounts(), 3)
	require.NotContains(t, f.UpperBoundValues(), 3)
	require.Equal(t, "z{", string(f.UpperBoundValues()[4]))
	require.Equal(t, "zz", string(f.LowerBoundValues()[4]))
	require.NoError(t, tbl.SetProperties(bg, map[string]string{propMetricsDefault: "truncate(x)"}))
	_, err := tbl.NewAppender(bg, AppendOptions{})
	require.ErrorIs(t, err, ErrInvalid)
}

// jsonBatch makes a batch of the table's schema from JSON.
func jsonBatch(t testing.TB, mem memory.Allocator, schema *arrow.Schema, rows string) arrow.RecordBatch {
	t.Helper()
	b, _, err := array.RecordFromJSON(mem, schema, strings.NewReader(rows))
	require.NoError(t, err)
	return b
}

func TestAppendBatches(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	cat := newCatalog(t)
	cols, err := ParseColumns("id:bigint,k:string,l:array<int>,v:variant")
	require.NoError(t, err)
	cols = append(cols, Column{Name: "r", Type: ice.StringType{}, Default: "EMEA"})
	tbl, err := cat.Create(bg, "ns.t", TableSpec{Columns: cols, Partition: []PartitionField{{Source: "k"}}})
	require.NoError(t, err)
	full := ArrowSchema(tbl.Schema())
	part := arrow.NewSchema(full.Fields()[:3], nil)
	a, err := tbl.NewAppender(bg, AppendOptions{})
	require.NoError(t, err)
	write := func(s *arrow.Schema, rows string) {
		batch := jsonBatch(t, mem, s, rows)
		require.NoError(t, a.WriteBatch(batch))
		batch.Release()
	}
	write(part, `[{"id":1,"k":"a","l":[1,2]},{"id":2,"k":"a","l":null},{"id":3,"k":"b","l":[]}]`)
	require.NoError(t, a.WriteJSON([]byte(`{"id":4,"k":"a","v":{"x":1}}`)))
	vb := variantColumn(t, mem, `{"x":5}`, ``, `null`)
	ids := jsonBatch(t, mem, arrow.NewSchema(full.Fields()[:2], nil), `[{"id":5,"k":"b"},{"id":6,"k":"a"},{"id":7,"k":null}]`)
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{full.Field(0), full.Field(1), full.Field(3)}, nil),
		[]arrow.Array{ids.Column(0), ids.Column(1), vb}, 3)
	require.NoError(t, a.WriteBatch(batch))
	batch.Release()
	ids.Release()
	vb.Release()
	c, err := a.Commit(bg)
	require.NoError(t, err)
	require.EqualValues(t, 7, c.Rows)
	require.Len(t, c.Files, 3)
	require.Equal(t, []string{
		`{"id":1,"k":"a","l":[1,2],"v":null,"r":"EMEA"}`,
		`{"id":2,"k":"a","l":null,"v":null,"r":"EMEA"}`,
		`{"id":4,"k":"a","l":null,"v":{"x":1},"r":"EMEA"}`,
		`{"id":6,"k":"a","l":null,"v":null,"r":"EMEA"}`,
		`{"id":3,"k":"b","l":[],"v":null,"r":"EMEA"}`,
		`{"id":5,"k":"b","l":null,"v":{"x":5},"r":"EMEA"}`,
		`{"id":7,"k":null,"l":null,"v":null,"r":"EMEA"}`,
	}, readJSON(t, tbl))
}

// variantColumn makes a Variant column; "" is SQL NULL.
func variantColumn(t testing.TB, mem memory.Allocator, rows ...string) arrow.Array {
	t.Helper()
	b := array.NewStructBuilder(mem, variantStorage)
	defer b.Release()
	for _, r := range rows {
		if r == "" {
			b.AppendNull()
			continue
		}
		v, err := variant.ParseJSON([]byte(r))
		require.NoError(t, err)
		b.Append(true)
		b.FieldBuilder(0).(*array.BinaryBuilder).Append(v.Metadata())
		b.FieldBuilder(1).(*array.BinaryBuilder).Append(v.Bytes())
	}
	return b.NewArray()
}

func TestBadBatches(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	cat := newCatalog(t)
	cols := []Column{{Name: "id", Type: ice.Int64Type{}, Required: true}, {Name: "v", Type: ice.VariantType{}}}
	tbl, err := cat.Create(bg, "ns.t", TableSpec{Columns: cols})
	require.NoError(t, err)
	nullable := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	batch := jsonBatch(t, mem, nullable, `[{"id":1},{"id":null},{"id":3},{"id":null}]`)
	defer batch.Release()
	one := func(yield func(arrow.RecordBatch, error) bool) { yield(batch, nil) }
	_, err = tbl.Append(bg, one, AppendOptions{})
	var re *RowError
	require.ErrorAs(t, err, &re)
	require.EqualValues(t, 2, re.Line)
	require.Equal(t, "id", re.Column)
	var lines []int64
	c, err := tbl.Append(bg, one, AppendOptions{Reject: func(line int64, _ []byte, _ error) error {
		lines = append(lines, line)
		return nil
	}})
	require.NoError(t, err)
	require.Equal(t, []int64{2, 4}, lines)
	require.EqualValues(t, 2, c.Rows)
	require.Equal(t, []string{`{"id":1,"v":null}`, `{"id":3,"v":null}`}, readJSON(t, tbl))

	other := jsonBatch(t, mem, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil), `[{"x":1}]`)
	defer other.Release()
	_, err = tbl.Append(bg, func(yield func(arrow.RecordBatch, error) bool) { yield(other, nil) }, AppendOptions{})
	require.ErrorIs(t, err, ErrInvalid)
}
