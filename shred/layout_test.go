package shred

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// foreign returns a copy of a group as another engine might lay it out. keep
// tells which leaves, by ordinal in the original, stay.
func foreign(n *leaf.Node, change func(n *leaf.Node) *leaf.Node) *leaf.Node {
	c := *n
	c.Children = nil
	for _, child := range n.Children {
		if k := foreign(child, change); k != nil {
			c.Children = append(c.Children, k)
		}
	}
	return change(&c)
}

// TestFromGroup_S18_ForeignLayouts reads one column under the layouts of other
// writers: other names in lists, two-level lists, no annotations, value columns
// left out where they hold nothing, field groups that are optional.
func TestFromGroup_S18_ForeignLayouts(t *testing.T) {
	rows := []string{`{"a":1,"l":[{"x":"p"},{"x":"q"}],"m":[[1,2],[]]}`, `{"l":[]}`, `{"a":7,"m":[[3]]}`, `{}`}
	w := write(t, "struct<a int, l list<struct<x string>>, m list<list<int>>>", rows...)
	buffers := w.Buffers()
	for name, change := range map[string]func(n *leaf.Node) *leaf.Node{
		"same": func(n *leaf.Node) *leaf.Node { return n },
		"no annotations": func(n *leaf.Node) *leaf.Node {
			if n.Logical == leaf.List || n.Logical == leaf.Variant {
				n.Logical = leaf.None
			}
			return n
		},
		"names of lists": func(n *leaf.Node) *leaf.Node {
			switch {
			case n.Name == "list" && n.Repetition == leaf.Repeated:
				n.Name = "bag"
			case n.Name == "element":
				n.Name = "item"
			}
			return n
		},
		"two levels": func(n *leaf.Node) *leaf.Node {
			if n.Name == "list" && n.Repetition == leaf.Repeated && n.Children[0].Name == "element" {
				n.Children = n.Children[0].Children
				n.Name = "array"
			}
			return n
		},
		"no empty values": func(n *leaf.Node) *leaf.Node {
			if n.Name == "value" && n.Type == leaf.Bytes {
				return nil
			}
			return n
		},
	} {
		group := foreign(w.Group(), change)
		s, err := FromGroup(group)
		require.NoError(t, err, name)
		require.Equal(t, w.Schema().String(), s.String(), name)
		var mine []*leaf.Buffer
		for _, b := range buffers {
			if name != "no empty values" || b.Node.Name != "value" {
				mine = append(mine, b)
			}
		}
		a, err := NewAssembler(group, Context{}, nil)
		require.NoError(t, err, name)
		i := 0
		require.NoError(t, a.Assemble(pickBatches(mine, a.Columns(), len(rows)), len(rows), func(_ int, v variant.Value) error {
			require.Equal(t, mustJSON(t, rows[i]).String(), v.String(), name)
			i++
			return v.Validate()
		}), name)
		p, err := Project(group, Context{}, []Request{request(t, "$.l[1].x", "string", false), request(t, "$.m[0][1]", "int", false)}, nil)
		require.NoError(t, err)
		out, err := p.NewReader(nil).Read(pickBatches(mine, p.Columns(), len(rows)), len(rows))
		require.NoError(t, err)
		require.Equal(t, []string{"q", "(null)", "(null)", "(null)"}, []string{out[0].ValueStr(0), out[0].ValueStr(1), out[0].ValueStr(2), out[0].ValueStr(3)})
		require.Equal(t, []string{"2", "(null)", "(null)", "(null)"}, []string{out[1].ValueStr(0), out[1].ValueStr(1), out[1].ValueStr(2), out[1].ValueStr(3)})
	}
}

// A decimal may be stored in any physical type; bytes may have any length up to
// 16.
func TestFromGroup_DecimalsInBytes(t *testing.T) {
	group := (&Schema{}).Group("v", false, 0)
	group.Children = append(group.Children, &leaf.Node{
		Name: "typed_value", Repetition: leaf.Optional, Type: leaf.Bytes, Logical: leaf.Decimal, Precision: 20, Scale: 2,
	})
	leaves := (&leaf.Node{Children: []*leaf.Node{group}}).Leaves()
	meta := &leaf.Batch{Info: leaves[0], Rows: 3, Slots: 3, Offsets: []uint32{0, 3, 6, 9}, Data: []byte("\x11\x00\x00\x11\x00\x00\x11\x00\x00")}
	value := &leaf.Batch{Info: leaves[1], Rows: 3, Slots: 3, Nulls: 3, Def: []uint8{0, 0, 0}}
	typed := &leaf.Batch{Info: leaves[2], Rows: 3, Slots: 3, Def: []uint8{1, 1, 1}, Offsets: []uint32{0, 1, 3, 12}, Data: []byte("\x7b\xff\x85\x00\x00\x00\x00\x00\x00\x00\x01\x00")}
	a, err := NewAssembler(group, Context{}, nil)
	require.NoError(t, err)
	var got []string
	require.NoError(t, a.Assemble([]*leaf.Batch{meta, value, typed}, 3, func(_ int, v variant.Value) error {
		require.Equal(t, variant.KindDecimal16, v.Kind())
		got = append(got, v.String())
		return nil
	}))
	require.Equal(t, []string{"1.23", "-1.23", "2.56"}, got)
	typed.Offsets, typed.Data = []uint32{0, 0, 17, 18}, make([]byte, 18)
	require.ErrorIs(t, a.Assemble([]*leaf.Batch{meta, value, typed}, 3, func(int, variant.Value) error { return nil }), ErrCorrupt)
}

// S17: conflicts are errors, for whole values and for paths, at every kind of
// pair; both sides null where a value must be are a Variant null.
func TestReader_S17_Conflicts(t *testing.T) {
	for _, c := range []struct{ schema, row, column, path string }{
		{"int", `1`, "value", "$"},
		{"struct<a int>", `{"a":1}`, "typed_value/a/value", "$.a"},
		{"list<int>", `[1,2]`, "value", "$"},
		{"list<int>", `[1,2]`, "typed_value/list/element/value", "$[0]"},
		{"struct<a int>", `{"a":1}`, "value", "$"},
	} {
		w := write(t, c.schema, c.row)
		buffers := w.Buffers()
		corrupt := func(columns []int) []*leaf.Batch {
			batches := pickBatches(buffers, columns, 1)
			b := bufferAt(t, w, c.column)
			for i, k := range columns {
				if buffers[k] == b {
					batches[i].Nulls = 0
					batches[i].Offsets, batches[i].Data = nil, nil
					for s := range batches[i].Def {
						batches[i].Def[s] = batches[i].MaxDef
						batches[i].Data = append(batches[i].Data, 0x0c, 5)
					}
					for s := 0; s <= len(batches[i].Def); s++ {
						batches[i].Offsets = append(batches[i].Offsets, uint32(2*s))
					}
				}
			}
			return batches
		}
		a, err := NewAssembler(w.Group(), Context{}, nil)
		require.NoError(t, err)
		err = a.Assemble(corrupt(a.Columns()), 1, func(int, variant.Value) error { return nil })
		require.ErrorIs(t, err, ErrCorrupt, c.schema)
		for _, typ := range []string{"bigint", "string", "decimal(3,1)", "variant"} {
			p, err := Project(w.Group(), Context{}, []Request{request(t, c.path, typ, true)}, nil)
			require.NoError(t, err)
			_, err = p.NewReader(nil).Read(corrupt(p.Columns()), 1)
			require.ErrorIs(t, err, ErrCorrupt, "%s as %s of %s", c.path, typ, c.schema)
		}
	}
}

// Random trees of nodes: a schema or an error that Is ErrSchema.
func TestFromGroup_RandomTreesNeverPanic(t *testing.T) {
	names := []string{"metadata", "value", "typed_value", "list", "element", "a", ""}
	accepted := 0
	for seed := range uint64(20000) {
		g := rand.New(rand.NewPCG(seed, 7))
		var node func(depth int) *leaf.Node
		node = func(depth int) *leaf.Node {
			n := &leaf.Node{Name: names[g.IntN(len(names))], Repetition: leaf.Repetition(g.IntN(3)), Type: leaf.Type(g.IntN(9))}
			if g.IntN(3) == 0 {
				n.Logical, n.Precision, n.Width, n.Bits = leaf.Logical(g.IntN(16)), g.IntN(40), g.IntN(20), 8*g.IntN(5)
			}
			if n.Type == leaf.Group && depth > 0 {
				for range g.IntN(4) {
					n.Children = append(n.Children, node(depth-1))
				}
			}
			return n
		}
		group := &leaf.Node{Name: "v", Children: []*leaf.Node{{Name: "metadata", Type: leaf.Bytes}}}
		for range 1 + g.IntN(2) {
			group.Children = append(group.Children, node(4))
		}
		s, err := FromGroup(group)
		if err != nil {
			require.ErrorIs(t, err, ErrSchema)
			continue
		}
		accepted++
		require.NoError(t, s.validate(0))
	}
	require.Positive(t, accepted)
	deep := &leaf.Node{Name: "v", Children: []*leaf.Node{{Name: "metadata", Type: leaf.Bytes}}}
	at := deep
	for range 300 {
		pair := &leaf.Node{Name: "a", Repetition: leaf.Optional, Children: []*leaf.Node{{Name: "value", Repetition: leaf.Optional, Type: leaf.Bytes}}}
		at.Children = append(at.Children, &leaf.Node{Name: "typed_value", Repetition: leaf.Optional, Children: []*leaf.Node{pair}})
		at = pair
	}
	_, err := FromGroup(deep)
	require.ErrorIs(t, err, ErrSchema)
}
