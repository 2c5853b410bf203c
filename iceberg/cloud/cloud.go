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
// properties token or credential.
package cloud

import (
	"context"
	"os"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	_ "github.com/apache/iceberg-go/catalog/glue" // registers "glue"
	_ "github.com/apache/iceberg-go/catalog/rest" // registers "rest"
	_ "github.com/apache/iceberg-go/io/gocloud"   // registers s3, gs, abfs and their kin

	"github.com/frazil/frazil/iceberg"
)

func init() {
	iceberg.RegisterCatalog("http", open("rest"))
	iceberg.RegisterCatalog("https", open("rest"))
	iceberg.RegisterCatalog("glue", open("glue"))
}

// open connects through iceberg-go's registry.
func open(kind string) iceberg.Opener {
	return func(ctx context.Context, uri string, props map[string]string) (catalog.Catalog, error) {
		p := ice.Properties{}
		for k, v := range props {
			p[k] = v
		}
		p["type"] = kind
		if kind == "rest" {
			p["uri"] = uri
			fromEnv(p, "token", "FRAZIL_CATALOG_TOKEN")
			fromEnv(p, "credential", "FRAZIL_CATALOG_CREDENTIAL")
		}
		return catalog.Load(ctx, kind, p)
	}
}

// fromEnv sets a property that the caller has not set.
func fromEnv(p ice.Properties, key, variable string) {
	if v := os.Getenv(variable); v != "" && p[key] == "" {
		p[key] = v
	}
}
