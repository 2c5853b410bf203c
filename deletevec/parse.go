package deletevec

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
)

// ParseBlob checks a deletion-vector-v1 blob in full and returns the vector as
// a view of it: b must not change while the vector is in use, and the vector
// copies what it changes. Every error Is [ErrCorrupt] and an [*Error] whose
// offset counts from the start of b. Memory stays below four times the blob.
//
// A blob that holds no position is an error too: a data file without deleted
// rows has no vector, and one that claims to have one was written wrongly.
func ParseBlob(b []byte) (*Vector, error) {
	v := new(Vector)
	if err := v.parse(b); err != nil {
		return nil, err
	}
	return v, nil
}

// parse makes v the vector of a blob. v keeps its slices; after an error its
// contents mean nothing.
func (v *Vector) parse(b []byte) error {
	if len(b) < minBlob {
		return corrupt(0, "blob of %d bytes, the smallest has %d", len(b), minBlob)
	}
	if n, want := binary.BigEndian.Uint32(b), len(b)-lengthBytes-crcBytes; uint64(n) != uint64(want) {
		return corrupt(0, "length field says %d bytes of magic and vector, there are %d", n, want)
	}
	body := b[lengthBytes : len(b)-crcBytes]
	if string(body[:len(blobMagic)]) != blobMagic {
		return corrupt(lengthBytes, "magic %x, want %x", body[:len(blobMagic)], blobMagic)
	}
	if got, want := crc32.ChecksumIEEE(body), binary.BigEndian.Uint32(b[len(b)-crcBytes:]); got != want {
		return corrupt(len(b)-crcBytes, "checksum %08x, computed %08x", want, got)
	}
	v.keys, v.cs = v.keys[:0], v.cs[:0]
	d := decoder{b: b[:len(b)-crcBytes], at: lengthBytes + len(blobMagic), v: v}
	return d.vector()
}

// decoder walks the bytes of the vector. at never passes the end of b.
type decoder struct {
	b  []byte
	at int
	v  *Vector
}

func (d *decoder) left() int { return len(d.b) - d.at }

func (d *decoder) take(n int, what string) ([]byte, error) {
	if d.left() < n {
		return nil, corrupt(d.at, "%s needs %d bytes, %d left", what, n, d.left())
	}
	out := d.b[d.at : d.at+n : d.at+n]
	d.at += n
	return out, nil
}

func (d *decoder) uint32(what string) (uint32, error) {
	b, err := d.take(4, what)
	if err != nil {
		return 0, err
	}
	return le.Uint32(b), nil
}

// vector reads the directory: a count, then key and 32-bit bitmap in turn.
func (d *decoder) vector() error {
	b, err := d.take(8, "count of bitmaps")
	if err != nil {
		return err
	}
	count, last := le.Uint64(b), int64(-1)
	for ; count > 0; count-- {
		at := d.at
		key, err := d.uint32("key of a bitmap")
		switch {
		case err != nil:
			return err
		case key > math.MaxInt32:
			return corrupt(at, "key %#x: positions end below 2^63", key)
		case int64(key) <= last:
			return corrupt(at, "key %d after key %d", key, last)
		}
		last = int64(key)
		if err := d.bitmap32(uint64(key) << chunkBits); err != nil {
			return err
		}
	}
	if d.left() > 0 {
		return corrupt(d.at, "%d bytes after the last bitmap", d.left())
	}
	if d.v.IsEmpty() {
		return corrupt(lengthBytes+len(blobMagic), "no position in the vector")
	}
	return nil
}

// layout is the head of a 32-bit bitmap: which containers it has, not yet
// their data.
type layout struct {
	start   int    // offset of the bitmap in the blob
	n       int    // containers
	flags   []byte // bit i: container i is stored as runs; nil without any
	heads   []byte // 4 bytes each: low half of the chunk, cardinality-1
	offsets []byte // 4 bytes each, from start; nil when there is no table
}

func (d *decoder) layout() (l layout, err error) {
	l.start = d.at
	cookie, err := d.uint32("cookie")
	if err != nil {
		return l, err
	}
	switch {
	case cookie == cookieNoRuns:
		n, err := d.uint32("count of containers")
		if err != nil {
			return l, err
		}
		if n > chunkSize {
			return l, corrupt(d.at-4, "%d containers, at most %d", n, chunkSize)
		}
		l.n = int(n)
	case cookie&0xFFFF == cookieRuns:
		l.n = int(cookie>>16) + 1
		if l.flags, err = d.take((l.n+7)/8, "run flags"); err != nil {
			return l, err
		}
	default:
		return l, corrupt(l.start, "cookie %#x of no Roaring bitmap", cookie)
	}
	if l.heads, err = d.take(4*l.n, "container heads"); err != nil {
		return l, err
	}
	if l.flags == nil || l.n >= minOffsets {
		l.offsets, err = d.take(4*l.n, "container offsets")
	}
	return l, err
}

// bitmap32 reads one 32-bit bitmap. One without containers is allowed: some
// writers fill the keys between two that are used.
func (d *decoder) bitmap32(high uint64) error {
	l, err := d.layout()
	if err != nil {
		return err
	}
	d.v.keys = slices.Grow(d.v.keys, l.n)
	d.v.cs = slices.Grow(d.v.cs, l.n)
	last := -1
	for i := range l.n {
		head := le.Uint32(l.heads[4*i:])
		chunk, card := int(head&0xFFFF), int(head>>16)+1
		if chunk <= last {
			return corrupt(l.start, "container %d: chunk %d after chunk %d", i, chunk, last)
		}
		last = chunk
		if l.offsets != nil {
			if at := int64(le.Uint32(l.offsets[4*i:])); at != int64(d.at-l.start) {
				return corrupt(d.at, "container %d lies here, the offset table says %d, not %d", i, at, d.at-l.start)
			}
		}
		isRuns := l.flags != nil && l.flags[i/8]>>(i%8)&1 == 1
		c, err := d.container(card, isRuns)
		if err != nil {
			return err
		}
		d.v.keys = append(d.v.keys, high|uint64(chunk))
		d.v.cs = append(d.v.cs, c)
	}
	return nil
}

func (d *decoder) container(card int, isRuns bool) (c container, err error) {
	at := d.at
	c = container{view: true, card: int32(card)}
	switch {
	case isRuns:
		c.kind = kindRuns
		var n []byte
		if n, err = d.take(2, "count of runs"); err != nil {
			return c, err
		}
		if c.data, err = d.take(4*int(le.Uint16(n)), "runs"); err == nil && !c.validRuns() {
			err = corrupt(at, "runs overlap, descend or do not hold %d positions", card)
		}
	case card <= maxArray:
		c.kind = kindArray
		if c.data, err = d.take(2*card, "array"); err == nil && !ascends(c.data) {
			err = corrupt(at, "array of %d positions does not ascend", card)
		}
	default:
		c.kind = kindBitmap
		if c.data, err = d.take(bitsBytes, "bitmap"); err == nil && !c.validBitmap() {
			err = corrupt(at, "bitmap does not hold %d positions", card)
		}
	}
	return c, err
}

func (c *container) validRuns() bool {
	card, end := 0, -1
	for i := range c.runs() {
		first, last := c.run(i)
		if first <= end || last >= chunkSize {
			return false
		}
		card += last - first + 1
		end = last
	}
	return card == int(c.card)
}

func (c *container) validBitmap() bool { return c.countBits() == int(c.card) }

// ascends reports whether the 16-bit values ascend strictly. It compares four
// neighbours at a time: of two values x and y with the same top bit, x < y
// exactly when y - x + 0x7FFF has the top bit, and no lane of a word disturbs
// the next. An ascending array changes its top bit once; the block where it does
// is compared value by value.
func ascends(b []byte) bool {
	const (
		top   = 0x8000_8000_8000_8000
		below = 0x7FFF_7FFF_7FFF_7FFF
	)
	for ; len(b) >= 34; b = b[32:] {
		p := (*[34]byte)(b)
		x, y := le.Uint64(p[0:]), le.Uint64(p[2:])
		less, differ := y-x+below, x^y
		x, y = le.Uint64(p[8:]), le.Uint64(p[10:])
		less, differ = less&(y-x+below), differ|x^y
		x, y = le.Uint64(p[16:]), le.Uint64(p[18:])
		less, differ = less&(y-x+below), differ|x^y
		x, y = le.Uint64(p[24:]), le.Uint64(p[26:])
		less, differ = less&(y-x+below), differ|x^y
		if less&^differ&top != top && !ascendsSlow(p[:]) {
			return false
		}
	}
	return ascendsSlow(b)
}

func ascendsSlow(b []byte) bool {
	for ; len(b) >= 4; b = b[2:] {
		if le.Uint16(b) >= le.Uint16(b[2:]) {
			return false
		}
	}
	return true
}
