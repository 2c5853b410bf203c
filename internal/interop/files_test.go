//go:build interop

package interop

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
)

// fileEngine reads and writes Parquet files whose only column, doc, is a Variant.
// A missing value stands for SQL NULL.
type fileEngine interface {
	read(t *testing.T, file string) ([]variant.Value, error)
	// write shreds by the schema, not at all without one.
	write(t *testing.T, file string, values []variant.Value, schema *shred.Schema) error
}

// program is an engine behind a command line; see testdata/rust/src/main.rs.
type program struct{ path string }

// line is a row as programs print and take it, null for SQL NULL.
type line struct {
	Metadata string `json:"metadata"`
	Value    string `json:"value"`
	JSON     string `json:"json"`
}

func (p program) read(t *testing.T, file string) ([]variant.Value, error) {
	t.Helper()
	out, err := tryOutput(t, p.path, "read", file)
	if err != nil {
		return nil, err
	}
	var values []variant.Value
	for i, text := range outputLines(out) {
		var l *line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", i, err)
		}
		v, err := l.decode()
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		values = append(values, v)
	}
	return values, nil
}

// decode parses a row, and checks that the engine's own JSON says the same.
func (l *line) decode() (variant.Value, error) {
	if l == nil {
		return variant.Value{}, nil
	}
	m, err := hex.DecodeString(l.Metadata)
	if err != nil {
		return variant.Value{}, err
	}
	b, err := hex.DecodeString(l.Value)
	if err != nil {
		return variant.Value{}, err
	}
	v, err := variant.New(m, b)
	if err != nil || l.JSON == "" || !isJSON(v) {
		return v, err
	}
	if d := differenceOfTexts(v.String(), l.JSON); d != "" {
		return v, fmt.Errorf("its JSON is not its value: %s", d)
	}
	return v, nil
}

// isJSON tells whether a value has only kinds that JSON has as well.
func isJSON(v variant.Value) bool {
	switch k := v.Kind(); k {
	case variant.KindObject:
		for _, x := range v.Fields() {
			if !isJSON(x) {
				return false
			}
		}
		return true
	case variant.KindArray:
		for _, x := range v.Elements() {
			if !isJSON(x) {
				return false
			}
		}
		return true
	case variant.KindDouble:
		x, _ := v.Float64()
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	default:
		return k <= variant.KindInt64 || k.IsDecimal() || k == variant.KindString
	}
}

func (p program) write(t *testing.T, file string, values []variant.Value, schema *shred.Schema) error {
	t.Helper()
	var text bytes.Buffer
	for _, v := range values {
		if v.IsMissing() {
			text.WriteString("null\n")
			continue
		}
		fmt.Fprintf(&text, "{\"metadata\":\"%x\",\"value\":\"%x\"}\n", v.Metadata(), v.Bytes())
	}
	in := filepath.Join(t.TempDir(), "rows")
	require.NoError(t, os.WriteFile(in, text.Bytes(), 0o600))
	args := []string{"write", in, file}
	if schema != nil {
		args = append(args, schemaJSON(schema))
	}
	_, err := tryOutput(t, p.path, args...)
	return err
}

// typeNames are the leaf types as programs take them, apart from decimals.
var typeNames = map[variant.Kind]string{
	variant.KindBool: "boolean", variant.KindInt8: "int8", variant.KindInt16: "int16", variant.KindInt32: "int32", variant.KindInt64: "int64",
	variant.KindFloat: "float", variant.KindDouble: "double", variant.KindString: "string", variant.KindBinary: "binary", variant.KindUUID: "uuid",
	variant.KindDate: "date", variant.KindTime: "time", variant.KindTimestamp: "timestamp", variant.KindTimestampNTZ: "timestamp_ntz",
	variant.KindTimestampNanos: "timestamp_nanos", variant.KindTimestampNTZNanos: "timestamp_ntz_nanos",
}

// schemaJSON writes a schema as programs take it. It has no Opaque nodes: those
// engines cannot leave a field or an element untyped.
func schemaJSON(s *shred.Schema) string {
	switch s.Shape {
	case shred.Object:
		var fields []string
		for _, f := range s.Fields {
			fields = append(fields, strconv.Quote(f.Name)+":"+schemaJSON(f.Schema))
		}
		return "{" + strings.Join(fields, ",") + "}"
	case shred.List:
		return "[" + schemaJSON(s.Elem) + "]"
	case shred.Leaf:
		if name, ok := typeNames[s.Type.Kind]; ok {
			return strconv.Quote(name)
		}
		return fmt.Sprintf(`"decimal(%d,%d)"`, s.Type.Precision, s.Type.Scale)
	case shred.Opaque:
	}
	panic("BUG: a node without type: " + s.String())
}

// ourFile writes values as we do, in row groups of 1,000 rows.
func ourFile(t *testing.T, values []variant.Value, schema *shred.Schema) string {
	t.Helper()
	if schema == nil {
		schema = &shred.Schema{}
	}
	w := shred.NewWriter(schema, shred.WriterOptions{Name: "doc", Optional: true, FieldID: 1})
	var out bytes.Buffer
	f, err := pq.NewWriter(&out, &leaf.Node{Name: "table", Children: []*leaf.Node{w.Group()}}, pq.WriterOptions{})
	require.NoError(t, err)
	for i, v := range values {
		if v.IsMissing() {
			require.NoError(t, w.WriteNull())
		} else {
			require.NoError(t, w.WriteValue(v))
		}
		if w.Rows() == 1000 || i == len(values)-1 {
			require.NoError(t, f.WriteRowGroup(w.Buffers(), w.Rows()))
			w.Reset()
		}
	}
	_, err = f.Close()
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "ours.parquet")
	require.NoError(t, os.WriteFile(name, out.Bytes(), 0o600))
	return name
}

// weRead reads the column of a file.
func weRead(t *testing.T, file string) (values []variant.Value, shredded bool) {
	t.Helper()
	values, shredded, err := tryRead(t, file)
	require.NoError(t, err)
	return values, shredded
}

func tryRead(t *testing.T, file string) (values []variant.Value, shredded bool, err error) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	f, err := pq.Open(bytes.NewReader(data), int64(len(data)), pq.ReaderOptions{})
	require.NoError(t, err)
	for _, l := range f.Leaves() {
		for _, name := range l.Path {
			shredded = shredded || name == "typed_value"
		}
	}
	values, err = wholeValues(f)
	return values, shredded, err
}

// sameValues gives the first place where two columns differ, or "". Widths of
// numbers may differ, which the specification allows a shredded column to change.
func sameValues(want, got []variant.Value) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d rows and %d", len(want), len(got))
	}
	for i := range want {
		if !variant.Equal(want[i], got[i]) {
			return fmt.Sprintf("row %d: want %s, got %s", i, textOf(want[i]), textOf(got[i]))
		}
	}
	return ""
}

func textOf(v variant.Value) string {
	if v.IsMissing() {
		return "SQL NULL"
	}
	return tail(fmt.Sprintf("%v %s", v.Kind(), v), 2000)
}
