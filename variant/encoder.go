package variant

import (
	"bytes"
	"sync"
)

// Encoder turns JSON texts into values, under the rules that Parser documents. It
// is for one goroutine, and allocates nothing once it has seen the keys and shapes
// of its texts.
type Encoder struct {
	parser  *Parser
	builder *Builder
}

// NewEncoder returns an encoder.
func NewEncoder(o ParseOptions) *Encoder {
	e := &Encoder{parser: NewParser(o), builder: NewBuilder()}
	e.builder.maxSize = e.parser.opts.MaxSize
	return e
}

// Encode returns the value of one JSON text, valid until the next call; its
// metadata is never changed, and is the same slice for texts with the same set of
// names as long as the encoder remembers it. An error Is ErrSyntax or ErrTooLarge.
func (e *Encoder) Encode(text []byte) (Value, error) {
	e.builder.Reset()
	if err := e.parser.Parse(text, e.builder); err != nil {
		return Value{}, err
	}
	return e.builder.Value()
}

// encoders serves ParseJSON. Rule of the pool: an encoder goes back only with a
// small buffer, and nothing of it escapes but dictionaries, which never change.
var encoders = sync.Pool{New: func() any { return NewEncoder(ParseOptions{}) }}

const maxPooledBuffer = 64 << 10

// ParseJSON returns the value of one JSON text under default options. Its bytes
// are the caller's, and must not be changed.
func ParseJSON(text []byte) (Value, error) {
	e := encoders.Get().(*Encoder)
	v, err := e.Encode(text)
	v.value = bytes.Clone(v.value)
	if cap(e.builder.buf) <= maxPooledBuffer {
		encoders.Put(e)
	}
	return v, err
}
