package iceberg

import (
	"context"
	"errors"
	"fmt"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/frazil/frazil/deletevec"
	"github.com/frazil/frazil/internal/pq"
)

// Verify checks the files of the current snapshot against its manifests: sizes
// and row counts of data files, and for deletion vectors the blob, its
// cardinality and positions, and the footer of the Puffin file, which scans do
// not read. It returns everything that is wrong, joined.
func (t *Table) Verify(ctx context.Context) error {
	s := t.Metadata().CurrentSnapshot()
	if s == nil {
		return nil
	}
	fs, err := t.FS(ctx)
	if err != nil {
		return err
	}
	entries, err := liveEntries(fs, s)
	if err != nil {
		return err
	}
	rows := map[string]int64{}
	var errs []error
	for _, e := range entries {
		f := e.DataFile()
		if f.ContentType() != ice.EntryContentData {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if rows[f.FilePath()] != 0 {
			errs = append(errs, corruptf("%s is listed twice, the second time in %s", f.FilePath(), e.manifest))
		}
		rows[f.FilePath()] = f.Count()
		errs = append(errs, verifyData(fs, f, e.manifest))
	}
	return errors.Join(append(errs, verifyVectors(fs, entries, rows)...)...)
}

func verifyData(fs iceio.IO, f ice.DataFile, manifest string) error {
	if f.FileFormat() != ice.ParquetFile {
		return nil
	}
	in, err := fs.Open(f.FilePath())
	if err != nil {
		return fileError(f.FilePath(), err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return fileError(f.FilePath(), err)
	}
	if info.Size() != f.FileSizeBytes() {
		return corruptf("%s has %d bytes, the manifest %s says %d", f.FilePath(), info.Size(), manifest, f.FileSizeBytes())
	}
	file, err := pq.Open(in, info.Size(), pq.ReaderOptions{Name: f.FilePath()})
	if err != nil {
		return fileError(f.FilePath(), err)
	}
	if file.Rows() != f.Count() {
		return corruptf("%s has %d rows, the manifest %s says %d", f.FilePath(), file.Rows(), manifest, f.Count())
	}
	return nil
}

// verifyVectors checks the vectors, Puffin file by Puffin file.
func verifyVectors(fs iceio.IO, entries []liveEntry, rows map[string]int64) []error {
	var errs []error
	byPuffin := map[string][]deletevec.Ref{}
	seen := map[string]bool{}
	for _, e := range entries {
		f := e.DataFile()
		if !table.IsDeletionVector(f) {
			continue
		}
		ref := f.ReferencedDataFile()
		if ref == nil || f.ContentOffset() == nil || f.ContentSizeInBytes() == nil {
			errs = append(errs, corruptf("the manifest %s lists a deletion vector of %s without data file, offset or size", e.manifest, f.FilePath()))
			continue
		}
		if seen[*ref] {
			errs = append(errs, corruptf("two deletion vectors for %s, the second in the manifest %s", *ref, e.manifest))
		}
		seen[*ref] = true
		if _, ok := rows[*ref]; !ok {
			errs = append(errs, corruptf("the manifest %s lists a deletion vector for %s, which is no live data file", e.manifest, *ref))
		}
		byPuffin[f.FilePath()] = append(byPuffin[f.FilePath()], deletevec.Ref{
			File: f.FilePath(), Rows: rows[*ref],
			Blob: deletevec.Blob{DataFile: *ref, Offset: *f.ContentOffset(), Length: *f.ContentSizeInBytes(), Cardinality: f.Count()},
		})
	}
	for path, refs := range byPuffin {
		errs = append(errs, verifyPuffin(fs, path, refs))
	}
	return errs
}

func verifyPuffin(fs iceio.IO, path string, refs []deletevec.Ref) error {
	in, err := fs.Open(path)
	if err != nil {
		return fileError(path, err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return fileError(path, err)
	}
	if err := deletevec.Verify(in, info.Size(), refs...); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
