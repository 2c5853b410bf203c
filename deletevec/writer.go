package deletevec

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/goccy/go-json"
)

const (
	puffinMagic = "PFA1"
	blobType    = "deletion-vector-v1"
	// rowPosition is the field id that the Iceberg spec reserves for the
	// position of a row in its file; a vector is computed for that field.
	rowPosition   = 2147483645
	propDataFile  = "referenced-data-file"
	propRows      = "cardinality"
	propCreatedBy = "created-by"
)

// WriterOptions are the choices of a [Writer]. The zero value is the default.
type WriterOptions struct {
	// CreatedBy goes into the footer's created-by property. Default "Frazil".
	CreatedBy string
}

// Writer writes one Puffin file that holds a deletion vector for each of any
// number of data files. It is for one goroutine. Nothing but the blob at hand
// is kept in memory.
type Writer struct {
	w       io.Writer
	opts    WriterOptions
	offset  int64
	buf     []byte
	footer  footerJSON
	written map[string]bool // data files
	closed  bool
	err     error // the first failed write; it sticks
}

// Blob says where a written vector lies: what the manifest entry of the vector
// needs besides the location of the Puffin file.
type Blob struct {
	DataFile    string // location of the data file, as in the table's metadata
	Offset      int64  // bytes from the start of the Puffin file (content_offset)
	Length      int64  // bytes of the blob (content_size_in_bytes)
	Cardinality int64  // deleted rows (record_count)
}

// NewWriter starts a Puffin file on w. w is not closed.
func NewWriter(w io.Writer, o WriterOptions) *Writer {
	if o.CreatedBy == "" {
		o.CreatedBy = "Frazil"
	}
	return &Writer{w: w, opts: o, written: make(map[string]bool)}
}

// Add writes the deleted rows of a data file. An empty vector is an [ErrEmpty];
// a data file that already has a vector in this Puffin file is an error.
func (w *Writer) Add(dataFile string, v *Vector) (Blob, error) {
	switch {
	case w.closed:
		return Blob{}, ErrClosed
	case dataFile == "":
		return Blob{}, errors.New("deletevec: a vector needs the location of its data file")
	case v.IsEmpty():
		return Blob{}, fmt.Errorf("%w for %s", ErrEmpty, dataFile)
	case w.written[dataFile]:
		return Blob{}, fmt.Errorf("deletevec: second deletion vector for %s", dataFile)
	}
	w.buf = w.buf[:0]
	if w.offset == 0 {
		w.buf = append(w.buf, puffinMagic...)
	}
	head := len(w.buf)
	var err error
	if w.buf, err = AppendBlob(w.buf, v); err != nil {
		return Blob{}, fmt.Errorf("%w for %s", err, dataFile)
	}
	b := Blob{
		DataFile:    dataFile,
		Offset:      w.offset + int64(head),
		Length:      int64(len(w.buf) - head),
		Cardinality: v.Cardinality(),
	}
	if err := w.flush(); err != nil {
		return Blob{}, err
	}
	w.written[dataFile] = true
	w.footer.Blobs = append(w.footer.Blobs, newBlobJSON(b))
	return b, nil
}

// Close writes the footer and returns the size of the file in bytes. A second
// Close does nothing and returns the same.
func (w *Writer) Close() (int64, error) {
	if w.closed || w.err != nil {
		w.closed = true
		return w.offset, w.err
	}
	w.closed = true
	w.footer.Properties = map[string]string{propCreatedBy: w.opts.CreatedBy}
	if w.footer.Blobs == nil {
		w.footer.Blobs = []blobJSON{} // the field is required
	}
	payload, err := json.Marshal(&w.footer)
	if err != nil {
		panic("BUG: deletevec: footer: " + err.Error())
	}
	if len(payload) > math.MaxInt32 {
		w.err = fmt.Errorf("deletevec: footer of %d bytes, the format allows 2 GiB", len(payload))
		return w.offset, w.err
	}
	w.buf = w.buf[:0]
	if w.offset == 0 {
		w.buf = append(w.buf, puffinMagic...)
	}
	w.buf = append(w.buf, puffinMagic...)
	w.buf = append(w.buf, payload...)
	w.buf = le.AppendUint32(w.buf, uint32(len(payload)))
	w.buf = le.AppendUint32(w.buf, 0) // flags: payload not compressed
	w.buf = append(w.buf, puffinMagic...)
	return w.offset, w.flush()
}

func (w *Writer) flush() error {
	if w.err != nil {
		return w.err
	}
	n, err := w.w.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	w.offset += int64(n)
	if err != nil {
		w.err = fmt.Errorf("deletevec: write Puffin file: %w", err)
	}
	return w.err
}

// footerJSON is the FileMetadata object of the Puffin spec.
type footerJSON struct {
	Blobs      []blobJSON        `json:"blobs"`
	Properties map[string]string `json:"properties,omitempty"`
}

// blobJSON is the BlobMetadata object of the Puffin spec.
type blobJSON struct {
	Type       string            `json:"type"`
	Fields     []int32           `json:"fields"`
	SnapshotID int64             `json:"snapshot-id"`
	Sequence   int64             `json:"sequence-number"`
	Offset     *int64            `json:"offset"`
	Length     *int64            `json:"length"`
	Codec      string            `json:"compression-codec,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
}

// newBlobJSON describes a vector. Its snapshot is not known when the file is
// made, for which the spec prescribes -1 twice.
func newBlobJSON(b Blob) blobJSON {
	return blobJSON{
		Type:       blobType,
		Fields:     []int32{rowPosition},
		SnapshotID: -1,
		Sequence:   -1,
		Offset:     &b.Offset,
		Length:     &b.Length,
		Properties: map[string]string{
			propDataFile: b.DataFile,
			propRows:     strconv.FormatInt(b.Cardinality, 10),
		},
	}
}
