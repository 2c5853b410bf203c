package variant

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeyOrder: sets of keys come out in order of name, whatever share of them the
// table has ranked yet.
func TestKeyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	var table keyTable
	var order keyOrder
	table.reset()
	for round := range 60 {
		for range r.IntN(40) * (round % 3) {
			table.intern(fmt.Appendf(nil, "%s%d", []string{"", "same prefix ", "é", "￿", "𐀀"}[r.IntN(5)], r.IntN(3000)))
		}
		var set []int32
		for i := range table.keys {
			if r.IntN(4) == 0 {
				set = append(set, int32(i))
			}
		}
		r.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
		got := slices.Clone(order.sort(&table, set))
		table.sortByName(set)
		require.Equal(t, len(set), len(got))
		for i := range set {
			require.Equal(t, string(table.keys[set[i]].name), string(table.keys[got[i]].name))
		}
		require.LessOrEqual(t, len(table.keys)-len(table.ranked), len(table.ranked)/8+8)
	}
}

// TestBuilder_DictionariesOfOneSum: dictionaries are looked up by a sum of hashes. Sets
// of names with the same sum stay apart.
func TestBuilder_DictionariesOfOneSum(t *testing.T) {
	e := NewEncoder(ParseOptions{})
	_, err := e.Encode([]byte(`{"a":1,"b":1,"c":1}`))
	require.NoError(t, err)
	for i := range e.builder.tree.notes {
		e.builder.tree.notes[i].hash = 0
	}
	for range 3 {
		for _, text := range []string{`{"a":1}`, `{"b":1}`, `[{"a":1},{"b":1}]`, `[{"b":1},{"a":1}]`, `{"b":{"a":1}}`, `{"c":2,"a":1}`, `{}`, `[]`} {
			want, err := NewEncoder(ParseOptions{}).Encode([]byte(text))
			require.NoError(t, err)
			got, err := e.Encode([]byte(text))
			require.NoError(t, err)
			require.Equal(t, want.Metadata(), got.Metadata(), text)
			require.Equal(t, want.Bytes(), got.Bytes(), text)
		}
	}
}

// TestBuilder_ManyDictionaries: texts of ever new sets of names, more than are
// remembered and in more orders of shapes than are followed, are encoded as by a new
// encoder, and those that come again share their metadata as long as it is remembered.
func TestBuilder_ManyDictionaries(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	text := func() []byte {
		b := []byte("[")
		for range 2 + r.IntN(12) {
			b = fmt.Appendf(b, `{"k%d":1,"j%d":{"i%d":0}},`, r.IntN(60), r.IntN(60), r.IntN(6))
		}
		return append(b, "0]"...)
	}
	e := NewEncoder(ParseOptions{})
	first := text()
	before, err := e.Encode(first)
	require.NoError(t, err)
	for i := range 6000 {
		text := text()
		got, err := e.Encode(text)
		require.NoError(t, err)
		if i%8 == 0 || i > 5900 {
			want, err := NewEncoder(ParseOptions{}).Encode(text)
			require.NoError(t, err)
			require.Equal(t, want.Metadata(), got.Metadata(), "%s", text)
			require.Equal(t, want.Bytes(), got.Bytes(), "%s", text)
		}
	}
	require.Nil(t, e.builder.cache.start, "states are followed no more")
	require.Equal(t, maxDicts, e.builder.cache.dicts)
	again, err := e.Encode(first)
	require.NoError(t, err)
	require.Same(t, &before.Metadata()[0], &again.Metadata()[0])
}
