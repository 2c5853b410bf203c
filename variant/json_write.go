package variant

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// AppendJSON appends v as JSON text.
func AppendJSON(dst []byte, v Value) ([]byte, error) {
	if v.IsMissing() {
		return dst, ErrUsage
	}
	w := jsonSink{dst: dst}
	if err := v.Emit(&w); err != nil {
		return dst, err
	}
	return w.dst, nil
}

type jsonSink struct {
	dst   []byte
	kinds []Kind
	comma bool
}

func (w *jsonSink) sep() {
	if w.comma {
		w.dst = append(w.dst, ',')
	}
	w.comma = true
}

func (w *jsonSink) Begin(k Kind) {
	w.sep()
	w.kinds = append(w.kinds, k)
	w.comma = false
	if k == KindObject {
		w.dst = append(w.dst, '{')
	} else {
		w.dst = append(w.dst, '[')
	}
}

func (w *jsonSink) End() {
	k := w.kinds[len(w.kinds)-1]
	w.kinds = w.kinds[:len(w.kinds)-1]
	w.comma = true
	if k == KindObject {
		w.dst = append(w.dst, '}')
	} else {
		w.dst = append(w.dst, ']')
	}
}

func (w *jsonSink) Key(name []byte) {
	w.sep()
	w.dst = append(appendQuoted(w.dst, name), ':')
	w.comma = false
}

func (w *jsonSink) Scalar(s *Scalar) {
	w.sep()
	w.dst = AppendScalarJSON(w.dst, s)
}

func (w *jsonSink) Err() error { return nil }

func appendQuoted(dst, text []byte) []byte {
	b, _ := json.Marshal(string(text))
	return append(dst, b...)
}

// AppendScalarJSON appends s as JSON.
func AppendScalarJSON(dst []byte, s *Scalar) []byte {
	switch s.Kind {
	case KindNull, KindBool, KindInt8, KindInt16, KindInt32, KindInt64, KindDecimal4, KindDecimal8, KindDecimal16:
		return AppendScalarText(dst, s)
	case KindFloat, KindDouble:
		if !math.IsNaN(s.Float) && !math.IsInf(s.Float, 0) {
			return AppendScalarText(dst, s)
		}
	case KindString:
		return appendQuoted(dst, s.Bytes)
	case KindTimestamp, KindTimestampNanos:
		dst = AppendScalarText(append(dst, '"'), s)
		return append(dst, "+00:00\""...)
	}
	return append(AppendScalarText(append(dst, '"'), s), '"')
}

// AppendScalarText appends s as a cast to string gives it.
func AppendScalarText(dst []byte, s *Scalar) []byte {
	switch s.Kind {
	case KindNull:
		return append(dst, "null"...)
	case KindBool:
		return strconv.AppendBool(dst, s.Int != 0)
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return strconv.AppendInt(dst, s.Int, 10)
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return s.Dec().Trim().AppendText(dst)
	case KindFloat:
		return strconv.AppendFloat(dst, s.Float, 'g', -1, 32)
	case KindDouble:
		return strconv.AppendFloat(dst, s.Float, 'g', -1, 64)
	case KindString:
		return append(dst, s.Bytes...)
	case KindBinary:
		return base64.StdEncoding.AppendEncode(dst, s.Bytes)
	case KindUUID:
		dst = append(hex.AppendEncode(dst, s.Bytes[:4]), '-')
		dst = append(hex.AppendEncode(dst, s.Bytes[4:6]), '-')
		dst = append(hex.AppendEncode(dst, s.Bytes[6:8]), '-')
		dst = append(hex.AppendEncode(dst, s.Bytes[8:10]), '-')
		return hex.AppendEncode(dst, s.Bytes[10:])
	case KindDate:
		return time.Unix(s.Int*86400, 0).UTC().AppendFormat(dst, "2006-01-02")
	case KindTime:
		return time.UnixMicro(s.Int).UTC().AppendFormat(dst, "15:04:05.999999")
	case KindTimestamp, KindTimestampNTZ:
		return time.UnixMicro(s.Int).UTC().AppendFormat(dst, "2006-01-02 15:04:05.999999")
	case KindTimestampNanos, KindTimestampNTZNanos:
		return time.Unix(0, s.Int).UTC().AppendFormat(dst, "2006-01-02 15:04:05.999999999")
	}
	return dst
}

// AppendText appends d in plain notation with all its Scale digits.
func (d Decimal) AppendText(dst []byte) []byte {
	t := d.Big().String()
	if t[0] == '-' {
		dst = append(dst, '-')
		t = t[1:]
	}
	for len(t) <= int(d.Scale) {
		t = "0" + t
	}
	dst = append(dst, t[:len(t)-int(d.Scale)]...)
	if d.Scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, t[len(t)-int(d.Scale):]...)
	}
	return dst
}

// String returns d in plain notation with all its Scale digits.
func (d Decimal) String() string { return string(d.AppendText(nil)) }

// Float64 returns the double nearest to d.
func (d Decimal) Float64() float64 {
	f, _ := strconv.ParseFloat(d.String(), 64)
	return f
}
