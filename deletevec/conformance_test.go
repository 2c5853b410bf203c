package deletevec

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goccy/go-json"
	"github.com/stretchr/testify/require"
)

// entry is a line of a table's files.ndjson: what Iceberg's own files metadata
// table says.
type entry struct {
	Content    int    `json:"content"`
	Path       string `json:"file_path"`
	Format     string `json:"file_format"`
	Records    int64  `json:"record_count"`
	Size       int64  `json:"file_size_in_bytes"`
	FirstRowID *int64 `json:"first_row_id"`
	DataFile   string `json:"referenced_data_file"`
	Offset     int64  `json:"content_offset"`
	Length     int64  `json:"content_size_in_bytes"`
}

// liveRow is a line of expected.ndjson.
type liveRow struct {
	RowID    int64 `json:"_row_id"`
	Sequence int64 `json:"_last_updated_sequence_number"`
}

func readLines[T any](t *testing.T, path string) []T {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []T
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(nil, len(text)+1)
	for sc.Scan() {
		if len(sc.Bytes()) == 0 {
			continue
		}
		var x T
		require.NoError(t, json.Unmarshal(sc.Bytes(), &x))
		out = append(out, x)
	}
	require.NoError(t, sc.Err())
	return out
}

// TestSparkVectors reads the Puffin files that Spark 4.1.4 with Iceberg 1.12.0
// wrote, and compares the positions with the rows that Spark reads: a row of a
// file that took its id from its place there has the position _row_id -
// first_row_id.
func TestSparkVectors(t *testing.T) {
	shared := os.Getenv("FRAZIL_SHARED")
	if shared == "" {
		t.Skip("FRAZIL_SHARED is not set")
	}
	for _, table := range []string{
		"dv_single_s", "dv_single_u", "dv_repeated_s", "dv_repeated_u",
		"dv_multi_file", "update_mor", "v2_posdel_upgraded",
	} {
		t.Run(table, func(t *testing.T) {
			dir := filepath.Join(shared, "conformance", table)
			files := readLines[entry](t, filepath.Join(dir, "files.ndjson"))
			rows := readLines[liveRow](t, filepath.Join(dir, "expected.ndjson"))
			data := make(map[string]entry)
			refs := make(map[string][]Ref)
			size := make(map[string]int64)
			for _, f := range files {
				switch {
				case f.Content == 0:
					data[f.Path] = f
				case f.Format == "PUFFIN":
					blob := Blob{DataFile: f.DataFile, Offset: f.Offset, Length: f.Length, Cardinality: f.Records}
					refs[f.Path] = append(refs[f.Path], Ref{File: f.Path, Blob: blob})
					size[f.Path] = f.Size
				}
			}
			require.NotEmpty(t, refs)
			for path := range refs {
				checkSparkPuffin(t, filepath.Join(shared, path), size[path], refs[path], data, rows)
			}
		})
	}
}

func checkSparkPuffin(t *testing.T, path string, size int64, refs []Ref, data map[string]entry, rows []liveRow) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, Verify(file, size, refs...))
	for _, ref := range refs {
		f := data[ref.DataFile]
		ref.Rows = f.Records
		v, err := Read(file, ref)
		require.NoError(t, err)
		if want, known := deletedRows(f, rows); known {
			require.Equal(t, want, slices.Collect(v.All()), ref.DataFile)
		}
		// We write the bytes that Spark wrote.
		want := make([]byte, ref.Length)
		_, err = file.ReadAt(want, ref.Offset)
		require.NoError(t, err)
		got, err := AppendBlob(nil, v.Clone())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// deletedRows are the positions of f that no live row has. A row that an update
// moved keeps its id and gets a later sequence number. Nothing is known of a
// file of moved rows: their ids do not tell their places.
func deletedRows(f entry, rows []liveRow) (deleted []int64, known bool) {
	if f.FirstRowID == nil {
		return nil, false
	}
	first := int64(1) << 62
	for _, r := range rows {
		if at := r.RowID - *f.FirstRowID; at >= 0 && at < f.Records {
			first = min(first, r.Sequence)
		}
	}
	live := make(map[int64]bool)
	for _, r := range rows {
		if r.Sequence == first {
			live[r.RowID-*f.FirstRowID] = true
		}
	}
	for p := range f.Records {
		if !live[p] {
			deleted = append(deleted, p)
		}
	}
	return deleted, len(live) > 0
}
