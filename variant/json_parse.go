package variant

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
	pos = p.value(pos, p.tree.document)
	if pos < 0 {
		return pos
	}
	if pos = p.blank(pos); pos < len(p.text) {
		return p.fail(pos, errTrailing)
	}
	return pos
}

// startClass tells what a byte starts.
type startClass uint8

const (
	startOther startClass = iota
	startBlank
	startNumber
	startString
	startObject
	startArray
	startTrue
	startFalse
	startNull
)

var startClasses = func() (t [256]startClass) {
	for c := '0'; c <= '9'; c++ {
		t[c] = startNumber
	}
	for _, c := range " \t\r\n" {
		t[c] = startBlank
	}
	t['-'], t['"'], t['{'], t['['] = startNumber, startString, startObject, startArray
	t['t'], t['f'], t['n'] = startTrue, startFalse, startNull
	return t
}()

// value reads a value of the field that ends the shape at. What kind of value comes
// is hard to predict where texts of several shapes are mixed, so the switch is one
// over a dense range, which compiles to one jump instead of several branches.
func (p *Parser) value(pos int, at *objectShape) int {
	if pos >= len(p.text) {
		return p.fail(pos, errEnd)
	}
	switch startClasses[p.text[pos]] {
	case startBlank:
		return p.value(p.blank(pos), at)
	case startNumber:
		return p.number(pos)
	case startString:
		return p.stringValue(pos)
	case startObject:
		return p.object(pos, at)
	case startArray:
		return p.array(pos, at)
	case startTrue:
		return p.literal(pos, "true", KindBool, primTrue<<2)
	case startFalse:
		return p.literal(pos, "false", KindBool, primFalse<<2)
	case startNull:
		return p.literal(pos, "null", KindNull, primNull<<2)
	case startOther:
	}
	return p.fail(pos, errValue)
}

// literal reads a word that stands for a value encoded as one byte.
func (p *Parser) literal(pos int, word string, k Kind, header byte) int {
	end := pos + len(word)
	if end > len(p.text) || string(p.text[pos:end]) != word {
		return p.fail(pos, errValue)
	}
	if p.b != nil {
		p.b.putByte(header)
		return end
	}
	s := &p.scalar
	if s.Kind, s.Int = k, 0; header == primTrue<<2 {
		s.Int = 1
	}
	p.sink.Scalar(s)
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

// enter opens a container in the field that ends the shape at.
func (p *Parser) enter(pos int, k Kind, at *objectShape) bool {
	if p.depth++; p.depth > p.opts.MaxDepth {
		p.fail(pos, ErrDepth)
		return false
	}
	if p.b != nil {
		p.b.open(k == KindObject, at)
	} else {
		p.sink.Begin(k)
	}
	return true
}

// endArray closes an array unless what follows its last value was wrong.
func (p *Parser) endArray(pos int) int {
	if pos < 0 {
		return pos
	}
	p.depth--
	if p.b != nil {
		p.b.endArray()
	} else {
		p.sink.End()
	}
	return pos
}

func (p *Parser) array(pos int, at *objectShape) int {
	if !p.enter(pos, KindArray, at) {
		return -1
	}
	pos = p.blank(pos + 1)
	if pos < len(p.text) && p.text[pos] == ']' {
		return p.endArray(pos + 1)
	}
	for i := 0; ; i++ {
		if p.b != nil {
			p.b.note(0)
		}
		if pos = p.value(pos, at); pos < 0 {
			p.trail = append(p.trail, step{index: i})
			return -1
		}
		if pos >= len(p.text) || p.text[pos] != ',' {
			var more bool
			if pos, more = p.separator(pos, ']', errArray); !more {
				return p.endArray(pos)
			}
		}
		if pos++; pos < len(p.text) && p.text[pos] <= ' ' {
			pos = p.blank(pos)
		}
	}
}

// separator finds what follows a value in a container: a comma, whose position it
// returns, or the end, after which it returns.
func (p *Parser) separator(pos int, end byte, otherwise error) (next int, more bool) {
	if pos < len(p.text) && p.text[pos] <= ' ' {
		pos = p.blank(pos)
	}
	if pos >= len(p.text) {
		return p.fail(pos, errEnd), false
	}
	switch p.text[pos] {
	case ',':
		return pos, true
	case end:
		return pos + 1, false
	}
	return p.fail(pos, otherwise), false
}

// object reads an object. Each turn of its loop starts at the brace or comma in
// front of a key. The common turn compares two words of text with the key that is
// expected there, punctuation included, and reads a number.
func (p *Parser) object(pos int, at *objectShape) int {
	if !p.enter(pos, KindObject, at) {
		return -1
	}
	text, claims, s := p.text, len(p.tree.claimed), p.tree.root
	if pos+1 >= len(text) || text[pos+1] != '"' {
		if end := p.blank(pos + 1); end < len(text) && text[end] == '}' {
			return p.endObject(end+1, s, claims)
		}
	}
	guess := at.first
	for {
		var k *key
		if guess != nil && len(text)-pos > 16 && !p.slow && guess.follows(text[pos:pos+16]) && (guess.span <= 16 || p.longKey(guess.key, pos)) {
			s, pos = guess, pos+int(guess.span)
			if b := p.b; b != nil {
				b.note(s.index)
			} else {
				p.sink.Key(s.name)
			}
		} else if k, s, pos = p.field(s, pos, at); pos < 0 {
			return -1
		}
		if pos < len(text) && startClasses[text[pos]] == startNumber {
			pos = p.number(pos)
		} else {
			pos = p.value(pos, p.tree.orLost(s))
		}
		if pos < 0 {
			return p.failField(s, k)
		}
		if pos >= len(text) || text[pos] != ',' {
			if pos < len(text) && text[pos] == '}' {
				return p.endObject(pos+1, s, claims)
			}
			var more bool
			if pos, more = p.separator(pos, '}', errObject); !more {
				return p.endObject(pos, s, claims)
			}
		}
		if guess = nil; s != nil {
			if guess = s.next; guess == nil && len(text)-pos > 16 {
				guess = s.guess(text[pos+2 : pos+6])
			}
		}
	}
}

// failField notes where an error was: in the field that ends the shape s, or in k
// when that is known.
func (p *Parser) failField(s *objectShape, k *key) int {
	if k == nil {
		k = s.key
	}
	p.trail = append(p.trail, step{name: k.name, index: -1})
	return -1
}

// endObject closes an object unless what follows its last value was wrong.
func (p *Parser) endObject(pos int, s *objectShape, claims int) int {
	if pos < 0 {
		return pos
	}
	p.depth--
	if p.b != nil {
		p.b.endObject(s)
		return pos
	}
	p.sink.End()
	if s == nil {
		p.tree.release(claims)
		p.tree.general++
	}
	return pos
}

// longKey compares the rest of a key of more than 16 bytes that the first 16 of the
// text at pos announce, and wants text after it.
func (p *Parser) longKey(k *key, pos int) bool {
	end := pos + k.span
	return end < len(p.text) && string(p.text[pos+16:end]) == string(k.pattern[16:])
}

// startsWith compares the text with a key and its colon.
func (p *Parser) startsWith(k *key, pos int) bool {
	end := pos + k.span - 1
	return end < len(p.text) && len(k.pattern) > 0 && string(p.text[pos:end]) == string(k.pattern[1:])
}

// expected looks for the key at pos among those that came there before.
func (p *Parser) expected(s *objectShape, pos int, at *objectShape) *objectShape {
	if guess := at.first; s.n == 0 && guess != nil && p.startsWith(guess.key, pos) {
		return guess
	}
	if len(p.text)-pos > 5 {
		if guess := s.guess(p.text[pos+1 : pos+5]); guess != nil && p.startsWith(guess.key, pos) {
			return guess
		}
	}
	for _, c := range s.kids {
		if p.startsWith(c.key, pos) {
			return c
		}
	}
	return nil
}

// field reads a key from the punctuation in front of it to its value, passes it on,
// and returns it and the shape of the object after it. A key that loses against a
// later one is skipped, value and all.
func (p *Parser) field(s *objectShape, pos int, at *objectShape) (*key, *objectShape, int) {
	k, c, next := p.nextKey(s, pos, at)
	if next < 0 {
		return nil, nil, next
	}
	if c != nil && c.n == 1 {
		at.first = c
	}
	if b := p.b; b != nil {
		b.field(k, c)
	} else {
		p.sink.Key(k.name)
	}
	return k, c, next
}

// nextKey is field without passing the key on.
func (p *Parser) nextKey(s *objectShape, pos int, at *objectShape) (*key, *objectShape, int) {
	pos = p.blank(pos + 1)
	if s != nil && !p.slow {
		if c := p.expected(s, pos, at); c != nil {
			s.took(c)
			return c.key, c, pos + int(c.span) - 1
		}
	}
	start := pos
	name, pos := p.fieldName(pos)
	if pos < 0 {
		return nil, nil, pos
	}
	if len(p.skip) > 0 && p.skip[0] == start {
		return p.loser(s, pos, at)
	}
	if p.finder != nil {
		p.finder.at = start
	}
	k := p.tree.intern(name)
	c, dup := p.tree.advance(s, k, p.depth)
	switch {
	case !dup:
		return k, c, pos
	case p.tolerant:
		p.repeats = true
		return k, s, pos
	}
	p.trail = append(p.trail, step{name: k.name, index: -1})
	return nil, nil, p.fail(start, ErrDuplicateKey)
}

// fieldName reads a key and its colon, up to the value.
func (p *Parser) fieldName(pos int) (name []byte, next int) {
	if pos >= len(p.text) {
		return nil, p.fail(pos, errEnd)
	}
	if p.text[pos] != '"' {
		return nil, p.fail(pos, errKey)
	}
	name, pos = p.scan(pos)
	if pos < 0 {
		return nil, pos
	}
	if pos = p.blank(pos); pos >= len(p.text) || p.text[pos] != ':' {
		return nil, p.fail(pos, errColon)
	}
	return name, p.blank(pos + 1)
}
