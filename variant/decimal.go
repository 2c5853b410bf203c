package variant

import (
	"math/big"
	"math/bits"
)

// Decimal is a number of at most 38 digits: a coefficient in 128-bit two's
// complement, and the count of digits after the point.
//
//	value = (Hi << 64 + Lo) / 10^Scale
type Decimal struct {
	Lo    uint64
	Hi    int64
	Scale uint8 // 0..38
}

// MaxPrecision is the number of digits a decimal may have.
const MaxPrecision = 38

// pow10 holds the powers of ten that fit 64 bits.
var pow10 = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// DecimalOf returns x as a decimal without fraction.
func DecimalOf(x int64) Decimal { return Decimal{Lo: uint64(x), Hi: x >> 63} }

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int {
	switch {
	case d.Hi < 0:
		return -1
	case d.Hi == 0 && d.Lo == 0:
		return 0
	}
	return 1
}

// abs returns the magnitude of the coefficient.
func (d Decimal) abs() (hi, lo uint64) {
	if d.Hi >= 0 {
		return uint64(d.Hi), d.Lo
	}
	lo, carry := bits.Add64(^d.Lo, 1, 0)
	hi, _ = bits.Add64(^uint64(d.Hi), 0, carry)
	return hi, lo
}

// decimalOf returns the decimal with a magnitude below 2^127 and a sign.
func decimalOf(neg bool, hi, lo uint64, scale uint8) Decimal {
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	return Decimal{Lo: lo, Hi: int64(hi), Scale: scale}
}

// Precision returns the number of digits of the coefficient, 1 for zero
// (VariantEncoding.md, "The implied precision of a decimal value").
func (d Decimal) Precision() int {
	hi, lo := d.abs()
	n := 0
	for hi != 0 {
		hi, lo, _ = div128(hi, lo, 1e9)
		n += 9
	}
	return n + digits64(lo)
}

// digits64 returns the count of decimal digits of x, 1 for zero.
func digits64(x uint64) int {
	n := (bits.Len64(x|1) * 1233) >> 12
	if n < len(pow10) && (x|1) >= pow10[n] {
		n++
	}
	return n
}

// kind returns the smallest decimal kind for d. Its scale counts as digits:
// 0.0000000001 is a decimal8. The encoding's table of implied precisions would let it
// be a decimal4, but Spark and arrow-rs refuse one with a scale above 9.
func (d Decimal) kind() Kind {
	switch k := d.digitsKind(); {
	case d.Scale > 18:
		return KindDecimal16
	case d.Scale > 9:
		return max(k, KindDecimal8)
	default:
		return k
	}
}

// digitsKind returns the smallest decimal kind that holds d's digits.
func (d Decimal) digitsKind() Kind {
	hi, lo := d.abs()
	switch {
	case hi == 0 && lo < 1e9:
		return KindDecimal4
	case hi == 0 && lo < 1e18:
		return KindDecimal8
	}
	return KindDecimal16
}

// Trim returns d without trailing zeros after the point: 1.50 becomes 1.5.
func (d Decimal) Trim() Decimal {
	hi, lo := d.abs()
	neg := d.Hi < 0
	for d.Scale > 0 {
		qh, ql, r := div128(hi, lo, 10)
		if r != 0 {
			break
		}
		hi, lo, d.Scale = qh, ql, d.Scale-1
	}
	return decimalOf(neg, hi, lo, d.Scale)
}

// Int64 returns d if it is a whole number within 64 bits.
func (d Decimal) Int64() (int64, bool) {
	d = d.Trim()
	if d.Scale != 0 || d.Hi != int64(d.Lo)>>63 {
		return 0, false
	}
	return int64(d.Lo), true
}

// Rescale returns d with the given scale, if no digit other than zero is lost
// and 38 digits suffice.
func (d Decimal) Rescale(scale uint8) (Decimal, bool) {
	hi, lo := d.abs()
	neg := d.Hi < 0
	for ; d.Scale > scale; d.Scale-- {
		var r uint64
		if hi, lo, r = div128(hi, lo, 10); r != 0 {
			return Decimal{}, false
		}
	}
	for ; d.Scale < scale; d.Scale++ {
		var ok bool
		if hi, lo, ok = mul128(hi, lo, 10); !ok || !fits38(hi, lo) {
			return Decimal{}, false
		}
	}
	return decimalOf(neg, hi, lo, scale), true
}

// Cmp compares by value, whatever the scales.
func (d Decimal) Cmp(e Decimal) int {
	if a, b := d.Sign(), e.Sign(); a != b || a == 0 {
		return a - b
	}
	if d.Scale == e.Scale {
		return cmp128(d.Hi, d.Lo, e.Hi, e.Lo)
	}
	x, okx := d, true
	y, oky := e, true
	if d.Scale < e.Scale {
		x, okx = d.Rescale(e.Scale)
	} else {
		y, oky = e.Rescale(d.Scale)
	}
	switch {
	case okx && oky:
		return cmp128(x.Hi, x.Lo, y.Hi, y.Lo)
	case okx: // e has more digits than any decimal of d's scale
		return -e.Sign()
	}
	return d.Sign()
}

func cmp128(ah int64, al uint64, bh int64, bl uint64) int {
	switch {
	case ah < bh || ah == bh && al < bl:
		return -1
	case ah == bh && al == bl:
		return 0
	}
	return 1
}

// Big returns the coefficient as a big integer.
func (d Decimal) Big() *big.Int {
	hi, lo := d.abs()
	x := new(big.Int).SetUint64(hi)
	x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(lo))
	if d.Hi < 0 {
		x.Neg(x)
	}
	return x
}

// max38 = 10^38 - 1, the largest coefficient.
const (
	max38Hi = 0x4b3b4ca85a86c47a
	max38Lo = 0x098a223fffffffff
)

// fits38 reports whether a magnitude has at most 38 digits.
func fits38(hi, lo uint64) bool {
	return hi < max38Hi || hi == max38Hi && lo <= max38Lo
}

// div128 divides by a divisor of 64 bits.
func div128(hi, lo, d uint64) (qh, ql, r uint64) {
	qh, r = hi/d, hi%d
	ql, r = bits.Div64(r, lo, d)
	return qh, ql, r
}

// mul128 multiplies; ok is false when the product exceeds 128 bits.
func mul128(hi, lo, m uint64) (ph, pl uint64, ok bool) {
	c, pl := bits.Mul64(lo, m)
	o, ph := bits.Mul64(hi, m)
	ph, carry := bits.Add64(ph, c, 0)
	return ph, pl, o == 0 && carry == 0
}
