package lint

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	maxFileLines = 600 // the aim is 500
	maxFuncLines = 80  // the aim is 40; lines of switch tables are not counted
)

func TestFilesAndFunctionsAreShort(t *testing.T) {
	fset := token.NewFileSet()
	for _, s := range sources(t, fset) {
		if !s.isTest() {
			assert.LessOrEqual(t, strings.Count(s.text, "\n"), maxFileLines, "%s is too long: a file is one noun or one stage", s.path)
		}
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			n := lines(fset, f) - switchLines(fset, f.Body)
			assert.LessOrEqual(t, n, maxFuncLines, "%s: %s has %d lines", s.path, f.Name.Name, n)
		}
	}
}

func lines(fset *token.FileSet, n ast.Node) int {
	return fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1
}

// switchLines counts the lines of the outermost switch statements and composite
// literals: tables, which are long without being hard to read.
func switchLines(fset *token.FileSet, body ast.Node) int {
	n := 0
	ast.Inspect(body, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.CompositeLit:
			n += lines(fset, node) - 1
			return false
		}
		return true
	})
	return n
}

// forbidden are words that must not be left in the repository: work left undone,
// and paths of one machine.
var forbidden = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b|/ro` + `ot/|/wo` + `rk/|pla` + `ceholder`)

func TestNothingIsLeftUndoneInWords(t *testing.T) {
	keep := func(p string) bool {
		return regexp.MustCompile(`\.(go|md|sh|yml|py|mod|html|css)$|^Makefile$|^\.ci/`).MatchString(p)
	}
	for _, path := range files(t, keep) {
		text, err := os.ReadFile(filepath.Join(root(t), path))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			assert.NotRegexp(t, forbidden, line, "%s:%d", path, i+1)
		}
	}
}
