package shred

import "github.com/frazil/frazil/internal/leaf"

// Swap ends the row group as Reset does, and gives its buffers away: the result
// holds what Buffers would return, and rows that follow go into the memory of
// old, an earlier result of Swap, of any Writer, whose values are no longer
// needed, or nil. So one row group can be encoded while the next is being filled.
// The levels of the result are valid until the next call of Swap or Buffers.
func (w *Writer) Swap(old []*leaf.Buffer) []*leaf.Buffer {
	old = old[:min(len(old), len(w.list))]
	for i, live := range w.Buffers() {
		if i == len(old) {
			old = append(old, &leaf.Buffer{})
		}
		spare := old[i]
		spare.Info, spare.Indexed = live.Info, live.Indexed
		spare.Def, spare.Rep = leaf.Levels{}, leaf.Levels{} // those of others may be shared
		spare.Reset()
	}
	w.bounds.add(w.root)
	for i, live := range w.list {
		*old[i], *live = *live, *old[i]
	}
	w.Reset() // adds no bounds: the values are gone
	return old
}
