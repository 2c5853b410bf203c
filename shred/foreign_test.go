package shred

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/variant"
)

// foreignGroup lays out a schema as some engine might: parts of lists named at will,
// lists of two levels, groups of fields and elements optional, `value` left out,
// the only side of a pair required, columns in any order.
func (g generator) foreignGroup(s *Schema) *leaf.Node {
	group := g.relaid(s.Group("v", true, 0))
	g.Shuffle(len(group.Children), func(i, j int) {
		group.Children[i], group.Children[j] = group.Children[j], group.Children[i]
	})
	return group
}

func (g generator) relaid(n *leaf.Node) *leaf.Node {
	c := *n
	c.Children = nil
	pair := n.Type == leaf.Group && len(n.Children) > 1 && n.Children[0].Name == valueName && n.Children[1].Name == typedName && n.Children[0].Type == leaf.Bytes
	for _, child := range n.Children {
		if pair && child.Name == valueName && g.IntN(4) == 0 {
			continue
		}
		c.Children = append(c.Children, g.relaid(child))
	}
	if pair && g.IntN(2) == 0 {
		slices.Reverse(c.Children)
	}
	if only := c.Children; len(only) == 1 && (only[0].Name == valueName || pair) && g.IntN(3) == 0 {
		only[0].Repetition = leaf.Required
	}
	if pair && g.IntN(4) == 0 {
		c.Repetition = leaf.Optional
	}
	if c.Repetition != leaf.Repeated {
		return &c
	}
	c.Name = []string{"list", "bag", "array"}[g.IntN(3)]
	element := c.Children[0]
	element.Name = []string{"element", "item", "array_element"}[g.IntN(3)]
	if g.IntN(4) == 0 && (len(element.Children) > 1 || element.Children[0].Type != leaf.Group) {
		c.Children = element.Children
	}
	return &c
}

// filler fills the leaves of a group with random records.
type filler struct {
	generator
	buffers   []*leaf.Buffer
	meta      *variant.Metadata
	conflict  bool // some pair may have both sides set though it holds no object
	conflicts int
}

// place is where the next slots are: below how many lists, and their levels.
type place struct{ def, rep, lists uint8 }

func (f *filler) slot(column int, at place) {
	b := f.buffers[column]
	b.Slots++
	if b.MaxDef > 0 {
		b.Def.Append(at.def, 1)
	}
	if b.MaxRep > 0 {
		b.Rep.Append(at.rep, 1)
	}
}

// null fills the slots of all leaves of a node that is not there, from a column on,
// and returns the column after them.
func (f *filler) null(n *leaf.Node, column int, at place) int {
	if n.Type != leaf.Group {
		f.slot(column, at)
		return column + 1
	}
	for _, c := range n.Children {
		column = f.null(c, column, at)
	}
	return column
}

// pair fills a group of value and typed_value.
func (f *filler) pair(n *leaf.Node, column int, at place) int {
	if n.Repetition == leaf.Optional {
		if f.IntN(4) == 0 {
			return f.null(n, column, at)
		}
		at.def++
	}
	typed := childOf(n, typedName)
	hasValue, hasTyped := f.sides(childOf(n, valueName), typed)
	for _, c := range n.Children {
		inside := at
		if c.Repetition == leaf.Optional {
			inside.def++
		}
		switch {
		case c.Name == metadataName && c.Type == leaf.Bytes && c.Repetition == leaf.Required:
			f.buffers[column].AppendBytes(f.meta.Bytes())
			f.slot(column, at)
			column++
		case c == typed && hasTyped:
			column = f.typed(c, column, inside)
		case c != typed && hasValue:
			f.buffers[column].AppendBytes(f.residual(typed, hasTyped))
			f.slot(column, inside)
			column++
		default:
			column = f.null(c, column, at)
		}
	}
	return column
}

// sides decides which sides of a pair are set.
func (f *filler) sides(value, typed *leaf.Node) (hasValue, hasTyped bool) {
	state := f.IntN(10)
	switch {
	case typed == nil:
		return state < 8 || value.Repetition == leaf.Required, false
	case value == nil:
		return false, state < 8 || typed.Repetition == leaf.Required
	case state == 0 && isObject(typed):
		return true, true
	case state == 1 && f.conflict && f.IntN(4) == 0 && !isObject(typed):
		f.conflicts++
		return true, true
	}
	return state == 2 || state == 3, state > 3
}

func isObject(typed *leaf.Node) bool { return typed.Type == leaf.Group && typed.Logical != leaf.List }

func childOf(n *leaf.Node, name string) *leaf.Node {
	i := slices.IndexFunc(n.Children, func(c *leaf.Node) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return n.Children[i]
}

// residual returns Variant bytes: beside shredded fields an object without those,
// and else a value that the typed_value, nil if there is none, could not hold.
func (f *filler) residual(typed *leaf.Node, beside bool) []byte {
	b := variant.NewBuilder()
	for {
		v, err := variant.ParseJSON([]byte(f.doc(2)))
		if err != nil {
			panic(err)
		}
		switch {
		case typed == nil:
		case isObject(typed) && (v.Kind() == variant.KindObject) != beside:
			continue
		case isObject(typed) && hasField(v, typed), typed.Logical == leaf.List && v.Kind() == variant.KindArray:
			continue
		}
		b.ResetMetadata(f.meta)
		if err := v.Emit(b); err != nil {
			panic(err)
		}
		if v, err = b.Value(); err != nil {
			panic(err)
		}
		return v.Bytes()
	}
}

func hasField(v variant.Value, typed *leaf.Node) bool {
	for name := range v.Fields() {
		if childOf(typed, name) != nil {
			return true
		}
	}
	return false
}

// typed fills a typed_value that is there.
func (f *filler) typed(n *leaf.Node, column int, at place) int {
	switch {
	case n.Type != leaf.Group:
		f.value(f.buffers[column])
		f.slot(column, at)
		return column + 1
	case isObject(n):
		for _, c := range n.Children {
			column = f.pair(c, column, at)
		}
		return column
	}
	element := n.Children[0]
	count := f.IntN(4)
	if count == 0 {
		return f.null(element, column, at)
	}
	at.def++
	at.lists++
	required := *element
	required.Repetition = leaf.Required
	element = &required
	if len(element.Children) == 1 && element.Children[0].Type == leaf.Group && element.Children[0].Name != typedName {
		element = element.Children[0]
	}
	next := column
	for range count {
		next = f.pair(element, column, at)
		at.rep = at.lists
	}
	return next
}

// value appends a random value to a typed leaf.
func (f *filler) value(b *leaf.Buffer) {
	x := int64(f.IntN(200) - 100)
	switch b.Node.Type {
	case leaf.Bool:
		b.Bools = append(b.Bools, x < 0)
	case leaf.Int32:
		b.Int32s = append(b.Int32s, int32(x))
	case leaf.Int64:
		b.Int64s = append(b.Int64s, x)
	case leaf.Float:
		b.Floats = append(b.Floats, float32(x)/4)
	case leaf.Double:
		b.Doubles = append(b.Doubles, float64(x)/4)
	case leaf.Fixed:
		raw := make([]byte, b.Node.Width)
		for i := range raw {
			raw[i] = byte(x >> 63)
		}
		raw[len(raw)-1] = byte(x)
		b.AppendBytes(raw)
	default:
		b.AppendBytes([]byte([]string{"x", "", "12", "2026-07-01"}[f.IntN(4)]))
	}
}

// TestAssemble_ValueBehindTyped: the columns of a pair may have any order. An empty
// object whose `value` column stood behind its typed_value was lost, if the file's
// statistics said that nothing below it is set, because levels of the `value` were
// taken for its own.
func TestAssemble_ValueBehindTyped(t *testing.T) {
	rows := []string{`{"o":{},"l":[]}`, `{"o":5,"l":"x"}`, `{}`}
	w := write(t, "struct<o struct<a int>, l list<int>>", rows...)
	var turn func(n *leaf.Node) *leaf.Node
	turn = func(n *leaf.Node) *leaf.Node {
		c := *n
		c.Children = nil
		for _, child := range slices.Backward(n.Children) {
			c.Children = append(c.Children, turn(child))
		}
		return &c
	}
	group := turn(w.Group())
	var buffers []*leaf.Buffer
	for _, info := range (&leaf.Node{Children: []*leaf.Node{group}}).Leaves() {
		buffers = append(buffers, bufferAt(t, w, strings.Join(info.Path[1:], "/")))
	}
	a, err := NewAssembler(group, Context{}, allNull(buffers))
	require.NoError(t, err)
	var got []string
	require.NoError(t, a.Assemble(pickBatches(buffers, a.Columns(), len(rows)), len(rows), func(_ int, v variant.Value) error {
		got = append(got, v.String())
		return nil
	}))
	require.Equal(t, []string{`{"l":[],"o":{}}`, `{"l":"x","o":5}`, `{}`}, got)
}

// file writes the leaves to a file and opens it.
func (f *filler) file(t *testing.T, group *leaf.Node, rows int) *parquetFile {
	var out bytes.Buffer
	w, err := pq.NewWriter(&out, &leaf.Node{Name: "table", Children: []*leaf.Node{group}}, pq.WriterOptions{PageRows: 1 + f.IntN(rows), CreatedBy: "an engine"})
	require.NoError(t, err)
	require.NoError(t, w.WriteRowGroup(f.buffers, rows))
	_, err = w.Close()
	require.NoError(t, err)
	in, err := pq.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), pq.ReaderOptions{})
	require.NoError(t, err)
	read, _ := groupOf(in, "v")
	return &parquetFile{in, read}
}

// TestProperty_ForeignRecords_S17_S18 reads random records of random layouts, as any
// engine could have written them: whole values are those of the oracle, which
// follows the spec's algorithm, and errors where it finds a conflict; the answers to
// paths are those of a plain column of the same values.
func TestProperty_ForeignRecords_S17_S18(t *testing.T) {
	names := slices.Clone(someNames)
	slices.Sort(names)
	meta, err := variant.ParseMetadata(variant.AppendMetadata(nil, names))
	require.NoError(t, err)
	refused := 0
	for seed := range uint64(500) {
		g := generator{rand.New(rand.NewPCG(seed, 17))}
		s := g.schema(4)
		group := g.foreignGroup(s)
		f := &filler{generator: g, meta: meta, conflict: seed%4 == 0}
		for _, info := range (&leaf.Node{Children: []*leaf.Node{group}}).Leaves() {
			f.buffers = append(f.buffers, &leaf.Buffer{Info: info})
		}
		own, err := FromGroup(group)
		require.NoError(t, err, "seed %d: %s", seed, s)
		require.Equal(t, s.String(), own.String(), "seed %d", seed)
		const rows = 12
		for range rows {
			f.pair(group, 0, place{})
		}
		var columns []*oracleColumn
		for _, b := range f.buffers {
			columns = append(columns, columnOfBuffer(b))
		}
		want, wantErr := oracleRows(group, columns, rows)
		require.Equal(t, f.conflicts > 0, wantErr != nil, "seed %d: %v", seed, wantErr)
		a, err := NewAssembler(group, Context{}, nil)
		require.NoError(t, err)
		plain := NewWriter(&Schema{}, WriterOptions{Optional: true})
		err = a.Assemble(pickBatches(f.buffers, a.Columns(), rows), rows, func(row int, v variant.Value) error {
			if wantErr == nil {
				require.Equal(t, want[row].String(), v.String(), "seed %d: row %d of %s", seed, row, s)
			}
			if v.IsMissing() {
				return plain.WriteNull()
			}
			require.NoError(t, v.Validate(), "seed %d", seed)
			return plain.WriteValue(v)
		})
		if wantErr != nil {
			require.ErrorIs(t, err, ErrCorrupt, "seed %d: %s", seed, s)
			refused++
			continue
		}
		require.NoError(t, err, "seed %d: %s", seed, s)
		file := f.file(t, group, rows)
		for range 10 {
			typ, err := variant.ParseType(someTypes[g.IntN(len(someTypes)-1)])
			require.NoError(t, err)
			req := Request{Path: g.path(), Type: typ, Try: true}
			byPlain, err := extract(plain, []Request{req})
			require.NoError(t, err)
			p, err := Project(group, Context{}, []Request{req}, nil)
			require.NoError(t, err)
			got, err := p.NewReader(nil).Read(pickBatches(f.buffers, p.Columns(), rows), rows)
			require.NoError(t, err, "seed %d: %s of %s", seed, req.Path, s)
			require.Equal(t, render(t, byPlain[0], typ), render(t, got[0], typ), "seed %d: %s as %s of %s", seed, req.Path, typ, s)
			require.Equal(t, render(t, byPlain[0], typ), file.answers(t, 5, req), "seed %d: %s as %s of %s through a file", seed, req.Path, typ, s)
		}
	}
	require.Greater(t, refused, 10)
}
