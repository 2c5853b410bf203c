package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/frazil/frazil/examples/trades/internal/report"
	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/shred"
)

// typedLeaves lists the typed leaves of a shredded column over all data files,
// by path. A leaf whose type differs between files is one leaf with several
// types.
func typedLeaves(in *iceberg.Inspection, column string) ([]report.Leaf, error) {
	types := map[string][]string{}
	files := map[string]int{}
	seen := map[string]*shred.Schema{} // layouts repeat from file to file
	for _, f := range in.DataFiles {
		text := f.Shredded[column]
		if text == "" {
			continue
		}
		schema := seen[text]
		if schema == nil {
			var err error
			if schema, err = shred.Parse(text); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
			seen[text] = schema
		}
		walkLeaves(schema, "$", func(path, typ string) {
			files[path]++
			if !slices.Contains(types[path], typ) {
				types[path] = append(types[path], typ)
			}
		})
	}
	leaves := make([]report.Leaf, 0, len(types))
	for path, t := range types {
		slices.Sort(t)
		leaves = append(leaves, report.Leaf{Path: path, Type: strings.Join(t, ", "), Files: files[path]})
	}
	slices.SortFunc(leaves, func(a, b report.Leaf) int { return strings.Compare(a.Path, b.Path) })
	return leaves, nil
}

// walkLeaves calls visit for each typed leaf below s, which stands at path.
func walkLeaves(s *shred.Schema, path string, visit func(path, typ string)) {
	switch s.Shape {
	case shred.Opaque:
	case shred.Leaf:
		visit(path, s.String())
	case shred.Object:
		for _, f := range s.Fields {
			walkLeaves(f.Schema, path+"."+f.Name, visit)
		}
	case shred.List:
		walkLeaves(s.Elem, path+"[*]", visit)
	}
}
