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
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"os"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	_ "github.com/apache/iceberg-go/catalog/glue" // registers "glue"
	"github.com/apache/iceberg-go/catalog/rest"
	_ "github.com/apache/iceberg-go/io/gocloud" // registers s3, gs, abfs and their kin

	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/internal/icejson"
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

// openREST connects to a REST catalog, over a transport that sends schemas as
// the reference implementation reads them.
func openREST(ctx context.Context, uri string, props map[string]string) (catalog.Catalog, error) {
	p := ice.Properties{}
	maps.Copy(p, props)
	p["type"], p["uri"] = "rest", uri
	fromEnv(p, "token", "FRAZIL_CATALOG_TOKEN")
	fromEnv(p, "credential", "FRAZIL_CATALOG_CREDENTIAL")
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return catalog.Load(ctx, "rest", p)
	}
	opts := []rest.Option{rest.WithAdditionalProps(p), rest.WithCustomTransport(transport{base.Clone()})}
	if v := p["token"]; v != "" {
		opts = append(opts, rest.WithOAuthToken(v))
	}
	if v := p["credential"]; v != "" {
		opts = append(opts, rest.WithCredential(v))
	}
	if v := p["warehouse"]; v != "" {
		opts = append(opts, rest.WithWarehouseLocation(v))
	}
	return rest.NewCatalog(ctx, "rest", uri, opts...)
}

// transport repairs the float defaults of the schemas in requests; see package
// icejson.
type transport struct{ http.RoundTripper }

// RoundTrip sends one request. The caller's request is not modified.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil || req.Method != http.MethodPost {
		return t.RoundTripper.RoundTrip(req)
	}
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := req.Body.Close(); err != nil {
		return nil, err
	}
	text = icejson.FloatDefaults(text)
	sent := req.Clone(req.Context())
	sent.Body = io.NopCloser(bytes.NewReader(text))
	sent.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	sent.ContentLength = int64(len(text))
	return t.RoundTripper.RoundTrip(sent)
}

// fromEnv sets a property that the caller has not set.
func fromEnv(p ice.Properties, key, variable string) {
	if v := os.Getenv(variable); v != "" && p[key] == "" {
		p[key] = v
	}
}
