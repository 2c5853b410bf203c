// Package cloud makes iceberg.OpenCatalog and tables work with services: REST
// and AWS Glue catalogs, and files in S3, Google Cloud Storage and Azure. A
// program imports it for its effect:
//
//	import _ "github.com/frazil/frazil/iceberg/cloud"
//
// It is a package of its own because the clients of these services take minutes
// to compile, and a program on local files does not need them.
//
// Credentials come from the environment, as each service's client reads them,
// or from the properties that OpenCatalog is given.
package cloud

import (
	"context"

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
		}
		return catalog.Load(ctx, kind, p)
	}
}
