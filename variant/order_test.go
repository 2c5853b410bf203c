package variant

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

// unsortedObject writes an object over a dictionary of the names in their order, with
// the fields in the order of ids, each with the value of its id.
func unsortedObject(names []string, ids []int, sorted bool) (metadata, value []byte) {
	metadata = AppendMetadata(nil, names)
	if !sorted {
		metadata[0] &^= 0x10
	}
	var data []byte
	value = []byte{basicObject | 1<<2, byte(len(ids))}
	for _, id := range ids {
		value = append(value, byte(id))
	}
	for _, id := range ids {
		value = appendUint(value, uint32(len(data)), 2)
		data = append(data, primInt8<<2, byte(id))
	}
	value = appendUint(value, uint32(len(data)), 2)
	return metadata, append(value, data...)
}

// requireEveryField finds all of the names that an object has, and none that it has
// not, in every way there is, warm and cold.
func requireEveryField(t *testing.T, v Value, names []string, ids []int) {
	t.Helper()
	for id, name := range names {
		has := slices.Contains(ids, id)
		p := NewPath(Step{Name: name})
		g := NewGetter(p)
		for range 4 {
			found, err := v.Lookup(p)
			require.NoError(t, err)
			for i, x := range []Value{v.Field(name), v.Get(p), found, g.Get(v, nil)[0]} {
				got, ok := x.Int64()
				require.Equal(t, has, ok, "way %d to %q of %v", i, name, ids)
				require.True(t, !has || got == int64(id))
			}
		}
		cast, err := Cast(v, Type{ID: TypeStruct, Fields: []TypeField{{name, Type{ID: TypeInt}}}})
		require.NoError(t, err)
		require.Equal(t, has, !cast.Field(name).IsNull(), "cast to a struct of %q", name)
	}
}

// TestField_AnyOrderOfFields: DuckDB leaves some residual objects of shredded columns
// with the fields in the order they came in. New refuses them, as the spec asks, and
// nothing else loses a field of theirs: not where the dictionary is sorted and not
// where it is not, and not with what a path learnt from another object.
func TestField_AnyOrderOfFields(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 300 {
		names := []string{"", "a", "aa", "b", "c", "d", "zz", "é", "\uffff", "\U0001F600"}[:4+r.IntN(7)]
		slices.Sort(names)
		sorted := round%2 == 0
		if !sorted {
			r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		}
		ids := r.Perm(len(names))[:1+r.IntN(len(names))]
		v := Unchecked(unsortedObject(names, ids, sorted))
		requireEveryField(t, v, names, ids)
	}
	metadata, value := unsortedObject([]string{"a", "b", "c"}, []int{2, 0, 1}, true)
	_, err := New(metadata, value)
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestGet_AnyOrder_GuessesOfAnotherObject: a path that learnt where a key would stand
// in an object in order does not take that for an answer about one that is not.
func TestGet_AnyOrder_GuessesOfAnotherObject(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	for _, sorted := range []bool{true, false} {
		// Both have the same number of fields, first id and last.
		without := Unchecked(unsortedObject(names, []int{0, 1, 3, 4}, sorted))
		with := Unchecked(unsortedObject(names, []int{0, 3, 2, 4}, sorted))
		p := NewPath(Step{Name: "c"})
		require.True(t, without.Get(p).IsMissing())
		require.False(t, with.Get(p).IsMissing(), "sorted dictionary: %v", sorted)
		require.True(t, without.Get(p).IsMissing())
	}
}

// TestV07_SortedFlagOfOldWriters: writers that ordered by UTF-16 units did so in
// dictionaries too, and called them sorted. All of it is read, and means the same as
// the value in today's order. V05: no other order may call itself sorted.
func TestV07_SortedFlagOfOldWriters(t *testing.T) {
	names := []string{"$", "a", "\u20ac", "\ue000", "\uffff", "\U00010000", "\U0001F600"}
	older := slices.Clone(names)
	slices.SortFunc(older, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	require.NotEqual(t, names, older)
	ids := []int{0, 1, 2, 3, 4, 5, 6}
	old, err := New(unsortedObject(older, ids, true))
	require.NoError(t, err)
	requireEveryField(t, old, older, ids)
	m, err := ParseMetadata(old.Metadata())
	require.NoError(t, err)
	b := NewBuilder()
	b.Begin(KindObject)
	for id, name := range older {
		got, ok := m.ID(name)
		require.True(t, ok)
		require.Equal(t, id, got)
		b.Key([]byte(name))
		b.Int(int64(id))
	}
	b.End()
	today, err := b.Value()
	require.NoError(t, err)
	require.True(t, Equal(old, today))
	require.Equal(t, Hash(old), Hash(today))
	canonical, err := Canonical(old)
	require.NoError(t, err)
	want, err := Canonical(today)
	require.NoError(t, err)
	require.Equal(t, want, canonical)

	older[5], older[6] = older[6], older[5]
	_, err = New(unsortedObject(older, nil, true))
	require.ErrorIs(t, err, ErrCorrupt, "neither order")
	_, err = New(unsortedObject([]string{"b", "a"}, nil, true))
	require.ErrorIs(t, err, ErrCorrupt, "V05")
}

// BenchmarkField_Missing is a key that an object of 100 fields lacks, by how much the
// dictionary tells.
func BenchmarkField_Missing(b *testing.B) {
	names := make([]string, 101)
	ids := make([]int, 100)
	for i := range names {
		names[i] = fmt.Sprintf("field%03d", i)
	}
	for i := range ids {
		ids[i] = i
	}
	for _, sorted := range []bool{true, false} {
		v := Unchecked(unsortedObject(names, ids, sorted))
		for _, name := range []string{"field100", "nowhere"} {
			b.Run(fmt.Sprintf("sorted=%v/%s", sorted, name), func(b *testing.B) {
				for b.Loop() {
					if !v.Field(name).IsMissing() {
						b.Fatal("found")
					}
				}
			})
		}
	}
}

// TestGet_GuessOfAbsenceWithoutMetadata: a step that knew a shape as one without its
// key asked the dictionary whether it is sorted, and there was no dictionary.
func TestGet_GuessOfAbsenceWithoutMetadata(t *testing.T) {
	p, err := ParsePath("$.b")
	require.NoError(t, err)
	v, err := ParseJSON([]byte(`{"a": "some text", "c": 1}`))
	require.NoError(t, err)
	bare := Unchecked(nil, v.Bytes())
	many := NewGetter(p)
	for range 2 { // the second finds what the first learned
		require.True(t, v.Get(p).IsMissing())
		require.True(t, many.Get(v, nil)[0].IsMissing())
	}
	require.True(t, bare.Get(p).IsMissing())
	require.True(t, many.Get(bare, nil)[0].IsMissing())
}
