package tradegen

import "strconv"

// appendVector writes the pricing vector of an asset class.
func (g *Gen) appendVector(dst []byte, class string) []byte {
	switch class {
	case Equity:
		return g.appendBlackScholes(dst)
	case Rates:
		return g.appendHullWhite(dst)
	default:
		return g.appendSABR(dst)
	}
}

func (g *Gen) appendBlackScholes(dst []byte) []byte {
	dst = append(dst, `{"model":"BlackScholes","spot":`...)
	dst = g.fixed(dst, 20_00, 900_00, 2)
	dst = append(dst, `,"greeks":{"delta":`...)
	dst = g.fixed(dst, -999_999, 999_999, 6)
	dst = append(dst, `,"gamma":`...)
	dst = g.fixed(dst, 1_000, 199_999, 6)
	dst = append(dst, `,"vega":`...)
	dst = g.fixed(dst, 500, 49_9999, 4)
	dst = append(dst, `,"theta":`...)
	dst = g.fixed(dst, -4_9999, -100, 4)
	dst = append(dst, `,"rho":`...)
	dst = g.fixed(dst, -9_9999, 9_9999, 4)
	dst = append(dst, `},"scenarios":[`...)
	for i := range 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = g.appendScenario(dst, i)
	}
	dst = append(dst, `],"model_params":{"calibration":{"fit_error":`...)
	dst = g.fixed(dst, 1_000, 999_999, 8)
	dst = append(dst, `,"iterations":`...)
	dst = strconv.AppendInt(dst, int64(5+g.rng.IntN(56)), 10)
	dst = append(dst, `,"converged":`...)
	dst = strconv.AppendBool(dst, g.rng.IntN(20) > 0)
	dst = append(dst, `}},"dividend_yield":`...)
	return append(g.fixed(dst, 0, 600, 4), '}')
}

var (
	regions = [...]string{"AMER", "EMEA", "APAC"}
	sectors = [...]string{"financials", "technology", "energy", "healthcare", "industrials", "utilities"}
)

func (g *Gen) appendScenario(dst []byte, i int) []byte {
	dst = append(dst, `{"name":"shock_`...)
	dst = strconv.AppendInt(dst, int64(i), 10)
	dst = append(dst, `","pnl":`...)
	dst = g.fixed(dst, -2_000_000_00, 2_000_000_00, 2)
	dst = append(dst, `,"breakdown":{"by_region":{`...)
	dst = g.appendAmounts(dst, regions[:])
	dst = append(dst, `},"by_sector":{`...)
	dst = g.appendAmounts(dst, sectors[:])
	return append(dst, "}}}"...)
}

// appendAmounts writes the members of an object of amounts below a million.
func (g *Gen) appendAmounts(dst []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, name), ':')
		dst = g.fixed(dst, -999_999_99, 999_999_99, 2)
	}
	return dst
}

var curveTenors = [...]string{"1M", "3M", "6M", "1Y", "2Y", "3Y", "5Y", "7Y", "10Y", "15Y", "20Y", "30Y"}

func (g *Gen) appendHullWhite(dst []byte) []byte {
	dst = append(dst, `{"model":"HullWhite","currency":`...)
	dst = appendString(dst, g.pick("USD", "EUR", "GBP", "JPY", "CHF"))
	dst = append(dst, `,"dv01":`...)
	dst = g.fixed(dst, -49_999_99, 49_999_99, 2)
	dst = append(dst, `,"convexity":`...)
	dst = g.fixed(dst, -99_9999, 99_9999, 4)
	dst = append(dst, `,"curve_sensitivities":{`...)
	for i, tenor := range curveTenors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, tenor), ':')
		dst = g.fixed(dst, -4_999_999, 4_999_999, 3)
	}
	dst = append(dst, `},"model_params":{"mean_reversion":`...)
	dst = g.fixed(dst, 100, 19_999, 5)
	dst = append(dst, `,"volatility":`...)
	dst = g.fixed(dst, 100, 29_999, 6)
	dst = append(dst, `,"calibration":{"fit_error":`...)
	dst = g.fixed(dst, 1_000, 999_999, 8)
	dst = append(dst, `,"iterations":`...)
	dst = strconv.AppendInt(dst, int64(5+g.rng.IntN(56)), 10)
	dst = append(dst, `,"instruments":`...)
	dst = append(dst, g.pick(`["swaption","cap"]`, `["swaption"]`)...)
	return append(dst, "}}}"...)
}

// fxPair is a currency pair and the range of its spot in units of 10^-5.
type fxPair struct {
	name   string
	lo, hi int64
}

var fxPairs = [...]fxPair{
	{"EURUSD", 1_04000, 1_16000},
	{"GBPUSD", 1_22000, 1_36000},
	{"USDJPY", 138_00000, 158_00000},
	{"USDCHF", 84000, 92000},
	{"AUDUSD", 62000, 69000},
	{"EURJPY", 155_00000, 172_00000},
	{"USDINR", 82_00000, 87_00000},
	{"USDMXN", 16_50000, 20_50000},
	{"EURSEK", 10_90000, 11_80000},
}

var surfaceTenors = [...]string{"1M", "3M", "6M", "1Y", "2Y", "3Y"}

func (g *Gen) appendSABR(dst []byte) []byte {
	pair := fxPairs[g.rng.IntN(len(fxPairs))]
	dst = append(dst, `{"model":"SABR","pair":`...)
	dst = appendString(dst, pair.name)
	dst = append(dst, `,"spot":`...)
	dst = g.fixed(dst, pair.lo, pair.hi, 5)
	dst = append(dst, `,"greeks":{"delta":`...)
	dst = g.fixed(dst, -999_999, 999_999, 6)
	dst = append(dst, `,"vega":`...)
	dst = g.fixed(dst, 500, 49_9999, 4)
	dst = append(dst, `},"vol_surface":[`...)
	for i, tenor := range surfaceTenors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"tenor":`...)
		dst = appendString(dst, tenor)
		dst = append(dst, `,"atm":`...)
		dst = g.fixed(dst, 5_000, 29_999, 5)
		dst = append(dst, `,"rr25":`...)
		dst = g.fixed(dst, -2_999, 2_999, 5)
		dst = append(dst, `,"bf25":`...)
		dst = append(g.fixed(dst, 10, 999, 5), '}')
	}
	dst = append(dst, `],"model_params":{"alpha":`...)
	dst = g.fixed(dst, 10, 9_999, 4)
	dst = append(dst, `,"beta":0.5,"calibration":{"fit_error":`...)
	dst = g.fixed(dst, 1_000, 999_999, 8)
	dst = append(dst, `,"iterations":`...)
	dst = strconv.AppendInt(dst, int64(5+g.rng.IntN(56)), 10)
	return append(dst, "}}}"...)
}
