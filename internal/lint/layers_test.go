package lint

import (
	"go/token"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layers says which packages of ours a package may import, tests apart. A
// prefix that ends with a slash stands for a whole tree. The examples and the
// modules under internal/bench and internal/interop import anything.
var layers = map[string][]string{
	"":                     {},
	"variant":              {},
	"variant/arrowvariant": {"variant"},
	"shred":                {"variant", "internal/leaf"},
	"deletevec":            {},
	"iceberg":              {"variant", "shred", "deletevec", "internal/icejson", "internal/leaf", "internal/pq"},
	"iceberg/cloud":        {"iceberg", "internal/icejson"},
	"iceberg/stream":       {"iceberg", "variant"},
	"udf":                  {"internal/ipccheck"},
	"udf/flight":           {"udf", "internal/ipccheck"},
	"internal/icejson":     {},
	"internal/ipccheck":    {},
	"internal/leaf":        {},
	"internal/pq":          {"internal/leaf"},
	"internal/lint":        {},
	"internal/race":        {},
	"internal/tradegen":    {},
}

// owners says which folders may import an outside library, tests apart. A
// library that is not listed may be imported wherever it is needed.
var owners = []struct {
	library string
	folders []string
}{
	{"github.com/apache/arrow-go/v18/parquet", []string{"internal/pq", "variant/arrowvariant"}},
	{"github.com/apache/arrow-go/v18/arrow/flight", []string{"udf/flight"}},
	{"github.com/apache/iceberg-go", []string{"iceberg", "iceberg/cloud", "iceberg/stream"}},
	{"github.com/RoaringBitmap/roaring", []string{"deletevec"}},
	{"github.com/twmb/franz-go/pkg/kfake", []string{"examples/"}},
	{"github.com/twmb/franz-go", []string{"iceberg/stream", "examples/"}},
	{"modernc.org/sqlite", []string{"iceberg"}},
	{"unsafe", nil}, // nobody: what a file says is never taken for memory
}

func anyModule(pkg string) bool {
	return strings.HasPrefix(pkg, "examples/") || strings.HasPrefix(pkg, "internal/bench") ||
		strings.HasPrefix(pkg, "internal/interop")
}

func matches(list []string, pkg string) bool {
	for _, p := range list {
		if p == pkg || strings.HasSuffix(p, "/") && strings.HasPrefix(pkg, p) {
			return true
		}
	}
	return false
}

func TestLayersPointOneWay(t *testing.T) {
	for _, s := range sources(t, token.NewFileSet()) {
		if s.isTest() || anyModule(s.pkg) {
			continue
		}
		allowed, known := layers[s.pkg]
		if !assert.True(t, known, "package %q of %s is not in the list of layers", s.pkg, s.path) {
			continue
		}
		for _, imp := range s.imports {
			ours, ok := strings.CutPrefix(imp, module+"/")
			if ok {
				assert.True(t, matches(allowed, ours), "%s imports %s, a layer that %q may not use", s.path, ours, s.pkg)
			}
		}
	}
}

func TestOneFolderOwnsEachLibrary(t *testing.T) {
	for _, s := range sources(t, token.NewFileSet()) {
		if s.isTest() || strings.HasPrefix(s.pkg, "internal/bench") || strings.HasPrefix(s.pkg, "internal/interop") {
			continue
		}
		for _, imp := range s.imports {
			for _, o := range owners {
				if imp != o.library && !strings.HasPrefix(imp, o.library+"/") {
					continue
				}
				assert.True(t, matches(o.folders, s.pkg), "%s imports %s, which belongs to %v", s.path, imp, o.folders)
				break
			}
		}
	}
}

// TestLightPackagesStayLight checks what a user compiles who wants one package.
func TestLightPackagesStayLight(t *testing.T) {
	cases := []struct {
		pkg   string
		heavy []string
	}{
		{"./variant", []string{"arrow-go", "iceberg-go", "franz-go", "aws", "google", "Azure", "sqlite", "roaring"}},
		{"./shred", []string{"arrow-go/v18/parquet", "iceberg-go", "franz-go", "aws", "google.golang.org/api", "Azure", "sqlite"}},
		{"./deletevec", []string{"arrow-go/v18/parquet", "iceberg-go", "franz-go", "aws-sdk", "google.golang.org/api", "Azure", "sqlite"}},
		{"./udf", []string{"arrow-go/v18/parquet", "iceberg-go", "franz-go", "aws-sdk", "google.golang.org/grpc", "Azure", "sqlite"}},
		// gRPC cannot be kept out here: iceberg-go's table package needs arrow-go's
		// pqarrow, which imports Flight. Our own server can.
		{"./examples/trades", []string{
			"aws-sdk", "google.golang.org/api", "Azure/azure-sdk", "cloud.google.com/go/storage", "gocloud.dev", "frazil/udf/flight", "frazil/iceberg/cloud",
		}},
	}
	for _, c := range cases {
		cmd := exec.Command("go", "list", "-deps", c.pkg)
		cmd.Dir = root(t)
		out, err := cmd.Output()
		require.NoError(t, err, c.pkg)
		for _, dep := range strings.Fields(string(out)) {
			for _, h := range c.heavy {
				assert.NotContains(t, dep, h, "%s compiles %s", c.pkg, dep)
			}
		}
	}
}
