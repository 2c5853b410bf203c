package variant

// emitter walks encoded bytes and passes events on. budget bounds the number of
// values visited by the number of bytes, because offsets that overlap could
// otherwise make a small value endless.
type emitter struct {
	sink   Sink
	dict   dict
	budget int
	scalar Scalar
}

// Emit passes v to a sink as events, fields in stored order. Truncated bytes, ids
// out of range and nesting beyond MaxDepth are errors that are ErrCorrupt;
// Validate checks more. A missing value is an error that Is ErrUsage.
func (v Value) Emit(sink Sink) error {
	if v.IsMissing() {
		return ErrUsage
	}
	e := emitter{sink: sink, budget: len(v.value)}
	e.dict, _ = viewDict(v.metadata)
	if err := e.value(v.value, 0); err != nil {
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
		return corruptValue(0, "truncated or of unknown type")
	}
	e.sink.Scalar(&e.scalar)
	return nil
}

func (e *emitter) container(b []byte, depth int) error {
	c, ok := readContainer(b)
	if !ok {
		return corruptValue(0, "truncated container")
	}
	if depth > MaxDepth {
		return corruptValue(0, ErrDepth.Error())
	}
	e.sink.Begin(firstKinds[b[0]])
	for i := range c.n {
		if c.idW > 0 {
			name, ok := e.dict.name(c.id(i))
			if !ok {
				return corruptValue(c.ids+i*c.idW, "field id is not in the dictionary")
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
