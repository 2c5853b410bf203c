package variant

import (
	"bytes"
	"fmt"
	"time"
)

// Value is a view of an encoded Variant: the bytes of a dictionary and of one
// value. It is two slices, is passed by value, and is valid as long as the bytes
// it views; Clone keeps it longer.
//
// The zero Value is missing: what a lookup gives where nothing is. A Variant
// null is a value that is there, of KindNull. Every method works on a missing
// value, so lookups chain without checks.
type Value struct {
	metadata []byte
	value    []byte
}

// New returns a view of the bytes after checking all of them, as Validate does.
// An error Is ErrCorrupt.
func New(metadata, value []byte) (Value, error) {
	v := Value{metadata, value}
	if err := v.Validate(); err != nil {
		return Value{}, err
	}
	return v, nil
}

// Unchecked returns a view of bytes that are known to be good. Methods never
// panic on other bytes, but what they answer then means nothing.
func Unchecked(metadata, value []byte) Value { return Value{metadata, value} }

// Metadata returns the dictionary's bytes.
func (v Value) Metadata() []byte { return v.metadata }

// Bytes returns the value's bytes.
func (v Value) Bytes() []byte { return v.value }

// Kind returns the type of the value; KindMissing for the zero Value and for
// types that this version does not know.
func (v Value) Kind() Kind {
	if len(v.value) == 0 {
		return KindMissing
	}
	return firstKinds[v.value[0]]
}

// IsMissing reports whether there is no value.
func (v Value) IsMissing() bool { return len(v.value) == 0 }

// IsNull reports whether v is a Variant null.
func (v Value) IsNull() bool { return len(v.value) > 0 && v.value[0] == primNull }

// Clone returns a copy that shares no bytes with v.
func (v Value) Clone() Value {
	return Value{bytes.Clone(v.metadata), bytes.Clone(v.value)}
}

// Scalar returns the value unless it is missing, a container or corrupt. Bytes
// of strings and binaries are views.
func (v Value) Scalar() (Scalar, bool) {
	var s Scalar
	if readScalar(v.value, &s) == 0 {
		return Scalar{}, false
	}
	return s, true
}

// Bool returns the value of a boolean.
func (v Value) Bool() (value, ok bool) {
	s, ok := v.Scalar()
	if !ok || s.Kind != KindBool {
		return false, false
	}
	return s.Int != 0, true
}

// Int64 returns an exact number that is whole and fits: integers of every width
// and decimals such as 22.00.
func (v Value) Int64() (int64, bool) {
	s, ok := v.Scalar()
	switch {
	case !ok:
		return 0, false
	case s.Kind.IsInteger():
		return s.Int, true
	case s.Kind.IsDecimal():
		return s.Dec().Int64()
	}
	return 0, false
}

// Float64 returns any number; an exact number that has no double is rounded to
// the nearest.
func (v Value) Float64() (float64, bool) {
	s, ok := v.Scalar()
	switch {
	case !ok:
		return 0, false
	case s.Kind == KindDouble || s.Kind == KindFloat:
		return s.Float, true
	case s.Kind.IsInteger():
		return float64(s.Int), true
	case s.Kind.IsDecimal():
		return s.Dec().Float64(), true
	}
	return 0, false
}

// Decimal returns an exact number, with the scale that its bytes keep.
func (v Value) Decimal() (Decimal, bool) {
	s, ok := v.Scalar()
	if !ok || !s.Kind.IsExact() {
		return Decimal{}, false
	}
	return s.Dec(), true
}

// Text returns a copy of a string.
func (v Value) Text() (string, bool) {
	b, ok := v.TextBytes()
	return string(b), ok
}

// TextBytes returns a view of a string's bytes.
func (v Value) TextBytes() ([]byte, bool) { return v.view(KindString) }

// Binary returns a view of a binary's bytes.
func (v Value) Binary() ([]byte, bool) { return v.view(KindBinary) }

// UUID returns a UUID, most significant byte first.
func (v Value) UUID() (id [16]byte, ok bool) {
	b, ok := v.view(KindUUID)
	copy(id[:], b)
	return id, ok
}

func (v Value) view(k Kind) ([]byte, bool) {
	s, ok := v.Scalar()
	if !ok || s.Kind != k {
		return nil, false
	}
	return s.Bytes, true
}

// Date returns the days since 1970-01-01 of a date.
func (v Value) Date() (int32, bool) {
	s, ok := v.Scalar()
	if !ok || s.Kind != KindDate {
		return 0, false
	}
	return int32(s.Int), true
}

// Time returns the duration since midnight of a time of day.
func (v Value) Time() (time.Duration, bool) {
	s, ok := v.Scalar()
	if !ok || s.Kind != KindTime || uint64(s.Int) >= microsPerDay {
		return 0, false
	}
	return time.Duration(s.Int) * time.Microsecond, true
}

// Timestamp returns a timestamp of either unit, in UTC. One without a zone is
// returned as if its zone were UTC; Kind tells.
func (v Value) Timestamp() (time.Time, bool) {
	s, ok := v.Scalar()
	switch {
	case !ok:
		return time.Time{}, false
	case s.Kind == KindTimestamp || s.Kind == KindTimestampNTZ:
		return time.UnixMicro(s.Int).UTC(), true
	case s.Kind == KindTimestampNanos || s.Kind == KindTimestampNTZNanos:
		return time.Unix(0, s.Int).UTC(), true
	}
	return time.Time{}, false
}

// String returns the value as JSON, for logs and tests; a missing or corrupt
// value is named between angle brackets.
func (v Value) String() string {
	if v.IsMissing() {
		return "<missing>"
	}
	b, err := AppendJSON(nil, v)
	if err != nil {
		return fmt.Sprintf("<%v>", err)
	}
	return string(b)
}

// MarshalJSON implements json.Marshaler; a missing value is null.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.IsMissing() {
		return []byte("null"), nil
	}
	return AppendJSON(nil, v)
}

// UnmarshalJSON implements json.Unmarshaler by ParseJSON.
func (v *Value) UnmarshalJSON(text []byte) error {
	parsed, err := ParseJSON(text)
	if err == nil {
		*v = parsed
	}
	return err
}
