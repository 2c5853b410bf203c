package shred

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// The oracle reads shredded columns by the letter of the specifications: first
// the generic record assembly of Parquet, slot by slot, into a tree of maps and
// slices; then the recursive function of VariantShredding.md. It shares no code
// with the package but leaf.Node and the variant builder.

// oracleColumn is a leaf with its levels spelled out.
type oracleColumn struct {
	info     leaf.Info
	def, rep []uint8
	values   []variant.Scalar
	at, used int
}

func (c *oracleColumn) peek() uint8 { return c.def[c.at] }

func (c *oracleColumn) repeats(level uint8) bool { return c.at < len(c.rep) && c.rep[c.at] == level }

func (c *oracleColumn) next() (variant.Scalar, bool) {
	here := c.def[c.at] == c.info.MaxDef
	c.at++
	if !here {
		return variant.Scalar{}, false
	}
	c.used++
	return c.values[c.used-1], true
}

func expand(l *leaf.Levels, n int) []uint8 {
	var out []uint8
	for _, r := range l.Runs {
		for range r.N {
			out = append(out, r.Level)
		}
	}
	if len(l.Runs) == 0 {
		out = make([]uint8, n)
	}
	if len(out) != n {
		panic(fmt.Sprintf("%d levels for %d slots", len(out), n))
	}
	return out
}

// scalarOf gives a physical value its meaning by the annotation of its node.
func scalarOf(n *leaf.Node, i int64, f float64, b []byte) variant.Scalar {
	s := variant.Scalar{Int: i, Hi: i >> 63, Float: f, Bytes: b}
	switch n.Type {
	case leaf.Bool:
		s.Kind = variant.KindBool
	case leaf.Float:
		s.Kind = variant.KindFloat
	case leaf.Double:
		s.Kind = variant.KindDouble
	case leaf.Int32:
		s.Kind = variant.KindInt32
		switch {
		case n.Logical == leaf.Date:
			s.Kind = variant.KindDate
		case n.Logical == leaf.Decimal:
			s.Kind, s.Scale = variant.KindDecimal4, uint8(n.Scale)
		case n.Logical == leaf.Integer && n.Bits == 8:
			s.Kind = variant.KindInt8
		case n.Logical == leaf.Integer && n.Bits == 16:
			s.Kind = variant.KindInt16
		}
	case leaf.Int64:
		s.Kind = variant.KindInt64
		switch n.Logical {
		case leaf.Decimal:
			s.Kind, s.Scale = variant.KindDecimal8, uint8(n.Scale)
		case leaf.Time:
			s.Kind = variant.KindTime
		case leaf.Timestamp:
			kinds := [2][2]variant.Kind{
				{variant.KindTimestampNTZ, variant.KindTimestamp},
				{variant.KindTimestampNTZNanos, variant.KindTimestampNanos},
			}
			utc := 0
			if n.UTC {
				utc = 1
			}
			s.Kind = kinds[n.Unit][utc]
		}
	case leaf.Bytes, leaf.Fixed:
		s.Kind = variant.KindBinary
		switch n.Logical {
		case leaf.String:
			s.Kind = variant.KindString
		case leaf.UUID:
			s.Kind = variant.KindUUID
		case leaf.Decimal:
			s.Kind, s.Scale = variant.KindDecimal16, uint8(n.Scale)
			var lo uint64
			var hi int64
			if b[0] >= 0x80 {
				hi, lo = -1, math.MaxUint64
			}
			for _, c := range b {
				hi, lo = hi<<8|int64(lo>>56), lo<<8|uint64(c)
			}
			s.Int, s.Hi = int64(lo), hi
		}
	}
	return s
}

func columnOfBuffer(b *leaf.Buffer) *oracleColumn {
	c := &oracleColumn{info: b.Info, def: expand(&b.Def, b.Slots), rep: expand(&b.Rep, b.Slots)}
	for i := range b.Values() {
		var x int64
		var f float64
		var v []byte
		switch b.Node.Type {
		case leaf.Bool:
			if b.Bools[i] {
				x = 1
			}
		case leaf.Int32:
			x = int64(b.Int32s[i])
		case leaf.Int64:
			x = b.Int64s[i]
		case leaf.Float:
			f = float64(b.Floats[i])
		case leaf.Double:
			f = b.Doubles[i]
		default:
			k := i
			if b.Indexed {
				k = int(b.Index[i])
			}
			v = b.Data[b.Offsets[k]:b.Offsets[k+1]]
		}
		c.values = append(c.values, scalarOf(b.Node, x, f, v))
	}
	return c
}

func columnOfBatch(b *leaf.Batch) *oracleColumn {
	c := &oracleColumn{info: b.Info, def: b.Def, rep: b.Rep}
	if c.def == nil {
		c.def = make([]uint8, b.Slots)
	}
	if c.rep == nil {
		c.rep = make([]uint8, b.Slots)
	}
	for i := range b.Slots - b.Nulls {
		var x int64
		var f float64
		var v []byte
		switch b.Node.Type {
		case leaf.Bool:
			if b.Bools[i] {
				x = 1
			}
		case leaf.Int32:
			x = int64(b.Int32s[i])
		case leaf.Int64:
			x = b.Int64s[i]
		case leaf.Float:
			f = float64(b.Floats[i])
		case leaf.Double:
			f = b.Doubles[i]
		default:
			v = slices.Clone(b.Bytes(i))
		}
		c.values = append(c.values, scalarOf(b.Node, x, f, v))
	}
	return c
}

// record is a node of an assembled record.
type record struct {
	null   bool
	scalar *variant.Scalar
	fields map[string]*record // a group
	order  []string
	list   []*record // a repeated node
}

type oracle struct{ columns []*oracleColumn }

func (o *oracle) leavesOf(n *leaf.Node, first int) int {
	if n.Type != leaf.Group {
		return first + 1
	}
	for _, c := range n.Children {
		first = o.leavesOf(c, first)
	}
	return first
}

// read assembles the node whose first leaf is column first.
func (o *oracle) read(n *leaf.Node, first int, def, rep uint8) *record {
	switch n.Repetition {
	case leaf.Optional:
		def++
		if o.columns[first].peek() < def {
			o.skip(n, first)
			return &record{null: true}
		}
	case leaf.Repeated:
		def++
		rep++
		r := &record{}
		if o.columns[first].peek() < def {
			o.skip(n, first)
			return r
		}
		for {
			r.list = append(r.list, o.body(n, first, def, rep))
			if !o.columns[first].repeats(rep) {
				return r
			}
		}
	}
	return o.body(n, first, def, rep)
}

func (o *oracle) body(n *leaf.Node, first int, def, rep uint8) *record {
	if n.Type != leaf.Group {
		s, ok := o.columns[first].next()
		if !ok {
			return &record{null: true}
		}
		return &record{scalar: &s}
	}
	r := &record{fields: map[string]*record{}}
	for _, c := range n.Children {
		r.fields[c.Name] = o.read(c, first, def, rep)
		r.order = append(r.order, c.Name)
		first = o.leavesOf(c, first)
	}
	return r
}

func (o *oracle) skip(n *leaf.Node, first int) {
	for i := first; i < o.leavesOf(n, first); i++ {
		o.columns[i].at++
	}
}

// construct is construct_variant of the spec; nil is missing.
func construct(b *variant.Builder, meta []byte, r *record) error {
	value, typed := r.fields["value"], r.fields["typed_value"]
	hasValue := value != nil && !value.null
	if typed == nil || typed.null {
		if !hasValue {
			return errMissing
		}
		return emitResidual(b, meta, value)
	}
	switch {
	case typed.scalar != nil:
		if hasValue {
			return fmt.Errorf("conflict: value beside a shredded primitive")
		}
		b.Scalar(typed.scalar)
		return nil
	case len(typed.fields) == 1 && typed.fields[typed.order[0]].fields == nil && !typed.fields[typed.order[0]].null:
		if hasValue {
			return fmt.Errorf("conflict: value beside a shredded array")
		}
		return constructList(b, meta, typed.fields[typed.order[0]])
	}
	return constructObject(b, meta, typed, value, hasValue)
}

var errMissing = fmt.Errorf("missing")

func emitResidual(b *variant.Builder, meta []byte, value *record) error {
	v, err := variant.New(meta, value.scalar.Bytes)
	if err != nil {
		return err
	}
	return v.Emit(b)
}

func constructList(b *variant.Builder, meta []byte, list *record) error {
	b.Begin(variant.KindArray)
	for _, e := range list.list {
		elem := e
		if len(e.fields) == 1 && e.fields["value"] == nil && e.fields["typed_value"] == nil {
			elem = e.fields[e.order[0]]
		}
		err := construct(b, meta, elem)
		if errors.Is(err, errMissing) {
			b.Null()
		} else if err != nil {
			return err
		}
	}
	b.End()
	return nil
}

func constructObject(b *variant.Builder, meta []byte, typed, value *record, hasValue bool) error {
	b.Begin(variant.KindObject)
	for _, name := range typed.order {
		f := typed.fields[name]
		if f.null {
			continue
		}
		fv, ft := f.fields["value"], f.fields["typed_value"]
		if (fv == nil || fv.null) && (ft == nil || ft.null) {
			continue
		}
		b.Key([]byte(name))
		if err := construct(b, meta, f); err != nil {
			return err
		}
	}
	if hasValue {
		v, err := variant.New(meta, value.scalar.Bytes)
		if err != nil {
			return err
		}
		if v.Kind() != variant.KindObject {
			return fmt.Errorf("conflict: a residual that is not an object beside shredded fields")
		}
		for name, f := range v.Fields() {
			if typed.fields[name] != nil {
				continue // the shredded side wins
			}
			b.Key([]byte(name))
			if err := f.Emit(b); err != nil {
				return err
			}
		}
	}
	b.End()
	return nil
}

// oracleRows assembles all rows of a group; a zero Value is SQL NULL.
func oracleRows(group *leaf.Node, columns []*oracleColumn, rows int) ([]variant.Value, error) {
	o := &oracle{columns: columns}
	var out []variant.Value
	for range rows {
		r := o.read(group, 0, 0, 0)
		if r.null {
			out = append(out, variant.Value{})
			continue
		}
		meta := r.fields["metadata"].scalar.Bytes
		b := variant.NewBuilder()
		b.Reset()
		err := construct(b, meta, r)
		if errors.Is(err, errMissing) {
			b.Null()
		} else if err != nil {
			return nil, err
		}
		v, err := b.Value()
		if err != nil {
			return nil, err
		}
		out = append(out, v.Clone())
	}
	for _, c := range columns {
		if c.at != len(c.def) || c.used != len(c.values) {
			return nil, fmt.Errorf("column %v: %d of %d slots, %d of %d values used",
				c.info.Path, c.at, len(c.def), c.used, len(c.values))
		}
	}
	return out, nil
}

// oracleOfWriter assembles what a Writer holds.
func oracleOfWriter(w *Writer) ([]variant.Value, error) {
	var columns []*oracleColumn
	for _, b := range w.Buffers() {
		columns = append(columns, columnOfBuffer(b))
	}
	return oracleRows(w.Group(), columns, w.Rows())
}
