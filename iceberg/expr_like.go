package iceberg

import (
	"strings"
	"unicode/utf8"
)

// likePattern is a compiled LIKE pattern: the literal pieces between the %
// signs. In a piece, _ takes one code point and \ takes the next byte as it is.
type likePattern struct {
	pieces []likePiece
	// prefix is the literal text that every match starts with, and exact says
	// that the pattern is that text followed by one % and nothing else.
	prefix string
	exact  bool
}

// likePiece is a run of the pattern without %. anyAt marks the _ positions.
type likePiece struct {
	units []likeUnit
	plain string // the text, when the piece has no _
	fixed bool   // plain is all of it
}

// likeUnit is a text, or one code point when any is set.
type likeUnit struct {
	text string
	any  bool
}

func compileLike(pattern string) *likePattern {
	p := &likePattern{}
	var units []likeUnit
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			units = append(units, likeUnit{text: text.String()})
			text.Reset()
		}
	}
	end := func() {
		flush()
		p.pieces = append(p.pieces, newLikePiece(units))
		units = nil
	}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '%':
			end()
		case c == '_':
			flush()
			units = append(units, likeUnit{any: true})
		case c == '\\' && i+1 < len(pattern):
			i++
			text.WriteByte(pattern[i])
		default:
			text.WriteByte(c)
		}
	}
	end()
	first := p.pieces[0]
	if len(first.units) > 0 && !first.units[0].any {
		p.prefix = first.units[0].text
	}
	p.exact = len(p.pieces) == 2 && first.fixed && len(p.pieces[1].units) == 0
	return p
}

func newLikePiece(units []likeUnit) likePiece {
	p := likePiece{units: units}
	switch {
	case len(units) == 0:
		p.fixed = true
	case len(units) == 1 && !units[0].any:
		p.plain, p.fixed = units[0].text, true
	}
	return p
}

// at matches the piece at the start of s and returns the bytes used, or -1.
func (p *likePiece) at(s string) int {
	used := 0
	for _, u := range p.units {
		if !u.any {
			if !strings.HasPrefix(s[used:], u.text) {
				return -1
			}
			used += len(u.text)
			continue
		}
		if used == len(s) {
			return -1
		}
		_, n := utf8.DecodeRuneInString(s[used:])
		used += n
	}
	return used
}

// find returns the end of the first match of the piece in s, or -1.
func (p *likePiece) find(s string) int {
	if p.fixed {
		i := strings.Index(s, p.plain)
		if i < 0 {
			return -1
		}
		return i + len(p.plain)
	}
	for i := 0; i <= len(s); {
		if n := p.at(s[i:]); n >= 0 {
			return i + n
		}
		if i == len(s) {
			break
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return -1
}

// match reports whether the whole of s matches. The earliest place for each
// piece leaves the most for the next, so nothing is tried twice.
func (p *likePattern) match(s string) bool {
	first := &p.pieces[0]
	n := first.at(s)
	if len(p.pieces) == 1 {
		return n == len(s)
	}
	if n < 0 {
		return false
	}
	s = s[n:]
	last := len(p.pieces) - 1
	for i := 1; i < last; i++ {
		if n = p.pieces[i].find(s); n < 0 {
			return false
		}
		s = s[n:]
	}
	return p.pieces[last].atEnd(s)
}

// atEnd reports whether some suffix of s matches the piece.
func (p *likePiece) atEnd(s string) bool {
	if p.fixed {
		return strings.HasSuffix(s, p.plain)
	}
	for i := len(s); i >= 0; i-- {
		if (i == len(s) || utf8.RuneStart(s[i])) && p.at(s[i:]) == len(s)-i {
			return true
		}
	}
	return false
}
