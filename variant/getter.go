package variant

// Getter takes several paths out of a value at once: steps that paths share are
// made once, and the value's dictionary is looked at once. It is immutable and
// safe for concurrent use, like the paths it is made of.
type Getter struct {
	root  getterNode
	paths int
}

// getterNode is a place that at least one path leads to or through.
type getterNode struct {
	ends     []int // paths that end here
	children []getterChild
}

type getterChild struct {
	step *compiledStep
	node *getterNode
}

// NewGetter returns a Getter of the paths, in their order. A path may occur twice.
func NewGetter(paths ...Path) *Getter {
	g := &Getter{paths: len(paths)}
	for i, p := range paths {
		node := &g.root
		if p.c != nil {
			for j := range p.c.public {
				node = node.child(&p.c.public[j])
			}
		}
		node.ends = append(node.ends, i)
	}
	return g
}

// child returns the node at step, which it makes when there is none.
func (n *getterNode) child(step *Step) *getterNode {
	for _, c := range n.children {
		if c.step.isIndex == step.IsIndex && c.step.name == step.Name && c.step.index == step.Index {
			return c.node
		}
	}
	c := getterChild{step: new(compiledStep), node: new(getterNode)}
	c.step.init(step)
	n.children = append(n.children, c)
	return c.node
}

// Len returns the number of paths.
func (g *Getter) Len() int { return g.paths }

// Get returns dst[:Len] with the value at each path, as [Value.Get] gives it. It
// allocates only when dst has not the room.
func (g *Getter) Get(v Value, dst []Value) []Value {
	dst, _ = g.get(v, dst, false)
	return dst
}

// Lookup is Get with the errors of [Value.Lookup]. The values that were reached
// are set, error or not.
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
	w := getterWalk{v: v, dst: dst, strict: strict}
	w.visit(&g.root, v.value)
	if strict && w.state > walkFound {
		return dst, walkError(v, w.at, w.state)
	}
	return dst, nil
}

// getterWalk is one pass over a value. state keeps the first corruption.
type getterWalk struct {
	v      Value
	d      dict
	dst    []Value
	strict bool
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
	for i := range n.children {
		c := &n.children[i]
		child, state := c.step.take(b, &w.d, w.v.metadata, w.strict)
		if state == walkFound {
			w.visit(c.node, child)
			continue
		}
		w.fail(b, state)
	}
}

func (w *getterWalk) fail(b []byte, state walkState) {
	if w.state <= walkFound {
		w.state, w.at = state, b
	}
}
