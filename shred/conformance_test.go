package shred

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/variant"
)

// sparkRow is a line of expected.ndjson.
type sparkRow struct {
	Variants map[string]struct {
		SQLNull     bool   `json:"sql_null"`
		VariantNull bool   `json:"variant_null"`
		JSON        string `json:"json"`
	} `json:"variants"`
	Gets []struct {
		Col, Path, Type, Status, String string
	} `json:"gets"`
}

// TestConformance_SparkTables reads the shredded and plain tables that Spark
// wrote, where one file has all rows: whole values, and every extraction that
// Spark answered.
func TestConformance_SparkTables(t *testing.T) {
	dirs, err := filepath.Glob(shared(t, "conformance", "*_[su]"))
	require.NoError(t, err)
	tables, gets := 0, 0
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "data", "*.parquet"))
		require.NoError(t, err)
		rows := sparkRows(t, dir)
		if len(files) != 1 {
			continue
		}
		data, err := os.ReadFile(files[0])
		require.NoError(t, err)
		f, err := pq.Open(bytes.NewReader(data), int64(len(data)), pq.ReaderOptions{})
		require.NoError(t, err)
		if f.Rows() != int64(len(rows)) || f.RowGroups() != 1 {
			continue // some rows are deleted by a vector
		}
		tables++
		gets += checkTable(t, filepath.Base(dir), f, data, rows)
	}
	require.Greater(t, tables, 20)
	require.Greater(t, gets, 5000)
}

func sparkRows(t *testing.T, dir string) []sparkRow {
	file, err := os.Open(filepath.Join(dir, "expected.ndjson"))
	require.NoError(t, err)
	defer file.Close()
	var rows []sparkRow
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r sparkRow
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		rows = append(rows, r)
	}
	require.NoError(t, lines.Err())
	return rows
}

func checkTable(t *testing.T, name string, f *pq.File, data []byte, rows []sparkRow) (gets int) {
	for col := range rows[0].Variants {
		values, byOracle, err := readFile(data, col)
		require.NoError(t, err, "%s.%s", name, col)
		for i, r := range rows {
			want := r.Variants[col]
			require.Equal(t, want.SQLNull, values[i].IsMissing(), "%s.%s row %d", name, col, i)
			if want.SQLNull {
				continue
			}
			require.Equal(t, want.VariantNull, values[i].IsNull(), "%s.%s row %d", name, col, i)
			require.Equal(t, byOracle[i].String(), values[i].String(), "%s.%s row %d", name, col, i)
			sameJSON(t, want.JSON, values[i].String(), "%s.%s row %d", name, col, i)
		}
	}
	for k, g := range rows[0].Gets {
		group, first := groupOf(f, g.Col)
		path, err := variant.ParsePath(g.Path)
		require.NoError(t, err)
		typ, err := variant.ParseType(g.Type)
		require.NoError(t, err)
		p, err := Project(group, Context{}, []Request{{path, typ, true}}, func(c int) bool {
			return f.RowGroup(0).Column(first + c).AllNull()
		})
		require.NoError(t, err)
		batches, n, err := readColumns(f, 0, first, p.Columns())
		require.NoError(t, err)
		arrays, err := p.NewReader(nil).Read(batches, n)
		require.NoError(t, err)
		for i, r := range rows {
			want := r.Gets[k]
			require.Equal(t, g.Path, want.Path)
			sameGet(t, want.Status == "ok" || want.Status == "variant_null" && g.Type == "variant", want.String, arrays[0], i,
				"%s: row %d: %s as %s", name, i, g.Path, g.Type)
			gets++
		}
	}
	return gets
}

func sameJSON(t *testing.T, want, got string, note ...any) {
	var a, b any
	require.NoError(t, json.Unmarshal([]byte(want), &a), note...)
	require.NoError(t, json.Unmarshal([]byte(got), &b), note...)
	require.Equal(t, a, b, note...)
}

func sameGet(t *testing.T, ok bool, want string, arr arrow.Array, i int, note ...any) {
	require.Equal(t, ok, arr.IsValid(i), note...)
	if !ok {
		return
	}
	switch a := arr.(type) {
	case *array.String:
		require.Equal(t, want, a.Value(i), note...)
	case *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Boolean, *array.Date32:
		require.Equal(t, want, arr.ValueStr(i), note...)
	case *array.Float64:
		f, err := strconv.ParseFloat(strings.Replace(want, "Infinity", "Inf", 1), 64)
		require.NoError(t, err, note...)
		if f == f {
			require.Equal(t, f, a.Value(i), note...)
		}
	case *array.Struct:
		if k, ok := arr.DataType().(*arrow.StructType).FieldIdx("metadata"); ok && k == 0 {
			_, err := variant.New(a.Field(0).(*array.Binary).Value(i), a.Field(1).(*array.Binary).Value(i))
			require.NoError(t, err, note...)
		}
	}
}

// TestBounds_S30_SparkManifests reads the bounds that Iceberg's Java wrote, and
// compares them with the values of the files.
func TestBounds_S30_SparkManifests(t *testing.T) {
	dir := shared(t, "conformance", "variant_bounds")
	text, err := os.ReadFile(filepath.Join(dir, "files.ndjson"))
	require.NoError(t, err)
	known := 0
	for line := range bytes.Lines(text) {
		var entry struct {
			Path  string            `json:"file_path"`
			Lower map[string]string `json:"lower_bounds"`
			Upper map[string]string `json:"upper_bounds"`
		}
		require.NoError(t, json.Unmarshal(line, &entry))
		lower, err := hex.DecodeString(entry.Lower["2"])
		require.NoError(t, err)
		upper, err := hex.DecodeString(entry.Upper["2"])
		require.NoError(t, err)
		b := Bounds{lower, upper}
		data, err := os.ReadFile(shared(t, entry.Path))
		require.NoError(t, err)
		values, _, err := readFile(data, "v")
		require.NoError(t, err)
		paths := 0
		for name := range boundsObject(t, lower).Fields() {
			path, err := variant.ParsePath(name)
			require.NoError(t, err)
			paths++
			for _, typ := range []string{"double", "bigint", "decimal(38,6)", "string", "date", "timestamp", "timestamp_ntz", "binary", "boolean"} {
				req := request(t, name, typ, true)
				r := b.Range(req)
				if !r.Known {
					continue
				}
				known++
				for _, v := range values {
					if c, ok := variant.TryCast(v.Get(path), req.Type); ok {
						if s, ok := c.Scalar(); ok && s.Kind != variant.KindNull {
							require.NotZero(t, r.Compare(LessEqual, s)&True, "%s as %s", name, typ)
							require.NotZero(t, r.Compare(GreaterEqual, s)&True, "%s as %s", name, typ)
							require.NotZero(t, r.Compare(Equal, s)&True, "%s as %s", name, typ)
						}
					}
				}
			}
		}
		require.Positive(t, paths)
	}
	require.Greater(t, known, 20)
}

// TestRealDocuments shreds documents of other people's systems, whose shapes
// nobody chose for us, and reads them back whole.
func TestRealDocuments(t *testing.T) {
	files, err := filepath.Glob(shared(t, "data", "*.ndjson"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var rows [][]byte
		for line := range bytes.Lines(text) {
			if len(bytes.TrimSpace(line)) > 0 && len(rows) < 300 {
				rows = append(rows, line)
			}
		}
		i := NewInferer(InferOptions{})
		for _, r := range rows {
			require.NoError(t, i.AddJSON(r))
		}
		s := i.Schema()
		require.Positive(t, s.Leaves(), name)
		f := writeFile(t, s, rows, 100, pq.WriterOptions{})
		own, err := FromGroup(f.group)
		require.NoError(t, err)
		require.True(t, s.Equal(own))
		for k, v := range f.values(t, 64) {
			require.Equal(t, mustJSON(t, string(rows[k])).String(), v.String(), "%s: line %d", name, k+1)
		}
	}
}
