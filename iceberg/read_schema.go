package iceberg

import (
	"encoding/json"
	"slices"

	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/leaf"
)

// nameMappingKey is the table property that gives field ids to files without.
const nameMappingKey = "schema.name-mapping.default"

// storedColumn is a top-level column of a data file.
type storedColumn struct {
	node  *leaf.Node
	first int // ordinal of its first leaf
}

// storedColumns indexes the top-level columns of a file by field id. A file
// without any ids takes them from the table's name mapping.
func storedColumns(root *leaf.Node, mapping ice.NameMapping) (*leaf.Node, map[int]storedColumn, error) {
	if !hasFieldIDs(root) {
		if mapping == nil {
			return nil, nil, unsupportedf("a data file without field ids, in a table without %s", nameMappingKey)
		}
		root = withIDs(root, mapping)
	}
	out := make(map[int]storedColumn, len(root.Children))
	ordinal := 0
	for _, c := range root.Children {
		if c.FieldID != 0 {
			out[c.FieldID] = storedColumn{node: c, first: ordinal}
		}
		ordinal += countLeaves(c)
	}
	return root, out, nil
}

func hasFieldIDs(n *leaf.Node) bool {
	return slices.ContainsFunc(n.Children, func(c *leaf.Node) bool { return c.FieldID != 0 || hasFieldIDs(c) })
}

func countLeaves(n *leaf.Node) int {
	if n.Type != leaf.Group {
		return 1
	}
	count := 0
	for _, c := range n.Children {
		count += countLeaves(c)
	}
	return count
}

// nameMapping reads the table's mapping; nil when it has none.
func nameMapping(props ice.Properties) (ice.NameMapping, error) {
	text := props[nameMappingKey]
	if text == "" {
		return nil, nil
	}
	var m ice.NameMapping
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return nil, corruptf("property %s: %v", nameMappingKey, err)
	}
	return m, nil
}

// withIDs copies a tree and gives its nodes the ids of the mapping. The groups
// between a list and its element, and between a map and its key and value, have
// no entry of their own.
func withIDs(n *leaf.Node, fields []ice.MappedField) *leaf.Node {
	out := *n
	out.Children = make([]*leaf.Node, len(n.Children))
	for i, c := range n.Children {
		if c.Repetition == leaf.Repeated && (n.Logical == leaf.List || n.Logical == leaf.Map) {
			out.Children[i] = repeatedWithIDs(n.Logical, c, fields)
			continue
		}
		out.Children[i] = childWithID(c, c.Name, fields)
	}
	return &out
}

func repeatedWithIDs(kind leaf.Logical, n *leaf.Node, fields []ice.MappedField) *leaf.Node {
	out := *n
	out.Children = make([]*leaf.Node, len(n.Children))
	names := []string{"element"}
	if kind == leaf.Map {
		names = []string{"key", "value"}
	}
	for i, c := range n.Children {
		name := c.Name
		if i < len(names) {
			name = names[i]
		}
		out.Children[i] = childWithID(c, name, fields)
	}
	return &out
}

func childWithID(n *leaf.Node, name string, fields []ice.MappedField) *leaf.Node {
	i := slices.IndexFunc(fields, func(f ice.MappedField) bool { return slices.Contains(f.Names, name) })
	if i < 0 {
		return withIDs(n, nil)
	}
	out := withIDs(n, fields[i].Fields)
	if fields[i].FieldID != nil {
		out.FieldID = *fields[i].FieldID
	}
	return out
}

// prunedColumn is a column without the struct fields that the table no longer
// has, and the ordinals of the leaves that are left.
func prunedColumn(c storedColumn, want ice.NestedField) (*leaf.Node, []int) {
	p := columnPruner{next: c.first}
	return p.node(c.node, want.Type), p.leaves
}

type columnPruner struct {
	next   int
	leaves []int
}

func (p *columnPruner) node(n *leaf.Node, want ice.Type) *leaf.Node {
	st, ok := want.(*ice.StructType)
	if !ok || n.Type != leaf.Group || n.Logical != leaf.None {
		p.take(n)
		return n
	}
	out := *n
	out.Children = nil
	start := p.next
	for _, c := range n.Children {
		i := slices.IndexFunc(st.FieldList, func(f ice.NestedField) bool { return f.ID == c.FieldID })
		if i < 0 {
			p.next += countLeaves(c)
			continue
		}
		out.Children = append(out.Children, p.node(c, st.FieldList[i].Type))
	}
	if len(out.Children) > 0 {
		return &out
	}
	// Any field tells which rows have the struct; the first is as good as another.
	end := p.next
	p.next = start
	out.Children = []*leaf.Node{n.Children[0]}
	p.take(n.Children[0])
	p.next = end
	return &out
}

func (p *columnPruner) take(n *leaf.Node) {
	for range countLeaves(n) {
		p.leaves = append(p.leaves, p.next)
		p.next++
	}
}
