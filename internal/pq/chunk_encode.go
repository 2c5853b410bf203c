package pq

import (
	"hash/crc32"
	"math"

	"github.com/frazil/frazil/internal/leaf"
)

// pageMeta is what the page index says about one data page.
type pageMeta struct {
	offset   int64 // from the start of the chunk until the chunk is placed
	size     int
	firstRow int64
	slots    int
	nulls    int
	lo, hi   []byte // cut bounds; nil when there are none
}

// chunkMeta is what the footer says about one column chunk.
type chunkMeta struct {
	offset       int64
	size         int64
	uncompressed int64
	slots        int
	nulls        int
	dictionary   int64 // bytes of the dictionary page, 0 when there is none
	enc          encoding
	lo, hi       []byte
	loExact      bool
	hiExact      bool
	pages        []pageMeta
	bloom        *bloomFilter
}

// chunkEncoder encodes column chunks, one after the other. It keeps its memory
// from chunk to chunk and is not safe for concurrent use.
type chunkEncoder struct {
	opts   *WriterOptions
	comp   compressor
	choose chooser

	numbers []uint64 // the chunk's numbers as plain bits
	index   []uint32
	ndict   numberDict
	bdict   bytesDict
	used    []bool
	gather  byteValues
	lengths []int32

	page   []byte // uncompressed
	header thriftWriter
	out    []byte // the chunk's pages
	levels levelCache
}

// column is a chunk on its way: the buffer and the choices made for it.
type column struct {
	*leaf.Buffer
	rows   int
	values int
	enc    encoding
	bytes  byteValues // of a Bytes, Fixed or Int96 leaf: the values, or with a dictionary its entries
	index  []uint32   // with a dictionary
	dict   int        // entries
	exact  bounds
	meta   chunkMeta
}

// encode encodes one chunk; the pages are in e.out until the next call. bloom
// says what its bloom filter is made for.
func (e *chunkEncoder) encode(b *leaf.Buffer, rows int, bloom bloomSpec) (*column, error) {
	c := &column{Buffer: b, rows: rows, values: b.Values()}
	if err := c.check(); err != nil {
		return nil, err
	}
	e.out = e.out[:0]
	e.prepare(c)
	c.meta.enc, c.meta.slots = c.enc, c.Slots
	if c.enc == encDictionary {
		if err := e.dictionaryPage(c); err != nil {
			return nil, err
		}
	}
	if err := e.dataPages(c); err != nil {
		return nil, err
	}
	c.meta.size = int64(len(e.out))
	c.meta.lo, c.meta.hi, c.meta.loExact, c.meta.hiExact = c.exact.cut(b.Node, e.opts.StatisticsBytes)
	if bloom.fpp > 0 {
		c.meta.bloom = e.bloomFilter(c, bloom)
	}
	return c, nil
}

// check guards the invariants of leaf.Buffer.
func (c *column) check() error {
	switch {
	case c.MaxDef > 0 && c.Def.Len() != c.Slots:
		return inputf("%d definition levels for %d slots", c.Def.Len(), c.Slots)
	case c.MaxRep > 0 && c.Rep.Len() != c.Slots:
		return inputf("%d repetition levels for %d slots", c.Rep.Len(), c.Slots)
	case c.MaxRep == 0 && c.Slots != c.rows:
		return inputf("%d slots for %d rows", c.Slots, c.rows)
	case c.MaxDef == 0 && c.values != c.Slots:
		return inputf("%d values for %d slots", c.values, c.Slots)
	case c.Slots < c.rows || c.Slots > math.MaxInt32:
		return inputf("%d slots for %d rows", c.Slots, c.rows)
	}
	if c.Node.Type == leaf.Fixed || c.Node.Type == leaf.Int96 {
		width := uint32(plainWidth(c.Node))
		for i := 1; i < len(c.Offsets); i++ {
			if c.Offsets[i]-c.Offsets[i-1] != width {
				return inputf("value %d has %d bytes where the type has %d", i-1, c.Offsets[i]-c.Offsets[i-1], width)
			}
		}
	}
	return nil
}

// dataPages splits the chunk at row boundaries and encodes each page.
func (e *chunkEncoder) dataPages(c *column) error {
	at := pagePosition{def: runCursor{runs: c.Def.Runs}, rep: runCursor{runs: c.Rep.Runs}}
	most := e.rowsPerPage(c)
	for at.row < c.rows {
		rows := min(most, c.rows-at.row)
		p, next := e.pageLevels(c, at, rows)
		for rows > 1 && p.value+p.values <= c.values && e.tooLarge(c, p) {
			rows /= 2
			p, next = e.pageLevels(c, at, rows)
		}
		if p.value+p.values > c.values {
			return inputf("%d values where the definition levels stand for more", c.values)
		}
		if err := e.dataPage(c, p); err != nil {
			return err
		}
		at = next
	}
	if at.slot != c.Slots || at.value != c.values {
		return inputf("%d slots and %d values in %d rows, where the levels stand for %d and %d", c.Slots, c.values, c.rows, at.slot, at.value)
	}
	return nil
}

// pagePosition is where the next page starts.
type pagePosition struct {
	row, slot, value int
	def, rep         runCursor
}

// pageLevels makes e.page the levels of the next rows, and returns what the page
// spans and where it ends.
func (e *chunkEncoder) pageLevels(c *column, at pagePosition, rows int) (pageSpan, pagePosition) {
	p := pageSpan{row: at.row, slot: at.slot, slots: rows, value: at.value}
	e.page = e.page[:0]
	if c.MaxRep > 0 {
		p.slots = e.levels.rowSlots(&at.rep, at.slot, rows)
		e.page, _ = e.levels.append(e.page, &at.rep, p, c.MaxRep)
	}
	p.values = p.slots
	if c.MaxDef > 0 {
		e.page, p.values = e.levels.append(e.page, &at.def, p, c.MaxDef)
	}
	at.row, at.slot, at.value = at.row+rows, at.slot+p.slots, at.value+p.values
	return p, at
}

// tooLarge reports that the page's values are far above PageBytes, because
// large ones stand together.
func (e *chunkEncoder) tooLarge(c *column, p pageSpan) bool {
	return c.Node.Type == leaf.Bytes && c.enc != encDictionary &&
		c.bytes.slice(p.value, p.value+p.values).size() > 2*e.opts.PageBytes
}

// pageSpan is the part of a chunk that one data page holds.
type pageSpan struct{ row, slot, slots, value, values int }

// rowsPerPage spreads the rows over pages of about PageBytes of plain values.
func (e *chunkEncoder) rowsPerPage(c *column) int {
	size := 0
	switch {
	case c.enc == encDictionary:
		size = c.values * indexWidth(c.dict) / 8
	case c.Node.Type == leaf.Bytes:
		size = c.bytes.size() + 4*c.values
	default:
		size = c.values * max(plainWidth(c.Node), 1)
	}
	size += (c.Slots - c.rows) / 4 // levels of repeated values
	pages := size/e.opts.PageBytes + 1
	return max(min(e.opts.PageRows, (c.rows+pages-1)/pages), 1)
}

// dataPage appends a data page of version 1, whose body begins in e.page with
// the levels: that version compresses them together with the values, which is
// worth a tenth of a shredded file.
//
//	+-------------+--------------------------------------------------------------+
//	| page header | compressed: [len, repetition levels] [len, def. levels] values |
//	+-------------+--------------------------------------------------------------+
func (e *chunkEncoder) dataPage(c *column, p pageSpan) error {
	levels := len(e.page)
	bodyEnc := e.appendValues(c, p)
	start := len(e.out)
	err := e.appendPage(c, func(w *thriftWriter) {
		w.structure(5)
		w.i32(1, p.slots)
		w.i32(2, int(bodyEnc))
		w.i32(3, int(encRLE))
		w.i32(4, int(encRLE))
		w.end()
	}, 0, levels)
	if err != nil {
		return err
	}
	m := pageMeta{offset: int64(start), size: len(e.out) - start, firstRow: int64(p.row), slots: p.slots, nulls: p.slots - p.values}
	if !e.opts.NoStatistics {
		b := e.pageBounds(c, p)
		c.exact.merge(c.Node, b)
		m.lo, m.hi, _, _ = b.cut(c.Node, e.opts.StatisticsBytes)
	}
	c.meta.nulls += m.nulls
	c.meta.pages = append(c.meta.pages, m)
	return nil
}

const maxPage = math.MaxInt32 / 2

// appendPage compresses e.page behind its header. typ is the format's number
// of the page type, detail writes the header's part that belongs to it, and
// the first bytes of e.page are levels.
func (e *chunkEncoder) appendPage(c *column, detail func(*thriftWriter), typ, levels int) error {
	if len(e.page) > maxPage {
		return inputf("a single row of %d bytes is too large for a page", len(e.page))
	}
	// The header is short and of unknown length, so the body is compressed
	// behind a gap that the header then fills from the right.
	const gap = 64
	start := len(e.out)
	e.out = append(e.out, make([]byte, gap)...)
	out, err := e.comp.appendParts(e.out, e.page, levels)
	if err != nil {
		return err
	}
	body := out[start+gap:]
	w := &e.header
	w.b, w.last, w.outer = w.b[:0], 0, w.outer[:0]
	w.begin()
	w.i32(1, typ)
	w.i32(2, len(e.page))
	w.i32(3, len(body))
	w.i32(4, int(int32(crc32.ChecksumIEEE(body))))
	detail(w)
	w.end()
	if len(w.b) > gap {
		panic("BUG: a page header is longer than its gap")
	}
	copy(out[start:], w.b)
	copy(out[start+len(w.b):], body)
	e.out = out[:start+len(w.b)+len(body)]
	c.meta.uncompressed += int64(len(w.b) + len(e.page))
	return nil
}

func (e *chunkEncoder) dictionaryPage(c *column) error {
	e.page = e.page[:0]
	if width := plainWidth(c.Node); c.isBytes() {
		e.page = appendPlainBytes(e.page, c.Node, c.bytes)
	} else {
		e.page = appendPlainBits(e.page, e.ndict.entries, width)
	}
	err := e.appendPage(c, func(w *thriftWriter) {
		w.structure(7)
		w.i32(1, c.dict)
		w.i32(2, int(encPlain))
		w.end()
	}, 2, 0)
	c.meta.dictionary = int64(len(e.out))
	return err
}

func (c *column) isBytes() bool {
	return c.Node.Type == leaf.Bytes || c.Node.Type == leaf.Fixed || c.Node.Type == leaf.Int96
}

// pageBounds returns the exact bounds of a page's values.
func (e *chunkEncoder) pageBounds(c *column, p pageSpan) bounds {
	switch {
	case !c.isBytes():
		return numberBounds(c.Buffer, p.value, p.value+p.values)
	case c.enc == encDictionary:
		return indexedBounds(c.Node, c.bytes, c.index[p.value:p.value+p.values], e.used)
	}
	return bytesBounds(c.Node, c.bytes.slice(p.value, p.value+p.values))
}
