package iceberg

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"testing"
	"time"

	ice "github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

func cellOf(t testing.TB, typ string) *cell {
	t.Helper()
	parsed, err := ParseType(typ)
	require.NoError(t, err)
	c, err := newCell(parsed)
	require.NoError(t, err)
	return c
}

func TestCellsThatFit(t *testing.T) {
	for _, c := range []struct {
		typ, text string
		want      int64
	}{
		{"boolean", `true`, 1},
		{"boolean", `false`, 0},
		{"int", `-2147483648`, math.MinInt32},
		{"int", `1.0`, 1},
		{"int", `12e2`, 1200},
		{"int", `-0`, 0},
		{"bigint", `9223372036854775807`, math.MaxInt64},
		{"bigint", `-9223372036854775808`, math.MinInt64},
		{"date", `"1970-01-01"`, 0},
		{"date", `"0001-01-01"`, -719162},
		{"date", `"9999-12-31"`, 2932896},
		{"date", `"2024-02-29"`, 19782},
		{"time", `"23:59:59.999999"`, 86399999999},
		{"time", `"01:02"`, 3720000000},
		{"timestamp", `"1970-01-01"`, 0},
		{"timestamp", `"1970-01-01T00:00:00Z"`, 0},
		{"timestamp", `"1970-01-01 00:00:01.5"`, 1500000},
		{"timestamp", `"1970-01-01T00:00:00-01:30"`, 5400000000},
		{"timestamp", `"1970-01-01T02:00:00+02"`, 0},
		{"timestamp", `"1969-12-31T23:59:59.999999999Z"`, -1},
		{"timestamp_ntz", `"1970-01-01T00:00:00.000001"`, 1},
		{"timestamp_ns", `"1970-01-01T00:00:00.123456789Z"`, 123456789},
		{"timestamp_ns", `"2262-04-11T23:47:16.854775807Z"`, math.MaxInt64},
		{"decimal(4,2)", `12.34`, 1234},
		{"decimal(4,2)", `"-12.3400"`, -1234},
		{"decimal(4,2)", `1.2e1`, 1200},
		{"decimal(4,2)", `1200e-2`, 1200},
		{"decimal(4,2)", `0.0000000000000000000000000000000000000000000000000000000`, 0},
		{"decimal(9,0)", `999999999.000000000000000000000000000000000000000000000`, 999999999},
	} {
		s, err := cellOf(t, c.typ).json([]byte(c.text))
		require.NoError(t, err, "%s %s", c.typ, c.text)
		require.Equal(t, c.want, s.Int, "%s %s", c.typ, c.text)
	}
}

func TestCellsThatDoNotFit(t *testing.T) {
	for typ, texts := range map[string][]string{
		"boolean":       {`1`, `"true"`, `TRUE`, `truex`, `{}`},
		"int":           {`2147483648`, `"1"`, `1.5`, `01`, `+1`, `1e-1`, `true`, `[1]`, `1e99999999999`, `0x1`, `1_0`, ``, `-`},
		"bigint":        {`9223372036854775808`, `1e19`, `NaN`, `- 1`},
		"float":         {`"1.5"`, `1e40`, `NaN`, `Infinity`, `"nan"`, `.5`, `5.`, `0x1p3`, `1e`, `--1`},
		"double":        {`1e400`, `"x"`, `infinity`},
		"decimal(4,2)":  {`123.4`, `0.001`, `100`, `"1,5"`, `""`, `true`, `1e400`, `"NaN"`},
		"decimal(38,0)": {`100000000000000000000000000000000000000`, `1e38`, `99999999999999999999999999999999999999999999999999`},
		"string":        {`1`, `true`, `{}`, `"a`, "\"a\x01\"", `"\q"`, `"\u12"`, `"\udc00"`, "\"\xff\""},
		"binary":        {`"AA"`, `"A==="`, `"*"`, `1`},
		"fixed(2)":      {`"AA=="`, `"AAAA"`},
		"uuid":          {`"0db3e2a89d1d42b9aa7b74ebe558dceb"`, `"0db3e2a8-9d1d-42b9-aa7b-74ebe558dceg"`, `5`},
		"date":          {`"2026-13-01"`, `"2026-00-01"`, `"2026-02-29"`, `"2026-7-1"`, `"2026-07-01T00:00:00"`, `20260701`, `"x026-07-01"`, `"2026-07-011"`},
		"time":          {`"24:00:00"`, `"1:00:00"`, `"01:60:00"`, `"01:00:60"`, `"01:00:00."`, `"01:00:00.1234567890"`, `"01:00:00Z"`},
		"timestamp":     {`"2026-07-01T"`, `"2026-07-01T25:00:00Z"`, `"2026-07-01T01:00:00+25:00"`, `"2026-07-01T01:00:00X"`, `"2026-07-01X01:00:00"`, `5`},
		"timestamp_ntz": {`"2026-07-01T01:00:00Z"`, `"2026-07-01T01:00:00+01:00"`},
		"timestamp_ns":  {`"2262-04-11T23:47:16.854775808Z"`, `"9999-01-01T00:00:00Z"`, `"0001-01-01"`},
	} {
		for _, text := range texts {
			if typ == "string" && text == `"a` {
				continue // the scanner never passes half a string on
			}
			_, err := cellOf(t, typ).json([]byte(text))
			require.Error(t, err, "%s %s", typ, text)
		}
	}
}

// The calendar agrees with package time for every day of 400 years, and beyond.
func TestDatesAgreeWithTime(t *testing.T) {
	c := cellOf(t, "date")
	for day := time.Date(1599, 12, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2001; day = day.AddDate(0, 0, 1) {
		s, err := c.json([]byte(strconv.Quote(day.Format(time.DateOnly))))
		require.NoError(t, err)
		require.Equal(t, floorDiv(day.Unix(), secondsPerDay), s.Int)
	}
}

// Decimals agree with big.Rat.
func TestDecimalsAgreeWithRationals(t *testing.T) {
	for _, mantissa := range []string{"0", "1", "-1", "99", "123456789012345678901234567890", "-0.5", "1.25", "1000", "0.00120", "12.340000"} {
		for exp := -12; exp <= 12; exp++ {
			for scale := range 12 {
				text := mantissa + "e" + strconv.Itoa(exp)
				r, ok := new(big.Rat).SetString(text)
				require.True(t, ok)
				r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
				d, ok := parseDecimal([]byte(text), scale)
				fits := r.IsInt() && r.Num().BitLen() < 128
				if !ok {
					require.False(t, fits && len(r.Num().String()) <= 38, "%s at scale %d", text, scale)
					continue
				}
				require.True(t, fits, "%s at scale %d", text, scale)
				require.Equal(t, r.Num().String(), d.Big().String(), "%s at scale %d", text, scale)
			}
		}
	}
}

// unquote agrees with encoding/json wherever that is strict.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`""`, `"a"`, `"\u00e9\ud83d\ude00"`, `"\ud800"`, `"\\\""`, `"é"`, "\"\x1f\"", `"\/\b\f\n\r\t"`, `"\ud800\u0041"`, `"" `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || s[0] != '"' {
			return
		}
		if end, err := skipString([]byte(s), 0); err != nil || end != len(s) {
			return // the scanner passes on whole strings and nothing else
		}
		got, err := unquote(nil, []byte(s))
		var want string
		jsonErr := json.Unmarshal([]byte(s), &want)
		if err == nil {
			require.NoError(t, jsonErr)
			require.Equal(t, want, string(got))
		} else if jsonErr == nil {
			require.Contains(t, want, "\ufffd", "refused %q", s)
		}
	})
}

// The scanner and the strict readers behind it take exactly what is JSON.
func FuzzRowScanner(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":"x"}`, `{}`, `{"a":{"b":[1,2,{"c":null}]}}`, `{"a":1}x`, `{"a" : 1 , "b":2 }`, `{"a":1,}`, `{"\u0061":1}`, `{"a":1,"a":2}`, `[`, `{"a":"\"}"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		row := trimSpace([]byte(s))
		scanner := newRowScanner([]string{"a"}, variant.ParseOptions{})
		err := scanner.scan(row)
		if err == nil && scanner.spans[0].end > 0 {
			at := scanner.spans[0]
			err = variant.NewParser(variant.ParseOptions{}).Parse(row[at.start:at.end], discard{})
		}
		if err != nil {
			return
		}
		// encoding/json has no byte order mark, and lets more pass elsewhere.
		require.True(t, json.Valid(row), "accepted %q", s)
		var want map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(row, &want))
		if at := scanner.spans[0]; at.end > 0 {
			require.Equal(t, string(want["a"]), string(row[at.start:at.end]))
		}
	})
}

// Every strict prefix of a row fails.
func TestPrefixesOfARowFail(t *testing.T) {
	row := `{"a" : "x\"}", "b":[1,{"c":"]"}] ,"c":{"d":[]},"e":-1.5e3,"f":null}`
	s := newRowScanner([]string{"a", "b", "e"}, variant.ParseOptions{})
	require.NoError(t, s.scan([]byte(row)))
	for n := range len(row) {
		require.Error(t, s.scan([]byte(row[:n])), row[:n])
	}
}

func TestDefaultsAsForeignWritersHaveThem(t *testing.T) {
	s, err := defaultScalar(ice.DateType{}, float64(20635)) // iceberg-go writes days
	require.NoError(t, err)
	require.EqualValues(t, 20635, s.Int)
	s, err = defaultScalar(ice.Int64Type{}, float64(5e9))
	require.NoError(t, err)
	require.EqualValues(t, 5e9, s.Int)
	_, err = defaultScalar(ice.DateType{}, "yesterday")
	require.Error(t, err)
	_, err = defaultScalar(ice.Int32Type{}, true)
	require.Error(t, err)
}
