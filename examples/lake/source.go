package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/frazil/frazil/iceberg"
	_ "github.com/frazil/frazil/iceberg/cloud" // REST, Glue, and files in S3, GCS and Azure
)

// source says which table a command works on.
type source struct {
	warehouse string
	catalog   string
	table     string
	metadata  string
	props     propFlag
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

// propFlag collects key=value flags.
type propFlag map[string]string

func (p *propFlag) String() string { return "" }

func (p *propFlag) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return errors.New("write it as key=value")
	}
	if isSecret(key) {
		return fmt.Errorf("%s is a secret, which others can see in a flag; set it in the environment (FRAZIL_CATALOG_TOKEN, FRAZIL_CATALOG_CREDENTIAL, or the variables of the cloud)", key)
	}
	if *p == nil {
		*p = propFlag{}
	}
	(*p)[key] = value
	return nil
}

// isSecret tells the properties that hold secrets by their names.
func isSecret(key string) bool {
	key = strings.ToLower(key)
	for _, word := range []string{"token", "credential", "secret", "password", "access-key", "account-key", "sas"} {
		if strings.HasSuffix(key, word) {
			return true
		}
	}
	return false
}

// openCatalog opens the catalog that the flags name.
func (s *source) openCatalog(ctx context.Context) (*iceberg.Catalog, error) {
	switch {
	case s.table == "":
		return nil, errors.New("name the table with -table namespace.name")
	case s.catalog != "":
		props := map[string]string(s.props)
		if s.warehouse != "" {
			if props == nil {
				props = map[string]string{}
			}
			props["warehouse"] = s.warehouse
		}
		return iceberg.OpenCatalog(ctx, s.catalog, props)
	case s.warehouse != "":
		return iceberg.OpenWarehouse(ctx, s.warehouse)
	}
	return nil, errors.New("say where the table is with -warehouse DIR or -catalog URI")
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
	cat, err := s.openCatalog(ctx)
	if err != nil {
		return nil, nil, err
	}
	t, err := cat.Load(ctx, s.table)
	if err != nil {
		return nil, nil, errors.Join(hint(err), cat.Close())
	}
	return t, cat.Close, nil
}

// hint adds what to do about common errors.
func hint(err error) error {
	if errors.Is(err, iceberg.ErrNoTable) {
		return fmt.Errorf("%w (lake load creates it)", err)
	}
	return err
}
