package variant

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/tradegen"
)

// pricingPaths are the five paths of the comparison with peers.
var pricingPaths = []string{"$.greeks.delta", "$.scenarios[0].breakdown.by_region.EMEA", "$.model_params.calibration.fit_error", "$.dv01", "$.model"}

func pricingValues(t testing.TB, n int) []Value {
	var out []Value
	for _, text := range tradegen.PricingVectors(n, 1) {
		v, err := ParseJSON(text)
		require.NoError(t, err)
		out = append(out, v)
	}
	return out
}

func compilePaths(t testing.TB, texts []string) []Path {
	var out []Path
	for _, text := range texts {
		out = append(out, mustPath(t, text))
	}
	return out
}

// allPaths lists the path of every value inside v.
func allPaths(v Value, steps []Step, out []Path) []Path {
	out = append(out, NewPath(steps...))
	steps = slices.Clip(steps)
	for name, e := range v.Fields() {
		out = allPaths(e, append(steps, Step{Name: name}), out)
	}
	for i, e := range v.Elements() {
		out = allPaths(e, append(steps, Step{Index: i, IsIndex: true}), out)
	}
	return out
}

// TestGet_EveryPathOfEveryShape takes all paths of all shapes out of rows of
// mixed shapes, so that guesses made on one row are wrong on the next.
func TestGet_EveryPathOfEveryShape(t *testing.T) {
	values := pricingValues(t, 60)
	seen := map[string]Path{}
	for _, v := range values {
		for _, p := range allPaths(v, nil, nil) {
			seen[p.String()] = p
		}
	}
	require.Greater(t, len(seen), 40)
	var paths []Path
	for _, p := range seen {
		paths = append(paths, p)
	}
	getter := NewGetter(paths...)
	require.Equal(t, len(paths), getter.Len())
	var many []Value
	for _, v := range values {
		many = getter.Get(v, many)
		for i, p := range paths {
			want := referenceGet(v, p)
			got, err := v.Lookup(p)
			require.NoError(t, err)
			require.Equal(t, want, got, p)
			require.Equal(t, want, v.Get(p), p)
			require.Equal(t, want, many[i], p)
		}
	}
}

// TestGet_RandomObjects compares guesses with a scan on objects whose keys come
// and go.
func TestGet_RandomObjects(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keys := []string{"", "a", "aa", "ab", "b", "c", "é", "\uFFFD", "\U0001F600", "zz"}
	var paths []Path
	for _, k := range keys {
		paths = append(paths, NewPath(Step{Name: k}))
	}
	for range 3000 {
		b := NewBuilder()
		b.Begin(KindObject)
		for i, k := range keys {
			if r.IntN(2) == 0 {
				b.Key([]byte(k))
				b.Int(int64(i))
			}
		}
		b.End()
		v, err := b.Value()
		require.NoError(t, err)
		p := paths[r.IntN(len(paths))]
		require.Equal(t, referenceGet(v, p), v.Get(p))
	}
}

// TestGet_V07_UTF16Order finds every key in objects that old writers ordered by
// UTF-16 units.
func TestGet_V07_UTF16Order(t *testing.T) {
	keys := []string{"$", "0", "A", "a", "~", "\u00a2", "\u20ac", "\ue000", "\uffff", "\U00010000", "\U0001F600", "\U0010FFFF"}
	utf16Order := slices.Clone(keys)
	slices.SortFunc(utf16Order, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	require.NotEqual(t, keys, utf16Order)
	for _, order := range [][]string{keys, utf16Order} {
		metadata := AppendMetadata(nil, order)
		metadata[0] &^= 0x10 // sorted_strings
		value := []byte{basicObject, byte(len(order))}
		for i := range order {
			value = append(value, byte(i))
		}
		for i := range len(order) + 1 {
			value = append(value, byte(2*i))
		}
		for i := range order {
			value = append(value, primInt8<<2, byte(i))
		}
		v := Unchecked(metadata, value)
		for i, key := range order {
			p := NewPath(Step{Name: key})
			for range 3 {
				x, ok := v.Get(p).Int64()
				require.True(t, ok, "%q", key)
				require.EqualValues(t, i, x)
			}
		}
		for _, absent := range []string{"!", "B", "\ue001", "\U00010001", "\U0010FFFE"} {
			require.True(t, v.Get(NewPath(Step{Name: absent})).IsMissing())
		}
	}
}

// TestGet_V25_CaseSensitive: names are not folded.
func TestGet_V25_CaseSensitive(t *testing.T) {
	v := mustParse(t, `{"a":1,"A":2}`)
	require.Equal(t, "1", v.Get(mustPath(t, "$.a")).String())
	require.Equal(t, "2", v.Get(mustPath(t, "$.A")).String())
	require.True(t, v.Get(mustPath(t, "$.B")).IsMissing())
	require.True(t, v.Get(mustPath(t, "$.b")).IsMissing())
}

func unhex(t testing.TB, text string) []byte {
	b, err := hex.DecodeString(text)
	require.NoError(t, err)
	return b
}

// TestLookup_V28_CorruptionIsNoAbsence: a field id beyond the dictionary, and its
// like, are errors; Get sees nothing.
func TestLookup_V28_CorruptionIsNoAbsence(t *testing.T) {
	const meta = "1102000102" + "6162" // a, b
	cases := []struct{ name, metadata, value, path string }{
		{"id beyond the dictionary", meta, "0201050001" + "00", "$.x"},
		{"id beyond the dictionary beside a good one", meta, "020200050002" + "04" + "0c01" + "0c02", "$.a1"},
		{"offset beyond the value", meta, "0201000902" + "0c01", "$.a"},
		{"truncated value", meta, "0201000001" + "14", "$.a"},
		{"truncated object", meta, "02ff00", "$.a"},
		{"truncated array", meta, "03ff00", "$[0]"},
		{"unknown type", meta, "fc", "$.a"},
		{"metadata of another version", "12020001026162", "02010000020c01", "$.a"},
		{"empty metadata", "", "02010000020c01", "$.a"},
		{"name beyond the dictionary's bytes", "1102000109" + "6162", "02010100020c01", "$.b"},
		{"truncated inside", meta, "0201000003" + "020100", "$.a.b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := Unchecked(unhex(t, c.metadata), unhex(t, c.value))
			p := mustPath(t, c.path)
			for range 2 {
				got, err := v.Lookup(p)
				require.ErrorIs(t, err, ErrCorrupt)
				require.True(t, got.IsMissing())
				require.True(t, v.Get(p).IsMissing())
			}
			_, err := NewGetter(p).Lookup(v, nil)
			require.ErrorIs(t, err, ErrCorrupt)
			require.True(t, NewGetter(p).Get(v, nil)[0].IsMissing())
		})
	}
	_, err := Unchecked(unhex(t, meta), unhex(t, "14")).Lookup(Path{})
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestLookup_Absence: what is not there is no error.
func TestLookup_Absence(t *testing.T) {
	v := mustParse(t, `{"a":{"b":[1,null]},"s":"x"}`)
	for _, path := range []string{"$.x", "$.a.x", "$.a[0]", "$.a.b.c", "$.a.b[2]", "$.s.t", "$.s[0]", "$[0]"} {
		got, err := v.Lookup(mustPath(t, path))
		require.NoError(t, err)
		require.True(t, got.IsMissing(), path)
	}
	null, err := v.Lookup(mustPath(t, "$.a.b[1]"))
	require.NoError(t, err)
	require.True(t, null.IsNull())
	missing, err := Value{}.Lookup(mustPath(t, "$.a"))
	require.NoError(t, err)
	require.True(t, missing.IsMissing())
	require.True(t, Value{}.Get(Path{}).IsMissing())
	require.Equal(t, v, v.Get(Path{}))
}

// TestGet_StrictPrefixes: a cut value never gives a wrong answer, and never panics.
func TestGet_StrictPrefixes(t *testing.T) {
	v := mustParse(t, `{"a":{"b":[1,{"c":"text"},null]},"k":1.5}`)
	for _, p := range allPaths(v, nil, nil)[1:] { // the root is what it is given
		want := v.Get(p)
		for n := range v.Bytes() {
			got := Unchecked(v.Metadata(), v.Bytes()[:n]).Get(p)
			require.True(t, got.IsMissing() || string(got.Bytes()) == string(want.Bytes()), "%s at %d", p, n)
		}
		for n := range v.Metadata() {
			got := Unchecked(v.Metadata()[:n], v.Bytes()).Get(p)
			require.True(t, got.IsMissing() || string(got.Bytes()) == string(want.Bytes()), "%s at %d", p, n)
		}
	}
}

// TestGet_Concurrent shares one path between goroutines with rows of other
// shapes; run it with -race.
func TestGet_Concurrent(t *testing.T) {
	values := pricingValues(t, 30)
	paths := compilePaths(t, pricingPaths)
	getter := NewGetter(paths...)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var many []Value
			for i := range 300 {
				v := values[(i*7+g*11)%len(values)]
				many = getter.Get(v, many)
				for j, p := range paths {
					want := referenceGet(v, p)
					if string(v.Get(p).Bytes()) != string(want.Bytes()) || string(many[j].Bytes()) != string(want.Bytes()) {
						t.Errorf("%s differs", p)
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestGet_AllocatesNothing(t *testing.T) {
	values := pricingValues(t, 20)
	paths := compilePaths(t, pricingPaths)
	getter := NewGetter(paths...)
	many := make([]Value, len(paths))
	require.Zero(t, testing.AllocsPerRun(20, func() {
		for _, v := range values {
			for _, p := range paths {
				if x := v.Get(p); x.Kind() == KindObject {
					panic("no path leads to an object")
				}
				if _, err := v.Lookup(p); err != nil {
					panic(err)
				}
			}
			many = getter.Get(v, many)
		}
	}))
}

// BenchmarkGet is one path out of one value; ns/op is per path and value, over
// rows of three shapes that share no bytes.
func BenchmarkGet(b *testing.B) {
	values := pricingValues(b, 2000)
	for i, text := range append(pricingPaths, "all") {
		paths := compilePaths(b, pricingPaths)
		if i < len(pricingPaths) {
			paths = paths[i : i+1]
		}
		b.Run(text, func(b *testing.B) {
			hits := 0
			for n := 0; n < b.N; {
				for _, v := range values {
					for _, p := range paths {
						if !v.Get(p).IsMissing() {
							hits++
						}
					}
					n += len(paths)
				}
			}
			b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
		})
	}
	b.Run("getter", func(b *testing.B) {
		getter := NewGetter(compilePaths(b, pricingPaths)...)
		var many []Value
		for n := 0; n < b.N; n += len(pricingPaths) * len(values) {
			for _, v := range values {
				many = getter.Get(v, many)
			}
		}
	})
}

func ExampleValue_Get() {
	v, _ := ParseJSON([]byte(`{"legs":[{"rate":0.025},{"rate":0.03}]}`))
	p, _ := ParsePath("$.legs[1].rate")
	rate, ok := v.Get(p).Float64()
	fmt.Println(rate, ok)
	p, _ = ParsePath("$.legs[2].rate")
	rate, ok = v.Get(p).Float64()
	fmt.Println(rate, ok)
	// Output:
	// 0.03 true
	// 0 false
}

func ExampleParsePath() {
	p, err := ParsePath(`$.legs[0]["day.count"]`)
	fmt.Println(p, err)
	_, err = ParsePath("$.legs[x]")
	fmt.Println(err)
	// Output:
	// $['legs'][0]['day.count'] <nil>
	// variant: invalid path "$.legs[x]": expected an index or a quoted key at byte 7
}

func ExampleGetter() {
	v, _ := ParseJSON([]byte(`{"model":"SABR","greeks":{"delta":0.5,"vega":1.25}}`))
	delta, _ := ParsePath("$.greeks.delta")
	vega, _ := ParsePath("$.greeks.vega")
	getter := NewGetter(delta, vega) // made once, for all rows
	for _, x := range getter.Get(v, nil) {
		fmt.Println(x)
	}
	// Output:
	// 0.5
	// 1.25
}
