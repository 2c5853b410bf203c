package report

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// The histogram's drawing, in units of its view box.
const (
	histWidth  = 480.0
	histHeight = 220.0
	histTop    = 24.0
	histBottom = 34.0
)

// bar is one column of the histogram.
type bar struct {
	Label       string
	Count       int
	X, Y, W, H  float64
	Middle      float64
	LabelY      float64
	CountY      float64
	Share       float64
	Highlighted bool
}

type histogram struct {
	Width, Height, Base float64
	Bars                []bar
	Grid                []gridLine
}

type gridLine struct {
	Y     float64
	Count int
}

// edges are the upper ends of the histogram's classes in milliseconds; the last
// class is open. Brokers stamp records in whole milliseconds.
var edges = []struct {
	below time.Duration
	label string
}{
	{1 * time.Millisecond, "< 1"},
	{2 * time.Millisecond, "1"},
	{5 * time.Millisecond, "2–4"},
	{10 * time.Millisecond, "5–9"},
	{20 * time.Millisecond, "10–19"},
	{50 * time.Millisecond, "20–49"},
	{100 * time.Millisecond, "50–99"},
	{200 * time.Millisecond, "100 +"},
	{500 * time.Millisecond, "200 +"},
	{math.MaxInt64, "500 +"},
}

func newHistogram(latencies []time.Duration) histogram {
	counts := make([]int, len(edges))
	for _, l := range latencies {
		for i, e := range edges {
			if l < e.below {
				counts[i]++
				break
			}
		}
	}
	top := niceCeil(max(slices.Max(counts), 1))
	h := histogram{Width: histWidth, Height: histHeight, Base: histHeight - histBottom}
	scale := (h.Base - histTop) / float64(top)
	for i := 1; i <= 4; i++ {
		n := top * i / 4
		if top < 4 && i < 4 {
			continue
		}
		h.Grid = append(h.Grid, gridLine{Y: h.Base - float64(n)*scale, Count: n})
	}
	const left = 34.0
	slot := (histWidth - left) / float64(len(edges))
	for i, n := range counts {
		b := bar{Label: edges[i].label, Count: n, W: slot * 0.72, H: float64(n) * scale}
		b.X = left + float64(i)*slot + slot*0.14
		b.Y = h.Base - b.H
		b.Middle, b.LabelY, b.CountY = b.X+b.W/2, h.Base+16, b.Y-5
		if len(latencies) > 0 {
			b.Share = 100 * float64(n) / float64(len(latencies))
		}
		h.Bars = append(h.Bars, b)
	}
	return h
}

// niceCeil rounds up to 1, 2, 4 or 8 times a power of ten.
func niceCeil(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, f := range []int{1, 2, 4, 8} {
			if f*unit >= n {
				return f * unit
			}
		}
	}
}

// desks is the drawing of value at risk: a bar for each desk, split by class.
type desks struct {
	Classes []class
	Rows    []deskRow
	Height  float64
	Width   float64
	Right   float64
}

type class struct {
	Name  string
	Color int // of the palette, from 0
	Total float64
}

type deskRow struct {
	Desk   string
	Trades int64
	Total  float64
	Y      float64
	TextY  float64
	End    float64
	Parts  []deskPart
}

type deskPart struct {
	Class  string
	Color  int
	VaR    float64
	Trades int64
	X, W   float64
}

// The drawing of desks, in units of its view box.
const (
	deskLeft  = 44.0
	deskWidth = 480.0
	deskRight = 152.0 // room for the totals
	deskPitch = 38.0
)

func newDesks(cells []DeskVaR) desks {
	d := desks{Width: deskWidth, Right: deskWidth - deskRight}
	colors := map[string]int{}
	totals := map[string]float64{}
	rows := map[string]*deskRow{}
	for _, c := range cells {
		totals[c.Class] += c.VaR
		r := rows[c.Desk]
		if r == nil {
			r = &deskRow{Desk: c.Desk}
			rows[c.Desk] = r
		}
		r.Trades += c.Trades
		r.Total += c.VaR
		r.Parts = append(r.Parts, deskPart{Class: c.Class, VaR: c.VaR, Trades: c.Trades})
	}
	for name, total := range totals {
		d.Classes = append(d.Classes, class{Name: name, Total: total})
	}
	slices.SortFunc(d.Classes, func(a, b class) int { return cmp.Compare(a.Name, b.Name) })
	for i := range d.Classes {
		d.Classes[i].Color = i % 6
		colors[d.Classes[i].Name] = i % 6
	}
	largest := 0.0
	for _, r := range rows {
		d.Rows = append(d.Rows, *r)
		largest = max(largest, r.Total)
	}
	slices.SortFunc(d.Rows, func(a, b deskRow) int { return cmp.Compare(b.Total, a.Total) })
	for i := range d.Rows {
		d.Rows[i].place(i, (d.Right-deskLeft)/max(largest, 1), colors)
	}
	d.Height = float64(len(d.Rows))*deskPitch + 6
	return d
}

// place lays out row i of the drawing.
func (r *deskRow) place(i int, scale float64, colors map[string]int) {
	r.Y = 6 + float64(i)*deskPitch
	r.TextY = r.Y + 19
	slices.SortFunc(r.Parts, func(a, b deskPart) int { return cmp.Compare(a.Class, b.Class) })
	x := deskLeft
	for j := range r.Parts {
		p := &r.Parts[j]
		p.Color, p.X, p.W = colors[p.Class], x, max(p.VaR*scale-1.5, 0)
		x += p.VaR * scale
	}
	r.End = x + 8
}
