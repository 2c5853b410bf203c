package iceberg

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// maxLiteralExponent bounds the decimal exponent of a numeric literal, so that
// its exact value stays small.
const maxLiteralExponent = 400

// number is a numeric literal: exactly coef / 10^scale, and the nearest double.
type number struct {
	coef  *big.Int
	scale int // may be negative
	f     float64
}

// parseNumber reads unsigned digits with an optional fraction and exponent.
func parseNumber(text string, negative bool) (number, error) {
	mantissa, exp := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa = text[:i]
		e, err := strconv.Atoi(text[i+1:])
		if err != nil || e > maxLiteralExponent || e < -maxLiteralExponent {
			return number{}, errors.New("the exponent of " + text + " is out of range")
		}
		exp = e
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	if len(whole)+len(frac) > 1000 {
		return number{}, errors.New("a number of more than 1000 digits")
	}
	coef, ok := new(big.Int).SetString(whole+frac, 10)
	if !ok {
		return number{}, errors.New(text + " is not a number")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return number{}, errors.New(text + " is not a number")
	}
	if negative {
		coef.Neg(coef)
		f = -f
	}
	return number{coef: coef, scale: len(frac) - exp, f: f}, nil
}

// parseNumberText reads a number from a text literal that stands beside a
// numeric column.
func parseNumberText(text string) (number, bool) {
	text = strings.TrimSpace(text)
	rest := strings.TrimLeft(text, "+-")
	if len(text)-len(rest) > 1 || rest == "" || numberLength(rest) != len(rest) || rest == "." {
		return number{}, false
	}
	n, err := parseNumber(rest, strings.HasPrefix(text, "-"))
	return n, err == nil
}

// floor returns the largest whole number of units of 10^-scale that is not above
// n, and whether it equals n.
func (n number) floor(scale int) (*big.Int, bool) {
	shift := scale - n.scale
	if shift >= 0 {
		return new(big.Int).Mul(n.coef, pow10(shift)), true
	}
	q, r := new(big.Int).DivMod(n.coef, pow10(-shift), new(big.Int))
	return q, r.Sign() == 0
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func (n number) String() string {
	if n.scale <= 0 {
		return new(big.Int).Mul(n.coef, pow10(-n.scale)).String()
	}
	digits := new(big.Int).Abs(n.coef).String()
	if len(digits) <= n.scale {
		digits = strings.Repeat("0", n.scale-len(digits)+1) + digits
	}
	sign := ""
	if n.coef.Sign() < 0 {
		sign = "-"
	}
	return sign + digits[:len(digits)-n.scale] + "." + digits[len(digits)-n.scale:]
}
