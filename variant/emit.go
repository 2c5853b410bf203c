package variant

import (
	"fmt"
	"sync"
)

// emitter walks encoded bytes and passes events on.
//
// Like every walk of this package it has a budget: each scalar costs its bytes, each
// container one, and the root's bytes pay for all. Values that New accepts never
// exceed it, as their children do not take more bytes than there are. Of other bytes
// it bounds time and memory, where offsets that overlap would make a small value
// endless, or a long string come a thousand times.
type emitter struct {
	root   []byte // for offsets of errors
	sink   Sink
	dict   dict
	names  longNames
	budget int
	scalar Scalar
}

// emitters holds emitters between calls. Rule of the pool: an emitter holds nothing
// of its last value or sink.
var emitters = sync.Pool{New: func() any { return new(emitter) }}

// Emit passes v to a sink as events, fields in stored order. Truncated bytes, ids
// out of range and nesting beyond MaxDepth are errors that are ErrCorrupt, after
// which the sink has seen part of the events; Validate checks more. A missing value
// is an error that Is ErrUsage. The sink's own error comes last.
func (v Value) Emit(sink Sink) error {
	if v.IsMissing() {
		return fmt.Errorf("%w: a missing value has no events", ErrUsage)
	}
	e := emitters.Get().(*emitter)
	e.root, e.sink, e.budget = v.value, sink, len(v.value)
	e.dict, _ = viewDict(v.metadata)
	err := e.value(v.value, 0)
	*e = emitter{}
	emitters.Put(e)
	if err != nil {
		return err
	}
	return sink.Err()
}

func (e *emitter) value(b []byte, depth int) error {
	if len(b) > 0 && b[0]&3 >= basicObject {
		return e.container(b, depth+1)
	}
	n := readScalar(b, &e.scalar)
	if n == 0 {
		return corruptValue(e.at(b), "truncated or of unknown type")
	}
	if e.budget -= n; e.budget < 0 {
		return corruptValue(0, "values overlap")
	}
	e.sink.Scalar(&e.scalar)
	return nil
}

func (e *emitter) container(b []byte, depth int) error {
	c, ok := readContainer(b)
	if !ok {
		return corruptValue(e.at(b), "truncated container")
	}
	if depth > MaxDepth {
		return corruptValue(e.at(b), ErrDepth.Error())
	}
	if e.budget--; e.budget < 0 {
		return corruptValue(0, "values overlap")
	}
	e.sink.Begin(firstKinds[b[0]])
	for i := range c.n {
		if c.idW > 0 {
			name, ok := e.dict.name(c.id(i))
			if !ok {
				return corruptValue(e.at(b)+c.ids+i*c.idW, "field id is not in the dictionary")
			}
			if len(name) < longName { // pass says so too, at the price of a call
				e.sink.Key(name)
			} else {
				e.names.pass(e.sink, c.id(i), name)
			}
		}
		if err := e.value(c.child(i), depth); err != nil {
			return err
		}
	}
	e.sink.End()
	return nil
}

// at returns the offset of b, whose capacity reaches as far as the root's or less.
func (e *emitter) at(b []byte) int { return cap(e.root) - cap(b) }

// longName is the length in bytes from which on a name is dear: one long name that a
// million small objects have must not cost a million times its length.
const longName = 64

// longNames passes the names of one dictionary to a sink. It knows the keys of long
// ones that a builder has seen, so that the builder need not compare them again.
type longNames struct {
	builder *Builder
	keys    map[int]*key // by id
}

func (l *longNames) pass(sink Sink, id int, name []byte) {
	if len(name) < longName {
		sink.Key(name)
		return
	}
	l.passLong(sink, id, name)
}

func (l *longNames) passLong(sink Sink, id int, name []byte) {
	b, ok := sink.(*Builder)
	if !ok || b.state != stateKey {
		sink.Key(name)
		return
	}
	if k := l.keys[id]; k != nil && l.builder == b {
		b.knownKey(k)
		return
	}
	b.Key(name)
	if b.err != nil {
		return
	}
	if l.keys == nil || l.builder != b {
		l.builder, l.keys = b, map[int]*key{}
	}
	l.keys[id] = b.tree.keys[b.fields[len(b.fields)-1].key()]
}
