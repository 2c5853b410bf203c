package cloud

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"

	"github.com/frazil/frazil/internal/icejson"
)

// openREST connects to a REST catalog, over a transport that keeps credentials
// at the servers that the caller has named, and sends schemas as the reference
// implementation reads them.
func openREST(ctx context.Context, uri string, props map[string]string) (catalog.Catalog, error) {
	p := ice.Properties{}
	maps.Copy(p, props)
	p["type"], p["uri"] = "rest", uri
	fromEnv(p, "token", "FRAZIL_CATALOG_TOKEN")
	fromEnv(p, "credential", "FRAZIL_CATALOG_CREDENTIAL")
	guarded, err := newGuard(transport{baseTransport(p)}, p)
	if err != nil {
		return nil, err
	}
	opts, err := restOptions(p)
	if err != nil {
		return nil, err
	}
	return rest.NewCatalog(ctx, "rest", uri, append(opts, rest.WithCustomTransport(guarded))...)
}

// baseTransport makes a transport of our own.
func baseTransport(p ice.Properties) http.RoundTripper {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	base = base.Clone()
	if strings.EqualFold(p["rest.tls.skip-verify"], "true") {
		base.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the caller asks for it
	}
	return base
}

// restOptions are those of the properties which the first request, for the
// catalog's own configuration, depends on already.
func restOptions(p ice.Properties) ([]rest.Option, error) {
	opts := []rest.Option{rest.WithAdditionalProps(p)}
	for key, option := range map[string]func(string) rest.Option{
		"token": rest.WithOAuthToken, "credential": rest.WithCredential, "warehouse": rest.WithWarehouseLocation,
		"prefix": rest.WithPrefix, "scope": rest.WithScope, "audience": rest.WithAudience, "resource": rest.WithResource,
	} {
		if v := p[key]; v != "" {
			opts = append(opts, option(v))
		}
	}
	if v := tokenServer(p); v != "" {
		u, err := url.Parse(v)
		if err != nil {
			return nil, fmt.Errorf("iceberg: oauth2-server-uri: %w", err)
		}
		opts = append(opts, rest.WithAuthURI(u))
	}
	if strings.EqualFold(p["rest.sigv4-enabled"], "true") {
		opts = append(opts, rest.WithSigV4RegionSvc(p["rest.signing-region"], p["rest.signing-name"]))
	}
	return opts, nil
}

// tokenServer is the URI of the token server, "" for that of the catalog.
func tokenServer(p ice.Properties) string {
	if v := p["oauth2-server-uri"]; v != "" {
		return v
	}
	return p["rest.authorization-url"]
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
