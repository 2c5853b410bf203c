package risk

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// draws are all scenarios of a trade.
func draws(g generator) []uint32 {
	var out []uint32
	for range scenarios / 2 {
		x := g.next()
		out = append(out, uint32(x>>32), uint32(x))
	}
	return out
}

// slowTail is the textbook: a thousand inverses, sorted.
func slowTail(g generator) float64 {
	z := make([]float64, 0, scenarios)
	for _, x := range draws(g) {
		z = append(z, normal(uniform(x)))
	}
	slices.Sort(z)
	return z[rank-1]
}

// The fast selection is the slow one, to the last bit, on the same draws.
func TestSelectionEqualsSorting(t *testing.T) {
	for i := range 3000 {
		g := state(7, fmt.Sprintf("T%09d", i))
		require.Equal(t, slowTail(g), tail(g), "trade %d", i)
		require.Equal(t, selectAll(g), selectDraw(g))
	}
}

// The cut is a shortcut only: what it misses is found without it. The smallest
// value is found wherever it stands.
func TestSmallest(t *testing.T) {
	for n := rank; n < 100; n++ {
		v := make([]uint32, n)
		for i := range v {
			v[i] = uint32(i*7919%101) / 3 // with repetitions
		}
		sorted := slices.Sorted(slices.Values(v))
		require.Equal(t, sorted[rank-1], smallest(v))
	}
}

// Ten of a thousand scenarios are worse.
func TestRank(t *testing.T) {
	g := state(1, "T1")
	worse := 0
	for _, x := range draws(g) {
		if normal(uniform(x)) < tail(g) {
			worse++
		}
	}
	require.Equal(t, 10, worse)
}

// The inverse is monotone where it is used, which the selection rests on.
func TestNormalIsMonotone(t *testing.T) {
	last := math.Inf(-1)
	for x := uint32(0); x < cut; x += 997 {
		z := normal(uniform(x))
		require.GreaterOrEqual(t, z, last)
		last = z
	}
	require.InDelta(t, -2.3263478740, normal(0.01), 1e-9)
	require.InDelta(t, 0, normal(0.5), 1e-12)
	require.False(t, math.IsInf(normal(uniform(0)), 0))
	require.False(t, math.IsInf(normal(uniform(math.MaxUint32)), 0))
}

// The reported uniform is the 11th of 1,000 order statistics: a Beta(11, 990)
// variable, whose mean and variance are known exactly. And all draws together
// are uniform: chi-squared over 256 cells.
func TestDistributionOfDraws(t *testing.T) {
	const trades = 20_000
	sum, squares := 0.0, 0.0
	var cells [256]float64
	for i := range trades {
		g := state(99, fmt.Sprintf("T%09d", i))
		u := uniform(selectDraw(g))
		sum += u
		squares += u * u
		if i%20 == 0 {
			for _, x := range draws(g) {
				cells[x>>24]++
			}
		}
	}
	const a, b = float64(rank), float64(scenarios + 1 - rank)
	mean, variance := a/(a+b), a*b/((a+b)*(a+b)*(a+b+1))
	got := sum / trades
	require.InDelta(t, mean, got, 4*math.Sqrt(variance/trades))
	require.InEpsilon(t, variance, squares/trades-got*got, 0.05)
	chi, want := 0.0, float64(trades/20*scenarios)/256
	for _, n := range cells {
		chi += (n - want) * (n - want) / want
	}
	require.Less(t, chi, 330.0, "255 degrees of freedom: 330 in a thousandth of all cases")
	require.Greater(t, chi, 190.0)
}

// batch makes the arguments of three trades: an equity option, a swap, and one
// that nothing is known of.
func arguments(mem memory.Allocator) []arrow.Array {
	text := func(s ...string) arrow.Array {
		b := array.NewStringBuilder(mem)
		defer b.Release()
		b.AppendValues(s, nil)
		return b.NewArray()
	}
	number := func(values []float64, valid []bool) arrow.Array {
		b := array.NewFloat64Builder(mem)
		defer b.Release()
		b.AppendValues(values, valid)
		return b.NewArray()
	}
	return []arrow.Array{
		text("T1", "T2", "T3"), text("BlackScholes", "HullWhite", "Unknown"),
		number([]float64{0.5, 0, 0}, []bool{true, false, false}), number([]float64{20_000, 0, 0}, []bool{true, false, false}),
		number([]float64{0.01, 0.02, 0.01}, nil), number([]float64{0, -25_000, 0}, []bool{false, true, false}),
	}
}

func TestVaR99(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	args := arguments(mem)
	out, err := VaR99(42).Eval(context.Background(), mem, 3, args...)
	require.NoError(t, err)
	v := out.(*array.Float64)
	require.InEpsilon(t, -1.01*math.Hypot(0.5*1e6*0.015, 2000)*slowTail(state(42, "T1")), v.Value(0), 1e-12)
	require.InEpsilon(t, -1.02*150_000*slowTail(state(42, "T2")), v.Value(1), 1e-12)
	require.True(t, v.IsNull(2))
	require.Positive(t, v.Value(0))
	// The same trade in another batch, at another place.
	parts := make([]arrow.Array, len(args))
	for i, a := range args {
		parts[i] = array.NewSlice(a, 1, 2)
	}
	again, err := VaR99(42).Eval(context.Background(), mem, 1, parts...)
	require.NoError(t, err)
	require.Equal(t, v.Value(1), again.(*array.Float64).Value(0))
	other, err := VaR99(43).Eval(context.Background(), mem, 1, parts...)
	require.NoError(t, err)
	require.NotEqual(t, v.Value(1), other.(*array.Float64).Value(0))
	for _, a := range slices.Concat(args, parts, []arrow.Array{out, again, other}) {
		a.Release()
	}
}

func BenchmarkVaR(b *testing.B) {
	const rows = 8192
	ids, models := array.NewStringBuilder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	number := array.NewFloat64Builder(memory.DefaultAllocator)
	for i := range rows {
		ids.Append(fmt.Sprintf("T%09d", i))
		models.Append("BlackScholes")
		number.Append(0.5)
	}
	x := number.NewArray()
	args := []arrow.Array{ids.NewArray(), models.NewArray(), x, x, x, x}
	f := VaR99(1)
	b.ReportAllocs()
	for b.Loop() {
		out, err := f.Eval(context.Background(), nil, rows, args...)
		if err != nil {
			b.Fatal(err)
		}
		out.Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// BenchmarkVaRSorted is the textbook method, for comparison.
func BenchmarkVaRSorted(b *testing.B) {
	i := 0
	for b.Loop() {
		i++
		slowTail(state(1, fmt.Sprintf("T%09d", i)))
	}
}
