package variant

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func scalarValue(s Scalar) Value { return Value{emptyMetadata, AppendScalar(nil, &s)} }

func decimalValue(kind Kind, text string) Value {
	whole, frac, _ := strings.Cut(text, ".")
	x, _ := new(big.Int).SetString(whole+frac, 10)
	low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return scalarValue(Scalar{Kind: kind, Scale: uint8(len(frac)), Int: int64(low), Hi: new(big.Int).Rsh(x, 64).Int64()})
}

// rankedValues are groups of equal values, from the least to the greatest: the
// order that Compare documents.
func rankedValues(t testing.TB) [][]Value {
	i := func(k Kind, x int64) Value { return scalarValue(Scalar{Kind: k, Int: x, Hi: x >> 63}) }
	f := func(k Kind, x float64) Value { return scalarValue(Scalar{Kind: k, Float: x}) }
	b := func(k Kind, x string) Value { return scalarValue(Scalar{Kind: k, Bytes: []byte(x)}) }
	negZero := math.Copysign(0, -1)
	return [][]Value{
		{{}},
		{scalarValue(Scalar{Kind: KindNull})},
		{i(KindBool, 0)},
		{i(KindBool, 1)},
		{decimalValue(KindDecimal16, "-99999999999999999999999999999999999999")},
		{i(KindInt64, math.MinInt64), decimalValue(KindDecimal16, "-9223372036854775808.0")},
		{i(KindInt8, -1), i(KindInt16, -1), i(KindInt32, -1), i(KindInt64, -1), decimalValue(KindDecimal4, "-1.00")},
		{decimalValue(KindDecimal4, "-0.5"), decimalValue(KindDecimal8, "-0.500")},
		{decimalValue(KindDecimal16, "-0.00000000000000000000000000000000000001")},
		{i(KindInt8, 0), decimalValue(KindDecimal4, "0.00"), decimalValue(KindDecimal16, "0.00000000000000000000000000000000000000")},
		{decimalValue(KindDecimal16, "0.00000000000000000000000000000000000001")},
		{decimalValue(KindDecimal4, "0.1")},
		{i(KindInt8, 1), i(KindInt64, 1), decimalValue(KindDecimal4, "1.0"), decimalValue(KindDecimal16, "1.00")},
		{decimalValue(KindDecimal4, "1.23"), decimalValue(KindDecimal8, "1.230"), decimalValue(KindDecimal16, "1.23")},
		{i(KindInt16, 200)},
		{i(KindInt64, math.MaxInt64), decimalValue(KindDecimal16, "9223372036854775807.00")},
		{decimalValue(KindDecimal16, "9223372036854775807.01")},
		{decimalValue(KindDecimal16, "99999999999999999999999999999999999999")},
		{f(KindFloat, math.Inf(-1))},
		{f(KindFloat, -1.5)},
		{f(KindFloat, 0), f(KindFloat, negZero)},
		{f(KindFloat, 1)},
		{f(KindFloat, math.Inf(1))},
		{f(KindFloat, math.NaN())},
		{f(KindDouble, math.Inf(-1))},
		{f(KindDouble, -1.5)},
		{f(KindDouble, 0), f(KindDouble, negZero)},
		{f(KindDouble, 1)},
		{f(KindDouble, math.Inf(1))},
		{f(KindDouble, math.NaN()), f(KindDouble, math.Float64frombits(0xFFF8000000000001))},
		{i(KindDate, -1)},
		{i(KindDate, 20000)},
		{i(KindTime, 0)},
		{i(KindTime, 86399999999)},
		{i(KindTimestampNanos, -1001)},
		{i(KindTimestamp, -1), i(KindTimestampNanos, -1000)},
		{i(KindTimestampNanos, -999)},
		{i(KindTimestamp, 0), i(KindTimestampNanos, 0)},
		{i(KindTimestampNanos, 1)},
		{i(KindTimestamp, math.MaxInt64)},
		{i(KindTimestampNTZ, math.MinInt64)},
		{i(KindTimestampNTZ, 7), i(KindTimestampNTZNanos, 7000)},
		{i(KindTimestampNTZNanos, 7001)},
		{b(KindString, "")},
		{b(KindString, "A")},
		{b(KindString, "a"), longString("a")},
		{b(KindString, "aa")},
		{b(KindString, "\uFFFD")},
		{b(KindString, "\U0001F600")},
		{b(KindBinary, "")},
		{b(KindBinary, "\x00")},
		{b(KindBinary, "a")},
		{b(KindUUID, "0123456789abcdef")},
		{b(KindUUID, "0123456789abcdeg")},
		{mustParse(t, `[]`)},
		{mustParse(t, `[null]`)},
		{mustParse(t, `[1]`), mustParse(t, `[1.0]`)},
		{mustParse(t, `[1,1]`)},
		{mustParse(t, `[2]`)},
		{mustParse(t, `[[]]`)},
		{mustParse(t, `{}`)},
		{mustParse(t, `{"a":1,"b":2}`), mustParse(t, `{"b":2.0,"a":1.00}`), withUnusedNames(t)},
		{mustParse(t, `{"a":1,"b":3}`)},
		{mustParse(t, `{"a":2}`)},
		{mustParse(t, `{"a":{}}`)},
		{mustParse(t, `{"b":0}`)},
		{mustParse(t, `{"\ufffd":1}`)},
		{mustParse(t, `{"\ufffd":1,"`+"\U0001F600"+`":1}`), utf16Ordered()},
	}
}

// longString is a short text in the long form.
func longString(s string) Value {
	b := binary.LittleEndian.AppendUint32([]byte{primString << 2}, uint32(len(s)))
	return Value{emptyMetadata, append(b, s...)}
}

// withUnusedNames is {"a":1,"b":2} over a dictionary in another order, with four
// byte ids and offsets, the large flag, and the values stored backwards.
func withUnusedNames(t testing.TB) Value {
	v, err := New([]byte("\x01\x03\x00\x01\x02\x03bca"), []byte{
		0x02 | 3<<2 | 3<<4 | 0x40, 2, 0, 0, 0,
		2, 0, 0, 0, 0, 0, 0, 0,
		2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0,
		primInt8 << 2, 2, primInt8 << 2, 1,
	})
	require.NoError(t, err)
	return v
}

// utf16Ordered is an object as old writers stored it, U+1F600 before U+FFFD.
func utf16Ordered() Value {
	metadata := AppendMetadata(nil, []string{"\U0001F600", "\uFFFD"})
	metadata[0] &^= 0x10
	return Value{metadata, []byte{basicObject, 2, 0, 1, 0, 2, 4, primInt8 << 2, 1, primInt8 << 2, 1}}
}

// TestCompare_TotalOrder checks every pair of the ranked values, each also inside
// an array and inside an object, with Equal, Hash and Canonical.
func TestCompare_TotalOrder(t *testing.T) {
	wraps := []func(Value) Value{
		func(v Value) Value { return v },
		func(v Value) Value { return nestedInArrays(v, 2) },
		func(v Value) Value { return nestedInObjects(v, 3) },
	}
	for _, wrap := range wraps {
		ranked := rankedValues(t)
		for i, as := range ranked {
			for j, bs := range ranked {
				for _, a := range as {
					for _, b := range bs {
						if a.IsMissing() || b.IsMissing() {
							continue
						}
						comparePair(t, wrap(a), wrap(b), cmp.Compare(i, j))
					}
				}
			}
		}
	}
	require.Equal(t, 0, Compare(Value{}, Value{}))
	require.Equal(t, -1, Compare(Value{}, ranked0(t)))
	require.Equal(t, 1, Compare(ranked0(t), Value{}))
}

func ranked0(t testing.TB) Value { return rankedValues(t)[1][0] }

func comparePair(t *testing.T, a, b Value, want int) {
	require.Equal(t, want, cmp.Compare(Compare(a, b), 0), "%s and %s", a, b)
	require.Equal(t, want == 0, Equal(a, b), "%s and %s", a, b)
	ca, err := Canonical(a)
	require.NoError(t, err)
	cb, err := Canonical(b)
	require.NoError(t, err)
	require.NoError(t, ca.Validate())
	same := bytes.Equal(ca.Bytes(), cb.Bytes()) && bytes.Equal(ca.Metadata(), cb.Metadata())
	require.Equal(t, want == 0, same, "%s and %s", a, b)
	require.True(t, Equal(a, ca))
	require.Equal(t, Hash(a), Hash(ca))
	if want == 0 {
		require.Equal(t, Hash(a), Hash(b), "%s and %s", a, b)
	} else {
		require.NotEqual(t, Hash(a), Hash(b), "%s and %s", a, b)
	}
}

// nestedInArrays nests v in n arrays, as the second element.
func nestedInArrays(v Value, n int) Value {
	for range n {
		size := len(v.value) + 1
		value := []byte{basicArray | 3<<2, 2, 0, 0, 0, 0, 1, 0, 0, 0}
		value = append(binary.LittleEndian.AppendUint32(value, uint32(size)), primNull<<2)
		v = Value{v.metadata, append(value, v.value...)}
	}
	return v
}

// nestedInObjects nests v in n objects, under the name "x", which goes in front of the
// other names' ids.
func nestedInObjects(v Value, n int) Value {
	b := NewBuilder()
	for range n {
		b.Begin(KindObject)
		b.Key([]byte("x"))
	}
	b.AppendValue(v)
	for range n {
		b.End()
	}
	out, err := b.Value()
	if err != nil {
		panic(err)
	}
	return out
}

// TestCompare_V13_ExactNumbers holds random integers and decimals against big.Rat.
func TestCompare_V13_ExactNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	random := func() (Value, *big.Rat) {
		digits := 1 + r.IntN(38)
		text := make([]byte, 0, 40)
		for range digits {
			text = append(text, byte('0'+r.IntN(10)*r.IntN(2)))
		}
		scale := r.IntN(digits + 1)
		s := string(text[:digits-scale]) + "." + string(text[digits-scale:])
		s = strings.TrimSuffix(s, ".")
		if s[0] == '.' {
			s = "0" + s
		}
		if r.IntN(2) == 0 {
			s = "-" + s
		}
		x, _ := new(big.Rat).SetString(s)
		if scale == 0 && digits < 18 && r.IntN(2) == 0 {
			n, _ := strconv.ParseInt(s, 10, 64)
			return scalarValue(Scalar{Kind: KindInt64, Int: n}), x
		}
		return decimalValue(KindDecimal16, s), x
	}
	for range 20000 {
		a, x := random()
		b, y := random()
		require.Equal(t, x.Cmp(y), cmp.Compare(Compare(a, b), 0), "%s %s", a, b)
		require.Equal(t, x.Cmp(y) == 0, Equal(a, b))
		require.Equal(t, x.Cmp(y) == 0, Hash(a) == Hash(b))
		c, err := Canonical(a)
		require.NoError(t, err)
		if x.IsInt() && x.Num().IsInt64() {
			require.True(t, c.Kind().IsInteger(), "%s", a)
		} else {
			require.True(t, c.Kind().IsDecimal(), "%s", a)
		}
	}
}

// TestCanonical_V12_SmallestForms names the bytes.
func TestCanonical_V12_SmallestForms(t *testing.T) {
	for _, c := range []struct {
		in   Value
		want string
	}{
		{decimalValue(KindDecimal16, "22.00"), "0c16"},
		{decimalValue(KindDecimal16, "300"), "102c01"},
		{decimalValue(KindDecimal8, "1.50"), "20010f000000"},
		{decimalValue(KindDecimal4, "0.00"), "0c00"},
		{decimalValue(KindDecimal16, "123456.7890"), "200315cd5b07"}, // 123456.789
		{decimalValue(KindDecimal16, "9999999999999999.99"), "2402ffff63a7b3b6e00d"},
		{longString("hello"), "1568656c6c6f"},
		{scalarValue(Scalar{Kind: KindInt64, Int: 5}), "0c05"},
		{scalarValue(Scalar{Kind: KindDouble, Float: math.Copysign(0, -1)}), "1c0000000000000000"},
		{scalarValue(Scalar{Kind: KindDouble, Float: 1}), "1c000000000000f03f"},
		{scalarValue(Scalar{Kind: KindTimestampNanos, Int: 1000}), "300100000000000000"},
		{scalarValue(Scalar{Kind: KindTimestampNTZNanos, Int: 1001}), "4ce903000000000000"},
	} {
		got, err := Canonical(c.in)
		require.NoError(t, err)
		require.Equal(t, c.want, fmt.Sprintf("%x", got.Bytes()), c.in)
		require.Equal(t, emptyMetadata, got.Metadata())
	}
	missing, err := Canonical(Value{})
	require.NoError(t, err)
	require.True(t, missing.IsMissing())
	_, err = Canonical(Unchecked(emptyMetadata, []byte{primInt32 << 2, 0}))
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestCompare_V10_DepthLimit: nesting beyond the limit neither panics nor runs out
// of stack in any direction.
func TestCompare_V10_DepthLimit(t *testing.T) {
	deep := func(n int, leaf byte) Value {
		value := []byte{primInt8 << 2, leaf}
		parts := make([][]byte, 0, n)
		size := len(value)
		for range n {
			head := binary.LittleEndian.AppendUint32([]byte{basicArray | 3<<2, 1, 0, 0, 0, 0}, uint32(size))
			parts = append(parts, head)
			size += len(head)
		}
		slices.Reverse(parts)
		return Unchecked(emptyMetadata, append(bytes.Join(parts, nil), value...))
	}
	a, b := deep(MaxDepth, 1), deep(MaxDepth, 2)
	require.NoError(t, a.Validate())
	require.Equal(t, -1, Compare(a, b))
	require.NotEqual(t, Hash(a), Hash(b))
	_, err := Canonical(a)
	require.NoError(t, err)
	for _, n := range []int{MaxDepth + 1, 10_000, 300_000} {
		a, b = deep(n, 1), deep(n, 2)
		Compare(a, b)
		Equal(a, b)
		Hash(a)
		_, err = Canonical(a)
		require.ErrorIs(t, err, ErrCorrupt)
		_, err = Cast(a, Type{ID: TypeArray, Elem: &Type{}})
		require.Error(t, err)
	}
}

// TestCompare_V09_OverlappingOffsets: an array whose elements are all the same
// bytes, twenty levels deep, would take 2^20 visits.
func TestCompare_V09_OverlappingOffsets(t *testing.T) {
	value := []byte{primNull << 2}
	for range 40 {
		head := []byte{basicArray | 1<<2, 2, 0, 0, 0, 0}
		value = append(binary.LittleEndian.AppendUint16(head, uint16(len(value))), value...)
	}
	a := Unchecked(emptyMetadata, value)
	b := Unchecked(AppendMetadata(nil, []string{"other"}), value)
	Compare(a, b)
	Hash(a)
	_, err := Canonical(a)
	require.ErrorIs(t, err, ErrCorrupt)
	typ := Type{ID: TypeString}
	for range 40 {
		elem := typ
		typ = Type{ID: TypeArray, Elem: &elem}
	}
	_, err = Cast(a, typ)
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestMeaning_CorruptBytesNeverPanic flips and cuts bytes of good values.
func TestMeaning_CorruptBytesNeverPanic(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	good := append(pricingValues(t, 3), mustParse(t, `{"a":[1,2.5,{"b":"text"}],"c":{"d":null}}`))
	paths := compilePaths(t, append(pricingPaths, "$.a[2].b"))
	typ, err := ParseType("struct<a:array<string>,greeks:map<string,decimal(9,2)>,model:int,c:variant>")
	require.NoError(t, err)
	for range 4000 {
		v := good[r.IntN(len(good))].Clone()
		for range 1 + r.IntN(4) {
			part := v.value
			if r.IntN(4) == 0 {
				part = v.metadata
			}
			part[r.IntN(len(part))] = byte(r.UintN(256))
		}
		if r.IntN(3) == 0 {
			v.value = v.value[:r.IntN(len(v.value)+1)]
		}
		Compare(v, good[0])
		Compare(good[0], v)
		Equal(v, v.Clone())
		Hash(v)
		_, _ = Canonical(v)
		_, _ = Cast(v, typ)
		_, _ = TryCast(v, typ)
		for _, p := range paths {
			_ = v.Get(p)
			_, _ = v.Lookup(p)
		}
	}
}

func TestHash_AllocatesNothing(t *testing.T) {
	v := pricingValues(t, 1)[0]
	require.Zero(t, testing.AllocsPerRun(10, func() { Hash(v) }))
}

// TestHash_IsStable pins the hash, which callers may store.
func TestHash_IsStable(t *testing.T) {
	require.Equal(t, uint64(0x7926667ac72d9d8f), Hash(mustParse(t, `null`)))
	require.Equal(t, uint64(0x60d9719c05a0c58e), Hash(mustParse(t, `{"b":[1,2.50,"text"],"a":{"c":null}}`)))
}

func BenchmarkCompare(b *testing.B) {
	values := pricingValues(b, 100)
	clones := make([]Value, len(values))
	for i, v := range values {
		clones[i], _ = Canonical(v)
	}
	b.Run("Equal", func(b *testing.B) {
		for i := range b.N {
			Equal(values[i%100], clones[i%100])
		}
	})
	b.Run("Compare", func(b *testing.B) {
		for i := range b.N {
			Compare(values[i%100], clones[i%100])
		}
	})
	b.Run("Hash", func(b *testing.B) {
		for i := range b.N {
			Hash(values[i%100])
		}
	})
	b.Run("Canonical", func(b *testing.B) {
		for i := range b.N {
			_, _ = Canonical(values[i%100])
		}
	})
}

func ExampleCompare() {
	a, _ := ParseJSON([]byte(`{"qty": 10, "price": 1.50}`))
	b, _ := ParseJSON([]byte(`{"price": 1.5, "qty": 10.0}`))
	fmt.Println(Compare(a, b), Equal(a, b), Hash(a) == Hash(b))
	// Output: 0 true true
}

func ExampleCanonical() {
	v, _ := ParseJSON([]byte(`[1.0, 22.50, 300]`))
	c, _ := Canonical(v)
	fmt.Println(c, c.Index(0).Kind(), c.Index(1).Kind())
	// Output: [1,22.5,300] int8 decimal4
}

// TestMeaning_ParquetTesting: the cases of apache/parquet-testing are different
// values, each equal to what a builder, Canonical and Go values make of it.
func TestMeaning_ParquetTesting(t *testing.T) {
	dir := filepath.Join(os.Getenv("FRAZIL_SHARED"), "parquet-testing", "variant")
	files, err := filepath.Glob(filepath.Join(dir, "*.value"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("FRAZIL_SHARED is not set")
	}
	values := map[string]Value{}
	for _, name := range files {
		value, err := os.ReadFile(name)
		require.NoError(t, err)
		metadata, err := os.ReadFile(strings.TrimSuffix(name, ".value") + ".metadata")
		require.NoError(t, err)
		v, err := New(metadata, value)
		require.NoError(t, err)
		values[filepath.Base(name)] = v
	}
	for name, v := range values {
		b := NewBuilder()
		b.AppendValue(v)
		built, err := b.Value()
		require.NoError(t, err)
		comparePair(t, v, built, 0)
		marshaled, err := Marshal(v)
		require.NoError(t, err)
		require.True(t, Equal(v, marshaled), name)
		for other, w := range values {
			require.Equal(t, name == other, Equal(v, w), "%s %s", name, other)
			require.Equal(t, Compare(v, w), -Compare(w, v))
		}
	}
}
