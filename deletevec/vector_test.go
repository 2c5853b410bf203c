package deletevec

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// shapes are named sets of positions that unit tests, fuzz seeds and
// benchmarks share.
func shapes() map[string][]int64 {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int, rows int64) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = r.Int64N(rows)
		}
		return out
	}
	upTo := func(from, to int64) []int64 {
		var out []int64
		for p := from; p < to; p++ {
			out = append(out, p)
		}
		return out
	}
	every := func(n, step int64) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = int64(i) * step
		}
		return out
	}
	return map[string][]int64{
		"one":           {42},
		"first and far": {0, math.MaxInt64},
		"edges":         {0, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 5, 1 << 62},
		"sparse keys":   {7<<32 + 3, 9 << 32},
		"chunk ends":    {65535, 65536, 131071, 131072},
		"array limit":   every(4096, 3),
		"bitmap":        every(4097, 3),
		"dense random":  random(50_000, 100_000),
		"random":        random(20_000, 10_000_000),
		"scattered":     random(100, 1<<40),
		"repeated":      {5, 5, 5, 3, 3, 70000, 70000},
		"run":           upTo(100, 200_000),
		"whole chunk":   upTo(65536, 131072),
		"runs":          slices.Concat(upTo(0, 100), upTo(1000, 1100), upTo(65530, 65540)),
		"many chunks":   every(300, 65536),
	}
}

// distinct is the slow answer: sorted, without repetitions.
func distinct(positions []int64) []int64 {
	out := slices.Clone(positions)
	slices.Sort(out)
	return slices.Compact(out)
}

// builders put positions into a vector in all the ways there are.
var builders = map[string]func(*testing.T, []int64) *Vector{
	"Add": func(t *testing.T, positions []int64) *Vector {
		var v Vector
		for _, p := range positions {
			require.NoError(t, v.Add(p))
		}
		return &v
	},
	"AddMany": func(t *testing.T, positions []int64) *Vector {
		var v Vector
		require.NoError(t, v.AddMany(positions))
		return &v
	},
	"AddMany sorted": func(t *testing.T, positions []int64) *Vector {
		var v Vector
		sorted := slices.Clone(positions)
		slices.Sort(sorted)
		require.NoError(t, v.AddMany(sorted))
		return &v
	},
	"AddRange": func(t *testing.T, positions []int64) *Vector {
		var v Vector
		for _, r := range ranges(distinct(positions)) {
			to := r[1]
			if to == math.MaxInt64 { // the last position has no range of its own
				require.NoError(t, v.Add(to))
				continue
			}
			require.NoError(t, v.AddRange(r[0], to+1))
		}
		return &v
	},
	"Union": func(t *testing.T, positions []int64) *Vector {
		var a, b Vector
		for i, p := range positions {
			if i%3 == 0 {
				require.NoError(t, a.Add(p))
			}
			if i%3 != 0 || i%2 == 0 {
				require.NoError(t, b.Add(p))
			}
		}
		a.Union(&b)
		return &a
	},
}

// ranges lists the first and last position of each run of sorted positions.
func ranges(sorted []int64) [][2]int64 {
	var out [][2]int64
	for _, p := range sorted {
		if n := len(out); n > 0 && out[n-1][1]+1 == p {
			out[n-1][1] = p
			continue
		}
		out = append(out, [2]int64{p, p})
	}
	return out
}

// TestVectorIsASet compares every way to build with a sorted slice. D11: the
// shapes hold positions around 2^31 and 2^32, and keys with gaps.
func TestVectorIsASet(t *testing.T) {
	for name, positions := range shapes() {
		want := distinct(positions)
		ref := builders["AddMany"](t, positions)
		for how, build := range builders {
			t.Run(name+"/"+how, func(t *testing.T) {
				v := build(t, positions)
				require.Equal(t, want, slices.Collect(v.All()))
				require.Equal(t, int64(len(want)), v.Cardinality())
				last, ok := v.Max()
				require.True(t, ok)
				require.Equal(t, want[len(want)-1], last)
				require.True(t, v.Equal(ref))
				require.True(t, ref.Equal(v))
				requireMembers(t, v, want)
			})
		}
	}
}

// requireMembers checks Contains at each position and around it.
func requireMembers(t *testing.T, v *Vector, want []int64) {
	in := maps.Collect(func(yield func(int64, bool) bool) {
		for _, p := range want {
			if !yield(p, true) {
				return
			}
		}
	})
	for _, p := range want {
		for _, q := range []int64{p - 1, p, p + 1, p ^ 1<<20, p ^ 1<<40} {
			if v.Contains(q) != in[q] {
				require.Equal(t, in[q], v.Contains(q), "position %d", q)
			}
		}
	}
}

func TestZeroVectorIsEmpty(t *testing.T) {
	var v Vector
	require.True(t, v.IsEmpty())
	require.Zero(t, v.Cardinality())
	require.False(t, v.Contains(0))
	require.Empty(t, slices.Collect(v.All()))
	_, ok := v.Max()
	require.False(t, ok)
	v.Union(&Vector{})
	require.NoError(t, v.AddMany(nil))
	require.NoError(t, v.AddRange(7, 7))
	require.NoError(t, v.AddRange(7, 3))
	require.True(t, v.Equal(&Vector{}))
}

// D11: -1 is refused, and nothing else is added with it.
func TestD11NegativePosition(t *testing.T) {
	var v Vector
	require.ErrorIs(t, v.Add(-1), ErrPosition)
	require.ErrorIs(t, v.AddMany([]int64{3, -1, 4}), ErrPosition)
	require.ErrorIs(t, v.AddMany([]int64{math.MinInt64, 0}), ErrPosition)
	require.ErrorIs(t, v.AddRange(-5, 5), ErrPosition)
	require.True(t, v.IsEmpty())
	require.False(t, v.Contains(-1))
}

// TestNearlySortedPositions: positions that ascend but for one place, where one
// repeats, falls back, leaves its chunk or is negative, are found out in every
// form of container, although order is not compared position by position.
func TestNearlySortedPositions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, step := range []int64{1, 2, 9, 40, 5000} {
		sorted := make([]int64, 20_000)
		for i := range sorted {
			sorted[i] = int64(i)*step + r.Int64N(step)
		}
		for try := range 24 {
			positions := slices.Clone(sorted)
			i, j := r.IntN(len(positions)), r.IntN(len(positions))
			k := min(i+r.IntN(9), len(positions)-1)
			switch try % 6 {
			case 0:
				positions[i], positions[j] = positions[j], positions[i]
			case 1:
				positions[i], positions[k] = positions[k], positions[i]
			case 2:
				positions[i] = positions[j]
			case 3:
				positions[i] = positions[k]
			case 4:
				positions[i] += 1 << 32
			case 5:
				positions[i] = positions[i]&63 | positions[k]&^63 // perhaps of another word
			}
			var v Vector
			require.NoError(t, v.AddMany(positions))
			require.Equal(t, distinct(positions), slices.Collect(v.All()), "step %d, try %d", step, try)
			positions[i] = -1 - positions[i]
			require.ErrorIs(t, new(Vector).AddMany(positions), ErrPosition)
		}
	}
}

// Containers that were built together share pieces of memory; a change of one
// does not reach the next.
func TestContainersOfOneBuildAreApart(t *testing.T) {
	for _, name := range []string{"random", "many chunks", "dense random", "whole chunk"} {
		for _, how := range []string{"AddMany", "AddMany sorted"} {
			positions := shapes()[name]
			v := builders[how](t, positions)
			for _, p := range shapes()[name] {
				require.NoError(t, v.Add(p^1))
				positions = append(positions, p^1)
			}
			require.Equal(t, distinct(positions), slices.Collect(v.All()), "%s, %s", name, how)
		}
	}
}

// The memory that a build takes is a matter of its chunks, 8 bitmaps of 8 KiB a
// piece, not of its positions.
func TestBuildAllocations(t *testing.T) {
	positions := make([]int64, 200_000)
	for i := range positions {
		positions[i] = int64(i) * 100
	}
	sorted := testing.AllocsPerRun(5, func() { _ = new(Vector).AddMany(positions) })
	require.LessOrEqual(t, sorted, 40.0, "306 chunks of 656 positions")
	slices.Reverse(positions)
	unsorted := testing.AllocsPerRun(5, func() { _ = new(Vector).AddMany(positions) })
	require.LessOrEqual(t, unsorted, 20.0)
}

// TestRandomOperations runs random changes against a Go map.
func TestRandomOperations(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		var v Vector
		want := make(map[int64]bool)
		span := int64(1) << (10 + r.IntN(8))
		for range 60 {
			p := r.Int64N(span) + int64(r.IntN(2))<<32
			switch r.IntN(5) {
			case 0:
				require.NoError(t, v.Add(p))
				want[p] = true
			case 1, 2:
				n := r.Int64N(span/4 + 1)
				require.NoError(t, v.AddRange(p, p+n))
				for q := p; q < p+n; q++ {
					want[q] = true
				}
			case 3:
				var o Vector
				many := make([]int64, r.IntN(3000))
				for i := range many {
					many[i] = r.Int64N(span)
					want[many[i]] = true
				}
				require.NoError(t, o.AddMany(many))
				before := o.Clone()
				v.Union(&o)
				require.True(t, o.Equal(before))
			case 4:
				b, err := AppendBlob(nil, &v)
				require.NoError(t, err)
				if !v.IsEmpty() {
					parsed, err := ParseBlob(b)
					require.NoError(t, err)
					v = *parsed
				}
			}
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Collect(v.All()), "seed %d", seed)
	}
}

// A vector that was parsed is a view; changing it must not change the bytes.
func TestParsedVectorLeavesItsBytesAlone(t *testing.T) {
	for name, positions := range shapes() {
		b, err := AppendBlob(nil, builders["AddMany"](t, positions))
		require.NoError(t, err)
		before := slices.Clone(b)
		v, err := ParseBlob(b)
		require.NoError(t, err)
		clone := v.Clone()
		for _, p := range positions {
			require.NoError(t, v.Add(p^1))
			require.NoError(t, v.AddRange(p&^0xFF, p&^0xFF+200))
		}
		v.Union(builders["AddMany"](t, []int64{1, 2, 3}))
		require.Equal(t, before, b, name)
		require.Equal(t, distinct(positions), slices.Collect(clone.All()), name)
	}
}

func TestAllStopsEarly(t *testing.T) {
	for name, positions := range shapes() {
		v := builders["AddMany"](t, positions)
		for p := range v.All() {
			require.Equal(t, distinct(positions)[0], p, name)
			break
		}
	}
}
