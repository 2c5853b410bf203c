package variant

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// ErrCast is returned when a value has no meaning in the type that it is cast
// to. The error in hand is a [*CastError].
var ErrCast = errors.New("variant: value does not cast")

// CastError says which value did not cast to which type. It Is [ErrCast].
type CastError struct {
	Kind  Kind   // of the value
	Value string // its text, shortened to some 64 bytes
	Type  string // SQL name of the target
	Path  string // where the value stands in what was cast, such as $['a'][1]; empty for the whole
}

// Error shows the value, where it stands and the type.
func (e *CastError) Error() string {
	at := ""
	if e.Path != "" {
		at = " at " + e.Path
	}
	return fmt.Sprintf("variant: %s %s%s does not cast to %s", e.Kind, e.Value, at, e.Type)
}

// Is reports whether target is [ErrCast].
func (e *CastError) Is(target error) bool { return target == ErrCast }

// CastScalar converts a scalar to a scalar type as Spark's variant_get does
// under a session time zone of UTC. Null stays null. Rows are kinds, columns
// targets; "r" means that a value out of range, or text that does not parse, is
// an error:
//
//	             boolean  ints   float  double  decimal  string  binary  date  timestamp  timestamp_ntz
//	bool          yes     0, 1   0, 1   0, 1    0, 1     yes     -       -     -          -
//	exact number  != 0    trunc  yes    yes     round r  yes     -       -     seconds r  -
//	float, double != 0    trunc  yes    yes     round r  yes     -       -     seconds r  -
//	string        words   r      r      r       round r  yes     yes     r     r          r
//	binary        -       -      -      -       -        UTF-8   yes     -     -          -
//	date          -       -      -      -       -        yes     -       yes   yes r      yes r
//	timestamp     -       sec r  sec    sec     sec r    yes     -       yes   yes        yes
//	timestamp_ntz -       -      -      -       -        yes     -       yes   yes        yes
//	time, uuid    -       -      -      -       -        yes     -       -     -          -
//
// Integers cut fractions off and are ranged; decimals round half up; seconds of
// a timestamp are floored for integers; nanoseconds are floored to microseconds.
// Bytes that are no UTF-8 become U+FFFD in a string. A decimal comes back in the
// width that its type's precision needs. Containers cast through [Cast] only.
//
// The result's Bytes alias those of s, except for the text of what was no text,
// which is the only thing that allocates. The error Is [ErrCast].
func CastScalar(s *Scalar, t Type) (Scalar, error) {
	out, ok := castScalar(s, &t)
	if !ok {
		text := AppendScalarJSON(nil, s)
		return Scalar{}, &CastError{Kind: s.Kind, Value: shorten(text), Type: t.String()}
	}
	return out, nil
}

// TryCastScalar is CastScalar without an error: false tells that s does not cast.
func TryCastScalar(s *Scalar, t Type) (Scalar, bool) { return castScalar(s, &t) }

// maxErrorText is the length in bytes of a value in an error message.
const maxErrorText = 64

// shorten cuts a text for an error message, at a character boundary.
func shorten(text []byte) string {
	if len(text) <= maxErrorText {
		return string(text)
	}
	n := maxErrorText
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return string(text[:n]) + "..."
}

// castScalar is CastScalar without the error's cost.
func castScalar(s *Scalar, t *Type) (Scalar, bool) {
	if s.Kind == KindNull || s.Kind == KindMissing {
		return Scalar{Kind: KindNull}, t.ID != TypeVariant || s.Kind == KindNull
	}
	switch t.ID {
	case TypeVariant:
		return *s, true
	case TypeBoolean:
		x, ok := castBool(s)
		return Scalar{Kind: KindBool, Int: x}, ok
	case TypeTinyint:
		x, ok := castInt(s)
		return intScalar(KindInt8, x), ok && x == int64(int8(x))
	case TypeSmallint:
		x, ok := castInt(s)
		return intScalar(KindInt16, x), ok && x == int64(int16(x))
	case TypeInt:
		x, ok := castInt(s)
		return intScalar(KindInt32, x), ok && x == int64(int32(x))
	case TypeBigint:
		x, ok := castInt(s)
		return intScalar(KindInt64, x), ok
	case TypeFloat:
		x, ok := castFloat(s, 32)
		return Scalar{Kind: KindFloat, Float: float64(float32(x))}, ok
	case TypeDouble:
		x, ok := castFloat(s, 64)
		return Scalar{Kind: KindDouble, Float: x}, ok
	case TypeDecimal:
		return castDecimal(s, t.Precision, t.Scale)
	case TypeString:
		return castString(s)
	case TypeBinary:
		return Scalar{Kind: KindBinary, Bytes: s.Bytes}, s.Kind == KindBinary || s.Kind == KindString
	case TypeDate:
		x, ok := castDate(s)
		return intScalar(KindDate, x), ok
	case TypeTimestamp:
		x, ok := castTimestamp(s)
		return intScalar(KindTimestamp, x), ok
	case TypeTimestampNTZ:
		x, ok := castTimestampNTZ(s)
		return intScalar(KindTimestampNTZ, x), ok
	case TypeArray, TypeMap, TypeStruct:
	}
	return Scalar{}, false
}

func intScalar(k Kind, x int64) Scalar { return Scalar{Kind: k, Int: x, Hi: x >> 63} }

func castBool(s *Scalar) (int64, bool) {
	truth := false
	switch s.Kind {
	case KindBool, KindInt8, KindInt16, KindInt32, KindInt64:
		truth = s.Int != 0
	case KindDecimal4, KindDecimal8, KindDecimal16:
		truth = s.Int != 0 || s.Hi != 0
	case KindFloat, KindDouble:
		truth = s.Float != 0 // NaN too
	case KindString:
		return parseBool(trimSpace(s.Bytes))
	default:
		return 0, false
	}
	if truth {
		return 1, true
	}
	return 0, true
}

// castInt returns the whole part of s within 64 bits.
func castInt(s *Scalar) (int64, bool) {
	switch s.Kind {
	case KindBool, KindInt8, KindInt16, KindInt32, KindInt64:
		return s.Int, true
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return truncDecimal(s.Dec())
	case KindFloat, KindDouble:
		return truncFloat(s.Float)
	case KindString:
		return parseInt(trimSpace(s.Bytes))
	case KindTimestamp:
		return floorDiv(s.Int, 1e6), true
	case KindTimestampNanos:
		return floorDiv(s.Int, 1e9), true
	}
	return 0, false
}

// truncFloat cuts the fraction off. 2^63 itself is out of range, where Spark
// answers 2^63-1.
func truncFloat(x float64) (int64, bool) {
	if x >= -(1<<63) && x < 1<<63 { // false for NaN
		return int64(x), true
	}
	return 0, false
}

func floorDiv(x, d int64) int64 {
	q := x / d
	if x%d < 0 {
		q--
	}
	return q
}

// castFloat returns the nearest number of the given bits, 32 or 64.
func castFloat(s *Scalar, bits int) (float64, bool) {
	switch s.Kind {
	case KindBool, KindInt8, KindInt16, KindInt32, KindInt64:
		if bits == 32 {
			return float64(float32(s.Int)), true
		}
		return float64(s.Int), true
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return decimalFloat(s.Dec(), bits), true
	case KindFloat, KindDouble:
		return s.Float, true
	case KindString:
		return parseFloat(trimSpace(s.Bytes), bits)
	case KindTimestamp:
		return float64(s.Int) / 1e6, true
	case KindTimestampNanos:
		return float64(s.Int) / 1e9, true
	}
	return 0, false
}

// castDecimal rounds s half up to scale and checks that precision holds it.
func castDecimal(s *Scalar, precision, scale int) (Scalar, bool) {
	if precision < 1 || precision > MaxPrecision || scale < 0 || scale > precision {
		return Scalar{}, false
	}
	var d Decimal
	var ok bool
	switch s.Kind {
	case KindBool, KindInt8, KindInt16, KindInt32, KindInt64:
		d, ok = roundDecimal(DecimalOf(s.Int), scale)
	case KindDecimal4, KindDecimal8, KindDecimal16:
		d, ok = roundDecimal(s.Dec(), scale)
	case KindTimestamp:
		d, ok = roundDecimal(Decimal{Lo: uint64(s.Int), Hi: s.Int >> 63, Scale: 6}, scale)
	case KindTimestampNanos:
		d, ok = roundDecimal(Decimal{Lo: uint64(s.Int), Hi: s.Int >> 63, Scale: 9}, scale)
	case KindFloat, KindDouble:
		// By way of the shortest text, as Spark: 0.1 is 0.1, and a float is
		// first the double of the same value.
		var buf [32]byte
		d, ok = parseDecimal(strconv.AppendFloat(buf[:0], s.Float, 'e', -1, 64), scale)
	case KindString:
		d, ok = parseDecimal(trimSpace(s.Bytes), scale)
	default:
		ok = false
	}
	if !ok || !fitsPrecision(d, precision) {
		return Scalar{}, false
	}
	return Scalar{Kind: decimalKind(precision), Scale: uint8(scale), Int: int64(d.Lo), Hi: d.Hi}, true
}

// decimalKind returns the width that a precision needs (VariantEncoding.md,
// "Decimal table").
func decimalKind(precision int) Kind {
	switch {
	case precision <= 9:
		return KindDecimal4
	case precision <= 18:
		return KindDecimal8
	}
	return KindDecimal16
}

func castString(s *Scalar) (Scalar, bool) {
	out := Scalar{Kind: KindString}
	switch {
	case s.Kind == KindString, s.Kind == KindBinary && utf8.Valid(s.Bytes):
		out.Bytes = s.Bytes
	case s.Kind == KindBinary:
		out.Bytes = bytes.ToValidUTF8(s.Bytes, []byte("\uFFFD"))
	default:
		out.Bytes = AppendScalarText(nil, s)
	}
	return out, true
}

const nanosPerDay = microsPerDay * 1000

// castDate returns days since 1970-01-01.
func castDate(s *Scalar) (int64, bool) {
	switch s.Kind {
	case KindDate:
		return s.Int, true
	case KindTimestamp, KindTimestampNTZ:
		return floorDiv(s.Int, microsPerDay), true
	case KindTimestampNanos, KindTimestampNTZNanos:
		return floorDiv(s.Int, nanosPerDay), true
	case KindString:
		return parseDate(trimSpace(s.Bytes))
	}
	return 0, false
}

// castTimestamp returns microseconds since the epoch; numbers are seconds.
func castTimestamp(s *Scalar) (int64, bool) {
	switch s.Kind {
	case KindInt8, KindInt16, KindInt32, KindInt64:
		const limit = math.MaxInt64 / 1_000_000
		return s.Int * 1e6, s.Int <= limit && s.Int >= -limit
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return decimalMicros(s.Dec())
	case KindFloat, KindDouble:
		return truncFloat(s.Float * 1e6)
	case KindString:
		days, clock, offset, ok := parseTimestamp(trimSpace(s.Bytes))
		us, fits := addUnits(days, microsPerDay, clock-offset)
		return us, ok && fits
	}
	return castInstant(s)
}

// castTimestampNTZ returns microseconds of the wall clock in UTC. A zone in a
// text is read over, as Spark does.
func castTimestampNTZ(s *Scalar) (int64, bool) {
	if s.Kind == KindString {
		days, clock, _, ok := parseTimestamp(trimSpace(s.Bytes))
		us, fits := addUnits(days, microsPerDay, clock)
		return us, ok && fits
	}
	return castInstant(s)
}

// castInstant converts what is a day or a time already.
func castInstant(s *Scalar) (int64, bool) {
	switch s.Kind {
	case KindDate:
		const limit = math.MaxInt64 / microsPerDay
		return s.Int * microsPerDay, s.Int <= limit && s.Int >= -limit
	case KindTimestamp, KindTimestampNTZ:
		return s.Int, true
	case KindTimestampNanos, KindTimestampNTZNanos:
		return floorDiv(s.Int, 1000), true
	}
	return 0, false
}
