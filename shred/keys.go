package shred

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// Limits on what a Writer remembers between rows. Documents whose keys are data
// would fill the memory otherwise; what was forgotten is learnt again.
const (
	maxKeys   = 1 << 16
	maxShapes = 1 << 12
)

// key is an interned object key. A row's set of keys is the set of those whose
// stamp is the row's.
type key struct {
	name  string
	bytes []byte
	hash  uint64 // random; sums of hashes tell sets apart
	stamp uint64
}

// edge is a key as it occurs in one object of the schema, or anywhere in
// residuals: an entry of a list that predicts which key comes next. JSON of one
// producer repeats its order of keys, so that a comparison with the prediction
// replaces a map lookup.
type edge struct {
	next  *edge    // what followed last
	older [3]*edge // what followed before that
	at    *byte    // where the name's bytes were last; for producers with stable names
	name  string
	key   *key
	child *node // nil: the key is not shredded
}

// edges are the keys of one object of the schema.
type edges struct {
	start edge // precedes the first key
	all   map[string]*edge
}

// shape is a set of keys that rows had, with its dictionary.
type shape struct {
	keys  []*key
	hash  uint64
	meta  *variant.Metadata
	epoch int // row group in which index is valid
	index uint32
	next  *shape // of the same hash
}

// keyTable interns keys and finds the dictionary of each row's set of keys.
type keyTable struct {
	keys   map[string]*key
	limit  int // of keys, before all are forgotten
	shapes map[uint64]*shape
	count  int // shapes
	last   *shape

	stamp uint64 // of the current row
	hash  uint64 // sum of the hashes in row
	row   []*key // the keys of the current row
	epoch int    // counts row groups
}

func newKeyTable() *keyTable {
	return &keyTable{limit: maxKeys, keys: map[string]*key{}, shapes: map[uint64]*shape{}, epoch: 1}
}

func (t *keyTable) begin() {
	t.stamp++
	t.hash, t.row = 0, t.row[:0]
}

// use adds a key to the set of the current row.
func (t *keyTable) use(k *key) {
	if k.stamp != t.stamp {
		k.stamp = t.stamp
		t.hash += k.hash
		t.row = append(t.row, k)
	}
}

func (t *keyTable) intern(name string) *key {
	k := t.keys[name]
	if k == nil {
		name = strings.Clone(name)
		k = &key{name: name, bytes: []byte(name), hash: rand.Uint64()}
		t.keys[name] = k
	}
	return k
}

// follow returns the edge of a key after the edge prev. stable says that names
// at one address are one name.
func (t *keyTable) follow(e *edges, prev *edge, name []byte, stable bool) *edge {
	n := prev.next
	if n != nil && n.name == string(name) {
		n.moved(name)
		return n
	}
	for i, o := range prev.older {
		if o == nil {
			break
		}
		if stable && len(name) > 0 && o.at == &name[0] || o.name == string(name) {
			prev.older[i], prev.next = n, o
			o.moved(name)
			return o
		}
	}
	n = t.edge(e, name)
	prev.older[2], prev.older[1], prev.older[0], prev.next = prev.older[1], prev.older[0], prev.next, n
	n.moved(name)
	return n
}

func (e *edge) moved(name []byte) {
	if len(name) > 0 && e.at != &name[0] {
		e.at = &name[0]
	}
}

func (t *keyTable) edge(e *edges, name []byte) *edge {
	n := e.all[string(name)]
	if n == nil {
		k := t.intern(string(name))
		n = &edge{key: k, name: k.name}
		e.all[k.name] = n
	}
	return n
}

// current returns the shape of the current row.
func (t *keyTable) current() (*shape, error) {
	if s := t.last; s != nil && t.matches(s) {
		return s, nil
	}
	for s := t.shapes[t.hash]; s != nil; s = s.next {
		if t.matches(s) {
			t.last = s
			return s, nil
		}
	}
	return t.learn()
}

// matches compares sets exactly; the hash only makes a mismatch cheap.
func (t *keyTable) matches(s *shape) bool {
	if s.hash != t.hash || len(s.keys) != len(t.row) {
		return false
	}
	for _, k := range s.keys {
		if k.stamp != t.stamp {
			return false
		}
	}
	return true
}

func (t *keyTable) learn() (*shape, error) {
	s := &shape{hash: t.hash, keys: slices.Clone(t.row)}
	names := make([]string, len(s.keys))
	for i, k := range s.keys {
		names[i] = k.name
	}
	slices.Sort(names)
	var err error
	if s.meta, err = variant.ParseMetadata(variant.AppendMetadata(nil, names)); err != nil {
		return nil, err
	}
	if t.count >= maxShapes {
		clear(t.shapes)
		t.count = 0
	}
	s.next = t.shapes[t.hash]
	t.shapes[t.hash] = s
	t.count++
	t.last = s
	return s, nil
}

// appendTo adds the shape's metadata to an Indexed buffer.
func (s *shape) appendTo(b *leaf.Buffer, epoch int) {
	if s.epoch != epoch {
		s.epoch = epoch
		s.index = uint32(max(len(b.Offsets)-1, 0))
		b.AppendBytes(s.meta.Bytes())
	}
	b.Index = append(b.Index, s.index)
}
