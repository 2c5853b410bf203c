package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/frazil/frazil"

// source is one Go file of the repository.
type source struct {
	path    string // slash-separated, relative to the root
	pkg     string // folder relative to the root; "" is the root
	text    string
	ast     *ast.File
	imports []string
}

func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "go.mod"))
	return dir
}

// files lists the repository's files, folders of tools and nested modules
// included, hidden folders apart from .ci left out.
func files(t *testing.T, keep func(path string) bool) []string {
	t.Helper()
	dir := root(t)
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && rel != "." && d.Name() != ".ci" {
			return filepath.SkipDir
		}
		if rel = filepath.ToSlash(rel); !d.IsDir() && keep(rel) {
			out = append(out, rel)
		}
		return nil
	})
	require.NoError(t, err)
	sort.Strings(out)
	return out
}

func sources(t *testing.T, fset *token.FileSet) []*source {
	t.Helper()
	var out []*source
	for _, path := range files(t, func(p string) bool { return strings.HasSuffix(p, ".go") }) {
		text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(path)))
		require.NoError(t, err)
		f, err := parser.ParseFile(fset, path, text, parser.ParseComments)
		require.NoError(t, err)
		s := &source{path: path, text: string(text), ast: f}
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			s.pkg = path[:i]
		}
		for _, imp := range f.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			require.NoError(t, err)
			s.imports = append(s.imports, name)
		}
		out = append(out, s)
	}
	return out
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), name))
	require.NoError(t, err)
	return string(b)
}
