package pq

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/frazil/frazil/internal/leaf"
)

// bounds are the extremes of some values in plain encoding; lo and hi are nil
// when no value has an order.
type bounds struct {
	lo, hi []byte
	nans   int
}

// merge widens b by the bounds of more values of the leaf n.
func (b *bounds) merge(n *leaf.Node, o bounds) {
	b.nans += o.nans
	if o.lo == nil {
		return
	}
	if b.lo == nil || comparePlain(n, o.lo, b.lo) < 0 {
		b.lo = o.lo
	}
	if b.hi == nil || comparePlain(n, o.hi, b.hi) > 0 {
		b.hi = o.hi
	}
}

// numberBounds returns the bounds of the numbers from..to of b.
func numberBounds(b *leaf.Buffer, from, to int) bounds {
	if from == to {
		return bounds{}
	}
	switch b.Node.Type {
	case leaf.Bool:
		return boolBounds(b.Bools[from:to])
	case leaf.Int32:
		if isUnsigned(b.Node) {
			lo, hi := extremesUint32(b.Int32s[from:to])
			return bounds{lo: binary.LittleEndian.AppendUint32(nil, lo), hi: binary.LittleEndian.AppendUint32(nil, hi)}
		}
		lo, hi := extremes(b.Int32s[from:to])
		return bounds{lo: binary.LittleEndian.AppendUint32(nil, uint32(lo)), hi: binary.LittleEndian.AppendUint32(nil, uint32(hi))}
	case leaf.Int64:
		if isUnsigned(b.Node) {
			lo, hi := extremesUint64(b.Int64s[from:to])
			return bounds{lo: binary.LittleEndian.AppendUint64(nil, lo), hi: binary.LittleEndian.AppendUint64(nil, hi)}
		}
		lo, hi := extremes(b.Int64s[from:to])
		return bounds{lo: binary.LittleEndian.AppendUint64(nil, uint64(lo)), hi: binary.LittleEndian.AppendUint64(nil, uint64(hi))}
	case leaf.Float:
		lo, hi, nans := floatExtremes(b.Floats[from:to])
		if nans == to-from {
			return bounds{nans: nans}
		}
		return bounds{lo: plainFloat(lo), hi: plainFloat(hi), nans: nans}
	case leaf.Double:
		lo, hi, nans := floatExtremes(b.Doubles[from:to])
		if nans == to-from {
			return bounds{nans: nans}
		}
		return bounds{lo: plainDouble(lo), hi: plainDouble(hi), nans: nans}
	case leaf.Group, leaf.Int96, leaf.Bytes, leaf.Fixed:
	}
	return bounds{}
}

func boolBounds(v []bool) bounds {
	lo, hi := byte(1), byte(0)
	for _, x := range v {
		if x {
			hi = 1
		} else {
			lo = 0
		}
	}
	return bounds{lo: []byte{lo}, hi: []byte{hi}}
}

func extremes[T integer](v []T) (lo, hi T) {
	lo, hi = v[0], v[0]
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}

func extremesUint32(v []int32) (lo, hi uint32) {
	lo = math.MaxUint32
	for _, x := range v {
		lo, hi = min(lo, uint32(x)), max(hi, uint32(x))
	}
	return lo, hi
}

func extremesUint64(v []int64) (lo, hi uint64) {
	lo = math.MaxUint64
	for _, x := range v {
		lo, hi = min(lo, uint64(x)), max(hi, uint64(x))
	}
	return lo, hi
}

// floatExtremes passes over NaN; a zero counts as -0 below and +0 above
// (parquet.thrift, ColumnOrder).
func floatExtremes[F float32 | float64](v []F) (lo, hi F, nans int) {
	lo, hi = F(math.Inf(1)), F(math.Inf(-1))
	for _, x := range v {
		if x != x {
			nans++
			continue
		}
		if x < lo {
			lo = x
		}
		if x > hi {
			hi = x
		}
	}
	return orNegativeZero(lo), orPositiveZero(hi), nans
}

// bytesBounds returns the bounds of byte strings as views of them. A decimal is
// ordered as a number, everything else as unsigned bytes.
func bytesBounds(n *leaf.Node, v byteValues) bounds {
	if v.len() == 0 || !hasOrder(n) {
		return bounds{}
	}
	lo, hi := v.at(0), v.at(0)
	for i := 1; i < v.len(); i++ {
		lo, hi = widen(n, lo, hi, v.at(i))
	}
	return bounds{lo: lo, hi: hi}
}

func widen(n *leaf.Node, lo, hi, x []byte) (_, _ []byte) {
	if n.Logical == leaf.Decimal {
		if compareBigEndian(x, lo) < 0 {
			lo = x
		} else if compareBigEndian(x, hi) > 0 {
			hi = x
		}
		return lo, hi
	}
	if bytes.Compare(x, lo) < 0 {
		lo = x
	} else if bytes.Compare(x, hi) > 0 {
		hi = x
	}
	return lo, hi
}

// indexedBounds is bytesBounds for dictionary indexes: each entry that occurs
// is compared once. used is scratch with an element per entry, all false.
func indexedBounds(n *leaf.Node, dict byteValues, index []uint32, used []bool) bounds {
	if !hasOrder(n) {
		return bounds{}
	}
	var lo, hi []byte
	for _, e := range index {
		if used[e] {
			continue
		}
		used[e] = true
		if x := dict.at(int(e)); lo == nil {
			lo, hi = x, x
		} else {
			lo, hi = widen(n, lo, hi, x)
		}
	}
	for _, e := range index {
		used[e] = false
	}
	return bounds{lo: lo, hi: hi}
}

// truncatable reports that bounds of n may be cut: only byte strings in
// unsigned order.
func truncatable(n *leaf.Node) bool {
	return (n.Type == leaf.Bytes || n.Type == leaf.Fixed) && n.Logical != leaf.Decimal && n.Logical != leaf.UUID
}

// truncateMin cuts a lower bound in unsigned byte order to at most n bytes; one
// that is text is cut between characters, so that it stays text.
func truncateMin(b []byte, n int, text bool) []byte {
	if len(b) <= n {
		return b
	}
	if text {
		for n > 0 && !utf8.RuneStart(b[n]) {
			n--
		}
	}
	return b[:n:n]
}

// truncateMax cuts an upper bound to at most n bytes and raises it, so that it
// stays an upper bound. It is false when no such bound exists: the bound is
// then to be left out.
func truncateMax(b []byte, n int, text bool) ([]byte, bool) {
	if len(b) <= n {
		return b, true
	}
	b = truncateMin(b, n, text)
	if text && utf8.Valid(b) {
		return raiseText(b)
	}
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0xff {
			out := bytes.Clone(b[:i+1])
			out[i]++
			return out, true
		}
	}
	return nil, false
}

// raiseText replaces the last character that has a successor by it. The order
// of UTF-8 bytes is that of the code points.
func raiseText(b []byte) ([]byte, bool) {
	for len(b) > 0 {
		r, size := utf8.DecodeLastRune(b)
		b = b[:len(b)-size]
		next := r + 1
		if next == 0xd800 { // the surrogates are no characters
			next = 0xe000
		}
		if next <= utf8.MaxRune {
			return utf8.AppendRune(bytes.Clone(b), next), true
		}
	}
	return nil, false
}

// cut returns the bounds as they are written: short enough, and cloned. Without
// an upper bound there is none at all.
func (b bounds) cut(n *leaf.Node, limit int) (lo, hi []byte, loExact, hiExact bool) {
	if b.lo == nil {
		return nil, nil, false, false
	}
	if !truncatable(n) {
		return nonNilClone(b.lo), nonNilClone(b.hi), true, true
	}
	text := n.Logical == leaf.String
	lo = truncateMin(b.lo, limit, text)
	hi, ok := truncateMax(b.hi, limit, text)
	if !ok {
		return nil, nil, false, false
	}
	return nonNilClone(lo), nonNilClone(hi), len(lo) == len(b.lo), len(b.hi) <= limit
}

// nonNilClone keeps the difference between an empty bound and none.
func nonNilClone(b []byte) []byte { return append([]byte{}, b...) }
