package iceberg

import (
	"errors"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/variant"
)

// Assignment gives a column a new value, as SET of an UPDATE does.
type Assignment struct {
	Column string
	value  operand
	text   string
}

// ParseSet parses column = value. The value is a literal of the language of
// ParseWhere, a column, or variant_get of one; nothing is computed. A text literal
// is parsed as JSON for a Variant, struct, list or map column.
func ParseSet(text string) (Assignment, error) {
	a, err := parseSet(text)
	var syntax *PredicateError
	if errors.As(err, &syntax) {
		syntax.assignment = true
	}
	return a, err
}

func parseSet(text string) (Assignment, error) {
	toks, err := lex(text)
	if err != nil {
		if _, value, _ := strings.Cut(text, "="); strings.HasPrefix(strings.TrimSpace(value), "{") || strings.HasPrefix(strings.TrimSpace(value), "[") {
			return Assignment{}, &PredicateError{Text: text, Offset: len(text) - len(value), Problem: "JSON is written in quotes, as in doc = '{\"a\":1}'"}
		}
		return Assignment{}, err
	}
	p := &whereParser{text: text, toks: toks}
	t := p.next()
	if t.kind != tokenWord && t.kind != tokenQuotedName {
		return Assignment{}, p.fail(t.at, "an assignment starts with a column, as in price = 1.5")
	}
	if err := p.expect("="); err != nil {
		return Assignment{}, err
	}
	value, err := p.operand()
	if err != nil {
		return Assignment{}, err
	}
	if rest := p.peek(); rest.kind != tokenEnd {
		return Assignment{}, p.fail(rest.at, "%q after the value, which is one literal, one column or one variant_get: nothing is computed", rest.text)
	}
	return Assignment{Column: t.text, value: value, text: text}, nil
}

// SetJSON gives a column the value of a JSON text, in the form that an append of
// JSON rows takes it.
func SetJSON(column, json string) Assignment {
	return Assignment{Column: column, value: literalOperand(literal{kind: litJSON, text: json}), text: column + " = " + json}
}

func (s *Assignment) fail(problem string) error {
	return &PredicateError{Text: s.text, Problem: problem, assignment: true}
}

// setters computes new values for some columns of a batch.
type setters struct {
	mem     memory.Allocator
	fields  []ice.NestedField // of the result
	compute []setter          // by column; nil keeps it
}

type setter func(rec arrow.RecordBatch) (arrow.Array, error)

// updateOutputs lists what an update reads: all columns, those of lineage, and
// extra ones for the values.
func updateOutputs(schema *ice.Schema, sets []Assignment) (outputs []need, extra int, err error) {
	outputs = tableOutputs(schema)
	for i := range sets {
		if sets[i].value.kind != operandExtract {
			continue
		}
		x := &sets[i].value.extract
		if f, ok := topField(schema, x.Column); !ok || !isVariant(f.Type) {
			return nil, 0, sets[i].fail(quoteName(x.Column) + " is no variant column")
		}
		outputs = append(outputs, need{extract: x})
		extra++
	}
	return outputs, extra, nil
}

// newSetters binds the assignments; outputs are those of updateOutputs.
func newSetters(schema *ice.Schema, sets []Assignment, outputs []need, mem memory.Allocator) (*setters, error) {
	if len(sets) == 0 {
		return nil, invalidf("update: nothing to set")
	}
	fields := append(schema.Fields(), lineageFields()...)
	s := &setters{mem: mem, fields: fields, compute: make([]setter, len(fields))}
	next := len(fields) // the extra output of the next extraction
	for i := range sets {
		set := &sets[i]
		at := -1
		for k, f := range schema.Fields() {
			if f.Name == set.Column {
				at = k
			}
		}
		switch {
		case at < 0:
			return nil, set.fail("no column " + quoteName(set.Column))
		case s.compute[at] != nil:
			return nil, set.fail("column " + quoteName(set.Column) + " is set twice")
		}
		source := -1
		if set.value.kind == operandExtract {
			source = next
			next++
		}
		var err error
		if s.compute[at], err = s.setter(schema, set, fields[at], source, outputs); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *setters) setter(schema *ice.Schema, set *Assignment, want ice.NestedField, source int, outputs []need) (setter, error) {
	switch set.value.kind {
	case operandLiteral:
		return literalSetter(s.mem, set, want)
	case operandColumn:
		if len(set.value.column) != 1 {
			return nil, set.fail("a field of a struct cannot be assigned")
		}
		for k, f := range schema.Fields() {
			if f.Name == set.value.column[0] {
				source = k
			}
		}
		if source < 0 {
			return nil, set.fail("no column " + set.value.String() + "; a text is written in quotes")
		}
	case operandExtract:
	}
	ad, err := newAdapter(s.mem, outputs[source].arrowField().Type, want)
	if err != nil {
		return nil, set.fail(set.value.String() + " does not fit column " + quoteName(want.Name) + " of type " + want.Type.String())
	}
	return func(rec arrow.RecordBatch) (arrow.Array, error) {
		arr := rec.Column(source)
		if arr.Data().Offset() != 0 {
			whole, err := array.Concatenate([]arrow.Array{arr}, s.mem)
			if err != nil {
				return nil, err
			}
			defer whole.Release()
			arr = whole
		}
		out, err := ad.adapt(arr)
		if err == nil && want.Required && out.NullN() > 0 {
			out.Release()
			return nil, set.fail("column " + quoteName(want.Name) + " is required and would become null")
		}
		return out, err
	}, nil
}

// literalSetter repeats a constant.
func literalSetter(mem memory.Allocator, set *Assignment, want ice.NestedField) (setter, error) {
	one, problem, err := literalArray(mem, set.value.lit, want)
	if err != nil {
		return nil, err
	}
	if problem != "" {
		return nil, set.fail(problem)
	}
	if one == nil {
		if want.Required {
			return nil, set.fail("column " + quoteName(want.Name) + " is required")
		}
		return func(rec arrow.RecordBatch) (arrow.Array, error) {
			return array.MakeArrayOfNull(mem, arrowType(want.Type), int(rec.NumRows())), nil
		}, nil
	}
	return func(rec arrow.RecordBatch) (arrow.Array, error) { return repeat(mem, one, int(rec.NumRows())) }, nil
}

// repeat concatenates one row n times, doubling.
func repeat(mem memory.Allocator, one arrow.Array, n int) (arrow.Array, error) {
	out := one
	out.Retain()
	for out.Len() < n {
		next, err := array.Concatenate([]arrow.Array{out, out}, mem)
		out.Release()
		if err != nil {
			return nil, err
		}
		out = next
	}
	defer out.Release()
	return array.NewSlice(out, 0, int64(n)), nil
}

// literalArray makes one row of a column's type of a literal; nil for NULL. The
// problem says why it does not fit.
func literalArray(mem memory.Allocator, l literal, want ice.NestedField) (arr arrow.Array, problem string, err error) {
	if l.kind == litNull {
		return nil, "", nil
	}
	nested := false
	switch want.Type.(type) {
	case ice.VariantType, *ice.StructType, *ice.ListType, *ice.MapType:
		nested = true
	}
	if nested || l.kind == litJSON {
		text := l.text
		if l.kind != litText && l.kind != litJSON {
			text = strings.ToLower(l.String())
		}
		arr, err := jsonArray(mem, [][]byte{[]byte(text)}, want)
		if err != nil {
			return nil, quoteName(want.Name) + ": " + err.Error(), nil //nolint:nilerr // reported as the problem of the text
		}
		return arr, "", nil
	}
	n := &boundNode{op: opEq, left: ref{class: classOf(want.Type)}}
	problem = n.fold(l)
	s, ok := valueScalar(want.Type, n.lit)
	if problem != "" || n.op != opEq || !ok {
		return nil, l.String() + " does not fit column " + quoteName(want.Name) + " of type " + want.Type.String(), nil
	}
	arr, err = constantArray(mem, want.Type, &s, 1)
	return arr, "", err
}

// valueScalar is the value of a column as a scalar, if it fits.
func valueScalar(t ice.Type, v value) (variant.Scalar, bool) {
	switch t := t.(type) {
	case ice.Int32Type, ice.DateType:
		return variant.Scalar{Kind: variant.KindInt64, Int: v.i}, v.i == int64(int32(v.i))
	case ice.Float32Type, ice.Float64Type:
		return variant.Scalar{Kind: variant.KindDouble, Float: v.f}, true
	case ice.DecimalType:
		return scalarOfDecimal(v.d, t.Scale()), v.d.FitsInPrecision(int32(t.Precision()))
	case ice.StringType, ice.BinaryType, ice.UUIDType:
		return variant.Scalar{Kind: variant.KindBinary, Bytes: []byte(v.s)}, true
	case ice.FixedType:
		return variant.Scalar{Kind: variant.KindBinary, Bytes: []byte(v.s)}, len(v.s) == t.Len()
	}
	return variant.Scalar{Kind: variant.KindInt64, Int: v.i}, true
}

// jsonArray reads JSON values into an array of a column's type, the way an
// append does. A nil text gives the column's write default.
func jsonArray(mem memory.Allocator, texts [][]byte, want ice.NestedField) (arrow.Array, error) {
	col, err := newJSONColumn(want, variant.ParseOptions{})
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		if text == nil {
			err = col.missing(0)
		} else {
			err = col.json(0, text)
		}
		if err != nil {
			return nil, err
		}
	}
	asm, err := pq.NewAssembler(fieldNode(want), mem)
	if err != nil {
		return nil, err
	}
	batches := make([]*leaf.Batch, len(col.leaves))
	for i, b := range col.leaves {
		batches[i] = batchOf(b, len(texts))
	}
	arr, err := asm.Assemble(batches, len(texts))
	if err != nil {
		return nil, err
	}
	defer arr.Release()
	ad, err := newAdapter(mem, arr.DataType(), want)
	if err != nil {
		return nil, err
	}
	return ad.adapt(arr)
}

// batchOf gives what was written into a buffer the form in which it is read.
func batchOf(b *leaf.Buffer, rows int) *leaf.Batch {
	out := &leaf.Batch{
		Info: b.Info, Rows: rows, Slots: b.Slots,
		Bools: b.Bools, Int32s: b.Int32s, Int64s: b.Int64s, Floats: b.Floats, Doubles: b.Doubles,
		Offsets: b.Offsets, Data: b.Data,
	}
	if (b.Node.Type == leaf.Bytes || b.Node.Type == leaf.Fixed) && len(out.Offsets) == 0 {
		out.Offsets = []uint32{0}
	}
	if b.MaxDef > 0 {
		out.Def = expand(&b.Def)
		for _, d := range out.Def {
			if d < b.MaxDef {
				out.Nulls++
			}
		}
	}
	if b.MaxRep > 0 {
		out.Rep = expand(&b.Rep)
	}
	return out
}

func expand(l *leaf.Levels) []uint8 {
	out := make([]uint8, 0, l.Len())
	for _, r := range l.Runs {
		for range r.N {
			out = append(out, r.Level)
		}
	}
	return out
}

// apply returns the batch with the new values; the first columns of rec are
// those of the result. The sequence number becomes null, so that the row gets
// the one of the commit (Iceberg spec, "Row lineage assignment").
func (s *setters) apply(rec arrow.RecordBatch, columns int) (arrow.RecordBatch, error) {
	cols := make([]arrow.Array, 0, columns)
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for i := range columns {
		switch {
		case s.compute[i] != nil:
			arr, err := s.compute[i](rec)
			if err != nil {
				return nil, err
			}
			cols = append(cols, arr)
		case s.fields[i].ID == lastUpdatedField:
			cols = append(cols, array.MakeArrayOfNull(s.mem, arrow.PrimitiveTypes.Int64, int(rec.NumRows())))
		default:
			rec.Column(i).Retain()
			cols = append(cols, rec.Column(i))
		}
	}
	return newRecord(arrow.NewSchema(arrowFields(s.fields), nil), cols, rec.NumRows()), nil
}
