package pq

import (
	"encoding/binary"

	"github.com/frazil/frazil/internal/leaf"
)

// dictionary is the decoded dictionary page of a chunk: one field is set, that
// of the leaf's type.
type dictionary struct {
	loaded  bool
	n       int
	int32s  []int32
	int64s  []int64
	floats  []float32
	doubles []float64
	bytes   *leaf.Dict
}

// setDictionary decodes the dictionary page. The result shares no memory with
// the page.
func (c *ColumnReader) setDictionary(h *pageHeader, body []byte) error {
	if c.dict.loaded {
		return corruptf("the column chunk has two dictionaries")
	}
	if h.enc != encPlain && h.enc != encPlainDictionary {
		return unsupportedf("a dictionary in encoding %d", h.enc)
	}
	body, err := c.decompress(h, body)
	if err != nil {
		return err
	}
	d := &c.dict
	d.loaded, d.n = true, int(h.values)
	if width := plainWidth(c.info.Node); width > 0 {
		if int64(len(body)/width) < h.values {
			return corruptf("a dictionary of %d values in %d bytes", h.values, len(body))
		}
		body = body[:d.n*width]
	}
	switch c.info.Node.Type {
	case leaf.Int32:
		d.int32s = appendInt32s(nil, body)
	case leaf.Int64:
		d.int64s = appendInt64s(nil, body)
	case leaf.Float:
		d.floats = appendFloats(nil, body)
	case leaf.Double:
		d.doubles = appendDoubles(nil, body)
	case leaf.Int96, leaf.Fixed:
		d.bytes = fixedDict(body, d.n, plainWidth(c.info.Node))
	case leaf.Bytes:
		d.bytes, err = bytesDictOf(body, d.n)
	case leaf.Bool:
		return unsupportedf("a dictionary of booleans")
	case leaf.Group:
		panic("BUG: a group has no values")
	}
	return err
}

func fixedDict(body []byte, n, width int) *leaf.Dict {
	d := &leaf.Dict{Data: append([]byte{}, body...), Offsets: make([]uint32, n+1)}
	for i := range d.Offsets {
		d.Offsets[i] = uint32(i * width)
	}
	return d
}

func bytesDictOf(body []byte, n int) (*leaf.Dict, error) {
	if n > len(body)/4 {
		return nil, corruptf("a dictionary of %d values in %d bytes", n, len(body))
	}
	d := &leaf.Dict{Data: make([]byte, 0, len(body)-4*n), Offsets: make([]uint32, 1, n+1)}
	for range n {
		if len(body) < 4 {
			return nil, corruptf("the dictionary ends early")
		}
		size := uint64(binary.LittleEndian.Uint32(body))
		if size > uint64(len(body)-4) {
			return nil, corruptf("a dictionary value of %d bytes with %d left", size, len(body)-4)
		}
		d.Data = append(d.Data, body[4:4+size]...)
		d.Offsets = append(d.Offsets, uint32(len(d.Data)))
		body = body[4+size:]
	}
	return d, nil
}

// loadDictionary reads the dictionary page, when there is one before the first
// data page, without moving on.
func (c *ColumnReader) loadDictionary(firstPage int64) error {
	if c.dict.loaded || c.next >= firstPage {
		return nil
	}
	next := c.next
	h, body, err := c.nextBody()
	if err != nil {
		return err
	}
	c.next = next
	if h.typ != pageDictionary {
		return nil
	}
	return c.setDictionary(&h, body)
}

// readIndexed appends n dictionary-encoded values.
func (c *ColumnReader) readIndexed(b *leaf.Batch, n int) error {
	d := &c.dict
	if !d.loaded {
		return corruptf("dictionary-encoded values without a dictionary")
	}
	if d.bytes != nil && len(b.Offsets) == 0 {
		at := len(b.Index)
		b.Index = growKeep(b.Index, at+n)
		b.Dict = d.bytes
		return c.page.hybrid.indexes(b.Index[at:], d.n)
	}
	c.indexes = grow(c.indexes, n)
	if err := c.page.hybrid.indexes(c.indexes, d.n); err != nil {
		return err
	}
	switch c.info.Node.Type {
	case leaf.Int32:
		b.Int32s = gather(b.Int32s, d.int32s, c.indexes)
	case leaf.Int64:
		b.Int64s = gather(b.Int64s, d.int64s, c.indexes)
	case leaf.Float:
		b.Floats = gather(b.Floats, d.floats, c.indexes)
	case leaf.Double:
		b.Doubles = gather(b.Doubles, d.doubles, c.indexes)
	case leaf.Bytes, leaf.Fixed, leaf.Int96:
		return gatherBytes(b, d.bytes, c.indexes)
	case leaf.Group, leaf.Bool:
	}
	return nil
}

func gather[T any](dst, dict []T, indexes []int32) []T {
	at := len(dst)
	dst = growKeep(dst, at+len(indexes))
	out := dst[at:]
	for i, x := range indexes {
		out[i] = dict[x]
	}
	return dst
}

func gatherBytes(b *leaf.Batch, d *leaf.Dict, indexes []int32) error {
	startOffsets(b)
	for _, x := range indexes {
		if err := addData(b, d.Value(int(x))); err != nil {
			return err
		}
	}
	return nil
}

// unindex turns the batch's dictionary indexes into values, because the next
// values of the batch are not dictionary encoded.
func (c *ColumnReader) unindex(b *leaf.Batch) error {
	if b.Dict == nil {
		return nil
	}
	d := b.Dict
	b.Dict = nil
	err := gatherBytes(b, d, b.Index)
	b.Index = b.Index[:0]
	return err
}
