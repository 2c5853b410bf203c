package variant

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Eight digits are handled at once, as the bytes of a little-endian word, whose
// lowest byte is the first in the text.

// digitCount returns how many of the first bytes of x are digits: a byte is one
// when its high nibble is 3 and stays 3 after adding 6. A carry out of a byte
// spoils only those after it, and that byte was no digit.
func digitCount(x uint64) int {
	const nibbles, threes = 0xf0f0f0f0f0f0f0f0, 0x3030303030303030
	other := (x&nibbles ^ threes) | ((x+0x0606060606060606)&nibbles ^ threes)
	return bits.TrailingZeros64(other) >> 3
}

// parseDigits returns the number that the first n bytes of x spell, 0 <= n <= 8.
// Shifted up, the digits are right-aligned behind zeros; then neighbours are
// joined to numbers of two, four and eight digits.
func parseDigits(x uint64, n int) uint64 {
	x <<= uint(64-8*n) & 127
	x = (x & 0x0f0f0f0f0f0f0f0f) * (10<<8 + 1) >> 8
	x = (x & 0x00ff00ff00ff00ff) * (100<<16 + 1) >> 16
	return (x & 0x0000ffff0000ffff) * (10000<<32 + 1) >> 32
}

// digitRun reads up to 24 digits at the start of w, which has 24 bytes or more;
// x is meaningless beyond 19.
func digitRun(w []byte) (x uint64, n int) {
	word := binary.LittleEndian.Uint64(w)
	n = digitCount(word)
	x = parseDigits(word, n)
	if n < 8 {
		return x, n
	}
	return digitRunOn(w[8:24], x)
}

func digitRunOn(w []byte, x uint64) (uint64, int) {
	word := binary.LittleEndian.Uint64(w)
	n := digitCount(word)
	x = x*pow10[n] + parseDigits(word, n)
	if n < 8 {
		return x, 8 + n
	}
	word = binary.LittleEndian.Uint64(w[8:])
	n = digitCount(word)
	return x*pow10[n] + parseDigits(word, n), 16 + n
}

// window is how many bytes from its start number may read: a sign, 24 digits, a
// point, 24 digits and one more, rounded up.
const window = 56

// number reads a number. Most have at most eight digits: those are read here, in
// one go, after closing the gap that the point makes between them.
func (p *Parser) number(pos int) int {
	w := p.text[pos:]
	if len(w) < window {
		n := copy(p.pad[:window], w)
		clear(p.pad[n:window])
		w = p.pad[:window]
	}
	at := minus(w[0])
	d := w[at : at+24]
	word := binary.LittleEndian.Uint64(d)
	whole := digitCount(word)
	digits, size := whole, whole
	if whole < 8 && d[whole] == '.' {
		low := uint64(1)<<(8*whole) - 1
		word = word&low | (word>>8|uint64(d[8])<<56)&^low
		digits = digitCount(word)
		size = digits + 1
	}
	// The first digit is taken from the word: a load of d[0] would be shared with that
	// of the word, which the compiler then does byte by byte.
	next := d[size]
	if uint(whole-1) >= 7 || digits == whole && size > whole || next-'0' <= 9 || next|0x20 == 'e' || byte(word) == '0' && whole > 1 {
		return p.longNumber(w, pos)
	}
	mag := parseDigits(word, digits)
	b := p.b
	if b == nil || mag == 0 {
		return p.exactNumber(mag, digits-whole, pos, at, size)
	}
	if x := int64(mag) ^ -int64(at) + int64(at); size > whole {
		b.putSmall(x, digits-whole)
	} else {
		b.putInt(x)
	}
	return pos + at + size
}

// minus returns 1 for a minus sign and 0 for others, without a branch: signs are
// what a predictor cannot know.
func minus(c byte) int { return int((uint32(c^'-') - 1) >> 31) }

// exactNumber passes on the number at pos: a sign of as many bytes as minus says,
// then size bytes that spell mag, which has 18 digits at most, scale of them behind
// the point.
func (p *Parser) exactNumber(mag uint64, scale, pos, minus, size int) int {
	end := pos + minus + size
	if mag == 0 && minus > 0 && p.opts.NegativeZero {
		return p.double(pos, end, math.Copysign(0, -1))
	}
	sign := -int64(minus)
	x := int64(mag) ^ sign - sign
	switch b := p.b; {
	case scale == 0 && b != nil:
		b.putInt(x)
	case b != nil:
		b.putDecimal(x, mag, uint8(scale))
	case scale == 0:
		p.scalar.SetInt(x)
		p.sink.Scalar(&p.scalar)
	default:
		s := &p.scalar
		s.Kind, s.Scale, s.Int, s.Hi = KindDecimal8, uint8(scale), x, x>>63
		if mag < 1e9 && scale <= 9 {
			s.Kind = KindDecimal4
		}
		p.sink.Scalar(s)
	}
	return end
}

// longNumber reads a number of up to 18 digits without exponent; w starts at pos.
func (p *Parser) longNumber(w []byte, pos int) int {
	at := minus(w[0])
	d := w[at:window]
	x, n := digitRun(d[:24])
	if n == 0 || n > 18 || d[0] == '0' && n > 1 {
		return p.numberText(pos)
	}
	size, scale := n, 0
	if d[n] == '.' {
		f, m := digitRun(d[n+1 : n+25])
		if m == 0 || n+m > 18 {
			return p.numberText(pos)
		}
		x, scale, size = x*pow10[m]+f, m, n+1+m
	}
	if d[size]|0x20 == 'e' {
		return p.numberText(pos)
	}
	return p.exactNumber(x, scale, pos, at, size)
}

func (p *Parser) double(pos, end int, f float64) int {
	if math.IsInf(f, 0) {
		return p.fail(pos, ErrRange)
	}
	p.scalar.Kind, p.scalar.Float = KindDouble, f
	p.emit()
	return end
}

// numberText reads any number (RFC 8259, section 6).
func (p *Parser) numberText(start int) int {
	whole := start
	if p.text[start] == '-' {
		whole++
	}
	pos := p.digits(whole)
	if pos == whole || p.text[whole] == '0' && pos > whole+1 {
		return p.fail(min(whole+1, pos), errNumber)
	}
	frac := pos
	if pos < len(p.text) && p.text[pos] == '.' {
		frac = pos + 1
		if pos = p.digits(frac); pos == frac {
			return p.fail(pos, errNumber)
		}
	}
	if pos < len(p.text) && p.text[pos]|0x20 == 'e' {
		if pos = p.exponent(pos + 1); pos > 0 {
			return p.float(start, pos)
		}
		return pos
	}
	scale := 0
	if frac > whole && p.text[frac-1] == '.' {
		scale = pos - frac
	}
	return p.exact(start, pos, scale)
}

// digits skips digits.
func (p *Parser) digits(pos int) int {
	for pos < len(p.text) && p.text[pos]-'0' <= 9 {
		pos++
	}
	return pos
}

// exponent skips the exponent after its e.
func (p *Parser) exponent(pos int) int {
	if pos < len(p.text) && (p.text[pos] == '+' || p.text[pos] == '-') {
		pos++
	}
	end := p.digits(pos)
	if end == pos {
		return p.fail(pos, errNumber)
	}
	return end
}

// exact passes on the number text[start:end], which has no exponent: an integer or
// decimal if 38 digits and a scale of 38 suffice, else a double.
func (p *Parser) exact(start, end, scale int) int {
	var hi, lo uint64
	neg := p.text[start] == '-'
	fits := scale <= MaxPrecision
	for _, c := range p.text[start:end] {
		if c < '0' {
			continue // sign and point
		}
		var ok bool
		hi, lo, ok = mul128(hi, lo, 10)
		var carry uint64
		lo, carry = bits.Add64(lo, uint64(c-'0'), 0)
		if hi += carry; !ok || !fits38(hi, lo) {
			fits = false
			break
		}
	}
	switch {
	case !fits:
		return p.float(start, end)
	case neg && hi|lo == 0 && p.opts.NegativeZero:
		return p.double(start, end, math.Copysign(0, -1))
	}
	d := decimalOf(neg, hi, lo, uint8(scale))
	if scale == 0 && d.Hi == int64(d.Lo)>>63 {
		p.scalar.SetInt(int64(d.Lo))
	} else {
		p.scalar.SetDecimal(d)
	}
	p.emit()
	return end
}

// float passes on the number text[start:end] as the nearest double.
func (p *Parser) float(start, end int) int {
	f, err := strconv.ParseFloat(string(p.text[start:end]), 64)
	if err != nil {
		return p.fail(start, ErrRange)
	}
	return p.double(start, end, f)
}
