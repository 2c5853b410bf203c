package deletevec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
)

// puffin writes one vector for each shape and returns the file.
func puffin(t *testing.T) ([]byte, []Blob) {
	var buf bytes.Buffer
	w := NewWriter(&buf, WriterOptions{})
	all := shapes()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	var blobs []Blob
	for _, name := range names {
		b, err := w.Add(name, builders["AddMany"](t, all[name]))
		require.NoError(t, err)
		blobs = append(blobs, b)
	}
	size, err := w.Close()
	require.NoError(t, err)
	require.Equal(t, int64(buf.Len()), size)
	return buf.Bytes(), blobs
}

// smallPuffin is a file of one vector.
func smallPuffin(t testing.TB) ([]byte, Ref) {
	var v Vector
	require.NoError(t, v.AddMany([]int64{1, 2, 9}))
	var buf bytes.Buffer
	w := NewWriter(&buf, WriterOptions{})
	b, err := w.Add("data.parquet", &v)
	require.NoError(t, err)
	_, err = w.Close()
	require.NoError(t, err)
	return buf.Bytes(), Ref{File: "dv.puffin", Blob: b, Rows: 10}
}

// countingReader counts requests and bytes.
type countingReader struct {
	io.ReaderAt
	calls, bytes int
}

func (r *countingReader) ReadAt(b []byte, off int64) (int, error) {
	r.calls++
	r.bytes += len(b)
	return r.ReaderAt.ReadAt(b, off)
}

func TestPuffinRoundTrip(t *testing.T) {
	file, blobs := puffin(t)
	all := shapes()
	refs := make([]Ref, 0, len(blobs))
	for _, b := range blobs {
		r := &countingReader{ReaderAt: bytes.NewReader(file)}
		ref := Ref{File: "dv.puffin", Blob: b}
		v, err := Read(r, ref)
		require.NoError(t, err)
		require.Equal(t, distinct(all[b.DataFile]), slices.Collect(v.All()))
		require.Equal(t, 1, r.calls, "one range request for one vector")
		require.Equal(t, b.Length, int64(r.bytes))
		refs = append(refs, ref)
	}
	got, err := ReadFooter(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.Equal(t, blobs, got)
	require.NoError(t, Verify(bytes.NewReader(file), int64(len(file)), refs...))
}

// A Reader takes no memory once it has seen a vector as large; the function of
// the same name gives each vector its own.
func TestReaderReusesMemory(t *testing.T) {
	file, blobs := puffin(t)
	src := bytes.NewReader(file)
	var rd Reader
	for range 2 {
		for _, b := range blobs {
			v, err := rd.Read(src, Ref{Blob: b})
			require.NoError(t, err)
			require.Equal(t, distinct(shapes()[b.DataFile]), slices.Collect(v.All()))
		}
	}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if _, err := rd.Read(src, Ref{Blob: blobs[0]}); err != nil {
			t.Error(err)
		}
	}))
	a, err := Read(src, Ref{Blob: blobs[0]})
	require.NoError(t, err)
	n := a.Cardinality()
	_, err = Read(src, Ref{Blob: blobs[1]})
	require.NoError(t, err)
	require.Equal(t, n, a.Cardinality())
}

// The footer, field by field, as puffin-spec.md asks for.
func TestFooterBytes(t *testing.T) {
	file, ref := smallPuffin(t)
	tail := file[ref.Offset+ref.Length:]
	require.Equal(t, "PFA1", string(file[:4]))
	require.Equal(t, "PFA1", string(tail[:4]))
	require.Equal(t, "\x00\x00\x00\x00PFA1", string(tail[len(tail)-8:]))
	payload := tail[4 : len(tail)-12]
	require.Equal(t, uint32(len(payload)), le.Uint32(tail[len(tail)-12:]))
	require.JSONEq(t, fmt.Sprintf(`{"blobs": [{"type": "deletion-vector-v1", "fields": [2147483645],
		"snapshot-id": -1, "sequence-number": -1, "offset": 4, "length": %d,
		"properties": {"referenced-data-file": "data.parquet", "cardinality": "3"}}],
		"properties": {"created-by": "Frazil"}}`, ref.Length), string(payload))
}

func TestWriterMisuse(t *testing.T) {
	var v Vector
	require.NoError(t, v.Add(1))
	w := NewWriter(io.Discard, WriterOptions{CreatedBy: "test"})
	_, err := w.Add("a", new(Vector))
	require.ErrorIs(t, err, ErrEmpty)
	_, err = w.Add("", &v)
	require.Error(t, err)
	_, err = w.Add("a", &v)
	require.NoError(t, err)
	_, err = w.Add("a", &v)
	require.ErrorContains(t, err, "second deletion vector for a")
	size, err := w.Close()
	require.NoError(t, err)
	again, err := w.Close()
	require.NoError(t, err)
	require.Equal(t, size, again)
	_, err = w.Add("b", &v)
	require.ErrorIs(t, err, ErrClosed)
}

// A file without vectors is a valid Puffin file.
func TestWriterWithoutVectors(t *testing.T) {
	var buf bytes.Buffer
	_, err := NewWriter(&buf, WriterOptions{}).Close()
	require.NoError(t, err)
	blobs, err := ReadFooter(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	require.NoError(t, err)
	require.Empty(t, blobs)
}

// failingWriter fails at the k-th write, after half of its bytes.
type failingWriter struct{ k int }

var errDisk = errors.New("disk full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.k--; w.k < 0 {
		return len(b) / 2, errDisk
	}
	return len(b), nil
}

// A failed write sticks: no later call may report success.
func TestWriterFailsAtEachWrite(t *testing.T) {
	var v Vector
	require.NoError(t, v.Add(1))
	for k := range 4 {
		w := NewWriter(&failingWriter{k: k}, WriterOptions{})
		failed := false
		for i := range 3 {
			_, err := w.Add(fmt.Sprint("file", i), &v)
			require.Equal(t, failed || i == k, err != nil)
			failed = failed || err != nil
		}
		_, err := w.Close()
		require.ErrorIs(t, err, errDisk)
		_, err = w.Close()
		require.ErrorIs(t, err, errDisk)
	}
}

// D13 and D12: what the manifest says must agree with the blob, and the error
// names file, data file and offset.
func TestD13ManifestDisagrees(t *testing.T) {
	file, good := smallPuffin(t)
	_, err := Read(bytes.NewReader(file), good)
	require.NoError(t, err)
	for name, change := range map[string]func(*Ref){
		"record count larger":          func(r *Ref) { r.Cardinality = 4 },
		"record count smaller":         func(r *Ref) { r.Cardinality = 2 },
		"record count missing":         func(r *Ref) { r.Cardinality = 0 },
		"record count negative":        func(r *Ref) { r.Cardinality = -1 },
		"position beyond the file":     func(r *Ref) { r.Rows = 9 },
		"offset zero":                  func(r *Ref) { r.Offset = 0 },
		"offset negative":              func(r *Ref) { r.Offset = -4 },
		"offset off by one":            func(r *Ref) { r.Offset++ },
		"offset at the end":            func(r *Ref) { r.Offset = int64(len(file)) },
		"offset of 2^63-1":             func(r *Ref) { r.Offset = 1<<63 - 1 },
		"size zero":                    func(r *Ref) { r.Length = 0 },
		"size negative":                func(r *Ref) { r.Length = -1 },
		"size one less":                func(r *Ref) { r.Length-- },
		"size one more":                func(r *Ref) { r.Length++ },
		"size beyond the file":         func(r *Ref) { r.Length = 1 << 20 },
		"size of 2 GiB, small file":    func(r *Ref) { r.Length = 1 << 31 },
		"size beyond what a blob may":  func(r *Ref) { r.Length = 1<<31 + 1 },
		"the footer instead of a blob": func(r *Ref) { r.Offset += r.Length; r.Length = 50 },
	} {
		ref := good
		change(&ref)
		_, err := Read(bytes.NewReader(file), ref)
		require.ErrorIs(t, err, ErrCorrupt, name)
		var e *Error
		require.ErrorAs(t, err, &e, name)
		require.Equal(t, "dv.puffin", e.File, name)
		require.Equal(t, "data.parquet", e.DataFile, name)
		require.ErrorContains(t, err, "of dv.puffin (deleted rows of data.parquet)", name)
	}
}

// An error of the storage is not a corrupt file.
func TestReadPassesStorageErrorsOn(t *testing.T) {
	_, ref := smallPuffin(t)
	_, err := Read(brokenReader{}, ref)
	require.ErrorIs(t, err, errDisk)
	require.NotErrorIs(t, err, ErrCorrupt)
	_, err = ReadFooter(brokenReader{}, 1000)
	require.ErrorIs(t, err, errDisk)
	require.ErrorIs(t, Verify(brokenReader{}, 1000, ref), errDisk)
}

type brokenReader struct{}

func (brokenReader) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

// withFooter replaces the footer of a small file.
func withFooter(t testing.TB, payload string, flags uint32) []byte {
	file, ref := smallPuffin(t)
	out := append(file[:ref.Offset+ref.Length:ref.Offset+ref.Length], puffinMagic...)
	out = append(out, payload...)
	out = le.AppendUint32(out, uint32(len(payload)))
	out = le.AppendUint32(out, flags)
	return append(out, puffinMagic...)
}

// footerOf is the payload of a small file's footer after a change of its blob.
func footerOf(t testing.TB, change func(*blobJSON)) string {
	_, ref := smallPuffin(t)
	b := newBlobJSON(ref.Blob)
	change(&b)
	payload, err := json.Marshal(&footerJSON{Blobs: []blobJSON{b}})
	require.NoError(t, err)
	return string(payload)
}

func lz4Frame(t testing.TB, text string) string {
	var buf bytes.Buffer
	w := lz4.NewWriter(&buf)
	require.NoError(t, w.Apply(lz4.SizeOption(uint64(len(text)))))
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.String()
}

// D15: footers that are as they should be, compressed or long.
func TestD15GoodFooters(t *testing.T) {
	_, ref := smallPuffin(t)
	plain := footerOf(t, func(*blobJSON) {})
	other := strings.Replace(plain, `{"blobs":[`, `{"blobs":[{"type":"apache-datasketches-theta-v1","fields":[1],
		"snapshot-id":7,"sequence-number":1,"offset":4,"length":1,"compression-codec":"zstd"},`, 1)
	long := strings.Replace(plain, `"data.parquet"`, `"data.parquet","x":"`+strings.Repeat("y", 2*maxPrefetched)+`"`, 1)
	for name, file := range map[string][]byte{
		"plain":               withFooter(t, plain, 0),
		"LZ4":                 withFooter(t, lz4Frame(t, plain), flagLZ4),
		"another blob type":   withFooter(t, other, 0),
		"beyond the prefetch": withFooter(t, long, 0),
		"long LZ4":            withFooter(t, lz4Frame(t, long), flagLZ4),
	} {
		blobs, err := ReadFooter(bytes.NewReader(file), int64(len(file)))
		require.NoError(t, err, name)
		require.Equal(t, []Blob{ref.Blob}, blobs, name)
		require.NoError(t, Verify(bytes.NewReader(file), int64(len(file)), ref), name)
	}
	// No vectors at all is a valid footer, but not one that the ref agrees with.
	file := withFooter(t, `{"blobs":[]}`, 0)
	blobs, err := ReadFooter(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.Empty(t, blobs)
	require.ErrorIs(t, Verify(bytes.NewReader(file), int64(len(file)), ref), ErrCorrupt)
}

// D15: every field of the footer.
func TestD15BadFooters(t *testing.T) {
	good, _ := smallPuffin(t)
	n := len(good)
	change := func(at int, to ...byte) []byte {
		b := slices.Clone(good)
		copy(b[at:], to)
		return b
	}
	edit := func(f func(*blobJSON)) []byte { return withFooter(t, footerOf(t, f), 0) }
	num := func(x int64) *int64 { return &x }
	plain := footerOf(t, func(*blobJSON) {})
	for name, file := range map[string][]byte{
		"magic at the start":       change(0, 'Q'),
		"magic before the footer":  change(bytes.Index(good, []byte("PFA1{")), 'Q'),
		"magic at the end":         change(n-1, '2'),
		"flag bit 1":               change(n-8, 2),
		"flag byte 3":              change(n-5, 1),
		"LZ4 flag on plain text":   change(n-8, 1),
		"LZ4 without its flag":     withFooter(t, lz4Frame(t, plain), 0),
		"truncated LZ4":            withFooter(t, lz4Frame(t, plain)[:40], flagLZ4),
		"payload size negative":    change(n-12, 0xFF, 0xFF, 0xFF, 0xFF),
		"payload size 2^31-1":      change(n-12, 0xFF, 0xFF, 0xFF, 0x7F),
		"payload size of the file": change(n-12, byte(n-16), byte((n-16)>>8)),
		"payload size less one":    change(n-12, good[n-12]-1),
		"no JSON":                  withFooter(t, `{"blobs":`, 0),
		"no blobs":                 withFooter(t, `{}`, 0),
		"null blobs":               withFooter(t, `{"blobs":null}`, 0),
		"offset as text":           withFooter(t, strings.Replace(plain, `"offset":4`, `"offset":"4"`, 1), 0),
		"properties absent":        edit(func(b *blobJSON) { b.Properties = nil }),
		"data file absent":         edit(func(b *blobJSON) { delete(b.Properties, propDataFile) }),
		"cardinality absent":       edit(func(b *blobJSON) { delete(b.Properties, propRows) }),
		"cardinality no number":    edit(func(b *blobJSON) { b.Properties[propRows] = "three" }),
		"cardinality zero":         edit(func(b *blobJSON) { b.Properties[propRows] = "0" }),
		"compressed vector":        edit(func(b *blobJSON) { b.Codec = "zstd" }),
		"offset absent":            edit(func(b *blobJSON) { b.Offset = nil }),
		"length absent":            edit(func(b *blobJSON) { b.Length = nil }),
		"offset in the magic":      edit(func(b *blobJSON) { b.Offset = num(3) }),
		"length into the footer":   edit(func(b *blobJSON) { *b.Length++ }),
		"offset overflows":         edit(func(b *blobJSON) { b.Offset = num(1<<63 - 1) }),
		"length negative":          edit(func(b *blobJSON) { b.Length = num(-1) }),
	} {
		_, err := ReadFooter(bytes.NewReader(file), int64(len(file)))
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
	for cut := range n {
		_, err := ReadFooter(bytes.NewReader(good[:cut]), int64(cut))
		require.ErrorIs(t, err, ErrCorrupt, "%d of %d bytes", cut, n)
		_, err = ReadFooter(bytes.NewReader(good[:cut]), int64(n))
		require.ErrorIs(t, err, ErrCorrupt, "%d of %d bytes that were promised", cut, n)
	}
}

// D15, D13: Verify compares the footer with the manifest and with the blobs; a
// plain Read of the same ref may pass.
func TestD15VerifyComparesFooterAndManifest(t *testing.T) {
	_, ref := smallPuffin(t)
	for name, f := range map[string]func(*blobJSON){
		"cardinality 4": func(b *blobJSON) { b.Properties[propRows] = "4" },
		"data file":     func(b *blobJSON) { b.Properties[propDataFile] = "other.parquet" },
		"length":        func(b *blobJSON) { *b.Length-- },
		"offset":        func(b *blobJSON) { *b.Offset++; *b.Length-- },
	} {
		file := withFooter(t, footerOf(t, f), 0)
		_, err := Read(bytes.NewReader(file), ref)
		require.NoError(t, err, name)
		require.ErrorIs(t, Verify(bytes.NewReader(file), int64(len(file)), ref), ErrCorrupt, name)
	}
	// A vector that no ref names is checked as well.
	file, _ := smallPuffin(t)
	file = slices.Clone(file)
	file[ref.Offset+ref.Length-1] ^= 1
	require.ErrorIs(t, Verify(bytes.NewReader(file), int64(len(file))), ErrCorrupt)
}
