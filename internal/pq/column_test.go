package pq

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRowStarts compares eight levels at a time with one at a time.
func TestRowStarts(t *testing.T) {
	one := func(levels []uint8, rows int) (int, int) {
		for i, l := range levels {
			if l > 0 {
				continue
			}
			if rows == 0 {
				return i, 0
			}
			rows--
		}
		return len(levels), rows
	}
	g := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		levels := make([]uint8, g.IntN(40))
		for i := range levels {
			levels[i] = []uint8{0, 1, 2, 128, 255}[g.IntN(1+g.IntN(5))]
		}
		rows := g.IntN(len(levels) + 2)
		n, left := rowStarts(levels, rows)
		wantN, wantLeft := one(levels, rows)
		require.Equal(t, []int{wantN, wantLeft}, []int{n, left}, "%v, %d rows", levels, rows)
	}
}

// TestBytesDict compares with a map: short and long values, prefixes of each other,
// zero bytes, and the end of the data, behind which nothing can be read.
func TestBytesDict(t *testing.T) {
	g := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		v := byteValues{offsets: []uint32{0}, data: []byte{}}
		for range g.IntN(80) {
			for range g.IntN(10) {
				v.data = append(v.data, []byte{0, 1, 0xff}[g.IntN(3)])
			}
			v.offsets = append(v.offsets, uint32(len(v.data)))
		}
		v.data = v.data[:len(v.data):len(v.data)]
		var d bytesDict
		index, ok := d.build(nil, v, 1<<20)
		require.True(t, ok)
		require.Len(t, index, v.len())
		seen := map[string]uint32{}
		for i, e := range index {
			value := string(v.at(i))
			if _, ok := seen[value]; !ok {
				require.Equal(t, len(seen), int(e))
				require.Equal(t, i, int(d.first[e]))
				seen[value] = e
			}
			require.Equal(t, seen[value], e)
		}
		require.Len(t, d.first, len(seen))
	}
}
