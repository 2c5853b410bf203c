package iceberg

import (
	"context"
	"strings"
	"sync/atomic"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

// Table is a handle on one table at one version of its metadata. Refresh and
// the writing methods move it forward. It is safe for concurrent use: every
// operation works on the version that it found when it started.
type Table struct {
	cur      atomic.Pointer[table.Table]
	cat      table.CatalogIO
	readOnly bool // opened from a metadata file, or by a catalog that cannot be written
	vectors  *vectorMemo
}

// Wrap makes a Table of iceberg-go's. cat is the catalog that tbl came from,
// to which changes are committed.
func Wrap(tbl *table.Table, cat table.CatalogIO) *Table {
	t := &Table{cat: cat, vectors: &vectorMemo{}}
	t.cur.Store(tbl)
	return t
}

// Unwrap gives iceberg-go's table at the current version. It must not be
// changed in place.
func (t *Table) Unwrap() *table.Table { return t.cur.Load() }

// Name is the table's name in its catalog, the parts joined by dots, or the
// metadata file's location for a table opened by OpenMetadata.
func (t *Table) Name() string {
	tbl := t.Unwrap()
	if len(tbl.Identifier()) == 0 {
		return tbl.MetadataLocation()
	}
	return strings.Join(tbl.Identifier(), ".")
}

// Schema is the current schema.
func (t *Table) Schema() *ice.Schema { return t.Unwrap().Schema() }

// Metadata is the current metadata.
func (t *Table) Metadata() table.Metadata { return t.Unwrap().Metadata() }

// Properties are the current table properties.
func (t *Table) Properties() ice.Properties { return t.Unwrap().Properties() }

// Location is the root of the table's files.
func (t *Table) Location() string { return t.Unwrap().Location() }

// FS gives access to the table's files.
func (t *Table) FS(ctx context.Context) (iceio.IO, error) { return t.Unwrap().FS(ctx) }

// Refresh loads the newest metadata from the catalog. A table that was opened by
// its metadata file has none.
func (t *Table) Refresh(ctx context.Context) error {
	if t.cat == nil {
		return ErrReadOnly
	}
	fresh, err := t.reload(ctx)
	if err != nil {
		return err
	}
	t.cur.Store(fresh)
	return nil
}

// reload loads the newest metadata without moving the handle. The table must
// still be the same one, by its UUID.
func (t *Table) reload(ctx context.Context) (*table.Table, error) {
	fresh := *t.Unwrap()
	if err := fresh.Refresh(ctx); err != nil {
		return nil, catalogError(err)
	}
	return &fresh, nil
}

// advance moves the handle to tbl unless it is already at a newer version.
func (t *Table) advance(tbl *table.Table) {
	for {
		old := t.cur.Load()
		if old.Metadata().LastSequenceNumber() > tbl.Metadata().LastSequenceNumber() {
			return
		}
		if t.cur.CompareAndSwap(old, tbl) {
			return
		}
	}
}

// writable fails for a table that has no catalog to commit to, or one that
// cannot be written.
func (t *Table) writable() error {
	if t.readOnly {
		return ErrReadOnly
	}
	return nil
}

func parseName(name string) (table.Identifier, error) {
	ident := catalog.ToIdentifier(name)
	if err := catalog.ValidateTableIdentifier(ident); err != nil {
		return nil, invalidf("table name %q: write it as namespace.name", name)
	}
	return ident, nil
}
