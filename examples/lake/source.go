package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/frazil/frazil/examples/internal/props"
	"github.com/frazil/frazil/iceberg"
	_ "github.com/frazil/frazil/iceberg/cloud" // REST, Glue, and files in S3, GCS and Azure
)

// source says which table a command works on.
type source struct {
	warehouse string
	catalog   string
	table     string
	metadata  string
	props     props.Flag
}

// register adds the flags. A command that only reads can also open a table by
// its metadata file.
func (s *source) register(fs *flag.FlagSet, readOnly bool) {
	fs.StringVar(&s.warehouse, "warehouse", "", "`DIR` with the tables and a SQLite catalog, DIR/catalog.db")
	fs.StringVar(&s.catalog, "catalog", "", "`URI` of another catalog: sqlite:PATH, http(s)://..., glue://")
	fs.Var(&s.props, "prop", "property of the catalog, `key=value`; may be repeated")
	fs.StringVar(&s.table, "table", "", "the table, as `namespace.name`")
	if readOnly {
		fs.StringVar(&s.metadata, "metadata", "", "read the table of this metadata `FILE`, without a catalog")
	}
}

// openCatalog opens the catalog that the flags name.
func (s *source) openCatalog(ctx context.Context) (*iceberg.Catalog, error) {
	switch {
	case s.table == "":
		return nil, errors.New("name the table with -table namespace.name")
	case s.catalog != "":
		p := map[string]string{}
		maps.Copy(p, s.props)
		if s.warehouse != "" {
			p["warehouse"] = s.warehouse
		}
		return iceberg.OpenCatalog(ctx, s.catalog, p)
	case s.warehouse != "":
		return iceberg.OpenWarehouse(ctx, s.warehouse)
	}
	return nil, errors.New("say where the table is with -warehouse DIR or -catalog URI")
}

// sqliteFile is the file of a SQLite catalog, "" for other catalogs.
func (s *source) sqliteFile() string {
	switch {
	case s.catalog == "" && s.warehouse == "":
		return ""
	case s.catalog == "":
		return filepath.Join(s.warehouse, "catalog.db")
	case strings.HasPrefix(s.catalog, "sqlite:"):
		return strings.TrimPrefix(strings.TrimPrefix(s.catalog, "sqlite:"), "//")
	case strings.Contains(s.catalog, ":"):
		return ""
	}
	return s.catalog
}

// open opens the table. The returned function closes the catalog.
func (s *source) open(ctx context.Context) (*iceberg.Table, func() error, error) {
	if s.metadata != "" {
		if s.table != "" || s.warehouse != "" || s.catalog != "" {
			return nil, nil, errors.New("-metadata stands alone: leave out -table, -warehouse and -catalog")
		}
		t, err := iceberg.OpenMetadata(s.metadata)
		return t, func() error { return nil }, err
	}
	if file := s.sqliteFile(); file != "" { // which opening would create
		if _, err := os.Stat(file); err != nil {
			what := "no warehouse in " + s.warehouse
			if s.catalog != "" {
				what = "no catalog " + file
			}
			return nil, nil, fmt.Errorf("%s (lake load creates it): %w", what, err)
		}
	}
	cat, err := s.openCatalog(ctx)
	if err != nil {
		return nil, nil, err
	}
	t, err := cat.Load(ctx, s.table)
	if err != nil {
		return nil, nil, errors.Join(err, cat.Close())
	}
	return t, cat.Close, nil
}

// hint adds what to do about common errors.
func hint(err error) error {
	switch {
	case errors.Is(err, iceberg.ErrNoTable):
		return fmt.Errorf("%w (lake load creates it)", err)
	case errors.Is(err, iceberg.ErrReadOnly):
		return fmt.Errorf("%w (this user may not write the warehouse, or its disk is full: scan, get and inspect work)", err)
	}
	return err
}
