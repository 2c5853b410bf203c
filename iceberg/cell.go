package iceberg

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// cell reads the JSON text of one primitive column.
//
//	boolean                 true, false
//	int, long               a number without fraction, within range
//	float, double           a number, or "NaN", "Infinity", "-Infinity"
//	decimal                 a number or its text; digits beyond the scale must be 0
//	string                  a string
//	binary, fixed           a string in base64
//	uuid                    a string in the usual form
//	date                    "2026-07-01"
//	time                    "01:02:03.123456"
//	timestamp               "2026-07-01T01:02:03.123456Z", with any zone; without one it is UTC
//	timestamp_ntz           the same without a zone
//
// Digits of a time below its resolution are dropped.
type cell struct {
	kind      variant.Kind // of the scalars it reads
	node      *leaf.Node
	typ       ice.Type
	precision int
	scale     int
	width     int // of a fixed
	perSecond int64
	scratch   []byte
}

func newCell(t ice.Type) (*cell, error) {
	c := &cell{typ: t, node: &leaf.Node{}, perSecond: microsPerSecond}
	setPrimitive(c.node, t)
	switch t := t.(type) {
	case ice.BooleanType:
		c.kind = variant.KindBool
	case ice.Int32Type:
		c.kind = variant.KindInt32
	case ice.Int64Type:
		c.kind = variant.KindInt64
	case ice.Float32Type:
		c.kind = variant.KindFloat
	case ice.Float64Type:
		c.kind = variant.KindDouble
	case ice.DecimalType:
		c.kind, c.precision, c.scale = variant.KindDecimal16, t.Precision(), t.Scale()
	case ice.StringType:
		c.kind = variant.KindString
	case ice.BinaryType:
		c.kind, c.width = variant.KindBinary, -1
	case ice.FixedType:
		c.kind, c.width = variant.KindBinary, t.Len()
	case ice.UUIDType:
		c.kind = variant.KindUUID
	case ice.DateType:
		c.kind = variant.KindDate
	case ice.TimeType:
		c.kind = variant.KindTime
	case ice.TimestampType:
		c.kind = variant.KindTimestampNTZ
	case ice.TimestampTzType:
		c.kind = variant.KindTimestamp
	case ice.TimestampNsType:
		c.kind, c.perSecond = variant.KindTimestampNTZNanos, nanosPerSecond
	case ice.TimestampTzNsType:
		c.kind, c.perSecond = variant.KindTimestampNanos, nanosPerSecond
	default:
		return nil, unsupportedf("writing columns of type %s", t)
	}
	return c, nil
}

// json reads a JSON value that is not null. The scalar's bytes are valid until
// the next call.
func (c *cell) json(raw []byte) (variant.Scalar, error) {
	if len(raw) == 0 {
		return variant.Scalar{}, errTruncated
	}
	if raw[0] != '"' {
		return c.scalar(raw, false)
	}
	text := raw[1 : len(raw)-1]
	if !plainText(text) {
		var err error
		if c.scratch, err = unquote(c.scratch[:0], raw); err != nil {
			return variant.Scalar{}, err
		}
		text = c.scratch
	}
	return c.scalar(text, true)
}

// plainString returns the text of a value of a string column that means itself,
// which is most of them.
func (c *cell) plainString(raw []byte) ([]byte, bool) {
	if c.kind != variant.KindString || len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	text := raw[1 : len(raw)-1]
	return text, plainText(text)
}

var errUnfit = errors.New("does not fit")

// misfit says which text does not fit the column's type.
func (c *cell) misfit(text []byte) error {
	const most = 80
	shown := string(text[:min(len(text), most)])
	return fmt.Errorf("%q %w %s", shown, errUnfit, c.typ)
}

// scalar reads the text of a string, or of another JSON value.
func (c *cell) scalar(text []byte, quoted bool) (variant.Scalar, error) {
	s := variant.Scalar{Kind: c.kind}
	ok := false
	switch c.kind {
	case variant.KindBool:
		s.Int, ok = parseBool(text)
		ok = ok && !quoted
	case variant.KindInt32:
		s.Int, ok = parseInteger(text)
		ok = ok && !quoted && s.Int == int64(int32(s.Int))
	case variant.KindInt64:
		s.Int, ok = parseInteger(text)
		ok = ok && !quoted
	case variant.KindFloat, variant.KindDouble:
		s.Float, ok = c.float(text, quoted)
	case variant.KindDecimal16:
		var d variant.Decimal
		d, ok = parseDecimal(text, c.scale)
		ok = ok && d.Precision() <= c.precision
		s.Int, s.Hi, s.Scale = int64(d.Lo), d.Hi, uint8(c.scale)
	case variant.KindString:
		s.Bytes, ok = text, quoted
	case variant.KindBinary:
		s.Bytes, ok = c.base64(text)
		ok = ok && quoted
	case variant.KindUUID:
		s.Bytes, ok = c.uuid(text)
		ok = ok && quoted
	default:
		s.Int, ok = c.temporal(text)
		ok = ok && quoted
	}
	if !ok {
		return s, c.misfit(text)
	}
	if c.kind != variant.KindDecimal16 {
		s.Hi = s.Int >> 63
	}
	return s, nil
}

// quotedKind reports whether the values are JSON strings.
func (c *cell) quotedKind() bool {
	switch c.kind {
	case variant.KindBool, variant.KindInt32, variant.KindInt64, variant.KindFloat, variant.KindDouble, variant.KindDecimal16:
		return false
	}
	return true
}

func parseBool(text []byte) (int64, bool) {
	switch string(text) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	return 0, false
}

// parseInteger reads a whole number, also one written as 1.0 or 1e3.
func parseInteger(text []byte) (int64, bool) {
	i, neg := 0, len(text) > 0 && text[0] == '-'
	if neg {
		i = 1
	}
	n := digits(text, i)
	if n == 0 || n > 18 || i+n != len(text) || n > 1 && text[i] == '0' {
		d, ok := parseDecimal(text, 0)
		if !ok {
			return 0, false
		}
		return d.Int64()
	}
	var v int64
	for _, c := range text[i:] {
		v = v*10 + int64(c-'0')
	}
	if neg {
		v = -v
	}
	return v, true
}

func (c *cell) float(text []byte, quoted bool) (float64, bool) {
	if quoted {
		switch string(text) {
		case "NaN":
			return math.NaN(), true
		case "Infinity":
			return math.Inf(1), true
		case "-Infinity":
			return math.Inf(-1), true
		}
		return 0, false
	}
	if !validNumber(text) {
		return 0, false
	}
	width := 64
	if c.kind == variant.KindFloat {
		width = 32
	}
	f, err := strconv.ParseFloat(string(text), width)
	return f, err == nil
}

// maxExponent bounds the exponent of a decimal, which has 38 digits at most.
const maxExponent = 1000

// parseDecimal reads a number exactly, at the given scale. Digits beyond the
// scale must be zeros.
func parseDecimal(text []byte, scale int) (variant.Decimal, bool) {
	if !validNumber(text) {
		return variant.Decimal{}, false
	}
	mantissa, exp := text, 0
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		e, err := strconv.Atoi(string(text[i+1:]))
		if err != nil || e > maxExponent || e < -maxExponent {
			return variant.Decimal{}, false
		}
		mantissa, exp = text[:i], e
	}
	if bytes.IndexByte(mantissa, '.') >= 0 {
		mantissa = bytes.TrimRight(mantissa, "0")
	}
	neg := mantissa[0] == '-'
	if neg {
		mantissa = mantissa[1:]
	}
	var hi, lo uint64
	var point, ok bool
	shift := scale + exp // digits still to come after the point
	for _, c := range mantissa {
		if c == '.' {
			point = true
			continue
		}
		hi, lo, ok = mulAdd(hi, lo, uint64(c-'0'))
		if !ok {
			return variant.Decimal{}, false
		}
		if point {
			shift--
		}
	}
	if hi, lo, ok = rescale(hi, lo, shift); !ok {
		return variant.Decimal{}, false
	}
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	return variant.Decimal{Lo: lo, Hi: int64(hi), Scale: uint8(scale)}, true
}

// mulAdd gives hi:lo * 10 + digit, or false beyond 127 bits.
func mulAdd(hi, lo, digit uint64) (h, l uint64, ok bool) {
	carry, l := bits.Mul64(lo, 10)
	over, h := bits.Mul64(hi, 10)
	l, c := bits.Add64(l, digit, 0)
	h, c2 := bits.Add64(h, carry, c)
	return h, l, over == 0 && c2 == 0 && h>>63 == 0
}

// rescale multiplies hi:lo by 10^shift; a negative shift must lose no digit.
func rescale(hi, lo uint64, shift int) (h, l uint64, ok bool) {
	if hi == 0 && lo == 0 {
		return 0, 0, true
	}
	for ; shift > 0; shift-- {
		if hi, lo, ok = mulAdd(hi, lo, 0); !ok {
			return 0, 0, false
		}
	}
	for ; shift < 0; shift++ {
		qh, r := hi/10, hi%10
		ql, rem := bits.Div64(r, lo, 10)
		if rem != 0 {
			return 0, 0, false
		}
		hi, lo = qh, ql
	}
	return hi, lo, true
}

func (c *cell) base64(text []byte) ([]byte, bool) {
	n := base64.StdEncoding.DecodedLen(len(text))
	buf := make([]byte, n)
	n, err := base64.StdEncoding.Strict().Decode(buf, text)
	return buf[:n], err == nil && (c.width < 0 || c.width == n)
}

func (c *cell) uuid(text []byte) ([]byte, bool) {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return nil, false
	}
	out := make([]byte, 0, 16)
	var err error
	for _, part := range [][]byte{text[:8], text[9:13], text[14:18], text[19:23], text[24:]} {
		if out, err = hex.AppendDecode(out, part); err != nil {
			return nil, false
		}
	}
	return out, len(out) == 16
}

// put appends a scalar that this cell has read to a leaf of its type.
func (c *cell) put(b *leaf.Buffer, s *variant.Scalar) {
	switch c.node.Type {
	case leaf.Bool:
		b.Bools = append(b.Bools, s.Int != 0)
	case leaf.Int32:
		b.Int32s = append(b.Int32s, int32(s.Int))
	case leaf.Int64:
		b.Int64s = append(b.Int64s, s.Int)
	case leaf.Float:
		b.Floats = append(b.Floats, float32(s.Float))
	case leaf.Double:
		b.Doubles = append(b.Doubles, s.Float)
	case leaf.Bytes:
		b.AppendBytes(s.Bytes)
	case leaf.Fixed:
		if c.kind == variant.KindDecimal16 {
			b.AppendBytes(appendBigEndian(make([]byte, 0, 16), s.Hi, uint64(s.Int))[16-c.node.Width:])
			return
		}
		b.AppendBytes(s.Bytes)
	case leaf.Int96, leaf.Group:
		panic("BUG: a cell has a physical type that is never written")
	}
}

// appendBigEndian appends a 128-bit integer.
func appendBigEndian(dst []byte, hi int64, lo uint64) []byte {
	for shift := 56; shift >= 0; shift -= 8 {
		dst = append(dst, byte(hi>>shift))
	}
	for shift := 56; shift >= 0; shift -= 8 {
		dst = append(dst, byte(lo>>shift))
	}
	return dst
}
