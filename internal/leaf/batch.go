package leaf

// Batch holds the slots of one leaf that were read: levels as bytes, one a
// slot, and the values densely, without the nulls. A field that the leaf does
// not need is nil: Def when MaxDef is 0, Rep when MaxRep is 0, and all values
// but those of the leaf's Type. A reader overwrites the batch at its next call.
//
// Invariant: the number of values == the number of Def equal to MaxDef, or
// Slots when MaxDef is 0. A Bytes, Fixed or Int96 value i is
// Data[Offsets[i]:Offsets[i+1]]. When Dict is not nil the leaf's pages were
// dictionary encoded throughout the batch, and value i is entry Index[i] of it;
// Offsets and Data are then unset.
type Batch struct {
	Info
	Rows    int // rows in this batch: slots with repetition level 0
	Slots   int
	Nulls   int // slots below MaxDef
	Def     []uint8
	Rep     []uint8
	Bools   []bool
	Int32s  []int32
	Int64s  []int64
	Floats  []float32
	Doubles []float64
	Offsets []uint32
	Data    []byte
	Dict    *Dict
	Index   []int32
}

// Dict is the dictionary of a Bytes or Fixed leaf in one row group. It is
// immutable, and the same pointer while the dictionary is the same, so that
// whatever a reader derives from an entry can be kept under it.
type Dict struct {
	Offsets []uint32
	Data    []byte
}

// Len returns the number of entries.
func (d *Dict) Len() int { return max(len(d.Offsets)-1, 0) }

// Value returns entry i.
func (d *Dict) Value(i int) []byte { return d.Data[d.Offsets[i]:d.Offsets[i+1]] }

// Bytes returns value i of a Bytes, Fixed or Int96 leaf, whichever way it is
// held. It stays valid until the batch is read again.
func (b *Batch) Bytes(i int) []byte {
	if b.Dict != nil {
		return b.Dict.Value(int(b.Index[i]))
	}
	return b.Data[b.Offsets[i]:b.Offsets[i+1]]
}

// Len returns the length of value i of a Bytes, Fixed or Int96 leaf.
func (b *Batch) Len(i int) int {
	if b.Dict != nil {
		k := b.Index[i]
		return int(b.Dict.Offsets[k+1] - b.Dict.Offsets[k])
	}
	return int(b.Offsets[i+1] - b.Offsets[i])
}

// AppendFrom appends value i of another batch of the same leaf; levels are the
// caller's. Where from has a dictionary, b must have the same one.
func (b *Batch) AppendFrom(from *Batch, i int) {
	switch from.Node.Type {
	case Bool:
		b.Bools = append(b.Bools, from.Bools[i])
	case Int32:
		b.Int32s = append(b.Int32s, from.Int32s[i])
	case Int64:
		b.Int64s = append(b.Int64s, from.Int64s[i])
	case Float:
		b.Floats = append(b.Floats, from.Floats[i])
	case Double:
		b.Doubles = append(b.Doubles, from.Doubles[i])
	case Bytes, Fixed, Int96:
		if from.Dict != nil {
			b.Index = append(b.Index, from.Index[i])
			return
		}
		if len(b.Offsets) == 0 {
			b.Offsets = append(b.Offsets, 0)
		}
		b.Data = append(b.Data, from.Bytes(i)...)
		b.Offsets = append(b.Offsets, uint32(len(b.Data)))
	case Group:
	}
}
