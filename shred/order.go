package shred

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/frazil/frazil/variant"
)

// The fields of an object stand in the order of their names' bytes
// (VariantEncoding.md, "Value Data for Object"), and who looks one up relies on it.
// Some writers leave them in another order inside a `value`: DuckDB before 2.0 in
// that of the document, Java before parquet-java#3735 in that of UTF-16 units. What
// leaves this package is in order: a `value` is looked through for objects that are
// not, and only then written again.

// sorter puts the values of one reader in order.
type sorter struct {
	off     bool             // they are
	builder *variant.Builder // made when the first value is out of order
}

// sorted returns the value of a `value` column with the fields of all its objects in
// order: b itself if they are. The bytes are valid until the next call. An error
// names no place.
func (s *sorter) sorted(d *dictionary, b []byte) ([]byte, error) {
	if s.off || b[0]&3 < basicObject {
		return b, nil
	}
	c := orderCheck{ranks: d.order(), names: uint32(d.meta.Len()), budget: len(b)}
	ordered := c.container(b, 1)
	switch {
	case c.broken:
		return nil, fmt.Errorf("%w: an array or object of a value is truncated, nested too deeply, or names an id that the metadata does not have", ErrCorrupt)
	case ordered:
		return b, nil
	}
	if s.builder == nil {
		s.builder = variant.NewBuilder()
	}
	s.builder.ResetMetadata(d.meta)
	if err := variant.Unchecked(d.meta.Bytes(), b).Emit(s.builder); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	v, err := s.builder.Value()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return v.Bytes(), nil
}

// order returns the rank of each name among the names, equal for equal ones; nil
// if they ascend, so that the rank of an id is the id.
func (d *dictionary) order() []int32 {
	if d.ranked {
		return d.ranks
	}
	d.ranked = true
	names := make([]string, d.meta.Len())
	ascend := true
	for i := range names {
		names[i] = d.meta.Name(i)
		ascend = ascend && (i == 0 || names[i-1] < names[i])
	}
	if ascend {
		return nil
	}
	ids := make([]int32, len(names))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortFunc(ids, func(a, b int32) int { return strings.Compare(names[a], names[b]) })
	d.ranks = make([]int32, len(names))
	rank := int32(0)
	for i, id := range ids {
		if i > 0 && names[id] != names[ids[i-1]] {
			rank++
		}
		d.ranks[id] = rank
	}
	return d.ranks
}

// orderCheck looks through one value. budget bounds the containers that are visited
// by the number of bytes, as offsets that overlap could make a small value endless.
type orderCheck struct {
	ranks  []int32 // of the dictionary's names, nil if they ascend
	names  uint32
	budget int
	broken bool
}

// container reports whether the fields of all objects of the container at the start
// of b are in order. It stops at the first that are not.
func (c *orderCheck) container(b []byte, depth int) bool {
	v, ok := openContainer(b)
	if c.budget--; !ok || c.budget < 0 || depth > variant.MaxDepth {
		c.broken = true
		return false
	}
	if v.idSize > 0 && !c.fields(v.ids, v.idSize) {
		return false
	}
	data, mask := len(b)-len(v.data), uint32(1<<(8*v.offSize)-1)
	for p := data - len(v.offsets); p < data-v.offSize; p += v.offSize {
		at := uint64(data)
		if p+4 <= len(b) {
			at += uint64(binary.LittleEndian.Uint32(b[p:]) & mask)
		} else { // only offsets of one byte come so near to the end
			at += uint64(b[p])
		}
		if at >= uint64(len(b)) {
			c.broken = true
			return false
		}
		if b[at]&3 >= basicObject && !c.container(b[at:], depth+1) {
			return false
		}
	}
	return true
}

// fields reports whether the names of an object's fields, by ids of w bytes, ascend.
func (c *orderCheck) fields(ids []byte, w int) bool {
	if len(ids) == 0 {
		return true
	}
	if w == 1 && c.ranks == nil {
		for i := 1; i < len(ids); i++ {
			if ids[i-1] >= ids[i] {
				return false
			}
		}
		c.broken = uint32(ids[len(ids)-1]) >= c.names
		return !c.broken
	}
	last := int64(-1)
	for ; len(ids) > 0; ids = ids[w:] {
		id := getUint(ids, w)
		if id >= c.names {
			c.broken = true
			return false
		}
		rank := int64(id)
		if c.ranks != nil {
			rank = int64(c.ranks[id])
		}
		if rank <= last {
			return false
		}
		last = rank
	}
	return true
}
