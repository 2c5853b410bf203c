package variant

import (
	"bytes"
	"math"
	"strconv"
)

// appendFloatText appends a float or double as Spark's cast to string does, which
// is Java's form: 0.1, 1.0, 1.0E10, -0.0, NaN, -Infinity. Plain notation from
// 10^-3 up to 10^7, one digit on either side of the point at least, and as many
// digits as tell the number from its neighbours of the same width.
func appendFloatText(dst []byte, x float64, bitSize int) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "NaN"...)
	case math.IsInf(x, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(x, -1):
		return append(dst, "-Infinity"...)
	}
	start := len(dst)
	if a := math.Abs(x); a == 0 || a >= 1e-3 && a < 1e7 {
		dst = strconv.AppendFloat(dst, x, 'f', -1, bitSize)
		if bytes.IndexByte(dst[start:], '.') < 0 {
			dst = append(dst, ".0"...)
		}
		return dst
	}
	dst = strconv.AppendFloat(dst, x, 'e', -1, bitSize)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		// Java gives two digits where one would do, the nearest two.
		dst = strconv.AppendFloat(dst[:start], x, 'e', 1, bitSize)
	}
	// e+10 and e-07 become E10 and E-7.
	e := start + bytes.LastIndexByte(dst[start:], 'e')
	exp := dst[e+1:]
	neg := exp[0] == '-'
	for exp = exp[1:]; len(exp) > 1 && exp[0] == '0'; exp = exp[1:] {
	}
	out := append(dst[:e], 'E')
	if neg {
		out = append(out, '-')
	}
	return append(out, exp...) // moves left, within the same array
}
