package pq

import (
	"encoding/binary"
	"math"

	"github.com/frazil/frazil/internal/leaf"
)

// prepare chooses the chunk's encoding and lays out what it needs: the
// dictionary and the indexes, or the byte strings as a dense list.
func (e *chunkEncoder) prepare(c *column) {
	switch c.Node.Type {
	case leaf.Bool:
		// Bits under the codec are as small as RLE, which Iceberg's vectorized
		// reader refuses for booleans.
		c.enc = encPlain
	case leaf.Int32, leaf.Int64, leaf.Float, leaf.Double:
		e.prepareNumbers(c)
	case leaf.Bytes, leaf.Fixed, leaf.Int96:
		e.prepareBytes(c)
	case leaf.Group:
		panic("BUG: a group has no values")
	}
}

func (e *chunkEncoder) prepareNumbers(c *column) {
	e.numbers = appendNumberBits(e.numbers[:0], c.Buffer)
	width := plainWidth(c.Node)
	enc, cost := e.choose.number(c.Buffer, e.numbers, e.opts)
	c.enc = enc
	limit := min(e.opts.DictionaryBytes/width, len(e.numbers)/2+1)
	if limit <= 0 || len(e.numbers) == 0 || e.choose.mostlyDistinct(e.numbers) {
		return
	}
	var ok bool
	e.index, ok = e.ndict.build(e.index, e.numbers, limit)
	if n := len(e.ndict.entries); ok && dictionaryBits(n, width, len(e.numbers)) <= cost {
		c.enc, c.index, c.dict = encDictionary, e.index, n
	}
}

// appendNumberBits appends the plain bits of all numbers of b.
func appendNumberBits(dst []uint64, b *leaf.Buffer) []uint64 {
	switch b.Node.Type {
	case leaf.Int32:
		for _, v := range b.Int32s {
			dst = append(dst, uint64(uint32(v)))
		}
	case leaf.Int64:
		for _, v := range b.Int64s {
			dst = append(dst, uint64(v))
		}
	case leaf.Float:
		for _, v := range b.Floats {
			dst = append(dst, uint64(math.Float32bits(v)))
		}
	case leaf.Double:
		for _, v := range b.Doubles {
			dst = append(dst, math.Float64bits(v))
		}
	case leaf.Group, leaf.Bool, leaf.Int96, leaf.Bytes, leaf.Fixed:
	}
	return dst
}

func (e *chunkEncoder) prepareBytes(c *column) {
	c.enc = encPlain
	if c.Node.Type == leaf.Bytes && !e.opts.PlainOnly {
		c.enc = encDeltaLength
	}
	c.bytes = byteValues{offsets: c.Offsets, data: c.Data}
	if c.bytes.data == nil {
		c.bytes.data = []byte{}
	}
	if c.Indexed {
		if e.indexedPays(c) {
			e.useDictionary(c, c.Index)
			return
		}
		c.bytes = e.gatherBytes(c)
		return
	}
	if c.values == 0 || e.opts.DictionaryBytes < 0 || e.bytesMostlyDistinct(c.bytes) {
		return
	}
	var ok bool
	e.index, ok = e.bdict.build(e.index, c.bytes, min(e.opts.DictionaryBytes, c.bytes.size()*3/4+4*c.values))
	if !ok || 2*len(e.bdict.first) > c.values+1 {
		return
	}
	c.bytes = e.entries(c.bytes)
	e.useDictionary(c, e.index)
}

func (e *chunkEncoder) useDictionary(c *column, index []uint32) {
	c.enc, c.index, c.dict = encDictionary, index, c.bytes.len()
	if len(e.used) < c.dict {
		e.used = make([]bool, c.dict+c.dict/2)
	}
}

// indexedPays reports that a dictionary which the producer has built is worth
// keeping.
func (e *chunkEncoder) indexedPays(c *column) bool {
	entries := c.bytes.len()
	return c.values > 0 && c.bytes.size()+4*entries <= e.opts.DictionaryBytes && 2*entries <= c.values+1
}

// gatherBytes lists the values of an indexed buffer one by one.
func (e *chunkEncoder) gatherBytes(c *column) byteValues {
	g := &e.gather
	g.offsets, g.data = append(g.offsets[:0], 0), g.data[:0]
	for _, i := range c.Index {
		g.data = append(g.data, c.bytes.at(int(i))...)
		g.offsets = append(g.offsets, uint32(len(g.data)))
	}
	if g.data == nil {
		g.data = []byte{}
	}
	return *g
}

// entries lists the entries of the dictionary that was built from v.
func (e *chunkEncoder) entries(v byteValues) byteValues {
	g := &e.gather
	g.offsets, g.data = append(g.offsets[:0], 0), g.data[:0]
	for _, i := range e.bdict.first {
		g.data = append(g.data, v.at(int(i))...)
		g.offsets = append(g.offsets, uint32(len(g.data)))
	}
	if g.data == nil {
		g.data = []byte{}
	}
	return *g
}

// bytesMostlyDistinct is as mostlyDistinct of chooser.
func (e *chunkEncoder) bytesMostlyDistinct(v byteValues) bool {
	n := v.len()
	if n < 64 {
		return false
	}
	stretches, stretch := sampleStretches, sampleStretch
	if n <= stretches*stretch {
		stretches, stretch = 1, n
	}
	e.bdict.reset()
	for k := range stretches {
		from := k * ((n - stretch) / max(stretches-1, 1))
		for i := from; i < from+stretch; i++ {
			e.bdict.entry(v, v.at(i), i)
		}
	}
	return 2*len(e.bdict.first) > stretches*stretch
}

// appendValues appends the page's values to e.page and returns the encoding to
// declare.
func (e *chunkEncoder) appendValues(c *column, p pageSpan) encoding {
	from, to := p.value, p.value+p.values
	switch c.enc {
	case encDictionary:
		width := indexWidth(c.dict)
		e.page = append(e.page, byte(width))
		e.page = appendIndexes(e.page, c.index[from:to], uint(width))
	case encDelta:
		if c.Node.Type == leaf.Int32 {
			e.page = appendDelta(e.page, c.Int32s[from:to])
		} else {
			e.page = appendDelta(e.page, c.Int64s[from:to])
		}
	case encDeltaLength:
		e.page = e.appendDeltaLength(e.page, c.bytes.slice(from, to))
	case encPlain:
		e.appendPlain(c, from, to)
	default:
		panic("BUG: an encoding that is never chosen")
	}
	return c.enc
}

func (e *chunkEncoder) appendPlain(c *column, from, to int) {
	switch {
	case c.Node.Type == leaf.Bool:
		e.page = appendPlainBools(e.page, c.Bools[from:to])
	case c.isBytes():
		e.page = appendPlainBytes(e.page, c.Node, c.bytes.slice(from, to))
	default:
		e.page = appendPlainBits(e.page, e.numbers[from:to], plainWidth(c.Node))
	}
}

// appendPlainBits appends numbers of 4 or 8 bytes.
func appendPlainBits(dst []byte, v []uint64, width int) []byte {
	n := len(dst)
	dst = growKeep(dst, n+width*len(v))
	out := dst[n:]
	if width == 4 {
		for i, x := range v {
			binary.LittleEndian.PutUint32(out[4*i:], uint32(x))
		}
		return dst
	}
	for i, x := range v {
		binary.LittleEndian.PutUint64(out[8*i:], x)
	}
	return dst
}

// appendPlainBytes appends byte strings with their lengths, or without where
// the type fixes the length.
func appendPlainBytes(dst []byte, n *leaf.Node, v byteValues) []byte {
	if v.len() == 0 {
		return dst
	}
	if n.Type != leaf.Bytes {
		return append(dst, v.data[v.offsets[0]:v.offsets[len(v.offsets)-1]]...)
	}
	for i := range v.len() {
		x := v.at(i)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(x)))
		dst = append(dst, x...)
	}
	return dst
}

func appendPlainBools(dst []byte, v []bool) []byte {
	for ; len(v) > 0; v = v[min(8, len(v)):] {
		b := byte(0)
		for i, x := range v[:min(8, len(v))] {
			if x {
				b |= 1 << i
			}
		}
		dst = append(dst, b)
	}
	return dst
}

func (e *chunkEncoder) appendDeltaLength(dst []byte, v byteValues) []byte {
	e.lengths = e.lengths[:0]
	for i := range v.len() {
		e.lengths = append(e.lengths, int32(v.offsets[i+1]-v.offsets[i]))
	}
	dst = appendDelta(dst, e.lengths)
	if v.len() == 0 {
		return dst
	}
	return append(dst, v.data[v.offsets[0]:v.offsets[len(v.offsets)-1]]...)
}
