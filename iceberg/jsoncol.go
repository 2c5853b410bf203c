package iceberg

import (
	"errors"
	"fmt"

	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// jsonColumn turns the JSON values of one column, or of one field inside it,
// into leaf buffers. Top-level Variant columns are not among them: those are
// shredded.
//
// Invariant: def and rep are the levels of a value that is present here, so a
// value of this node is null at def-1 when it is optional, and the elements of
// a list or map sit at def+1.
type jsonColumn struct {
	field    ice.NestedField
	def, rep uint8
	cell     *cell // primitive
	enc      *variant.Encoder
	leaf     *leaf.Buffer // primitive; the first of a Variant's two
	kids     []*jsonColumn
	byName   map[string]int // struct: ordinal of a field
	leaves   []*leaf.Buffer // of the whole subtree
	fallback fallback
	scratch  []byte
	seen     []bool // struct: fields of the value at hand
}

// fallback is what a row gets that lacks the field.
type fallback struct {
	kind   fallbackKind
	scalar variant.Scalar
}

type fallbackKind uint8

const (
	fallNull   fallbackKind = iota
	fallError               // required, no default
	fallScalar              // a write default
	fallStruct              // a struct whose fields have their own defaults
)

var (
	errRequired = errors.New("null in a required column")
	errMissing  = errors.New("required column is missing and has no default")
)

// newJSONColumn makes the writer of a top-level column.
func newJSONColumn(f ice.NestedField, parse variant.ParseOptions) (*jsonColumn, error) {
	return buildColumn(f, fieldNode(f), nil, 0, 0, parse)
}

func buildColumn(f ice.NestedField, n *leaf.Node, path []string, def, rep uint8, parse variant.ParseOptions) (*jsonColumn, error) {
	path = append(path[:len(path):len(path)], n.Name)
	if !f.Required {
		def++
	}
	c := &jsonColumn{field: f, def: def, rep: rep}
	var err error
	if c.fallback, err = newFallback(f); err != nil {
		return nil, fmt.Errorf("column %q: write default: %w", f.Name, err)
	}
	switch t := f.Type.(type) {
	case *ice.StructType:
		err = c.addStruct(t, n, path, parse)
	case *ice.ListType:
		err = c.addRepeated([]ice.NestedField{t.ElementField()}, n, path, parse)
	case *ice.MapType:
		err = c.addRepeated([]ice.NestedField{t.KeyField(), t.ValueField()}, n, path, parse)
	case ice.VariantType:
		c.enc = variant.NewEncoder(parse)
		for _, part := range n.Children {
			info := leaf.Info{Node: part, Path: append(path[:len(path):len(path)], part.Name), MaxDef: def, MaxRep: rep}
			c.leaves = append(c.leaves, &leaf.Buffer{Info: info})
		}
		c.leaf = c.leaves[0]
	default:
		if c.cell, err = newCell(t); err != nil {
			return nil, err
		}
		c.leaf = &leaf.Buffer{Info: leaf.Info{Node: n, Path: path, MaxDef: def, MaxRep: rep}}
		c.leaves = []*leaf.Buffer{c.leaf}
	}
	return c, err
}

func (c *jsonColumn) addStruct(t *ice.StructType, n *leaf.Node, path []string, parse variant.ParseOptions) error {
	c.byName = map[string]int{}
	c.seen = make([]bool, len(t.FieldList))
	for i, f := range t.FieldList {
		c.byName[f.Name] = i
		if err := c.addKid(f, n.Children[i], path, c.def, c.rep, parse); err != nil {
			return err
		}
	}
	return nil
}

func (c *jsonColumn) addRepeated(fields []ice.NestedField, n *leaf.Node, path []string, parse variant.ParseOptions) error {
	group := n.Children[0]
	path = append(path[:len(path):len(path)], group.Name)
	for i, f := range fields {
		if err := c.addKid(f, group.Children[i], path, c.def+1, c.rep+1, parse); err != nil {
			return err
		}
	}
	return nil
}

func (c *jsonColumn) addKid(f ice.NestedField, n *leaf.Node, path []string, def, rep uint8, parse variant.ParseOptions) error {
	kid, err := buildColumn(f, n, path, def, rep, parse)
	if err != nil {
		return err
	}
	c.kids = append(c.kids, kid)
	c.leaves = append(c.leaves, kid.leaves...)
	return nil
}

func newFallback(f ice.NestedField) (fallback, error) {
	if f.WriteDefault == nil {
		if f.Required {
			return fallback{kind: fallError}, nil
		}
		return fallback{}, nil
	}
	if _, isStruct := f.Type.(*ice.StructType); isStruct {
		return fallback{kind: fallStruct}, nil
	}
	s, err := defaultScalar(f.Type, f.WriteDefault)
	return fallback{kind: fallScalar, scalar: s}, err
}

// null adds a slot at the given level to every leaf.
func (c *jsonColumn) null(rep, def uint8) {
	for _, b := range c.leaves {
		addSlot(b, rep, def)
	}
}

// addSlot adds the levels of one slot.
func addSlot(b *leaf.Buffer, rep, def uint8) {
	b.Slots++
	if b.MaxDef > 0 {
		b.Def.Append(def, 1)
	}
	if b.MaxRep > 0 {
		b.Rep.Append(rep, 1)
	}
}

// missing adds what a row gets that has no value here; rep is its level.
func (c *jsonColumn) missing(rep uint8) error {
	switch c.fallback.kind {
	case fallNull:
		c.null(rep, c.def-1)
	case fallError:
		return errMissing
	case fallScalar:
		c.scalar(rep, &c.fallback.scalar)
	case fallStruct:
		for _, kid := range c.kids {
			if err := kid.missing(rep); err != nil {
				return fmt.Errorf("%s: %w", kid.field.Name, err)
			}
		}
	}
	return nil
}

// scalar adds a value of a primitive column.
func (c *jsonColumn) scalar(rep uint8, s *variant.Scalar) {
	addSlot(c.leaf, rep, c.def)
	c.cell.put(c.leaf, s)
}

// json adds a JSON value. After an error the buffers hold part of a row; undo
// takes it away.
func (c *jsonColumn) json(rep uint8, raw []byte) error {
	if c.enc != nil {
		return c.variant(rep, raw)
	}
	if string(raw) == "null" {
		if c.field.Required {
			return errRequired
		}
		c.null(rep, c.def-1)
		return nil
	}
	if c.cell != nil {
		if text, ok := c.cell.plainString(raw); ok {
			addSlot(c.leaf, rep, c.def)
			c.leaf.AppendBytes(text)
			return nil
		}
		s, err := c.cell.json(raw)
		if err != nil {
			return err
		}
		c.scalar(rep, &s)
		return nil
	}
	switch c.field.Type.(type) {
	case *ice.StructType:
		return c.object(rep, raw)
	case *ice.ListType:
		return c.list(rep, raw)
	}
	return c.mapping(rep, raw)
}

func (c *jsonColumn) object(rep uint8, raw []byte) error {
	places := make([]span, len(c.kids))
	clear(c.seen)
	err := members(raw, func(key []byte, value span) error {
		var err error
		if c.scratch, err = unquote(c.scratch[:0], key); err != nil {
			return err
		}
		i, ok := c.byName[string(c.scratch)]
		if !ok {
			return nil
		}
		if c.seen[i] {
			return fmt.Errorf("%w %q", variant.ErrDuplicateKey, c.scratch)
		}
		c.seen[i], places[i] = true, value
		return nil
	})
	if err != nil {
		return err
	}
	for i, kid := range c.kids {
		if places[i].end == 0 {
			err = kid.missing(rep)
		} else {
			err = kid.json(rep, raw[places[i].start:places[i].end])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", kid.field.Name, err)
		}
	}
	return nil
}

func (c *jsonColumn) list(rep uint8, raw []byte) error {
	n := 0
	err := elements(raw, func(value []byte) error {
		if n > 0 {
			rep = c.rep + 1
		}
		n++
		return c.kids[0].json(rep, value)
	})
	if err != nil {
		return fmt.Errorf("element %d: %w", n-1, err)
	}
	if n == 0 {
		c.null(rep, c.def)
	}
	return nil
}

func (c *jsonColumn) mapping(rep uint8, raw []byte) error {
	n := 0
	seen := map[string]bool{}
	key, value := c.kids[0], c.kids[1]
	err := members(raw, func(rawKey []byte, at span) error {
		if n > 0 {
			rep = c.rep + 1
		}
		n++
		text, err := unquote(nil, rawKey)
		if err != nil {
			return err
		}
		if seen[string(text)] {
			return fmt.Errorf("%w %q", variant.ErrDuplicateKey, text)
		}
		seen[string(text)] = true
		if key.cell == nil {
			return fmt.Errorf("map keys of type %s cannot be read from JSON", key.field.Type)
		}
		s, err := key.cell.scalar(text, key.cell.quotedKind())
		if err != nil {
			return err
		}
		key.scalar(rep, &s)
		return value.json(rep, raw[at.start:at.end])
	})
	if err != nil {
		return fmt.Errorf("entry %d: %w", n-1, err)
	}
	if n == 0 {
		c.null(rep, c.def)
	}
	return nil
}

// variant adds a Variant that is part of a nested column, unshredded. JSON null
// is the Variant null, which also suits a required field.
func (c *jsonColumn) variant(rep uint8, raw []byte) error {
	v, err := c.enc.Encode(raw)
	if err != nil {
		return err
	}
	for _, b := range c.leaves {
		addSlot(b, rep, c.def)
	}
	c.leaves[0].AppendBytes(v.Metadata())
	c.leaves[1].AppendBytes(v.Bytes())
	return nil
}

// undo drops the slots of every leaf beyond those in marks.
func (c *jsonColumn) undo(marks []int) {
	for i, b := range c.leaves {
		truncate(b, marks[i])
	}
}

// mark notes the slots of every leaf, for undo.
func (c *jsonColumn) mark(marks []int) []int {
	marks = marks[:0]
	for _, b := range c.leaves {
		marks = append(marks, b.Slots)
	}
	return marks
}

// truncate keeps the first slots of a buffer.
func truncate(b *leaf.Buffer, slots int) {
	drop := 0 // values among the dropped slots
	if b.MaxDef == 0 {
		drop = b.Slots - slots
	}
	left := b.Slots - slots
	for i := len(b.Def.Runs) - 1; i >= 0 && left > 0; i-- {
		n := min(left, int(b.Def.Runs[i].N))
		if b.Def.Runs[i].Level == b.MaxDef {
			drop += n
		}
		left -= n
	}
	keep := b.Values() - drop
	b.Slots = slots
	if b.MaxDef > 0 {
		b.Def.Truncate(slots)
	}
	if b.MaxRep > 0 {
		b.Rep.Truncate(slots)
	}
	switch b.Node.Type {
	case leaf.Bool:
		b.Bools = b.Bools[:keep]
	case leaf.Int32:
		b.Int32s = b.Int32s[:keep]
	case leaf.Int64:
		b.Int64s = b.Int64s[:keep]
	case leaf.Float:
		b.Floats = b.Floats[:keep]
	case leaf.Double:
		b.Doubles = b.Doubles[:keep]
	case leaf.Bytes, leaf.Fixed, leaf.Int96:
		if len(b.Offsets) > 0 {
			b.Offsets = b.Offsets[:keep+1]
			b.Data = b.Data[:b.Offsets[keep]]
		}
	case leaf.Group:
	}
}
