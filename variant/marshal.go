package variant

import (
	"bytes"
	"reflect"
	"sync"
	"unicode/utf8"
)

// Marshal returns x as a Variant that shares no bytes with it. Its bytes are the
// caller's, and must not be changed: values of the same names share a dictionary.
//
//	Go                               Variant
//	nil, nil pointer, map, slice     null
//	bool                             boolean
//	int.., uint..                    smallest integer; above int64, a decimal
//	float32, float64                 float, double
//	string, encoding.TextMarshaler   string, which must be valid UTF-8
//	[]byte, [N]byte                  binary
//	[16]byte with uuid, type UUID    uuid
//	time.Time                        timestamp, microseconds, cut off
//	  with nanos                     timestamp in nanoseconds
//	  with ntz                       timestamp_ntz of its wall clock
//	  with date, time                date, time of its wall clock
//	time.Duration                    integer, nanoseconds; with time: time of day
//	Decimal, big.Int                 decimal; smallest integer, else a decimal
//	json.Number, json.RawMessage     as JSON text is encoded
//	Value                            as it is; a missing one is null
//	slice, array                     array
//	map, struct                      object
//	interface, pointer               what it holds
//
// A struct field is named by its tag, `variant:"name,option,..."`, or by its Go
// name; "-" leaves it out. Options are those above, omitempty, which leaves out
// false, 0, "", nil, empty arrays, slices and maps, and the zero time.Time, and
// omitzero, which leaves out zero values and those whose method IsZero says so.
// Embedded structs give their fields to the outer one, and keys of maps are strings,
// integers or encoding.TextMarshaler, as in encoding/json. Other methods of types,
// MarshalJSON among them, are not called.
//
// Errors Is [ErrGoType] where a Go value has no Variant, [ErrDepth] beyond
// MaxDepth, which ends cycles too.
func Marshal(x any) (Value, error) {
	b := takeBuilder()
	defer builders.Put(b)
	if err := EmitGo(x, b); err != nil {
		return Value{}, err
	}
	v, err := b.Value()
	if err != nil {
		return Value{}, err
	}
	return Value{v.metadata, bytes.Clone(v.value)}, nil
}

// EmitGo passes x to a sink as [Marshal] encodes it: to a reused [Builder] without
// the copy, or to a writer of shredded columns without the encoding. Fields of a
// struct come in the order of their names.
func EmitGo(x any, sink Sink) error {
	e := goEncoders.Get().(*goEncoder)
	defer e.release()
	e.sink = sink
	e.builder, _ = sink.(*Builder)
	if err := e.any(x); err != nil {
		return goRooted(err)
	}
	return sink.Err()
}

// goEncoders keep their scratch space, up to maxScratch bytes, and nothing of what
// they wrote.
var goEncoders = sync.Pool{New: func() any { return new(goEncoder) }}

const maxScratch = 64 << 10

func (e *goEncoder) release() {
	clear(e.keys)
	clear(e.entries)
	*e = goEncoder{text: e.text[:0], keys: e.keys[:0], entries: e.entries[:0], root: e.root}
	if cap(e.text) > maxScratch || cap(e.keys) > maxScratch/16 || cap(e.entries) > maxScratch/64 {
		*e = goEncoder{}
	}
	goEncoders.Put(e)
}

// goEncoder turns Go values into events.
type goEncoder struct {
	sink    Sink
	builder *Builder   // sink, when it is one: saves the copy of strings
	scalar  Scalar     // scratch
	text    []byte     // scratch
	keys    []string   // of the open maps of type map[string]any
	entries []mapEntry // of other open maps
	depth   int
	root    recentPlan // of the last value in an interface
}

// encodeFunc writes a value of one Go type.
type encodeFunc func(e *goEncoder, v reflect.Value) error

func (e *goEncoder) null() { e.put(KindNull, 0) }

// put writes a scalar that an integer holds.
func (e *goEncoder) put(k Kind, x int64) {
	e.scalar = Scalar{Kind: k, Int: x, Hi: x >> 63}
	e.sink.Scalar(&e.scalar)
}

func (e *goEncoder) integer(x int64) {
	switch b := e.builder; {
	case b == nil:
		e.put(intKind(x), x)
	case b.place():
		b.putInt(x)
	}
}

func (e *goEncoder) double(x float64) {
	switch b := e.builder; {
	case b == nil:
		e.float(KindDouble, x)
	case b.place():
		b.putDouble(x)
	}
}

func (e *goEncoder) float(k Kind, x float64) {
	e.scalar = Scalar{Kind: k, Float: x}
	e.sink.Scalar(&e.scalar)
}

func (e *goEncoder) bytes(k Kind, x []byte) {
	e.scalar = Scalar{Kind: k, Bytes: x}
	e.sink.Scalar(&e.scalar)
}

func (e *goEncoder) string(x string) error {
	if e.builder != nil {
		if e.builder.Text(x); e.builder.err == nil {
			return nil
		}
	}
	if !utf8.ValidString(x) {
		return &GoTypeError{Type: typeString, Reason: "it is not UTF-8"}
	}
	if e.builder == nil {
		e.text = append(e.text[:0], x...)
		e.bytes(KindString, e.text)
	}
	return nil
}

// enter opens a container. Cycles of pointers end here.
func (e *goEncoder) enter(k Kind) error {
	if e.depth++; e.depth > MaxDepth {
		return ErrDepth
	}
	e.sink.Begin(k)
	return nil
}

func (e *goEncoder) leave() {
	e.depth--
	e.sink.End()
}

// any writes what an interface holds; the types that JSON decoders give come
// without a look at their plans.
func (e *goEncoder) any(x any) error {
	switch x := x.(type) {
	case nil:
		e.null()
	case string:
		return e.string(x)
	case float64:
		e.double(x)
	case int64:
		e.integer(x)
	case int:
		e.integer(int64(x))
	case bool:
		e.bool(x)
	case map[string]any:
		return e.mapOfAny(x)
	case []any:
		return e.sliceOfAny(x)
	default:
		v := reflect.ValueOf(x)
		return e.root.of(v.Type()).encode(e, v)
	}
	return nil
}

func (e *goEncoder) bool(x bool) {
	if x {
		e.put(KindBool, 1)
	} else {
		e.put(KindBool, 0)
	}
}

func (e *goEncoder) mapOfAny(m map[string]any) error {
	if m == nil {
		e.null()
		return nil
	}
	if err := e.enter(KindObject); err != nil {
		return err
	}
	from := e.pushKeys()
	for k := range m {
		e.keys = append(e.keys, k)
	}
	for i := range e.sortKeys(from) {
		k := e.keys[from+i]
		if err := e.key(k); err != nil {
			return err
		}
		if err := e.any(m[k]); err != nil {
			return goWithin(err, Step{Name: k})
		}
	}
	e.popKeys(from)
	e.leave()
	return nil
}

func (e *goEncoder) sliceOfAny(s []any) error {
	if s == nil {
		e.null()
		return nil
	}
	if err := e.enter(KindArray); err != nil {
		return err
	}
	for i := range s {
		if err := e.any(s[i]); err != nil {
			return goWithin(err, Step{Index: i, IsIndex: true})
		}
	}
	e.leave()
	return nil
}
