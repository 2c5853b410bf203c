package variant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// walks are all ways through a value, whatever they answer.
var walks = map[string]func(v Value){
	"Validate":   func(v Value) { _ = v.Validate() },
	"Emit":       func(v Value) { _ = v.Emit(discard{}) },
	"AppendJSON": func(v Value) { _, _ = AppendJSON(nil, v) },
	"String":     func(v Value) { _ = v.String() },
	"Marshal":    func(v Value) { _, _ = Marshal(v) },
	"Canonical":  func(v Value) { _, _ = Canonical(v) },
	"Hash":       func(v Value) { Hash(v) },
	"Compare": func(v Value) {
		other := Unchecked(append(bytes.Clone(v.metadata), 'x'), bytes.Clone(v.value))
		Compare(v, other)
		Equal(v, other)
	},
	"AppendValue": func(v Value) {
		b := NewBuilder()
		b.AppendValue(v)
		_, _ = b.Value()
	},
	"Cast": func(v Value) {
		for _, text := range hostileTypes {
			typ, err := ParseType(text)
			if err != nil {
				panic(err)
			}
			_, _ = Cast(v, typ)
			_, _ = TryCast(v, typ)
		}
	},
	"Unmarshal": func(v Value) {
		for _, x := range []any{
			new(any), new([]any), new(map[string]any), new([]Value), new(map[string]Value), new([]string), new([][]byte),
			new([]json.RawMessage), new([]map[string]json.RawMessage), new([]map[string]*int), new([]struct{ A, B string }),
		} {
			_ = Unmarshal(v, x)
		}
	},
}

var hostileTypes = []string{
	"string", "int", "variant", "array<string>", "array<int>", "array<variant>", "array<array<string>>", "array<map<string,string>>",
	"map<string,string>", "map<string,int>", "struct<a:string,b:array<string>>", "array<struct<a:string,b:int>>",
}

// hostileValues would cost the square of their size, or worse, if each value in them
// cost its size each time that an offset leads to it. "valid" ones pass New.
func hostileValues() map[string]Value {
	const n = 1 << 13
	long := strings.Repeat("n", 40_000)
	shared := func(child []byte, object bool) []byte {
		head := byte(basicArray | 3<<2 | 0x10)
		if object {
			head = basicObject | 3<<2 | 0x40
		}
		b := appendUint([]byte{head}, n, 4)
		if object {
			b = append(b, make([]byte, n)...) // all of id 0
		}
		b = append(b, make([]byte, 4*n)...) // all at offset 0
		return append(appendUint(b, uint32(len(child)), 4), child...)
	}
	text := appendUint([]byte{primString << 2}, uint32(len(long)), 4)
	text = append(text, long...)
	blob := bytes.Clone(text)
	blob[0] = primBinary << 2
	field := []byte{basicObject, 1, 0, 0, 1, primNull << 2} // {long: null}
	named := appendUint([]byte{basicArray | 3<<2 | 0x10}, n, 4)
	for i := range n + 1 {
		named = appendUint(named, uint32(i*len(field)), 4)
	}
	named = append(named, bytes.Repeat(field, n)...)
	doubling, fields := []byte{primNull << 2}, []byte{primNull << 2}
	for range 60 {
		doubling = append(appendUint([]byte{basicArray | 1<<2, 2, 0, 0, 0, 0}, uint32(len(doubling)), 2), doubling...)
		fields = append(appendUint([]byte{basicObject | 1<<2, 2, 0, 1, 0, 0, 0, 0}, uint32(len(fields)), 2), fields...)
	}
	ab := AppendMetadata(nil, []string{"a", "b"})
	longName := AppendMetadata(nil, []string{long})
	return map[string]Value{
		"one long string":                Unchecked(emptyMetadata, shared(text, false)),
		"one long binary":                Unchecked(emptyMetadata, shared(blob, false)),
		"one long string in fields":      Unchecked(ab, shared(text, true)),
		"one object with a long string":  Unchecked(ab, shared(append([]byte{basicObject | 2<<2, 1, 0, 0, 0, 0, 0x45, 0x9c, 0}, text...), false)),
		"one array with a long string":   Unchecked(ab, shared(append([]byte{basicArray | 2<<2, 1, 0, 0, 0, 0x45, 0x9c, 0}, text...), false)),
		"doubling arrays":                Unchecked(emptyMetadata, doubling),
		"doubling objects":               Unchecked(ab, fields),
		"array of one array, shared":     Unchecked(emptyMetadata, shared(shared(shared([]byte{0}, false), false), false)),
		"one long name a thousand times": Unchecked(longName, shared([]byte{0}, true)),
		"valid: one long name":           Unchecked(longName, named),
		"valid: one long name, unsorted": Unchecked(append([]byte{longName[0] &^ 0x10}, longName[1:]...), named),
		"valid: long dictionary":         Unchecked(longName, shared([]byte{0}, false)[:0:0]),
	}
}

// TestV09_EveryWalkIsBounded counts what each walk allocates on values that are made to
// cost much: a small multiple of their bytes, and for texts the 16 MiB that names may
// always take.
func TestV09_EveryWalkIsBounded(t *testing.T) {
	for name, v := range hostileValues() {
		valid := strings.HasPrefix(name, "valid") && !v.IsMissing()
		require.Equal(t, valid, v.Validate() == nil, "%s: %v", name, v.Validate())
		for way, walk := range walks {
			t.Run(name+"/"+way, func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				walk(v)
				runtime.ReadMemStats(&after)
				limit := uint64(200*(len(v.metadata)+len(v.value)) + 1<<20)
				switch way {
				case "AppendJSON", "String", "Cast", "Unmarshal":
					limit += uint64(4 * 8 * minTextLimit)
				}
				require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, limit)
			})
		}
	}
}

// TestAppendJSON_V09_NamesAreNotFree: a text is refused when it is thousands of times
// the value, and only then.
func TestAppendJSON_V09_NamesAreNotFree(t *testing.T) {
	hostile := hostileValues()["valid: one long name"]
	_, err := AppendJSON(nil, hostile)
	require.ErrorIs(t, err, ErrTooLarge)
	require.NotErrorIs(t, err, ErrCorrupt)
	_, err = json.Marshal(hostile)
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = Cast(hostile, Type{ID: TypeString})
	require.ErrorIs(t, err, ErrTooLarge)
	var texts []json.RawMessage
	require.ErrorIs(t, Unmarshal(hostile, &texts), ErrTooLarge)

	long := strings.Repeat("k", 30_000)
	text := "[" + strings.Repeat(`{"`+long+`":null},`, 400) + "1]"
	v, err := ParseJSON([]byte(text))
	require.NoError(t, err)
	require.Greater(t, len(text), 64*(len(v.Bytes())+len(v.Metadata())))
	require.Equal(t, text, v.String())
}

// TestV10_OneLimitEverywhere: a thousand levels go in every direction, one more in none.
func TestV10_OneLimitEverywhere(t *testing.T) {
	type list []list
	type object map[string]object
	typ, bad := Type{ID: TypeInt}, Type{ID: TypeInt}
	for range MaxDepth {
		elem := typ
		typ = Type{ID: TypeArray, Elem: &elem}
	}
	bad = Type{ID: TypeArray, Elem: &typ}
	value := []byte{primInt8 << 2, 1}
	for range MaxDepth {
		value = wrapArray(value)
	}
	ok, deep := Unchecked(emptyMetadata, value), Unchecked(emptyMetadata, wrapArray(value))
	for name, walk := range map[string]func(Value) error{
		"Validate":   Validate,
		"New":        func(v Value) error { _, err := New(v.metadata, v.value); return err },
		"Emit":       func(v Value) error { return v.Emit(discard{}) },
		"AppendJSON": func(v Value) error { _, err := AppendJSON(nil, v); return err },
		"Canonical":  func(v Value) error { _, err := Canonical(v); return err },
		"Unmarshal":  func(v Value) error { return Unmarshal(v, new(any)) },
		"Marshal":    func(v Value) error { _, err := Marshal(v); return err },
		"Cast": func(v Value) error {
			into := &typ
			if len(v.value) > len(value) {
				into = &bad
			}
			_, err := Cast(v, *into)
			return err
		},
		"Cast to string":  func(v Value) error { _, err := Cast(v, Type{ID: TypeString}); return err },
		"Cast to variant": func(v Value) error { _, err := Cast(v, Type{ID: TypeArray, Elem: &Type{}}); return err },
		"AppendValue": func(v Value) error {
			b := NewBuilder()
			b.AppendValue(v)
			_, err := b.Value()
			return err
		},
		"JSON": func(v Value) error {
			n := MaxDepth + (len(v.value)-len(value))/10
			_, err := ParseJSON([]byte(strings.Repeat("[", n) + strings.Repeat("]", n)))
			return err
		},
		"Unmarshal to lists": func(v Value) error {
			n := MaxDepth + (len(v.value)-len(value))/10
			b := []byte{basicArray, 0, 0}
			for range n - 1 {
				b = wrapArray(b)
			}
			return Unmarshal(Unchecked(emptyMetadata, b), new(list))
		},
		"Marshal of Go maps": func(v Value) error {
			n := MaxDepth + (len(v.value)-len(value))/10
			x := object{}
			for range n - 1 {
				x = object{"k": x}
			}
			_, err := Marshal(x)
			return err
		},
	} {
		require.NoError(t, walk(ok), name)
		err := walk(deep)
		require.Error(t, err, name)
		require.Contains(t, err.Error(), ErrDepth.Error(), name)
	}
	// What has no error to return has an answer, and the same twice.
	require.Zero(t, Compare(ok, ok.Clone()))
	require.Equal(t, Hash(ok), Hash(ok.Clone()))
	require.Equal(t, Hash(deep), Hash(deep.Clone()))
	Compare(deep, ok)
	require.Contains(t, deep.String(), "nested")
	require.Equal(t, KindArray, deep.Index(0).Kind())
}

// TestCompare_V09_AnswersOfBadBytesAreAnOrder: values that New refuses compare to some
// answer, and to the opposite one the other way round, so that a sort of them ends.
func TestCompare_V09_AnswersOfBadBytesAreAnOrder(t *testing.T) {
	var values []Value
	for _, v := range hostileValues() {
		values = append(values, v)
	}
	for i, a := range values {
		for j, b := range values {
			require.Equal(t, Compare(a, b), -Compare(b, a), fmt.Sprint(i, j))
			require.Equal(t, Compare(a, b) == 0, Equal(a, b), fmt.Sprint(i, j))
		}
	}
}

// TestEncoder_V09_GapsOfDeepArrays: after an array of many elements each level of a deep
// one left room for as large a header, gigabytes at a thousand levels.
func TestEncoder_V09_GapsOfDeepArrays(t *testing.T) {
	many := "[" + strings.Repeat("1,", 200_000) + "1]"
	deep := strings.Repeat("[", 990) + strings.Repeat("]", 990)
	for _, texts := range [][]string{{"[" + many + "," + deep + "]"}, {many, deep}} {
		e := NewEncoder(ParseOptions{})
		size := 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, text := range texts {
			v, err := e.Encode([]byte(text))
			require.NoError(t, err)
			require.NoError(t, v.Validate())
			size += len(text)
		}
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(100*size))
	}
}
