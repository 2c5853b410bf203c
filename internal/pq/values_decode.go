package pq

import (
	"encoding/binary"
	"math"

	"github.com/frazil/frazil/internal/leaf"
)

// readValues appends n values of the current page to b.
func (c *ColumnReader) readValues(b *leaf.Batch, n int) error {
	switch c.page.enc {
	case encDictionary:
		return c.readIndexed(b, n)
	case encRLE:
		at := len(b.Bools)
		b.Bools = growKeep(b.Bools, at+n)
		return c.page.hybrid.bools(b.Bools[at:])
	case encPlain:
		return c.readPlain(b, n)
	case encDelta, encDeltaLength, encDeltaBytes:
		return c.readDecoded(b, n)
	case encPlainDictionary, encBitPacked, encByteStreamSplit, encALP:
	}
	panic("BUG: a page was started in an encoding that is not read")
}

// skipValues passes over n values of the current page.
func (c *ColumnReader) skipValues(n int) error {
	p := &c.page
	switch p.enc {
	case encDictionary, encRLE:
		return p.hybrid.skip(n)
	case encPlain:
		return c.skipPlain(n)
	case encDelta, encDeltaLength, encDeltaBytes:
		p.decoded += n
		return nil
	case encPlainDictionary, encBitPacked, encByteStreamSplit, encALP:
	}
	panic("BUG: a page was started in an encoding that is not read")
}

func (c *ColumnReader) skipPlain(n int) error {
	p := &c.page
	switch c.info.Node.Type {
	case leaf.Bool:
		p.bit += uint(n)
		return nil
	case leaf.Bytes:
		for range n {
			size, err := p.nextLength()
			if err != nil {
				return err
			}
			p.plain = p.plain[size:]
		}
		return nil
	case leaf.Group, leaf.Int32, leaf.Int64, leaf.Int96, leaf.Float, leaf.Double, leaf.Fixed:
	}
	_, err := p.takePlain(n, plainWidth(c.info.Node))
	return err
}

// nextLength takes the length of the next plain byte string, which is there.
func (p *page) nextLength() (int, error) {
	if len(p.plain) < 4 {
		return 0, errValuesShort()
	}
	size := binary.LittleEndian.Uint32(p.plain)
	if uint64(size) > uint64(len(p.plain)-4) {
		return 0, corruptf("a value of %d bytes in a page with %d left", size, len(p.plain)-4)
	}
	p.plain = p.plain[4:]
	return int(size), nil
}

func errValuesShort() error { return corruptf("a page has fewer values than its levels stand for") }

// takePlain takes n plain values of width bytes.
func (p *page) takePlain(n, width int) ([]byte, error) {
	if n > len(p.plain)/width {
		return nil, errValuesShort()
	}
	v := p.plain[:n*width]
	p.plain = p.plain[n*width:]
	return v, nil
}

func (c *ColumnReader) readPlain(b *leaf.Batch, n int) error {
	p := &c.page
	switch c.info.Node.Type {
	case leaf.Bool:
		if p.bit+uint(n) > 8*uint(len(p.plain)) {
			return errValuesShort()
		}
		at := len(b.Bools)
		b.Bools = growKeep(b.Bools, at+n)
		unpackBools(b.Bools[at:], p.plain, p.bit)
		p.bit += uint(n)
		return nil
	case leaf.Bytes:
		if err := c.unindex(b); err != nil {
			return err
		}
		return c.readPlainBytes(b, n)
	case leaf.Int32, leaf.Int64, leaf.Int96, leaf.Float, leaf.Double, leaf.Fixed:
	case leaf.Group:
		panic("BUG: a group has no values")
	}
	v, err := p.takePlain(n, plainWidth(c.info.Node))
	if err != nil {
		return err
	}
	switch c.info.Node.Type {
	case leaf.Int32:
		b.Int32s = appendInt32s(b.Int32s, v)
	case leaf.Int64:
		b.Int64s = appendInt64s(b.Int64s, v)
	case leaf.Float:
		b.Floats = appendFloats(b.Floats, v)
	case leaf.Double:
		b.Doubles = appendDoubles(b.Doubles, v)
	case leaf.Int96, leaf.Fixed:
		if err := c.unindex(b); err != nil {
			return err
		}
		return c.readPlainFixed(b, v, n)
	case leaf.Group, leaf.Bool, leaf.Bytes:
	}
	return nil
}

func appendInt32s(dst []int32, v []byte) []int32 {
	at := len(dst)
	dst = growKeep(dst, at+len(v)/4)
	out := dst[at:]
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(v[4*i:]))
	}
	return dst
}

func appendInt64s(dst []int64, v []byte) []int64 {
	at := len(dst)
	dst = growKeep(dst, at+len(v)/8)
	out := dst[at:]
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(v[8*i:]))
	}
	return dst
}

func appendFloats(dst []float32, v []byte) []float32 {
	at := len(dst)
	dst = growKeep(dst, at+len(v)/4)
	out := dst[at:]
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(v[4*i:]))
	}
	return dst
}

func appendDoubles(dst []float64, v []byte) []float64 {
	at := len(dst)
	dst = growKeep(dst, at+len(v)/8)
	out := dst[at:]
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(v[8*i:]))
	}
	return dst
}

// startOffsets makes b.Offsets start with 0.
func startOffsets(b *leaf.Batch) {
	if len(b.Offsets) == 0 {
		b.Offsets = append(b.Offsets, 0)
	}
}

// addData appends one value. A batch holds less than 4 GiB of them.
func addData(b *leaf.Batch, v []byte) error {
	b.Data = append(b.Data, v...)
	if len(b.Data) > math.MaxUint32 {
		return errBatchBytes
	}
	b.Offsets = append(b.Offsets, uint32(len(b.Data)))
	return nil
}

var errBatchBytes = inputf("a batch of more than 4 GiB: read fewer rows")

func (c *ColumnReader) readPlainBytes(b *leaf.Batch, n int) error {
	startOffsets(b)
	src, data, offsets := c.page.plain, b.Data, b.Offsets
	for range n {
		if len(src) < 4 {
			return errValuesShort()
		}
		size := uint64(binary.LittleEndian.Uint32(src))
		if size > uint64(len(src)-4) {
			return corruptf("a value of %d bytes in a page with %d left", size, len(src)-4)
		}
		data = append(data, src[4:4+size]...)
		offsets = append(offsets, uint32(len(data)))
		src = src[4+size:]
	}
	c.page.plain, b.Data, b.Offsets = src, data, offsets
	if len(data) > math.MaxUint32 {
		return errBatchBytes
	}
	return nil
}

func (c *ColumnReader) readPlainFixed(b *leaf.Batch, v []byte, n int) error {
	startOffsets(b)
	width := plainWidth(c.info.Node)
	end := len(b.Data)
	if end+n*width > math.MaxUint32 {
		return errBatchBytes
	}
	b.Data = append(b.Data, v...)
	for range n {
		end += width
		b.Offsets = append(b.Offsets, uint32(end))
	}
	return nil
}

// readDecoded appends n values from the page's scratch.
func (c *ColumnReader) readDecoded(b *leaf.Batch, n int) error {
	p := &c.page
	from := p.decoded
	p.decoded += n
	s := &p.scratch
	switch {
	case c.info.Node.Type == leaf.Int32:
		if p.decoded > len(s.int32s) {
			return errValuesShort()
		}
		b.Int32s = append(b.Int32s, s.int32s[from:p.decoded]...)
		return nil
	case c.info.Node.Type == leaf.Int64:
		if p.decoded > len(s.int64s) {
			return errValuesShort()
		}
		b.Int64s = append(b.Int64s, s.int64s[from:p.decoded]...)
		return nil
	}
	if p.decoded >= len(s.offsets) {
		return errValuesShort()
	}
	if err := c.unindex(b); err != nil {
		return err
	}
	startOffsets(b)
	lo, hi := s.offsets[from], s.offsets[p.decoded]
	base := uint32(len(b.Data)) - lo
	if uint64(len(b.Data))+uint64(hi-lo) > math.MaxUint32 {
		return errBatchBytes
	}
	b.Data = append(b.Data, s.view[lo:hi]...)
	for _, o := range s.offsets[from+1 : p.decoded+1] {
		b.Offsets = append(b.Offsets, base+o)
	}
	if c.info.Node.Type == leaf.Fixed {
		return checkWidths(b.Offsets[len(b.Offsets)-n-1:], uint32(c.info.Node.Width))
	}
	return nil
}

func checkWidths(offsets []uint32, width uint32) error {
	for i := 1; i < len(offsets); i++ {
		if offsets[i]-offsets[i-1] != width {
			return corruptf("a value of %d bytes where the type has %d", offsets[i]-offsets[i-1], width)
		}
	}
	return nil
}
