package iceberg

import (
	"context"
	"slices"
	"sync"

	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

// recorder notes the files that iceberg-go creates for one attempt to commit,
// so that those of a refused attempt can be removed. Manifest lists of tables
// partitioned by texts go through closeBounds.
type recorder struct {
	mu      sync.Mutex
	created []string
}

// wrap gives a table whose files are created through r.
func (r *recorder) wrap(tbl *table.Table, cat table.CatalogIO) *table.Table {
	texts := hasTextPartitions(tbl.Metadata())
	fsF := func(ctx context.Context) (iceio.IO, error) {
		fs, err := tbl.FS(ctx)
		if err != nil {
			return nil, err
		}
		wfs, ok := fs.(iceio.WriteFileIO)
		if !ok {
			return nil, table.ErrWriteIORequired
		}
		return recordingIO{wfs, r, texts}, nil
	}
	return table.New(tbl.Identifier(), tbl.Metadata(), tbl.MetadataLocation(), fsF, cat)
}

func (r *recorder) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created = append(r.created, name)
}

func (r *recorder) paths() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.created)
}

type recordingIO struct {
	iceio.WriteFileIO
	rec   *recorder
	texts bool // hasTextPartitions
}

func (f recordingIO) Create(name string) (iceio.FileWriter, error) {
	f.rec.add(name)
	if f.texts && isManifestList(name) {
		return createList(f.WriteFileIO, name)
	}
	return f.WriteFileIO.Create(name)
}

func (f recordingIO) WriteFile(name string, p []byte) error {
	f.rec.add(name)
	return f.WriteFileIO.WriteFile(name, p)
}
