package variant

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// pairs holds the two digits of each number below 100.
const pairs = "0001020304050607080910111213141516171819" +
	"2021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859" +
	"6061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

// extend makes dst longer by n bytes of any content.
func extend(dst []byte, n int) []byte {
	if cap(dst)-len(dst) < n {
		dst = append(dst, make([]byte, n)...)
		return dst
	}
	return dst[:len(dst)+n]
}

// putDigits writes the last n digits of x so that they end at b[end] and returns
// what is left of x.
func putDigits(b []byte, end, n int, x uint64) uint64 {
	for ; n >= 2; n -= 2 {
		q := x / 100
		r := (x - q*100) * 2
		b[end-1], b[end-2] = pairs[r+1], pairs[r]
		x, end = q, end-2
	}
	if n == 1 {
		q := x / 10
		b[end-1] = byte('0' + x - q*10)
		x = q
	}
	return x
}

// appendPadded appends x with at least n digits.
func appendPadded(dst []byte, x uint64, n int) []byte {
	n = max(n, digits64(x))
	dst = extend(dst, n)
	putDigits(dst, len(dst), n, x)
	return dst
}

func appendInt(dst []byte, x int64) []byte {
	sign := x >> 63
	mag := uint64((x ^ sign) - sign)
	if mag < 1e8 {
		return appendShort(dst, sign, uint32(mag), 0)
	}
	high := mag / 1e8
	if high < 1e8 {
		dst = appendShort(dst, sign, uint32(high), 0)
	} else {
		dst = appendShort(dst, sign, uint32(high/1e8), 0)
		dst = appendEight(dst, uint32(high%1e8))
	}
	return appendEight(dst, uint32(mag-high*1e8))
}

// appendEight appends x < 10^8 in eight digits.
func appendEight(dst []byte, x uint32) []byte {
	return binary.LittleEndian.AppendUint64(dst, eightDigits(x))
}

// appendSmallDecimal appends x / 10^scale without trailing zeros.
func appendSmallDecimal(dst []byte, x int64, scale uint8) []byte {
	sign := x >> 63
	mag := uint64((x ^ sign) - sign)
	if mag < 1e8 && scale < 8 {
		return appendShort(dst, sign, uint32(mag), int(scale))
	}
	if scale > 0 && scale <= 16 {
		if whole := mag / pow10[scale]; whole < 1e8 {
			if whole < 100 {
				dst = appendPair(dst, sign, int(whole))
			} else {
				dst = appendShort(dst, sign, uint32(whole), 0)
			}
			return appendFraction(dst, (mag-whole*pow10[scale])*pow10[16-scale])
		}
	}
	if x < 0 {
		dst = append(dst, '-')
	}
	for scale > 0 {
		q := mag / 10
		if q*10 != mag {
			break
		}
		mag, scale = q, scale-1
	}
	return appendPoint(dst, mag, int(scale))
}

// appendPair appends x < 100 with a sign of 0 or -1.
func appendPair(dst []byte, sign int64, x int) []byte {
	if sign != 0 {
		dst = append(dst, '-')
	}
	if x >= 10 {
		dst = append(dst, pairs[2*x])
	}
	return append(dst, pairs[2*x+1])
}

const asciiZeros = '0' * swarOnes

// eightDigits spells x < 10^8 in eight digits, the first one in the lowest byte:
// halves, quarters and eighths are split off side by side, by multiplications that
// stand for divisions by 100 and by 10.
func eightDigits(x uint32) uint64 {
	top := x / 10_000
	pairs4 := uint64(top) | uint64(x-top*10_000)<<32
	high := pairs4 * 10486 >> 20 & 0x7f_0000_007f
	pairs2 := (pairs4-100*high)<<16 | high
	tens := pairs2 * 103 >> 10 & 0x000f_000f_000f_000f
	return tens | (pairs2-10*tens)<<8 | asciiZeros
}

// appendShort appends a number of at most eight digits, scale of them behind the
// point, without trailing zeros; sign is 0 or -1. It has hardly a branch: how many
// digits numbers have is what a predictor cannot know. Words are written whole, and
// the rest cut off.
//
//	digits: 0 0 0 4 2 5 0 0    of 425.00 or, with scale 6, of 0.042500
//	              ^first   ^ trailing zeros
func appendShort(dst []byte, sign int64, mag uint32, scale int) []byte {
	at := len(dst)
	if cap(dst)-at < 24 {
		dst = slices.Grow(dst, 24)
	}
	out := dst[at : at+24]
	minus := int(-sign)
	digits := eightDigits(mag)
	out[0] = '-'
	text := out[minus&1:]
	used := 8 - bits.TrailingZeros64(digits^asciiZeros|1<<63)>>3
	used = max(used, scale+1)
	zeros := min(bits.LeadingZeros64(digits^asciiZeros|1)>>3, scale)
	whole, frac := used-scale, scale-zeros
	digits >>= uint(8*(8-used)) & 63
	binary.LittleEndian.PutUint64(text, digits)
	n := whole
	if frac > 0 {
		text[whole&15] = '.'
		binary.LittleEndian.PutUint64(text[whole&15+1:], digits>>(uint(8*whole)&63))
		n = whole + 1 + frac
	}
	return dst[:at+minus&1+n]
}

// appendFraction appends the point and x / 10^16, which is below 1, without trailing
// zeros; nothing if it is 0.
func appendFraction(dst []byte, x uint64) []byte {
	if x == 0 {
		return dst
	}
	at := len(dst)
	if cap(dst)-at < 24 {
		dst = slices.Grow(dst, 24)
	}
	out := dst[at : at+24]
	out[0] = '.'
	n := putSixteen(out[1:], x)
	return dst[:at+1+n]
}

// putSixteen writes the 16 digits of x < 10^16 and returns how many there are up to
// the last that is not 0.
func putSixteen(out []byte, x uint64) int {
	high := x / 1e8
	first, second := eightDigits(uint32(high)), eightDigits(uint32(x-high*1e8))
	binary.LittleEndian.PutUint64(out, first)
	binary.LittleEndian.PutUint64(out[8:], second)
	if second != asciiZeros {
		return 16 - bits.LeadingZeros64(second^asciiZeros)>>3
	}
	return 8 - bits.LeadingZeros64(first^asciiZeros)>>3
}

// appendPoint appends mag / 10^scale with all its digits.
func appendPoint(dst []byte, mag uint64, scale int) []byte {
	if scale == 0 {
		return appendPadded(dst, mag, 1)
	}
	whole := max(digits64(mag)-scale, 1)
	dst = extend(dst, whole+1+scale)
	end := len(dst)
	mag = putDigits(dst, end, scale, mag)
	dst[end-scale-1] = '.'
	putDigits(dst, end-scale-1, whole, mag)
	return dst
}

// appendTrimmed appends d without trailing zeros: 1.50 as 1.5, 1.0 as 1.
func (d Decimal) appendTrimmed(dst []byte) []byte {
	if d.Hi == int64(d.Lo)>>63 {
		return appendSmallDecimal(dst, int64(d.Lo), d.Scale)
	}
	return d.Trim().AppendText(dst)
}

// AppendText appends d in plain notation with all its Scale digits.
func (d Decimal) AppendText(dst []byte) []byte {
	hi, lo := d.abs()
	if d.Hi < 0 {
		dst = append(dst, '-')
	}
	if hi == 0 {
		return appendPoint(dst, lo, int(d.Scale))
	}
	var tmp [40]byte // of 128 bits at most 39 digits
	hi, lo, r := div128(hi, lo, 1e18)
	putDigits(tmp[:], 40, 18, r)
	_, lo, r = div128(hi, lo, 1e18)
	putDigits(tmp[:], 22, 18, r)
	putDigits(tmp[:], 4, 4, lo)
	point := len(tmp) - int(d.Scale)
	if point < 1 { // a scale that only unchecked bytes have
		dst = append(dst, "0."...)
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		return append(dst, tmp[:]...)
	}
	start := 0
	for start < point-1 && tmp[start] == '0' {
		start++
	}
	dst = append(dst, tmp[start:point]...)
	if d.Scale == 0 {
		return dst
	}
	return append(append(dst, '.'), tmp[point:]...)
}

// String returns d in plain notation with all its Scale digits.
func (d Decimal) String() string { return string(d.AppendText(nil)) }

// Float64 returns the double nearest to d.
func (d Decimal) Float64() float64 {
	hi, lo := d.abs()
	if hi == 0 && lo < 1<<53 && d.Scale <= 22 {
		// Both are exact doubles, so their quotient is rounded once.
		f := float64(lo) / exactPow10[d.Scale]
		if d.Hi < 0 {
			f = -f
		}
		return f
	}
	var tmp [96]byte
	f, _ := strconv.ParseFloat(string(d.AppendText(tmp[:0])), 64)
	return f
}

// exactPow10 holds the powers of ten that are doubles without rounding.
var exactPow10 = [23]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// appendFloat appends f, of 32 or 64 bits, as Java's Double.toString does: the
// fewest digits that read back as f, but two at least; plain from 10^-3 up to and
// without 10^7, else with one digit before the point and an E.
func appendFloat(dst []byte, f float64, size int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0 && math.Signbit(f):
		return append(dst, "-0.0"...)
	case f == 0:
		return append(dst, "0.0"...)
	}
	var tmp [32]byte
	if size == 64 {
		if e := shortDigits(&tmp, math.Abs(f)); e != nil {
			if f < 0 {
				dst = append(dst, '-')
			}
			return appendJava(dst, e)
		}
	}
	e := strconv.AppendFloat(tmp[:0], f, 'e', -1, size)
	if e[0] == '-' {
		dst = append(dst, '-')
		e = e[1:]
	}
	if e[1] != '.' {
		// One digit: of all numbers with two digits that read back as f, Java
		// takes the nearest, so 4.9E-324 instead of 5E-324.
		e = strconv.AppendFloat(tmp[:0], math.Abs(f), 'e', 1, size)
	}
	return appendJava(dst, e)
}

// shortDigits writes f > 0 as d.ddde±dd, if 15 digits are enough to read it back and
// the power of ten is exact as a double; else it returns nil. Doubles tell all numbers
// of 15 digits apart, so that none with fewer digits, once zeros are cut off, reads
// back as f too.
func shortDigits(tmp *[32]byte, f float64) []byte {
	// log10 of the power of two, which may be one less than that of f.
	exp := (int(math.Float64bits(f)>>52) - 1023) * 78913 >> 18
	k := 14 - exp
	if k < 1 || k >= len(exactPow10) {
		return nil
	}
	m := uint64(f*exactPow10[k] + 0.5)
	if m >= 1e15 {
		k--
		m = uint64(f*exactPow10[k] + 0.5)
	}
	if float64(m)/exactPow10[k] != f || m >= 1e15 {
		return nil
	}
	n := max(putSixteen(tmp[1:], 10*m), 2)
	tmp[0], tmp[1] = tmp[1], '.'
	exp = 14 - k
	e := append(tmp[:n+1], 'e', '+')
	if exp < 0 {
		e[n+2], exp = '-', -exp
	}
	return append(e, byte('0'+exp/10), byte('0'+exp%10))
}

// appendJava rewrites d.ddde±dd, which has one digit or more after the point.
func appendJava(dst, e []byte) []byte {
	at := 2
	for e[at] != 'e' {
		at++
	}
	exp := 0
	for _, c := range e[at+2:] {
		exp = exp*10 + int(c-'0')
	}
	if e[at+1] == '-' {
		exp = -exp
	}
	first, rest := e[0], e[2:at]
	switch {
	case exp >= 7 || exp < -3:
		dst = append(dst, e[:at]...)
		return appendInt(append(dst, 'E'), int64(exp))
	case exp < 0:
		dst = append(dst, "0.00"[:1-exp]...)
		dst = append(dst, first)
		if len(rest) == 1 && rest[0] == '0' {
			return dst
		}
		return append(dst, rest...)
	}
	dst = append(dst, first)
	for i := range exp {
		if i < len(rest) {
			dst = append(dst, rest[i])
		} else {
			dst = append(dst, '0')
		}
	}
	if exp >= len(rest) {
		return append(dst, '.', '0')
	}
	return append(append(dst, '.'), rest[exp:]...)
}
