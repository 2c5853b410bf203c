package lint

import (
	"bytes"
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var publicPackages = []string{
	"variant", "variant/arrowvariant", "shred", "deletevec", "iceberg", "iceberg/cloud", "iceberg/stream", "udf", "udf/flight",
}

// TestExportedAPI compares each public package's exported names with its golden
// file. Run `go test ./internal/lint -update` after a change that is meant.
func TestExportedAPI(t *testing.T) {
	for _, pkg := range publicPackages {
		t.Run(pkg, func(t *testing.T) {
			golden := filepath.Join("testdata", "api", strings.ReplaceAll(pkg, "/", "_")+".txt")
			got := exported(t, pkg)
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got, "the exported API of %s changed; -update if that is meant", pkg)
		})
	}
}

// exported lists a package's exported declarations, sorted as go/doc sorts them,
// without their comments and bodies. It fails for a name without a comment.
func exported(t *testing.T, pkg string) string {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	names, err := filepath.Glob(filepath.Join(root(t), pkg, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		require.NoError(t, err)
		parsed = append(parsed, f)
	}
	p, err := doc.NewFromFiles(fset, parsed, module+"/"+pkg)
	require.NoError(t, err)
	assert.NotEmpty(t, p.Doc, "package %s has no package comment", pkg)
	l := &lister{t: t, fset: fset}
	l.values(p.Consts)
	l.values(p.Vars)
	l.funcs(p.Funcs)
	for _, typ := range p.Types {
		l.decl(typ.Name, typ.Doc, typ.Decl)
		l.values(typ.Consts)
		l.values(typ.Vars)
		l.funcs(typ.Funcs)
		l.funcs(typ.Methods)
	}
	return l.out.String()
}

type lister struct {
	t    *testing.T
	fset *token.FileSet
	out  bytes.Buffer
}

func (l *lister) values(vs []*doc.Value) {
	for _, v := range vs {
		l.decl(strings.Join(v.Names, ", "), v.Doc, v.Decl)
	}
}

func (l *lister) funcs(fs []*doc.Func) {
	for _, f := range fs {
		f.Decl.Body = nil
		l.decl(f.Name, f.Doc, f.Decl)
	}
}

func (l *lister) decl(name, comment string, d ast.Decl) {
	g, grouped := d.(*ast.GenDecl)
	assert.True(l.t, comment != "" || grouped && len(g.Specs) > 1 || name == "String" || name == "Error" || name == "Unwrap",
		"%s has no doc comment", name)
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.FuncDecl:
			n.Doc = nil
		}
		return true
	})
	require.NoError(l.t, printer.Fprint(&l.out, l.fset, d))
	l.out.WriteString("\n")
}
