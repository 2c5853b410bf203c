package deletevec

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// denseWord is the number of deleted rows in a word from which copying live
// rows one by one beats copying the stretches between the deleted ones; for
// strings, denseStrings.
const (
	denseWord    = 6
	denseStrings = 20
)

func (f *filter) buffer(size int) *memory.Buffer {
	b := memory.NewResizableBuffer(f.mem)
	b.Resize(size)
	return b
}

// fixed compacts the values of a type of width bytes.
func (f *filter) fixed(width int, data arrow.ArrayData) *memory.Buffer {
	out := f.buffer(width * f.Live())
	src := data.Buffers()[1].Bytes()[width*data.Offset():][:width*f.rows]
	dst := out.Bytes()
	switch width {
	case 1:
		compact(dst, src, f.words)
	case 2:
		compact(arrow.Uint16Traits.CastFromBytes(dst), arrow.Uint16Traits.CastFromBytes(src), f.words)
	case 4:
		compact(arrow.Uint32Traits.CastFromBytes(dst), arrow.Uint32Traits.CastFromBytes(src), f.words)
	case 8:
		compact(arrow.Uint64Traits.CastFromBytes(dst), arrow.Uint64Traits.CastFromBytes(src), f.words)
	case 16:
		compact(arrow.Decimal128Traits.CastFromBytes(dst), arrow.Decimal128Traits.CastFromBytes(src), f.words)
	default:
		for s := (stretches{words: f.words, rows: f.rows}); s.next(); {
			if !s.deleted {
				dst = dst[copy(dst, src[width*s.from:width*s.to]):]
			}
		}
	}
	return out
}

// compact copies the values of src whose bit is not set to dst, which has room
// for exactly these.
func compact[T any](dst, src []T, deleted []uint64) {
	j, from := 0, 0 // src[from:] is not yet copied
	for i, w := range deleted {
		if w == 0 {
			continue
		}
		base := i << 6
		if bits.OnesCount64(w) >= denseWord {
			j += copy(dst[j:], src[from:base])
			from = min(base+64, len(src))
			j += compactWord(dst[j:], src[base:from], w)
			continue
		}
		for ; w != 0; w &= w - 1 {
			p := base + bits.TrailingZeros64(w)
			j += copy(dst[j:], src[from:p])
			from = p + 1
		}
	}
	copy(dst[j:], src[from:])
}

// compactWord is compact for the rows of one word.
func compactWord[T any](dst, src []T, deleted uint64) int {
	j, live := 0, ^deleted
	if len(src) == 64 && len(dst) >= 64 {
		// Every value is stored and the next one overwrites it when it was
		// not live: no branch to mispredict.
		in, out := (*[64]T)(src), (*[64]T)(dst)
		for i := range in {
			out[j&63] = in[i]
			j += int(live & 1)
			live >>= 1
		}
		return j
	}
	for i := range src {
		if live>>i&1 == 1 {
			dst[j] = src[i]
			j++
		}
	}
	return j
}

// validity compacts the null bits; no buffer when no null is left.
func (f *filter) validity(data arrow.ArrayData) (*memory.Buffer, int) {
	if data.NullN() == 0 || len(data.Buffers()) == 0 || data.Buffers()[0] == nil {
		return nil, 0
	}
	out := f.bits(data.Buffers()[0], data.Offset())
	valid := 0
	for _, b := range out.Bytes() {
		valid += bits.OnesCount8(b)
	}
	if valid == f.Live() {
		out.Release()
		return nil, 0
	}
	return out, f.Live() - valid
}

// bits compacts a bitmap whose first row is bit offset of src. The bits after
// the last row are zero.
func (f *filter) bits(src *memory.Buffer, offset int) *memory.Buffer {
	// Words are stored whole, and one further when a value straddles two.
	out := f.buffer((f.Live()+63)/64*8 + 8)
	dst, in := out.Bytes(), src.Bytes()
	clear(dst)
	j := 0
	for i, w := range f.words {
		n := min(64, f.rows-i<<6)
		x := loadBits(in, offset+i<<6) & (^uint64(0) >> (64 - n))
		n -= bits.OnesCount64(w)
		x = dropBits(x, w)
		word, shift := j>>6<<3, j&63
		le.PutUint64(dst[word:], le.Uint64(dst[word:])|x<<shift)
		if shift+n > 64 {
			le.PutUint64(dst[word+8:], x>>(64-shift))
		}
		j += n
	}
	out.Resize((f.Live() + 7) / 8)
	return out
}

// dropBits removes the deleted bits of x and closes the gaps.
func dropBits(x, deleted uint64) uint64 {
	for deleted != 0 {
		// The highest first, so that the lower ones keep their places.
		p := 63 - bits.LeadingZeros64(deleted)
		below := uint64(1)<<p - 1
		x = x&below | x>>1&^below
		deleted &= below
	}
	return x
}

// loadBits returns the 64 bits from bit at of b; bits beyond b are zero.
func loadBits(b []byte, at int) uint64 {
	i, s := at>>3, at&7
	var lo, hi uint64
	if i+9 <= len(b) {
		lo, hi = le.Uint64(b[i:]), uint64(b[i+8])
	} else {
		var pad [9]byte
		copy(pad[:], b[min(i, len(b)):])
		lo, hi = le.Uint64(pad[:]), uint64(pad[8])
	}
	if s == 0 {
		return lo
	}
	return lo>>s | hi<<(64-s)
}

func offsetWidth[T int32 | int64]() int {
	if T(1)<<31 < 0 {
		return 4
	}
	return 8
}

// offsetsOf returns the rows+1 offsets of a column of variable width.
func offsetsOf[T int32 | int64](data arrow.ArrayData, cast func([]byte) []T, rows int) []T {
	return cast(data.Buffers()[1].Bytes())[data.Offset():][:rows+1]
}

// varBinary compacts strings: new offsets, and the bytes of the live rows.
func varBinary[T int32 | int64](f *filter, data arrow.ArrayData, cast func([]byte) []T) []*memory.Buffer {
	c := stringRows[T]{offsets: offsetsOf(data, cast, f.rows)}
	size := c.offsets[f.rows] - c.offsets[0]
	for i, w := range f.words {
		for ; w != 0; w &= w - 1 {
			p := i<<6 + bits.TrailingZeros64(w)
			size -= c.offsets[p+1] - c.offsets[p]
		}
	}
	out, values := f.buffer((f.Live()+1)*offsetWidth[T]()), f.buffer(int(size))
	c.out, c.dst = cast(out.Bytes()), values.Bytes()
	if b := data.Buffers()[2]; b != nil {
		c.src = b.Bytes()
	}
	c.compact(f.words)
	return []*memory.Buffer{out, values}
}

// stringRows compacts one column of variable width.
type stringRows[T int32 | int64] struct {
	offsets  []T // of all rows
	src, dst []byte
	out      []T // offsets of the live rows; out[0] is 0
	n        int // live rows done
}

func (c *stringRows[T]) compact(deleted []uint64) {
	c.out[0] = 0
	from, rows := 0, len(c.offsets)-1
	for i, w := range deleted {
		if w == 0 {
			continue
		}
		base, dense := i<<6, bits.OnesCount64(w) >= denseStrings
		if dense {
			c.stretch(from, base)
			from = min(base+64, rows)
			c.word(base, from, w)
			continue
		}
		for ; w != 0; w &= w - 1 {
			p := base + bits.TrailingZeros64(w)
			c.stretch(from, p)
			from = p + 1
		}
	}
	c.stretch(from, rows)
}

// stretch copies the rows from..to-1, all of them live.
func (c *stringRows[T]) stretch(from, to int) {
	if from == to {
		return
	}
	at := c.out[c.n]
	copy(c.dst[at:], c.src[c.offsets[from]:c.offsets[to]])
	shift := at - c.offsets[from]
	live := c.offsets[from+1 : to+1]
	out := c.out[c.n+1:][:len(live)]
	for i, o := range live {
		out[i] = o + shift
	}
	c.n += len(live)
}

// word copies the live rows among from..to-1, a whole word of them.
func (c *stringRows[T]) word(from, to int, deleted uint64) {
	at := c.out[c.n]
	for p := from; p < to; p++ {
		if deleted>>(p-from)&1 == 1 {
			continue
		}
		at += T(copy(c.dst[at:], c.src[c.offsets[p]:c.offsets[p+1]]))
		c.n++
		c.out[c.n] = at
	}
}

// compactOffsets writes the offsets of the live rows, counted from 0.
func compactOffsets[T int32 | int64](dst, src []T, m *Mask) {
	j := 0
	dst[0] = 0
	for s := (stretches{words: m.words, rows: m.rows}); s.next(); {
		if s.deleted {
			continue
		}
		shift := dst[j] - src[s.from]
		live := src[s.from+1 : s.to+1]
		out := dst[j+1:][:len(live)]
		for i, o := range live {
			out[i] = o + shift
		}
		j += len(live)
	}
}
