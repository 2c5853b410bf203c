package iceberg

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// The scanner finds the parts of a JSON row without decoding them. It accepts
// a little more than JSON inside a value that it skips; whoever reads the value
// is strict.

var (
	errNotJSON   = errors.New("invalid JSON")
	errTruncated = errors.New("invalid JSON: unexpected end")
	errNotObject = errors.New("the row is not a JSON object")
	errTrailing  = errors.New("invalid JSON: text after the value")
)

// span is the place of a value in a row; end is 0 when the row has none.
type span struct{ start, end uint32 }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// trimSpace cuts blank space, and a leading byte order mark, off a row.
func trimSpace(b []byte) []byte {
	if len(b) > 2 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf {
		b = b[3:]
	}
	b = b[skipSpace(b, 0):]
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// skipString returns the index after the string that starts at i.
func skipString(b []byte, i int) (int, error) {
	for j := i + 1; ; {
		n := bytes.IndexByte(b[j:], '"')
		if n < 0 {
			return 0, errTruncated
		}
		j += n
		escapes := 0
		for b[j-1-escapes] == '\\' {
			escapes++
		}
		j++
		if escapes%2 == 0 {
			return j, nil
		}
	}
}

// skipValue returns the index after the value that starts at i.
func skipValue(b []byte, i int) (int, error) {
	if i >= len(b) {
		return 0, errTruncated
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipContainer(b, i)
	}
	start := i
	for i < len(b) && scalarByte[b[i]] {
		i++
	}
	if i == start {
		return 0, fmt.Errorf("%w: unexpected %q", errNotJSON, b[i])
	}
	return i, nil
}

// scalarByte marks the bytes of numbers and of true, false and null.
var scalarByte = func() (t [256]bool) {
	for _, c := range []byte("+-.0123456789Eaeflnrstu") {
		t[c] = true
	}
	return t
}()

// Classes of bytes for containerSkip.bytes.
const (
	classOpen uint8 = 1 + iota
	classClose
	classQuote
)

var byteClass = [256]uint8{'{': classOpen, '[': classOpen, '}': classClose, ']': classClose, '"': classQuote}

// Every byte of a word that is 1, and its highest bit.
const (
	eachByte = 0x0101_0101_0101_0101
	highBits = 0x8080_8080_8080_8080
)

// bracketBit makes a brace of a bracket: it is all in which the two differ.
const bracketBit = '{' ^ '['

// skipContainer returns the index after the array or object that starts at i.
//
// It takes eight bytes at a time, without a branch for any of them: most texts are
// keys and short numbers, so that a branch on quotes and brackets is mispredicted
// at nearly every one. A byte lies in a string when the quotes up to it are odd in
// number. The words with a backslash, and the one where the container ends, are
// gone through byte by byte.
func skipContainer(b []byte, i int) (int, error) {
	s := containerSkip{b: b, at: i}
	for len(b)-s.at >= 8 {
		w := binary.LittleEndian.Uint64(b[s.at:])
		quotes := equalBytes(w, '"')
		inside := quotes*eachByte&eachByte ^ s.quoted
		folded := w | bracketBit*eachByte
		opens, closes := equalBytes(folded, '{')&^inside, equalBytes(folded, '}')&^inside
		if equalBytes(w, '\\') != 0 || bits.OnesCount64(closes) >= s.depth {
			if end := s.bytes(s.at + 8); end > 0 {
				return end, nil
			}
			continue
		}
		s.depth += bits.OnesCount64(opens) - bits.OnesCount64(closes)
		s.quoted = -(inside >> 56) & eachByte
		s.at += 8
	}
	if end := s.bytes(len(b)); end > 0 {
		return end, nil
	}
	return 0, errTruncated
}

// equalBytes has a 1 in each byte where w has c.
func equalBytes(w uint64, c byte) uint64 {
	x := w ^ uint64(c)*eachByte
	return ^((x&^highBits + ^uint64(highBits)) | x) & highBits >> 7
}

// containerSkip is a place on the way through a container.
type containerSkip struct {
	b      []byte
	at     int
	depth  int
	quoted uint64 // eachByte within a string, else 0
}

// bytes goes on byte by byte until at reaches end, or one more if an escape does.
// It returns the index after the container when that ends here, else 0.
func (s *containerSkip) bytes(end int) int {
	for s.at < end {
		c := s.b[s.at]
		s.at++
		if s.quoted != 0 {
			switch c {
			case '\\':
				s.at++
			case '"':
				s.quoted = 0
			}
			continue
		}
		switch byteClass[c] {
		case classOpen:
			s.depth++
		case classClose:
			if s.depth--; s.depth == 0 {
				return s.at
			}
		case classQuote:
			s.quoted = eachByte
		}
	}
	return 0
}

// members walks the members of the object that fills b. fn gets the raw key,
// quotes included, and the place of the value.
func members(b []byte, fn func(key []byte, value span) error) error {
	if len(b) == 0 || b[0] != '{' {
		return errNotObject
	}
	i := skipSpace(b, 1)
	if i < len(b) && b[i] == '}' {
		return atEnd(b, i+1)
	}
	for {
		key, value, next, err := member(b, i)
		if err != nil {
			return err
		}
		if err := fn(key, value); err != nil {
			return err
		}
		i = skipSpace(b, next)
		switch {
		case i >= len(b):
			return errTruncated
		case b[i] == '}':
			return atEnd(b, i+1)
		case b[i] != ',':
			return fmt.Errorf("%w: unexpected %q after a member", errNotJSON, b[i])
		}
		i = skipSpace(b, i+1)
	}
}

// member reads "key": value at i.
func member(b []byte, i int) (key []byte, value span, next int, err error) {
	if i >= len(b) {
		return nil, span{}, 0, errTruncated
	}
	if b[i] != '"' {
		return nil, span{}, 0, fmt.Errorf("%w: expected a key, found %q", errNotJSON, b[i])
	}
	end, err := skipString(b, i)
	if err != nil {
		return nil, span{}, 0, err
	}
	key = b[i:end]
	i = skipSpace(b, end)
	if i >= len(b) || b[i] != ':' {
		return nil, span{}, 0, fmt.Errorf("%w: expected a colon after key %s", errNotJSON, key)
	}
	i = skipSpace(b, i+1)
	next, err = skipValue(b, i)
	if err != nil {
		return nil, span{}, 0, err
	}
	return key, span{uint32(i), uint32(next)}, next, nil
}

// elements walks the elements of the array that fills b.
func elements(b []byte, fn func(value []byte) error) error {
	if len(b) == 0 || b[0] != '[' {
		return errors.New("expected an array")
	}
	i := skipSpace(b, 1)
	if i < len(b) && b[i] == ']' {
		return atEnd(b, i+1)
	}
	for {
		end, err := skipValue(b, i)
		if err != nil {
			return err
		}
		if err := fn(b[i:end]); err != nil {
			return err
		}
		i = skipSpace(b, end)
		switch {
		case i >= len(b):
			return errTruncated
		case b[i] == ']':
			return atEnd(b, i+1)
		case b[i] != ',':
			return fmt.Errorf("%w: unexpected %q after an element", errNotJSON, b[i])
		}
		i = skipSpace(b, i+1)
	}
}

func atEnd(b []byte, i int) error {
	if skipSpace(b, i) != len(b) {
		return errTrailing
	}
	return nil
}

// plainText reports whether the inside of a string is its own meaning: no
// escapes, no control characters, ASCII.
func plainText(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		w := binary.LittleEndian.Uint64(b)
		// A byte below 0x20 borrows into its highest bit. So may the one above it,
		// which matters to none: the word is looked at byte by byte then.
		if (w|(w-0x20*eachByte))&highBits != 0 || equalBytes(w, '\\') != 0 {
			return plainBytes(b)
		}
	}
	return plainBytes(b)
}

func plainBytes(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// unquote appends the meaning of a JSON string, whose quotes are included in
// raw. Control characters, bad escapes, half surrogate pairs and invalid UTF-8
// are errors.
func unquote(dst, raw []byte) ([]byte, error) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return dst, errors.New("expected a string")
	}
	in := raw[1 : len(raw)-1]
	if plainText(in) {
		return append(dst, in...), nil
	}
	if !utf8.Valid(in) {
		return dst, errors.New("invalid UTF-8")
	}
	for i := 0; i < len(in); {
		c := in[i]
		if c < 0x20 {
			return dst, fmt.Errorf("%w: control character %#x in a string", errNotJSON, c)
		}
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		var n int
		if dst, n = unescape(dst, in[i:]); n == 0 {
			return dst, fmt.Errorf("%w: bad escape in a string", errNotJSON)
		}
		i += n
	}
	return dst, nil
}

// unescape appends the meaning of the escape at the start of b and returns its
// length, 0 when it is invalid.
func unescape(dst, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return dst, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return append(dst, b[1]), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		return unescapeUnicode(dst, b)
	}
	return dst, 0
}

func unescapeUnicode(dst, b []byte) ([]byte, int) {
	r, ok := hex4(b)
	if !ok {
		return dst, 0
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	low, ok := hex4(b[6:])
	if !ok {
		return dst, 0
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return dst, 0
	}
	return utf8.AppendRune(dst, r), 12
}

// hex4 reads \uXXXX.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var unit [2]byte
	_, err := hex.Decode(unit[:], b[2:6])
	return rune(binary.BigEndian.Uint16(unit[:])), err == nil
}

// validNumber reports whether b is a number of the JSON grammar.
func validNumber(b []byte) bool {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	n := digits(b, i)
	if n == 0 || n > 1 && b[i] == '0' {
		return false
	}
	i += n
	if i < len(b) && b[i] == '.' {
		n = digits(b, i+1)
		if n == 0 {
			return false
		}
		i += 1 + n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n = digits(b, i)
		if n == 0 {
			return false
		}
		i += n
	}
	return i == len(b)
}

func digits(b []byte, i int) int {
	n := 0
	for i+n < len(b) && b[i+n] >= '0' && b[i+n] <= '9' {
		n++
	}
	return n
}
