package batch

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Group is a line of the summary: the trades of a day, desk and asset class.
type Group struct {
	Date     int32 // days since 1970-01-01
	Desk     string
	Class    string
	Trades   int64
	TotalVaR float64
	WorstVaR float64
	Delta    float64 // sum over trades that have one
	DV01     float64
}

// Day is the date as text.
func (g *Group) Day() string {
	return time.Unix(int64(g.Date)*86400, 0).UTC().Format(time.DateOnly)
}

// scored is what the summary needs of one trade.
type scored struct {
	id               string
	var99, delta, dv float64
}

// aggregator gathers scored trades by group. Sums are made at the end, in the
// order of the trades' ids: floating-point addition is not associative, and the
// order in which rows arrive depends on how the stream was cut into commits.
type aggregator struct {
	groups map[groupKey]*bucket
	last   groupKey // the group of the row before, which is most often the same
	recent *bucket
}

type groupKey struct {
	date        int32
	desk, class string
}

type bucket struct {
	key    groupKey
	trades []scored
}

func newAggregator() *aggregator { return &aggregator{groups: map[groupKey]*bucket{}} }

// add takes one trade. Its strings may be reused by the caller.
func (a *aggregator) add(date int32, desk, class string, t scored) {
	if a.recent == nil || a.last.date != date || a.last.desk != desk || a.last.class != class {
		key := groupKey{date, desk, class}
		b := a.groups[key]
		if b == nil {
			key.desk, key.class = strings.Clone(desk), strings.Clone(class)
			b = &bucket{key: key}
			a.groups[key] = b
		}
		a.recent, a.last = b, b.key
	}
	t.id = strings.Clone(t.id)
	a.recent.trades = append(a.recent.trades, t)
}

// summarize gives the groups by date, desk and class, the total over all of
// them, the trade with the largest value at risk, and the first of the others.
func (a *aggregator) summarize() Summary {
	var s Summary
	buckets := make([]*bucket, 0, len(a.groups))
	for _, b := range a.groups {
		buckets = append(buckets, b)
	}
	slices.SortFunc(buckets, func(x, y *bucket) int {
		return cmp.Or(cmp.Compare(x.key.date, y.key.date), strings.Compare(x.key.desk, y.key.desk), strings.Compare(x.key.class, y.key.class))
	})
	var worst scored
	for _, b := range buckets {
		slices.SortFunc(b.trades, func(x, y scored) int { return strings.Compare(x.id, y.id) })
		g := Group{Date: b.key.date, Desk: b.key.desk, Class: b.key.class, Trades: int64(len(b.trades))}
		for _, t := range b.trades {
			g.TotalVaR += t.var99
			g.WorstVaR = max(g.WorstVaR, t.var99)
			g.Delta += t.delta
			g.DV01 += t.dv
			if worst.id == "" || t.var99 > worst.var99 || t.var99 == worst.var99 && t.id < worst.id {
				worst = t
			}
		}
		s.Groups = append(s.Groups, g)
		s.TotalVaR += g.TotalVaR
	}
	s.WorstTrade = worst.id
	for _, b := range buckets {
		s.OtherTrade = firstBut(s.OtherTrade, b.trades, worst.id)
	}
	return s
}

// firstBut gives the first id of known and those of trades, which are sorted,
// that is not the excluded one; "" if there is none.
func firstBut(known string, trades []scored, excluded string) string {
	for _, t := range trades[:min(len(trades), 2)] {
		if t.id != excluded && (known == "" || t.id < known) {
			return t.id
		}
	}
	return known
}

// Summary is the outcome of the aggregation.
type Summary struct {
	Groups     []Group
	TotalVaR   float64
	WorstTrade string // with the largest value at risk
	OtherTrade string // the first one, by id, that is not the worst
}
