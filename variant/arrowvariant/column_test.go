package arrowvariant

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

func parse(t testing.TB, text string) variant.Value {
	v, err := variant.ParseJSON([]byte(text))
	require.NoError(t, err)
	return v
}

var docs = []string{
	`null`, `true`, `1`, `-300`, `1.50`, `1e10`, `"text"`, `[]`, `{}`, `[1,[2,{"a":null}]]`, `{"a":{"b":[1.25,"x"]},"z":""}`,
}

// TestNewArray_RoundTrip also holds rows that are NULL.
func TestNewArray_RoundTrip(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	values := []variant.Value{{}}
	for _, text := range docs {
		values = append(values, parse(t, text))
	}
	values = append(values, variant.Value{})
	arr := NewArray(mem, values)
	defer arr.Release()
	require.Equal(t, 2, arr.NullN())
	for _, a := range []arrow.Array{arr, arr.Storage()} {
		c, err := NewColumn(a)
		require.NoError(t, err)
		require.Equal(t, len(values), c.Len())
		i := 0
		for v, err := range c.Values() {
			require.NoError(t, err)
			require.Equal(t, values[i].IsMissing(), c.IsNull(i))
			require.Equal(t, string(values[i].Bytes()), string(v.Bytes()))
			require.Equal(t, string(values[i].Metadata()), string(v.Metadata()))
			i++
		}
		require.Equal(t, len(values), i)
	}
}

// TestNewArray_V26_NamesAndRequiredFields: the canonical extension name through
// IPC, the old one read as well; in Parquet a group VARIANT(1) of two required
// columns.
func TestNewArray_V26_NamesAndRequiredFields(t *testing.T) {
	arr := NewArray(memory.DefaultAllocator, []variant.Value{parse(t, `{"a":1}`)})
	defer arr.Release()
	require.Equal(t, "arrow.parquet.variant", arr.DataType().(arrow.ExtensionType).ExtensionName())
	sc := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arr.DataType(), Nullable: true}}, nil)
	batch := array.NewRecordBatch(sc, []arrow.Array{arr}, 1)
	defer batch.Release()
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(sc))
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())
	require.True(t, bytes.Contains(buf.Bytes(), []byte("arrow.parquet.variant")))
	for _, stream := range [][]byte{buf.Bytes(), legacyName(t, sc, arr)} {
		r, err := ipc.NewReader(bytes.NewReader(stream))
		require.NoError(t, err)
		require.True(t, r.Next())
		c, err := NewColumn(r.RecordBatch().Column(0))
		require.NoError(t, err)
		v, err := c.Value(0)
		require.NoError(t, err)
		require.Equal(t, `{"a":1}`, v.String())
		r.Release()
	}

	root, err := pqarrow.ToParquet(sc, nil, pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	group := root.Root().Field(0).(*schema.GroupNode)
	require.Contains(t, group.LogicalType().String(), "Variant")
	require.Equal(t, 2, group.NumFields())
	for i := range 2 {
		require.Equal(t, parquet.Repetitions.Required, group.Field(i).RepetitionType())
	}
}

// legacyName is a stream whose column carries the name from before the canonical
// one, in its field's metadata.
func legacyName(t *testing.T, sc *arrow.Schema, arr *extensions.VariantArray) []byte {
	old := arrow.NewSchema([]arrow.Field{{
		Name: "v", Type: arr.Storage().DataType(), Nullable: true,
		Metadata: arrow.MetadataFrom(map[string]string{
			"ARROW:extension:name": "parquet.variant", "ARROW:extension:metadata": "",
		}),
	}}, nil)
	batch := array.NewRecordBatch(old, []arrow.Array{arr.Storage()}, 1)
	defer batch.Release()
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(old))
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())
	require.True(t, bytes.Contains(buf.Bytes(), []byte("parquet.variant")))
	require.False(t, bytes.Contains(buf.Bytes(), []byte("arrow.parquet.variant")))
	_ = sc
	return buf.Bytes()
}

// TestColumn_ShreddedCases reads the shredded files of apache/parquet-testing, each
// written by Iceberg's Java library, and compares with the values beside them.
func TestColumn_ShreddedCases(t *testing.T) {
	root := os.Getenv("FRAZIL_SHARED")
	if root == "" {
		t.Skip("FRAZIL_SHARED is not set")
	}
	dir := filepath.Join(root, "parquet-testing", "shredded_variant")
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	require.NoError(t, err)
	var cases []struct {
		Number       int      `json:"case_number"`
		Test         string   `json:"test"`
		ParquetFile  string   `json:"parquet_file"`
		VariantFile  string   `json:"variant_file"`
		VariantFiles []string `json:"variant_files"`
		ErrorMessage string   `json:"error_message"`
		Notes        string   `json:"notes"`
	}
	require.NoError(t, json.Unmarshal(text, &cases))
	read := 0
	for _, c := range cases {
		if c.ParquetFile == "" {
			continue
		}
		t.Run(fmt.Sprintf("%03d %s", c.Number, c.Test), func(t *testing.T) {
			arr, err := readColumn(filepath.Join(dir, c.ParquetFile))
			if err != nil {
				t.Skip("arrow-go does not open it: ", err)
			}
			defer arr.Release()
			got, err := allValues(arr)
			switch {
			case c.ErrorMessage != "":
				require.Error(t, err)
				return
			case err != nil && c.Notes != "":
				return // not valid by the spec: may be refused
			}
			require.NoError(t, err)
			files := c.VariantFiles
			if c.VariantFile != "" {
				files = []string{c.VariantFile}
			}
			require.Len(t, got, len(files))
			for i, name := range files {
				if name == "" {
					require.True(t, got[i].IsMissing())
					continue
				}
				want := readVariant(t, filepath.Join(dir, name))
				require.True(t, variant.Equal(want, got[i]), "want %s, got %s", want, got[i])
				require.Equal(t, want.Kind(), got[i].Kind())
			}
			read++
		})
	}
	require.Greater(t, read, 100)
}

func allValues(arr arrow.Array) (out []variant.Value, err error) {
	c, err := NewColumn(arr)
	if err != nil {
		return nil, err
	}
	for v, err := range c.Values() {
		if err != nil {
			return nil, err
		}
		out = append(out, v.Clone())
	}
	return out, nil
}

func readColumn(path string) (arrow.Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	pf, err := file.NewParquetReader(f)
	if err != nil {
		return nil, err
	}
	r, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	table, err := r.ReadTable(context.Background())
	if err != nil {
		return nil, err
	}
	defer table.Release()
	at := table.Schema().FieldIndices("var")
	if len(at) == 0 {
		return nil, fmt.Errorf("no column var in %s", table.Schema())
	}
	return array.Concatenate(table.Column(at[0]).Data().Chunks(), memory.DefaultAllocator)
}

// readVariant splits a file that holds metadata and value one after the other.
func readVariant(t *testing.T, path string) variant.Value {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	w := int(b[0]>>6) + 1
	word := func(at int) int {
		var x [8]byte
		copy(x[:], b[at:at+w])
		return int(binary.LittleEndian.Uint64(x[:]))
	}
	n := word(1)
	end := 1 + (n+2)*w + word(1+(n+1)*w)
	v, err := variant.New(b[:end], b[end:])
	require.NoError(t, err)
	return v
}

// TestColumn_ShreddedRows builds the states of the shredding spec by hand.
func TestColumn_ShreddedRows(t *testing.T) {
	pair := func(typed arrow.DataType) arrow.DataType {
		return arrow.StructOf(
			arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary, Nullable: true},
			arrow.Field{Name: "typed_value", Type: typed, Nullable: true})
	}
	typ := arrow.StructOf(
		arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary},
		arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary, Nullable: true},
		arrow.Field{Name: "typed_value", Nullable: true, Type: arrow.StructOf(
			arrow.Field{Name: "a", Type: pair(arrow.PrimitiveTypes.Int64)},
			arrow.Field{Name: "l", Type: pair(arrow.ListOfNonNullable(pair(arrow.BinaryTypes.String)))},
		)})
	// a, l, x are names 0, 1, 2; AQ== is a Variant null in short form of others below.
	metadata := "EQMAAQIDYWx4" // 11 03 00 01 02 03 "alx"
	object := func(value, a, l string) string {
		return fmt.Sprintf(`{"metadata":%q,"value":%s,"typed_value":{"a":%s,"l":%s}}`, metadata, value, a, l)
	}
	const none = `{"value":null,"typed_value":null}`
	five := `"DAU="`          // 0c05
	restX := `"AgECAAIMBQ=="` // {"x":5}
	restA := `"AgEAAAIMBQ=="` // {"a":5}
	list := `{"value":null,"typed_value":[{"value":null,"typed_value":"s"},{"value":"DAU=","typed_value":null},` + none + `]}`
	for _, c := range []struct{ name, row, want string }{
		{"S15 null row", `null`, "<missing>"},
		{"all fields absent", object("null", none, none), `{}`},
		{"typed", object("null", `{"value":null,"typed_value":7}`, none), `{"a":7}`},
		{"field in value", object("null", `{"value":`+five+`,"typed_value":null}`, none), `{"a":5}`},
		{"partial", object(restX, `{"value":null,"typed_value":7}`, none), `{"a":7,"x":5}`},
		{"S15 list with a missing element", object("null", none, list), `{"l":["s",5,null]}`},
		{"V17 empty list", object("null", none, `{"value":null,"typed_value":[]}`), `{"l":[]}`},
		{"no object", fmt.Sprintf(`{"metadata":%q,"value":%s,"typed_value":null}`, metadata, five), `5`},
		{"both NULL", fmt.Sprintf(`{"metadata":%q,"value":null,"typed_value":null}`, metadata), `null`},
		{"S17 both set", object("null", `{"value":`+five+`,"typed_value":7}`, none), ""},
		{"S17 field in both", object(restA, `{"value":null,"typed_value":7}`, none), ""},
		{"S17 value no object", object(five, `{"value":null,"typed_value":7}`, none), ""},
		{"S17 object outside", fmt.Sprintf(`{"metadata":%q,"value":%s,"typed_value":null}`, metadata, restX), ""},
		{"name not in the dictionary", strings.Replace(object("null", `{"value":null,"typed_value":7}`, none), metadata, "EQAA", 1), ""},
		{"corrupt value", fmt.Sprintf(`{"metadata":%q,"value":"FAE=","typed_value":null}`, metadata), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			arr, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader("["+c.row+"]"))
			require.NoError(t, err)
			defer arr.Release()
			col, err := NewColumn(arr)
			require.NoError(t, err)
			v, err := col.Value(0)
			if c.want == "" {
				require.ErrorIs(t, err, variant.ErrCorrupt)
				require.ErrorContains(t, err, "row 0")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, v.String())
		})
	}
}

// TestNewColumn_S19_ForeignTypes: what the shredding spec does not list is refused.
func TestNewColumn_S19_ForeignTypes(t *testing.T) {
	bin := arrow.BinaryTypes.Binary
	group := func(typed arrow.DataType) arrow.DataType {
		return arrow.StructOf(arrow.Field{Name: "metadata", Type: bin}, arrow.Field{Name: "value", Type: bin, Nullable: true},
			arrow.Field{Name: "typed_value", Type: typed, Nullable: true})
	}
	for _, typ := range []arrow.DataType{
		arrow.PrimitiveTypes.Int32, arrow.StructOf(), arrow.StructOf(arrow.Field{Name: "metadata", Type: bin}),
		arrow.StructOf(arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "value", Type: bin}),
		arrow.StructOf(arrow.Field{Name: "metadata", Type: bin}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.String}),
		arrow.StructOf(arrow.Field{Name: "metadata", Type: bin}, arrow.Field{Name: "value", Type: bin}, arrow.Field{Name: "x", Type: bin}),
		group(arrow.PrimitiveTypes.Uint8), group(arrow.PrimitiveTypes.Uint64), group(arrow.FixedWidthTypes.Float16),
		group(arrow.FixedWidthTypes.Date64), group(arrow.FixedWidthTypes.Time32ms), group(arrow.FixedWidthTypes.Time64ns),
		group(arrow.FixedWidthTypes.Timestamp_ms), group(arrow.FixedWidthTypes.Duration_us),
		group(&arrow.FixedSizeBinaryType{ByteWidth: 4}), group(&arrow.Decimal256Type{Precision: 40, Scale: 2}),
		group(arrow.ListOf(arrow.PrimitiveTypes.Int32)), group(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32})),
		extensions.NewUUIDType(),
	} {
		arr := array.MakeArrayOfNull(memory.DefaultAllocator, typ, 1)
		_, err := NewColumn(arr)
		require.ErrorIs(t, err, ErrType, typ)
		arr.Release()
	}
}
