package variant

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Hash returns a hash of v's meaning: values that are Equal have the same. It is
// the same in every process and every release of one major version, so that it
// can be stored, and is no defence against keys that are chosen to collide.
// Hash allocates nothing. Of bytes that New refuses it reads no more than there
// are.
func Hash(v Value) uint64 {
	h := hasher{budget: len(v.value) + 1}
	h.dict, _ = viewDict(v.metadata)
	return h.value(v.value, 0)
}

// The multipliers are odd and have no structure: digits of pi and e.
const (
	hashA = 0x243F6A8885A308D3
	hashB = 0xB7E151628AED2A6B
)

// mix folds a product of 128 bits into 64.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^hashA, b^hashB)
	return hi ^ lo
}

// hasher walks one value, with the budget of emitter.
type hasher struct {
	dict   dict
	budget int
}

func (h *hasher) value(b []byte, depth int) uint64 {
	h.budget--
	if h.budget < 0 || depth > MaxDepth || len(b) == 0 {
		return mix(0, uint64(len(b)))
	}
	k := firstKinds[b[0]]
	if k.IsContainer() {
		c, ok := readContainer(b)
		switch {
		case !ok:
			return mix(0, 1)
		case k == KindArray:
			return h.array(&c, depth)
		}
		return h.object(&c, depth)
	}
	var s Scalar
	n := readScalar(b, &s)
	if h.budget -= n - 1; n == 0 || h.budget < 0 {
		return mix(0, 2)
	}
	return hashScalar(&s)
}

func (h *hasher) array(c *container, depth int) uint64 {
	sum := mix(uint64(classes[KindArray]), uint64(c.n))
	for i := 0; i < c.n && h.budget >= 0; i++ {
		sum = mix(sum, h.value(c.child(i), depth+1))
	}
	return sum
}

// object adds its fields up, so that their order does not matter.
func (h *hasher) object(c *container, depth int) uint64 {
	var sum uint64
	for i := 0; i < c.n && h.budget >= 0; i++ {
		name, _ := h.dict.name(c.id(i))
		sum += mix(hashName(name), h.value(c.child(i), depth+1))
	}
	return mix(uint64(classes[KindObject])+uint64(c.n)<<8, sum)
}

// hashName hashes of a long name the length and both ends, because a name is stored
// once and may come any number of times.
func hashName(name []byte) uint64 {
	const end = 2 * longName
	n := uint64(len(name))
	if len(name) <= 2*end {
		return hashBytes(n, name)
	}
	return hashBytes(hashBytes(n, name[:end]), name[len(name)-end:])
}

func hashScalar(s *Scalar) uint64 {
	class := uint64(classes[s.Kind])
	switch s.Kind {
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return hashDecimal(class, DecimalOf(s.Int))
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return hashDecimal(class, s.Dec().Trim())
	case KindFloat, KindDouble:
		x := s.Float
		switch {
		case x == 0:
			x = 0 // -0 equals 0
		case math.IsNaN(x):
			x = math.NaN()
		}
		return mix(class, math.Float64bits(x))
	case KindTimestamp, KindTimestampNanos, KindTimestampNTZ, KindTimestampNTZNanos:
		micros, nanos := instant(s)
		return mix(class+uint64(nanos)<<8, uint64(micros))
	case KindString, KindBinary, KindUUID:
		return hashBytes(class, s.Bytes)
	case KindBool, KindDate, KindTime:
		return mix(class, uint64(s.Int))
	case KindMissing, KindNull, KindArray, KindObject:
	}
	return mix(class, 0)
}

// hashDecimal hashes a trimmed number.
func hashDecimal(class uint64, d Decimal) uint64 {
	if d.Sign() == 0 {
		d.Scale = 0
	}
	return mix(mix(class+uint64(d.Scale)<<8, d.Lo), uint64(d.Hi))
}

func hashBytes(seed uint64, b []byte) uint64 {
	sum := mix(seed, uint64(len(b)))
	for ; len(b) >= 8; b = b[8:] {
		sum = mix(sum, binary.LittleEndian.Uint64(b))
	}
	var tail uint64
	for i, x := range b {
		tail |= uint64(x) << (8 * i)
	}
	return mix(sum, tail)
}
