package variant

import (
	"bytes"
	"slices"
	"strings"
)

// Builder assembles one value from events or calls.
type Builder struct {
	root  *tree
	stack []*tree
	key   string
	meta  *Metadata
	err   error
}

type tree struct {
	kind   Kind
	scalar Scalar
	kids   []*tree
	keys   []string
}

// NewBuilder returns a builder with a dictionary of its own.
func NewBuilder() *Builder { return &Builder{} }

// Reset starts a value whose dictionary is made of its own names, sorted.
func (b *Builder) Reset() { *b = Builder{} }

// ResetMetadata starts a value over a given dictionary: a name that it lacks is
// an error that Is ErrUnknownKey.
func (b *Builder) ResetMetadata(m *Metadata) { *b = Builder{meta: m} }

// Begin implements Sink.
func (b *Builder) Begin(k Kind) {
	t := &tree{kind: k}
	b.add(t)
	b.stack = append(b.stack, t)
}

// End implements Sink.
func (b *Builder) End() { b.stack = b.stack[:len(b.stack)-1] }

// Key implements Sink.
func (b *Builder) Key(name []byte) { b.key = string(name) }

// Scalar implements Sink.
func (b *Builder) Scalar(s *Scalar) {
	t := &tree{kind: s.Kind, scalar: *s}
	t.scalar.Bytes = bytes.Clone(s.Bytes)
	b.add(t)
}

// Err implements Sink.
func (b *Builder) Err() error { return b.err }

func (b *Builder) add(t *tree) {
	if len(b.stack) == 0 {
		b.root = t
		return
	}
	p := b.stack[len(b.stack)-1]
	p.kids = append(p.kids, t)
	if p.kind == KindObject {
		p.keys = append(p.keys, b.key)
	}
}

// Null adds a null.
func (b *Builder) Null() { b.Scalar(&Scalar{Kind: KindNull}) }

// Bool adds a boolean.
func (b *Builder) Bool(x bool) {
	s := Scalar{Kind: KindBool}
	if x {
		s.Int = 1
	}
	b.Scalar(&s)
}

// Int adds the smallest integer that holds x.
func (b *Builder) Int(x int64) {
	var s Scalar
	s.SetInt(x)
	b.Scalar(&s)
}

// Double adds a double.
func (b *Builder) Double(x float64) { b.Scalar(&Scalar{Kind: KindDouble, Float: x}) }

// Decimal adds the smallest decimal that holds d.
func (b *Builder) Decimal(d Decimal) {
	var s Scalar
	s.SetDecimal(d)
	b.Scalar(&s)
}

// Text adds a string, which must be valid UTF-8.
func (b *Builder) Text(x string) { b.Scalar(&Scalar{Kind: KindString, Bytes: []byte(x)}) }

// Binary adds a binary.
func (b *Builder) Binary(x []byte) { b.Scalar(&Scalar{Kind: KindBinary, Bytes: x}) }

// AppendValue adds a whole value, its names looked up in this builder's dictionary.
func (b *Builder) AppendValue(v Value) {
	if err := v.Emit(b); err != nil && b.err == nil {
		b.err = err
	}
}

// Value returns the value, whose bytes stay the builder's until the next Reset.
func (b *Builder) Value() (Value, error) {
	if b.err != nil {
		return Value{}, b.err
	}
	if b.root == nil || len(b.stack) > 0 {
		return Value{}, ErrUsage
	}
	set := map[string]bool{}
	b.root.names(set)
	m := b.meta
	if m == nil {
		var names []string
		for s := range set {
			names = append(names, s)
		}
		slices.Sort(names)
		m, _ = ParseMetadata(AppendMetadata(nil, names))
	}
	for s := range set {
		if _, ok := m.ID(s); !ok {
			return Value{}, ErrUnknownKey
		}
	}
	return Value{m.Bytes(), b.root.encode(nil, m)}, nil
}

func (t *tree) names(set map[string]bool) {
	for i, k := range t.kids {
		if t.kind == KindObject {
			set[t.keys[i]] = true
		}
		k.names(set)
	}
}

func (t *tree) encode(dst []byte, m *Metadata) []byte {
	if !t.kind.IsContainer() {
		return AppendScalar(dst, &t.scalar)
	}
	order := make([]int, len(t.kids))
	for i := range order {
		order[i] = i
	}
	var ids []uint32
	h, w := byte(basicArray), 0
	if t.kind == KindObject {
		slices.SortFunc(order, func(x, y int) int { return strings.Compare(t.keys[x], t.keys[y]) })
		largest := uint32(0)
		for _, i := range order {
			id, _ := m.ID(t.keys[i])
			ids = append(ids, uint32(id))
			largest = max(largest, uint32(id))
		}
		w = uintWidth(largest)
		h = basicObject | byte(w-1)<<4
	}
	var data []byte
	starts := make([]uint32, len(t.kids))
	for i, k := range t.kids {
		starts[i] = uint32(len(data))
		data = k.encode(data, m)
	}
	ow := uintWidth(uint32(len(data)))
	h |= byte(ow-1) << 2
	nw := 1
	if len(t.kids) > 255 {
		nw = 4
		if t.kind == KindObject {
			h |= 0x40
		} else {
			h |= 0x10
		}
	}
	dst = append(dst, h)
	dst = appendUint(dst, uint32(len(t.kids)), nw)
	for _, id := range ids {
		dst = appendUint(dst, id, w)
	}
	for _, i := range order {
		dst = appendUint(dst, starts[i], ow)
	}
	dst = appendUint(dst, uint32(len(data)), ow)
	return append(dst, data...)
}
