package pq

import (
	"math"
	"math/bits"

	"github.com/frazil/frazil/internal/leaf"
)

// encoding is the format's number of a value encoding.
type encoding uint8

const (
	encPlain           encoding = 0
	encPlainDictionary encoding = 2
	encRLE             encoding = 3
	encBitPacked       encoding = 4
	encDelta           encoding = 5
	encDeltaLength     encoding = 6
	encDeltaBytes      encoding = 7
	encDictionary      encoding = 8
	encByteStreamSplit encoding = 9
	encALP             encoding = 10
)

// The sample from which an encoding is chosen: a few stretches of neighbours,
// because deltas need neighbours, from all over the column, because a sorted
// column has few distinct values at any one place.
const (
	sampleStretches = 4
	sampleStretch   = 256
)

// sample copies the sample of v into dst's memory; a short v is copied whole.
func sample[T any](dst, v []T) []T {
	dst = dst[:0]
	if len(v) <= sampleStretches*sampleStretch {
		return append(dst, v...)
	}
	step := (len(v) - sampleStretch) / (sampleStretches - 1)
	for i := range sampleStretches {
		dst = append(dst, v[i*step:i*step+sampleStretch]...)
	}
	return dst
}

// chooser estimates what a column costs in each encoding, in bits a value. It
// owns the sample's memory.
type chooser struct {
	ints32 []int32
	ints64 []int64
	bits   []uint64
	dict   numberDict
	index  []uint32
}

// mostlyDistinct reports that more than half of the sampled values are
// distinct: a dictionary would then be most of the column.
func (c *chooser) mostlyDistinct(values []uint64) bool {
	if len(values) < 64 {
		return false
	}
	var ok bool
	c.bits = sample(c.bits, values)
	c.index, ok = c.dict.build(c.index, c.bits, len(c.bits)/2)
	return !ok
}

// dictionaryBits estimates a dictionary with the given entries of width bytes.
func dictionaryBits(entries, width, values int) float64 {
	return float64(entries*width*8)/float64(values) + float64(indexWidth(entries))
}

// indexWidth returns the bits of an index into a dictionary.
func indexWidth(entries int) int { return bits.Len(uint(max(entries-1, 0))) }

// plainBits estimates plain values of width bytes under the codec: the order-0
// entropy of their bytes, which is what the fast levels come down to on numbers.
func plainBits(values []uint64, width int, codec Codec) float64 {
	if codec == Uncompressed || len(values) == 0 {
		return float64(8 * width)
	}
	var counts [256]int
	for _, v := range values {
		for range width {
			counts[byte(v)]++
			v >>= 8
		}
	}
	total := float64(len(values) * width)
	entropy := 0.0
	for _, n := range counts {
		if n > 0 {
			entropy += float64(n) * math.Log2(total/float64(n))
		}
	}
	return entropy / float64(len(values))
}

// deltaBits estimates DELTA_BINARY_PACKED from a sample.
func deltaBits[T integer](s []T) float64 {
	if len(s) < 2 {
		return math.Inf(1)
	}
	return float64(deltaSize(s)*8) / float64(len(s)-1)
}

// number chooses the encoding of an Int32, Int64, Float or Double column
// without regard to dictionaries, and estimates its bits a value.
func (c *chooser) number(b *leaf.Buffer, values []uint64, o *WriterOptions) (encoding, float64) {
	width := plainWidth(b.Node)
	c.bits = sample(c.bits, values)
	plain := plainBits(c.bits, width, o.Codec)
	if o.PlainOnly {
		return encPlain, plain
	}
	delta := math.Inf(1)
	switch b.Node.Type {
	case leaf.Int32:
		c.ints32 = sample(c.ints32, b.Int32s)
		delta = deltaBits(c.ints32)
	case leaf.Int64:
		c.ints64 = sample(c.ints64, b.Int64s)
		delta = deltaBits(c.ints64)
	case leaf.Group, leaf.Bool, leaf.Int96, leaf.Float, leaf.Double, leaf.Bytes, leaf.Fixed:
	}
	if delta < plain {
		return encDelta, delta
	}
	return encPlain, plain
}

// plainWidth returns the bytes of a plain value, 0 for Bool and Bytes.
func plainWidth(n *leaf.Node) int {
	switch n.Type {
	case leaf.Int32, leaf.Float:
		return 4
	case leaf.Int64, leaf.Double:
		return 8
	case leaf.Int96:
		return 12
	case leaf.Fixed:
		return n.Width
	case leaf.Group, leaf.Bool, leaf.Bytes:
	}
	return 0
}
