package variant

import (
	"fmt"
	"reflect"
	"sync"
	"time"
)

// Unmarshal stores v in what x points to, the other way round of [Marshal]'s table;
// what is stored shares no bytes with v. Numbers convert within their class and
// without loss: a Go integer takes exact numbers that are whole and fit, a Go float
// any number (an exact one rounded to the nearest), [Decimal] and big.Int exact
// numbers. time.Time takes timestamps of all four kinds, in UTC, and dates; with the
// option time it takes a time of day, in the year 1. An array takes as many elements
// as it has. An empty interface takes
//
//	null nil, boolean bool, integer int64, decimal Decimal, float float32,
//	double float64, string string, binary []byte, uuid [16]byte, date and
//	timestamps time.Time, time time.Duration, array []any, object map[string]any
//
// A null sets pointers, maps, slices and interfaces to nil and leaves other things
// as they are, as does a field that is missing; fields that x lacks are skipped.
// Names match exactly. Slices are reused, maps are added to.
//
// Errors Is [ErrGoType] where a value does not fit, with its path, [ErrCorrupt], or
// [ErrUsage] when v is missing. What was stored before an error stays.
func Unmarshal(v Value, x any) error {
	dst := reflect.ValueOf(x)
	if dst.Kind() != reflect.Pointer || dst.IsNil() {
		return &GoTypeError{Type: reflect.TypeOf(x), Kind: v.Kind(), Path: "$", Reason: "it is no pointer to a variable"}
	}
	if v.IsMissing() {
		return fmt.Errorf("%w: unmarshaling a missing value", ErrUsage)
	}
	dst = dst.Elem()
	d := goDecoders.Get().(*goDecoder)
	defer d.release()
	d.begin(v)
	return goRooted(d.root.of(dst.Type()).decode(d, v.value, dst))
}

// goDecoders keep what they know of recent dictionaries, which recent bounds, short
// texts, and nothing of what they read.
var goDecoders = sync.Pool{New: func() any { return new(goDecoder) }}

// goDecoder turns encoded values into Go values.
type goDecoder struct {
	metadata []byte
	copied   []byte // metadata, once a Value was stored
	dict     dict
	known    *knownNames    // of dict, when it came before
	budget   int            // as that of emitter
	text     int            // bytes that JSON texts may still have
	long     map[int]string // names from longName bytes on, which are made once
	depth    int
	scalar   Scalar

	root   recentPlan
	recent recent[knownNames]
	texts  recentTexts
}

// begin prepares for a value.
func (d *goDecoder) begin(v Value) {
	d.metadata, d.budget, d.text = v.metadata, len(v.value), textLimit(v)
	d.dict, _ = viewDict(v.metadata)
	if v.Kind().IsContainer() {
		d.recognize()
	}
}

func (d *goDecoder) release() {
	d.metadata, d.copied, d.dict, d.known, d.long = nil, nil, dict{}, nil, nil
	d.depth, d.scalar.Bytes = 0, nil
	goDecoders.Put(d)
}

// decodeFunc stores the value at the start of b in dst.
type decodeFunc func(d *goDecoder, b []byte, dst reflect.Value) error

// read decodes a scalar into d.scalar. A container is an error for a type that
// holds none.
func (d *goDecoder) read(b []byte, dst reflect.Value) error {
	if n := readScalar(b, &d.scalar); n != 0 {
		if d.budget -= n; d.budget < 0 {
			return corruptValue(0, "values overlap")
		}
		if err := d.scalar.check(); err != nil {
			return corruptValue(0, err.Error())
		}
		return nil
	}
	if len(b) > 0 && firstKinds[b[0]].IsContainer() {
		return mismatch(firstKinds[b[0]], dst, "it holds no container")
	}
	return corruptValue(0, "truncated or of unknown type")
}

// open reads the header of a container of a kind into c. none tells a null.
func (d *goDecoder) open(c *container, b []byte, k Kind, dst reflect.Value) (none bool, err error) {
	if d.budget--; d.budget < 0 {
		return false, corruptValue(0, "values overlap")
	}
	if len(b) > 0 && b[0] == primNull {
		return true, nil
	}
	if len(b) > 0 && firstKinds[b[0]] != KindMissing && firstKinds[b[0]] != k {
		return false, mismatch(firstKinds[b[0]], dst, "it holds an "+k.String())
	}
	if !c.read(b) {
		return false, corruptValue(0, "truncated container")
	}
	if d.depth++; d.depth > MaxDepth {
		return false, corruptValue(0, ErrDepth.Error())
	}
	return false, nil
}

func mismatch(k Kind, dst reflect.Value, reason string) error {
	return &GoTypeError{Type: dst.Type(), Kind: k, Reason: reason}
}

// scalarDecoder wraps a function that stores a scalar and says why it cannot.
func scalarDecoder(store func(s *Scalar, dst reflect.Value) string) decodeFunc {
	return func(d *goDecoder, b []byte, dst reflect.Value) error {
		if err := d.read(b, dst); err != nil {
			return err
		}
		if d.scalar.Kind == KindNull {
			return nil
		}
		if reason := store(&d.scalar, dst); reason != "" {
			return mismatch(d.scalar.Kind, dst, reason)
		}
		return nil
	}
}

const wrongKind = "the types differ"

func storeBool(s *Scalar, dst reflect.Value) string {
	if s.Kind != KindBool {
		return wrongKind
	}
	dst.SetBool(s.Int != 0)
	return ""
}

func storeInt(s *Scalar, dst reflect.Value) string {
	x, ok := s.Int, s.Kind.IsInteger()
	if s.Kind.IsDecimal() {
		if x, ok = s.Dec().Int64(); !ok {
			return "the number is not whole, or too large"
		}
	}
	switch {
	case !ok:
		return wrongKind
	case dst.OverflowInt(x):
		return "the number is too large"
	}
	dst.SetInt(x)
	return ""
}

func storeUint(s *Scalar, dst reflect.Value) string {
	if !s.Kind.IsExact() {
		return wrongKind
	}
	d := s.Dec()
	if s.Kind.IsDecimal() {
		d = d.Trim()
	}
	if d.Scale != 0 || d.Hi != 0 || dst.OverflowUint(d.Lo) {
		return "the number is negative, not whole, or too large"
	}
	dst.SetUint(d.Lo)
	return ""
}

func storeFloat(s *Scalar, dst reflect.Value) string {
	if !s.Kind.IsNumeric() {
		return wrongKind
	}
	x, _ := castFloat(s, dst.Type().Bits())
	if dst.OverflowFloat(x) {
		return "the number is too large"
	}
	dst.SetFloat(x)
	return ""
}

func storeString(s *Scalar, dst reflect.Value) string {
	if s.Kind != KindString {
		return wrongKind
	}
	dst.SetString(string(s.Bytes))
	return ""
}

func storeBytes(s *Scalar, dst reflect.Value) string {
	if s.Kind != KindBinary {
		return wrongKind
	}
	dst.SetBytes(append([]byte{}, s.Bytes...))
	return ""
}

func storeByteArray(s *Scalar, dst reflect.Value) string {
	if s.Kind != KindBinary && s.Kind != KindUUID || len(s.Bytes) != dst.Len() {
		return "the types or lengths differ"
	}
	reflect.Copy(dst, reflect.ValueOf(s.Bytes))
	return ""
}

// scalarTime returns an instant for the kinds that have one.
func scalarTime(s *Scalar) (time.Time, bool) {
	switch s.Kind {
	case KindTimestamp, KindTimestampNTZ:
		return time.UnixMicro(s.Int).UTC(), true
	case KindTimestampNanos, KindTimestampNTZNanos:
		return time.Unix(0, s.Int).UTC(), true
	case KindDate:
		return time.Unix(s.Int*86400, 0).UTC(), true
	}
	return time.Time{}, false
}

func storeTime(s *Scalar, dst reflect.Value) string {
	t, ok := scalarTime(s)
	if !ok {
		return wrongKind
	}
	*dst.Addr().Interface().(*time.Time) = t
	return ""
}

// storeClock stores a time of day, in the year 1 for a time.Time.
func storeClock(s *Scalar, dst reflect.Value) string {
	if s.Kind != KindTime || uint64(s.Int) >= microsPerDay {
		return wrongKind
	}
	since := time.Duration(s.Int) * time.Microsecond
	if dst.Type() == typeTime {
		*dst.Addr().Interface().(*time.Time) = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Add(since)
	} else {
		dst.SetInt(int64(since))
	}
	return ""
}

func storeDecimal(s *Scalar, dst reflect.Value) string {
	if !s.Kind.IsExact() {
		return wrongKind
	}
	*dst.Addr().Interface().(*Decimal) = s.Dec()
	return ""
}

// decodeAny stores what an interface takes.
func decodeAny(d *goDecoder, b []byte, dst reflect.Value) error {
	x, err := d.any(b)
	if err != nil {
		return err
	}
	if x == nil {
		dst.SetZero()
	} else {
		dst.Set(reflect.ValueOf(x))
	}
	return nil
}

func (d *goDecoder) any(b []byte) (any, error) {
	if len(b) > 0 && firstKinds[b[0]].IsContainer() {
		return d.anyContainer(b, firstKinds[b[0]])
	}
	if err := d.read(b, reflect.Value{}); err != nil {
		return nil, err
	}
	s := &d.scalar
	switch s.Kind {
	case KindBool:
		return s.Int != 0, nil
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return s.Int, nil
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return s.Dec(), nil
	case KindFloat:
		return float32(s.Float), nil
	case KindDouble:
		return s.Float, nil
	case KindString:
		return d.texts.of(s.Bytes), nil
	case KindBinary:
		return append([]byte{}, s.Bytes...), nil
	case KindUUID:
		return [16]byte(s.Bytes), nil
	case KindTime:
		return time.Duration(s.Int) * time.Microsecond, nil
	case KindDate, KindTimestamp, KindTimestampNTZ, KindTimestampNanos, KindTimestampNTZNanos:
		t, _ := scalarTime(s)
		return t, nil
	case KindMissing, KindNull, KindArray, KindObject:
	}
	return nil, nil
}

func (d *goDecoder) anyContainer(b []byte, k Kind) (any, error) {
	var c container
	_, err := d.open(&c, b, k, reflect.Value{})
	if err != nil {
		return nil, err
	}
	defer func() { d.depth-- }()
	if k == KindArray {
		out := make([]any, 0, min(c.n, maxPrealloc))
		for i := range c.n {
			x, err := d.any(c.child(i))
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	}
	out := make(map[string]any, min(c.n, maxPrealloc))
	for i := range c.n {
		name, ok := d.name(c.id(i))
		if !ok {
			return nil, corruptValue(c.ids+i*c.idW, "field id is not in the dictionary")
		}
		if out[name], err = d.any(c.child(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxPrealloc bounds what is allocated on the word of a count alone.
const maxPrealloc = 1024
