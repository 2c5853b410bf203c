package iceberg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/table"
)

// Catalog names tables. It is safe for concurrent use.
type Catalog struct {
	cat       catalog.Catalog
	warehouse string // root for the locations of new tables; "" leaves them to the catalog
	readOnly  bool
	closers   []func() error

	locate func(context.Context, table.Identifier) string // the metadata file of a table; nil where a catalog has none to name
}

// Opener connects to a kind of catalog. uri is what OpenCatalog was given.
type Opener func(ctx context.Context, uri string, props map[string]string) (catalog.Catalog, error)

var (
	openersMu sync.RWMutex
	openers   = map[string]Opener{}
)

// RegisterCatalog makes OpenCatalog use open for the URIs of a scheme. It is
// called by packages that bring a client, such as iceberg/cloud, from their
// init functions; a second call for one scheme replaces the first.
func RegisterCatalog(scheme string, open Opener) {
	openersMu.Lock()
	defer openersMu.Unlock()
	openers[scheme] = open
}

// OpenCatalog connects to the catalog at uri:
//
//	path/to/catalog.db, sqlite:path   a SQLite file, created when missing
//	http://..., https://...           a REST catalog } after importing
//	glue://                           AWS Glue       } iceberg/cloud
//
// props are the catalog's properties. "warehouse" is the root folder or bucket
// of new tables; for SQLite it defaults to the folder that holds the file. With
// "read-only" set to "true" a SQLite file is opened for reading and never
// created or changed; so is a file that this user cannot write. Then tables can
// be read, and a write is an error that Is ErrReadOnly.
func OpenCatalog(ctx context.Context, uri string, props map[string]string) (*Catalog, error) {
	scheme, rest, found := strings.Cut(uri, ":")
	if !found || len(scheme) < 2 { // a plain path, or a Windows drive letter
		scheme, rest = "sqlite", uri
	}
	switch scheme {
	case "sqlite", "file":
		return openSQLite(trimSlashes(rest), props)
	}
	openersMu.RLock()
	open := openers[scheme]
	known := slices.Sorted(maps.Keys(openers))
	openersMu.RUnlock()
	switch {
	case open == nil && len(known) == 0:
		return nil, unsupportedf("a catalog of scheme %q: without the package iceberg/cloud only sqlite is known", scheme)
	case open == nil:
		return nil, unsupportedf("a catalog of scheme %q: use sqlite, %s", scheme, strings.Join(known, ", "))
	}
	cat, err := open(ctx, uri, props)
	if err != nil {
		return nil, fmt.Errorf("iceberg: open catalog: %w", err)
	}
	c := &Catalog{cat: cat}
	if closer, ok := cat.(catalog.Closer); ok {
		c.closers = append(c.closers, closer.Close)
	}
	return c, nil
}

// OpenWarehouse opens the SQLite catalog dir/catalog.db, whose tables live
// below dir. Both are created when missing.
func OpenWarehouse(ctx context.Context, dir string) (*Catalog, error) {
	return OpenCatalog(ctx, "sqlite:"+filepath.Join(dir, "catalog.db"), map[string]string{"warehouse": dir})
}

// WrapCatalog makes a Catalog of iceberg-go's. New tables are placed by cat.
func WrapCatalog(cat catalog.Catalog) *Catalog { return &Catalog{cat: cat} }

// trimSlashes turns the ///path of a URI without a host into /path.
func trimSlashes(p string) string {
	if strings.HasPrefix(p, "//") {
		return strings.TrimPrefix(p, "//")
	}
	return p
}

// warehouseRoot makes a local warehouse absolute. A path that a URL would have
// to escape is kept as a file URI, because iceberg-go joins locations as URLs.
func warehouseRoot(w, fallback string) (string, error) {
	if w == "" {
		w = fallback
	}
	if strings.Contains(w, "://") {
		return strings.TrimRight(w, "/"), nil
	}
	abs, err := filepath.Abs(w)
	if err != nil {
		return "", fmt.Errorf("iceberg: warehouse: %w", err)
	}
	slash := filepath.ToSlash(abs)
	if u := (&url.URL{Path: slash}).String(); u != slash {
		return "file://" + u, nil
	}
	return slash, nil
}

// Unwrap gives iceberg-go's catalog.
func (c *Catalog) Unwrap() catalog.Catalog { return c.cat }

// Close releases the connection. Tables of the catalog can no longer be
// refreshed or committed to.
func (c *Catalog) Close() error {
	var errs []error
	for _, closer := range c.closers {
		errs = append(errs, closer())
	}
	c.closers = nil
	return errors.Join(errs...)
}

// Load opens the table with the given name, such as "risk.trades".
func (c *Catalog) Load(ctx context.Context, name string) (*Table, error) {
	ident, err := parseName(name)
	if err != nil {
		return nil, err
	}
	tbl, err := c.cat.LoadTable(ctx, ident)
	if errors.Is(err, table.ErrInvalidMetadata) && c.locate != nil {
		err = fmt.Errorf("%s: %w", c.locate(ctx, ident), err)
	}
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, catalogError(err))
	}
	t := Wrap(tbl, c.cat)
	t.readOnly = c.readOnly
	return t, nil
}

// writable fails for a catalog that was opened for reading.
func (c *Catalog) writable() error {
	if c.readOnly {
		return ErrReadOnly
	}
	return nil
}

// LoadOrCreate opens the table, or creates it by spec when it does not exist.
// An existing table is not compared with spec.
func (c *Catalog) LoadOrCreate(ctx context.Context, name string, spec TableSpec) (*Table, error) {
	t, err := c.Load(ctx, name)
	if !errors.Is(err, ErrNoTable) {
		return t, err
	}
	t, err = c.Create(ctx, name, spec)
	if errors.Is(err, ErrTableExists) { // another process was faster
		return c.Load(ctx, name)
	}
	return t, err
}

// Tables lists the names of the tables of a namespace, sorted.
func (c *Catalog) Tables(ctx context.Context, namespace string) ([]string, error) {
	var names []string
	for ident, err := range c.cat.ListTables(ctx, catalog.ToIdentifier(namespace)) {
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", namespace, catalogError(err))
		}
		names = append(names, strings.Join(ident, "."))
	}
	slices.Sort(names)
	return names, nil
}

// Drop removes the table from the catalog. Its files stay.
func (c *Catalog) Drop(ctx context.Context, name string) error {
	ident, err := parseName(name)
	if err == nil {
		err = c.writable()
	}
	if err != nil {
		return err
	}
	if err := c.cat.DropTable(ctx, ident); err != nil {
		return fmt.Errorf("drop %s: %w", name, catalogError(err))
	}
	return nil
}

// ensureNamespace creates the namespace of a new table.
func (c *Catalog) ensureNamespace(ctx context.Context, ident table.Identifier) error {
	ns := catalog.NamespaceFromIdent(ident)
	ok, err := c.cat.CheckNamespaceExists(ctx, ns)
	if err != nil || ok {
		return err
	}
	err = c.cat.CreateNamespace(ctx, ns, nil)
	if errors.Is(err, catalog.ErrNamespaceAlreadyExists) {
		return nil
	}
	return err
}

// catalogError gives the sentinels of this package to iceberg-go's errors.
func catalogError(err error) error {
	switch {
	case errors.Is(err, catalog.ErrNoSuchTable), errors.Is(err, catalog.ErrNoSuchNamespace):
		return fmt.Errorf("%w: %w", ErrNoTable, err)
	case errors.Is(err, catalog.ErrTableAlreadyExists):
		return fmt.Errorf("%w: %w", ErrTableExists, err)
	case errors.Is(err, table.ErrInvalidMetadata):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return fmt.Errorf("iceberg: %w", err)
}
