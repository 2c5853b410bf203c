package leaf

import "slices"

// Run is N equal levels.
type Run struct {
	Level uint8
	N     uint32
}

// Levels is a run-length list of levels. The zero value is empty.
//
// Several Buffers that wait to be written may hold the same Runs, because the
// leaves of one column often have the same levels: two lists whose Runs have
// the same length and the same first element address are equal, so that a
// writer encodes them once. Runs are then read-only for all.
type Levels struct {
	Runs []Run
	n    int
}

// Append adds n times the same level.
func (l *Levels) Append(level uint8, n int) {
	l.n += n
	if k := len(l.Runs); k > 0 && l.Runs[k-1].Level == level {
		l.Runs[k-1].N += uint32(n)
		return
	}
	l.Runs = append(l.Runs, Run{Level: level, N: uint32(n)})
}

// Len returns the number of levels.
func (l *Levels) Len() int { return l.n }

// Share makes l a read-only view of the levels of o.
func (l *Levels) Share(o *Levels) { l.Runs, l.n = o.Runs, o.n }

// Truncate keeps the first n levels.
func (l *Levels) Truncate(n int) {
	for l.n > n {
		last := &l.Runs[len(l.Runs)-1]
		drop := min(uint32(l.n-n), last.N)
		last.N -= drop
		l.n -= int(drop)
		if last.N == 0 {
			l.Runs = l.Runs[:len(l.Runs)-1]
		}
	}
}

// Reset empties l and keeps its memory.
func (l *Levels) Reset() { l.Runs, l.n = l.Runs[:0], 0 }

// Buffer holds the slots of one leaf that wait to be written: levels as runs
// and, densely, the values of the slots that have one. Exactly one of the value
// fields is used, the one of the leaf's Type.
//
// Invariants: Def.Len() == Slots when MaxDef > 0, Rep.Len() == Slots when
// MaxRep > 0; the number of values == the number of levels equal to MaxDef.
// A Bytes or Fixed value i is Data[Offsets[i]:Offsets[i+1]]; Offsets is empty
// or starts with 0. When Indexed is true, Offsets and Data hold the distinct
// values instead, in order of first use, and value i is entry Index[i]: the
// producer has built the dictionary already.
type Buffer struct {
	Info
	Slots   int
	Def     Levels
	Rep     Levels
	Bools   []bool
	Int32s  []int32
	Int64s  []int64
	Floats  []float32
	Doubles []float64
	Offsets []uint32
	Data    []byte
	Indexed bool
	Index   []uint32
}

// AppendBytes adds one Bytes or Fixed value to a buffer that is not Indexed;
// levels are the caller's.
func (b *Buffer) AppendBytes(v []byte) {
	if len(b.Offsets) == 0 {
		b.Offsets = append(b.Offsets, 0)
	}
	if cap(b.Data)-len(b.Data) < len(v) {
		// Twice as much each time: append takes a quarter more, and copies large
		// buffers four times over until they are full.
		b.Data = slices.Grow(b.Data, len(b.Data)+len(v))
	}
	b.Data = append(b.Data, v...)
	b.Offsets = append(b.Offsets, uint32(len(b.Data)))
}

// Values returns the number of values, nulls not counted.
func (b *Buffer) Values() int {
	switch b.Node.Type {
	case Bool:
		return len(b.Bools)
	case Int32:
		return len(b.Int32s)
	case Int64:
		return len(b.Int64s)
	case Float:
		return len(b.Floats)
	case Double:
		return len(b.Doubles)
	case Bytes, Fixed, Int96:
		if b.Indexed {
			return len(b.Index)
		}
		return max(len(b.Offsets)-1, 0)
	case Group:
	}
	return 0
}

// Reset empties b and keeps its memory.
func (b *Buffer) Reset() {
	b.Slots = 0
	b.Def.Reset()
	b.Rep.Reset()
	b.Bools, b.Int32s, b.Int64s = b.Bools[:0], b.Int32s[:0], b.Int64s[:0]
	b.Floats, b.Doubles = b.Floats[:0], b.Doubles[:0]
	b.Offsets, b.Data, b.Index = b.Offsets[:0], b.Data[:0], b.Index[:0]
}
