package deletevec

import (
	"errors"
	"io"
)

// Ref points at a vector the way a manifest entry does.
type Ref struct {
	File string // location of the Puffin file; only named in errors
	Blob        // where it lies, which data file it belongs to, its record_count
	// Rows is the number of rows of the data file; a vector with a position
	// beyond them is corrupt. 0: not known, not checked.
	Rows int64
}

// probeBytes is the size from which Read looks whether the end of the blob
// exists before it takes memory for all of it.
const probeBytes = 16 << 20

// Read reads one vector with one ReadAt, at the offset and of the size that the
// manifest gives. It trusts the manifest and the blob itself — length, magic,
// checksum, structure, cardinality — and does not touch the Puffin footer, as
// [Verify] does. Errors are [*Error]; they Is [ErrCorrupt] when the bytes or the
// ref are wrong, and wrap the reader's error otherwise.
func Read(r io.ReaderAt, ref Ref) (*Vector, error) { return new(Reader).Read(r, ref) }

// Reader reads one vector after the other into the same memory. The zero value
// is ready; it is for one goroutine.
type Reader struct {
	buf []byte
	v   Vector
}

// Read is the function [Read]; the vector is valid until the next call.
func (rd *Reader) Read(r io.ReaderAt, ref Ref) (*Vector, error) {
	if err := rd.read(r, ref); err != nil {
		return nil, locate(err, ref.File, ref.DataFile, ref.Offset)
	}
	return &rd.v, nil
}

func (rd *Reader) read(r io.ReaderAt, ref Ref) error {
	switch {
	case ref.Offset < int64(len(puffinMagic)):
		return corrupt(0, "blob offset %d", ref.Offset)
	case ref.Length < int64(minBlob) || ref.Length > 1<<31 || ref.Offset > 1<<62:
		return corrupt(0, "blob size %d", ref.Length)
	case ref.Cardinality <= 0:
		return corrupt(0, "record count %d of a deletion vector", ref.Cardinality)
	}
	if ref.Length > probeBytes {
		// A manifest that lies must not cost memory that no byte backs.
		if err := readFull(r, make([]byte, 1), ref.Offset+ref.Length-1); err != nil {
			return err
		}
	}
	if int64(cap(rd.buf)) < ref.Length {
		rd.buf = make([]byte, ref.Length)
	}
	b := rd.buf[:ref.Length]
	if err := readFull(r, b, ref.Offset); err != nil {
		return err
	}
	if err := rd.v.parse(b); err != nil {
		return err
	}
	if n := rd.v.Cardinality(); n != ref.Cardinality {
		return corrupt(0, "%d deleted rows, the manifest says %d", n, ref.Cardinality)
	}
	return rd.v.checkRows(ref.Rows)
}

// checkRows refuses positions that the data file does not have.
func (v *Vector) checkRows(rows int64) error {
	if last, ok := v.Max(); ok && rows > 0 && last >= rows {
		return corrupt(0, "row %d is deleted of a data file of %d rows", last, rows)
	}
	return nil
}

// readFull fills b from off. A file that ends before is corrupt.
func readFull(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return corrupt(n, "file ends %d bytes early", len(b)-n)
	}
	return err
}
