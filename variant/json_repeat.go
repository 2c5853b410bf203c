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

// ignore reads a value without passing it on.
func (p *Parser) ignore(pos int) int {
	b, sink, tree := p.b, p.sink, p.tree
	p.b, p.sink = nil, discard{}
	pos = p.value(pos)
	p.b, p.sink, p.tree = b, sink, tree
	return pos
}

// discard is a sink that takes everything.
type discard struct{}

func (discard) Begin(Kind)     {}
func (discard) End()           {}
func (discard) Key([]byte)     {}
func (discard) Scalar(*Scalar) {}
func (discard) Err() error     { return nil }
