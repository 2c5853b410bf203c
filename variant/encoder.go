package variant

// Encoder turns JSON texts into values. It is for one goroutine.
type Encoder struct {
	parser  *Parser
	builder *Builder
}

// NewEncoder returns an encoder.
func NewEncoder(o ParseOptions) *Encoder {
	return &Encoder{parser: NewParser(o), builder: NewBuilder()}
}

// Encode returns the value of one JSON text, valid until the next call. An error
// Is ErrSyntax.
func (e *Encoder) Encode(text []byte) (Value, error) {
	e.builder.Reset()
	if err := e.parser.Parse(text, e.builder); err != nil {
		return Value{}, err
	}
	return e.builder.Value()
}

// ParseJSON returns the value of one JSON text under default options.
func ParseJSON(text []byte) (Value, error) {
	v, err := NewEncoder(ParseOptions{}).Encode(text)
	if err != nil {
		return Value{}, err
	}
	return v, nil
}
