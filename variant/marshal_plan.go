package variant

import (
	"encoding"
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

// encoderFor returns the function that writes a Go type.
func encoderFor(typ reflect.Type, opt goOption) encodeFunc {
	if f := specialEncoder(typ, opt); f != nil {
		return f
	}
	switch typ.Kind() {
	case reflect.Bool:
		return func(e *goEncoder, v reflect.Value) error { e.bool(v.Bool()); return nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(e *goEncoder, v reflect.Value) error { e.integer(v.Int()); return nil }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return encodeUint
	case reflect.Float32:
		return func(e *goEncoder, v reflect.Value) error { e.float(KindFloat, v.Float()); return nil }
	case reflect.Float64:
		return func(e *goEncoder, v reflect.Value) error { e.double(v.Float()); return nil }
	case reflect.String:
		return func(e *goEncoder, v reflect.Value) error { return e.string(v.String()) }
	case reflect.Interface:
		return encodeInterface
	case reflect.Pointer:
		return pointerEncoder(buildPlan(typ.Elem(), opt))
	case reflect.Slice, reflect.Array:
		return sequenceEncoder(typ, opt)
	case reflect.Map:
		return mapEncoder(typ, opt)
	case reflect.Struct:
		return structEncoder(goFields(typ))
	}
	return encodeUnsupported
}

// specialEncoder handles the types that have a meaning of their own; nil for others.
func specialEncoder(typ reflect.Type, opt goOption) encodeFunc {
	switch typ {
	case typeTime:
		return func(e *goEncoder, v reflect.Value) error {
			return e.time(v.Interface().(time.Time), opt)
		}
	case typeDuration:
		if opt&optTime != 0 {
			return encodeTimeOfDay
		}
	case typeDecimal:
		return func(e *goEncoder, v reflect.Value) error {
			return e.decimal(v.Interface().(Decimal))
		}
	case typeBigInt:
		return encodeBigInt
	case typeValue:
		return func(e *goEncoder, v reflect.Value) error { return e.value(v.Interface().(Value)) }
	case typeNumber:
		return func(e *goEncoder, v reflect.Value) error { return e.rawJSON([]byte(v.String()), v.Type()) }
	case typeRawJSON:
		return func(e *goEncoder, v reflect.Value) error { return e.rawJSON(v.Bytes(), v.Type()) }
	}
	if isUUID(typ, opt) {
		return func(e *goEncoder, v reflect.Value) error { e.byteArray(KindUUID, v); return nil }
	}
	switch {
	case typ.Kind() == reflect.Interface, typ.Kind() == reflect.Pointer:
		return nil // what it holds decides
	case typ.Implements(textMarshaler):
		return encodeText
	case reflect.PointerTo(typ).Implements(textMarshaler):
		return encodeTextByPointer
	}
	return nil
}

func (e *goEncoder) decimal(d Decimal) error {
	e.scalar.SetDecimal(d)
	if err := e.scalar.check(); err != nil {
		return &GoTypeError{Type: typeDecimal, Reason: err.Error()}
	}
	e.sink.Scalar(&e.scalar)
	return nil
}

func encodeUnsupported(_ *goEncoder, v reflect.Value) error {
	return &GoTypeError{Type: v.Type(), Reason: "it has no Variant"}
}

func encodeUint(e *goEncoder, v reflect.Value) error {
	x := v.Uint()
	if int64(x) >= 0 {
		e.integer(int64(x))
		return nil
	}
	e.scalar.SetDecimal(Decimal{Lo: x})
	e.sink.Scalar(&e.scalar)
	return nil
}

func encodeInterface(e *goEncoder, v reflect.Value) error {
	if v.IsNil() {
		e.null()
		return nil
	}
	if v.NumMethod() == 0 {
		return e.any(v.Interface())
	}
	v = v.Elem()
	return planOf(v.Type(), 0).encode(e, v)
}

// pointerEncoder counts pointers as depth, so that a type which is a pointer to
// itself ends.
func pointerEncoder(elem *goPlan) encodeFunc {
	return func(e *goEncoder, v reflect.Value) error {
		if v.IsNil() {
			e.null()
			return nil
		}
		if e.depth++; e.depth > MaxDepth {
			return ErrDepth
		}
		err := elem.encode(e, v.Elem())
		e.depth--
		return err
	}
}

func sequenceEncoder(typ reflect.Type, opt goOption) encodeFunc {
	if typ.Elem().Kind() == reflect.Uint8 {
		if typ.Kind() == reflect.Array {
			return func(e *goEncoder, v reflect.Value) error { e.byteArray(KindBinary, v); return nil }
		}
		return func(e *goEncoder, v reflect.Value) error {
			if v.IsNil() {
				e.null()
			} else {
				e.bytes(KindBinary, v.Bytes())
			}
			return nil
		}
	}
	elem, nilable := buildPlan(typ.Elem(), opt), typ.Kind() == reflect.Slice
	return func(e *goEncoder, v reflect.Value) error {
		if nilable && v.IsNil() {
			e.null()
			return nil
		}
		if err := e.enter(KindArray); err != nil {
			return err
		}
		for i := range v.Len() {
			if err := elem.encode(e, v.Index(i)); err != nil {
				return goWithin(err, Step{Index: i, IsIndex: true})
			}
		}
		e.leave()
		return nil
	}
}

// byteArray writes an array of bytes, which need not be addressable.
func (e *goEncoder) byteArray(k Kind, v reflect.Value) {
	e.text = slices.Grow(e.text[:0], v.Len())[:v.Len()]
	reflect.Copy(reflect.ValueOf(e.text), v)
	e.bytes(k, e.text)
}

// pushKeys, sortKeys and popKeys keep the sorted keys of nested maps on one stack.
func (e *goEncoder) pushKeys() int { return len(e.keys) }

func (e *goEncoder) sortKeys(from int) int {
	slices.Sort(e.keys[from:])
	return len(e.keys) - from
}

func (e *goEncoder) popKeys(from int) {
	clear(e.keys[from:])
	e.keys = e.keys[:from]
}

func structEncoder(fields []goField) encodeFunc {
	for i := range fields {
		if fields[i].bad != "" {
			return func(_ *goEncoder, v reflect.Value) error {
				return &GoTypeError{Type: v.Type(), Reason: fields[i].bad}
			}
		}
	}
	return func(e *goEncoder, v reflect.Value) error {
		if err := e.enter(KindObject); err != nil {
			return err
		}
		for i := range fields {
			f := &fields[i]
			var x reflect.Value
			if f.direct >= 0 {
				x = v.Field(f.direct)
			} else {
				var ok bool
				if x, ok = f.of(v); !ok {
					continue
				}
			}
			if f.omitEmpty && isEmpty(x) || f.omitZero && isZero(x) {
				continue
			}
			e.name(f.key)
			if err := f.plan.encode(e, x); err != nil {
				return goWithin(err, Step{Name: f.name})
			}
		}
		e.leave()
		return nil
	}
}

// of returns the field in a struct; false inside a nil embedded pointer.
func (f *goField) of(v reflect.Value) (reflect.Value, bool) {
	for i, at := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}
	return v, true
}

// zeroer is what time.Time and others have to say which of their values is zero.
type zeroer interface{ IsZero() bool }

var typeZeroer = reflect.TypeFor[zeroer]()

// isZero reports whether v is the zero value, or says so itself. As in encoding/json
// the static type decides whether it is asked.
func isZero(v reflect.Value) bool {
	switch {
	case v.IsZero():
		return true
	case v.Type().Implements(typeZeroer):
		return v.Interface().(zeroer).IsZero()
	case v.CanAddr() && reflect.PointerTo(v.Type()).Implements(typeZeroer):
		return v.Addr().Interface().(zeroer).IsZero()
	}
	return false
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return v.Type() == typeTime && v.Interface().(time.Time).IsZero()
	}
	return v.IsZero()
}

func (e *goEncoder) time(t time.Time, opt goOption) error {
	wall := t.Unix()
	if _, offset := t.Zone(); opt&(optDate|optTime|optNTZ) != 0 {
		wall += int64(offset)
	}
	switch {
	case opt&optDate != 0:
		days := floorDiv(wall, 86400)
		if days != int64(int32(days)) {
			return &GoTypeError{Type: typeTime, Reason: "the date is out of range"}
		}
		e.put(KindDate, days)
		return nil
	case opt&optTime != 0:
		e.put(KindTime, floorMod(wall, 86400)*1e6+int64(t.Nanosecond())/1e3)
		return nil
	}
	kind, perSecond, rest := KindTimestamp, int64(1e6), int64(t.Nanosecond())/1e3
	if opt&optNanos != 0 {
		kind, perSecond, rest = KindTimestampNanos, 1e9, int64(t.Nanosecond())
	}
	x, ok := addUnits(wall, perSecond, rest)
	if !ok {
		return &GoTypeError{Type: typeTime, Reason: "the time is out of range"}
	}
	if opt&optNTZ != 0 {
		kind++ // the kinds without a zone follow those with one
	}
	e.put(kind, x)
	return nil
}

func encodeTimeOfDay(e *goEncoder, v reflect.Value) error {
	d := time.Duration(v.Int())
	if d < 0 || d >= 24*time.Hour {
		return &GoTypeError{Type: typeDuration, Reason: "a time of day is from 0 to 24 hours"}
	}
	e.put(KindTime, d.Microseconds())
	return nil
}

func encodeBigInt(e *goEncoder, v reflect.Value) error {
	var x *big.Int
	if v.CanAddr() {
		x = v.Addr().Interface().(*big.Int)
	} else {
		y := v.Interface().(big.Int)
		x = &y
	}
	if x.IsInt64() {
		e.integer(x.Int64())
		return nil
	}
	d, ok := parseDecimal(x.Append(e.text[:0], 10), 0)
	if !ok {
		return &GoTypeError{Type: typeBigInt, Reason: "it has more than 38 digits"}
	}
	e.scalar.SetDecimal(d)
	e.sink.Scalar(&e.scalar)
	return nil
}

func (e *goEncoder) value(v Value) error {
	switch {
	case v.IsMissing():
		e.null()
		return nil
	case e.builder != nil:
		e.builder.AppendValue(v)
		return nil
	}
	return v.Emit(e.sink)
}

// parsers keep nothing of what they parsed.
var parsers = sync.Pool{New: func() any { return NewParser(ParseOptions{}) }}

// rawJSON passes the events of a JSON text.
func (e *goEncoder) rawJSON(text []byte, typ reflect.Type) error {
	if len(text) == 0 {
		if typ == typeNumber {
			text = []byte("0") // as encoding/json has it
		} else {
			text = []byte("null")
		}
	}
	if typ == typeNumber && (text[0] != '-' && (text[0] < '0' || text[0] > '9') || !json.Valid(text)) {
		return &GoTypeError{Type: typ, Reason: "it is no number"}
	}
	p := parsers.Get().(*Parser)
	defer parsers.Put(p)
	return p.Parse(text, e.sink)
}

func encodeText(e *goEncoder, v reflect.Value) error {
	return e.textOf(v.Interface().(encoding.TextMarshaler), v.Type())
}

func encodeTextByPointer(e *goEncoder, v reflect.Value) error {
	if !v.CanAddr() {
		x := reflect.New(v.Type())
		x.Elem().Set(v)
		v = x.Elem()
	}
	return e.textOf(v.Addr().Interface().(encoding.TextMarshaler), v.Type())
}

func (e *goEncoder) textOf(m encoding.TextMarshaler, typ reflect.Type) error {
	text, err := m.MarshalText()
	if err != nil {
		return &GoTypeError{Type: typ, Reason: err.Error()}
	}
	if !utf8.Valid(text) {
		return &GoTypeError{Type: typ, Reason: "its text is not UTF-8"}
	}
	e.bytes(KindString, text)
	return nil
}
