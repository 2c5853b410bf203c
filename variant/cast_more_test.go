package variant

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func mustType(t testing.TB, text string) Type {
	t.Helper()
	typ, err := ParseType(text)
	require.NoError(t, err)
	return typ
}

// castText gives the text of a cast value, "error" for none.
func castText(t testing.TB, v Value, typ string) string {
	got, err := Cast(v, mustType(t, typ))
	if err != nil {
		require.ErrorIs(t, err, ErrCast)
		return "error"
	}
	return got.String()
}

// TestCast_Texts are the corners of reading strings that the shared tables lack.
func TestCast_Texts(t *testing.T) {
	for _, c := range []struct{ text, typ, want string }{
		{" -128\t", "tinyint", "-128"},
		{"+7", "int", "7"},
		{"128", "tinyint", "error"},
		{"-", "int", "error"},
		{"1_0", "int", "error"},
		{"9223372036854775807", "bigint", "9223372036854775807"},
		{"-9223372036854775808", "bigint", "-9223372036854775808"},
		{"9223372036854775808", "bigint", "error"},
		{"99999999999999999999", "bigint", "error"},
		{"TRUE", "boolean", "true"},
		{"No", "boolean", "false"},
		{"on", "boolean", "error"},
		{"truetrue", "boolean", "error"},
		{"1e3", "double", "1000.0"},
		{".5", "double", "0.5"},
		{"5.", "double", "5.0"},
		{"-Infinity", "double", `"-Infinity"`},
		{"inf", "double", `"Infinity"`},
		{"nAn", "double", `"NaN"`},
		{"0x10", "double", "error"},
		{"1_0", "double", "error"},
		{"1e400", "double", `"Infinity"`},
		{"-1e400", "double", `"-Infinity"`},
		{"1e-400", "double", "0.0"},
		{"", "double", "error"},
		{"e", "double", "error"},
		{"1e39", "float", `"Infinity"`},
		{"1.005", "decimal(9,2)", "1.01"},
		{"-1.005", "decimal(9,2)", "-1.01"},
		{"0.005", "decimal(9,2)", "0.01"},
		{"0.00499999999999999999999999999999999999999999999", "decimal(9,2)", "0"},
		{"1e7", "decimal(9,2)", "error"},
		{"12e-1", "decimal(9,2)", "1.2"},
		{"1e-2147483648", "decimal(9,2)", "0"},
		{"1e99999999999", "decimal(9,2)", "error"},
		{"0e99999999999", "decimal(9,2)", "0"},
		{"9999999.995", "decimal(9,2)", "error"},
		{"1..2", "decimal(9,2)", "error"},
		{"1e", "decimal(9,2)", "error"},
		{"99999999999999999999999999999999999999", "decimal(38,0)", "99999999999999999999999999999999999999"},
		{"99999999999999999999999999999999999999.5", "decimal(38,0)", "error"},
		{"2026", "date", `"2026-01-01"`},
		{"2026-2", "date", `"2026-02-01"`},
		{"2026-02-29", "date", "error"},
		{"2024-02-29", "date", `"2024-02-29"`},
		{"2026-13-01", "date", "error"},
		{"2026-00-01", "date", "error"},
		{"2026-01-00", "date", "error"},
		{"2026-01-01x", "date", "error"},
		{"2026-01-01 anything", "date", `"2026-01-01"`},
		{"2026-01-01T", "date", `"2026-01-01"`},
		{"26-01-01", "date", "error"},
		{"2026-01-", "date", "error"},
		{"2026-1-001", "date", "error"},
		{"2026-07-01 1", "timestamp", `"2026-07-01 01:00:00+00:00"`},
		{"2026-07-01T01:02", "timestamp", `"2026-07-01 01:02:00+00:00"`},
		{"2026-07-01 01:02:03.1234567", "timestamp", `"2026-07-01 01:02:03.123456+00:00"`},
		{"2026-07-01 01:02:03.", "timestamp", `"2026-07-01 01:02:03+00:00"`},
		{"2026-07-01 01:02:03Z", "timestamp", `"2026-07-01 01:02:03+00:00"`},
		{"2026-07-01 01:02:03+02:00", "timestamp", `"2026-06-30 23:02:03+00:00"`},
		{"2026-07-01 01:02:03 -5", "timestamp", `"2026-07-01 06:02:03+00:00"`},
		{"2026-07-01 01:02:03 UTC", "timestamp", `"2026-07-01 01:02:03+00:00"`},
		{"2026-07-01 01:02:03GMT+1", "timestamp", `"2026-07-01 00:02:03+00:00"`},
		{"2026-07-01 01:02:03+0130", "timestamp", `"2026-06-30 23:32:03+00:00"`},
		{"2026-07-01 01:02:03+19:00", "timestamp", "error"},
		{"2026-07-01 01:02:03+01:60", "timestamp", "error"},
		{"2026-07-01 01:02:03 Mars", "timestamp", "error"},
		{"2026-07-01 24:00:00", "timestamp", "error"},
		{"2026-07-01 01:60", "timestamp", "error"},
		{"2026-07-01 ", "timestamp", `"2026-07-01 00:00:00+00:00"`},
		{"2026-07-01T", "timestamp", "error"},
		{"2026-07 01:00", "timestamp", "error"},
		{"T01:02:03", "timestamp", "error"},
		{"01:02", "timestamp", "error"},
		{"2026-07-01 01:02:03+02:00", "timestamp_ntz", `"2026-07-01 01:02:03"`},
		{"1969-12-31 23:59:59.999999", "timestamp_ntz", `"1969-12-31 23:59:59.999999"`},
		{"1d", "double", "1.0"},
		{"-1.5F", "float", "-1.5"},
		{"1.D", "double", "1.0"},
		{"1dd", "double", "error"},
		{"d", "double", "error"},
		{"infd", "double", "error"},
		{"1e5d", "double", "100000.0"},
		{"5881580-07-11", "date", `"+5881580-07-11"`},
		{"5881580-07-12", "date", "error"},
		{"-5877641-06-23", "date", `"-5877641-06-23"`},
		{"-5877641-06-22", "date", "error"},
		{"9999999-01-01", "date", "error"},
		{"294247-01-10 04:00:54.775807", "timestamp", `"+294247-01-10 04:00:54.775807+00:00"`},
		{"294247-01-10 04:00:54.775808", "timestamp", "error"},
		{"294247-01-10 05:00:54.775807+01:00", "timestamp", `"+294247-01-10 04:00:54.775807+00:00"`},
		{"294247-01-10 05:00:54.775807+01:00", "timestamp_ntz", "error"},
		{"294247-01-10 04:00:54-01:00", "timestamp", "error"},
		{"294247-01-10 04:00:54-01:00", "timestamp_ntz", `"+294247-01-10 04:00:54"`},
		{"-290308-12-21 19:59:05.224192", "timestamp", `"-290308-12-21 19:59:05.224192+00:00"`},
		{"-290308-12-21 19:59:05.224191", "timestamp", "error"},
		{"-290308-12-21 18:59:05.224192-01:00", "timestamp", `"-290308-12-21 19:59:05.224192+00:00"`},
		{"294247-01-11", "timestamp", "error"},
		{"300000-01-01", "timestamp_ntz", "error"},
		{"-999999-01-01", "timestamp", "error"},
		{"", "date", "error"},
		{"", "timestamp", "error"},
	} {
		v := scalarValue(Scalar{Kind: KindString, Bytes: []byte(c.text)})
		require.Equal(t, c.want, castText(t, v, c.typ), "%q as %s", c.text, c.typ)
	}
}

// TestCast_KindsBeyondSpark: time, uuid and nanoseconds, which Spark's Variant lacks,
// and binary as text.
func TestCast_KindsBeyondSpark(t *testing.T) {
	clock := scalarValue(Scalar{Kind: KindTime, Int: 3723004005})
	id := scalarValue(Scalar{Kind: KindUUID, Bytes: unhex(t, "f24f9b6481fa49d1b74e8c09a6e31c56")})
	nanos := scalarValue(Scalar{Kind: KindTimestampNanos, Int: -1})
	ntz := scalarValue(Scalar{Kind: KindTimestampNTZNanos, Int: 1999})
	bin := scalarValue(Scalar{Kind: KindBinary, Bytes: []byte("a\xffb")})
	for _, c := range []struct {
		v         Value
		typ, want string
	}{
		{clock, "string", `"01:02:03.004005"`},
		{clock, "bigint", "error"},
		{clock, "timestamp", "error"},
		{id, "string", `"f24f9b64-81fa-49d1-b74e-8c09a6e31c56"`},
		{id, "binary", "error"}, // V21
		{nanos, "string", `"1969-12-31 23:59:59.999999999"`},
		{nanos, "timestamp", `"1969-12-31 23:59:59.999999+00:00"`}, // V18
		{nanos, "date", `"1969-12-31"`},
		{nanos, "bigint", "-1"},
		{nanos, "decimal(18,9)", "-0.000000001"},
		{ntz, "timestamp_ntz", `"1970-01-01 00:00:00.000001"`},
		{ntz, "bigint", "error"},
		{bin, "string", `"a` + "\uFFFD" + `b"`},
		{bin, "binary", `"Yf9i"`}, // V20, V15
	} {
		require.Equal(t, c.want, castText(t, c.v, c.typ), "%s as %s", c.v, c.typ)
	}
}

// TestCast_V18_V11_Ranges: what does not fit is an error, never a wrapped number.
func TestCast_V18_V11_Ranges(t *testing.T) {
	i := func(k Kind, x int64) Value { return scalarValue(Scalar{Kind: k, Int: x, Hi: x >> 63}) }
	f := func(x float64) Value { return scalarValue(Scalar{Kind: KindDouble, Float: x}) }
	for _, c := range []struct {
		v         Value
		typ, want string
	}{
		{i(KindInt64, math.MaxInt64), "timestamp", "error"},
		{i(KindInt64, math.MaxInt64/1_000_000), "timestamp", `"+294247-01-10 04:00:54+00:00"`},
		{i(KindDate, math.MaxInt32), "timestamp", "error"},
		{i(KindDate, math.MinInt32), "timestamp_ntz", "error"},
		{i(KindTimestamp, math.MaxInt64), "int", "error"},
		{i(KindTimestamp, math.MaxInt64), "date", `"+294247-01-10"`},
		{f(1 << 63), "bigint", "error"},
		{f(-(1 << 63)), "bigint", "-9223372036854775808"},
		{f(math.Inf(1)), "decimal(38,0)", "error"},
		{f(2147483647.9), "int", "2147483647"},
		{f(-128.9), "tinyint", "-128"},
		{f(1e300), "timestamp", "error"},
		{f(1e300), "float", `"Infinity"`},
		{decimalValue(KindDecimal16, "99999999999999999999999999999999999999"), "timestamp", "error"},
		{decimalValue(KindDecimal16, "9999999999999.999999999"), "timestamp", "error"}, // 9999999999999999999 us
		{decimalValue(KindDecimal16, "99999999999999999999999999999999999999"), "bigint", "error"},
		{decimalValue(KindDecimal16, "9223372036854775807.9"), "bigint", "9223372036854775807"},
		{decimalValue(KindDecimal16, "-9223372036854775808.9"), "bigint", "-9223372036854775808"},
		{decimalValue(KindDecimal16, "99999999999999999999999999999999999999"), "decimal(38,1)", "error"},
	} {
		require.Equal(t, c.want, castText(t, c.v, c.typ), "%s as %s", c.v, c.typ)
	}
}

// TestCast_V12_DecimalsAgainstBigRat holds rounding, truncation and floats of random
// decimals against arithmetic of another kind.
func TestCast_V12_DecimalsAgainstBigRat(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	ten := big.NewInt(10)
	for range 20000 {
		digits := 1 + r.IntN(38)
		x := new(big.Int)
		for range digits {
			x.Mul(x, ten).Add(x, big.NewInt(int64(r.IntN(10))))
		}
		if r.IntN(2) == 0 {
			x.Neg(x)
		}
		scale := r.IntN(39)
		low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		s := Scalar{Kind: KindDecimal16, Scale: uint8(scale), Int: int64(low), Hi: new(big.Int).Rsh(x, 64).Int64()}
		rat := new(big.Rat).SetFrac(x, new(big.Int).Exp(ten, big.NewInt(int64(scale)), nil))

		p := 1 + r.IntN(38)
		typ := Type{ID: TypeDecimal, Precision: p, Scale: r.IntN(p + 1)}
		want := rat.FloatString(typ.Scale) // rounds half away from zero
		fits := len(trimNumber(want)) <= p
		got, err := CastScalar(&s, typ)
		require.Equal(t, fits, err == nil, "%s as %s", want, typ)
		if fits {
			require.Equal(t, want, negZero(got.Dec().String(), want))
		}
		whole := new(big.Int).Quo(rat.Num(), rat.Denom())
		got, err = CastScalar(&s, Type{ID: TypeBigint})
		require.Equal(t, whole.IsInt64(), err == nil)
		if err == nil {
			require.Equal(t, whole.Int64(), got.Int)
		}
		f64, _ := rat.Float64()
		got, err = CastScalar(&s, Type{ID: TypeDouble})
		require.NoError(t, err)
		require.Equal(t, f64, got.Float)
		f32, _ := rat.Float32()
		got, err = CastScalar(&s, Type{ID: TypeFloat})
		require.NoError(t, err)
		require.Equal(t, float64(f32), got.Float)
	}
}

// trimNumber leaves the significant digits of a fixed-point text.
func trimNumber(text string) string {
	out, leading := "", true
	for _, c := range text {
		if c < '0' || c > '9' || leading && c == '0' {
			continue
		}
		leading = false
		out += string(c)
	}
	return out
}

// negZero allows for big.Rat's -0.00.
func negZero(got, want string) string {
	if want[0] == '-' && "-"+got == want {
		return want
	}
	return got
}

// TestCast_S11_OneTextWhateverTheLayout: the same number as plain decimal, as the
// scale of a shredded column, as a wider integer.
func TestCast_S11_OneTextWhateverTheLayout(t *testing.T) {
	for _, group := range [][]Value{
		{decimalValue(KindDecimal4, "1.5"), decimalValue(KindDecimal8, "1.50"), decimalValue(KindDecimal16, "1.500000")},
		{mustParse(t, "22"), decimalValue(KindDecimal4, "22.00"), scalarValue(Scalar{Kind: KindInt64, Int: 22})},
		{decimalValue(KindDecimal4, "0.05"), decimalValue(KindDecimal16, "0.0500")},
		{scalarValue(Scalar{Kind: KindTimestamp, Int: 1000}), scalarValue(Scalar{Kind: KindTimestampNanos, Int: 1000000})},
		{mustParse(t, `"a"`), longString("a")},
	} {
		for _, typ := range []string{"string", "double", "decimal(38,10)", "boolean", "bigint"} {
			for _, v := range group[1:] {
				require.Equal(t, castText(t, group[0], typ), castText(t, v, typ), "%s as %s", v, typ)
			}
		}
	}
}

// TestCast_NestedErrorsHavePaths tells what failed in the middle.
func TestCast_NestedErrorsHavePaths(t *testing.T) {
	v := mustParse(t, `{"legs":[{"rate":1.5},{"rate":"high"}],"more":true}`)
	typ := mustType(t, "struct<legs:array<struct<rate:double,tenor:string>>>")
	_, err := Cast(v, typ)
	var failed *CastError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, CastError{KindString, `"high"`, "double", "$['legs'][1]['rate']"}, *failed)
	require.EqualError(t, err, `variant: string "high" at $['legs'][1]['rate'] does not cast to double`)
	got, ok := TryCast(v, typ)
	require.True(t, ok)
	require.Equal(t, `{"legs":[{"rate":1.5,"tenor":null},{"rate":null,"tenor":null}]}`, got.String())
	_, ok = TryCast(v, mustType(t, "array<int>"))
	require.False(t, ok)
	_, err = Cast(v, mustType(t, "int"))
	require.EqualError(t, err, `variant: object {"legs":[{"rate":1.5},{"rate":"high"}],"more":true} does not cast to int`)
}

// TestCast_NullAndMissing stay apart only under variant.
func TestCast_NullAndMissing(t *testing.T) {
	null := mustParse(t, "null")
	for _, typ := range []string{"int", "string", "array<int>", "struct<a:int>", "map<string,int>"} {
		for _, v := range []Value{{}, null} {
			got, err := Cast(v, mustType(t, typ))
			require.NoError(t, err)
			require.True(t, got.IsNull(), typ)
		}
	}
	got, err := Cast(Value{}, Type{})
	require.NoError(t, err)
	require.True(t, got.IsMissing())
	got, err = Cast(null, Type{})
	require.NoError(t, err)
	require.True(t, got.IsNull())
	require.Equal(t, `{"a":null,"b":null}`, castText(t, mustParse(t, `{"b":null}`), "struct<a:int,b:variant>"))
	_, err = Cast(Unchecked(emptyMetadata, []byte{primInt32 << 2}), mustType(t, "int"))
	require.ErrorIs(t, err, ErrCorrupt)
}

func TestAs(t *testing.T) {
	v := mustParse(t, `{"i":300,"d":1.50,"f":2.5e0,"s":"7","t":"2026-07-01 00:00:01Z","b":true,"n":null,"o":{}}`)
	b, ok := As[bool](v.Field("i"))
	require.True(t, b && ok)
	_, ok = As[int8](v.Field("i"))
	require.False(t, ok)
	i16, ok := As[int16](v.Field("i"))
	require.True(t, ok)
	require.Equal(t, int16(300), i16)
	i32, _ := As[int32](v.Field("s"))
	require.Equal(t, int32(7), i32)
	i64, _ := As[int64](v.Field("d"))
	require.Equal(t, int64(1), i64)
	n, _ := As[int](v.Field("b"))
	require.Equal(t, 1, n)
	f32, _ := As[float32](v.Field("d"))
	require.Equal(t, float32(1.5), f32)
	f64, _ := As[float64](v.Field("f"))
	require.Equal(t, 2.5, f64)
	s, _ := As[string](v.Field("d"))
	require.Equal(t, "1.5", s)
	bin, _ := As[[]byte](v.Field("s"))
	require.Equal(t, []byte("7"), bin)
	at, _ := As[time.Time](v.Field("t"))
	require.Equal(t, time.Date(2026, 7, 1, 0, 0, 1, 0, time.UTC), at)
	d, _ := As[Decimal](v.Field("d"))
	require.Equal(t, Decimal{Lo: 150, Scale: 2}, d)
	d, _ = As[Decimal](v.Field("s"))
	require.Equal(t, Decimal{Lo: 7}, d)
	for _, name := range []string{"n", "o", "absent"} {
		_, ok = As[string](v.Field(name))
		require.False(t, ok, name)
	}
	at, ok = As[time.Time](scalarValue(Scalar{Kind: KindTimestampNanos, Int: 1}))
	require.True(t, ok)
	require.Equal(t, 1, at.Nanosecond())
}

func TestCast_AllocatesOnlyForText(t *testing.T) {
	scalars := []Scalar{
		{Kind: KindInt32, Int: 7},
		{Kind: KindDecimal4, Scale: 2, Int: 150},
		{Kind: KindDouble, Float: 1.25},
		{Kind: KindString, Bytes: []byte("12")},
		{Kind: KindTimestamp, Int: 1},
		{Kind: KindBool, Int: 1},
	}
	types := []Type{
		{ID: TypeBoolean},
		{ID: TypeInt},
		{ID: TypeBigint},
		{ID: TypeFloat},
		{ID: TypeDouble},
		{ID: TypeTimestamp},
		{ID: TypeDecimal, Precision: 18, Scale: 4},
	}
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for i := range scalars {
			for j := range types {
				castScalar(&scalars[i], &types[j])
			}
		}
	}))
	v := mustParse(t, "1.5")
	require.Zero(t, testing.AllocsPerRun(10, func() {
		if x, ok := As[float64](v); !ok || x != 1.5 {
			panic(strconv.FormatFloat(x, 'g', -1, 64))
		}
	}))
}

func BenchmarkCastScalar(b *testing.B) {
	s := Scalar{Kind: KindDecimal8, Scale: 6, Int: 123456789}
	for _, text := range []string{"double", "decimal(18,4)", "bigint", "string"} {
		typ := mustType(b, text)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := CastScalar(&s, typ); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleCast() {
	v, _ := ParseJSON([]byte(`[1.005, "2", true]`))
	t, _ := ParseType("array<decimal(9,2)>")
	prices, err := Cast(v, t)
	fmt.Println(prices, err)
	t, _ = ParseType("int")
	_, err = Cast(v, t)
	fmt.Println(err)
	// Output:
	// [1.01,2,1] <nil>
	// variant: array [1.005,"2",true] does not cast to int
}

func ExampleTryCast() {
	v, _ := ParseJSON([]byte(`[1, "x"]`))
	t, _ := ParseType("array<int>")
	fmt.Println(TryCast(v, t))
	// Output: [1,null] true
}

func ExampleAs() {
	v, _ := ParseJSON([]byte(`{"price":"12.50"}`))
	price, ok := As[float64](v.Field("price"))
	fmt.Println(price, ok)
	// Output: 12.5 true
}

// TestCast_V11_DecimalsBeyondTheLimits: 39 digits, or a scale of 48, in unchecked
// bytes are corruption, and no text of them panics.
func TestCast_V11_DecimalsBeyondTheLimits(t *testing.T) {
	for _, text := range []string{"283030303030303030303030303030303030", "2800ffffffffffffffffffffffffffffff7f", "20ff01000000"} {
		v := Unchecked(emptyMetadata, unhex(t, text))
		for _, typ := range []string{"string", "double", "decimal(38,0)", "array<int>"} {
			_, err := Cast(v, mustType(t, typ))
			require.Error(t, err)
		}
		var x any
		require.ErrorIs(t, Unmarshal(v, &x), ErrCorrupt)
		d, _ := v.Decimal()
		require.NotEmpty(t, d.String())
		_, err := Marshal(d)
		require.ErrorIs(t, err, ErrGoType)
		As[string](v)
		As[float64](v)
		As[int](v)
	}
}
