package iceberg

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/variant"
)

// mergeSource is the source of a merge, in memory, with its rows indexed by key.
type mergeSource struct {
	mem     memory.Allocator
	fields  []ice.NestedField // columns, with the types of the table
	rec     arrow.RecordBatch
	present [][]bool         // by column, then row: the row has the column; nil when all have
	keys    map[string]int64 // source row by key; rows with a NULL in the key are not there
	twice   map[int64]bool   // rows whose key other rows have as well
	on      []int            // ordinals of the key columns
}

func (s *mergeSource) rows() int {
	if s.rec == nil {
		return 0
	}
	return int(s.rec.NumRows())
}

func (s *mergeSource) release() {
	if s.rec != nil {
		s.rec.Release()
	}
}

// column returns the ordinal of a column, or -1.
func (s *mergeSource) column(name string) int {
	return slices.IndexFunc(s.fields, func(f ice.NestedField) bool { return f.Name == name })
}

// collectSource gathers Arrow batches. Their columns take the table's types.
func collectSource(source iter.Seq2[arrow.RecordBatch, error], schema *ice.Schema, on []string, mem memory.Allocator) (*mergeSource, error) {
	s := &mergeSource{mem: mem}
	var parts [][]arrow.Array
	defer func() {
		for _, p := range parts {
			releaseAll(p)
		}
	}()
	for batch, err := range source {
		if err != nil {
			return nil, err
		}
		if parts == nil {
			if err := s.setFields(batch.Schema(), schema); err != nil {
				return nil, err
			}
			parts = make([][]arrow.Array, len(s.fields))
		}
		for i, f := range s.fields {
			arr, err := sourceColumn(batch, f, mem)
			if err != nil {
				return nil, err
			}
			parts[i] = append(parts[i], arr)
		}
	}
	if parts == nil {
		return s, nil
	}
	cols := make([]arrow.Array, 0, len(parts))
	defer func() { releaseAll(cols) }()
	for _, p := range parts {
		arr, err := array.Concatenate(p, mem)
		if err != nil {
			return nil, err
		}
		cols = append(cols, arr)
	}
	s.rec = newRecord(arrow.NewSchema(arrowFields(s.fields), nil), cols, int64(cols[0].Len()))
	return s, s.index(on)
}

// setFields finds the table's field of each column of the source.
func (s *mergeSource) setFields(have *arrow.Schema, schema *ice.Schema) error {
	for _, f := range have.Fields() {
		field, ok := topField(schema, f.Name)
		if !ok {
			return invalidf("the source has a column %q that the table has not", f.Name)
		}
		s.fields = append(s.fields, field)
	}
	if len(s.fields) == 0 {
		return invalidf("the source has no columns")
	}
	return nil
}

// sourceColumn takes a column of a batch to the type of the table.
func sourceColumn(batch arrow.RecordBatch, f ice.NestedField, mem memory.Allocator) (arrow.Array, error) {
	at := batch.Schema().FieldIndices(f.Name)
	if len(at) != 1 {
		return nil, invalidf("a batch of the source has %d columns %q", len(at), f.Name)
	}
	arr := batch.Column(at[0])
	ad, err := newAdapter(mem, arr.DataType(), f)
	if err != nil {
		return nil, err
	}
	if arr.Data().Offset() == 0 {
		return ad.adapt(arr)
	}
	whole, err := array.Concatenate([]arrow.Array{arr}, mem)
	if err != nil {
		return nil, err
	}
	defer whole.Release()
	return ad.adapt(whole)
}

// jsonSource reads JSON objects. A field that is no column is passed over, as an
// append does.
func jsonSource(rows iter.Seq2[[]byte, error], schema *ice.Schema, on []string, mem memory.Allocator) (*mergeSource, error) {
	fields := schema.Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	scanner := newRowScanner(names, variant.ParseOptions{})
	texts := make([][][]byte, len(fields)) // by column, then row
	seen := make([]bool, len(fields))
	line := int64(0)
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		line++
		row = slices.Clone(row)
		if err := scanner.scan(row); err != nil {
			return nil, &RowError{Line: line, Err: err}
		}
		for i, at := range scanner.spans {
			var text []byte
			if at.end > 0 {
				text, seen[i] = row[at.start:at.end], true
			}
			texts[i] = append(texts[i], text)
		}
	}
	s := &mergeSource{mem: mem}
	if line == 0 {
		return s, nil
	}
	var cols []arrow.Array
	defer func() { releaseAll(cols) }()
	for i, f := range fields {
		if !seen[i] {
			continue
		}
		arr, err := jsonColumnArray(mem, texts[i], f)
		if err != nil {
			return nil, err
		}
		cols = append(cols, arr)
		s.fields = append(s.fields, f)
		s.present = append(s.present, presence(texts[i]))
	}
	if len(cols) == 0 {
		return nil, invalidf("the source has none of the table's columns")
	}
	s.rec = newRecord(arrow.NewSchema(arrowFields(s.fields), nil), cols, line)
	return s, s.index(on)
}

// jsonColumnArray reads the values of one column and says which row is wrong.
func jsonColumnArray(mem memory.Allocator, texts [][]byte, f ice.NestedField) (arrow.Array, error) {
	f.Required = false // an update may lack what an insert must have
	arr, err := jsonArray(mem, texts, f)
	if err == nil {
		return arr, nil
	}
	for i := range texts {
		one, rowErr := jsonArray(mem, texts[i:i+1], f)
		if rowErr != nil {
			return nil, &RowError{Line: int64(i + 1), Column: f.Name, Err: rowErr}
		}
		one.Release()
	}
	return nil, err
}

func presence(texts [][]byte) []bool {
	out := make([]bool, len(texts))
	all := true
	for i, t := range texts {
		out[i] = t != nil
		all = all && out[i]
	}
	if all {
		return nil
	}
	return out
}

// index finds the rows by key.
func (s *mergeSource) index(on []string) error {
	cols := make([]arrow.Array, len(on))
	for i, name := range on {
		k := s.column(name)
		if k < 0 {
			return invalidf("the source has no key column %q", name)
		}
		s.on = append(s.on, k)
		cols[i] = s.rec.Column(k)
	}
	appenders, err := keyAppenders(cols)
	if err != nil {
		return err
	}
	s.keys, s.twice = make(map[string]int64, s.rows()), map[int64]bool{}
	var key []byte
	for i := range s.rows() {
		if slices.ContainsFunc(cols, func(c arrow.Array) bool { return c.IsNull(i) }) {
			continue
		}
		key = appendKey(key[:0], appenders, i)
		if first, ok := s.keys[string(key)]; ok {
			s.twice[first] = true
			continue
		}
		s.keys[string(key)] = int64(i)
	}
	return nil
}

// describe prints the key of a row.
func (s *mergeSource) describe(row int) string {
	out := ""
	for _, k := range s.on {
		out += fmt.Sprintf(" %s = %s", s.fields[k].Name, s.rec.Column(k).ValueStr(row))
	}
	return out
}

// take gathers rows of the source.
func (s *mergeSource) take(ctx context.Context, rows []int64) (arrow.RecordBatch, error) {
	cols := make([]arrow.Array, 0, s.rec.NumCols())
	defer func() { releaseAll(cols) }()
	for i := range int(s.rec.NumCols()) {
		arr, err := takeRows(ctx, s.mem, s.rec.Column(i), rows)
		if err != nil {
			return nil, err
		}
		cols = append(cols, arr)
	}
	return newRecord(s.rec.Schema(), cols, int64(len(rows))), nil
}

// takeRows gathers rows of an array by index.
func takeRows(ctx context.Context, mem memory.Allocator, arr arrow.Array, rows []int64) (arrow.Array, error) {
	b := array.NewInt64Builder(mem)
	defer b.Release()
	b.AppendValues(rows, nil)
	index := b.NewArray()
	defer index.Release()
	return compute.TakeArray(compute.WithAllocator(ctx, mem), arr, index)
}

// maxKeyList is the number of keys up to which a merge looks for exactly them;
// of more, it looks for what lies between the least and the greatest.
const maxKeyList = 20_000

// keyFilter is a predicate that is true for every row with a key of the source.
func (s *mergeSource) keyFilter(schema *ice.Schema, on []string) Expr {
	var out Expr
	for i, k := range s.on {
		f, ok := topField(schema, on[i])
		if !ok {
			continue
		}
		c := classOf(f.Type)
		read, ok := cellReader(s.rec.Column(k))
		if !ok || c.domain == domainFloat || c.domain == domainNone {
			continue
		}
		var values []value
		for row := range s.rows() {
			if s.rec.Column(k).IsValid(row) {
				values = append(values, read(row))
			}
		}
		out = out.And(Expr{root: keyNode(f, c, values)})
	}
	return out
}

// keyNode is the predicate on one key column.
func keyNode(f ice.NestedField, c class, values []value) *exprNode {
	left := operand{kind: operandColumn, column: []string{f.Name}}
	if len(values) == 0 {
		return &exprNode{op: opConst, value: triFalse}
	}
	slices.SortFunc(values, func(a, b value) int { return compareValues(c.domain, a, b) })
	values = slices.CompactFunc(values, func(a, b value) bool { return compareValues(c.domain, a, b) == 0 })
	if len(values) > maxKeyList {
		low, high := literalOperand(keyLiteral(c, values[0])), literalOperand(keyLiteral(c, values[len(values)-1]))
		return &exprNode{op: opAnd, kids: []*exprNode{
			{op: opGe, left: left, right: low}, {op: opLe, left: left, right: high},
		}}
	}
	n := &exprNode{op: opIn, left: left}
	for _, v := range values {
		n.list = append(n.list, keyLiteral(c, v))
	}
	return n
}

// keyLiteral is the literal that folds back to a value.
func keyLiteral(c class, v value) literal {
	switch c.domain {
	case domainBool:
		return literal{kind: litBool, b: v.i != 0}
	case domainDecimal:
		return literal{kind: litNumber, num: number{coef: v.d.BigInt(), scale: c.scale}}
	case domainBytes:
		return literal{kind: litRaw, text: v.s}
	case domainInt, domainFloat, domainNone:
	}
	if isNumeric(c) {
		return literal{kind: litNumber, num: number{coef: big.NewInt(v.i)}}
	}
	return literal{kind: litRaw, i: v.i}
}
