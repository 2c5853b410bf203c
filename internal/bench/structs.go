package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

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
// struct, so that goStruct has to be it; reading all values is the least that any
// would cost.
func measureStructs(rounds int) ([]*table, error) {
	rows, err := equities(600)
	if err != nil {
		return nil, err
	}
	c := corpus{name: "pricing vectors, first shape", docs: make([][]byte, len(rows)), size: 600 * len(rows)}
	ours, theirs, err := encodeStructs(rows)
	if err != nil {
		return nil, err
	}
	in, out := &table{title: "struct to Variant"}, &table{title: "Variant to struct"}
	in.measure(structEncoders(rows), c, rounds)
	out.measure(structDecoders(ours, theirs), c, rounds)
	return []*table{in, out}, nil
}

// encodeStructs returns the same bytes as values of both libraries.
func encodeStructs(rows []equity) (ours []variant.Value, theirs []arrowvariant.Value, err error) {
	for i := range rows {
		v, err := variant.Marshal(&rows[i])
		if err != nil {
			return nil, nil, err
		}
		a, err := arrowvariant.New(v.Metadata(), v.Bytes())
		if err != nil {
			return nil, nil, err
		}
		ours, theirs = append(ours, v), append(theirs, a)
	}
	return ours, theirs, nil
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
		{name: "arrow-go values, reflection", run: func() error {
			for _, v := range theirs {
				if err := goStruct(v, reflect.ValueOf(&x).Elem()); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "arrow-go values" + scanAlone, run: func() error {
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

// goStruct stores an arrow-go value in a Go variable: fields by name, slices reused,
// texts copied, as Unmarshal does. Numbers convert without a check.
func goStruct(v arrowvariant.Value, dst reflect.Value) error {
	switch x := v.Value().(type) {
	case nil:
		return nil
	case bool:
		dst.SetBool(x)
	case string:
		dst.SetString(strings.Clone(x)) // theirs is a view
	case float64:
		dst.SetFloat(x)
	case int8:
		dst.SetInt(int64(x))
	case int16:
		dst.SetInt(int64(x))
	case int32:
		dst.SetInt(int64(x))
	case int64:
		dst.SetInt(x)
	case arrowvariant.ArrayValue:
		return goSlice(x, dst)
	case arrowvariant.ObjectValue:
		fields := fieldsByTag(dst.Type())
		for name, e := range x.Values() {
			if i, ok := fields[name]; ok {
				if err := goStruct(e, dst.Field(i)); err != nil {
					return err
				}
			}
		}
	default:
		return fmt.Errorf("a %T into a %v", x, dst.Type())
	}
	return nil
}

func goSlice(x arrowvariant.ArrayValue, dst reflect.Value) error {
	n := int(x.Len())
	if dst.Cap() < n {
		dst.Set(reflect.MakeSlice(dst.Type(), n, n))
	}
	dst.SetLen(n)
	i := 0
	for e := range x.Values() {
		dst.Index(i).SetZero()
		if err := goStruct(e, dst.Index(i)); err != nil {
			return err
		}
		i++
	}
	return nil
}

// tagged keeps the fields of struct types by their names in tags.
var tagged = map[reflect.Type]map[string]int{}

func fieldsByTag(typ reflect.Type) map[string]int {
	fields := tagged[typ]
	if fields == nil {
		fields = map[string]int{}
		for i := range typ.NumField() {
			fields[typ.Field(i).Tag.Get("variant")] = i
		}
		tagged[typ] = fields
	}
	return fields
}
