// Package risk computes the value at risk of single trades by historical
// simulation: 1,000 daily profit-and-loss scenarios a trade, of which the 99th
// percentile loss is reported. The scenarios depend on the seed and the trade's
// id alone, so a trade has the same figure in every run, batch and order.
//
// # Model
//
// A scenario is one standard normal move z of the trade's risk factors; the
// trade's profit is sigma*z. Sigma combines independent sensitivities:
//
//	sigma = (1 + fit error) * sqrt((delta*unit*vol)^2 + (dv01*move)^2 + (sector/stress)^2)
//
// The constants below are daily moves of an ordinary market. A sensitivity that
// is null adds nothing; a trade without any has a null result.
//
// # Method
//
// The loss exceeded in exactly ten of 1,000 scenarios is the eleventh largest.
// As sigma*z rises with z, and z with the uniform number it is drawn from, the
// eleventh largest loss belongs to the eleventh smallest uniform: the selection
// happens on raw random integers, and one inverse of the normal distribution is
// taken for each trade instead of a thousand. Every scenario is drawn; none is
// replaced by the distribution of the tail.
package risk

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/frazil/frazil/udf"
)

const (
	// deltaUnit is the amount that one unit of delta stands for.
	deltaUnit = 1_000_000
	// equityVol and fxVol are daily standard deviations of returns.
	equityVol = 0.015
	fxVol     = 0.006
	// rateMove is the daily standard deviation of a rate, in basis points.
	rateMove = 6
	// sectorStress is how many standard deviations the sector scenarios of a
	// pricing vector are.
	sectorStress = 10
)

// VaR99 is the function var99(trade_id, model, delta, financials, fit_error,
// dv01): the 99th percentile one-day loss, a positive number. delta counts in
// units of a million, dv01 is the change of value per basis point, financials
// the profit of the financials sector in the trade's first scenario.
func VaR99(seed uint64) *udf.Scalar {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64
	in := []arrow.DataType{text, text, number, number, number, number}
	return udf.NewScalar("var99", in, number, func(c *udf.Call, rows int, args []arrow.Array) (arrow.Array, error) {
		ids, models := args[0].(*array.String), args[1].(*array.String)
		var f [4]*array.Float64
		for i := range f {
			f[i] = args[i+2].(*array.Float64)
		}
		out := array.NewFloat64Builder(c.Mem)
		defer out.Release()
		out.Reserve(rows)
		for i := range rows {
			if i%1024 == 0 {
				if err := c.Context().Err(); err != nil {
					return nil, err
				}
			}
			if ids.IsNull(i) || f[0].IsNull(i) && f[1].IsNull(i) && f[3].IsNull(i) {
				out.AppendNull()
				continue
			}
			s := sigma(models.IsValid(i) && models.Value(i) == "SABR",
				orZero(f[0], i), orZero(f[1], i), orZero(f[2], i), orZero(f[3], i))
			out.UnsafeAppend(-s * tail(state(seed, ids.Value(i))))
		}
		return out.NewArray(), nil
	})
}

func orZero(a *array.Float64, i int) float64 {
	if a.IsNull(i) {
		return 0
	}
	return a.Value(i)
}

// sigma is the standard deviation of a trade's daily profit.
func sigma(fx bool, delta, financials, fitError, dv01 float64) float64 {
	vol := equityVol
	if fx {
		vol = fxVol
	}
	d, r, s := delta*deltaUnit*vol, dv01*rateMove, financials/sectorStress
	return (1 + math.Abs(fitError)) * math.Sqrt(d*d+r*r+s*s)
}
