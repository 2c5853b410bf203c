package pq

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/frazil/frazil/internal/leaf"
)

// bloomFilter is a split block bloom filter (BloomFilter.md): blocks of eight
// words, in each of which a value sets one bit.
type bloomFilter struct {
	words []uint32 // eight a block
}

const bloomBlockBytes = 32

// bloomSalts make the eight bits of a value independent.
var bloomSalts = [8]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}

// newBloomFilter makes a filter for n distinct values within limit bytes. Where
// they suffice, it errs in at most the share fpp of the look-ups of other values.
func newBloomFilter(n int, fpp float64, limit int) *bloomFilter {
	need := float64(n) * bloomBitsPerValue(fpp) / 8
	size := bloomBlockBytes
	for float64(size) < need && 2*size <= limit {
		size *= 2
	}
	return &bloomFilter{words: make([]uint32, size/4)}
}

// bloomBitsPerValue is how many bits a value needs when each sets eight of them:
// all eight are set by others with the probability (1 - e^(-8/bits))^8.
func bloomBitsPerValue(fpp float64) float64 {
	return -8 / math.Log1p(-math.Pow(fpp, 1.0/8))
}

func (f *bloomFilter) block(hash uint64) *[8]uint32 {
	blocks := uint64(len(f.words) / 8)
	at := hash >> 32 * blocks >> 32
	return (*[8]uint32)(f.words[8*at:])
}

func (f *bloomFilter) add(hash uint64) {
	b := f.block(hash)
	for i, salt := range bloomSalts {
		b[i] |= 1 << (uint32(hash) * salt >> 27)
	}
}

func (f *bloomFilter) mayContain(hash uint64) bool {
	b := f.block(hash)
	for i, salt := range bloomSalts {
		if b[i]&(1<<(uint32(hash)*salt>>27)) == 0 {
			return false
		}
	}
	return true
}

// bloomFilter builds the filter of a chunk from its values or, where it has
// one, its dictionary. A Bool column gets none.
func (e *chunkEncoder) bloomFilter(c *column, s bloomSpec) *bloomFilter {
	width := plainWidth(c.Node)
	if c.Node.Type == leaf.Bool {
		return nil
	}
	if c.isBytes() {
		f := e.newBloomFilter(c.bytes.len(), s)
		for i := range c.bytes.len() {
			f.add(xxhash.Sum64(c.bytes.at(i)))
		}
		return f
	}
	values := e.numbers
	if c.enc == encDictionary {
		values = e.ndict.entries
	}
	f := e.newBloomFilter(len(values), s)
	for _, v := range values {
		var plain [8]byte
		binary.LittleEndian.PutUint64(plain[:], v)
		f.add(xxhash.Sum64(plain[:width]))
	}
	return f
}

// newBloomFilter makes a filter for n values, of which no more are distinct than s
// says.
func (e *chunkEncoder) newBloomFilter(n int, s bloomSpec) *bloomFilter {
	if s.ndv > 0 {
		n = min(n, s.ndv)
	}
	return newBloomFilter(n, s.fpp, e.opts.BloomFilterBytes)
}

// append appends the filter as it stands in a file: BloomFilterHeader of
// parquet.thrift and the blocks.
func (f *bloomFilter) append(dst []byte) []byte {
	w := thriftWriter{b: dst}
	w.begin()
	w.i32(1, 4*len(f.words))
	for id := int16(2); id <= 4; id++ { // the only algorithm, hash and compression
		w.structure(id)
		w.empty(1)
		w.end()
	}
	w.end()
	for _, x := range f.words {
		w.b = binary.LittleEndian.AppendUint32(w.b, x)
	}
	return w.b
}

// decodeBloomFilter decodes a filter; nil means one of an unknown kind.
func decodeBloomFilter(b []byte) (*bloomFilter, error) {
	r := &thriftReader{b: b}
	size, known := int64(0), true
	r.structure(thriftStruct, func(id int16, typ byte) bool {
		if id == 1 {
			size = r.int(typ)
			return true
		}
		r.structure(typ, func(kind int16, _ byte) bool {
			known = known && kind == 1
			return false
		})
		return true
	})
	if r.err != nil {
		return nil, asCorrupt(r.err)
	}
	rest := b[r.pos:]
	if size < bloomBlockBytes || size%bloomBlockBytes != 0 || size > int64(len(rest)) {
		return nil, corruptf("a bloom filter of %d bytes", size)
	}
	if !known {
		return nil, nil
	}
	f := &bloomFilter{words: make([]uint32, size/4)}
	for i := range f.words {
		f.words[i] = binary.LittleEndian.Uint32(rest[4*i:])
	}
	return f, nil
}
