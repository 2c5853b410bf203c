package main

import (
	"encoding/json"

	arrowvariant "github.com/apache/arrow-go/v18/parquet/variant"

	"github.com/frazil/frazil/internal/tradegen"
	"github.com/frazil/frazil/variant"
)

type breakdown struct {
	ByRegion struct {
		AMER float64 `variant:"AMER" json:"AMER"`
		APAC float64 `variant:"APAC" json:"APAC"`
		EMEA float64 `variant:"EMEA" json:"EMEA"`
	} `variant:"by_region" json:"by_region"`
	BySector struct {
		Energy      float64 `variant:"energy" json:"energy"`
		Financials  float64 `variant:"financials" json:"financials"`
		Healthcare  float64 `variant:"healthcare" json:"healthcare"`
		Industrials float64 `variant:"industrials" json:"industrials"`
		Technology  float64 `variant:"technology" json:"technology"`
		Utilities   float64 `variant:"utilities" json:"utilities"`
	} `variant:"by_sector" json:"by_sector"`
}

// equity is the first of the three shapes of pricing vectors.
type equity struct {
	Model  string  `variant:"model" json:"model"`
	Spot   float64 `variant:"spot" json:"spot"`
	Greeks struct {
		Delta float64 `variant:"delta" json:"delta"`
		Gamma float64 `variant:"gamma" json:"gamma"`
		Vega  float64 `variant:"vega" json:"vega"`
		Theta float64 `variant:"theta" json:"theta"`
		Rho   float64 `variant:"rho" json:"rho"`
	} `variant:"greeks" json:"greeks"`
	Scenarios []struct {
		Name      string    `variant:"name" json:"name"`
		PnL       float64   `variant:"pnl" json:"pnl"`
		Breakdown breakdown `variant:"breakdown" json:"breakdown"`
	} `variant:"scenarios" json:"scenarios"`
	ModelParams struct {
		Calibration struct {
			FitError   float64 `variant:"fit_error" json:"fit_error"`
			Iterations int     `variant:"iterations" json:"iterations"`
			Converged  bool    `variant:"converged" json:"converged"`
		} `variant:"calibration" json:"calibration"`
	} `variant:"model_params" json:"model_params"`
	DividendYield float64 `variant:"dividend_yield" json:"dividend_yield"`
}

// equities returns the pricing vectors of the first shape.
func equities(n int) (out []equity, err error) {
	for _, text := range tradegen.PricingVectors(n, 1) {
		var x equity
		if err := json.Unmarshal(text, &x); err != nil {
			return nil, err
		}
		if x.Model == "BlackScholes" {
			out = append(out, x)
		}
	}
	return out, nil
}

// measureStructs compares Go structs to Variants and back. arrow-go has no way into a
// struct: reading all values is the least that one would cost.
func measureStructs(rounds int) ([]*table, error) {
	rows, err := equities(600)
	if err != nil {
		return nil, err
	}
	c := corpus{name: "pricing vectors, first shape", docs: make([][]byte, len(rows)), size: 600 * len(rows)}
	var ours []variant.Value
	var theirs []arrowvariant.Value
	for i := range rows {
		v, err := variant.Marshal(&rows[i])
		if err != nil {
			return nil, err
		}
		a, err := arrowvariant.New(v.Metadata(), v.Bytes())
		if err != nil {
			return nil, err
		}
		ours, theirs = append(ours, v), append(theirs, a)
	}
	in, out := &table{title: "struct to Variant"}, &table{title: "Variant to struct"}
	in.measure(structEncoders(rows), c, rounds)
	out.measure(structDecoders(ours, theirs), c, rounds)
	return []*table{in, out}, nil
}

func structEncoders(rows []equity) []work {
	builder := variant.NewBuilder()
	return []work{
		{name: "frazil Marshal", run: func() error {
			for i := range rows {
				if _, err := variant.Marshal(&rows[i]); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "frazil EmitGo, reused Builder", run: func() error {
			for i := range rows {
				builder.Reset()
				if err := variant.EmitGo(&rows[i], builder); err != nil {
					return err
				}
				if _, err := builder.Value(); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "arrow-go Append", run: func() error {
			for i := range rows {
				var b arrowvariant.Builder // one that is reset writes ever larger metadata
				if err := b.Append(&rows[i]); err != nil {
					return err
				}
				if _, err := b.Build(); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

func structDecoders(ours []variant.Value, theirs []arrowvariant.Value) []work {
	var x equity
	return []work{
		{name: "frazil Unmarshal", run: func() error {
			for _, v := range ours {
				if err := variant.Unmarshal(v, &x); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "arrow-go, all values read", run: func() error {
			for _, v := range theirs {
				found += goValue(v)
			}
			return nil
		}},
		{name: "arrow-go MarshalJSON, json.Unmarshal", run: func() error {
			for _, v := range theirs {
				text, err := v.MarshalJSON()
				if err != nil {
					return err
				}
				if err := json.Unmarshal(text, &x); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// goValue reads every value in an arrow-go value.
func goValue(v arrowvariant.Value) int {
	n := 1
	switch x := v.Value().(type) {
	case arrowvariant.ObjectValue:
		for _, e := range x.Values() {
			n += goValue(e)
		}
	case arrowvariant.ArrayValue:
		for e := range x.Values() {
			n += goValue(e)
		}
	}
	return n
}
