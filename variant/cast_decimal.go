package variant

import (
	"math/bits"
	"strconv"
)

// tens holds the powers of ten that 38 digits need, as high and low words.
var tens = func() (t [MaxPrecision + 1][2]uint64) {
	hi, lo := uint64(0), uint64(1)
	for i := range t {
		t[i] = [2]uint64{hi, lo}
		hi, lo, _ = mul128(hi, lo, 10)
	}
	return t
}()

// fitsPrecision reports whether d's coefficient has at most precision digits.
func fitsPrecision(d Decimal, precision int) bool {
	hi, lo := d.abs()
	limit := &tens[min(precision, MaxPrecision)]
	return hi < limit[0] || hi == limit[0] && lo < limit[1]
}

// shrink divides a magnitude by 10^n, cutting off.
func shrink(hi, lo uint64, n int) (uint64, uint64) {
	for ; n > 0 && hi|lo != 0; n -= 19 {
		hi, lo, _ = div128(hi, lo, pow10[min(n, 19)])
	}
	return hi, lo
}

// roundDecimal returns d at another scale, rounded half up (away from zero), and
// false when more than 38 digits would be needed.
func roundDecimal(d Decimal, scale int) (Decimal, bool) {
	drop := int(d.Scale) - scale
	if drop == 0 {
		return d, true
	}
	neg := d.Hi < 0
	hi, lo := d.abs()
	if drop > 0 {
		// The first digit that goes decides alone.
		hi, lo = shrink(hi, lo, drop-1)
		var carry uint64
		lo, carry = bits.Add64(lo, 5, 0)
		hi, lo = shrink(hi+carry, lo, 1)
		return decimalOf(neg, hi, lo, uint8(scale)), true
	}
	for drop = -drop; drop > 0; drop -= 19 {
		var ok bool
		if hi, lo, ok = mul128(hi, lo, pow10[min(drop, 19)]); !ok || !fits38(hi, lo) {
			return Decimal{}, false
		}
	}
	return decimalOf(neg, hi, lo, uint8(scale)), true
}

// truncDecimal returns the whole part of d if 64 bits hold it.
func truncDecimal(d Decimal) (int64, bool) {
	hi, lo := d.abs()
	hi, lo = shrink(hi, lo, int(d.Scale))
	w := decimalOf(d.Hi < 0, hi, lo, 0)
	return int64(w.Lo), w.Hi == int64(w.Lo)>>63
}

// decimalMicros returns d seconds in whole microseconds, cut off.
func decimalMicros(d Decimal) (int64, bool) {
	hi, lo := d.abs()
	if d.Scale > 6 {
		hi, lo = shrink(hi, lo, int(d.Scale)-6)
	} else {
		var ok bool
		if hi, lo, ok = mul128(hi, lo, pow10[6-d.Scale]); !ok || hi > 1<<62 {
			return 0, false
		}
	}
	w := decimalOf(d.Hi < 0, hi, lo, 0)
	return int64(w.Lo), w.Hi == int64(w.Lo)>>63
}

// decimalFloat returns the float of the given bits that is nearest to d.
//
// A coefficient and a power of ten that the mantissa holds exactly give the
// right answer by one division; everything else goes by its text.
func decimalFloat(d Decimal, bitSize int) float64 {
	hi, lo := d.abs()
	if hi == 0 {
		switch {
		case bitSize == 64 && lo < 1<<53 && d.Scale <= 22:
			return signed(float64(lo)/exactPow10[d.Scale], d.Hi < 0)
		case bitSize == 32 && lo < 1<<24 && d.Scale <= 10:
			return signed(float64(float32(lo)/float32(exactPow10[d.Scale])), d.Hi < 0)
		}
	}
	var buf [64]byte
	text := appendMagnitude(buf[:0], hi, lo)
	text = append(text, 'e', '-')
	text = strconv.AppendUint(text, uint64(d.Scale), 10)
	x, _ := strconv.ParseFloat(string(text), bitSize)
	return signed(x, d.Hi < 0)
}

func signed(x float64, neg bool) float64 {
	if neg {
		return -x
	}
	return x
}

// appendMagnitude appends the digits of hi, lo.
func appendMagnitude(dst []byte, hi, lo uint64) []byte {
	if hi == 0 {
		return strconv.AppendUint(dst, lo, 10)
	}
	qh, ql, r := div128(hi, lo, pow10[19])
	dst = appendMagnitude(dst, qh, ql)
	for p := 18; p >= 0; p-- {
		dst = append(dst, byte('0'+r/pow10[p]%10))
	}
	return dst
}
