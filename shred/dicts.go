package shred

import (
	"fmt"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// dictionary is a row's metadata with the ids of the names of a tree.
type dictionary struct {
	meta *variant.Metadata
	ids  []int32 // of tree.names, -1 for a name it does not have

	ranks  []int32 // see order
	ranked bool

	templates []*template // of flat objects with its ids, by flat.id
}

// dictionaries finds the dictionary of each row, once for each distinct one.
type dictionaries struct {
	names []string
	known map[string]*dictionary
	dict  *leaf.Dict // of the batches; entries are its dictionaries by index
	byIdx []*dictionary
	last  *dictionary
	own   *dictionary // of the names alone, for files whose metadata is not read
	batch *leaf.Batch
}

// maxDictionaries bounds the dictionaries that are kept.
const maxDictionaries = 1 << 12

// load takes the batch of the metadata column, nil when it is not read.
func (d *dictionaries) load(b *leaf.Batch) error {
	d.batch = b
	if b == nil {
		return d.makeOwn()
	}
	if b.Dict != d.dict || b.Dict == nil {
		d.dict, d.byIdx = b.Dict, d.byIdx[:0]
		if b.Dict != nil && b.Dict.Len() <= maxDictionaries {
			d.byIdx = append(d.byIdx, make([]*dictionary, b.Dict.Len())...)
		}
	}
	return nil
}

func (d *dictionaries) makeOwn() error {
	if d.own != nil {
		return nil
	}
	var err error
	d.own, err = d.resolve(variant.AppendMetadata(nil, d.names))
	return err
}

// row returns the dictionary of value i of the metadata column.
func (d *dictionaries) row(i int) (*dictionary, error) {
	b := d.batch
	if b == nil {
		return d.own, nil
	}
	if b.Dict != nil && len(d.byIdx) > 0 {
		k := int(b.Index[i])
		if e := d.byIdx[k]; e != nil {
			return e, nil
		}
		e, err := d.find(b.Dict.Value(k))
		d.byIdx[k] = e
		return e, err
	}
	return d.find(b.Bytes(i))
}

func (d *dictionaries) find(raw []byte) (*dictionary, error) {
	if d.last != nil && string(d.last.meta.Bytes()) == string(raw) {
		return d.last, nil
	}
	e := d.known[string(raw)]
	if e == nil {
		var err error
		if e, err = d.resolve(raw); err != nil {
			return nil, err
		}
		if d.known == nil || len(d.known) >= maxDictionaries {
			d.known = map[string]*dictionary{}
		}
		d.known[string(raw)] = e
	}
	d.last = e
	return e, nil
}

func (d *dictionaries) resolve(raw []byte) (*dictionary, error) {
	m, err := variant.ParseMetadata(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: metadata: %w", ErrCorrupt, err)
	}
	e := &dictionary{meta: m, ids: make([]int32, len(d.names))}
	for i, name := range d.names {
		e.ids[i] = -1
		if id, ok := m.ID(name); ok {
			e.ids[i] = int32(id)
		}
	}
	return e, nil
}

// forget drops all dictionaries but those that are in use.
func (d *dictionaries) forget() {
	d.known, d.last = nil, nil
	clear(d.byIdx)
	if d.own != nil {
		d.own.templates = nil
	}
}
