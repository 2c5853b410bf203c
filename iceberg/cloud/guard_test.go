package cloud

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
)

// server is a REST catalog that has no tables. It gives out tokens, and answers
// /config with the given text.
type server struct {
	*httptest.Server
	config   string
	redirect string // of all requests but /config
	requests atomic.Int32
	auth     atomic.Value // the last Authorization header
}

func newServer(t *testing.T) *server {
	s := &server{config: `{"defaults":{},"overrides":{}}`}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		s.auth.Store(r.Header.Get("Authorization"))
		switch {
		case r.URL.Path == "/v1/config":
			fmt.Fprint(w, s.config)
		case r.URL.Path == "/v1/oauth/tokens":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"given","token_type":"bearer","expires_in":3600}`)
		case s.redirect != "":
			http.Redirect(w, r, s.redirect+r.URL.Path, http.StatusTemporaryRedirect)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"identifiers":[]}`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// list opens the catalog and lists a namespace.
func list(t *testing.T, uri string, props map[string]string) error {
	cat, err := iceberg.OpenCatalog(context.Background(), uri, props)
	if err != nil {
		return err
	}
	t.Cleanup(func() { require.NoError(t, cat.Close()) })
	_, err = cat.Tables(context.Background(), "risk")
	return err
}

func override(key, value string) string {
	return fmt.Sprintf(`{"defaults":{},"overrides":{%q:%q}}`, key, value)
}

// TestOverridesKeepCredentialsAtTheirServer guards the promise that no answer of
// a catalog sends the caller's secrets elsewhere.
func TestOverridesKeepCredentialsAtTheirServer(t *testing.T) {
	token, credential := map[string]string{"token": "secret"}, map[string]string{"credential": "id:secret"}
	header := map[string]string{"header.X-Api-Key": "secret"}
	for _, c := range []struct {
		name  string
		props map[string]string
		set   func(home, away *server)
	}{
		{"uri, token", token, func(home, away *server) { home.config = override("uri", away.URL) }},
		{"uri, credential", credential, func(home, away *server) { home.config = override("uri", away.URL) }},
		{"uri, header", header, func(home, away *server) { home.config = override("uri", away.URL) }},
		{"default uri", token, func(home, away *server) { home.config = fmt.Sprintf(`{"defaults":{"uri":%q}}`, away.URL) }},
		{"token server", credential, func(home, away *server) {
			home.config = override("oauth2-server-uri", away.URL+"/v1/oauth/tokens")
		}},
		{"old name of the token server", credential, func(home, away *server) {
			home.config = override("rest.authorization-url", away.URL+"/v1/oauth/tokens")
		}},
		{"redirection", token, func(home, away *server) { home.redirect = away.URL }},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, away := newServer(t), newServer(t)
			c.set(home, away)
			err := list(t, home.URL, c.props)
			if c.name == "default uri" { // what the caller has set comes first
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, errForeignHost.Error()) // the token client keeps only the text
				require.NotContains(t, err.Error(), "secret")
			}
			require.Zero(t, away.requests.Load())
		})
	}
}

func TestWhatIsConfiguredIsUsed(t *testing.T) {
	t.Run("token", func(t *testing.T) {
		home := newServer(t)
		require.NoError(t, list(t, home.URL, map[string]string{"token": "secret"}))
		require.Equal(t, "Bearer secret", home.auth.Load())
	})
	t.Run("token server of its own", func(t *testing.T) {
		home, tokens := newServer(t), newServer(t)
		require.NoError(t, list(t, home.URL, map[string]string{
			"credential": "id:secret", "oauth2-server-uri": tokens.URL + "/v1/oauth/tokens",
		}))
		require.Equal(t, "Bearer given", home.auth.Load())
		require.NotZero(t, tokens.requests.Load())
	})
	t.Run("the same server", func(t *testing.T) {
		home := newServer(t)
		home.config = override("uri", home.URL+"/")
		require.NoError(t, list(t, home.URL, map[string]string{"token": "secret"}))
	})
	t.Run("nothing to keep", func(t *testing.T) {
		home, away := newServer(t), newServer(t)
		home.config = override("uri", away.URL)
		require.NoError(t, list(t, home.URL, nil))
		require.NotZero(t, away.requests.Load())
	})
}

func TestOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"HTTPS://Catalog.example/v1":     "https://catalog.example:443",
		"http://catalog.example":         "http://catalog.example:80",
		"http://user@catalog.example:81": "http://catalog.example:81",
		"http://[::1]:8181/a":            "http://[::1]:8181",
	} {
		u, err := url.Parse(text)
		require.NoError(t, err)
		require.Equal(t, want, origin(u))
	}
}
