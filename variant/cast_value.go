package variant

import (
	"errors"
	"time"
)

// Cast converts v to t as Spark's variant_get does: scalars by the table of
// [CastScalar], containers to string as JSON, arrays to array<T>, objects to
// map<string,T> (every field) and struct<...> (the fields that it names, null
// where absent), variant to itself. A missing value and a null become null, but
// stay what they are under variant. One element that does not cast fails the
// whole; see [TryCast].
//
// The result shares no bytes with v, except under variant, where it is v. Errors
// Is [ErrCast], or [ErrCorrupt] when v cannot be read.
func Cast(v Value, t Type) (Value, error) {
	return cast(v, &t, false)
}

// TryCast is Cast as try_variant_get does it: elements and fields that do not
// cast become null, and ok is false when v itself does not.
func TryCast(v Value, t Type) (out Value, ok bool) {
	out, err := cast(v, &t, true)
	return out, err == nil
}

func cast(v Value, t *Type, try bool) (Value, error) {
	if t.ID == TypeVariant {
		return v, nil
	}
	if !t.IsNested() && !v.Kind().IsContainer() {
		s, err := castLeaf(v, t)
		if errors.Is(err, errNoCast) && !try {
			err = castError(v, t)
		}
		if err != nil {
			return Value{}, err
		}
		return Value{emptyMetadata, AppendScalar(nil, &s)}, nil
	}
	b := takeBuilder()
	defer builders.Put(b)
	if err := v.EmitCast(*t, try, b); err != nil {
		return Value{}, err
	}
	out, err := b.Value()
	if err != nil {
		return Value{}, err
	}
	return out.Clone(), nil
}

// EmitCast passes the result of [Cast], or of [TryCast] with try set, to a sink as
// events: fields of a struct in the order of its type, those of a map in the
// order of their names.
func (v Value) EmitCast(t Type, try bool, sink Sink) error {
	c := caster{sink: sink, try: try, budget: len(v.value) + 1, text: textLimit(v)}
	if err := c.value(v, &t, true); err != nil {
		if failed := (*CastError)(nil); errors.As(err, &failed) && failed.Path != "" {
			failed.Path = "$" + failed.Path
		}
		return err
	}
	return sink.Err()
}

// caster converts one value into events, with the budget of emitter, where a value
// that is not taken apart costs its bytes.
type caster struct {
	sink   Sink
	try    bool
	budget int
	text   int // bytes that texts of containers may still have
	names  longNames
}

// errNoCast tells that a value does not cast, before somebody wants to know which.
var errNoCast = errors.New("variant: no cast")

// value casts v. A failure below the top is a null when trying.
func (c *caster) value(v Value, t *Type, top bool) error {
	cost := len(v.value)
	if t.IsNested() && v.Kind().IsContainer() {
		cost = 1
	}
	if c.budget -= cost; c.budget < 0 {
		return corruptValue(0, "values overlap")
	}
	err := c.attempt(v, t)
	switch {
	case !errors.Is(err, errNoCast):
		return err
	case top || !c.try:
		return castError(v, t)
	}
	c.sink.Scalar(&Scalar{Kind: KindNull})
	return nil
}

// attempt casts v and emits nothing when v itself does not cast.
func (c *caster) attempt(v Value, t *Type) error {
	switch {
	case t.ID == TypeVariant && !v.IsMissing():
		return v.Emit(c.sink)
	case t.IsNested() && !v.IsMissing() && !v.IsNull():
		return c.nested(v, t)
	}
	var s Scalar
	var err error
	if t.ID == TypeString && v.Kind().IsContainer() {
		s.Kind = KindString
		s.Bytes, err = appendJSON(nil, v, c.text)
		c.text -= len(s.Bytes)
	} else {
		s, err = castLeaf(v, t)
	}
	if err != nil {
		return err
	}
	c.sink.Scalar(&s)
	return nil
}

func (c *caster) nested(v Value, t *Type) error {
	want := KindObject
	if t.ID == TypeArray {
		want = KindArray
	}
	if v.Kind() != want {
		return errNoCast
	}
	k, ok := readContainer(v.value)
	if !ok {
		return corruptValue(0, "truncated container")
	}
	var d dict
	if want == KindObject {
		if d, ok = viewDict(v.metadata); !ok {
			return corruptMeta(0, "bad header or truncated offsets")
		}
	}
	c.sink.Begin(want)
	var err error
	switch t.ID {
	case TypeArray:
		err = c.elements(v, &k, t.elem())
	case TypeMap:
		err = c.entries(v, &k, &d, t.elem())
	default:
		err = c.fields(v, &k, &d, t.Fields)
	}
	if err == nil {
		c.sink.End()
	}
	return err
}

func (c *caster) elements(v Value, k *container, t *Type) error {
	for i := range k.n {
		if err := c.child(v, k, i, t); err != nil {
			return within(err, Step{Index: i, IsIndex: true})
		}
	}
	return nil
}

func (c *caster) entries(v Value, k *container, d *dict, t *Type) error {
	for i := range k.n {
		name, ok := d.name(k.id(i))
		if !ok {
			return corruptValue(k.ids+i*k.idW, "field id is not in the dictionary")
		}
		c.names.pass(c.sink, k.id(i), name)
		if err := c.child(v, k, i, t); err != nil {
			return within(err, Step{Name: string(name)})
		}
	}
	return nil
}

func (c *caster) fields(v Value, k *container, d *dict, fields []TypeField) error {
	for i := range fields {
		c.sink.Key([]byte(fields[i].Name))
		pos, state := k.find(d, fields[i].Name)
		switch state {
		case walkFound:
		case walkMissing:
			c.sink.Scalar(&Scalar{Kind: KindNull})
			continue
		default:
			return corruptValue(0, "field id or its name is out of range")
		}
		if err := c.child(v, k, pos, &fields[i].Type); err != nil {
			return within(err, Step{Name: fields[i].Name})
		}
	}
	return nil
}

// child casts value i of a container.
func (c *caster) child(v Value, k *container, i int, t *Type) error {
	child := v.sub(k.child(i))
	if child.IsMissing() {
		return corruptValue(0, "truncated or of unknown type")
	}
	return c.value(child, t, false)
}

// within adds the step that led to a failed cast, from the inside out.
func within(err error, step Step) error {
	if failed := (*CastError)(nil); errors.As(err, &failed) {
		failed.Path = string(step.appendText(nil)) + failed.Path
	}
	return err
}

// castLeaf casts v to a type that is not nested. The error may be errNoCast.
func castLeaf(v Value, t *Type) (Scalar, error) {
	if v.IsMissing() {
		return Scalar{Kind: KindNull}, nil
	}
	if v.Kind().IsContainer() {
		return Scalar{}, errNoCast
	}
	s, ok := v.Scalar()
	if !ok {
		return Scalar{}, corruptValue(0, "truncated or of unknown type")
	}
	if err := s.check(); err != nil {
		return Scalar{}, corruptValue(0, err.Error())
	}
	out, ok := castScalar(&s, t)
	if !ok {
		return Scalar{}, errNoCast
	}
	return out, nil
}

// castError makes the error of a value that does not cast.
func castError(v Value, t *Type) error {
	text, err := appendJSON(nil, v, maxErrorText)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		return err
	}
	return &CastError{Kind: v.Kind(), Value: shorten(text), Type: t.String()}
}

// Castable are the Go types of [As].
type Castable interface {
	bool | int8 | int16 | int32 | int64 | int | float32 | float64 | string | []byte | time.Time | Decimal
}

// As casts a scalar to a Go type by the table of [CastScalar]: integers as
// tinyint to bigint, float32 and float64 as float and double, string, []byte as
// binary, time.Time as timestamp (in UTC, nanoseconds kept). A Decimal is an
// exact number with its digits and scale as they are, or a text of one. ok is
// false when v is missing, null, a container or does not cast. A []byte is a view
// of v's bytes.
func As[T Castable](v Value) (out T, ok bool) {
	s, ok := v.Scalar()
	if !ok || s.Kind == KindNull {
		return out, false
	}
	switch p := any(&out).(type) {
	case *bool:
		x, fits := castBool(&s)
		*p, ok = x != 0, fits
	case *int8:
		x, fits := castInt(&s)
		*p, ok = int8(x), fits && x == int64(int8(x))
	case *int16:
		x, fits := castInt(&s)
		*p, ok = int16(x), fits && x == int64(int16(x))
	case *int32:
		x, fits := castInt(&s)
		*p, ok = int32(x), fits && x == int64(int32(x))
	case *int64:
		*p, ok = castInt(&s)
	case *int:
		x, fits := castInt(&s)
		*p, ok = int(x), fits && x == int64(int(x))
	case *float32:
		x, fits := castFloat(&s, 32)
		*p, ok = float32(x), fits
	case *float64:
		*p, ok = castFloat(&s, 64)
	case *string:
		x, fits := castString(&s)
		*p, ok = string(x.Bytes), fits
	case *[]byte:
		x, fits := castScalar(&s, &Type{ID: TypeBinary})
		*p, ok = x.Bytes, fits
	case *time.Time:
		*p, ok = asTime(&s)
	case *Decimal:
		*p, ok = asDecimal(&s)
	}
	if !ok {
		var zero T
		return zero, false
	}
	return out, true
}

func asTime(s *Scalar) (time.Time, bool) {
	if s.Kind == KindTimestampNanos || s.Kind == KindTimestampNTZNanos {
		return time.Unix(0, s.Int).UTC(), true
	}
	us, ok := castTimestamp(s)
	return time.UnixMicro(us).UTC(), ok
}

// asDecimal keeps the scale of what is an exact number.
func asDecimal(s *Scalar) (Decimal, bool) {
	if s.Kind.IsExact() {
		return s.Dec(), true
	}
	if s.Kind != KindString {
		return Decimal{}, false
	}
	d, err := decimalOfText(trimSpace(s.Bytes))
	return d, err == nil
}
