package tradegen

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// Asset classes of a trade.
const (
	Equity = "EQUITY"
	Rates  = "RATES"
	FX     = "FX"
)

// Options shape the events. The zero value is the default.
type Options struct {
	// Start is the first trade date; the zero value means 2026-07-01.
	Start time.Time
	// Days is the number of business days over which the trades spread; 0 means 5.
	Days int
	// Bad is the share of malformed or incomplete events, 0 to 1. They are
	// spread evenly, so that n events hold n*Bad of them, give or take one.
	Bad float64
}

// Trade describes an event beside its bytes. Its strings are constants or
// freshly made; they stay valid.
type Trade struct {
	ID         string // also the Kafka key
	AssetClass string
	Desk       string
	Notional   float64
	// Bad says that the event must not become a row.
	Bad bool
}

// Gen makes events one after another. It is not safe for concurrent use.
type Gen struct {
	pcg   rand.PCG
	rng   *rand.Rand
	dates []string
	bad   float64
	debt  float64 // share of a bad event that is due; one whole makes the next event bad
	next  int
	vec   []byte
}

// New returns a generator of events. The seed and the options determine every
// byte that it makes.
func New(seed uint64, o Options) *Gen {
	g := &Gen{bad: min(max(o.Bad, 0), 1), dates: businessDays(o.Start, o.Days)}
	g.pcg.Seed(seed, 0x9e3779b97f4a7c15)
	g.rng = rand.New(&g.pcg)
	g.debt = g.rng.Float64()
	return g
}

// businessDays lists n dates from start on, weekends left out.
func businessDays(start time.Time, n int) []string {
	if start.IsZero() {
		start = time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)
	}
	if n <= 0 {
		n = 5
	}
	var dates []string
	for d := start; len(dates) < n; d = d.AddDate(0, 0, 1) {
		if wd := d.Weekday(); wd != time.Saturday && wd != time.Sunday {
			dates = append(dates, d.Format(time.DateOnly))
		}
	}
	return dates
}

// AppendNext appends the next event, one JSON object without a line end, to
// dst and describes it.
func (g *Gen) AppendNext(dst []byte) ([]byte, Trade) {
	t := g.header()
	if g.debt += g.bad; g.debt >= 1 && g.bad > 0 {
		g.debt--
		t.Bad = true
		return g.appendBad(dst, &t), t
	}
	return g.appendEvent(dst, &t, ""), t
}

// Notional is log-normal with P(X > 25e6) = 2 % and P(X > 50e6) = 0.5 %:
// sigma = ln 2 / (z(0.995) - z(0.98)), mu = ln 25e6 - z(0.98) sigma.
const (
	notionalSigma = 1.3276
	notionalMu    = 14.3079
)

// header draws what identifies and weighs a trade.
func (g *Gen) header() Trade {
	t := Trade{ID: string(appendPadded([]byte{'T'}, g.next, 9))}
	g.next++
	switch p := g.rng.Float64(); {
	case p < 0.40:
		t.AssetClass, t.Desk = Equity, g.pick("EQD", "EQD", "EQD", "EXO")
	case p < 0.75:
		t.AssetClass, t.Desk = Rates, g.pick("IRD", "IRD", "IRD", "IRD", "EXO")
	default:
		t.AssetClass, t.Desk = FX, g.pick("FXO", "FXO", "FXO", "FXO", "FXO", "EXO")
	}
	notional := math.Exp(notionalMu + float64(notionalSigma*g.rng.NormFloat64()))
	t.Notional = math.Round(min(notional, 1e9)*100) / 100
	return t
}

// appendEvent writes the whole event but the field named omit.
func (g *Gen) appendEvent(dst []byte, t *Trade, omit string) []byte {
	date := g.dates[g.rng.IntN(len(g.dates))]
	dst = append(dst, '{')
	field := func(name, value string) {
		if name == omit {
			return
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, name), ':')
		dst = appendString(dst, value)
	}
	field("trade_id", t.ID)
	field("book_id", string(appendPadded([]byte("BK"), g.rng.IntN(200), 4)))
	field("desk", t.Desk)
	field("asset_class", t.AssetClass)
	field("execution_time", g.executionTime(date))
	field("trade_date", date)
	if omit != "notional" {
		dst = append(dst, `,"notional":`...)
		dst = appendFixed(dst, int64(math.Round(t.Notional*100)), 2)
	}
	// Half of the producers leave the region to the table's default, and most
	// of them the weight.
	if g.rng.IntN(2) == 0 {
		field("region", g.pick("EMEA", "EMEA", "AMER", "APAC"))
	}
	if g.rng.IntN(4) == 0 {
		dst = append(dst, `,"risk_weight":`...)
		dst = g.fixed(dst, 50, 150, 2)
	}
	if omit != "pricing_vector" {
		dst = append(dst, `,"pricing_vector":`...)
		dst = g.appendVector(dst, t.AssetClass)
	}
	return append(dst, '}')
}

// executionTime is a time of the trading day, 07:00 to 18:00 UTC.
func (g *Gen) executionTime(date string) string {
	ms := 7*3600_000 + g.rng.IntN(11*3600_000)
	b := append([]byte(date), 'T')
	b = append(appendPadded(b, ms/3600_000, 2), ':')
	b = append(appendPadded(b, ms/60_000%60, 2), ':')
	b = append(appendPadded(b, ms/1000%60, 2), '.')
	return string(append(appendPadded(b, ms%1000, 3), 'Z'))
}

// PricingVectors returns the pricing vectors of the first n events of a seed,
// one JSON object each.
func PricingVectors(n int, seed uint64) [][]byte {
	g := New(seed, Options{})
	out := make([][]byte, n)
	for i := range out {
		t := g.header()
		g.vec = g.appendVector(g.vec[:0], t.AssetClass)
		out[i] = append([]byte(nil), g.vec...)
	}
	return out
}

func (g *Gen) pick(options ...string) string { return options[g.rng.IntN(len(options))] }

// fixed appends a number drawn evenly from lo to hi, both in units of
// 10^-scale.
func (g *Gen) fixed(dst []byte, lo, hi int64, scale int) []byte {
	return appendFixed(dst, lo+g.rng.Int64N(hi-lo+1), scale)
}

// appendFixed writes v * 10^-scale with trailing zeros trimmed to one digit.
func appendFixed(dst []byte, v int64, scale int) []byte {
	if v < 0 {
		dst, v = append(dst, '-'), -v
	}
	unit := int64(1)
	for range scale {
		unit *= 10
	}
	dst = append(strconv.AppendInt(dst, v/unit, 10), '.')
	from := len(dst)
	dst = appendPadded(dst, int(v%unit), scale)
	for len(dst) > from+1 && dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendPadded writes v with leading zeros to the given width.
func appendPadded(dst []byte, v, width int) []byte {
	from := len(dst)
	for range width {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= from; i, v = i-1, v/10 {
		dst[i] = byte('0' + v%10)
	}
	return dst
}

// appendString writes a string that needs no escapes.
func appendString(dst []byte, s string) []byte {
	dst = append(append(dst, '"'), s...)
	return append(dst, '"')
}
