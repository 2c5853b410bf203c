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
