package pq

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
)

// VariantValues delivers the values of a shredded Variant group: it calls each
// for every slot of the group's first leaf, in order, with the value's two byte
// strings, or with nils where there is no value. The bytes are used at once.
type VariantValues func(batches []*leaf.Batch, slots int, each func(slot int, metadata, value []byte) error) error

// VariantOpener prepares to assemble one shredded Variant group that stands
// inside of another column. def and rep are the levels of the group's parent:
// those that a present parent has.
type VariantOpener func(group *leaf.Node, def, rep uint8) (VariantValues, error)

// NewVariantAssembler is NewAssembler for columns with shredded Variants inside
// of them, which open assembles: this package does not know what their leaves
// mean. Unshredded Variants need no opener.
func NewVariantAssembler(n *leaf.Node, mem memory.Allocator, open VariantOpener) (*Assembler, error) {
	b := treeBuilder{open: open}
	tree, err := b.node(n, arrowLevels{})
	if err != nil {
		return nil, err
	}
	return &Assembler{tree: tree, mem: mem}, nil
}

// variantStorage is the type of every Variant, shredded or not.
var variantStorage = arrow.StructOf(
	arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary},
	arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary},
)

// setVariant makes t a Variant that is assembled by the opener.
func (t *arrowNode) setVariant(b *treeBuilder) (err error) {
	if b.open == nil {
		return unsupportedf("Variant %q is shredded", t.node.Name)
	}
	t.kind, t.typ = arrowVariant, variantStorage
	b.leaves += len(t.node.Leaves())
	t.end = b.leaves
	if t.end == t.first {
		return corruptf("Variant %q has no leaves", t.node.Name)
	}
	t.values, err = b.open(t.node, t.parentDef, t.itemRep)
	return err
}

// buildVariant makes the storage array of all items of t. A slot that is no item
// stands for an empty or missing list.
func (a *Assembler) buildVariant(t *arrowNode) (arrow.ArrayData, error) {
	batches := a.batches[t.first:t.end]
	first := batches[0]
	out := array.NewStructBuilder(a.mem, variantStorage)
	defer out.Release()
	metadata, value := out.FieldBuilder(0).(*array.BinaryBuilder), out.FieldBuilder(1).(*array.BinaryBuilder)
	next := 0
	err := t.values(batches, first.Slots, func(slot int, m, v []byte) error {
		if slot != next || slot >= first.Slots {
			return corruptf("slot %d of Variant %q comes after slot %d", slot, t.node.Name, next-1)
		}
		next++
		def, _ := slotLevels(first, slot)
		present := def >= t.def && v != nil
		switch {
		case def < t.itemDef:
			return nil
		case !present && !t.nullable && def >= t.parentDef:
			return corruptf("a required Variant %q has no value", t.node.Name)
		}
		if !present {
			out.AppendNull()
			return nil
		}
		out.Append(true)
		metadata.Append(m)
		value.Append(v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if next != first.Slots {
		return nil, corruptf("%d of %d slots of Variant %q", next, first.Slots, t.node.Name)
	}
	arr := out.NewArray()
	defer arr.Release()
	data := arr.Data()
	data.Retain()
	return data, nil
}
