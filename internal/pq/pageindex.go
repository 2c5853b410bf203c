package pq

import (
	"github.com/frazil/frazil/internal/leaf"
)

// decodeOffsetIndex decodes OffsetIndex of parquet.thrift and checks that the
// pages lie in the chunk, in order, and that their rows ascend from 0.
func decodeOffsetIndex(b []byte, c *Chunk, rows int64) (*PageIndex, error) {
	r := &thriftReader{b: b}
	x := &PageIndex{}
	r.structure(thriftStruct, func(id int16, typ byte) bool {
		if id != 1 {
			return false
		}
		elem, n := r.list(typ)
		x.Pages = make([]PageStats, 0, min(n, maxPrealloc))
		for i := 0; i < n && r.err == nil; i++ {
			x.Pages = append(x.Pages, r.pageLocation(elem))
		}
		return true
	})
	if r.err != nil {
		return nil, asCorrupt(r.err)
	}
	end := c.Offset
	for i := range x.Pages {
		p := &x.Pages[i]
		next := rows
		if i+1 < len(x.Pages) {
			next = x.Pages[i+1].FirstRow
		}
		p.Rows = next - p.FirstRow
		if p.Offset < end || p.Size <= 0 || p.Size > c.Offset+c.Size-p.Offset || p.Rows < 0 || i == 0 && p.FirstRow != 0 {
			return nil, corruptf("page %d of the offset index is out of place", i)
		}
		end = p.Offset + p.Size
	}
	if len(x.Pages) == 0 && rows > 0 {
		return nil, corruptf("the offset index has no pages")
	}
	return x, nil
}

func (r *thriftReader) pageLocation(typ byte) PageStats {
	p := PageStats{FirstRow: -1}
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			p.Offset = r.int(typ)
		case 2:
			p.Size = r.int(typ)
		case 3:
			p.FirstRow = r.int(typ)
		default:
			return false
		}
		return true
	})
	if p.Size <= 0 || p.FirstRow < 0 {
		r.fail(corruptf("an offset index entry of %d bytes at row %d", p.Size, p.FirstRow))
	}
	return p
}

// addStatistics decodes ColumnIndex of parquet.thrift into x.
func (x *PageIndex) addStatistics(b []byte, n *leaf.Node, typeOrdered bool) error {
	r := &thriftReader{b: b}
	var nullPages []bool
	var lows, highs [][]byte
	var nulls []int64
	r.structure(thriftStruct, func(id int16, typ byte) bool {
		switch id {
		case 1:
			nullPages = r.bools(typ)
		case 2:
			lows = r.binaries(typ)
		case 3:
			highs = r.binaries(typ)
		case 5:
			nulls = r.ints(typ)
		default:
			return false
		}
		return true
	})
	if r.err != nil {
		return asCorrupt(r.err)
	}
	pages := len(x.Pages)
	if len(nullPages) != pages || len(lows) != pages || len(highs) != pages || nulls != nil && len(nulls) != pages {
		return corruptf("the column index has %d pages, the offset index %d", len(nullPages), pages)
	}
	x.HasStats = typeOrdered
	for i := range x.Pages {
		p := &x.Pages[i]
		p.AllNull = nullPages[i]
		if nulls != nil && nulls[i] >= 0 {
			p.Nulls, p.NullsKnown = nulls[i], true
		}
		if p.AllNull {
			continue
		}
		lo, hi, ok := usableBounds(n, lows[i], highs[i])
		if !ok {
			x.HasStats = false
			continue
		}
		p.Min, p.Max = lo, hi
	}
	return nil
}

func (r *thriftReader) bools(typ byte) []bool {
	_, n := r.list(typ)
	out := make([]bool, n)
	for i := range out {
		out[i] = r.byte() == thriftTrue
	}
	return out
}

func (r *thriftReader) binaries(typ byte) [][]byte {
	elem, n := r.list(typ)
	out := make([][]byte, n)
	for i := range out {
		out[i] = r.binary(elem)
	}
	return out
}

func (r *thriftReader) ints(typ byte) []int64 {
	elem, n := r.list(typ)
	out := make([]int64, n)
	for i := range out {
		out[i] = r.int(elem)
	}
	return out
}
