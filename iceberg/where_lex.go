package iceberg

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// tokenKind classifies a token of the predicate language.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenQuotedName
	tokenString
	tokenNumber
	tokenSymbol
)

// token is one lexical unit. text is the name, the text between quotes with
// doubled quotes undone, the digits, or the symbol; at is its byte offset.
type token struct {
	kind tokenKind
	text string
	at   int
}

// is reports whether t is the given keyword or symbol. Keywords are compared
// without regard to case; a quoted name is never a keyword.
func (t token) is(word string) bool {
	switch t.kind {
	case tokenWord:
		return strings.EqualFold(t.text, word)
	case tokenSymbol:
		return t.text == word
	case tokenEnd, tokenQuotedName, tokenString, tokenNumber:
	}
	return false
}

// symbols of two and three bytes; the longest match wins.
var longSymbols = []string{"<=>", "<=", ">=", "<>", "!=", "=="}

// lex splits text into tokens and ends the list with a tokenEnd.
func lex(text string) ([]token, error) {
	var out []token
	if !utf8.ValidString(text) {
		return nil, &PredicateError{Text: text, Problem: "the text is not UTF-8"}
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '\'' || c == '"' || c == '`':
			s, n, ok := quoted(text[i:], c)
			if !ok {
				return nil, &PredicateError{Text: text, Offset: i, Problem: "a quote is not closed"}
			}
			kind := tokenString
			if c == '`' {
				kind = tokenQuotedName
			}
			out = append(out, token{kind, s, i})
			i += n
		case isDigit(c) || c == '.' && i+1 < len(text) && isDigit(text[i+1]):
			n := numberLength(text[i:])
			out = append(out, token{tokenNumber, text[i : i+n], i})
			i += n
		case isNameByte(c):
			n := 1
			for i+n < len(text) && (isNameByte(text[i+n]) || isDigit(text[i+n])) {
				n++
			}
			out = append(out, token{tokenWord, text[i : i+n], i})
			i += n
		default:
			n := symbolLength(text[i:])
			if n == 0 {
				r, _ := utf8.DecodeRuneInString(text[i:])
				return nil, &PredicateError{Text: text, Offset: i, Problem: fmt.Sprintf("unexpected %q", r)}
			}
			out = append(out, token{tokenSymbol, text[i : i+n], i})
			i += n
		}
	}
	return append(out, token{kind: tokenEnd, at: len(text)}), nil
}

// quoted reads a text in quotes of kind q at the start of s; a doubled quote
// stands for one. It returns the inner text and the bytes used.
func quoted(s string, q byte) (string, int, bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != q {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == q {
			b.WriteByte(q)
			i++
			continue
		}
		return b.String(), i + 1, true
	}
	return "", 0, false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// numberLength returns the length of the unsigned number at the start of s:
// digits, a fraction, an exponent.
func numberLength(s string) int {
	i := 0
	digits := func() {
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	digits()
	if i < len(s) && s[i] == '.' {
		i++
		digits()
	}
	if i >= len(s) || s[i] != 'e' && s[i] != 'E' {
		return i
	}
	mark := i
	i++
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	if i >= len(s) || !isDigit(s[i]) {
		return mark
	}
	digits()
	return i
}

func symbolLength(s string) int {
	for _, sym := range longSymbols {
		if strings.HasPrefix(s, sym) {
			return len(sym)
		}
	}
	if strings.IndexByte("()<>=,.-+*", s[0]) >= 0 {
		return 1
	}
	return 0
}

// PredicateError says where the text of a predicate or an assignment is wrong,
// or why it does not fit the table. It wraps ErrInvalid.
type PredicateError struct {
	Text    string // the predicate, or the part of it that does not fit the table
	Offset  int    // byte offset of the problem in the whole text
	Problem string

	assignment bool
}

// Error shows the surroundings of the problem only: programs make long predicates.
func (e *PredicateError) Error() string {
	what := "predicate"
	if e.assignment {
		what = "assignment"
	}
	return fmt.Sprintf("%s %q at %d: %s", what, excerpt(e.Text, e.Offset, 100), e.Offset, e.Problem)
}

// Unwrap gives ErrInvalid to errors.Is.
func (e *PredicateError) Unwrap() error { return ErrInvalid }
