package variant

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Constants for looking at eight bytes at once.
const (
	swarOnes   = 0x0101010101010101
	swarHigh   = 0x8080808080808080
	swarSpace  = 0x20 * swarOnes
	swarQuote  = '"' * swarOnes
	swarEscape = '\\' * swarOnes
)

// special sets the high bit of the first byte of x that is a quote, a backslash,
// a control character or not ASCII; bits of later bytes mean nothing.
func special(x uint64) uint64 {
	return ((x ^ swarQuote - swarOnes) | (x ^ swarEscape - swarOnes) | (x - swarSpace) | x) & swarHigh
}

// stringValue reads a string that is a value.
func (p *Parser) stringValue(pos int) int {
	s, end := p.scan(pos)
	if end < 0 {
		return end
	}
	if p.b != nil {
		p.b.putText(s)
		return end
	}
	p.scalar.Kind, p.scalar.Bytes = KindString, s[:len(s):len(s)]
	p.sink.Scalar(&p.scalar)
	return end
}

// scan reads a string and returns its bytes: a part of the text, or p.tmp, with
// whatever comes behind them in its capacity.
func (p *Parser) scan(quote int) (s []byte, end int) {
	text, pos := p.text, quote+1
	for len(text)-pos >= 8 {
		m := special(binary.LittleEndian.Uint64(text[pos:]))
		if m != 0 {
			pos += bits.TrailingZeros64(m) >> 3
			break
		}
		pos += 8
	}
	for pos < len(text) {
		c := text[pos]
		switch {
		case c == '"':
			return text[quote+1 : pos], pos + 1
		case c == '\\' || c >= utf8.RuneSelf:
			return p.scanHard(quote, pos)
		case c < ' ':
			return nil, p.fail(pos, errControl)
		}
		pos++
	}
	return nil, p.fail(pos, errEnd)
}

// scanHard reads a string with escapes or other than ASCII; the bytes up to pos
// are plain.
func (p *Parser) scanHard(quote, pos int) (s []byte, end int) {
	text, from := p.text, quote+1
	p.tmp = p.tmp[:0]
	for pos < len(text) {
		switch c := text[pos]; {
		case c == '"':
			if len(p.tmp) == 0 {
				return text[from:pos], pos + 1
			}
			p.tmp = append(p.tmp, text[from:pos]...)
			return p.tmp, pos + 1
		case c == '\\':
			p.tmp = append(p.tmp, text[from:pos]...)
			if pos = p.escape(pos); pos < 0 {
				return nil, -1
			}
			if from = pos; len(p.tmp) == 0 {
				panic("BUG: variant: an escape of no bytes")
			}
		case c < ' ':
			return nil, p.fail(pos, errControl)
		case c < utf8.RuneSelf:
			pos = p.plain(pos + 1)
		default:
			_, n := utf8.DecodeRune(text[pos:])
			if n > 1 {
				pos += n
				continue
			}
			if !p.opts.ReplaceInvalid {
				return nil, p.fail(pos, ErrText)
			}
			p.tmp = append(append(p.tmp, text[from:pos]...), "\uFFFD"...)
			pos++
			from = pos
		}
	}
	return nil, p.fail(pos, errEnd)
}

// plain skips bytes that stand for themselves.
func (p *Parser) plain(pos int) int {
	for len(p.text)-pos >= 8 {
		m := special(binary.LittleEndian.Uint64(p.text[pos:]))
		if m != 0 {
			return pos + bits.TrailingZeros64(m)>>3
		}
		pos += 8
	}
	return pos
}

var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/',
	'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads an escape and appends what it stands for to p.tmp.
func (p *Parser) escape(pos int) int {
	if pos+1 >= len(p.text) {
		return p.fail(len(p.text), errEnd)
	}
	c := p.text[pos+1]
	if e := escapes[c]; e != 0 {
		p.tmp = append(p.tmp, e)
		return pos + 2
	}
	if c != 'u' {
		return p.fail(pos, errEscape)
	}
	r, ok := p.hex4(pos + 2)
	if !ok {
		return p.fail(pos, errEscape)
	}
	end := pos + 6
	if utf16.IsSurrogate(r) {
		low, ok := rune(0), false
		if end+1 < len(p.text) && p.text[end] == '\\' && p.text[end+1] == 'u' {
			low, ok = p.hex4(end + 2)
		}
		if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
			end += 6
		} else if !p.opts.ReplaceInvalid {
			return p.fail(pos, errSurrogate)
		}
	}
	p.tmp = utf8.AppendRune(p.tmp, r)
	return end
}

// hex4 reads four hexadecimal digits.
func (p *Parser) hex4(pos int) (r rune, ok bool) {
	if len(p.text)-pos < 4 {
		return 0, false
	}
	for _, c := range p.text[pos : pos+4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
