package variant

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/race"
)

// unmarshalNew reads v into a new variable, with a decoder that has seen its dictionary
// often enough to know it, or never.
func unmarshalNew(v Value, typ reflect.Type, seen bool) (any, error) {
	d := &goDecoder{}
	d.begin(v)
	if seen {
		d.begin(v)
	}
	x := reflect.New(typ)
	err := goRooted(planOf(typ, 0).decode(d, v.value, x.Elem()))
	return x.Interface(), err
}

// TestUnmarshal_KnownDictionaryChangesNothing: results and errors are the same whether
// a dictionary is known or not, on good bytes, cut ones and flipped ones.
func TestUnmarshal_KnownDictionaryChangesNothing(t *testing.T) {
	sample := marshalSample(t)
	all, err := Marshal(&sample)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	known := 0
	check := func(v Value, typ reflect.Type) {
		want, wantErr := unmarshalNew(v, typ, false)
		got, gotErr := unmarshalNew(v, typ, true)
		require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr))
		// NaN among flipped doubles equals nothing, so texts are compared.
		require.Equal(t, fmt.Sprintf("%#v", reflect.ValueOf(want).Elem()), fmt.Sprintf("%#v", reflect.ValueOf(got).Elem()))
		if d := (&goDecoder{}); gotErr == nil {
			d.begin(v)
			d.begin(v)
			if d.known != nil {
				known++
			}
		}
	}
	flat := reflect.TypeFor[struct {
		ID   int64   `variant:"id"`
		F64  float64 `variant:"f64"`
		Text string  `variant:"text"`
		Bool bool    `variant:"bool"`
		Legs []struct {
			Rate  float32 `variant:"rate"`
			Tenor string  `variant:"tenor"`
		} `variant:"legs"`
	}]()
	types := []reflect.Type{flat, reflect.TypeFor[map[string]any](), reflect.TypeFor[pricing](), reflect.TypeFor[any]()}
	for _, v := range append(pricingValues(t, 3), all) {
		for _, typ := range types {
			check(v, typ)
			for range 100 {
				meta, value := bytes.Clone(v.metadata), bytes.Clone(v.value)
				for range 1 + r.IntN(3) {
					value[r.IntN(len(value))] ^= 1 << r.IntN(8)
				}
				if r.IntN(4) == 0 {
					meta[r.IntN(len(meta))] ^= 1 << r.IntN(8)
				}
				check(Value{meta, value[:len(value)-r.IntN(2)*r.IntN(len(value))]}, typ)
			}
		}
	}
	require.Greater(t, known, 100)
}

// TestUnmarshal_ShortcutsOfScalars: the quick ways of common scalars store and refuse
// what the one of all scalars does, for each first byte, length and budget.
func TestUnmarshal_ShortcutsOfScalars(t *testing.T) {
	bytesOf := []byte{0, 0x41, 0xff, 0x7f, 0x80, 1, 2, 3, 4, 0xf0, 0x3f, 'a', 'b', 0xc3, 0xa9, 0, 0, 0, 0, 0}
	for _, c := range []struct {
		quick, all decodeFunc
		types      []reflect.Type
	}{
		{decodeBool, decodeAnyBool, []reflect.Type{reflect.TypeFor[bool]()}},
		{decodeFloat, decodeAnyFloat, []reflect.Type{reflect.TypeFor[float64]()}},
		{decodeString, decodeAnyString, []reflect.Type{reflect.TypeFor[string]()}},
		{decodeInt, decodeAnyInt, []reflect.Type{reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int64]()}},
	} {
		for _, typ := range c.types {
			for first := range 256 {
				for _, n := range []int{0, 1, 2, 3, 5, 6, 9, 10, 18} {
					bytesOf[0] = byte(first)
					for _, budget := range []int{0, 1, n - 1, n, 100} {
						a, b := &goDecoder{budget: budget}, &goDecoder{budget: budget}
						x, y := reflect.New(typ).Elem(), reflect.New(typ).Elem()
						errA, errB := c.quick(a, bytesOf[:n], x), c.all(b, bytesOf[:n], y)
						if errA == nil && errB == nil && a.budget == b.budget && x.Equal(y) {
							continue
						}
						if errA == nil || fmt.Sprint(errA, a.budget, x) != fmt.Sprint(errB, b.budget, y) {
							t.Fatalf("%v of % x with %d: %v %v, not %v %v", typ, bytesOf[:n], budget, x, errA, y, errB)
						}
					}
				}
			}
		}
	}
}

// TestUnmarshal_SharesNoBytes: what was stored outlives the bytes of the value and of the
// dictionary, also when names and texts come again.
func TestUnmarshal_SharesNoBytes(t *testing.T) {
	v := mustParse(t, `{"name":"short","long":"a text that is longer than those which are kept","nested":{"k":1}}`)
	var kept []map[string]any
	for range 4 {
		own := v.Clone()
		var x map[string]any
		require.NoError(t, Unmarshal(own, &x))
		clear(own.metadata)
		clear(own.value)
		kept = append(kept, x)
	}
	for _, x := range kept {
		require.Equal(t, "short", x["name"])
		require.Equal(t, "a text that is longer than those which are kept", x["long"])
		require.Equal(t, map[string]any{"k": int64(1)}, x["nested"])
	}
}

// TestUnmarshal_ManyDictionaries: more than a decoder keeps, and the same memory for
// one after another.
func TestUnmarshal_ManyDictionaries(t *testing.T) {
	var meta, value []byte
	for round := range 4 {
		for i := range 20 {
			v := mustParse(t, fmt.Sprintf(`{"a%02d":%d,"b":%d}`, i, i, round))
			meta, value = append(meta[:0], v.metadata...), append(value[:0], v.value...)
			x := struct {
				A int `variant:"a07"`
				B int `variant:"b"`
			}{-1, -1}
			require.NoError(t, Unmarshal(Value{meta, value}, &x))
			require.Equal(t, round, x.B)
			if i == 7 {
				require.Equal(t, 7, x.A)
			} else {
				require.Equal(t, -1, x.A)
			}
		}
	}
}

// TestUnmarshal_SliceKeepsWhatCameBeforeAnError, as its documentation says.
func TestUnmarshal_SliceKeepsWhatCameBeforeAnError(t *testing.T) {
	x := make([]int, 1, 8)
	require.Error(t, Unmarshal(mustParse(t, `[1,2,"x",4]`), &x))
	require.Equal(t, []int{1, 2, 0}, x)
	var y []int
	require.Error(t, Unmarshal(mustParse(t, `[1,2,"x",4]`), &y))
	require.Equal(t, []int{1, 2, 0}, y)
	require.NoError(t, Unmarshal(mustParse(t, `[]`), &x))
	require.Empty(t, x)
	y = nil
	require.NoError(t, Unmarshal(mustParse(t, `[]`), &y))
	require.NotNil(t, y)
	long, err := Marshal(slices.Repeat([]int{7}, 3*maxPrealloc+1))
	require.NoError(t, err)
	require.NoError(t, Unmarshal(long, &y))
	require.Equal(t, slices.Repeat([]int{7}, 3*maxPrealloc+1), y)
}

// TestUnmarshal_Allocations: none into a struct that is read again.
func TestUnmarshal_Allocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools lose their contents under the race detector")
	}
	_, x := pricingStruct(t)
	for i := range x.Scenarios {
		x.Scenarios[i].Breakdown.ByRegion, x.Scenarios[i].Breakdown.BySector = nil, nil
	}
	v, err := Marshal(&x)
	require.NoError(t, err)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // collections empty pools
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for range 3 { // the dictionary becomes known in the run that does not count
			if err := Unmarshal(v, &x); err != nil {
				panic(err)
			}
		}
	}))
}

// TestMarshal_MapAllocations: a map costs as many allocations for a thousand fields as
// for ten.
func TestMarshal_MapAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools lose their contents under the race detector")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // collections empty pools
	b := NewBuilder()
	allocations := func(n int) float64 {
		m := map[string]float64{}
		for i := range n {
			m[fmt.Sprintf("key %d", i)] = float64(i)
		}
		return testing.AllocsPerRun(10, func() {
			b.Reset()
			if err := EmitGo(m, b); err != nil {
				panic(err)
			}
			if _, err := b.Value(); err != nil {
				panic(err)
			}
		})
	}
	require.Equal(t, allocations(10), allocations(1000))
}
