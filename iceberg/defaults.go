package iceberg

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/variant"
)

// normalizeDefault turns a default given by a Go program into the form that
// the metadata's JSON holds (Iceberg spec, "JSON single-value serialization"):
// dates, times and decimals as text, bytes as hexadecimal digits.
func normalizeDefault(t ice.Type, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch t := t.(type) {
	case ice.VariantType, ice.UnknownType, ice.GeometryType, ice.GeographyType:
		return nil, fmt.Errorf("type %s takes no default but null", t)
	case *ice.StructType:
		if m, ok := v.(map[string]any); ok && len(m) == 0 {
			return m, nil
		}
		return nil, fmt.Errorf("the default of a struct is null or an empty map; its fields have their own")
	case *ice.ListType, *ice.MapType:
		return nil, fmt.Errorf("type %s takes no default but null", t)
	case ice.FixedType, ice.BinaryType:
		if b, ok := v.([]byte); ok {
			v = hex.EncodeToString(b)
		}
	}
	if ts, ok := v.(time.Time); ok {
		v = ts.UTC().Format(time.RFC3339Nano)
	}
	s, err := defaultScalar(t, v)
	if err != nil {
		return nil, err
	}
	return defaultJSON(t, &s), nil
}

// defaultJSON gives the metadata's form of a default.
func defaultJSON(t ice.Type, s *variant.Scalar) any {
	switch t := t.(type) {
	case ice.BooleanType:
		return s.Int != 0
	case ice.Int32Type:
		return int32(s.Int)
	case ice.Int64Type:
		return s.Int
	case ice.Float32Type:
		return float32(s.Float)
	case ice.Float64Type:
		return s.Float
	case ice.DecimalType:
		return decimalText(s.Dec(), t.Scale())
	case ice.DateType:
		return string(appendDate(nil, s.Int))
	case ice.TimeType:
		return string(appendTime(nil, s.Int, microsPerSecond))
	case ice.TimestampType:
		return string(appendTimestamp(nil, s.Int, microsPerSecond))
	case ice.TimestampTzType:
		return string(appendTimestamp(nil, s.Int, microsPerSecond)) + "+00:00"
	case ice.TimestampNsType:
		return string(appendTimestamp(nil, s.Int, nanosPerSecond))
	case ice.TimestampTzNsType:
		return string(appendTimestamp(nil, s.Int, nanosPerSecond)) + "+00:00"
	case ice.UUIDType:
		quoted := appendUUID(nil, s.Bytes)
		return string(quoted[1 : len(quoted)-1])
	case ice.FixedType, ice.BinaryType:
		return hex.EncodeToString(s.Bytes)
	}
	return string(s.Bytes)
}

// decimalText writes every digit of the scale.
func decimalText(d variant.Decimal, scale int) string {
	digits := d.Big().String()
	neg := strings.HasPrefix(digits, "-")
	digits = strings.TrimPrefix(digits, "-")
	if pad := scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if neg {
		return "-" + digits
	}
	return digits
}

// defaultScalar reads a primitive default, from a program or from the metadata.
// Other writers, iceberg-go among them, put dates and times there as numbers;
// these are read too.
func defaultScalar(t ice.Type, v any) (variant.Scalar, error) {
	text, isText := v.(string)
	if b, ok := v.([]byte); ok {
		text, isText = hex.EncodeToString(b), true
	}
	if !isText {
		return numberDefault(t, v)
	}
	switch t := t.(type) {
	case ice.StringType:
		return variant.Scalar{Kind: variant.KindString, Bytes: []byte(text)}, nil
	case ice.FixedType, ice.BinaryType:
		return bytesDefault(t, text)
	}
	c, err := newCell(t)
	if err != nil {
		return variant.Scalar{}, err
	}
	return c.scalar([]byte(text), true)
}

func bytesDefault(t ice.Type, text string) (variant.Scalar, error) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return variant.Scalar{}, fmt.Errorf("%q is not hexadecimal", text)
	}
	if f, ok := t.(ice.FixedType); ok && f.Len() != len(b) {
		return variant.Scalar{}, fmt.Errorf("%d bytes do not fit %s", len(b), t)
	}
	return variant.Scalar{Kind: variant.KindBinary, Bytes: b}, nil
}

// numberDefault reads a default that is a bool or a number.
func numberDefault(t ice.Type, v any) (variant.Scalar, error) {
	if b, ok := v.(bool); ok {
		if _, isBool := t.(ice.BooleanType); !isBool {
			return variant.Scalar{}, fmt.Errorf("%v does not fit %s", v, t)
		}
		s := variant.Scalar{Kind: variant.KindBool}
		if b {
			s.Int = 1
		}
		return s, nil
	}
	text, err := numberText(v)
	if err != nil {
		return variant.Scalar{}, err
	}
	whole, wholeErr := strconv.ParseInt(text, 10, 64)
	switch t.(type) {
	case ice.DateType:
		return variant.Scalar{Kind: variant.KindDate, Int: whole}, wholeErr
	case ice.TimeType:
		return variant.Scalar{Kind: variant.KindTime, Int: whole}, wholeErr
	case ice.TimestampType:
		return variant.Scalar{Kind: variant.KindTimestampNTZ, Int: whole}, wholeErr
	case ice.TimestampTzType:
		return variant.Scalar{Kind: variant.KindTimestamp, Int: whole}, wholeErr
	case ice.TimestampNsType:
		return variant.Scalar{Kind: variant.KindTimestampNTZNanos, Int: whole}, wholeErr
	case ice.TimestampTzNsType:
		return variant.Scalar{Kind: variant.KindTimestampNanos, Int: whole}, wholeErr
	}
	c, err := newCell(t)
	if err != nil {
		return variant.Scalar{}, err
	}
	return c.scalar([]byte(text), false)
}

// numberText gives a number of any Go type as JSON text, whole numbers without
// a fraction or exponent: JSON decoding turns them all into float64.
func numberText(v any) (string, error) {
	switch n := v.(type) {
	case int:
		return strconv.Itoa(n), nil
	case int32:
		return strconv.FormatInt(int64(n), 10), nil
	case int64:
		return strconv.FormatInt(n, 10), nil
	case ice.Date:
		return strconv.FormatInt(int64(n), 10), nil
	case ice.Time:
		return strconv.FormatInt(int64(n), 10), nil
	case ice.Timestamp:
		return strconv.FormatInt(int64(n), 10), nil
	case ice.TimestampNano:
		return strconv.FormatInt(int64(n), 10), nil
	case ice.Decimal:
		return n.String(), nil
	case float32:
		return numberText(float64(n))
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<63 {
			return strconv.FormatFloat(n, 'f', -1, 64), nil
		}
		return strconv.FormatFloat(n, 'g', -1, 64), nil
	case json.Number:
		return n.String(), nil
	}
	return "", fmt.Errorf("%T is no default value", v)
}
