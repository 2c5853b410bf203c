package iceberg

import (
	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
)

// openNestedVariant assembles a shredded Variant that stands inside of another
// column, value by value: we never write such a column, other engines do.
func openNestedVariant(group *leaf.Node, def, rep uint8) (pq.VariantValues, error) {
	asm, err := shred.NewAssembler(group, shred.Context{Def: def, Rep: rep}, nil)
	if err != nil {
		return nil, err
	}
	var wanted []*leaf.Batch
	return func(batches []*leaf.Batch, slots int, each func(slot int, metadata, value []byte) error) error {
		wanted = wanted[:0]
		for _, c := range asm.Columns() {
			wanted = append(wanted, batches[c])
		}
		return asm.Assemble(wanted, slots, func(slot int, v variant.Value) error {
			return each(slot, v.Metadata(), v.Bytes())
		})
	}, nil
}
