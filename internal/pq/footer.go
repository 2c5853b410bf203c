package pq

import (
	"errors"
	"math"

	"github.com/frazil/frazil/internal/leaf"
)

// maxSchemaNodes bounds a foreign schema, and maxPrealloc the memory that a
// list's count may claim before its elements were seen: an element of a byte or
// two becomes a structure of a hundred times that.
const (
	maxSchemaNodes = 1 << 18
	maxPrealloc    = 1 << 12
)

// footer is the decoded FileMetaData of parquet.thrift.
type footer struct {
	root      *leaf.Node
	leaves    []leaf.Info
	rows      int64
	groups    []RowGroup
	metadata  []KeyValue
	createdBy string

	typeOrdered []bool // by leaf: min_value and max_value follow the type's order
	encrypted   bool
}

// decodeFooter decodes the footer of a file whose pages end before dataEnd.
func decodeFooter(b []byte, dataEnd int64) (*footer, error) {
	f := &footer{}
	r := &thriftReader{b: b}
	var schema []schemaElement
	r.structure(thriftStruct, func(id int16, typ byte) bool {
		switch id {
		case 2:
			elem, n := r.list(typ)
			if n > maxSchemaNodes {
				r.fail(unsupportedf("a schema of %d nodes", n))
				break
			}
			schema = make([]schemaElement, 0, n)
			for i := 0; i < n && r.err == nil; i++ {
				schema = append(schema, r.schemaElement(elem))
			}
		case 3:
			f.rows = r.int(typ)
		case 4:
			elem, n := r.list(typ)
			f.groups = make([]RowGroup, 0, min(n, maxPrealloc))
			for i := 0; i < n && r.err == nil; i++ {
				f.groups = append(f.groups, r.rowGroup(elem))
			}
		case 5:
			f.metadata = r.keyValues(typ)
		case 6:
			f.createdBy = string(r.binary(typ))
		case 7:
			f.typeOrdered = r.columnOrders(typ)
		case 8:
			f.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	if r.err != nil {
		return nil, asCorrupt(r.err)
	}
	root, err := schemaTree(schema)
	if err != nil {
		return nil, err
	}
	f.root, f.leaves = root, root.Leaves()
	return f, f.check(dataEnd)
}

// asCorrupt makes an error of the metadata decoder one that Is ErrCorrupt.
func asCorrupt(err error) error {
	if errors.Is(err, errThriftShort) {
		return corruptf("%v", err)
	}
	return err
}

// check validates what the reader relies on, and turns the statistics into
// what can be trusted.
func (f *footer) check(dataEnd int64) error {
	rows := int64(0)
	overcounts := overcountsNulls(f.createdBy)
	for i := range f.groups {
		g := &f.groups[i]
		if len(g.Chunks) != len(f.leaves) {
			return corruptf("row group %d has %d columns, the schema %d", i, len(g.Chunks), len(f.leaves))
		}
		if g.Rows < 0 || g.Rows > math.MaxInt32 || rows > math.MaxInt64-g.Rows {
			return corruptf("row group %d has %d rows", i, g.Rows)
		}
		rows += g.Rows
		for j := range g.Chunks {
			if err := g.Chunks[j].check(&f.leaves[j], g.Rows, dataEnd); err != nil {
				return &Error{RowGroup: i, Column: pathText(f.leaves[j].Path), Err: err}
			}
			g.Chunks[j].trustNulls(&f.leaves[j], overcounts)
			ordered := j < len(f.typeOrdered) && f.typeOrdered[j]
			g.Chunks[j].trustStatistics(f.leaves[j].Node, ordered)
		}
	}
	if rows != f.rows {
		return corruptf("the row groups have %d rows, the file %d", rows, f.rows)
	}
	return nil
}

func (c *Chunk) check(in *leaf.Info, rows, dataEnd int64) error {
	if c.encrypted {
		return nil // reading it is refused; the other columns are readable
	}
	if c.physical != in.Node.Type {
		return corruptf("the column's type is not that of the schema")
	}
	if c.Size < 0 || c.Offset < 0 || c.Offset > dataEnd || c.Size > dataEnd-c.Offset {
		return corruptf("its pages at %d, %d bytes, lie outside of the file", c.Offset, c.Size)
	}
	if c.Slots < rows || c.Slots > math.MaxInt32 || in.MaxRep == 0 && c.Slots != rows {
		return corruptf("%d values in %d rows", c.Slots, rows)
	}
	for _, s := range []*section{&c.offsetIndex, &c.columnIndex, &c.bloom} {
		if s.offset <= 0 || s.size <= 0 || s.offset > dataEnd || s.size > dataEnd-s.offset {
			*s = section{} // an index that cannot be read is as good as none
		}
	}
	return nil
}

func (r *thriftReader) keyValues(typ byte) []KeyValue {
	elem, n := r.list(typ)
	out := make([]KeyValue, 0, min(n, maxPrealloc))
	for i := 0; i < n && r.err == nil; i++ {
		var kv KeyValue
		r.structure(elem, func(id int16, typ byte) bool {
			switch id {
			case 1:
				kv.Key = string(r.binary(typ))
			case 2:
				kv.Value = string(r.binary(typ))
			default:
				return false
			}
			return true
		})
		out = append(out, kv)
	}
	return out
}

// columnOrders tells for each leaf whether its order is TYPE_ORDER.
func (r *thriftReader) columnOrders(typ byte) []bool {
	elem, n := r.list(typ)
	out := make([]bool, n)
	for i := range out {
		r.structure(elem, func(id int16, _ byte) bool {
			out[i] = id == 1
			return false
		})
	}
	return out
}

func (r *thriftReader) rowGroup(typ byte) RowGroup {
	var g RowGroup
	complete := false
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			elem, n := r.list(typ)
			g.Chunks = make([]Chunk, 0, min(n, maxPrealloc))
			complete = true
			for i := 0; i < n && r.err == nil; i++ {
				g.Chunks = append(g.Chunks, r.chunk(elem))
			}
		case 3:
			g.Rows = r.int(typ)
		default:
			return false
		}
		return true
	})
	if !complete {
		r.fail(corruptf("a row group without columns"))
	}
	return g
}

// chunk decodes ColumnChunk.
func (r *thriftReader) chunk(typ byte) Chunk {
	var c Chunk
	meta := false
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			if len(r.binary(typ)) > 0 {
				c.codecErr = unsupportedf("its pages are in another file")
			}
		case 3:
			meta = true
			r.columnMeta(typ, &c)
		case 4:
			c.offsetIndex.offset = r.int(typ)
		case 5:
			c.offsetIndex.size = r.int(typ)
		case 6:
			c.columnIndex.offset = r.int(typ)
		case 7:
			c.columnIndex.size = r.int(typ)
		case 8, 9:
			c.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	if !meta && !c.encrypted {
		r.fail(corruptf("a column chunk has no metadata"))
	}
	return c
}

// codecByNumber maps the format's codes; LZO, 3, has no codec here.
var codecByNumber = [...]Codec{Uncompressed, Snappy, Gzip, Uncompressed, Brotli, LZ4, Zstd, LZ4Raw}

// columnMeta decodes ColumnMetaData.
func (r *thriftReader) columnMeta(typ byte, c *Chunk) {
	dictionary := int64(0)
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			c.physical = r.physicalType(typ)
		case 4:
			code := r.int(typ)
			if code < 0 || code >= int64(len(codecByNumber)) || code == 3 {
				c.codecErr = unsupportedf("compression codec %d", code)
				break
			}
			c.Codec = codecByNumber[code]
		case 5:
			c.Slots = r.int(typ)
		case 6:
			c.UncompressedSize = r.int(typ)
		case 7:
			c.Size = r.int(typ)
		case 9:
			c.Offset = r.int(typ)
		case 11:
			dictionary = r.int(typ)
		case 12:
			r.statistics(typ, &c.stats)
		case 14:
			c.bloom.offset = r.int(typ)
		case 15:
			c.bloom.size = r.int(typ)
		default:
			return false
		}
		return true
	})
	// Old writers set the dictionary's offset to 0 when there is none.
	if dictionary > 0 && dictionary < c.Offset {
		c.Offset = dictionary
	}
}

// statistics decodes Statistics; what of it can be used is decided later.
func (r *thriftReader) statistics(typ byte, s *rawStatistics) {
	s.minExact, s.maxExact = true, true
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			s.oldMax = r.binary(typ)
		case 2:
			s.oldMin = r.binary(typ)
		case 3:
			s.nulls, s.hasNulls = r.int(typ), true
		case 5:
			s.max = r.binary(typ)
		case 6:
			s.min = r.binary(typ)
		case 7:
			s.maxExact = r.bool(typ)
		case 8:
			s.minExact = r.bool(typ)
		default:
			return false
		}
		return true
	})
}
