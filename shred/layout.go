package shred

import (
	"fmt"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// maxDef is the greatest definition level of a group that may have groups
// below it: each step adds at most three, and levels are bytes.
const maxDef = 240

// noColumn marks a column that the group does not have.
const noColumn = -1

// layout is one (value, typed_value) pair of a file, with the levels and the
// ordinals of its leaves among those of the Variant group. Definition and
// repetition levels count from the root of the file.
type layout struct {
	name   string
	shape  Shape
	typ    Type // Leaf
	def    uint8
	rep    uint8
	parent *layout

	value    int   // column of `value`, or noColumn
	valueDef uint8 // def of a value that is not null
	typed    int   // Leaf: column of typed_value
	typedDef uint8 // def of a typed_value that is not null
	width    int   // Leaf: bytes of a FIXED value
	first    int   // first column of typed_value: its levels tell presence
	past     int   // one after the last column of typed_value
	end      int   // one after the last column of this pair

	fields []*layout // Object, sorted by name
	elem   *layout   // List; its def and rep are those of an element that is there
	id     int       // ordinal of the pair in the layout, the root is 0
}

// file is the layout of a whole Variant group.
type file struct {
	layout
	meta    int   // column of the metadata
	base    uint8 // def at which the group itself is present
	parents uint8 // def at which the parent of the group is present
	ordered bool  // see Context
	columns int
	nodes   []*layout // by id
	names   []string  // sorted names of all fields, without duplicates
}

// FromGroup returns the schema of the Variant group of a file, whichever engine
// wrote it. The group may lack the VARIANT annotation and `value` columns, may
// call the parts of a list as it likes, and may store a decimal in any physical
// type. What the spec rejects is an error that Is ErrSchema: types outside its
// table (unsigned integers, INT96, milliseconds, FIXED of other lengths),
// unknown columns, repeated fields.
func FromGroup(group *leaf.Node) (*Schema, error) {
	f, err := newFile(group, Context{})
	if err != nil {
		return nil, err
	}
	return f.schema(), nil
}

// Context says where a Variant group stands in its file: the levels at which
// its parent is present. The zero Context is a top-level column.
type Context struct {
	Def uint8
	Rep uint8
	// Ordered says that whoever wrote the file keeps the fields of objects in the
	// order of their names, as Writer does: values are not looked through for
	// objects that are not, which costs some two thirds of reading an unshredded one.
	Ordered bool
}

func newFile(group *leaf.Node, ctx Context) (*file, error) {
	f := &file{meta: noColumn, parents: ctx.Def, ordered: ctx.Ordered}
	w := walker{file: f}
	def, rep := ctx.Def, ctx.Rep
	switch group.Repetition {
	case leaf.Optional:
		def++
	case leaf.Repeated:
		return nil, w.fail(nil, "a repeated Variant group")
	case leaf.Required:
	}
	f.base = def
	if err := w.pair(&f.layout, group, def, rep, 0, true); err != nil {
		return nil, err
	}
	if f.meta == noColumn {
		return nil, w.fail(nil, "no metadata column")
	}
	f.columns = w.columns
	slices.Sort(f.names)
	f.names = slices.Compact(f.names)
	return f, nil
}

// walker numbers the leaves of a group while it builds the layout.
type walker struct {
	file    *file
	columns int
}

func (w *walker) fail(l *layout, format string, args ...any) error {
	where := "$"
	if l != nil {
		where = l.path()
	}
	return fmt.Errorf("%w: at %s: %s", ErrSchema, where, fmt.Sprintf(format, args...))
}

// pair fills l from the group that holds value and typed_value; def and rep
// are the levels of the group when it is present.
func (w *walker) pair(l *layout, group *leaf.Node, def, rep uint8, depth int, root bool) error {
	if depth > maxDepth || def > maxDef {
		return w.fail(nil, "nested too deeply")
	}
	l.def, l.rep = def, rep
	l.value, l.typed = noColumn, noColumn
	l.id = len(w.file.nodes)
	w.file.nodes = append(w.file.nodes, l)
	if group.Type != leaf.Group {
		return w.fail(l, "expected a group with value and typed_value")
	}
	for _, c := range group.Children {
		var err error
		switch {
		case c.Name == valueName && l.value == noColumn:
			err = w.value(l, c)
		case c.Name == typedName && l.shape == Opaque:
			err = w.typed(l, c, depth)
			l.past = w.columns
		case c.Name == metadataName && root && w.file.meta == noColumn:
			err = w.metadata(l, c)
		default:
			err = w.fail(l, "unexpected column %q", c.Name)
		}
		if err != nil {
			return err
		}
	}
	l.end = w.columns
	if l.value == noColumn && l.shape == Opaque {
		return w.fail(l, "neither value nor typed_value")
	}
	return nil
}

func (w *walker) metadata(l *layout, n *leaf.Node) error {
	if n.Type != leaf.Bytes || n.Repetition == leaf.Repeated || n.Logical != leaf.None {
		return w.fail(l, "metadata is not a binary column")
	}
	w.file.meta = w.columns
	w.columns++
	return nil
}

func (w *walker) value(l *layout, n *leaf.Node) error {
	if n.Type != leaf.Bytes || n.Repetition == leaf.Repeated || n.Logical != leaf.None {
		return w.fail(l, "value is not a binary column")
	}
	l.value, l.valueDef = w.columns, l.def
	if n.Repetition == leaf.Optional {
		l.valueDef++
	}
	w.columns++
	return nil
}

func (w *walker) typed(l *layout, n *leaf.Node, depth int) error {
	if n.Repetition == leaf.Repeated {
		return w.fail(l, "a repeated typed_value")
	}
	l.typedDef = l.def
	if n.Repetition == leaf.Optional {
		l.typedDef++
	}
	l.first = w.columns
	if n.Type != leaf.Group {
		t, ok := leafType(n)
		if !ok {
			return w.fail(l, "typed_value has a type that the spec does not list: %s", describeNode(n))
		}
		l.shape, l.typ, l.typed, l.width = Leaf, t, w.columns, n.Width
		w.columns++
		return nil
	}
	if n.Logical != leaf.None && n.Logical != leaf.List {
		return w.fail(l, "typed_value is a group with a foreign annotation")
	}
	if n.Logical == leaf.List || len(n.Children) == 1 && n.Children[0].Repetition == leaf.Repeated {
		return w.list(l, n, depth)
	}
	return w.object(l, n, depth)
}

func (w *walker) object(l *layout, n *leaf.Node, depth int) error {
	if len(n.Children) == 0 {
		return w.fail(l, "typed_value is an empty group")
	}
	l.shape = Object
	for _, c := range n.Children {
		f := &layout{name: c.Name, parent: l}
		def := l.typedDef
		switch c.Repetition {
		case leaf.Optional:
			def++
		case leaf.Repeated:
			return w.fail(f, "a repeated field")
		case leaf.Required:
		}
		if err := w.pair(f, c, def, l.rep, depth+1, false); err != nil {
			return err
		}
		l.fields = append(l.fields, f)
		w.file.names = append(w.file.names, c.Name)
	}
	slices.SortFunc(l.fields, func(a, b *layout) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(l.fields); i++ {
		if l.fields[i].name == l.fields[i-1].name {
			return w.fail(l.fields[i], "a repeated field")
		}
	}
	return nil
}

// list reads the three-level form, and the two-level one of old writers, where
// the repeated group is itself the element.
func (w *walker) list(l *layout, n *leaf.Node, depth int) error {
	if len(n.Children) != 1 || n.Children[0].Repetition != leaf.Repeated || n.Children[0].Type != leaf.Group {
		return w.fail(l, "a list without a repeated group")
	}
	l.shape = List
	l.elem = &layout{parent: l}
	group := n.Children[0]
	def := l.typedDef + 1
	if len(group.Children) == 1 && group.Children[0].Type == leaf.Group && group.Children[0].Name != typedName {
		group = group.Children[0]
		switch group.Repetition {
		case leaf.Optional:
			def++
		case leaf.Repeated:
			return w.fail(l, "a repeated element")
		case leaf.Required:
		}
	}
	return w.pair(l.elem, group, def, l.rep+1, depth+1, false)
}

// leafType maps a leaf to its type by the table "Shredded Value Types".
func leafType(n *leaf.Node) (Type, bool) {
	switch n.Type {
	case leaf.Bool:
		return Type{Kind: variant.KindBool}, n.Logical == leaf.None
	case leaf.Float:
		return Type{Kind: variant.KindFloat}, n.Logical == leaf.None
	case leaf.Double:
		return Type{Kind: variant.KindDouble}, n.Logical == leaf.None
	case leaf.Int32:
		return int32Type(n)
	case leaf.Int64:
		return int64Type(n)
	case leaf.Bytes, leaf.Fixed:
		return bytesType(n)
	case leaf.Int96, leaf.Group:
	}
	return Type{}, false
}

func int32Type(n *leaf.Node) (Type, bool) {
	switch n.Logical {
	case leaf.None:
		return Type{Kind: variant.KindInt32}, true
	case leaf.Date:
		return Type{Kind: variant.KindDate}, true
	case leaf.Decimal:
		return decimalType(n, variant.KindDecimal4)
	case leaf.Integer:
		switch n.Bits {
		case 8:
			return Type{Kind: variant.KindInt8}, n.Signed
		case 16:
			return Type{Kind: variant.KindInt16}, n.Signed
		case 32:
			return Type{Kind: variant.KindInt32}, n.Signed
		}
	}
	return Type{}, false
}

func int64Type(n *leaf.Node) (Type, bool) {
	switch n.Logical {
	case leaf.None:
		return Type{Kind: variant.KindInt64}, true
	case leaf.Integer:
		return Type{Kind: variant.KindInt64}, n.Signed && n.Bits == 64
	case leaf.Decimal:
		return decimalType(n, variant.KindDecimal8)
	case leaf.Time:
		return Type{Kind: variant.KindTime}, n.Unit == leaf.Micros
	case leaf.Timestamp:
		return timestampType(n)
	}
	return Type{}, false
}

func timestampType(n *leaf.Node) (Type, bool) {
	switch {
	case n.Unit == leaf.Micros && n.UTC:
		return Type{Kind: variant.KindTimestamp}, true
	case n.Unit == leaf.Micros:
		return Type{Kind: variant.KindTimestampNTZ}, true
	case n.Unit == leaf.Nanos && n.UTC:
		return Type{Kind: variant.KindTimestampNanos}, true
	case n.Unit == leaf.Nanos:
		return Type{Kind: variant.KindTimestampNTZNanos}, true
	}
	return Type{}, false
}

func bytesType(n *leaf.Node) (Type, bool) {
	fixed := n.Type == leaf.Fixed
	switch n.Logical {
	case leaf.None:
		return Type{Kind: variant.KindBinary}, !fixed
	case leaf.String:
		return Type{Kind: variant.KindString}, !fixed
	case leaf.UUID:
		return Type{Kind: variant.KindUUID}, fixed && n.Width == 16
	case leaf.Decimal:
		if fixed && (n.Width < 1 || n.Width > 16) {
			return Type{}, false
		}
		return decimalType(n, variant.KindDecimal16)
	}
	return Type{}, false
}

func decimalType(n *leaf.Node, k variant.Kind) (Type, bool) {
	t := Type{Kind: k, Precision: n.Precision, Scale: n.Scale}
	return t, t.validate() == nil
}

func describeNode(n *leaf.Node) string {
	return fmt.Sprintf("physical type %d, width %d, annotation %d, bits %d, signed %t, unit %d",
		n.Type, n.Width, n.Logical, n.Bits, n.Signed, n.Unit)
}

// path returns the normalized path of l, without indexes, as Iceberg's bounds
// name fields.
func (l *layout) path() string { return l.variantPath().String() }

func (l *layout) variantPath() variant.Path {
	var steps []variant.Step
	for ; l.parent != nil; l = l.parent {
		if l.parent.shape == Object {
			steps = append(steps, variant.Step{Name: l.name})
		}
	}
	slices.Reverse(steps)
	return variant.NewPath(steps...)
}

// schema returns the schema that l implements.
func (l *layout) schema() *Schema {
	s := &Schema{Shape: l.shape, Type: l.typ}
	for _, f := range l.fields {
		s.Fields = append(s.Fields, Field{Name: f.name, Schema: f.schema()})
	}
	if l.elem != nil {
		s.Elem = l.elem.schema()
	}
	return s
}

// field returns the field of that name, or nil.
func (l *layout) field(name string) *layout {
	i, ok := slices.BinarySearchFunc(l.fields, name, func(f *layout, n string) int {
		return strings.Compare(f.name, n)
	})
	if !ok {
		return nil
	}
	return l.fields[i]
}
