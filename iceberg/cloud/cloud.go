// Package cloud makes iceberg.OpenCatalog and tables work with services: REST
// and AWS Glue catalogs, and files in S3, Google Cloud Storage and Azure. A
// program imports it for its effect:
//
//	import _ "github.com/frazil/frazil/iceberg/cloud"
//
// It is a package of its own because the clients of these services take minutes
// to compile, and a program on local files does not need them.
//
// Credentials come from the environment: those of storage as each service's
// client reads them, those of a REST catalog from FRAZIL_CATALOG_TOKEN or
// FRAZIL_CATALOG_CREDENTIAL (id:secret), unless OpenCatalog is given the
// properties token or credential. What a REST catalog says of itself never
// sends them to a server that the caller has not named: see the property
// oauth2-server-uri for a token server of its own. Storage is another matter:
// requests to the s3.endpoint that a catalog names are signed with the keys of
// the environment.
//
// Where iceberg-go writes the metadata files to a store itself, as for Glue or a
// SQLite catalog whose warehouse is a bucket, the default 1.0 of a double column
// is written as 1, which Java does not read. Give such a default a fraction, or
// use a REST catalog: requests to it are put right.
package cloud

import (
	"context"
	"maps"
	"os"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	_ "github.com/apache/iceberg-go/catalog/glue" // registers "glue"
	_ "github.com/apache/iceberg-go/io/gocloud"   // registers s3, gs, abfs and their kin

	"github.com/frazil/frazil/iceberg"
)

func init() {
	iceberg.RegisterCatalog("http", openREST)
	iceberg.RegisterCatalog("https", openREST)
	iceberg.RegisterCatalog("glue", openGlue)
}

// openGlue connects through iceberg-go's registry.
func openGlue(ctx context.Context, _ string, props map[string]string) (catalog.Catalog, error) {
	p := ice.Properties{}
	maps.Copy(p, props)
	p["type"] = "glue"
	return catalog.Load(ctx, "glue", p)
}

// fromEnv sets a property that the caller has not set.
func fromEnv(p ice.Properties, key, variable string) {
	if v := os.Getenv(variable); v != "" && p[key] == "" {
		p[key] = v
	}
}
