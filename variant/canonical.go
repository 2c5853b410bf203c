package variant

import (
	"errors"
	"math"
	"sync"
)

// Canonical returns the one encoding of v's meaning: values are Equal exactly when
// the bytes of their canonical forms, metadata included, are. Its choices are:
//
//   - an exact number is the smallest integer that holds it if it is whole within
//     64 bits, else the smallest decimal, without trailing zeros
//   - a timestamp is in microseconds unless that loses nanoseconds
//   - -0 is 0, and there is one NaN
//   - the dictionary is sorted and holds the names that v uses; widths are the
//     smallest, and values are stored in the order of their fields
//
// The result shares no bytes with v. A missing value stays missing. An error Is
// [ErrCorrupt].
func Canonical(v Value) (Value, error) {
	if v.IsMissing() {
		return Value{}, nil
	}
	b := takeBuilder()
	defer builders.Put(b)
	c := canonicalizer{out: b, budget: len(v.value)}
	c.dict.view(v.metadata)
	if err := c.value(v.value, 0); err != nil {
		return Value{}, err
	}
	out, err := b.Value()
	if errors.Is(err, ErrTooLarge) {
		return Value{}, err
	}
	if err != nil { // a name twice in one object, or the like
		return Value{}, corruptValue(0, err.Error())
	}
	return out.Clone(), nil
}

// builders are for one-off values. What leaves one is cloned before it goes back.
var builders = sync.Pool{New: func() any { return NewBuilder() }}

func takeBuilder() *Builder {
	b := builders.Get().(*Builder)
	b.Reset()
	return b
}

// canonicalizer writes a value anew, like emitter but with the fields of each
// object in the order of their names, which old writers in UTF-16 order did not
// keep. Its budget is that of emitter.
type canonicalizer struct {
	out    *Builder
	dict   orderedDict
	names  longNames
	budget int
}

func (c *canonicalizer) value(b []byte, depth int) error {
	if len(b) > 0 && b[0]&3 >= basicObject {
		return c.container(b, depth+1)
	}
	var s Scalar
	n := readScalar(b, &s)
	if n == 0 {
		return corruptValue(0, "truncated or of unknown type")
	}
	if c.budget -= n; c.budget < 0 {
		return corruptValue(0, "values overlap")
	}
	s = canonicalScalar(&s)
	c.out.Scalar(&s)
	return nil
}

func (c *canonicalizer) container(b []byte, depth int) error {
	k, ok := readContainer(b)
	switch {
	case !ok:
		return corruptValue(0, "truncated container")
	case depth > MaxDepth:
		return corruptValue(0, ErrDepth.Error())
	}
	if c.budget--; c.budget < 0 {
		return corruptValue(0, "values overlap")
	}
	var order []int
	if k.idW > 0 {
		order = k.order(&c.dict)
	}
	c.out.Begin(firstKinds[b[0]])
	for i := range k.n {
		at := i
		if order != nil {
			at = order[i]
		}
		if k.idW > 0 {
			name, ok := c.dict.name(k.id(at))
			if !ok {
				return corruptValue(k.ids+at*k.idW, "field id is not in the dictionary")
			}
			c.names.pass(c.out, k.id(at), name)
		}
		if err := c.value(k.child(at), depth); err != nil {
			return err
		}
	}
	c.out.End()
	return nil
}

func canonicalScalar(s *Scalar) Scalar {
	out := *s
	switch s.Kind {
	case KindInt8, KindInt16, KindInt32, KindInt64:
		out.SetInt(s.Int)
	case KindDecimal4, KindDecimal8, KindDecimal16:
		d := s.Dec().Trim()
		if x, ok := d.Int64(); ok {
			out.SetInt(x)
		} else {
			out.SetDecimal(d)
		}
	case KindFloat, KindDouble:
		switch {
		case s.Float == 0:
			out.Float = 0
		case math.IsNaN(s.Float):
			out.Float = math.NaN()
		}
	case KindTimestampNanos, KindTimestampNTZNanos:
		if micros, nanos := instant(s); nanos == 0 {
			out.Int, out.Kind = micros, KindTimestamp
			if s.Kind == KindTimestampNTZNanos {
				out.Kind = KindTimestampNTZ
			}
		}
	case KindMissing, KindNull, KindBool, KindDate, KindTime, KindTimestamp, KindTimestampNTZ,
		KindString, KindBinary, KindUUID, KindArray, KindObject:
	}
	return out
}
