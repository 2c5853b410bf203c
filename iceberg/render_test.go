package iceberg

import (
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/stretchr/testify/require"
)

func TestFloatText(t *testing.T) {
	for _, c := range []struct {
		f    float64
		bits int
		want string
	}{
		{1, 64, "1.0"},
		{math.Copysign(0, -1), 64, "-0.0"},
		{0.1, 64, "0.1"},
		{float64(float32(0.1)), 32, "0.1"},
		{float64(float32(0.1)), 64, "0.10000000149011612"},
		{1e21, 64, "1.0e+21"},
		{123456789012345680000, 64, "123456789012345680000.0"},
		{1e-7, 64, "1.0e-07"},
		{math.SmallestNonzeroFloat64, 64, "4.9e-324"},
		{math.SmallestNonzeroFloat32, 32, "1.4e-45"},
		{float64(float32(15000000512)), 32, "1.50000005e+10"}, // 1.5e10 lies half-way to the float below
		{math.NaN(), 64, `"NaN"`},
		{math.Inf(1), 32, `"Infinity"`},
		{math.Inf(-1), 64, `"-Infinity"`},
	} {
		require.Equal(t, c.want, string(appendJSONFloat(nil, c.f, c.bits)))
	}
}

func TestDecimalText(t *testing.T) {
	for _, c := range []struct {
		coef  int64
		scale int
		want  string
	}{
		{0, 0, "0"}, {0, 2, "0.00"}, {5, 2, "0.05"}, {-5, 2, "-0.05"}, {150, 2, "1.50"}, {-12345, 5, "-0.12345"}, {123, 0, "123"}, {1, 10, "0.0000000001"},
	} {
		require.Equal(t, c.want, string(appendDecimal(nil, decimal128.FromI64(c.coef), c.scale)))
	}
	most, err := decimal128.FromString("-99999999999999999999999999999999999999", 38, 0)
	require.NoError(t, err)
	require.Equal(t, "-9999999999999999999999999999.9999999999", string(appendDecimal(nil, most, 10)))
}

func TestMomentText(t *testing.T) {
	require.Equal(t, "1969-12-31T23:59:59.999999", string(appendTimestamp(nil, -1, microsPerSecond)))
	require.Equal(t, "1969-12-31T23:59:59.999999999", string(appendTimestamp(nil, -1, nanosPerSecond)))
	require.Equal(t, "2026-07-01T01:02:03.100000", string(appendTimestamp(nil, time.Date(2026, 7, 1, 1, 2, 3, 1e8, time.UTC).UnixMicro(), microsPerSecond)))
	require.Equal(t, "23:59:59.000001", string(appendTime(nil, 86_399_000_001, microsPerSecond)))
	require.Equal(t, "0001-01-01", string(appendDate(nil, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()/86_400)))
	require.Equal(t, "-0001-03-01", string(appendDate(nil, -719_468-366)))
	require.Equal(t, "12345-01-01", string(appendDate(nil, time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC).Unix()/86_400)))
}

func TestJSONText(t *testing.T) {
	require.Equal(t, `"a\"b\\c\n\r\t\u0001/é😀"`, string(appendJSONText(nil, "a\"b\\c\n\r\t\x01/é😀")))
	require.Equal(t, "\"x\ufffdy\"", string(appendJSONText(nil, "x\xffy")))
}

// FuzzParseWhere: any text is parsed or refused, and what is parsed prints as
// something that means the same.
func FuzzParseWhere(f *testing.F) {
	for _, s := range []string{
		"a = 1", "NOT (a IN (1, NULL) OR b LIKE 'x\\%%') AND c.d IS NOT NULL", "variant_get(v, '$[''k''][0]', 'decimal(9,2)') <=> -1.5e3",
		"d BETWEEN DATE '2026-07-01' AND TIMESTAMP '2026-07-01 01:02:03Z'", "`odd name` = X'ff' or b", "\"q\"\"\" = a", "((((",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseWhere(text)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalid)
			return
		}
		again, err := ParseWhere(e.String())
		require.NoError(t, err, "%q prints as %q", text, e.String())
		require.Equal(t, e.String(), again.String())
	})
}
