package variant

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Reasons of a SyntaxError that have no sentinel.
var (
	errEnd       = errors.New("unexpected end of text")
	errTrailing  = errors.New("text after the value")
	errValue     = errors.New("expected a value")
	errKey       = errors.New("expected a key in quotes")
	errColon     = errors.New("expected ':'")
	errObject    = errors.New("expected ',' or '}'")
	errArray     = errors.New("expected ',' or ']'")
	errNumber    = errors.New("malformed number")
	errControl   = errors.New("control character in a string")
	errEscape    = errors.New("unknown escape")
	errSurrogate = errors.New("half a surrogate pair")
)

// step is one level of the path to an error.
type step struct {
	name  []byte
	index int // -1: name
}

// syntaxError makes the error of a failed pass; only now does it cost anything.
func (p *Parser) syntaxError(text []byte) error {
	at := min(p.errAt, len(text))
	var path strings.Builder
	path.WriteByte('$')
	for i := len(p.trail) - 1; i >= 0; i-- {
		appendStep(&path, &p.trail[i])
	}
	return &SyntaxError{
		Offset:  at,
		Line:    1 + bytes.Count(text[:at], []byte{'\n'}),
		Path:    path.String(),
		Excerpt: excerpt(text, at),
		Err:     p.err,
	}
}

func appendStep(w *strings.Builder, s *step) {
	if s.index >= 0 {
		w.WriteString("[" + strconv.Itoa(s.index) + "]")
		return
	}
	if isWord(s.name) {
		w.WriteByte('.')
		w.Write(s.name)
		return
	}
	quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(string(s.name))
	w.WriteString("['" + quoted + "']")
}

func isWord(b []byte) bool {
	for _, c := range b {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(b) > 0
}

// excerpt returns a few characters on both sides of an offset.
func excerpt(text []byte, at int) string {
	const before, after = 16, 16
	lo, hi := max(at-before, 0), min(at+after, len(text))
	for lo > 0 && lo < at && !utf8.RuneStart(text[lo]) {
		lo++
	}
	return strings.ToValidUTF8(string(text[lo:hi]), "\uFFFD")
}
