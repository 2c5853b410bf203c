package pq

import (
	"encoding/binary"
	"slices"

	"github.com/frazil/frazil/internal/leaf"
)

// formatCodecs are the format's numbers of the codecs.
var formatCodecs = [...]int{Zstd: 6, Uncompressed: 0, Snappy: 1, Gzip: 2, LZ4Raw: 7, Brotli: 4, LZ4: 5}

// indexSections are the places of what belongs to one chunk but stands behind
// the row groups.
type indexSections struct{ bloom, column, offset section }

// footer returns everything behind the pages.
//
//	+---------------+----------------+----------------+---------------+------------+--------+
//	| bloom filters | column indexes | offset indexes | FileMetaData  | length (4) | "PAR1" |
//	+---------------+----------------+----------------+---------------+------------+--------+
func (w *Writer) footer() []byte {
	sections := make([][]indexSections, len(w.groups))
	var out []byte
	each := func(add func(j int, c *chunkMeta, s *indexSections) *section) {
		for i := range w.groups {
			for j := range w.groups[i].chunks {
				start := len(out)
				if s := add(j, &w.groups[i].chunks[j], &sections[i][j]); s != nil {
					*s = section{offset: w.offset + int64(start), size: int64(len(out) - start)}
				}
			}
		}
	}
	for i := range sections {
		sections[i] = make([]indexSections, len(w.leaves))
	}
	each(func(_ int, c *chunkMeta, s *indexSections) *section {
		if c.bloom == nil {
			return nil
		}
		out = c.bloom.append(out)
		return &s.bloom
	})
	if !w.opts.NoStatistics {
		each(func(j int, c *chunkMeta, s *indexSections) *section {
			before := len(out)
			if out = appendColumnIndex(out, w.leaves[j].Node, c); len(out) == before {
				return nil
			}
			return &s.column
		})
		each(func(_ int, c *chunkMeta, s *indexSections) *section {
			out = appendOffsetIndex(out, c)
			return &s.offset
		})
	}
	start := len(out)
	out = w.appendFileMeta(out, sections)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(out)-start))
	return append(out, magic...)
}

// appendFileMeta appends FileMetaData of parquet.thrift.
func (w *Writer) appendFileMeta(dst []byte, sections [][]indexSections) []byte {
	t := &thriftWriter{b: dst}
	t.begin()
	t.i32(1, 2)
	t.schema(2, w.root)
	t.i64(3, w.rows)
	t.list(4, thriftStruct, len(w.groups))
	for i := range w.groups {
		w.rowGroup(t, i, sections[i])
	}
	if len(w.opts.Metadata) > 0 {
		t.list(5, thriftStruct, len(w.opts.Metadata))
		for _, kv := range w.opts.Metadata {
			t.begin()
			t.string(1, kv.Key)
			t.string(2, kv.Value)
			t.end()
		}
	}
	t.string(6, w.opts.CreatedBy)
	t.list(7, thriftStruct, len(w.leaves))
	for range w.leaves {
		t.begin()
		t.empty(1) // TYPE_ORDER
		t.end()
	}
	t.end()
	return t.b
}

func (w *Writer) rowGroup(t *thriftWriter, i int, sections []indexSections) {
	g := &w.groups[i]
	compressed, uncompressed := int64(0), int64(0)
	t.begin()
	t.list(1, thriftStruct, len(g.chunks))
	for j := range g.chunks {
		c := &g.chunks[j]
		w.chunk(t, j, c, &sections[j])
		compressed += c.size
		uncompressed += c.uncompressed
	}
	t.i64(2, uncompressed)
	t.i64(3, int64(g.rows))
	t.i64(5, g.offset)
	t.i64(6, compressed)
	if i <= 1<<15-1 {
		t.header(7, thriftI16)
		t.b = binary.AppendVarint(t.b, int64(i))
	}
	t.end()
}

// chunk writes ColumnChunk.
func (w *Writer) chunk(t *thriftWriter, j int, c *chunkMeta, s *indexSections) {
	t.begin()
	t.i64(2, 0) // deprecated; 0 says that the metadata is only here
	t.structure(3)
	w.columnMeta(t, j, c, s)
	t.end()
	if s.offset.size > 0 {
		t.i64(4, s.offset.offset)
		t.i32(5, int(s.offset.size))
	}
	if s.column.size > 0 {
		t.i64(6, s.column.offset)
		t.i32(7, int(s.column.size))
	}
	t.end()
}

// columnMeta writes the fields of ColumnMetaData.
func (w *Writer) columnMeta(t *thriftWriter, j int, c *chunkMeta, s *indexSections) {
	in := &w.leaves[j]
	t.i32(1, slices.Index(physicalTypes[:], in.Node.Type))
	encodings := []encoding{c.enc, encRLE} // RLE is that of the levels
	if c.dictionary > 0 {
		encodings = append(encodings, encPlain)
	}
	t.list(2, thriftI32, len(encodings))
	for _, e := range encodings {
		t.b = binary.AppendVarint(t.b, int64(e))
	}
	t.list(3, thriftBinary, len(in.Path))
	for _, name := range in.Path {
		t.element(name)
	}
	t.i32(4, formatCodecs[w.opts.Codec])
	t.i64(5, int64(c.slots))
	t.i64(6, c.uncompressed)
	t.i64(7, c.size)
	t.i64(9, c.offset+c.dictionary)
	if c.dictionary > 0 {
		t.i64(11, c.offset)
	}
	t.structure(12)
	writeStatistics(t, c)
	t.end()
	writeEncodingStats(t, c)
	if s.bloom.size > 0 {
		t.i64(14, s.bloom.offset)
		t.i32(15, int(s.bloom.size))
	}
}

// writeStatistics writes the fields of Statistics. The deprecated minimum and
// maximum are left out: their order is not that of the type.
func writeStatistics(t *thriftWriter, c *chunkMeta) {
	t.i64(3, int64(c.nulls))
	if c.lo == nil {
		return
	}
	t.bytes(5, c.hi)
	t.bytes(6, c.lo)
	t.bool(7, c.hiExact)
	t.bool(8, c.loExact)
}

// writeEncodingStats lets readers see that all pages share the dictionary.
func writeEncodingStats(t *thriftWriter, c *chunkMeta) {
	n := 1
	if c.dictionary > 0 {
		n = 2
	}
	t.list(13, thriftStruct, n)
	if c.dictionary > 0 {
		writePageCount(t, 2, encPlain, 1)
	}
	writePageCount(t, 0, c.enc, len(c.pages))
}

func writePageCount(t *thriftWriter, typ int, enc encoding, count int) {
	t.begin()
	t.i32(1, typ)
	t.i32(2, int(enc))
	t.i32(3, count)
	t.end()
}

// appendOffsetIndex appends OffsetIndex of parquet.thrift.
func appendOffsetIndex(dst []byte, c *chunkMeta) []byte {
	t := &thriftWriter{b: dst}
	t.begin()
	t.list(1, thriftStruct, len(c.pages))
	for i := range c.pages {
		p := &c.pages[i]
		t.begin()
		t.i64(1, p.offset)
		t.i32(2, p.size)
		t.i64(3, p.firstRow)
		t.end()
	}
	t.end()
	return t.b
}

// appendColumnIndex appends ColumnIndex of parquet.thrift, or nothing when a
// page with values has no bounds: the format has no way to say so.
func appendColumnIndex(dst []byte, n *leaf.Node, c *chunkMeta) []byte {
	for i := range c.pages {
		if p := &c.pages[i]; p.nulls < p.slots && p.lo == nil {
			return dst
		}
	}
	t := &thriftWriter{b: dst}
	t.begin()
	t.list(1, thriftTrue, len(c.pages))
	for i := range c.pages {
		if p := &c.pages[i]; p.nulls == p.slots {
			t.b = append(t.b, thriftTrue)
		} else {
			t.b = append(t.b, thriftFalse)
		}
	}
	t.list(2, thriftBinary, len(c.pages))
	for i := range c.pages {
		t.element(string(c.pages[i].lo))
	}
	t.list(3, thriftBinary, len(c.pages))
	for i := range c.pages {
		t.element(string(c.pages[i].hi))
	}
	t.i32(4, boundaryOrder(n, c.pages))
	t.list(5, thriftI64, len(c.pages))
	for i := range c.pages {
		t.b = binary.AppendVarint(t.b, int64(c.pages[i].nulls))
	}
	t.end()
	return t.b
}

// boundaryOrder returns 1 when the pages' bounds ascend, 2 when they descend,
// 0 otherwise. Pages without values do not count.
func boundaryOrder(n *leaf.Node, pages []pageMeta) int {
	up, down := true, true
	var last *pageMeta
	for i := range pages {
		p := &pages[i]
		if p.lo == nil {
			continue
		}
		if last != nil {
			lo, hi := comparePlain(n, last.lo, p.lo), comparePlain(n, last.hi, p.hi)
			up = up && lo <= 0 && hi <= 0
			down = down && lo >= 0 && hi >= 0
		}
		last = p
	}
	switch {
	case up:
		return 1
	case down:
		return 2
	}
	return 0
}
