package shred

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// rule says which scalars a typed leaf takes. Only conversions that lose
// nothing are made: within the class of exact numbers, integers and decimals
// (VariantEncoding.md, "equivalence classes"); all other kinds must match.
type rule uint8

const (
	ruleNone   rule = iota // not a leaf
	ruleBool               // kind bool
	ruleInt32              // exact numbers that are whole and within limits, in INT32
	ruleInt64              // the same in INT64
	ruleDec32              // exact numbers with the leaf's scale and digits, in INT32
	ruleDec64              // the same in INT64
	ruleDecBig             // the same in a FIXED
	ruleSame32             // one kind in INT32: date
	ruleSame64             // one kind in INT64: time and timestamps
	ruleFloat              // kind float
	ruleDouble             // kind double
	ruleBytes              // one kind as bytes: string, binary, uuid
)

// pow10 holds the powers of ten that fit an int64.
var pow10 = [19]int64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// typedLeaf is the typed_value of a leaf: its buffer and its rule.
type typedLeaf struct {
	rule   rule
	kind   variant.Kind
	scale  uint8
	digits int   // precision of a decimal
	limit  int64 // greatest magnitude of an integer or coefficient
	width  int
	texts  bool // takes the texts of dates and timestamps as well
	buf    *leaf.Buffer
}

func newTypedLeaf(t Type, width int, buf *leaf.Buffer) typedLeaf {
	l := typedLeaf{kind: t.Kind, scale: uint8(t.Scale), digits: t.Precision, width: width, buf: buf}
	switch t.Kind {
	case variant.KindBool:
		l.rule = ruleBool
	case variant.KindInt8:
		l.rule, l.limit = ruleInt32, math.MaxInt8
	case variant.KindInt16:
		l.rule, l.limit = ruleInt32, math.MaxInt16
	case variant.KindInt32:
		l.rule, l.limit = ruleInt32, math.MaxInt32
	case variant.KindInt64:
		l.rule, l.limit = ruleInt64, math.MaxInt64
	case variant.KindFloat:
		l.rule = ruleFloat
	case variant.KindDouble:
		l.rule = ruleDouble
	case variant.KindDecimal4:
		l.rule, l.limit = ruleDec32, pow10[t.Precision]-1
	case variant.KindDecimal8:
		l.rule, l.limit = ruleDec64, pow10[t.Precision]-1
	case variant.KindDecimal16:
		l.rule = ruleDecBig
	case variant.KindDate:
		l.rule = ruleSame32
	case variant.KindTime, variant.KindTimestamp, variant.KindTimestampNTZ,
		variant.KindTimestampNanos, variant.KindTimestampNTZNanos:
		l.rule = ruleSame64
	case variant.KindString, variant.KindBinary, variant.KindUUID:
		l.rule = ruleBytes
	default:
		panic("BUG: shred: no leaf for kind " + t.Kind.String())
	}
	return l
}

// put appends s if the leaf can hold it without loss.
func (l *typedLeaf) put(s *variant.Scalar) bool {
	switch l.rule {
	case ruleDec32:
		// The usual case in line: a small decimal of the leaf's own scale.
		x, ok := s.Int, s.Kind == variant.KindDecimal4 && s.Scale == l.scale && s.Int <= l.limit && s.Int >= -l.limit
		if !ok {
			x, ok = l.coefficient(s)
		}
		if ok {
			l.buf.Int32s = append(l.buf.Int32s, int32(x))
		}
		return ok
	case ruleDec64:
		if x, ok := l.coefficient(s); ok {
			l.buf.Int64s = append(l.buf.Int64s, x)
			return true
		}
		return false
	case ruleInt32:
		x, ok := whole(s)
		if !ok || x > l.limit || x < -l.limit-1 {
			return false
		}
		l.buf.Int32s = append(l.buf.Int32s, int32(x))
		return true
	case ruleInt64:
		x, ok := whole(s)
		if ok {
			l.buf.Int64s = append(l.buf.Int64s, x)
		}
		return ok
	case ruleDecBig:
		return l.putBig(s)
	case ruleNone:
		return false
	}
	if s.Kind != l.kind {
		if l.texts {
			if parsed, ok := parseTemporal(s, l.kind); ok {
				return l.put(&parsed)
			}
		}
		return false
	}
	switch l.rule {
	case ruleBytes:
		l.buf.AppendBytes(s.Bytes)
	case ruleBool:
		l.buf.Bools = append(l.buf.Bools, s.Int != 0)
	case ruleSame32:
		l.buf.Int32s = append(l.buf.Int32s, int32(s.Int))
	case ruleSame64:
		l.buf.Int64s = append(l.buf.Int64s, s.Int)
	case ruleFloat:
		l.buf.Floats = append(l.buf.Floats, float32(s.Float))
	case ruleDouble:
		l.buf.Doubles = append(l.buf.Doubles, s.Float)
	}
	return true
}

// whole returns an exact number without fraction that fits 64 bits.
func whole(s *variant.Scalar) (int64, bool) {
	if s.Kind.IsInteger() {
		return s.Int, true
	}
	if s.Kind.IsDecimal() {
		return s.Dec().Int64()
	}
	return 0, false
}

// coefficient returns the number's coefficient at the leaf's scale, if no digit
// is lost and the leaf's digits suffice.
func (l *typedLeaf) coefficient(s *variant.Scalar) (int64, bool) {
	scale := uint8(0)
	switch s.Kind {
	case variant.KindInt8, variant.KindInt16, variant.KindInt32, variant.KindInt64:
	case variant.KindDecimal4, variant.KindDecimal8:
		scale = s.Scale
	case variant.KindDecimal16:
		d, ok := s.Dec().Rescale(l.scale)
		x := int64(d.Lo)
		return x, ok && d.Hi == x>>63 && x <= l.limit && x >= -l.limit
	default:
		return 0, false
	}
	if scale == l.scale {
		return s.Int, s.Int <= l.limit && s.Int >= -l.limit
	}
	if scale < l.scale {
		f := pow10[l.scale-scale]
		hi, x := bits.Mul64(magnitude(s.Int), uint64(f))
		return s.Int * f, hi == 0 && x <= uint64(l.limit)
	}
	if drop := scale - l.scale; int(drop) < len(pow10) {
		x := s.Int / pow10[drop]
		return x, x*pow10[drop] == s.Int && x <= l.limit && x >= -l.limit
	}
	return 0, s.Int == 0
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// putBig appends a decimal as big-endian two's complement of the leaf's width.
func (l *typedLeaf) putBig(s *variant.Scalar) bool {
	if !s.Kind.IsExact() {
		return false
	}
	d, ok := s.Dec().Rescale(l.scale)
	if !ok || d.Precision() > l.digits {
		return false
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(d.Hi))
	binary.BigEndian.PutUint64(b[8:], d.Lo)
	l.buf.AppendBytes(b[16-l.width:])
	return true
}

// drop removes all values but the first n.
func (l *typedLeaf) drop(n int) {
	if l.rule != ruleNone {
		dropValues(l.buf, n)
	}
}

func dropValues(b *leaf.Buffer, n int) {
	switch b.Node.Type {
	case leaf.Bool:
		b.Bools = b.Bools[:min(n, len(b.Bools))]
	case leaf.Int32:
		b.Int32s = b.Int32s[:min(n, len(b.Int32s))]
	case leaf.Int64:
		b.Int64s = b.Int64s[:min(n, len(b.Int64s))]
	case leaf.Float:
		b.Floats = b.Floats[:min(n, len(b.Floats))]
	case leaf.Double:
		b.Doubles = b.Doubles[:min(n, len(b.Doubles))]
	case leaf.Bytes, leaf.Fixed:
		if len(b.Offsets) > n+1 {
			b.Offsets = b.Offsets[:n+1]
			b.Data = b.Data[:b.Offsets[n]]
		}
	case leaf.Int96, leaf.Group:
	}
}
