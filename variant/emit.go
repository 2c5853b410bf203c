package variant

import (
	"fmt"
	"sync"
)

// emitter walks encoded bytes and passes events on. budget bounds the number of
// values visited by the number of bytes, because offsets that overlap could
// otherwise make a small value endless.
type emitter struct {
	root   []byte // for offsets of errors
	sink   Sink
	dict   dict
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
	if e.budget--; e.budget < 0 {
		return corruptValue(0, "values overlap")
	}
	if len(b) > 0 && b[0]&3 >= basicObject {
		return e.container(b, depth+1)
	}
	if readScalar(b, &e.scalar) == 0 {
		return corruptValue(e.at(b), "truncated or of unknown type")
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
	e.sink.Begin(firstKinds[b[0]])
	for i := range c.n {
		if c.idW > 0 {
			name, ok := e.dict.name(c.id(i))
			if !ok {
				return corruptValue(e.at(b)+c.ids+i*c.idW, "field id is not in the dictionary")
			}
			e.sink.Key(name)
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
