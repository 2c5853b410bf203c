package shred

import "github.com/frazil/frazil/variant"

// tape keeps the events of residuals until the dictionary of their row is known.
type tape struct {
	events []event
	bytes  []byte
}

// event is a scalar, a key, or the begin or end of a container.
type event struct {
	key    *key // not nil: a key
	end    bool
	at     int32 // of the scalar's bytes
	scalar variant.Scalar
}

func (t *tape) len() int32 { return int32(len(t.events)) }

func (t *tape) reset() { t.events, t.bytes = t.events[:0], t.bytes[:0] }

func (t *tape) scalar(s *variant.Scalar) {
	e := event{scalar: *s, at: int32(len(t.bytes))}
	e.scalar.Kind = residualKind(s)
	switch s.Kind {
	case variant.KindString, variant.KindBinary, variant.KindUUID:
		t.bytes = append(t.bytes, s.Bytes...)
	default:
		e.scalar.Bytes = nil
	}
	t.events = append(t.events, e)
}

func (t *tape) key(k *key) { t.events = append(t.events, event{key: k}) }

func (t *tape) begin(k variant.Kind) {
	t.events = append(t.events, event{scalar: variant.Scalar{Kind: k}})
}

func (t *tape) end() { t.events = append(t.events, event{end: true}) }

// replay passes the events from one index to another on.
func (t *tape) replay(sink variant.Sink, from, to int32) {
	for i := from; i < to; i++ {
		switch e := &t.events[i]; {
		case e.key != nil:
			sink.Key(e.key.bytes)
		case e.end:
			sink.End()
		case e.scalar.Kind.IsContainer():
			sink.Begin(e.scalar.Kind)
		default:
			e.scalar.Bytes = t.bytes[e.at:][:len(e.scalar.Bytes)]
			sink.Scalar(&e.scalar)
		}
	}
}

// residualKind is the kind under which a scalar is stored in a `value`. It is the
// scalar's own, but for decimals with more digits behind the point than their width
// has: the encoding allows a scale of 38 in any width, but Spark takes decimal4 with
// a scale above 9 for malformed, and decimal8 above 18, and so does arrow-rs.
func residualKind(s *variant.Scalar) variant.Kind {
	switch {
	case s.Kind == variant.KindDecimal4 && s.Scale > 9 && s.Scale <= 18:
		return variant.KindDecimal8
	case s.Kind == variant.KindDecimal4 && s.Scale > 18, s.Kind == variant.KindDecimal8 && s.Scale > 18:
		return variant.KindDecimal16
	}
	return s.Kind
}
