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

// number reads a number. Up to 18 digits without exponent are read here.
func (p *Parser) number(pos int) int {
	const window = 56 // sign, 24 bytes, point, 24 bytes, one more; rounded up
	w := p.text[pos:]
	if len(w) < window {
		n := copy(p.pad[:window], w)
		clear(p.pad[n:window])
		w = p.pad[:window]
	}
	at, neg := 0, false
	if w[0] == '-' {
		at, neg = 1, true
	}
	x, n := digitRun(w[at : at+24])
	if n == 0 || n > 18 || w[at] == '0' && n > 1 {
		return p.numberText(pos)
	}
	at += n
	scale := 0
	if w[at] == '.' {
		f, m := digitRun(w[at+1 : at+25])
		if m == 0 || n+m > 18 {
			return p.numberText(pos)
		}
		x, scale = x*pow10[m]+f, m
		at += 1 + m
	}
	if w[at]|0x20 == 'e' {
		return p.numberText(pos)
	}
	if neg && x == 0 && p.opts.NegativeZero {
		return p.double(pos, pos+at, math.Copysign(0, -1))
	}
	if scale > 0 {
		p.decimal(x, neg, uint8(scale))
	} else {
		p.integer(x, neg)
	}
	return pos + at
}

// integer passes on an integer of at most 18 digits.
func (p *Parser) integer(mag uint64, neg bool) {
	x := int64(mag)
	if neg {
		x = -x
	}
	if p.b != nil {
		p.b.putInt(x)
		return
	}
	p.scalar.SetInt(x)
	p.sink.Scalar(&p.scalar)
}

// decimal passes on a decimal of at most 18 digits.
func (p *Parser) decimal(mag uint64, neg bool, scale uint8) {
	x := int64(mag)
	if neg {
		x = -x
	}
	if p.b != nil {
		p.b.putDecimal(x, mag, scale)
		return
	}
	s := &p.scalar
	s.Kind, s.Scale, s.Int, s.Hi = KindDecimal8, scale, x, x>>63
	if mag < 1e9 {
		s.Kind = KindDecimal4
	}
	p.sink.Scalar(s)
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
