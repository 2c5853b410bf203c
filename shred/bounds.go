package shred

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/frazil/frazil/variant"
)

// Bounds are the lower and upper bounds of a Variant column in one file, as
// Iceberg's manifests keep them (Iceberg spec, "Bounds for Variant"): metadata
// bytes, then the bytes of an object that maps normalized paths to primitives.
// Both are nil when no path has bounds.
type Bounds struct {
	Lower []byte
	Upper []byte
}

// boundLength is the length to which bounds of strings, in characters, and of
// binaries, in bytes, are cut, as Iceberg's Java does.
const boundLength = 16

// bound is the range of the values of one typed leaf.
type bound struct {
	any     bool // there were values
	nan     bool
	ints    [2]int64
	floats  [2]float64
	bytes   [2][]byte
	decimal [2]variant.Decimal
}

// merge widens the range by the values of a buffer.
func (b *bound) merge(l *typedLeaf) {
	switch buf := l.buf; l.rule {
	case ruleInt32, ruleDec32, ruleSame32:
		if len(buf.Int32s) > 0 {
			lo, hi := extremes(buf.Int32s)
			b.int(int64(lo), int64(hi))
		}
	case ruleInt64, ruleDec64, ruleSame64:
		if len(buf.Int64s) > 0 {
			b.int(extremes(buf.Int64s))
		}
	case ruleFloat:
		for _, x := range buf.Floats {
			b.float(float64(x))
		}
	case ruleDouble:
		for _, x := range buf.Doubles {
			b.float(x)
		}
	case ruleBytes:
		for i := range buf.Values() {
			b.text(buf.Data[buf.Offsets[i]:buf.Offsets[i+1]])
		}
	case ruleDecBig:
		for i := range buf.Values() {
			b.big(decimalFromBytes(buf.Data[buf.Offsets[i]:buf.Offsets[i+1]], l.scale))
		}
	case ruleBool, ruleNone:
	}
}

func extremes[T int32 | int64](values []T) (lo, hi T) {
	lo, hi = values[0], values[0]
	for _, x := range values[1:] {
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}

func (b *bound) int(lo, hi int64) {
	if !b.any {
		b.any, b.ints = true, [2]int64{lo, hi}
		return
	}
	b.ints[0], b.ints[1] = min(b.ints[0], lo), max(b.ints[1], hi)
}

func (b *bound) float(x float64) {
	if x != x {
		b.nan = true
		return
	}
	if !b.any {
		b.any, b.floats = true, [2]float64{x, x}
		return
	}
	b.floats[0], b.floats[1] = min(b.floats[0], x), max(b.floats[1], x)
}

func (b *bound) text(x []byte) {
	if !b.any {
		b.any, b.bytes = true, [2][]byte{bytes.Clone(x), bytes.Clone(x)}
		return
	}
	if bytes.Compare(x, b.bytes[0]) < 0 {
		b.bytes[0] = append(b.bytes[0][:0], x...)
	} else if bytes.Compare(x, b.bytes[1]) > 0 {
		b.bytes[1] = append(b.bytes[1][:0], x...)
	}
}

func (b *bound) big(d variant.Decimal) {
	if !b.any {
		b.any, b.decimal = true, [2]variant.Decimal{d, d}
		return
	}
	if d.Cmp(b.decimal[0]) < 0 {
		b.decimal[0] = d
	}
	if d.Cmp(b.decimal[1]) > 0 {
		b.decimal[1] = d
	}
}

// decimalFromBytes reads a big-endian two's complement number of 1 to 16 bytes.
func decimalFromBytes(v []byte, scale uint8) variant.Decimal {
	d := variant.Decimal{Scale: scale}
	if len(v) > 0 && v[0]&0x80 != 0 {
		d.Hi, d.Lo = -1, math.MaxUint64
	}
	for _, c := range v {
		d.Hi = d.Hi<<8 | int64(d.Lo>>56)
		d.Lo = d.Lo<<8 | uint64(c)
	}
	return d
}

// scalars returns the bounds as scalars of the leaf's kind; false when there are
// none.
func (b *bound) scalars(l *typedLeaf) (lo, hi variant.Scalar, ok bool) {
	if !b.any || b.nan {
		return lo, hi, false
	}
	lo.Kind, lo.Scale = l.kind, l.scale
	hi = lo
	switch l.rule {
	case ruleInt32, ruleInt64, ruleDec32, ruleDec64, ruleSame32, ruleSame64:
		lo.Int, hi.Int = b.ints[0], b.ints[1]
		lo.Hi, hi.Hi = lo.Int>>63, hi.Int>>63
	case ruleFloat, ruleDouble:
		lo.Float, hi.Float = b.floats[0], b.floats[1]
	case ruleDecBig:
		lo.Int, lo.Hi = int64(b.decimal[0].Lo), b.decimal[0].Hi
		hi.Int, hi.Hi = int64(b.decimal[1].Lo), b.decimal[1].Hi
	case ruleBytes:
		return b.texts(l.kind)
	case ruleBool, ruleNone:
		return lo, hi, false
	}
	return lo, hi, true
}

func (b *bound) texts(k variant.Kind) (lo, hi variant.Scalar, ok bool) {
	lo = variant.Scalar{Kind: k, Bytes: b.bytes[0]}
	hi = variant.Scalar{Kind: k, Bytes: b.bytes[1]}
	ok = true
	switch k {
	case variant.KindString:
		lo.Bytes, _ = cutText(lo.Bytes)
		hi.Bytes, ok = raiseText(hi.Bytes)
	case variant.KindBinary:
		lo.Bytes = lo.Bytes[:min(len(lo.Bytes), boundLength)]
		hi.Bytes, ok = raiseBinary(hi.Bytes)
	}
	return lo, hi, ok
}

// cutText returns the first boundLength characters and whether that is less
// than all.
func cutText(s []byte) ([]byte, bool) {
	at := 0
	for n := 0; n < boundLength && at < len(s); n++ {
		_, size := utf8.DecodeRune(s[at:])
		at += size
	}
	return s[:at:at], at < len(s)
}

// raiseText returns a text of at most boundLength characters that is not less
// than s: s itself, or its cut with the last character that can be raised
// raised by one.
func raiseText(s []byte) ([]byte, bool) {
	head, cut := cutText(s)
	if !cut {
		return head, true
	}
	for len(head) > 0 {
		r, size := utf8.DecodeLastRune(head)
		head = head[: len(head)-size : len(head)-size]
		if r++; r >= 0xD800 && r <= 0xDFFF {
			r = 0xE000
		}
		if r <= utf8.MaxRune {
			return utf8.AppendRune(head, r), true
		}
	}
	return nil, false
}

func raiseBinary(s []byte) ([]byte, bool) {
	if len(s) <= boundLength {
		return s, true
	}
	head := bytes.Clone(s[:boundLength])
	for i := len(head) - 1; i >= 0; i-- {
		if head[i] != 0xFF {
			head[i]++
			return head[:i+1], true
		}
	}
	return nil, false
}

// boundsKeeper keeps the ranges of the leaves outside arrays over row groups.
type boundsKeeper struct{ leaves map[*node]bound }

// add merges the values that the buffers hold.
func (k *boundsKeeper) add(n *node) {
	if k.leaves == nil {
		k.leaves = map[*node]bound{}
	}
	if n.shape == Leaf && !n.mixed {
		b := k.leaves[n]
		b.merge(&n.leaf)
		k.leaves[n] = b
	}
	for _, f := range n.fields {
		k.add(f)
	}
}

// Bounds returns the bounds of all rows since the Writer was made. A path has
// bounds if its leaf is outside arrays, its `value` held nothing but Variant
// nulls, and it had no NaN; booleans have none, as the two are different types.
func (w *Writer) Bounds() Bounds {
	k := boundsKeeper{leaves: map[*node]bound{}}
	for n, b := range w.bounds.leaves {
		b.bytes = [2][]byte{bytes.Clone(b.bytes[0]), bytes.Clone(b.bytes[1])}
		k.leaves[n] = b
	}
	k.add(w.root)
	type entry struct {
		path   string
		lo, hi variant.Scalar
	}
	var entries []entry
	for n, b := range k.leaves {
		if n.mixed {
			continue
		}
		if lo, hi, ok := b.scalars(&n.leaf); ok {
			entries = append(entries, entry{n.at.path(), lo, hi})
		}
	}
	if len(entries) == 0 {
		return Bounds{}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	side := func(pick func(*entry) *variant.Scalar) []byte {
		b := variant.NewBuilder()
		b.Reset()
		b.Begin(variant.KindObject)
		for i := range entries {
			b.Key([]byte(entries[i].path))
			b.Scalar(pick(&entries[i]))
		}
		b.End()
		v, err := b.Value()
		if err != nil {
			panic("BUG: shred: bounds: " + err.Error())
		}
		return slices.Concat(v.Metadata(), v.Bytes())
	}
	return Bounds{
		Lower: side(func(e *entry) *variant.Scalar { return &e.lo }),
		Upper: side(func(e *entry) *variant.Scalar { return &e.hi }),
	}
}
