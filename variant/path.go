package variant

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrPath is returned when the text of a path does not follow the grammar of
// [ParsePath]. The error in hand is a [*PathError].
var ErrPath = errors.New("variant: invalid path")

// PathError says where and why a path text was refused. It Is [ErrPath].
type PathError struct {
	Path   string // the whole text
	Offset int    // byte offset in Path
	Reason string
}

// Error shows the text and where it is wrong.
func (e *PathError) Error() string {
	return fmt.Sprintf("variant: invalid path %q: %s at byte %d", e.Path, e.Reason, e.Offset)
}

// Is reports whether target is [ErrPath].
func (e *PathError) Is(target error) bool { return target == ErrPath }

// Step is one step of a [Path]: a field of an object, or an element of an
// array.
type Step struct {
	Name    string // key of the field, compared byte by byte; unset for an element
	Index   int    // position of the element, from 0; unset for a field
	IsIndex bool
}

// Path is a compiled way from a value to one of its descendants. The zero Path
// is the root, "$". A Path is immutable and safe for concurrent use; copies
// share what they have learnt about the position of their keys (see [Value.Get]).
type Path struct {
	c *compiledPath
}

// compiledPath holds the steps twice: as the caller sees them, and with their
// predictions for the walk. len(public) == len(steps) > 0.
type compiledPath struct {
	public []Step
	steps  []compiledStep
	refs   []*compiledStep // of steps
	dicts  idCache
}

// compiledStep is a step with a memory: for the object shapes that it met,
// where its key was found, or where the key would be if it were there.
//
// Objects of one shape keep their keys at the same place, and a guess costs two
// loads and one comparison to confirm, so that a right one replaces the search
// and a wrong one costs only time. Nothing here is trusted unconfirmed: that is
// what makes the memory safe to share and the dictionaries free to change.
type compiledStep struct {
	name    string
	index   int
	isIndex bool
	wide    bool                      // isWide(name)
	seen    [shapeSlots]atomic.Uint32 // guesses; 0 is none
}

// shapeSlots is the number of object shapes that a step tells apart; a power
// of two. Sixteen words are one cache line.
const shapeSlots = 16

// NewPath returns the path of the given steps. It panics on a negative Index.
func NewPath(steps ...Step) Path {
	if len(steps) == 0 {
		return Path{}
	}
	c := &compiledPath{public: make([]Step, len(steps)), steps: make([]compiledStep, len(steps))}
	copy(c.public, steps)
	for i := range c.public {
		c.steps[i].init(&c.public[i])
		c.refs = append(c.refs, &c.steps[i])
	}
	return Path{c}
}

func (s *compiledStep) init(p *Step) {
	if p.IsIndex && p.Index < 0 {
		panic("variant: NewPath with a negative index")
	}
	s.name, s.index, s.isIndex, s.wide = p.Name, p.Index, p.IsIndex, isWide(p.Name)
}

// ParsePath compiles the text of a path:
//
//	path  = "$" *step
//	step  = "." name              any characters but "." and "[", at least one
//	      | "['" key "']"         any key, with the escapes below
//	      | "[\"" key "\"]"
//	      | "[" digits "]"        element of an array, 0 .. 2147483647
//
// In a quoted key a backslash starts an escape: \\ \/ \' \" \b \f \n \r \t and
// \uXXXX with surrogates in pairs. Other backslashes are errors. A plain name
// has no escapes. The grammar is Spark's, whose quoted keys know no escapes and
// so cannot name a key that holds both quotes; the escapes are those of RFC 9535,
// which Iceberg uses for the normalized paths of Variant bounds.
//
// The error Is [ErrPath].
func ParsePath(text string) (Path, error) {
	if !utf8.ValidString(text) {
		return Path{}, &PathError{text, 0, "invalid UTF-8"}
	}
	if text == "" || text[0] != '$' {
		return Path{}, &PathError{text, 0, "expected $"}
	}
	var steps []Step
	for pos := 1; pos < len(text); {
		step, next, err := parseStep(text, pos)
		if err != nil {
			return Path{}, err
		}
		steps, pos = append(steps, step), next
	}
	return NewPath(steps...), nil
}

// parseStep parses the step that starts at pos and returns where the next one
// starts.
func parseStep(text string, pos int) (Step, int, error) {
	switch rest := text[pos:]; {
	case rest[0] == '.':
		end := strings.IndexAny(rest[1:], ".[")
		if end < 0 {
			end = len(rest) - 1
		}
		if end == 0 {
			return Step{}, 0, &PathError{text, pos + 1, "empty name"}
		}
		return Step{Name: rest[1 : 1+end]}, pos + 1 + end, nil
	case rest[0] != '[':
		return Step{}, 0, &PathError{text, pos, "expected . or ["}
	case len(rest) > 1 && (rest[1] == '\'' || rest[1] == '"'):
		return parseQuoted(text, pos+2, rest[1])
	default:
		return parseIndex(text, pos+1)
	}
}

func parseIndex(text string, pos int) (Step, int, error) {
	end := pos
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	if end == pos {
		return Step{}, 0, &PathError{text, pos, "expected an index or a quoted key"}
	}
	if end == len(text) || text[end] != ']' {
		return Step{}, 0, &PathError{text, end, "expected ]"}
	}
	n, err := strconv.ParseUint(text[pos:end], 10, 64)
	if err != nil || n > math.MaxInt32 {
		return Step{}, 0, &PathError{text, pos, "index above 2147483647"}
	}
	return Step{Index: int(n), IsIndex: true}, end + 1, nil
}

// parseQuoted parses a key from its first character on, to its quote and "]".
func parseQuoted(text string, pos int, quote byte) (Step, int, error) {
	start := pos
	var key []byte // the key up to pos, once an escape made it differ from the text
	for pos < len(text) && text[pos] != quote {
		if text[pos] != '\\' {
			if key != nil {
				key = append(key, text[pos])
			}
			pos++
			continue
		}
		if key == nil {
			key = append(make([]byte, 0, len(text)), text[start:pos]...)
		}
		r, n := unescape(text[pos:])
		if n == 0 {
			return Step{}, 0, &PathError{text, pos, "invalid escape"}
		}
		key = utf8.AppendRune(key, r)
		pos += n
	}
	if pos+1 >= len(text) || text[pos+1] != ']' {
		return Step{}, 0, &PathError{text, min(pos+1, len(text)), "expected " + string(quote) + "]"}
	}
	if key == nil {
		return Step{Name: text[start:pos]}, pos + 2, nil
	}
	return Step{Name: string(key)}, pos + 2, nil
}

// unescape decodes the escape at the start of s and returns its length, 0 when
// there is none.
func unescape(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '\\', '/', '\'', '"':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return 0, 0
	}
	r, ok := unescapeUnit(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := unescapeUnit(s[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// unescapeUnit decodes \uXXXX.
func unescapeUnit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for i := 2; i < 6; i++ {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if d < 0 || s[i] < '0' {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// Steps returns the steps from the root on. The slice is the caller's.
func (p Path) Steps() []Step {
	if p.c == nil {
		return nil
	}
	return append([]Step(nil), p.c.public...)
}

// Len returns the number of steps.
func (p Path) Len() int {
	if p.c == nil {
		return 0
	}
	return len(p.c.public)
}

// String returns the path in the normalized form that Iceberg uses as the keys
// of Variant bounds, such as $['location']['latitude'] or $['legs'][0]['rate'].
// [ParsePath] of it is the same path, for any keys that are valid UTF-8.
func (p Path) String() string {
	return string(p.AppendText(nil))
}

// AppendText appends [Path.String].
func (p Path) AppendText(dst []byte) []byte {
	dst = append(dst, '$')
	if p.c == nil {
		return dst
	}
	for i := range p.c.public {
		dst = p.c.public[i].appendText(dst)
	}
	return dst
}

func (s *Step) appendText(dst []byte) []byte {
	if s.IsIndex {
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(s.Index), 10)
		return append(dst, ']')
	}
	dst = append(dst, '[', '\'')
	for i := range len(s.Name) {
		dst = appendPathByte(dst, s.Name[i])
	}
	return append(dst, '\'', ']')
}

// appendPathByte escapes as RFC 9535, section 2.7, asks of a normalized path.
func appendPathByte(dst []byte, c byte) []byte {
	switch c {
	case '\'', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	if c < 0x20 {
		const hex = "0123456789abcdef"
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
	return append(dst, c)
}
