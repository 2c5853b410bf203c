package iceberg

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/leaf"
)

// wanted returns the values one of which a row must have for the leaf of a predicate
// to be true, if there are such.
func (n *boundNode) wanted() []value {
	switch {
	case n.neg || n.right != nil:
		return nil
	case n.op == opEq, n.op == opSame:
		return []value{n.lit}
	case n.op == opIn:
		return n.set.values
	}
	return nil
}

// excluded reports whether the bloom filter of a leaf shows that no row of a row
// group has a value that the predicate wants. The filter is read if there is one.
func (s *statistics) excluded(n *boundNode, group, ordinal int) (bool, error) {
	values := n.wanted()
	if len(values) == 0 {
		return false, nil
	}
	var keys [][]byte
	for _, v := range values {
		k, ok := plainKeys(s.file.Leaves()[ordinal].Node, n.left.class, v)
		if !ok {
			return false, nil
		}
		keys = append(keys, k...)
	}
	may, err := s.file.MayContain(group, ordinal, keys...)
	return !may, err
}

// plainKeys returns the plain encodings that a value of a class may have in a leaf,
// none if the leaf cannot hold it; false if they are not known.
func plainKeys(n *leaf.Node, c class, v value) (keys [][]byte, ok bool) {
	switch c.domain {
	case domainInt:
		return plainInt(n, v.i), (n.Type == leaf.Int32 || n.Type == leaf.Int64) && sameUnit(n, c)
	case domainFloat:
		return plainFloat(n, c, v.f)
	case domainDecimal:
		if n.Logical != leaf.Decimal || n.Scale != c.scale {
			return nil, false
		}
		return plainDecimal(n, v.d)
	case domainBytes:
		return [][]byte{[]byte(v.s)}, sameBytes(n, c)
	case domainBool, domainNone: // bloom filters have no booleans
	}
	return nil, false
}

func plainInt(n *leaf.Node, i int64) [][]byte {
	switch {
	case n.Type == leaf.Int64:
		return [][]byte{binary.LittleEndian.AppendUint64(nil, uint64(i))}
	case i == int64(int32(i)):
		return [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(i))}
	}
	return nil
}

// plainFloat gives both zeros for one of them, as they are equal. A column of
// doubles may be stored as floats, from a time when it was one.
func plainFloat(n *leaf.Node, c class, f float64) (keys [][]byte, ok bool) {
	if f != f {
		return nil, false // NaN has many encodings
	}
	both := []float64{f}
	if f == 0 {
		both = []float64{0, math.Copysign(0, -1)}
	}
	_, single := c.typ.(ice.Float32Type)
	for _, f := range both {
		switch {
		case n.Type == leaf.Double && !single:
			keys = append(keys, binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)))
		case n.Type != leaf.Float:
			return nil, false
		case float64(float32(f)) == f:
			keys = append(keys, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f))))
		}
	}
	return keys, true
}

func plainDecimal(n *leaf.Node, d decimal128.Num) (keys [][]byte, ok bool) {
	small := d.HighBits() == int64(d.LowBits())>>63
	switch {
	case n.Type == leaf.Fixed && n.Width >= 1 && n.Width <= 16:
		var b [16]byte
		binary.BigEndian.PutUint64(b[:8], uint64(d.HighBits()))
		binary.BigEndian.PutUint64(b[8:], d.LowBits())
		key := b[16-n.Width:]
		if decimalOfBytes(key) != d {
			return nil, true
		}
		return [][]byte{key}, true
	case n.Type != leaf.Int32 && n.Type != leaf.Int64:
		return nil, false // BYTE_ARRAY has several encodings of a number
	case !small:
		return nil, true
	}
	return plainInt(n, int64(d.LowBits())), true
}

// sameBytes reports whether a leaf stores the bytes that the class compares.
func sameBytes(n *leaf.Node, c class) bool {
	switch c.typ.(type) {
	case ice.StringType:
		return n.Type == leaf.Bytes && n.Logical == leaf.String
	case ice.BinaryType:
		return n.Type == leaf.Bytes && (n.Logical == leaf.String || n.Logical == leaf.None)
	case ice.FixedType, ice.UUIDType:
		return n.Type == leaf.Fixed && n.Logical != leaf.Decimal
	}
	return false
}
