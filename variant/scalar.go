package variant

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// Scalar is one value that is no container, in the form that events carry: flat,
// without pointers but for bytes, reusable without allocation.
//
// Which fields count depends on Kind; a producer leaves the others as they were.
//
//	kind                      fields
//	null                      none
//	bool                      Int: 0 or 1
//	int8 .. int64             Int, and Hi = Int >> 63
//	decimal4, 8, 16           Int: low 64 bits of the coefficient, Hi: high 64 bits, Scale
//	date                      Int: days since 1970-01-01
//	time                      Int: microseconds since midnight
//	timestamp, timestamp_ntz  Int: microseconds since 1970
//	timestamp*_nanos          Int: nanoseconds since 1970
//	float, double             Float
//	string, binary, uuid      Bytes, valid only during the call that passes the Scalar
type Scalar struct {
	Kind  Kind
	Scale uint8 // digits after the point, 0..38
	Int   int64
	Hi    int64
	Float float64
	Bytes []byte
}

// Dec returns the value of an integer or decimal scalar.
func (s *Scalar) Dec() Decimal {
	d := Decimal{Lo: uint64(s.Int), Hi: s.Hi}
	if s.Kind.IsDecimal() {
		d.Scale = s.Scale
	} else {
		d.Hi = s.Int >> 63
	}
	return d
}

// SetDecimal makes s the smallest decimal that holds d with its scale. It needs
// d within 38 digits and scale.
func (s *Scalar) SetDecimal(d Decimal) {
	s.Kind, s.Scale, s.Int, s.Hi = d.kind(), d.Scale, int64(d.Lo), d.Hi
}

// SetInt makes s the smallest integer that holds x.
func (s *Scalar) SetInt(x int64) {
	s.Kind, s.Int, s.Hi = intKind(x), x, x>>63
}

// intKind returns the smallest integer kind that holds x.
func intKind(x int64) Kind {
	switch {
	case x == int64(int8(x)):
		return KindInt8
	case x == int64(int16(x)):
		return KindInt16
	case x == int64(int32(x)):
		return KindInt32
	}
	return KindInt64
}

// AppendScalar appends the encoding of s (VariantEncoding.md, "Value Data for
// Primitive type"; texts under 64 bytes take the short form). The caller keeps
// s within its kind: a wider integer is cut off.
func AppendScalar(dst []byte, s *Scalar) []byte {
	switch s.Kind {
	case KindBool:
		if s.Int != 0 {
			return append(dst, primTrue<<2)
		}
		return append(dst, primFalse<<2)
	case KindString:
		return append(appendTextHeader(dst, len(s.Bytes)), s.Bytes...)
	}
	dst = append(dst, kindHeaders[s.Kind])
	le := binary.LittleEndian
	switch s.Kind {
	case KindInt8:
		dst = append(dst, byte(s.Int))
	case KindInt16:
		dst = le.AppendUint16(dst, uint16(s.Int))
	case KindInt32, KindDate:
		dst = le.AppendUint32(dst, uint32(s.Int))
	case KindInt64, KindTime, KindTimestamp, KindTimestampNTZ, KindTimestampNanos, KindTimestampNTZNanos:
		dst = le.AppendUint64(dst, uint64(s.Int))
	case KindFloat:
		dst = le.AppendUint32(dst, math.Float32bits(float32(s.Float)))
	case KindDouble:
		dst = le.AppendUint64(dst, math.Float64bits(s.Float))
	case KindDecimal4:
		dst = le.AppendUint32(append(dst, s.Scale), uint32(s.Int))
	case KindDecimal8:
		dst = le.AppendUint64(append(dst, s.Scale), uint64(s.Int))
	case KindDecimal16:
		dst = le.AppendUint64(append(dst, s.Scale), uint64(s.Int))
		dst = le.AppendUint64(dst, uint64(s.Hi))
	case KindBinary:
		dst = le.AppendUint32(dst, uint32(len(s.Bytes)))
		dst = append(dst, s.Bytes...)
	case KindUUID:
		dst = append(dst, s.Bytes...)
	case KindNull, KindBool, KindString, KindMissing, KindArray, KindObject:
	}
	return dst
}

// readScalar decodes the scalar at the start of b into s and returns its size
// in bytes, or 0 when b is truncated, a container, or of no known type. Rules on
// content (UTF-8, ranges, digits) are Validate's.
func readScalar(b []byte, s *Scalar) int {
	if len(b) == 0 {
		return 0
	}
	h := b[0]
	if h&3 == basicShort {
		n := int(h>>2) + 1
		if len(b) < n {
			return 0
		}
		s.Kind, s.Bytes = KindString, b[1:n:n]
		return n
	}
	if h&3 != basicPrimitive {
		return 0
	}
	id := h >> 2
	n := int(fixedSizes[id])
	if n == 0 {
		return readLong(b, s)
	}
	if len(b) < n {
		return 0
	}
	s.Kind = primKinds[id]
	readFixed(b[:n], id, s)
	return n
}

// readLong decodes a long string or a binary.
func readLong(b []byte, s *Scalar) int {
	id := b[0] >> 2
	if (id != primString && id != primBinary) || len(b) < 5 {
		return 0
	}
	n := uint64(binary.LittleEndian.Uint32(b[1:])) + 5
	if uint64(len(b)) < n {
		return 0
	}
	s.Kind, s.Bytes = primKinds[id], b[5:n:n]
	return int(n)
}

// readFixed decodes the primitive id that fills b; s.Kind is set.
func readFixed(b []byte, id byte, s *Scalar) {
	le := binary.LittleEndian
	switch id {
	case primTrue:
		s.Int = 1
	case primFalse:
		s.Int = 0
	case primInt8:
		s.Int = int64(int8(b[1]))
	case primInt16:
		s.Int = int64(int16(le.Uint16(b[1:])))
	case primInt32, primDate:
		s.Int = int64(int32(le.Uint32(b[1:])))
	case primInt64, primTime, primTimestamp, primTimestampNTZ, primTimestampNanos, primTimestampNTZNanos:
		s.Int = int64(le.Uint64(b[1:]))
	case primFloat:
		s.Float = float64(math.Float32frombits(le.Uint32(b[1:])))
		return
	case primDouble:
		s.Float = math.Float64frombits(le.Uint64(b[1:]))
		return
	case primDecimal4:
		s.Scale, s.Int = b[1], int64(int32(le.Uint32(b[2:])))
	case primDecimal8:
		s.Scale, s.Int = b[1], int64(le.Uint64(b[2:]))
	case primDecimal16:
		s.Scale, s.Int, s.Hi = b[1], int64(le.Uint64(b[2:])), int64(le.Uint64(b[10:]))
		return
	case primUUID:
		s.Bytes = b[1:17:17]
		return
	}
	s.Hi = s.Int >> 63
}

// appendTextHeader appends what comes before a string of n bytes.
func appendTextHeader(dst []byte, n int) []byte {
	if n < 64 {
		return append(dst, byte(n)<<2|basicShort)
	}
	return binary.LittleEndian.AppendUint32(append(dst, primString<<2), uint32(n))
}

var errText = fmt.Errorf("variant: %w", ErrText)

// check reports what the encoding does not allow in a scalar.
func (s *Scalar) check() error {
	switch s.Kind {
	case KindNull, KindBool, KindFloat, KindDouble, KindInt64, KindBinary,
		KindTimestamp, KindTimestampNTZ, KindTimestampNanos, KindTimestampNTZNanos:
		return nil
	case KindInt8, KindInt16, KindInt32, KindDate:
		bits := [...]uint{KindInt8: 8, KindInt16: 16, KindInt32: 32, KindDate: 32}[s.Kind]
		if s.Int>>(bits-1) != s.Int>>63 {
			return fmt.Errorf("variant: %w: %d as %v", ErrRange, s.Int, s.Kind)
		}
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return s.checkDecimal()
	case KindTime:
		if uint64(s.Int) >= microsPerDay {
			return fmt.Errorf("variant: %w: time of %d us", ErrRange, s.Int)
		}
	case KindString:
		if !utf8.Valid(s.Bytes) {
			return errText
		}
	case KindUUID:
		if len(s.Bytes) != 16 {
			return fmt.Errorf("%w: a UUID of %d bytes", ErrUsage, len(s.Bytes))
		}
	case KindMissing, KindArray, KindObject:
		return fmt.Errorf("%w: a scalar of kind %v", ErrUsage, s.Kind)
	default:
		return fmt.Errorf("%w: a scalar of unknown kind", ErrUsage)
	}
	return nil
}

// checkDecimal allows coefficients of at most 9, 18 or 38 digits by width, whatever the
// scale (VariantEncoding.md, "Decimal table").
func (s *Scalar) checkDecimal() error {
	d := s.Dec()
	if hi, lo := d.abs(); s.Scale > MaxPrecision || d.digitsKind() > s.Kind || !fits38(hi, lo) {
		return fmt.Errorf("variant: %w: %v as %v", ErrRange, d.Big(), s.Kind)
	}
	return nil
}
