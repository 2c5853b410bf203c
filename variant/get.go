package variant

// Get returns the descendant at p; missing when there is none or the bytes on
// the way are corrupt ([Value.Lookup] tells the two apart). A Variant null at p is
// a present value. Get allocates nothing.
//
// A compiled path remembers the ids of its keys in the dictionaries that it met
// (some 8, of up to 2 KiB), and where its keys were in the objects, so that for rows
// of a few recurring shapes a step costs one comparison instead of a search. What it
// remembers is confirmed at each use and shared by all goroutines. See [Getter] for
// several paths at once. Like [Value.Field] it finds a key in any order of fields.
func (v Value) Get(p Path) Value {
	if p.c == nil {
		return v
	}
	r := p.c.dicts.find(v.metadata, p.c.refs)
	b, state := v.value, walkUnsure
	if r != nil {
		b, state = r.walk(b)
	}
	if state == walkUnsure {
		b, state = p.c.walk(v, r, false)
	}
	if state != walkFound {
		return Value{}
	}
	return Value{v.metadata, b}
}

// walk is the walk by quick steps alone.
func (r *resolved) walk(b []byte) ([]byte, walkState) {
	if r.absent || len(b) == 0 {
		return nil, walkMissing
	}
	for i := range r.steps {
		s := &r.steps[i]
		var state walkState
		if s.index >= 0 {
			b, state = glanceIndex(b, s.index)
		} else {
			b, state = s.take(b)
		}
		if state != walkFound {
			return nil, state
		}
	}
	if b = exact(b); b == nil {
		return nil, walkUnsure
	}
	return b, walkFound
}

// Lookup is Get that reports corruption: an error that Is [ErrCorrupt] when a
// header, an offset, a field id or a name on the way is out of range. When a key
// is not found, all field ids of its object were in range. What p does not lead
// through is not looked at; [New] and [Value.Validate] check everything.
func (v Value) Lookup(p Path) (Value, error) {
	if p.c == nil {
		if len(v.value) > 0 && exact(v.value) == nil {
			return Value{}, corruptValue(0, "truncated or of unknown type")
		}
		return v, nil
	}
	b, state := p.c.walk(v, p.c.dicts.find(v.metadata, p.c.refs), true)
	switch state {
	case walkFound:
		return Value{v.metadata, b}, nil
	case walkMissing:
		return Value{}, nil
	}
	return Value{}, walkError(v, b, state)
}

// walkState is the outcome of a step or of a walk.
type walkState uint8

const (
	walkMissing   walkState = iota // nothing, and no corruption
	walkFound                      // a value, as far as its header tells
	walkTruncated                  // a value that does not fit, or of no known type
	walkBadID                      // a field id or its name is out of range
	walkBadDict                    // the metadata's header or offsets do not fit
	walkUnsure                     // no quick answer: a full step has to be made
)

// walkError makes the error of a walk that stopped at b.
func walkError(v Value, b []byte, state walkState) error {
	at := 0 // b is a part of v.value
	for at < len(v.value) && (len(b) == 0 || &v.value[at] != &b[0]) {
		at++
	}
	switch state {
	case walkBadDict:
		return corruptMeta(0, "bad header or truncated offsets")
	case walkBadID:
		return corruptValue(at, "field id or its name is out of range")
	}
	return corruptValue(at, "truncated or of unknown type")
}

// walk follows the steps and returns the exact bytes of the value at their end,
// or those where it stopped. With strict set, an object without the key has all
// its field ids checked.
func (c *compiledPath) walk(v Value, r *resolved, strict bool) ([]byte, walkState) {
	b := v.value
	if len(b) == 0 {
		return nil, walkMissing
	}
	var d dict
	width, names := 0, 0
	if r == nil {
		width, names = namesStart(v.metadata)
	}
	for i := range c.steps {
		s := &c.steps[i]
		var child []byte
		var state walkState
		switch {
		case s.isIndex:
			child, state = glanceIndex(b, s.index)
		case r != nil:
			child, state = r.steps[i].take(b)
		default:
			child, state = s.glance(b, v.metadata, width, names)
		}
		if state == walkUnsure || strict && state == walkMissing {
			child, state = s.take(b, &d, v.metadata, strict)
		}
		if state != walkFound {
			return b, state
		}
		b = child
	}
	if whole := exact(b); whole != nil {
		return whole, walkFound
	}
	return b, walkTruncated
}

// take makes one step from the value at the start of b. d is viewed when the
// first key needs it.
func (s *compiledStep) take(b []byte, d *dict, metadata []byte, strict bool) ([]byte, walkState) {
	if len(b) == 0 {
		return nil, walkTruncated
	}
	want := byte(basicObject)
	if s.isIndex {
		want = basicArray
	}
	if b[0]&3 != want {
		if firstKinds[b[0]] == KindMissing {
			return nil, walkTruncated
		}
		return nil, walkMissing
	}
	k, ok := readContainer(b)
	if !ok {
		return nil, walkTruncated
	}
	if s.isIndex {
		if s.index >= k.n {
			return nil, walkMissing
		}
		return k.child(s.index), walkFound
	}
	if d.b == nil {
		if *d, ok = viewDict(metadata); !ok {
			return nil, walkBadDict
		}
	}
	pos, state := s.find(&k, d)
	if state == walkFound {
		return k.child(pos), walkFound
	}
	if strict && state == walkMissing && !k.idsInRange(d) {
		return nil, walkBadID
	}
	return nil, state
}

// find returns the position of the step's key among the fields of k, and keeps it
// as the guess for the next object of the shape.
func (s *compiledStep) find(k *container, d *dict) (int, walkState) {
	if k.n == 0 {
		return 0, walkMissing
	}
	pos, state := k.find(d, s.name)
	if state == walkFound || state == walkMissing && d.sorted && !s.wide {
		s.learn(shape(k.n, uint32(k.id(0)), uint32(k.id(k.n-1))), pos, state == walkMissing)
	}
	return pos, state
}

// idsInRange reports whether the dictionary has all field ids of an object.
func (k *container) idsInRange(d *dict) bool {
	for i := range k.n {
		if k.id(i) >= d.n {
			return false
		}
	}
	return true
}
