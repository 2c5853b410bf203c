package pq

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/frazil/frazil/internal/leaf"
)

// rawStatistics is Statistics as it stands in a file. Byte strings are nil
// when absent.
type rawStatistics struct {
	oldMin, oldMax     []byte // deprecated: always in signed order
	min, max           []byte
	minExact, maxExact bool
	nulls              int64
	hasNulls           bool
}

// overcountsNulls reports that a file's writer counts some nulls below lists twice,
// so that a column with values can seem to have none: DuckDB before 2.0.
func overcountsNulls(createdBy string) bool {
	version, ok := strings.CutPrefix(createdBy, "DuckDB")
	if !ok {
		return false
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(version, " version v"), ".")
	n, err := strconv.Atoi(major)
	return err != nil || n < 2
}

// trustNulls sets the null count of c from the raw statistics, unless these
// contradict the schema, the number of slots or themselves, or overcounts says
// that such files count wrongly below lists.
func (c *Chunk) trustNulls(in *leaf.Info, overcounts bool) {
	s := &c.stats
	if in.MaxDef == 0 {
		c.Nulls, c.NullsKnown = 0, true
		return
	}
	if !s.hasNulls || s.nulls < 0 || s.nulls > c.Slots || overcounts && in.MaxRep > 0 {
		return
	}
	bounded := s.min != nil || s.max != nil || s.oldMin != nil || s.oldMax != nil
	if s.nulls == c.Slots && bounded {
		return // there is a value
	}
	c.Nulls, c.NullsKnown = s.nulls, true
}

// trustStatistics sets minimum and maximum of c from the raw ones, as far
// as the format gives them a meaning: min_value and max_value when the footer
// declares the type's own order, the deprecated ones only for signed numbers.
func (c *Chunk) trustStatistics(n *leaf.Node, typeOrdered bool) {
	s := &c.stats
	lo, hi := s.min, s.max
	if lo == nil || hi == nil || !typeOrdered {
		if !signedNumber(n) || s.oldMin == nil || s.oldMax == nil {
			return
		}
		lo, hi = s.oldMin, s.oldMax
	}
	lo, hi, ok := usableBounds(n, lo, hi)
	if !ok {
		return
	}
	c.HasMinMax, c.Min, c.Max = true, lo, hi
	c.MinExact, c.MaxExact = s.minExact, s.maxExact
	c.stats = rawStatistics{}
}

// signedNumber reports that the order of n's type is the one that the
// deprecated statistics always had.
func signedNumber(n *leaf.Node) bool {
	switch n.Type {
	case leaf.Int32, leaf.Int64:
		return n.Logical != leaf.Integer || n.Signed
	case leaf.Float, leaf.Double, leaf.Bool:
		return true
	case leaf.Group, leaf.Int96, leaf.Bytes, leaf.Fixed:
	}
	return false
}

// usableBounds checks foreign bounds of a leaf: their length, their order, and
// for floats the rules of the format: NaN makes them void, and zero stands for
// both zeros.
func usableBounds(n *leaf.Node, lo, hi []byte) (_, _ []byte, ok bool) {
	if !hasOrder(n) || !plausibleBound(n, lo) || !plausibleBound(n, hi) {
		return nil, nil, false
	}
	switch n.Type {
	case leaf.Float:
		return floatBounds(lo, hi)
	case leaf.Double:
		return doubleBounds(lo, hi)
	case leaf.Group, leaf.Bool, leaf.Int32, leaf.Int64, leaf.Int96, leaf.Bytes, leaf.Fixed:
	}
	if comparePlain(n, lo, hi) > 0 {
		return nil, nil, false
	}
	return lo, hi, true
}

// hasOrder reports that minimum and maximum of n mean something.
func hasOrder(n *leaf.Node) bool {
	if n.Type == leaf.Int96 || n.Type == leaf.Group {
		return false
	}
	switch n.Logical {
	case leaf.Other, leaf.Float16, leaf.Unknown:
		return false
	default:
		return true
	}
}

func plausibleBound(n *leaf.Node, b []byte) bool {
	switch n.Type {
	case leaf.Bool:
		return len(b) == 1
	case leaf.Int32, leaf.Float:
		return len(b) == 4
	case leaf.Int64, leaf.Double:
		return len(b) == 8
	case leaf.Fixed:
		return len(b) == n.Width || n.Logical != leaf.Decimal && len(b) <= n.Width
	case leaf.Bytes:
		return len(b) > 0 || n.Logical != leaf.Decimal
	case leaf.Group, leaf.Int96:
	}
	return false
}

func floatBounds(lo, hi []byte) (_, _ []byte, ok bool) {
	a := math.Float32frombits(binary.LittleEndian.Uint32(lo))
	b := math.Float32frombits(binary.LittleEndian.Uint32(hi))
	if !(a <= b) { // false for NaN
		return nil, nil, false
	}
	return plainFloat(orNegativeZero(a)), plainFloat(orPositiveZero(b)), true
}

func doubleBounds(lo, hi []byte) (_, _ []byte, ok bool) {
	a := math.Float64frombits(binary.LittleEndian.Uint64(lo))
	b := math.Float64frombits(binary.LittleEndian.Uint64(hi))
	if !(a <= b) {
		return nil, nil, false
	}
	return plainDouble(orNegativeZero(a)), plainDouble(orPositiveZero(b)), true
}

// orNegativeZero returns v, and -0 for a zero: a minimum of zero must not
// exclude -0. orPositiveZero is its twin for the maximum.
func orNegativeZero[F float32 | float64](v F) F {
	if v == 0 {
		return F(math.Copysign(0, -1))
	}
	return v
}

func orPositiveZero[F float32 | float64](v F) F {
	if v == 0 {
		return 0
	}
	return v
}

func plainFloat(v float32) []byte {
	return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
}

func plainDouble(v float64) []byte {
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
}

// comparePlain orders two values in plain encoding by the order of n's type
// and annotation (parquet.thrift, ColumnOrder). NaN is not ordered.
func comparePlain(n *leaf.Node, a, b []byte) int {
	switch n.Type {
	case leaf.Bool:
		return int(a[0]) - int(b[0])
	case leaf.Int32:
		x, y := binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b)
		if isUnsigned(n) {
			return compareOrdered(x, y)
		}
		return compareOrdered(int32(x), int32(y))
	case leaf.Int64:
		x, y := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		if isUnsigned(n) {
			return compareOrdered(x, y)
		}
		return compareOrdered(int64(x), int64(y))
	case leaf.Float:
		return compareOrdered(math.Float32frombits(binary.LittleEndian.Uint32(a)), math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case leaf.Double:
		return compareOrdered(math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case leaf.Bytes, leaf.Fixed:
		if n.Logical == leaf.Decimal {
			return compareBigEndian(a, b)
		}
		return bytes.Compare(a, b)
	case leaf.Group, leaf.Int96:
	}
	panic("BUG: comparePlain of a type without order")
}

func isUnsigned(n *leaf.Node) bool { return n.Logical == leaf.Integer && !n.Signed }

func compareOrdered[T int32 | int64 | uint32 | uint64 | float32 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareBigEndian orders two's complement numbers of any two lengths.
func compareBigEndian(a, b []byte) int {
	negA, negB := len(a) > 0 && a[0] >= 0x80, len(b) > 0 && b[0] >= 0x80
	if negA != negB {
		if negA {
			return -1
		}
		return 1
	}
	a, b = trimSign(a, negA), trimSign(b, negA)
	if len(a) != len(b) {
		if (len(a) < len(b)) != negA {
			return -1
		}
		return 1
	}
	return bytes.Compare(a, b)
}

// trimSign drops the leading bytes that only repeat the sign.
func trimSign(b []byte, negative bool) []byte {
	fill := byte(0)
	if negative {
		fill = 0xff
	}
	for len(b) > 1 && b[0] == fill && (b[1] >= 0x80) == negative {
		b = b[1:]
	}
	return b
}

func pathText(path []string) string { return strings.Join(path, ".") }
