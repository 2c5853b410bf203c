package variant

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type UUID [16]byte

type marshalBase struct {
	ID     int64 `variant:"id"`
	Shared string
	Hidden string `variant:"hidden"`
}

// MarshalInner is exported so that a nil pointer to it can be set.
type MarshalInner struct {
	Rate  float64 `variant:"rate"`
	Tenor string  `variant:"tenor,omitempty"`
}

type marshalAll struct {
	marshalBase
	*MarshalInner
	Bool     bool              `variant:"bool"`
	I8       int8              `variant:"i8"`
	U64      uint64            `variant:"u64"`
	F32      float32           `variant:"f32"`
	F64      float64           `variant:"f64"`
	Text     string            `variant:"text"`
	Bytes    []byte            `variant:"bytes"`
	Fixed    [3]byte           `variant:"fixed"`
	ID2      UUID              `variant:"uuid"`
	Raw16    [16]byte          `variant:"raw16,uuid"`
	At       time.Time         `variant:"at"`
	AtNanos  time.Time         `variant:"at_nanos,nanos,omitempty"`
	AtNTZ    time.Time         `variant:"at_ntz,ntz"`
	Day      time.Time         `variant:"day,date"`
	Clock    time.Duration     `variant:"clock,time"`
	Took     time.Duration     `variant:"took"`
	Dec      Decimal           `variant:"dec"`
	Big      *big.Int          `variant:"big"`
	Number   json.Number       `variant:"number"`
	Doc      json.RawMessage   `variant:"doc"`
	Sub      Value             `variant:"sub"`
	Addr     netip.Addr        `variant:"addr"`
	Legs     []MarshalInner    `variant:"legs"`
	Pair     [2]int            `variant:"pair"`
	Map      map[string]*int   `variant:"map"`
	Any      any               `variant:"any"`
	Ptr      *marshalAll       `variant:"ptr"`
	Empty    map[string]string `variant:"empty,omitempty"`
	Skipped  chan int          `variant:"-"`
	private  int
	Untagged bool
}

func marshalSample(t testing.TB) marshalAll {
	seven := 7
	huge, _ := new(big.Int).SetString("-12345678901234567890123456789012345678", 10)
	return marshalAll{
		marshalBase: marshalBase{ID: -300, Shared: "s", Hidden: "h"}, MarshalInner: &MarshalInner{Rate: 0.5},
		Bool: true, I8: -8, U64: math.MaxUint64, F32: 1.5, F64: -2.25, Text: "é", Bytes: []byte{0, 255}, Fixed: [3]byte{1, 2, 3},
		ID2: UUID{15: 1}, Raw16: [16]byte{0: 2},
		At:      time.Date(2026, 7, 1, 12, 0, 0, 123456000, time.UTC),
		AtNanos: time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC), AtNTZ: time.Date(2026, 7, 1, 1, 2, 3, 0, time.UTC),
		Day: time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), Clock: 90 * time.Minute, Took: 1500,
		Dec: Decimal{Lo: 150, Scale: 2}, Big: huge, Number: "12.5", Doc: json.RawMessage(`{"x":[1,null]}`),
		Sub: mustParse(t, `{"inner":[true]}`), Addr: netip.MustParseAddr("::1"),
		Legs: []MarshalInner{{Rate: 1, Tenor: "1Y"}, {Rate: 2}}, Pair: [2]int{3, 4}, Map: map[string]*int{"a": &seven, "b": nil},
		Any: map[string]any{"k": []any{int64(1), "x", nil, false, 2.5}}, Untagged: true, private: 1,
		Ptr: &marshalAll{Text: "nested", MarshalInner: &MarshalInner{}},
	}
}

// TestMarshal_EveryType checks kinds and texts of a struct with every type.
func TestMarshal_EveryType(t *testing.T) {
	sample := marshalSample(t)
	v, err := Marshal(&sample)
	require.NoError(t, err)
	require.NoError(t, v.Validate())
	for name, want := range map[string]struct {
		kind Kind
		text string
	}{
		"id": {KindInt16, "-300"}, "Shared": {KindString, `"s"`}, "rate": {KindDouble, "0.5"}, "bool": {KindBool, "true"},
		"i8": {KindInt8, "-8"}, "u64": {KindDecimal16, "18446744073709551615"}, "f32": {KindFloat, "1.5"},
		"f64": {KindDouble, "-2.25"}, "text": {KindString, `"é"`}, "bytes": {KindBinary, `"AP8="`}, "fixed": {KindBinary, `"AQID"`},
		"uuid":     {KindUUID, `"00000000-0000-0000-0000-000000000001"`},
		"raw16":    {KindUUID, `"02000000-0000-0000-0000-000000000000"`},
		"at":       {KindTimestamp, `"2026-07-01 12:00:00.123456+00:00"`},
		"at_nanos": {KindTimestampNanos, `"1969-12-31 23:59:59.999999999+00:00"`},
		"at_ntz":   {KindTimestampNTZ, `"2026-07-01 01:02:03"`}, "day": {KindDate, `"1969-12-31"`},
		"clock": {KindTime, `"01:30:00"`}, "took": {KindInt16, "1500"}, "dec": {KindDecimal4, "1.5"},
		"big": {KindDecimal16, "-12345678901234567890123456789012345678"}, "number": {KindDecimal4, "12.5"},
		"doc": {KindObject, `{"x":[1,null]}`}, "sub": {KindObject, `{"inner":[true]}`}, "addr": {KindString, `"::1"`},
		"legs": {KindArray, `[{"rate":1.0,"tenor":"1Y"},{"rate":2.0}]`}, "pair": {KindArray, "[3,4]"},
		"map": {KindObject, `{"a":7,"b":null}`}, "any": {KindObject, `{"k":[1,"x",null,false,2.5]}`}, "Untagged": {KindBool, "true"},
		"ptr": {KindObject, ""}, "empty": {KindMissing, "<missing>"}, "tenor": {KindMissing, "<missing>"},
		"Skipped": {KindMissing, "<missing>"}, "private": {KindMissing, "<missing>"},
	} {
		got := v.Field(name)
		require.Equal(t, want.kind, got.Kind(), name)
		if want.text != "" {
			require.Equal(t, want.text, got.String(), name)
		}
	}
}

// TestUnmarshal_RoundTrip reads the same struct back, and again into it.
func TestUnmarshal_RoundTrip(t *testing.T) {
	sample := marshalSample(t)
	v, err := Marshal(sample)
	require.NoError(t, err)
	var back marshalAll
	for range 2 {
		require.NoError(t, Unmarshal(v, &back))
		again, err := Marshal(&back)
		require.NoError(t, err)
		require.Equal(t, v.String(), again.String())
		require.Equal(t, v.Bytes(), again.Bytes())
	}
	require.Equal(t, sample.At, back.At)
	require.Equal(t, sample.Big, back.Big)
	require.Equal(t, sample.Any, back.Any)
	require.Equal(t, 7, *back.Map["a"])
	require.Nil(t, back.Map["b"])
	require.Equal(t, "12.5", string(back.Number))
	require.Equal(t, "nested", back.Ptr.Text)
}

// TestEmitGo_AnySink holds the path of a plain sink against that of a Builder.
func TestEmitGo_AnySink(t *testing.T) {
	sample := marshalSample(t)
	v, err := Marshal(&sample)
	require.NoError(t, err)
	b := NewBuilder()
	require.NoError(t, EmitGo(&sample, struct{ Sink }{b}))
	got, err := b.Value()
	require.NoError(t, err)
	require.True(t, Equal(v, got))
	require.Equal(t, v.Bytes(), got.Bytes())
}

// TestMarshal_MatchesEncodingJSON compares with encoding/json on what both know:
// embedding, dominance, omitempty, maps.
func TestMarshal_MatchesEncodingJSON(t *testing.T) {
	type A struct{ X, Y int }
	type B struct{ X, Z int }
	type Named struct {
		A
		B
		Q int
	}
	type Shadow struct {
		*A
		X string
	}
	type loop struct {
		Next *loop
		N    int
	}
	for _, x := range []any{
		nil, true, 1, -1.5, "text",
		[]int{1, 2},
		[]int(nil),
		map[string]int{"b": 1, "a": 2},
		map[string]int(nil),
		Named{A{1, 2}, B{3, 4}, 5},
		Shadow{&A{1, 2}, "x"},
		Shadow{X: "y"},
		[]any{1, nil, map[string]any{"k": []any{}}},
		&loop{&loop{nil, 2}, 1},
		[][]string{{}, {"a"}},
		struct{ A }{A{1, 2}},
		struct{}{},
	} {
		want, err := json.Marshal(x)
		require.NoError(t, err)
		v, err := Marshal(x)
		require.NoError(t, err)
		require.JSONEq(t, string(want), v.String())
	}
}

func TestMarshal_Errors(t *testing.T) {
	type Cycle struct{ Next *Cycle }
	cycle := &Cycle{}
	cycle.Next = cycle
	type Self *Self
	var self Self
	self = &self
	for name, c := range map[string]struct {
		x    any
		err  error
		text string
	}{
		"channel":    {map[string]any{"a": []any{1, make(chan int)}}, ErrGoType, "cannot marshal chan int at $['a'][1]"},
		"function":   {func() {}, ErrGoType, "at $:"},
		"complex":    {struct{ C complex128 }{}, ErrGoType, "at $['C']"},
		"float keys": {map[float64]int{1: 1}, ErrGoType, "keys of a map must be strings"},
		"unknown tag": {struct {
			X int `variant:"x,dat"`
		}{}, ErrGoType, `unknown option "dat" in the tag of X`},
		"cycle":         {cycle, ErrDepth, ""},
		"self":          {self, ErrDepth, ""},
		"39 digits":     {new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil), ErrGoType, "more than 38 digits"},
		"year 400000":   {time.Date(400000, 1, 1, 0, 0, 0, 0, time.UTC), ErrGoType, "out of range"},
		"bad number":    {json.Number("1x"), ErrGoType, "it is no number"},
		"bad number 2":  {json.Number(`"1"`), ErrGoType, "it is no number"},
		"bad JSON":      {json.RawMessage(`{"a":}`), ErrSyntax, ""},
		"invalid UTF-8": {map[string]any{"a": []any{"\xff"}}, ErrGoType, "cannot marshal string at $['a'][0]: it is not UTF-8"},
		"invalid key":   {map[string]any{"a": map[string]int{"\xff": 1}}, ErrGoType, `at $['a']: the key "\xff" is not UTF-8`},
		"invalid key 2": {map[string]any{"a": map[string]any{"\xff": 1}}, ErrGoType, `at $['a']: the key "\xff" is not UTF-8`},
		"day": {struct {
			D time.Duration `variant:",time"`
		}{25 * time.Hour}, ErrGoType, "a time of day"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Marshal(c.x)
			require.Error(t, err)
			require.True(t, v.IsMissing())
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
			}
			require.ErrorContains(t, err, c.text)
		})
	}
}

// keyedMaps has maps whose keys are no plain strings.
type keyedMaps struct {
	Ints   map[int8]string
	Uints  map[uint]string
	Texts  map[netip.Addr]string
	Named  map[marshalName]string
	Nested map[int]map[int]bool
	None   error
}

type marshalName string

// TestMarshal_MapKeys: keys that are integers or texts become names as in
// encoding/json, and keys again.
func TestMarshal_MapKeys(t *testing.T) {
	x := keyedMaps{
		Ints: map[int8]string{-128: "a", 9: "b", 10: "c"}, Uints: map[uint]string{math.MaxUint: "d"},
		Texts: map[netip.Addr]string{netip.MustParseAddr("::1"): "e"}, Named: map[marshalName]string{"": "f"},
		Nested: map[int]map[int]bool{1: {2: true}},
	}
	v, err := Marshal(x)
	require.NoError(t, err)
	require.NoError(t, v.Validate())
	want, err := json.Marshal(x)
	require.NoError(t, err)
	require.JSONEq(t, string(want), v.String())
	back := keyedMaps{None: io.EOF}
	require.NoError(t, Unmarshal(v, &back))
	require.Equal(t, x, back, "a null sets an interface with methods to nil")
}

// TestMarshal_OmitZero: zero values are left out, and what IsZero calls so.
func TestMarshal_OmitZero(t *testing.T) {
	type omit struct {
		A int        `variant:"a,omitzero"`
		B [2]int     `variant:"b,omitzero"`
		C struct{}   `variant:"c,omitzero"`
		D time.Time  `variant:"d,omitzero"`
		E *time.Time `variant:"e,omitzero"`
		F []int      `variant:"f,omitzero"`
		G any        `variant:"g,omitzero"`
	}
	v, err := Marshal(omit{D: time.Time{}.In(time.FixedZone("x", 3600))})
	require.NoError(t, err)
	require.Equal(t, "{}", v.String())
	v, err = Marshal(&omit{A: 1, B: [2]int{0, 1}, D: time.Unix(0, 0), E: new(time.Time), F: []int{}, G: time.Time{}})
	require.NoError(t, err)
	require.Equal(t, `{"a":1,"b":[0,1],"d":"1970-01-01 00:00:00+00:00","f":[],"g":"0001-01-01 00:00:00+00:00"}`, v.String())
}

// TestMarshal_V18_ExtremesOfTime: every instant that a timestamp holds comes back, and
// the next one is an error.
func TestMarshal_V18_ExtremesOfTime(t *testing.T) {
	type stamps struct {
		Micros time.Time `variant:",ntz"`
		Nanos  time.Time `variant:",nanos"`
	}
	for _, x := range []stamps{
		{time.UnixMicro(math.MaxInt64).UTC(), time.Unix(0, math.MaxInt64).UTC()},
		{time.UnixMicro(math.MinInt64).UTC(), time.Unix(0, math.MinInt64).UTC()},
		{time.UnixMicro(-1).UTC(), time.Unix(0, -1).UTC()},
	} {
		v, err := Marshal(x)
		require.NoError(t, err)
		var back stamps
		require.NoError(t, Unmarshal(v, &back))
		require.Equal(t, x, back)
	}
	for _, x := range []stamps{
		{Micros: time.UnixMicro(math.MaxInt64).Add(time.Microsecond)},
		{Micros: time.UnixMicro(math.MinInt64).Add(-time.Microsecond)},
		{Micros: time.Unix(1<<60, 0)},
		{Nanos: time.Unix(0, math.MaxInt64).Add(1)},
		{Nanos: time.Unix(0, math.MinInt64).Add(-1)},
	} {
		_, err := Marshal(x)
		require.ErrorIs(t, err, ErrGoType)
		require.ErrorContains(t, err, "out of range")
	}
}

func TestUnmarshal_Errors(t *testing.T) {
	for name, c := range map[string]struct {
		json string
		into any
		text string
	}{
		"no pointer":  {`1`, 1, "no pointer"},
		"nil pointer": {`1`, (*int)(nil), "no pointer"},
		"nil":         {`1`, nil, "cannot unmarshal int8 into nil at $: it is no pointer"},
		"string": {`{"a":[1,"x"]}`, new(struct {
			A []int `variant:"a"`
		}), "cannot unmarshal string into int at $['a'][1]: the types differ"},
		"too large":    {`128`, new(int8), "too large"},
		"fraction":     {`1.5`, new(int), "not whole"},
		"double":       {`1e0`, new(int), "the types differ"},
		"negative":     {`-1`, new(uint), "negative"},
		"float range":  {`1e300`, new(float32), "too large"},
		"object":       {`{}`, new([]int), "cannot unmarshal object into []int"},
		"array":        {`[]`, new(struct{}), "cannot unmarshal array"},
		"container":    {`[]`, new(int), "cannot unmarshal array into int"},
		"length":       {`[1]`, new([2]int), "lengths differ"},
		"channel":      {`1`, new(chan int), "no Variant goes into it"},
		"float keys":   {`{}`, new(map[float64]int), "no Variant goes into it"},
		"int keys":     {`{"x":1}`, new(map[int]int), `the key "x" is no int`},
		"small keys":   {`{"256":1}`, new(map[uint8]int), `the key "256" is no uint8`},
		"text keys":    {`{"x":1}`, new(map[netip.Addr]int), "unable to parse IP"},
		"interface":    {`1`, new(error), "no Variant goes into it"},
		"bad address":  {`"x"`, new(netip.Addr), "unable to parse IP"},
		"deep in maps": {`{"a":{"b":true}}`, new(map[string]map[string]string), "at $['a']['b']"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Unmarshal(mustParse(t, c.json), c.into)
			require.ErrorIs(t, err, ErrGoType)
			require.ErrorContains(t, err, c.text)
		})
	}
	require.ErrorIs(t, Unmarshal(Value{}, new(int)), ErrUsage)
}

// TestUnmarshal_Numbers: exact numbers convert within their class, floats take any.
func TestUnmarshal_Numbers(t *testing.T) {
	var i int
	require.NoError(t, Unmarshal(mustParse(t, "22.00"), &i))
	require.Equal(t, 22, i)
	var u uint64
	require.NoError(t, Unmarshal(mustParse(t, "18446744073709551615"), &u))
	require.Equal(t, uint64(math.MaxUint64), u)
	var f float32
	require.NoError(t, Unmarshal(mustParse(t, "0.1"), &f))
	require.Equal(t, float32(0.1), f)
	var x any
	require.NoError(t, Unmarshal(mustParse(t, "0.10"), &x))
	require.Equal(t, Decimal{Lo: 10, Scale: 2}, x)
}

// TestUnmarshal_Null sets what can be nil and leaves the rest.
func TestUnmarshal_Null(t *testing.T) {
	x := struct {
		P *int
		S []int
		M map[string]int
		I any
		B []byte
		N int
		T string
	}{new(int), []int{1}, map[string]int{"a": 1}, 1, []byte{1}, 5, "t"}
	require.NoError(t, Unmarshal(mustParse(t, `{"P":null,"S":null,"M":null,"I":null,"B":null,"N":null,"T":null,"more":1}`), &x))
	require.Nil(t, x.P)
	require.Nil(t, x.S)
	require.Nil(t, x.M)
	require.Nil(t, x.I)
	require.Nil(t, x.B)
	require.Equal(t, 5, x.N)
	require.Equal(t, "t", x.T)
}

// TestUnmarshal_V25_NamesMatchExactly: no folding of case, unlike encoding/json.
func TestUnmarshal_V25_NamesMatchExactly(t *testing.T) {
	var x struct{ Name, NAME string }
	require.NoError(t, Unmarshal(mustParse(t, `{"name":"a","NAME":"b"}`), &x))
	require.Empty(t, x.Name)
	require.Equal(t, "b", x.NAME)
}

// TestMarshal_V20_V21_BinaryAndUUIDKeepTheirTypes through Go values.
func TestMarshal_V20_V21_BinaryAndUUIDKeepTheirTypes(t *testing.T) {
	for _, text := range []string{"3c0300000001feff", "50f24f9b6481fa49d1b74e8c09a6e31c56"} {
		v, err := New(emptyMetadata, unhex(t, text))
		require.NoError(t, err)
		var x any
		require.NoError(t, Unmarshal(v, &x))
		if id, ok := x.([16]byte); ok {
			x = UUID(id)
		}
		back, err := Marshal(x)
		require.NoError(t, err)
		require.Equal(t, text, fmt.Sprintf("%x", back.Bytes()))
	}
}

// TestUnmarshal_V09_V10_HostileValues: overlapping offsets and deep nesting cost no
// more than the bytes.
func TestUnmarshal_V09_V10_HostileValues(t *testing.T) {
	value := []byte{primNull << 2}
	for range 40 {
		head := []byte{basicArray | 1<<2, 2, 0, 0, 0, 0, byte(len(value)), byte(len(value) >> 8)}
		value = append(head, value...)
	}
	var x any
	require.ErrorIs(t, Unmarshal(Unchecked(emptyMetadata, value), &x), ErrCorrupt)
	type list []list
	require.ErrorIs(t, Unmarshal(Unchecked(emptyMetadata, value), new(list)), ErrCorrupt)
	deep, err := json.Marshal(strings.Repeat("[", 5) + strings.Repeat("]", 5))
	require.NoError(t, err)
	require.NoError(t, Unmarshal(mustParse(t, string(deep)), &x))
	v := mustParse(t, strings.Repeat("[", MaxDepth)+strings.Repeat("]", MaxDepth))
	require.NoError(t, Unmarshal(v, &x))
	back, err := Marshal(x)
	require.NoError(t, err)
	require.True(t, Equal(v, back))
}

// pricing is the Go type of the benchmarks: the first of the three shapes.
type pricing struct {
	Model  string  `variant:"model"`
	Spot   float64 `variant:"spot"`
	Greeks struct {
		Delta float64 `variant:"delta"`
		Gamma float64 `variant:"gamma"`
		Vega  float64 `variant:"vega"`
		Theta float64 `variant:"theta"`
		Rho   float64 `variant:"rho"`
	} `variant:"greeks"`
	Scenarios []struct {
		Name      string  `variant:"name"`
		PnL       float64 `variant:"pnl"`
		Breakdown struct {
			ByRegion map[string]float64 `variant:"by_region"`
			BySector map[string]float64 `variant:"by_sector"`
		} `variant:"breakdown"`
	} `variant:"scenarios"`
	DividendYield float64 `variant:"dividend_yield"`
}

func pricingStruct(t testing.TB) (Value, pricing) {
	for _, v := range pricingValues(t, 20) {
		if model, _ := v.Field("model").Text(); model == "BlackScholes" {
			var x pricing
			require.NoError(t, Unmarshal(v, &x))
			require.Len(t, x.Scenarios, 2)
			require.Len(t, x.Scenarios[0].Breakdown.ByRegion, 3)
			require.NotZero(t, x.Greeks.Rho)
			return v, x
		}
	}
	panic("no equity among the first vectors")
}

func TestEmitGo_AllocatesOnlyForMaps(t *testing.T) {
	_, x := pricingStruct(t)
	for i := range x.Scenarios {
		x.Scenarios[i].Breakdown.ByRegion, x.Scenarios[i].Breakdown.BySector = nil, nil
	}
	b := NewBuilder()
	require.Zero(t, testing.AllocsPerRun(10, func() {
		b.Reset()
		if err := EmitGo(&x, b); err != nil {
			panic(err)
		}
		if _, err := b.Value(); err != nil {
			panic(err)
		}
	}))
}

func BenchmarkMarshal(b *testing.B) {
	_, x := pricingStruct(b)
	b.ReportAllocs()
	for range b.N {
		if _, err := Marshal(&x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	v, _ := pricingStruct(b)
	b.ReportAllocs()
	var x pricing
	for range b.N {
		if err := Unmarshal(v, &x); err != nil {
			b.Fatal(err)
		}
	}
}

// TestGoPlans_Concurrent builds plans of recursive types from many goroutines.
func TestGoPlans_Concurrent(t *testing.T) {
	type node struct {
		Kids []*node
		M    map[string]node
	}
	done := make(chan error)
	for range 8 {
		go func() {
			v, err := Marshal(node{Kids: []*node{{}, nil}, M: map[string]node{"a": {}}})
			if err == nil {
				err = Unmarshal(v, new(node))
			}
			done <- err
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
	require.NotNil(t, planOf(reflect.TypeFor[node](), 0).encode)
}

func ExampleMarshal() {
	type Leg struct {
		Tenor string    `variant:"tenor"`
		Rate  float64   `variant:"rate"`
		Fixed time.Time `variant:"fixed,date,omitempty"`
	}
	v, err := Marshal(map[string]any{"legs": []Leg{{Tenor: "1Y", Rate: 0.025}}})
	fmt.Println(v, err)
	// Output: {"legs":[{"rate":0.025,"tenor":"1Y"}]} <nil>
}

func ExampleUnmarshal() {
	v, _ := ParseJSON([]byte(`{"tenor":"1Y","rate":0.025,"notional":1000000.00}`))
	var leg struct {
		Tenor    string  `variant:"tenor"`
		Rate     float64 `variant:"rate"`
		Notional int64   `variant:"notional"`
	}
	err := Unmarshal(v, &leg)
	fmt.Println(leg, err)
	// Output: {1Y 0.025 1000000} <nil>
}
