package iceberg

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
)

// MergeAction is what a clause of a merge does with a row.
type MergeAction uint8

// The actions. Update and Delete are for rows that the table has, Insert for
// those that it has not.
const (
	MergeNothing MergeAction = iota
	MergeUpdate
	MergeDelete
	MergeInsert
)

// MergeClause is a WHEN of a merge. For each row the first clause that fits
// decides; a row that none fits is left alone.
type MergeClause struct {
	// Matched says whether the clause is for source rows that have a row in the
	// table, or for those that have none.
	Matched bool

	// And is a further condition on the columns source.x and, if Matched,
	// target.x.
	And Expr

	// Do is the action. An update sets every column that the source has; an
	// insert gives the columns that the source lacks their write default.
	Do MergeAction
}

// MergeOptions configures a merge.
type MergeOptions struct {
	WriteOptions

	// On are the key columns, which source and table both have. A NULL key
	// matches nothing.
	On []string

	// When are the clauses. Default: update rows that match, insert the others.
	When []MergeClause
}

func (o *MergeOptions) validate(schema *ice.Schema) error {
	var errs []error
	if len(o.On) == 0 {
		errs = append(errs, invalidf("merge: no key columns"))
	}
	for _, name := range o.On {
		f, ok := topField(schema, name)
		if _, primitive := f.Type.(ice.PrimitiveType); !ok || !primitive {
			errs = append(errs, invalidf("merge: %q is no column with single values, which a key is made of", name))
		}
	}
	for i, w := range o.When {
		bad := w.Matched && w.Do == MergeInsert || !w.Matched && (w.Do == MergeUpdate || w.Do == MergeDelete)
		if bad || w.Do > MergeInsert {
			errs = append(errs, invalidf("merge: clause %d has an action that does not go with Matched", i))
		}
	}
	return errors.Join(errs...)
}

// Merge merges Arrow batches into the table, in one snapshot: each source row is
// matched with the rows of the table that have its key. Columns are matched by
// name. The source is read once and held in memory; its batches are not
// released. Two source rows for one row of the table are an error. An error from
// the source ends the merge.
func (t *Table) Merge(ctx context.Context, source iter.Seq2[arrow.RecordBatch, error], opts MergeOptions) (*Changes, error) {
	if err := opts.validate(t.Schema()); err != nil {
		return nil, err
	}
	src, err := collectSource(source, t.Schema(), opts.On, memory.DefaultAllocator)
	if err != nil {
		return nil, fmt.Errorf("merge into %s: %w", t.Name(), err)
	}
	return t.merge(ctx, src, opts)
}

// MergeJSON merges JSON rows, whose fields are the columns. A column that a line
// lacks keeps its value in an update and gets its write default in an insert.
func (t *Table) MergeJSON(ctx context.Context, rows iter.Seq2[[]byte, error], opts MergeOptions) (*Changes, error) {
	if err := opts.validate(t.Schema()); err != nil {
		return nil, err
	}
	src, err := jsonSource(rows, t.Schema(), opts.On, memory.DefaultAllocator)
	if err != nil {
		return nil, fmt.Errorf("merge into %s: %w", t.Name(), err)
	}
	return t.merge(ctx, src, opts)
}

// JSONLines splits a stream into its non-blank lines. A line is valid until the
// next; one of more than 128 MiB is an error.
func JSONLines(r io.Reader) iter.Seq2[[]byte, error] {
	const most = 128 << 20
	return func(yield func([]byte, error) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(make([]byte, 1<<20), most)
		for s.Scan() {
			if line := trimSpace(s.Bytes()); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
		if err := s.Err(); err != nil {
			yield(nil, fmt.Errorf("iceberg: read lines: %w", err))
		}
	}
}

func (t *Table) merge(ctx context.Context, src *mergeSource, opts MergeOptions) (*Changes, error) {
	defer src.release()
	if len(opts.When) == 0 {
		opts.When = []MergeClause{{Matched: true, Do: MergeUpdate}, {Do: MergeInsert}}
	}
	if src.rows() == 0 {
		return &Changes{}, nil
	}
	c := &rowChange{t: t, opts: opts.WriteOptions, mode: propMergeMode}
	c.run = func(ctx context.Context, a *attempt) error {
		m := &merger{a: a, src: src, opts: &opts, matched: make([]bool, src.rows())}
		return m.run(ctx)
	}
	out, err := c.commit(ctx)
	if err != nil {
		return nil, fmt.Errorf("merge into %s: %w", t.Name(), err)
	}
	return out, nil
}

// merger is a merge on one version of the table.
type merger struct {
	a       *attempt
	src     *mergeSource
	opts    *MergeOptions
	matched []bool // by source row

	outputs []need
	keys    []int         // ordinals of the key columns in the outputs
	join    *ice.Schema   // struct columns target and source, for conditions
	when    []*filter     // by clause; nil without a condition
	fields  []arrow.Field // of rows that are written
	plan    []int         // by output column: the source column that updates it, or -1
}

func (m *merger) run(ctx context.Context) error {
	if err := m.prepare(); err != nil {
		return err
	}
	err := m.a.find(ctx, m.src.keyFilter(m.a.t.Schema(), m.opts.On), m.outputs, func(res scanResult) error {
		return m.target(ctx, res)
	})
	if err != nil {
		return err
	}
	if m.a.copying {
		if err := m.a.copyRest(ctx); err != nil {
			return err
		}
	}
	return m.insert(ctx)
}

func (m *merger) prepare() error {
	schema := m.a.t.Schema()
	m.outputs = tableOutputs(schema)
	for _, name := range m.opts.On {
		k := slices.IndexFunc(m.outputs, func(n need) bool { return n.field.Name == name })
		if k < 0 {
			return invalidf("merge: no column %q", name)
		}
		m.keys = append(m.keys, k)
	}
	targets := make([]ice.NestedField, len(m.outputs))
	m.plan = make([]int, len(m.outputs))
	for i := range m.outputs {
		targets[i] = m.outputs[i].field
		m.fields = append(m.fields, m.outputs[i].arrowField())
		m.plan[i] = m.src.column(m.outputs[i].field.Name)
	}
	// A schema wants ids that differ; columns are found by name.
	id := 2
	next := func() int { id++; return id }
	m.join = ice.NewSchema(0,
		ice.NestedField{ID: 1, Name: "target", Type: numberType(&ice.StructType{FieldList: targets}, next)},
		ice.NestedField{ID: 2, Name: "source", Type: numberType(&ice.StructType{FieldList: m.src.fields}, next)})
	for _, w := range m.opts.When {
		f, err := w.And.bind(m.join)
		if err != nil {
			return err
		}
		if f != nil && len(f.extracts) > 0 {
			return unsupportedf("variant_get in the condition of a merge")
		}
		m.when = append(m.when, f)
	}
	return nil
}

// target takes a batch of rows whose keys may be in the source.
func (m *merger) target(ctx context.Context, res scanResult) error {
	pairs, err := m.match(res.rec)
	if err != nil || len(pairs.target) == 0 {
		return err
	}
	rest := pairs
	for i, w := range m.opts.When {
		if !w.Matched || len(rest.target) == 0 {
			continue
		}
		var chosen rowPairs
		if chosen, rest, err = m.choose(ctx, m.when[i], res.rec, rest); err != nil {
			return err
		}
		if err := m.act(ctx, w.Do, res, chosen); err != nil {
			return err
		}
	}
	return nil
}

// rowPairs are rows of a batch of the table and the source rows of their keys.
type rowPairs struct{ target, source []int64 }

// match finds the source row of each row of a batch.
func (m *merger) match(rec arrow.RecordBatch) (rowPairs, error) {
	var out rowPairs
	cols := make([]arrow.Array, len(m.keys))
	for i, k := range m.keys {
		cols[i] = rec.Column(k)
	}
	appenders, err := keyAppenders(cols)
	if err != nil {
		return out, err
	}
	var key []byte
	for i := range int(rec.NumRows()) {
		if slices.ContainsFunc(cols, func(c arrow.Array) bool { return c.IsNull(i) }) {
			continue
		}
		key = appendKey(key[:0], appenders, i)
		row, ok := m.src.keys[string(key)]
		if !ok {
			continue
		}
		if m.src.twice[row] {
			return out, invalidf("two source rows have the key of one row of the table: %s", m.src.describe(int(row)))
		}
		m.matched[row] = true
		out.target = append(out.target, int64(i))
		out.source = append(out.source, row)
	}
	return out, nil
}

// act does what a clause says with matched rows.
func (m *merger) act(ctx context.Context, do MergeAction, res scanResult, pairs rowPairs) error {
	if len(pairs.target) == 0 || do == MergeNothing {
		return nil
	}
	gone := make([]int64, len(pairs.target))
	for i, k := range pairs.target {
		gone[i] = res.positions[k]
	}
	m.a.remove(res.task, gone)
	if do == MergeDelete {
		m.a.changes.Deleted += int64(len(gone))
		return nil
	}
	m.a.changes.Updated += int64(len(gone))
	rec, err := m.updated(ctx, res.rec, pairs)
	if err != nil {
		return err
	}
	defer rec.Release()
	return m.a.write(ctx, rec)
}

// insert adds the source rows that no row of the table has matched.
func (m *merger) insert(ctx context.Context) error {
	var rest rowPairs
	for i, ok := range m.matched {
		if !ok {
			rest.source = append(rest.source, int64(i))
		}
	}
	for i, w := range m.opts.When {
		if w.Matched || len(rest.source) == 0 {
			continue
		}
		chosen, left, err := m.choose(ctx, m.when[i], nil, rest)
		if err != nil {
			return err
		}
		rest = left
		if w.Do != MergeInsert || len(chosen.source) == 0 {
			continue
		}
		rec, err := m.src.take(ctx, chosen.source)
		if err != nil {
			return err
		}
		m.a.changes.Inserted += rec.NumRows()
		err = m.a.write(ctx, rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
