package iceberg

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// copyTable makes a small table and copies its files to another folder.
func copyTable(t *testing.T) (metadata, root string) {
	t.Helper()
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id:bigint,doc:variant", "")
	appendRows(t, tbl, `{"id":1,"doc":{"a":1}}`, `{"id":2,"doc":{"a":2}}`)
	root = filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.CopyFS(root, os.DirFS(plainPath(tbl.Location()))))
	return filepath.Join(root, "metadata", filepath.Base(tbl.Unwrap().MetadataLocation())), root
}

func editMetadata(t *testing.T, path string, edit func(m map[string]any)) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&m))
	edit(m)
	text, err = json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

func TestOpenMetadataOfAMovedTable(t *testing.T) {
	path, _ := copyTable(t)
	tbl, err := OpenMetadata(path)
	require.NoError(t, err)
	want := []string{`{"id":1,"doc":{"a":1}}`, `{"id":2,"doc":{"a":2}}`}
	require.Equal(t, want, readJSON(t, tbl))
	require.NoError(t, tbl.Verify(context.Background()))

	_, err = tbl.AppendJSON(context.Background(), rowsOf(`{"id":3}`), AppendOptions{})
	require.ErrorIs(t, err, ErrReadOnly)
	require.ErrorIs(t, tbl.AddColumn(context.Background(), "", Column{Name: "x"}), ErrReadOnly)
	require.ErrorIs(t, tbl.Refresh(context.Background()), ErrReadOnly)
}

func TestOpenMetadataThroughGzip(t *testing.T) {
	path, _ := copyTable(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	packed := strings.TrimSuffix(path, ".metadata.json") + ".gz.metadata.json"
	require.NoError(t, os.WriteFile(packed, z.Bytes(), 0o600))
	tbl, err := OpenMetadata(packed)
	require.NoError(t, err)
	require.Len(t, readJSON(t, tbl), 2)

	require.NoError(t, os.WriteFile(packed, z.Bytes()[:z.Len()-9], 0o600))
	_, err = OpenMetadata(packed)
	require.ErrorIs(t, err, ErrCorrupt)
}

func TestGzippedMetadataIsCapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t", "metadata", "bomb.gz.metadata.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	require.NoError(t, err)
	zeros := make([]byte, 1<<20)
	for range maxMetadataBytes/len(zeros) + 2 {
		_, err := w.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	_, err = OpenMetadata(path)
	require.ErrorContains(t, err, "more than")
}

// Paths of untrusted metadata must not lead out of the table's folder.
func TestMetadataPathsCannotEscape(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("x"), 0o600))
	path, root := copyTable(t)
	require.NoError(t, os.Symlink(secret, filepath.Join(root, "link")))
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(root, "linked")))
	tbl, err := OpenMetadata(path)
	require.NoError(t, err)
	fs, err := tbl.FS(context.Background())
	require.NoError(t, err)
	location := tbl.Location()
	for _, name := range []string{
		secret, "file://" + secret, "file:" + secret, "../../../../etc/passwd",
		location + "/../../secret", location + "/link", location + "/linked/secret", location + "x/data",
		"file://" + location + "/../x", root + "/../x",
		"s3://bucket/x", "http://localhost/x", "gs://b/x", "hdfs://n/x", "file://otherhost/etc/passwd",
		"file:///%2e%2e/%2e%2e/etc/passwd",
	} {
		_, err := fs.Open(name)
		require.ErrorIs(t, err, ErrEscape, name)
	}
	require.ErrorIs(t, fs.Remove(location+"/metadata"), ErrReadOnly)
	inside := strings.TrimPrefix(dataFiles(t, Wrap(tbl.Unwrap(), nil))[0], "")
	rel, err := filepath.Rel(location, inside)
	require.NoError(t, err)
	for _, name := range []string{
		location + "/" + rel, "file://" + location + "/" + rel, root + "/" + rel, "file://" + root + "/" + rel,
		location + "/data/../" + rel,
	} {
		f, err := fs.Open(name)
		require.NoError(t, err, name)
		require.NoError(t, f.Close())
	}
}

func TestEscapingManifestListIsRefused(t *testing.T) {
	path, _ := copyTable(t)
	editMetadata(t, path, func(m map[string]any) {
		m["snapshots"].([]any)[0].(map[string]any)["manifest-list"] = "/etc/passwd"
	})
	tbl, err := OpenMetadata(path)
	require.NoError(t, err)
	_, err = tbl.Inspect(context.Background())
	require.ErrorIs(t, err, ErrEscape)
}

func TestDamagedMetadataIsCorrupt(t *testing.T) {
	path, _ := copyTable(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for n := 0; n < len(text)-2; n += 97 {
		require.NoError(t, os.WriteFile(path, text[:n], 0o600))
		_, err := OpenMetadata(path)
		require.ErrorIs(t, err, ErrCorrupt, "prefix of %d bytes", n)
	}
}

// Each table that Spark wrote opens, inspects and verifies, relative locations
// and all; the counts are those of its own files table.
func TestInspectTablesOfSpark(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join(sharedDir(t), "conformance", "*", "case.json"))
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			var c struct {
				Metadata  string
				Rows      int64
				Snapshots int
				Live      map[string]int `json:"live_files"`
			}
			require.NoError(t, json.Unmarshal(text, &c))
			tbl, err := OpenMetadata(filepath.Join(dir, c.Metadata))
			require.NoError(t, err)
			info, err := tbl.Inspect(context.Background())
			require.NoError(t, err)
			require.Len(t, info.DataFiles, c.Live["content0:PARQUET"])
			require.Len(t, info.DeletionVectors, c.Live["content1:PUFFIN"])
			require.NoError(t, tbl.Verify(context.Background()))
			rows := int64(0)
			for _, f := range info.DataFiles {
				rows += f.Rows
			}
			for _, v := range info.DeletionVectors {
				rows -= v.Cardinality
			}
			if len(info.DeleteFiles) == 0 {
				require.Equal(t, c.Rows, rows)
			}
			if strings.HasPrefix(filepath.Base(dir), "trades") {
				want := 0
				if strings.HasSuffix(dir, "_s") {
					want = 1
				}
				require.Len(t, info.DataFiles[0].Shredded, want)
			}
		})
	}
}

func TestInspectShowsSparksDefaults(t *testing.T) {
	tbl, err := OpenMetadata(filepath.Join(sharedDir(t), "conformance", "defaults", "metadata", "v8.metadata.json"))
	require.NoError(t, err)
	info, err := tbl.Inspect(context.Background())
	require.NoError(t, err)
	byName := map[string]ColumnInfo{}
	for _, c := range info.Schema {
		byName[c.Name] = c
	}
	require.Equal(t, "EMEA", byName["region"].InitialDefault)
	require.Equal(t, "AMER", byName["region"].WriteDefault)
	require.Equal(t, "2026-07-01", byName["n_date"].InitialDefault)
	require.Nil(t, byName["id"].InitialDefault)
	// What a program sees is what defaultScalar makes of it.
	for name, want := range map[string]int64{"n_int": 42, "n_bool": 1, "n_dec": 1234, "n_date": 20635, "n_long": 5_000_000_000, "n_ts": 1_782_864_000_000_000} {
		f := fieldByName(t, tbl, name)
		s, err := defaultScalar(f.Type, f.InitialDefault)
		require.NoError(t, err, name)
		require.Equal(t, want, s.Int, name)
	}
}

// iceberg-go plans in goroutines of its own: a panic there ended the process, and
// errors named no file. One letter of a manifest's own schema was enough.
func TestCorruptManifestsAreNamed(t *testing.T) {
	for _, pattern := range []string{"snap-*.avro", "[^s]*.avro"} {
		for name, spoil := range map[string]func([]byte) []byte{
			"empty":  func([]byte) []byte { return nil },
			"cut":    func(b []byte) []byte { return b[:len(b)/2] },
			"schema": func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`"partition"`), []byte(`"partitioX"`)) },
		} {
			path, root := copyTable(t)
			found, err := filepath.Glob(filepath.Join(root, "metadata", pattern))
			require.NoError(t, err)
			require.Len(t, found, 1, pattern)
			text, err := os.ReadFile(found[0])
			require.NoError(t, err)
			spoiled := spoil(text)
			if bytes.Equal(text, spoiled) {
				continue // a list has no field of that name
			}
			require.NoError(t, os.WriteFile(found[0], spoiled, 0o600))
			tbl, err := OpenMetadata(path)
			require.NoError(t, err)
			_, err = tbl.Scan(bg, ScanOptions{})
			require.ErrorIs(t, err, ErrCorrupt, "%s %s", pattern, name)
			require.ErrorContains(t, err, filepath.Base(found[0]), name)
		}
	}
}

// A snapshot whose manifest list is "" was read as an empty table.
func TestSnapshotWithoutManifestList(t *testing.T) {
	path, _ := copyTable(t)
	editMetadata(t, path, func(m map[string]any) {
		for _, s := range m["snapshots"].([]any) {
			s.(map[string]any)["manifest-list"] = ""
		}
	})
	tbl, err := OpenMetadata(path)
	require.NoError(t, err)
	_, err = tbl.Scan(bg, ScanOptions{})
	require.ErrorIs(t, err, ErrCorrupt)
}

// A named pipe in the place of a data file kept a scan waiting forever, even
// for signals. Any file that is not regular is refused before it is opened.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	path, _ := copyTable(t)
	tbl, err := OpenMetadata(path)
	require.NoError(t, err)
	files, err := tbl.FS(bg)
	require.NoError(t, err)
	_, err = files.Open(tbl.Location() + "/data")
	require.ErrorIs(t, err, ErrCorrupt)
}
