package variant

import "slices"

// findRepeats fills p.skip with the offsets of keys that a later key of the same
// object repeats. Texts without repeats, nearly all, cost one more pass.
func (p *Parser) findRepeats(text []byte) error {
	p.repeats, p.tolerant = false, true
	defer func() { p.tolerant = false }()
	if err := p.parse(text, discard{}); err != nil || !p.repeats {
		return err
	}
	var f repeatFinder
	p.finder = &f
	err := p.parse(text, &f)
	p.finder = nil
	if err != nil {
		return err
	}
	slices.Sort(f.skip)
	p.skip = append(p.skip, f.skip...)
	return nil
}

// repeatFinder is a sink that notes where the keys of each open object are.
type repeatFinder struct {
	discard
	at   int // of the key that comes
	open []map[string]int
	skip []int
}

func (f *repeatFinder) Begin(Kind) { f.open = append(f.open, nil) }
func (f *repeatFinder) End()       { f.open = f.open[:len(f.open)-1] }

func (f *repeatFinder) Key(name []byte) {
	m := &f.open[len(f.open)-1]
	if *m == nil {
		*m = map[string]int{}
	}
	if at, ok := (*m)[string(name)]; ok {
		f.skip = append(f.skip, at)
	}
	(*m)[string(name)] = f.at
}

// loser skips the value of a key that a later one repeats, and goes on with the
// field after it, of which there is one.
func (p *Parser) loser(s *objectShape, pos int, at *objectShape) (*key, *objectShape, int) {
	p.skip = p.skip[1:]
	b, sink := p.b, p.sink
	p.b, p.sink = nil, discard{}
	pos = p.value(pos, p.tree.lost)
	p.b, p.sink = b, sink
	if pos < 0 {
		return nil, nil, pos
	}
	pos, more := p.separator(pos, '}', errObject)
	if !more {
		panic("BUG: variant: a key that is repeated later is the last")
	}
	return p.nextKey(s, pos, at)
}

// discard is a sink that takes everything.
type discard struct{}

func (discard) Begin(Kind)     {}
func (discard) End()           {}
func (discard) Key([]byte)     {}
func (discard) Scalar(*Scalar) {}
func (discard) Err() error     { return nil }
