package variant

// Getter takes several paths out of a value at once: steps that paths share are
// made once, and the value's dictionary is looked up once. It is safe for
// concurrent use, like the paths it is made of.
type Getter struct {
	root  getterNode
	paths int
	refs  []*compiledStep // of all nodes, by their number
	ids   idCache
}

// getterNode is a place that at least one path leads to or through.
type getterNode struct {
	step     *compiledStep // the way here; nil at the root
	number   int           // of step in refs
	ends     []int         // paths that end here
	children []*getterNode
}

// NewGetter returns a Getter of the paths, in their order. A path may occur twice.
func NewGetter(paths ...Path) *Getter {
	g := &Getter{paths: len(paths)}
	for i, p := range paths {
		node := &g.root
		if p.c != nil {
			for j := range p.c.public {
				node = g.child(node, &p.c.public[j])
			}
		}
		node.ends = append(node.ends, i)
	}
	return g
}

// child returns the node a step away from n, which it makes when there is none.
func (g *Getter) child(n *getterNode, step *Step) *getterNode {
	for _, c := range n.children {
		if c.step.isIndex == step.IsIndex && c.step.name == step.Name && c.step.index == step.Index {
			return c
		}
	}
	c := &getterNode{step: new(compiledStep), number: len(g.refs)}
	c.step.init(step)
	g.refs = append(g.refs, c.step)
	n.children = append(n.children, c)
	return c
}

// Len returns the number of paths.
func (g *Getter) Len() int { return g.paths }

// Get returns dst[:Len] with the value at each path, as [Value.Get] gives it. It
// allocates only when dst has not the room.
func (g *Getter) Get(v Value, dst []Value) []Value {
	dst, _ = g.get(v, dst, false)
	return dst
}

// Lookup is Get with the errors of [Value.Lookup]: the first corruption that was
// met. The values that could be reached are set.
func (g *Getter) Lookup(v Value, dst []Value) ([]Value, error) {
	return g.get(v, dst, true)
}

func (g *Getter) get(v Value, dst []Value, strict bool) ([]Value, error) {
	if cap(dst) < g.paths {
		dst = make([]Value, g.paths)
	}
	dst = dst[:g.paths]
	clear(dst)
	if len(v.value) == 0 {
		return dst, nil
	}
	w := getterWalk{v: v, dst: dst, strict: strict, ids: g.ids.find(v.metadata, g.refs)}
	if w.ids == nil {
		w.width, w.names = namesStart(v.metadata)
	}
	w.visit(&g.root, v.value)
	if strict && w.state > walkFound {
		return dst, walkError(v, w.at, w.state)
	}
	return dst, nil
}

// getterWalk is one pass over a value. state keeps the first corruption, at where
// it was.
type getterWalk struct {
	v      Value
	dst    []Value
	strict bool
	ids    *resolved
	width  int // without ids, as namesStart gives them
	names  int
	dict   dict
	state  walkState
	at     []byte
}

// visit takes what the paths through n want from the value at the start of b. It
// goes as deep as the longest path.
func (w *getterWalk) visit(n *getterNode, b []byte) {
	if len(n.ends) > 0 {
		whole := exact(b)
		if whole == nil {
			w.fail(b, walkTruncated)
			return
		}
		for _, i := range n.ends {
			w.dst[i] = Value{w.v.metadata, whole}
		}
	}
	for _, c := range n.children {
		child, state := w.step(c, b)
		switch state {
		case walkFound:
			w.visit(c, child)
		case walkMissing:
		default:
			w.fail(b, state)
		}
	}
}

func (w *getterWalk) step(n *getterNode, b []byte) (child []byte, state walkState) {
	switch {
	case n.step.isIndex:
		child, state = glanceIndex(b, n.step.index)
	case w.ids != nil && w.ids.steps[n.number].id == noID && !w.strict:
		return nil, walkMissing
	case w.ids != nil:
		child, state = w.ids.steps[n.number].take(b)
	default:
		child, state = n.step.glance(b, w.v.metadata, w.width, w.names)
	}
	if state == walkUnsure || w.strict && state == walkMissing {
		return n.step.take(b, &w.dict, w.v.metadata, w.strict)
	}
	return child, state
}

func (w *getterWalk) fail(b []byte, state walkState) {
	if w.state <= walkFound {
		w.state, w.at = state, b
	}
}
