package deletevec

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/goccy/go-json"
	"github.com/pierrec/lz4/v4"
)

const (
	trailerBytes  = 4 + 4 + len(puffinMagic) // payload size, flags, magic
	minPuffin     = 2*len(puffinMagic) + trailerBytes
	maxFooter     = 64 << 20 // bytes of the JSON text, when it is not compressed in the file
	flagLZ4       = 1
	maxPrefetched = 64 << 10
)

// ReadFooter reads the footer of a Puffin file of size bytes and returns its
// deletion vectors in the order of the footer; blobs of other types are left
// out. It checks both magics, the flags, the sizes, and that each vector lies
// within the file, is not compressed and names its data file and cardinality.
// Errors Is [ErrCorrupt] or wrap the reader's.
func ReadFooter(r io.ReaderAt, size int64) ([]Blob, error) {
	blobs, err := readFooter(r, size)
	if err != nil {
		return nil, locate(err, "", "", 0)
	}
	return blobs, nil
}

// Verify checks a Puffin file against what the manifests of one table say about
// it: everything that [ReadFooter] checks, that every ref is in the footer with
// the same offset, length, data file and cardinality, and every vector in full,
// as [Read] does. Blobs that no ref names are allowed: their data files are gone.
func Verify(r io.ReaderAt, size int64, refs ...Ref) error {
	file := ""
	byOffset := make(map[int64]Ref, len(refs))
	for _, ref := range refs {
		file = ref.File
		if other, twice := byOffset[ref.Offset]; twice && other.Blob != ref.Blob {
			err := corrupt(0, "the manifests say %+v and %+v", other.Blob, ref.Blob)
			return locate(err, file, ref.DataFile, ref.Offset)
		}
		byOffset[ref.Offset] = ref
	}
	blobs, err := readFooter(r, size)
	if err != nil {
		return locate(err, file, "", 0)
	}
	var rd Reader
	for _, b := range blobs {
		ref, named := byOffset[b.Offset]
		switch {
		case !named:
			ref = Ref{File: file, Blob: b}
		case ref.Blob != b:
			err := corrupt(0, "the manifest says %+v, the Puffin footer %+v", ref.Blob, b)
			return locate(err, file, ref.DataFile, ref.Offset)
		default:
			delete(byOffset, b.Offset)
		}
		if _, err := rd.Read(r, ref); err != nil {
			return err
		}
	}
	for _, ref := range byOffset {
		return locate(corrupt(0, "no such vector in the Puffin footer"), file, ref.DataFile, ref.Offset)
	}
	return nil
}

func readFooter(r io.ReaderAt, size int64) ([]Blob, error) {
	if size < int64(minPuffin) {
		return nil, corrupt(0, "Puffin file of %d bytes, the smallest has %d", size, minPuffin)
	}
	head := make([]byte, len(puffinMagic))
	if err := readFull(r, head, 0); err != nil {
		return nil, err
	}
	if string(head) != puffinMagic {
		return nil, corrupt(0, "magic %q at the start, want %q", head, puffinMagic)
	}
	payload, flags, err := readPayload(r, size)
	if err != nil {
		return nil, err
	}
	end := size - int64(trailerBytes+len(payload)+len(puffinMagic)) // of the blobs
	if flags == flagLZ4 {
		if payload, err = decompress(payload); err != nil {
			return nil, locate(err, "", "", end)
		}
	}
	var f footerJSON
	if err := json.Unmarshal(payload, &f); err != nil {
		return nil, locate(corrupt(0, "footer: %v", err), "", "", end)
	}
	if f.Blobs == nil {
		return nil, locate(corrupt(0, "footer without blobs"), "", "", end)
	}
	out := make([]Blob, 0, len(f.Blobs))
	for i := range f.Blobs {
		if f.Blobs[i].Type != blobType {
			continue
		}
		b, err := f.Blobs[i].vector(end)
		if err != nil {
			return nil, locate(corrupt(0, "footer: blob %d: %v", i, err), "", "", end)
		}
		out = append(out, b)
	}
	return out, nil
}

// readPayload returns the footer's payload as it lies in the file, and the
// flags. The tail of the file is read first: it often holds all.
func readPayload(r io.ReaderAt, size int64) (payload []byte, flags uint32, err error) {
	tail := make([]byte, min(size, maxPrefetched))
	if err := readFull(r, tail, size-int64(len(tail))); err != nil {
		return nil, 0, err
	}
	trailer := tail[len(tail)-trailerBytes:]
	n, flags := int32(le.Uint32(trailer)), le.Uint32(trailer[4:])
	at := size - int64(trailerBytes)
	footer := int64(n) + int64(trailerBytes+len(puffinMagic))
	switch {
	case string(trailer[8:]) != puffinMagic:
		return nil, 0, locate(corrupt(8, "magic %q at the end, want %q", trailer[8:], puffinMagic), "", "", at)
	case flags&^flagLZ4 != 0:
		return nil, 0, locate(corrupt(4, "unknown flags %#x", flags), "", "", at)
	case n < 0 || n > maxFooter || footer > size-int64(len(puffinMagic)):
		return nil, 0, locate(corrupt(0, "footer payload of %d bytes in a file of %d", n, size), "", "", at)
	}
	if footer > int64(len(tail)) {
		tail = make([]byte, footer)
		if err := readFull(r, tail, size-footer); err != nil {
			return nil, 0, err
		}
	}
	tail = tail[int64(len(tail))-footer:]
	if got := string(tail[:len(puffinMagic)]); got != puffinMagic {
		return nil, 0, locate(corrupt(0, "magic %q before the footer, want %q", got, puffinMagic), "", "", size-footer)
	}
	return tail[len(puffinMagic) : len(tail)-trailerBytes], flags, nil
}

// vector checks one entry of the footer; the blobs end at offset end.
func (b *blobJSON) vector(end int64) (Blob, error) {
	switch {
	case b.Codec != "":
		return Blob{}, fmt.Errorf("deletion vector compressed by %q", b.Codec)
	case b.Offset == nil || b.Length == nil:
		return Blob{}, fmt.Errorf("no offset or no length")
	case *b.Offset < int64(len(puffinMagic)) || *b.Length < int64(minBlob) || *b.Length > end || *b.Offset > end-*b.Length:
		return Blob{}, fmt.Errorf("bytes [%d, +%d) of blobs that end at %d", *b.Offset, *b.Length, end)
	case b.Properties[propDataFile] == "":
		return Blob{}, fmt.Errorf("property %s is missing", propDataFile)
	}
	rows, err := strconv.ParseInt(b.Properties[propRows], 10, 64)
	if err != nil || rows <= 0 {
		return Blob{}, fmt.Errorf("property %s is %q", propRows, b.Properties[propRows])
	}
	return Blob{DataFile: b.Properties[propDataFile], Offset: *b.Offset, Length: *b.Length, Cardinality: rows}, nil
}

// decompress expands a footer that is one LZ4 frame.
func decompress(b []byte) ([]byte, error) {
	var out bytes.Buffer
	// LZ4 expands at most 255 times.
	limit := min(int64(len(b))*255, maxFooter)
	n, err := io.Copy(&out, io.LimitReader(lz4.NewReader(bytes.NewReader(b)), limit+1))
	switch {
	case err != nil:
		return nil, corrupt(0, "footer: LZ4: %v", err)
	case n > limit:
		return nil, corrupt(0, "footer expands beyond %d bytes", limit)
	}
	return out.Bytes(), nil
}
