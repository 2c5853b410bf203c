package variant

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAppendScalar_Text: V18, V20, V21 and the forms that DESIGN fixes. text is a
// cast to string, JSON adds quotes and, to instants, the zone.
func TestV18_ScalarText(t *testing.T) {
	day := func(s string) int64 {
		d, err := time.Parse("2006-01-02", s)
		require.NoError(t, err)
		return d.Unix() / 86400
	}
	uuid := unhex(t, "f24f9b6481fa49d1b74e8c09a6e31c56")
	for _, c := range []struct {
		s          Scalar
		text, json string
	}{
		{Scalar{Kind: KindTimestampNTZ, Int: 1}, "1970-01-01 00:00:00.000001", `"1970-01-01 00:00:00.000001"`},
		{Scalar{Kind: KindTimestampNTZNanos, Int: 1}, "1970-01-01 00:00:00.000000001", `"1970-01-01 00:00:00.000000001"`},
		{Scalar{Kind: KindTimestamp, Int: -1}, "1969-12-31 23:59:59.999999", `"1969-12-31 23:59:59.999999+00:00"`},
		{Scalar{Kind: KindTimestampNanos, Int: -1}, "1969-12-31 23:59:59.999999999", `"1969-12-31 23:59:59.999999999+00:00"`},
		{Scalar{Kind: KindTimestamp, Int: 500_000}, "1970-01-01 00:00:00.5", `"1970-01-01 00:00:00.5+00:00"`},
		{Scalar{Kind: KindTimestamp, Int: 0}, "1970-01-01 00:00:00", `"1970-01-01 00:00:00+00:00"`},
		{Scalar{Kind: KindTimestamp, Int: 253402300800000000}, "+10000-01-01 00:00:00", `"+10000-01-01 00:00:00+00:00"`},
		{Scalar{Kind: KindTimestamp, Int: math.MaxInt64}, "+294247-01-10 04:00:54.775807", `"+294247-01-10 04:00:54.775807+00:00"`},
		{Scalar{Kind: KindTimestamp, Int: math.MinInt64}, "-290308-12-21 19:59:05.224192", `"-290308-12-21 19:59:05.224192+00:00"`},
		{Scalar{Kind: KindTime, Int: 1}, "00:00:00.000001", `"00:00:00.000001"`},
		{Scalar{Kind: KindTime, Int: 3723_000_000}, "01:02:03", `"01:02:03"`},
		{Scalar{Kind: KindTime, Int: microsPerDay - 1}, "23:59:59.999999", `"23:59:59.999999"`},
		{Scalar{Kind: KindDate, Int: day("2026-07-01")}, "2026-07-01", `"2026-07-01"`},
		{Scalar{Kind: KindDate, Int: day("2024-02-29")}, "2024-02-29", `"2024-02-29"`},
		{Scalar{Kind: KindDate, Int: day("0001-01-01")}, "0001-01-01", `"0001-01-01"`},
		{Scalar{Kind: KindBinary, Bytes: []byte{1, 0xfe, 0xff}}, "Af7/", `"Af7/"`},
		{Scalar{Kind: KindBinary, Bytes: []byte{1}}, "AQ==", `"AQ=="`},
		{Scalar{Kind: KindUUID, Bytes: uuid}, "f24f9b64-81fa-49d1-b74e-8c09a6e31c56", `"f24f9b64-81fa-49d1-b74e-8c09a6e31c56"`},
		{Scalar{Kind: KindDouble, Float: math.NaN()}, "NaN", `"NaN"`},
		{Scalar{Kind: KindDouble, Float: math.Inf(-1)}, "-Infinity", `"-Infinity"`},
		{Scalar{Kind: KindFloat, Float: math.Inf(1)}, "Infinity", `"Infinity"`},
		{Scalar{Kind: KindDouble, Float: math.Copysign(0, -1)}, "-0.0", "-0.0"},
		{Scalar{Kind: KindDouble, Float: 1}, "1.0", "1.0"},
		{Scalar{Kind: KindDouble, Float: 1234567}, "1234567.0", "1234567.0"},
		{Scalar{Kind: KindDouble, Float: 1e7}, "1.0E7", "1.0E7"},
		{Scalar{Kind: KindDouble, Float: 12345678.9}, "1.23456789E7", "1.23456789E7"},
		{Scalar{Kind: KindDouble, Float: 0.001}, "0.001", "0.001"},
		{Scalar{Kind: KindDouble, Float: -0.0125}, "-0.0125", "-0.0125"},
		{Scalar{Kind: KindDouble, Float: 0.00098}, "9.8E-4", "9.8E-4"},
		{Scalar{Kind: KindDouble, Float: 4.9e-324}, "4.9E-324", "4.9E-324"},
		{Scalar{Kind: KindDouble, Float: math.MaxFloat64}, "1.7976931348623157E308", "1.7976931348623157E308"},
		{Scalar{Kind: KindFloat, Float: float64(float32(3.4028235e38))}, "3.4028235E38", "3.4028235E38"},
		{Scalar{Kind: KindFloat, Float: float64(float32(0.1))}, "0.1", "0.1"},
		{Scalar{Kind: KindFloat, Float: float64(math.Float32frombits(1))}, "1.4E-45", "1.4E-45"},
		{Scalar{Kind: KindInt64, Int: math.MinInt64}, "-9223372036854775808", "-9223372036854775808"},
		{Scalar{Kind: KindNull}, "null", "null"},
		{Scalar{Kind: KindBool, Int: 1}, "true", "true"},
		{Scalar{Kind: KindString, Bytes: []byte("a\"\n\x01é")}, "a\"\n\x01é", `"a\"\n\u0001é"`},
		{Scalar{Kind: KindString, Bytes: []byte("a\xff")}, "a\xff", `"a�"`},
	} {
		require.Equal(t, c.text, string(AppendScalarText([]byte("x"), &c.s))[1:], "%v", c.s)
		got := string(AppendScalarJSON(nil, &c.s))
		require.Equal(t, c.json, got)
		require.True(t, json.Valid([]byte(got)))
	}
}

// V20: binary stays binary until JSON is asked for. V21: a UUID has its most
// significant byte first.
func TestV20_V21_BinaryAndUUID(t *testing.T) {
	for value, json := range map[string]string{
		"3c0300000001feff":                   `"Af7/"`,
		"50f24f9b6481fa49d1b74e8c09a6e31c56": `"f24f9b64-81fa-49d1-b74e-8c09a6e31c56"`,
	} {
		v, err := New(emptyMetadata, unhex(t, value))
		require.NoError(t, err)
		require.Equal(t, json, v.String())
		b := NewBuilder()
		require.NoError(t, v.Emit(b))
		again, err := b.Value()
		require.NoError(t, err)
		require.Equal(t, v.Bytes(), again.Bytes())
		_, isText := v.Text()
		require.False(t, isText)
	}
	v := Unchecked(emptyMetadata, unhex(t, "3c0300000001feff"))
	b, ok := v.Binary()
	require.True(t, ok)
	require.Equal(t, []byte{1, 0xfe, 0xff}, b)
	id, ok := Unchecked(emptyMetadata, unhex(t, "50f24f9b6481fa49d1b74e8c09a6e31c56")).UUID()
	require.True(t, ok)
	require.Equal(t, byte(0xf2), id[0])
}

// TestAppendDate_Calendar walks 800 years beside package time.
func TestAppendDate_Calendar(t *testing.T) {
	start := time.Date(1583, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := range 800 * 366 {
		day := start.AddDate(0, 0, d)
		require.Equal(t, day.Format("2006-01-02"), string(appendDate(nil, day.Unix()/86400-b2i(day.Unix()%86400 < 0))))
	}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// TestAppendFloat_ReadsBack: what is written reads back as the same bits, and is in
// the notation that JSON knows.
func TestAppendFloat_ReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		f := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			f = float64(r.IntN(1e6)) / exactPow10[r.IntN(12)]
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		text := string(appendFloat(nil, f, 64))
		back, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(f), math.Float64bits(back), text)
		require.True(t, json.Valid([]byte(text)), text)
		g := float32(f)
		if !math.IsInf(float64(g), 0) {
			text = string(appendFloat(nil, float64(g), 32))
			back, err = strconv.ParseFloat(text, 32)
			require.NoError(t, err)
			require.Equal(t, math.Float32bits(g), math.Float32bits(float32(back)), text)
		}
	}
}

// TestAppendJSON_Escapes: every character alone, and at each place of a word.
func TestAppendJSON_Escapes(t *testing.T) {
	for c := rune(0); c < 0x300; c++ {
		for _, text := range []string{string(c), "1234567" + string(c) + "9", "12345678" + string(c), strings.Repeat("x", 70) + string(c)} {
			b := NewBuilder()
			b.Begin(KindObject)
			b.Key([]byte(text))
			b.Text(text)
			b.End()
			v, err := b.Value()
			require.NoError(t, err)
			got, err := AppendJSON(nil, v)
			require.NoError(t, err)
			var back map[string]string
			require.NoError(t, json.Unmarshal(got, &back), "%q", got)
			require.Equal(t, map[string]string{text: text}, back)
		}
	}
}

// TestAppendJSON_BadText: bytes that are no text are an error, and dst stays.
func TestAppendJSON_BadText(t *testing.T) {
	for _, value := range []string{"09fffe", "40" + "01000000" + "ff", "03010002" + "05ff", "440060d71d14000000", "202701000000"} {
		dst, err := AppendJSON([]byte("keep"), Unchecked(emptyMetadata, unhex(t, value)))
		require.ErrorIs(t, err, ErrCorrupt)
		require.Equal(t, "keep", string(dst))
	}
	_, err := AppendJSON(nil, Unchecked(unhex(t, "11010001ff"), unhex(t, "02010000020c01")))
	require.ErrorIs(t, err, ErrCorrupt)
	_, err = AppendJSON(nil, Value{})
	require.ErrorIs(t, err, ErrUsage)
}

// TestAppendJSON_GrowsAnyBuffer: the answer does not depend on the room in dst.
func TestAppendJSON_GrowsAnyBuffer(t *testing.T) {
	v, err := ParseJSON([]byte(`{"a":"0123456789","bbbbbbbbbbbbbbbbbbbbbbbbbb":[1.5,-12,true,"x"],"cc":123456789012}`))
	require.NoError(t, err)
	want := v.String()
	for room := range 120 {
		got, err := AppendJSON(make([]byte, 0, room), v)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestDecimal_Arithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	for range 20_000 {
		_, text := randomDecimal(r, Scalar{Kind: []Kind{KindDecimal4, KindDecimal8, KindDecimal16}[r.IntN(3)]})
		var name, coef string
		var scale int
		name, rest, _ := strings.Cut(text, " ")
		coef, s, _ := strings.Cut(rest, " ")
		scale, _ = strconv.Atoi(s)
		d := parseOracleDecimal(t, coef, scale)
		digits := strings.TrimPrefix(coef, "-")
		require.Equal(t, len(digits), d.Precision(), name)
		padded := strings.Repeat("0", max(0, scale+1-len(digits))) + digits
		want := padded[:len(padded)-scale]
		if scale > 0 {
			want += "." + padded[len(padded)-scale:]
		}
		if coef[0] == '-' {
			want = "-" + want
		}
		require.Equal(t, want, d.String())
		trimmed := want
		if scale > 0 {
			trimmed = strings.TrimSuffix(strings.TrimRight(want, "0"), ".")
		}
		if trimmed == "-0" {
			trimmed = "0"
		}
		require.Equal(t, trimmed, string(d.appendTrimmed(nil)))
		require.Equal(t, trimmed, d.Trim().String())
		f, _ := strconv.ParseFloat(want, 64)
		require.Equal(t, f, d.Float64(), want)
		up, ok := d.Trim().Rescale(d.Scale)
		require.True(t, ok)
		require.Equal(t, d, up)
		require.Zero(t, d.Cmp(d.Trim()))
		e := parseOracleDecimal(t, "7", 3)
		require.Equal(t, f > 0.007, d.Cmp(e) > 0, want)
	}
}

// parseOracleDecimal builds a decimal from the digits of its coefficient.
func parseOracleDecimal(t *testing.T, coef string, scale int) Decimal {
	var hi, lo uint64
	for _, c := range strings.TrimPrefix(coef, "-") {
		var ok bool
		hi, lo, ok = mul128(hi, lo, 10)
		require.True(t, ok)
		if lo += uint64(c - '0'); lo < uint64(c-'0') {
			hi++
		}
	}
	return decimalOf(coef[0] == '-', hi, lo, uint8(scale))
}

// TestAppendEscaped: the escapes of texts that are passed over in words are those of
// the way that looks at each byte, wherever they stand.
func TestAppendEscaped(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 3))
	pieces := []string{"a", "plain text of some length", `"`, `\`, "\n", "\x00", "\x1f", " ", "\x7f", "é", "日本語", "𐀀", "\u2028", "!", "#", "[", "]"}
	for range 20_000 {
		var b []byte
		for range r.IntN(12) {
			b = append(b, pieces[r.IntN(len(pieces))]...)
		}
		require.Equal(t, string(appendQuoted([]byte("x"), b)), string(appendEscaped([]byte("x"), b)))
	}
}
