package cloud

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	ice "github.com/apache/iceberg-go"
)

// errForeignHost is returned when credentials would go to a server that the
// caller has not named: by the overrides of a catalog's /config, or by a
// redirection.
var errForeignHost = errors.New("credentials are not sent to a server that was not configured")

// guard refuses requests that would carry credentials elsewhere.
type guard struct {
	next    http.RoundTripper
	origins []string // where credentials may go
	secrets bool     // the properties hold some
}

func newGuard(next http.RoundTripper, p ice.Properties) (*guard, error) {
	g := &guard{next: next, secrets: hasSecrets(p)}
	for _, text := range []string{p["uri"], tokenServer(p)} {
		if text == "" {
			continue
		}
		u, err := url.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("iceberg: catalog: %w", err)
		}
		g.origins = append(g.origins, origin(u))
	}
	return g, nil
}

// hasSecrets reports whether properties hold credentials for requests. A token
// request carries them in its body and a header of the caller under any name, so
// with them every request counts.
func hasSecrets(p ice.Properties) bool {
	for k, v := range p {
		if v != "" && (k == "token" || k == "credential" || strings.HasPrefix(k, "header.")) {
			return true
		}
	}
	return false
}

// RoundTrip sends a request that goes where credentials may go, or that has
// none.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	to := origin(req.URL)
	for _, o := range g.origins {
		if o == to {
			return g.next.RoundTrip(req)
		}
	}
	if !g.secrets && req.Header.Get("Authorization") == "" && req.Header.Get("X-Amz-Security-Token") == "" {
		return g.next.RoundTrip(req)
	}
	if req.Body != nil {
		_ = req.Body.Close() // nothing of it is sent
	}
	return nil, fmt.Errorf("iceberg: catalog %s refers to %s: %w (give that address as the catalog's, or as oauth2-server-uri, if it is meant)",
		g.origins[0], to, errForeignHost)
}

// origin is scheme, host and port.
func origin(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
