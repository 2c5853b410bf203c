package pq

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/frazil/frazil/internal/leaf"
)

// arrowKind is the shape of an Arrow array.
type arrowKind uint8

const (
	arrowPrimitive arrowKind = iota
	arrowStruct
	arrowList    // a map is a list of entries
	arrowVariant // a shredded Variant; an unshredded one is a struct
)

// arrowNode is a node of a column as Arrow sees it: the repeated group inside of
// a list or map is folded into the list.
//
// An item of a node is a slot that starts a value of it, null or not: one whose
// repetition level is at most itemRep and whose definition level is at least
// itemDef. The item is not null when its definition level is at least def. A
// list's element starts where the repetition level is at most elemRep and the
// definition level at least elemDef.
type arrowNode struct {
	arrowLevels
	kind     arrowKind
	node     *leaf.Node
	typ      arrow.DataType
	nullable bool
	def      uint8
	elemRep  uint8
	elemDef  uint8
	first    int // ordinals of the leaves below, within the column
	end      int
	children []*arrowNode
	// entries marks the struct of a map, whose fields have no fixed names.
	entries bool
	values  VariantValues // of a shredded Variant
}

// arrowLevels are the levels around a node: those at which its parent's items
// exist, and those of its parent itself.
type arrowLevels struct {
	itemDef, itemRep uint8
	parentDef        uint8
}

// treeBuilder makes the tree of a column; leaves counts the leaves that it has
// passed.
type treeBuilder struct {
	leaves int
	open   VariantOpener // nil when shredded Variants are an error
}

// newArrowTree makes the tree of the column n.
func newArrowTree(n *leaf.Node) (*arrowNode, error) {
	var b treeBuilder
	return b.node(n, arrowLevels{})
}

// node makes the tree for a column or a part of it.
func (b *treeBuilder) node(n *leaf.Node, lv arrowLevels) (*arrowNode, error) {
	t := &arrowNode{arrowLevels: lv, node: n, def: lv.parentDef, first: b.leaves}
	if n.Repetition == leaf.Repeated {
		// A repeated node outside of a list is a list of required elements.
		return t, b.element(t, n, n)
	}
	if n.Repetition == leaf.Optional {
		t.nullable = true
		t.def++
	}
	return t, b.shape(t)
}

// shape sets kind, type and children by the node's type and annotation.
func (b *treeBuilder) shape(t *arrowNode) (err error) {
	n := t.node
	switch {
	case n.Type != leaf.Group:
		t.typ, err = primitiveType(n)
		b.leaves++
		t.end = b.leaves
		return err
	case n.Logical == leaf.List && len(n.Children) == 1 && n.Children[0].Repetition == leaf.Repeated:
		return b.element(t, n.Children[0], listElement(n))
	case n.Logical == leaf.Map && len(n.Children) == 1 && n.Children[0].Repetition == leaf.Repeated && len(n.Children[0].Children) == 2:
		return b.element(t, n.Children[0], n.Children[0])
	case n.Logical == leaf.Variant && (len(n.Children) != 2 || n.Child("metadata") == nil || n.Child("value") == nil):
		return t.setVariant(b)
	}
	t.kind = arrowStruct
	fields := make([]arrow.Field, 0, len(n.Children))
	for _, c := range n.Children {
		lv := t.arrowLevels
		lv.parentDef = t.def
		child, err := b.node(c, lv)
		if err != nil {
			return err
		}
		t.children = append(t.children, child)
		fields = append(fields, child.field())
	}
	t.end = b.leaves
	t.typ = arrow.StructOf(fields...)
	return nil
}

// listElement returns the node that is the element of list n, by the rules for
// lists of old writers (LogicalTypes.md, "Lists"): the repeated node itself, or
// its only child.
func listElement(n *leaf.Node) *leaf.Node {
	repeated := n.Children[0]
	if repeated.Type != leaf.Group || len(repeated.Children) != 1 || repeated.Name == "array" || repeated.Name == n.Name+"_tuple" {
		return repeated
	}
	return repeated.Children[0]
}

// element makes t a list whose repeated node is given; the element is that node,
// then without its repetition, or its child.
func (b *treeBuilder) element(t *arrowNode, repeated, element *leaf.Node) error {
	t.kind = arrowList
	t.elemDef, t.elemRep = t.def+1, t.itemRep+1
	inner := arrowLevels{itemDef: t.elemDef, itemRep: t.elemRep, parentDef: t.elemDef}
	n := *element
	if element == repeated {
		n.Repetition = leaf.Required
		if t.node == repeated {
			n.Name = "element"
		}
	}
	child, err := b.node(&n, inner)
	if err != nil {
		return err
	}
	t.children, t.end = []*arrowNode{child}, b.leaves
	if t.node.Logical == leaf.Map && child.kind == arrowStruct && len(child.children) == 2 {
		child.entries = true
		t.typ = arrow.MapOfFields(child.children[0].field(), child.children[1].field())
		return nil
	}
	f := child.field()
	f.Name = "element"
	t.typ = arrow.ListOfField(f)
	return nil
}

// field returns the Arrow field of t.
func (t *arrowNode) field() arrow.Field {
	var keys, values []string
	add := func(k, v string) {
		keys, values = append(keys, k), append(values, v)
	}
	if t.node.FieldID != 0 {
		add(FieldIDKey, strconv.Itoa(t.node.FieldID))
	}
	switch t.node.Logical {
	case leaf.Variant:
		add(ExtensionKey, VariantExtension)
	case leaf.UUID:
		add(ExtensionKey, UUIDExtension)
	default:
	}
	f := arrow.Field{Name: t.node.Name, Type: t.typ, Nullable: t.nullable}
	if len(keys) > 0 {
		f.Metadata = arrow.NewMetadata(keys, values)
	}
	return f
}
