package variant

import "encoding/binary"

// ParseOptions are the choices in reading JSON. The zero value is the default.
type ParseOptions struct {
	// LastKeyWins keeps the last of several fields of one name. Default: the
	// second is an error that Is ErrDuplicateKey.
	LastKeyWins bool
	// ReplaceInvalid puts U+FFFD where a text is not UTF-8 or has half a
	// surrogate pair, before names are sorted and compared. Default: an error.
	ReplaceInvalid bool
	// NegativeZero reads -0 and -0.0 as the double -0. Default: integer and
	// decimal zero, as Spark.
	NegativeZero bool
	// MaxDepth is the number of containers that may be open at once. Default,
	// and most: the constant MaxDepth.
	MaxDepth int
	// MaxSize is the size in bytes of the largest text, and of the largest value
	// that an Encoder makes of it. Default: the constant MaxSize; at most 1 GiB.
	MaxSize int
}

const maxMaxSize = 1 << 30

func (o ParseOptions) withDefaults() ParseOptions {
	if o.MaxDepth <= 0 || o.MaxDepth > MaxDepth {
		o.MaxDepth = MaxDepth
	}
	if o.MaxSize <= 0 {
		o.MaxSize = MaxSize
	}
	o.MaxSize = min(o.MaxSize, maxMaxSize)
	return o
}

// Parser turns JSON text (RFC 8259) into events, in one pass and without a tree.
// It predicts the next key from the objects it has seen, and once it has seen the
// keys of a text it allocates nothing. It is for one goroutine.
//
// Where the RFC leaves a choice: a byte order mark in front is skipped; anything
// but blank space after the value is an error; integers become the smallest of
// int8 to int64, then decimal16 up to 38 digits, then double; a fraction without
// exponent becomes the smallest decimal that keeps its digits, with more than 38
// digits a double; an exponent makes a double, and overflow is an error that Is
// ErrRange.
type Parser struct {
	opts ParseOptions
	tree *shapeTree // of the builder while there is one, else own
	own  *shapeTree
	text []byte
	sink Sink
	b    *Builder // the sink, when it is one that can be written to directly

	depth  int
	scalar Scalar
	tmp    []byte   // unescaped text
	pad    [64]byte // the last bytes of the text, for reads beyond its end

	skip     []int // offsets of keys that lose against later ones, ascending
	finder   *repeatFinder
	repeats  bool // a key came twice
	tolerant bool // and that is no error
	slow     bool // offsets of keys matter: predict nothing

	err   error
	errAt int
	trail []step // of the error, innermost first
}

// NewParser returns a parser.
func NewParser(o ParseOptions) *Parser {
	p := &Parser{opts: o.withDefaults(), own: newShapeTree()}
	p.tree = p.own
	return p
}

// Parse passes the one value of a JSON text to the sink. It returns a
// *SyntaxError, which Is ErrSyntax, or the sink's error. After an error the sink
// has seen part of the events, which it must drop. Names are passed from the same
// backing array each time they come, as long as the parser remembers them.
func (p *Parser) Parse(text []byte, sink Sink) error {
	p.skip = p.skip[:0]
	if p.opts.LastKeyWins {
		if err := p.findRepeats(text); err != nil {
			return err
		}
	}
	return p.parse(text, sink)
}

// parse makes one pass over the text.
func (p *Parser) parse(text []byte, sink Sink) error {
	p.begin(text, sink)
	pos := p.document()
	b := p.b
	p.text, p.sink, p.b = nil, nil, nil
	if pos < 0 {
		err := p.syntaxError(text)
		if b != nil {
			b.fail(err)
		}
		return err
	}
	if b != nil {
		b.state = stateDone
	}
	return sink.Err()
}

func (p *Parser) begin(text []byte, sink Sink) {
	p.text, p.sink, p.b, p.tree = text, sink, nil, p.own
	p.depth, p.err, p.trail = 0, nil, p.trail[:0]
	p.slow = p.finder != nil || len(p.skip) > 0
	if b, ok := sink.(*Builder); ok && b.state == stateValue && len(b.frames) == 1 {
		p.b, p.tree = b, b.tree
		return
	}
	p.tree.release(0)
	if p.tree.stale() {
		p.tree.clear()
	}
}

// fail notes an error at an offset; -1 travels up from here.
func (p *Parser) fail(at int, err error) int {
	if p.err == nil {
		p.err, p.errAt = err, at
	}
	return -1
}

// The methods below take the position of their first byte and return that of the
// first byte after them, or -1 after p.fail.

func (p *Parser) document() int {
	if len(p.text) > p.opts.MaxSize {
		return p.fail(p.opts.MaxSize, ErrTooLarge)
	}
	pos := 0
	if len(p.text) >= 3 && string(p.text[:3]) == "\xef\xbb\xbf" {
		pos = 3
	}
	pos = p.value(p.blank(pos))
	if pos < 0 {
		return pos
	}
	if pos = p.blank(pos); pos < len(p.text) {
		return p.fail(pos, errTrailing)
	}
	return pos
}

// blank skips blank space.
func (p *Parser) blank(pos int) int {
	for pos < len(p.text) {
		switch p.text[pos] {
		case ' ', '\t', '\n', '\r':
			pos++
		default:
			return pos
		}
	}
	return pos
}

func (p *Parser) value(pos int) int {
	if pos >= len(p.text) {
		return p.fail(pos, errEnd)
	}
	switch p.text[pos] {
	case '"':
		return p.text1(pos)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number(pos)
	case '{':
		return p.object(pos)
	case '[':
		return p.array(pos)
	case 't':
		return p.literal(pos, "true", KindBool, 1)
	case 'f':
		return p.literal(pos, "false", KindBool, 0)
	case 'n':
		return p.literal(pos, "null", KindNull, 0)
	}
	return p.fail(pos, errValue)
}

func (p *Parser) literal(pos int, word string, k Kind, x int64) int {
	end := pos + len(word)
	if end > len(p.text) || string(p.text[pos:end]) != word {
		return p.fail(pos, errValue)
	}
	p.scalar.Kind, p.scalar.Int = k, x
	p.emit()
	return end
}

// emit passes p.scalar on.
func (p *Parser) emit() {
	if p.b != nil {
		p.b.buf = AppendScalar(p.b.buf, &p.scalar)
		return
	}
	p.sink.Scalar(&p.scalar)
}

// enter opens a container.
func (p *Parser) enter(pos int, k Kind) bool {
	if p.depth++; p.depth > p.opts.MaxDepth {
		p.fail(pos, ErrDepth)
		return false
	}
	if p.b != nil {
		p.b.open(k == KindObject)
	} else {
		p.sink.Begin(k)
	}
	return true
}

// leave closes a container.
func (p *Parser) leave() {
	p.depth--
	if p.b != nil {
		p.b.close()
	} else {
		p.sink.End()
	}
}

func (p *Parser) array(pos int) int {
	if !p.enter(pos, KindArray) {
		return -1
	}
	pos = p.blank(pos + 1)
	if pos < len(p.text) && p.text[pos] == ']' {
		p.leave()
		return pos + 1
	}
	for i := 0; ; i++ {
		if p.b != nil {
			p.b.element()
		}
		if pos = p.value(pos); pos < 0 {
			p.trail = append(p.trail, step{index: i})
			return -1
		}
		var more bool
		if pos, more = p.separator(pos, ']', errArray); !more {
			if pos >= 0 {
				p.leave()
			}
			return pos
		}
	}
}

// separator reads the comma after a value, and the blank space around it, or the
// end of the container.
func (p *Parser) separator(pos int, end byte, otherwise error) (next int, more bool) {
	if pos < len(p.text) && p.text[pos] <= ' ' {
		pos = p.blank(pos)
	}
	if pos >= len(p.text) {
		return p.fail(pos, errEnd), false
	}
	switch p.text[pos] {
	case ',':
		if pos++; pos < len(p.text) && p.text[pos] <= ' ' {
			pos = p.blank(pos)
		}
		return pos, true
	case end:
		return pos + 1, false
	}
	return p.fail(pos, otherwise), false
}

func (p *Parser) object(pos int) int {
	if !p.enter(pos, KindObject) {
		return -1
	}
	claims, s := len(p.tree.claimed), p.tree.root
	pos = p.blank(pos + 1)
	if pos < len(p.text) && p.text[pos] == '}' {
		p.leave()
		return pos + 1
	}
	for {
		var k *key
		if k, s, pos = p.field(s, pos); pos < 0 {
			return -1
		}
		if k != nil {
			if p.b != nil {
				p.b.field(k, s)
			} else {
				p.sink.Key(k.name)
			}
			if pos = p.value(pos); pos < 0 {
				p.trail = append(p.trail, step{name: k.name, index: -1})
				return -1
			}
		}
		var more bool
		if pos, more = p.separator(pos, '}', errObject); !more {
			if pos >= 0 {
				p.endObject(s, claims)
			}
			return pos
		}
	}
}

func (p *Parser) endObject(s *objectShape, claims int) {
	p.leave()
	if s == nil && p.b == nil {
		p.tree.release(claims)
		p.tree.general++
	}
}

// field reads a key, its colon and the blank space around, and returns the key and
// the shape of the object after it. A key that loses against a later one is read
// with its value and not returned.
func (p *Parser) field(s *objectShape, pos int) (*key, *objectShape, int) {
	if s != nil && !p.slow {
		if next := s.next; next != nil {
			if end := p.match(next.key, pos); end > 0 {
				return next.key, next, end
			}
		}
	}
	return p.fieldText(s, pos)
}

// match compares the text with an expected key, quotes and colon included. It
// returns the position of the value, or 0 when the text has something else or
// should be looked at more slowly.
func (p *Parser) match(k *key, pos int) int {
	text := p.text
	if len(text)-pos < 16 || k.mask0 == 0 {
		return 0
	}
	head := text[pos : pos+16]
	if (binary.LittleEndian.Uint64(head)^k.word0)&k.mask0 != 0 {
		return 0
	}
	if (binary.LittleEndian.Uint64(head[8:])^k.word1)&k.mask1 != 0 {
		return 0
	}
	end := pos + len(k.quoted)
	if len(k.quoted) > 16 && (end > len(text) || string(text[pos+16:end]) != string(k.quoted[16:])) {
		return 0
	}
	if len(text)-end < 2 || text[end] != ':' {
		return 0
	}
	if end++; text[end] <= ' ' {
		return p.blank(end)
	}
	return end
}

// fieldText is field without a prediction.
func (p *Parser) fieldText(s *objectShape, pos int) (*key, *objectShape, int) {
	if pos >= len(p.text) {
		return nil, nil, p.fail(pos, errEnd)
	}
	if p.text[pos] != '"' {
		return nil, nil, p.fail(pos, errKey)
	}
	name, end := p.scan(pos)
	if end < 0 {
		return nil, nil, -1
	}
	k := p.tree.intern(name)
	end = p.blank(end)
	if end >= len(p.text) || p.text[end] != ':' {
		return nil, nil, p.fail(end, errColon)
	}
	end = p.blank(end + 1)
	if len(p.skip) > 0 && p.skip[0] == pos {
		p.skip = p.skip[1:]
		return nil, s, p.ignore(end)
	}
	if p.finder != nil {
		p.finder.at = pos
	}
	c, dup := p.tree.advance(s, k, p.depth)
	if !dup {
		return k, c, end
	}
	if p.repeats = true; p.tolerant {
		return k, s, end
	}
	p.trail = append(p.trail, step{name: k.name, index: -1})
	return nil, nil, p.fail(pos, ErrDuplicateKey)
}
