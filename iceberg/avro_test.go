package iceberg

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/stretchr/testify/require"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/frazil/frazil/variant"
)

// avroTable is a table with a column of each kind, and the schema of an Avro
// file for it as Iceberg's writers make them. In the file, id is still an int,
// and column late is missing.
func avroTable(t testing.TB) (*Table, string) {
	t.Helper()
	tbl := newTable(t, newCatalog(t), "id:bigint,s:string,n:decimal(9,2),d:date,ts:timestamp,l:array<int>,m:map<string,bigint>,mi:map<int,string>,st:struct<a:double,b:boolean>,u:uuid,v:variant", "")
	require.NoError(t, tbl.AddColumn(context.Background(), "", Column{Name: "late", Type: ice.StringType{}, Default: "x"}))
	id := func(name string) int { return fieldByName(t, tbl, name).ID }
	l := fieldByName(t, tbl, "l").Type.(*ice.ListType)
	m, mi := fieldByName(t, tbl, "m").Type.(*ice.MapType), fieldByName(t, tbl, "mi").Type.(*ice.MapType)
	st := fieldByName(t, tbl, "st").Type.(*ice.StructType)
	opt := func(name, typ string) string {
		return fmt.Sprintf(`{"name":%q,"type":["null",%s],"default":null,"field-id":%d}`, name, typ, id(name))
	}
	return tbl, fmt.Sprintf(`{"type":"record","name":"table","fields":[%s]}`, strings.Join([]string{
		fmt.Sprintf(`{"name":"id","type":"int","field-id":%d}`, id("id")),
		opt("s", `"string"`),
		opt("n", `{"type":"fixed","name":"decimal_9_2","size":4,"logicalType":"decimal","precision":9,"scale":2}`),
		opt("d", `{"type":"int","logicalType":"date"}`),
		opt("ts", `{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}`),
		opt("l", fmt.Sprintf(`{"type":"array","items":["null","int"],"element-id":%d}`, l.ElementID)),
		opt("m", fmt.Sprintf(`{"type":"map","values":"long","key-id":%d,"value-id":%d}`, m.KeyID, m.ValueID)),
		opt("mi", fmt.Sprintf(`{"type":"array","logicalType":"map","items":{"type":"record","name":"kv","fields":[
			{"name":"key","type":"int","field-id":%d},{"name":"value","type":["null","string"],"field-id":%d}]}}`, mi.KeyID, mi.ValueID)),
		opt("st", fmt.Sprintf(`{"type":"record","name":"r","fields":[{"name":"b","type":["null","boolean"],"field-id":%d},{"name":"a","type":["null","double"],"field-id":%d}]}`,
			st.FieldList[1].ID, st.FieldList[0].ID)),
		opt("u", `{"type":"fixed","name":"uuid_fixed","size":16,"logicalType":"uuid"}`),
		opt("v", `{"type":"record","name":"rv","fields":[{"name":"metadata","type":"bytes"},{"name":"value","type":"bytes"}]}`),
	}, ","))
}

// avroBytes writes rows with the Avro library.
func avroBytes(t testing.TB, schema string, codec ocf.Codec, rows ...map[string]any) []byte {
	t.Helper()
	s, err := avro.Parse(schema, storedForms()...)
	require.NoError(t, err)
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, s, ocf.WithCodec(codec), ocf.WithSchema(schema))
	require.NoError(t, err)
	for _, r := range rows {
		require.NoError(t, w.Encode(r))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// addAvro puts a file into the table.
func addAvro(t testing.TB, tbl *Table, name string, content []byte, rows int, format ice.FileFormat) {
	t.Helper()
	ctx := context.Background()
	fs, err := tbl.FS(ctx)
	require.NoError(t, err)
	location := path.Join(tbl.Location(), "data", name)
	require.NoError(t, fs.(iceio.WriteFileIO).WriteFile(location, content))
	b, err := ice.NewDataFileBuilder(*ice.UnpartitionedSpec, ice.EntryContentData, location, format, nil, nil, nil, int64(rows), int64(len(content)))
	require.NoError(t, err)
	_, err = tbl.commitChange(ctx, change{build: func(context.Context, *Table) (*delta, error) {
		return &delta{rows: []ice.DataFile{b.Build()}}, nil
	}})
	require.NoError(t, err)
}

func avroRows(t testing.TB) []map[string]any {
	v, err := variant.ParseJSON([]byte(`{"a":{"b":1.5},"k":"x"}`))
	require.NoError(t, err)
	return []map[string]any{
		{
			"id": int32(1), "s": "one", "n": []byte{0xff, 0xff, 0xff, 0x85}, "d": int32(20635), "ts": int64(1782864000000001),
			"l": []any{int32(1), nil}, "m": map[string]any{"z": int64(2), "y": int64(1)},
			"mi": []any{map[string]any{"key": int32(7), "value": "seven"}, map[string]any{"key": int32(3), "value": nil}},
			"st": map[string]any{"a": 0.5, "b": true}, "u": []byte("0123456789abcdef"),
			"v": map[string]any{"metadata": v.Metadata(), "value": v.Bytes()},
		},
		{"id": int32(2)},
	}
}

var avroWant = []string{
	`{"id":1,"s":"one","n":-1.23,"d":"2026-07-01","ts":"2026-07-01T00:00:00.000001Z","l":[1,null],"m":{"y":1,"z":2},` +
		`"mi":{"7":"seven","3":null},"st":{"a":0.5,"b":true},"u":"30313233-3435-3637-3839-616263646566","v":{"a":{"b":1.5},"k":"x"},"late":"x"}`,
	`{"id":2,"s":null,"n":null,"d":null,"ts":null,"l":null,"m":null,"mi":null,"st":null,"u":null,"v":null,"late":"x"}`,
}

// TestAvroDataFiles reads Avro files like others: by field id, promoted, with
// defaults, filters, paths and deletes.
func TestAvroDataFiles(t *testing.T) {
	for _, codec := range []ocf.Codec{ocf.DeflateCodec(6), ocf.SnappyCodec(), ocf.MustZstdCodec(nil, nil)} {
		t.Run(codec.Name(), func(t *testing.T) {
			tbl, schema := avroTable(t)
			addAvro(t, tbl, "a.avro", avroBytes(t, schema, codec, avroRows(t)...), 2, ice.AvroFile)
			require.Equal(t, avroWant, scanJSON(t, tbl, ScanOptions{}))
			require.Equal(t, avroWant[1:], scanJSON(t, tbl, ScanOptions{Where: where(t, "v IS NULL AND late = 'x'")}))
			require.Equal(t, []string{`{"v:$.a.b":1.5}`, `{"v:$.a.b":null}`},
				renamed(scanJSON(t, tbl, ScanOptions{Extractions: []Extraction{extraction(t, "v", "$.a.b", "double")}})))
			deleteRows(t, tbl, "id = 1")
			require.Equal(t, avroWant[1:], scanJSON(t, tbl, ScanOptions{}))
		})
	}
}

// renamed gives the one column of each row a name that the tests choose.
func renamed(rows []string) []string {
	for i, r := range rows {
		_, value, _ := strings.Cut(r, `":`)
		rows[i] = `{"v:$.a.b":` + value
	}
	return rows
}

// TestAvroWithoutIDs takes them from the name mapping.
func TestAvroWithoutIDs(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint,s:string", "")
	mapping := fmt.Sprintf(`[{"field-id":%d,"names":["id"]},{"field-id":%d,"names":["text"]}]`, fieldByName(t, tbl, "id").ID, fieldByName(t, tbl, "s").ID)
	_, err := tbl.commitChange(context.Background(), change{properties: map[string]string{nameMappingKey: mapping}})
	require.NoError(t, err)
	content := avroBytes(t, `{"type":"record","name":"r","fields":[{"name":"text","type":"string"},{"name":"id","type":"int"}]}`, ocf.SnappyCodec(),
		map[string]any{"text": "a", "id": int32(3)})
	addAvro(t, tbl, "a.avro", content, 1, ice.AvroFile)
	require.Equal(t, []string{`{"id":3,"s":"a"}`}, scanJSON(t, tbl, ScanOptions{}))
}

// TestORCIsRefused by name.
func TestORCIsRefused(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:bigint", "")
	addAvro(t, tbl, "a.orc", []byte("ORC"), 1, ice.OrcFile)
	require.ErrorContains(t, scanError(t, tbl), "ORC")
	require.ErrorIs(t, scanError(t, tbl), ErrUnsupported)
}

func scanError(t testing.TB, tbl *Table) error {
	t.Helper()
	scan, err := tbl.Scan(context.Background(), ScanOptions{})
	require.NoError(t, err)
	for rec, err := range scan.Batches(context.Background()) {
		if err != nil {
			return err
		}
		rec.Release()
	}
	return nil
}

// TestBrokenAvroFails cuts a file at every length and flips each byte: what is
// cut is an error, and nothing panics or leaves a temporary file.
func TestBrokenAvroFails(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	_, schema := avroTable(t)
	whole := avroBytes(t, schema, ocf.DeflateCodec(6), avroRows(t)...)
	ctx := context.Background()
	for n := range whole {
		out, err := spoolAvro(ctx, bytes.NewReader(whole[:n]))
		if err == nil { // cut between header and first block: a file without rows
			require.NoError(t, out.Close())
			require.Zero(t, avroRowsIn(t, whole[:n]))
		} else {
			require.ErrorIs(t, err, ErrCorrupt, "cut at %d", n)
		}
		flipped := bytes.Clone(whole)
		flipped[n] ^= 0x55
		if out, err = spoolAvro(ctx, bytes.NewReader(flipped)); err == nil {
			require.NoError(t, out.Close())
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// avroRowsIn counts rows with the library alone.
func avroRowsIn(t testing.TB, content []byte) int {
	r, err := ocf.NewReader(bytes.NewReader(content))
	require.NoError(t, err)
	n := 0
	for {
		var row any
		if r.Decode(&row) != nil {
			return n
		}
		n++
	}
}

// TestAvroTypesRefused lists schemas that Iceberg does not describe.
func TestAvroTypesRefused(t *testing.T) {
	for typ, want := range map[string]error{
		`["int","string"]`:                                 ErrUnsupported,
		`["null","int","string"]`:                          ErrUnsupported,
		`{"type":"enum","name":"e","symbols":["a"]}`:       ErrUnsupported,
		`{"type":"int","logicalType":"time-millis"}`:       ErrUnsupported,
		`{"type":"long","logicalType":"timestamp-millis"}`: ErrUnsupported,
		`["null","r"]`:                                     ErrUnsupported,
		strings.Repeat(`{"type":"array","items":`, 80) + `"int"` + strings.Repeat("}", 80): ErrCorrupt,
	} {
		s, err := avro.Parse(`{"type":"record","name":"r","fields":[{"name":"a","type":` + typ + `}]}`)
		require.NoError(t, err, typ)
		_, err = newSpooler(&bytes.Buffer{}, s)
		require.ErrorIs(t, err, want, typ)
	}
}

func TestCoefficient(t *testing.T) {
	for _, c := range []struct {
		raw  []byte
		want string
		ok   bool
	}{
		{[]byte{0}, "0", true},
		{[]byte{0xff}, "-1", true},
		{[]byte{0x7f, 0xff}, "32767", true},
		{[]byte{0x80, 0}, "-32768", true},
		{bytes.Repeat([]byte{0xff}, 20), "-1", true},
		{append([]byte{0}, bytes.Repeat([]byte{0xff}, 16)...), "", false},
		{append([]byte{0x7f}, bytes.Repeat([]byte{0xff}, 15)...), "170141183460469231731687303715884105727", true},
	} {
		n, ok := coefficient(c.raw)
		require.Equal(t, c.ok, ok)
		if ok {
			require.Equal(t, c.want, n.BigInt().String())
		}
	}
}
