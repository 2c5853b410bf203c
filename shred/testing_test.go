package shred

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/variant"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// shared returns a folder of the shared data, which the environment names.
func shared(t testing.TB, parts ...string) string {
	root := os.Getenv("FRAZIL_SHARED")
	if root == "" {
		t.Skip("FRAZIL_SHARED is not set")
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

// groupOf finds a top-level group and the ordinal of its first leaf.
func groupOf(f *pq.File, name string) (*leaf.Node, int) {
	first := 0
	for _, c := range f.Schema().Children {
		if c.Name == name {
			return c, first
		}
		first += len((&leaf.Node{Children: []*leaf.Node{c}}).Leaves())
	}
	return nil, 0
}

// readColumns reads columns of a group over a whole row group.
func readColumns(f *pq.File, group, first int, columns []int) ([]*leaf.Batch, int, error) {
	rows := int(f.RowGroup(group).Rows)
	var out []*leaf.Batch
	for _, c := range columns {
		r, err := f.Column(group, first+c)
		if err != nil {
			return nil, 0, err
		}
		b := &leaf.Batch{}
		if err := r.Read(b, rows); err != nil {
			return nil, 0, err
		}
		out = append(out, b)
	}
	return out, rows, nil
}

// readFile assembles a Variant column of a file with the assembler, knowing and
// not knowing which columns are all null, and with the oracle.
func readFile(data []byte, column string) (values, byOracle []variant.Value, err error) {
	f, err := pq.Open(bytes.NewReader(data), int64(len(data)), pq.ReaderOptions{})
	if err != nil {
		return nil, nil, err
	}
	group, first := groupOf(f, column)
	if _, err := FromGroup(group); err != nil {
		return nil, nil, err
	}
	for g := range f.RowGroups() {
		known := func(c int) bool { return f.RowGroup(g).Column(first + c).AllNull() }
		var texts [2][]string
		for i, null := range []func(int) bool{known, nil} {
			a, err := NewAssembler(group, Context{}, null)
			if err != nil {
				return nil, nil, err
			}
			batches, rows, err := readColumns(f, g, first, a.Columns())
			if err != nil {
				return nil, nil, err
			}
			err = a.Assemble(batches, rows, func(_ int, v variant.Value) error {
				texts[i] = append(texts[i], v.String())
				if i == 0 {
					values = append(values, v.Clone())
				}
				if v.IsMissing() {
					return nil
				}
				return v.Validate()
			})
			if err != nil {
				return nil, nil, err
			}
		}
		if a, b := strings.Join(texts[0], "\n"), strings.Join(texts[1], "\n"); a != b {
			return nil, nil, fmt.Errorf("what is known changes the values: %s and %s", a, b)
		}
		var all []int
		for c := range (&leaf.Node{Children: []*leaf.Node{group}}).Leaves() {
			all = append(all, c)
		}
		batches, rows, err := readColumns(f, g, first, all)
		if err != nil {
			return nil, nil, err
		}
		var columns []*oracleColumn
		for _, b := range batches {
			columns = append(columns, columnOfBatch(b))
		}
		o, err := oracleRows(group, columns, rows)
		if err != nil {
			return nil, nil, fmt.Errorf("oracle: %w", err)
		}
		byOracle = append(byOracle, o...)
	}
	return values, byOracle, nil
}

// testingCase is an entry of parquet-testing's shredded_variant/cases.json.
type testingCase struct {
	Number       int       `json:"case_number"`
	Test         string    `json:"test"`
	Notes        string    `json:"notes"`
	ParquetFile  string    `json:"parquet_file"`
	VariantFile  string    `json:"variant_file"`
	VariantFiles []*string `json:"variant_files"`
	Error        string    `json:"error_message"`
}

// TestParquetTesting_S17_S18_S19 runs the cases of apache/parquet-testing:
// every valid file is read as expected, in kind and value, every file that must
// be refused is. Files that the spec calls invalid without asking for an error
// are read from the typed side. The golden table lists them all.
func TestParquetTesting_S17_S18_S19(t *testing.T) {
	dir := shared(t, "parquet-testing", "shredded_variant")
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	require.NoError(t, err)
	var cases []testingCase
	require.NoError(t, json.Unmarshal(text, &cases))
	var table strings.Builder
	table.WriteString("| case | test | outcome |\n|---|---|---|\n")
	for _, c := range cases {
		if c.ParquetFile == "" {
			continue
		}
		outcome := runTestingCase(t, dir, c)
		fmt.Fprintf(&table, "| %d | %s | %s |\n", c.Number, c.Test, outcome)
	}
	golden := filepath.Join("testdata", "shredded_variant.md")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(table.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), table.String())
}

func runTestingCase(t *testing.T, dir string, c testingCase) string {
	data, err := os.ReadFile(filepath.Join(dir, c.ParquetFile))
	require.NoError(t, err)
	got, byOracle, err := readFile(data, "var")
	if c.Error != "" {
		require.Error(t, err, "case %d", c.Number)
		require.NotContains(t, err.Error(), "oracle", "case %d", c.Number)
		return "refused: " + c.Error
	}
	require.NoError(t, err, "case %d", c.Number)
	files := c.VariantFiles
	if len(files) == 0 {
		files = []*string{&c.VariantFile}
	}
	require.Len(t, got, len(files), "case %d", c.Number)
	for i, name := range files {
		if name == nil {
			require.True(t, got[i].IsMissing(), "case %d", c.Number)
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, *name))
		require.NoError(t, err)
		n := metadataSize(raw)
		want, err := variant.New(raw[:n], raw[n:])
		require.NoError(t, err, "case %d", c.Number)
		require.Equal(t, want.Kind(), got[i].Kind(), "case %d", c.Number)
		require.Equal(t, want.String(), got[i].String(), "case %d", c.Number)
		require.Equal(t, kinds(want), kinds(got[i]), "case %d", c.Number)
		require.Equal(t, want.String(), byOracle[i].String(), "case %d: oracle", c.Number)
	}
	if c.Notes != "" {
		return "read from the typed side; the file is invalid"
	}
	return "read"
}

// kindSink lists the kinds of the scalars of a value.
type kindSink struct{ list []variant.Kind }

func (k *kindSink) Begin(kind variant.Kind)  { k.list = append(k.list, kind) }
func (k *kindSink) End()                     {}
func (k *kindSink) Key([]byte)               {}
func (k *kindSink) Scalar(s *variant.Scalar) { k.list = append(k.list, s.Kind) }
func (k *kindSink) Err() error               { return nil }

func kinds(v variant.Value) []variant.Kind {
	k := &kindSink{}
	_ = v.Emit(k)
	return k.list
}
