package iceberg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	sqlcat "github.com/apache/iceberg-go/catalog/sql"
	"github.com/apache/iceberg-go/table"
	sqlite "modernc.org/sqlite" // registers the driver "sqlite" of the default catalog
)

// sqliteName is the catalog_name of the rows of a SQLite catalog; other
// clients must use the same to see the tables.
const sqliteName = "frazil"

// propReadOnly is the property of a SQLite catalog that asks for reading only.
const propReadOnly = "read-only"

// openSQLite opens the catalog file, for reading only when asked to or when it
// cannot be written: on a read-only medium or a full disk, or as a user who may
// not.
func openSQLite(path string, props map[string]string) (*Catalog, error) {
	if path == "" {
		return nil, invalidf("catalog: empty path")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("iceberg: open catalog: %w", err)
	}
	p := ice.Properties{}
	maps.Copy(p, props)
	warehouse, err := warehouseRoot(p["warehouse"], filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	p["warehouse"] = warehouse
	var c *Catalog
	if p.GetBool(propReadOnly, false) {
		c, err = readSQLite(path, p)
	} else if c, err = writeSQLite(path, p); isUnwritable(err) {
		if _, statErr := os.Stat(path); statErr == nil {
			c, err = readSQLite(path, p)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("iceberg: open catalog %s: %w", path, err)
	}
	c.warehouse = warehouse
	return c, nil
}

// writeSQLite opens or creates the file for reading and writing.
//
// Writers of other processes are waited for, and readers never block a commit:
// both are settings of each connection, hence in the DSN. Commits stay
// synchronous (SQLite's default, FULL): with NORMAL a power failure may take
// back a commit after which Expire or another cleaning has removed files that
// the version before it still names.
func writeSQLite(path string, p ice.Properties) (*Catalog, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return connectSQLite(path, "_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)", p)
}

// readSQLite opens the file for reading. SQLite wants to share an index of the
// log of changes with writers, in a file beside it. Where that cannot be made
// and there is no log, nobody writes, and the file is read as it stands. A log
// that cannot be read is an error: it holds the newest commits.
func readSQLite(path string, p ice.Properties) (*Catalog, error) {
	p[sqliteInitTables] = "false"
	c, err := connectSQLite(path, "mode=ro&_pragma=busy_timeout(30000)", p)
	if isUnwritable(err) {
		if info, statErr := os.Stat(path + "-wal"); statErr != nil || info.Size() == 0 {
			c, err = connectSQLite(path, "mode=ro&immutable=1", p)
		}
	}
	if err != nil {
		return nil, err
	}
	c.readOnly = true
	return c, nil
}

// sqliteInitTables is the property of iceberg-go's catalog that creates its
// tables.
const sqliteInitTables = "init_catalog_tables"

func connectSQLite(path, query string, p ice.Properties) (*Catalog, error) {
	dsn := (&url.URL{Scheme: "file", Path: path, RawQuery: query}).String()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	// iceberg-go takes a failed look at the file for one that has no tables yet.
	var tables int
	err = db.QueryRowContext(context.Background(), "SELECT count(*) FROM sqlite_master").Scan(&tables)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	cat, err := sqlcat.NewCatalog(sqliteName, db, sqlcat.SQLite, p)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	locate := func(ctx context.Context, ident table.Identifier) string { return locateMetadata(ctx, db, ident) }
	return &Catalog{cat: cat, locate: locate, closers: []func() error{cat.Close, db.Close}}, nil
}

// locateMetadata gives the metadata file of a table, "" when there is none:
// iceberg-go does not name the file that it could not parse.
func locateMetadata(ctx context.Context, db *sql.DB, ident table.Identifier) string {
	const query = `SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?`
	namespace := strings.Join(catalog.NamespaceFromIdent(ident), ".")
	var location sql.NullString
	if err := db.QueryRowContext(ctx, query, sqliteName, namespace, catalog.TableNameFromIdent(ident)).Scan(&location); err != nil {
		return ""
	}
	return location.String
}

// Codes of SQLite for a file that cannot be written, whose log cannot be
// opened, or beside which the index of the log finds no room on the disk.
// (https://sqlite.org/rescode.html)
const (
	sqliteReadOnly  = 8
	sqliteCantOpen  = 14
	sqliteIndexSize = 10 | 19<<8
)

// isUnwritable reports that SQLite failed because it may not write.
func isUnwritable(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		code := e.Code() & 0xff
		return code == sqliteReadOnly || code == sqliteCantOpen || e.Code() == sqliteIndexSize
	}
	return errors.Is(err, os.ErrPermission)
}
