package batch

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSumsDoNotDependOnTheOrderOfRows adds the same trades in many orders.
func TestSumsDoNotDependOnTheOrderOfRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	type row struct {
		date        int32
		desk, class string
		t           scored
	}
	var rows []row
	for i := range 2000 {
		rows = append(rows, row{
			int32(20600 + rng.IntN(3)), []string{"EQD", "IRD"}[rng.IntN(2)], []string{"EQUITY", "FX"}[rng.IntN(2)],
			scored{fmt.Sprintf("T%05d", i), rng.ExpFloat64() * 1e6, rng.Float64(), rng.NormFloat64() * 1e3},
		})
	}
	var want Summary
	for n := range 20 {
		a := newAggregator()
		for _, r := range rows {
			a.add(r.date, r.desk, r.class, r.t)
		}
		got := a.summarize()
		if n == 0 {
			want = got
			require.Len(t, want.Groups, 12)
			require.Equal(t, "T00000", want.OtherTrade)
		}
		require.Equal(t, want, got)
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	require.Equal(t, "2026-05-27", (&Group{Date: 20600}).Day())
}

func TestTheTwoTradesToCorrectDiffer(t *testing.T) {
	a := newAggregator()
	require.Zero(t, a.summarize())
	a.add(1, "D", "C", scored{id: "T1", var99: 9})
	s := a.summarize()
	require.Equal(t, "T1", s.WorstTrade)
	require.Empty(t, s.OtherTrade)
	a.add(1, "D", "C", scored{id: "T3", var99: 1})
	a.add(2, "D", "C", scored{id: "T2", var99: 9})
	s = a.summarize()
	require.Equal(t, "T1", s.WorstTrade)
	require.Equal(t, "T2", s.OtherTrade)
}
