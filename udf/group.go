package udf

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// GroupBy makes one batch: a row for each group of rows with equal keys, in the
// order in which the groups first appear. Its columns are the keys and the
// aggregates. Null is a key like any other. Keys are booleans, numbers, dates,
// timestamps, decimals, strings and binaries; NaNs with the same bits are equal,
// and 0.0 and -0.0 are not. Without keys, all rows are one group, and a stream
// without rows gives one row.
//
// Each batch is aggregated by a worker of its own and the results are merged in
// the order of the stream, so the outcome does not depend on the workers.
func GroupBy(keys []string, aggregates ...*Aggregate) Stage {
	return Stage{name: "group by", bind: func(in *arrow.Schema) (bound, error) {
		g := &grouping{aggs: aggregates}
		var err error
		if g.keys, err = columnIndexes(in, keys); err != nil {
			return bound{}, err
		}
		var fields []arrow.Field
		for _, j := range g.keys {
			f := in.Field(j)
			if !isKey(f.Type) {
				return bound{}, fmt.Errorf("%w: %q of type %v is no key", ErrType, f.Name, f.Type)
			}
			fields = append(fields, f)
		}
		for _, a := range aggregates {
			at, t, err := bindAggregate(a, in)
			if err != nil {
				return bound{}, err
			}
			g.args = append(g.args, at)
			fields = append(fields, arrow.Field{Name: a.column, Type: t, Nullable: true})
		}
		g.out = arrow.NewSchema(fields, nil)
		return bound{name: "group by", out: g.out, group: g}, nil
	}}
}

func isKey(t arrow.DataType) bool {
	switch t.(type) {
	case *arrow.DictionaryType:
		return false
	case *arrow.StringType, *arrow.BinaryType, *arrow.BooleanType:
		return true
	case arrow.FixedWidthDataType:
		return len(t.Layout().Buffers) == 2 // not nested
	}
	return false
}

// grouping is a bound GroupBy.
type grouping struct {
	keys []int // columns of the input
	aggs []*Aggregate
	args []int // column of each aggregate; -1 without
	out  *arrow.Schema
}

// groups are the groups of some rows, with their states.
type groups struct {
	*grouping
	index  map[string]uint32 // encoded key -> number
	names  []string          // encoded keys, by number
	firsts [][]arrow.Array   // per key column: the keys by number, in parts
	accs   []accumulator
}

func (g *grouping) start() *groups {
	s := &groups{grouping: g, index: make(map[string]uint32), firsts: make([][]arrow.Array, len(g.keys))}
	for _, a := range g.aggs {
		s.accs = append(s.accs, a.start())
	}
	return s
}

func (s *groups) release() {
	for _, parts := range s.firsts {
		for _, a := range parts {
			a.Release()
		}
	}
	s.firsts = nil
}

// number finds or makes the group of a key.
func (s *groups) number(key []byte) (n uint32, fresh bool) {
	if n, ok := s.index[string(key)]; ok {
		return n, false
	}
	n = uint32(len(s.names))
	name := string(key)
	s.names = append(s.names, name)
	s.index[name] = n
	return n, true
}

// add groups the rows of a batch.
func (s *groups) add(b arrow.RecordBatch, mem memory.Allocator) error {
	rows := int(b.NumRows())
	numbers := make([]uint32, rows)
	var firsts []int // the first row of each new group
	var key, last []byte
	for i := range rows {
		key = key[:0]
		for _, j := range s.keys {
			key = appendKey(key, b.Column(j), i)
		}
		if i > 0 && string(key) == string(last) {
			numbers[i] = numbers[i-1] // rows of a group often lie together
			continue
		}
		n, fresh := s.number(key)
		if fresh {
			firsts = append(firsts, i)
		}
		numbers[i] = n
		key, last = last, key
	}
	for k, j := range s.keys {
		if err := s.keep(k, b.Column(j), firsts, mem); err != nil {
			return err
		}
	}
	for k, acc := range s.accs {
		var arg arrow.Array
		if s.args[k] >= 0 {
			arg = b.Column(s.args[k])
		}
		acc.add(arg, numbers, len(s.names))
	}
	return nil
}

// keep copies the keys of new groups.
func (s *groups) keep(k int, c arrow.Array, rows []int, mem memory.Allocator) error {
	if len(rows) == 0 {
		return nil
	}
	parts := make([]arrow.Array, len(rows))
	for i, r := range rows {
		parts[i] = array.NewSlice(c, int64(r), int64(r+1))
		defer parts[i].Release()
	}
	out, err := array.Concatenate(parts, mem)
	if err != nil {
		return err
	}
	s.firsts[k] = append(s.firsts[k], out)
	return nil
}

// merge takes the groups of later rows.
func (s *groups) merge(later *groups, mem memory.Allocator) error {
	defer later.release()
	numbers := make([]uint32, len(later.names))
	var firsts []int
	for i, name := range later.names {
		n, fresh := s.number([]byte(name))
		if fresh {
			firsts = append(firsts, i)
		}
		numbers[i] = n
	}
	for k := range s.keys {
		if len(firsts) > 0 { // later has one batch, so one part
			if err := s.keep(k, later.firsts[k][0], firsts, mem); err != nil {
				return err
			}
		}
	}
	for k, acc := range s.accs {
		acc.merge(later.accs[k], numbers, len(s.names))
	}
	return nil
}

// batch makes the result.
func (s *groups) batch(mem memory.Allocator) (arrow.RecordBatch, error) {
	if len(s.keys) == 0 && len(s.names) == 0 {
		s.number(nil)
	}
	n := len(s.names)
	cols := make([]arrow.Array, 0, s.out.NumFields())
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for k := range s.keys {
		if n == 0 {
			b := array.NewBuilder(mem, s.out.Field(k).Type)
			cols = append(cols, b.NewArray())
			b.Release()
			continue
		}
		c, err := array.Concatenate(s.firsts[k], mem)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	for _, acc := range s.accs {
		cols = append(cols, acc.result(mem, n))
	}
	return array.NewRecordBatch(s.out, cols, int64(n)), nil
}

// appendKey appends the key of one row: whether it is null, then its bytes,
// with their length where it varies, so that no two keys run into each other.
func appendKey(dst []byte, c arrow.Array, row int) []byte {
	if c.IsNull(row) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch c := c.(type) {
	case *array.String:
		dst = binary.AppendUvarint(dst, uint64(c.ValueLen(row)))
		return append(dst, c.Value(row)...)
	case *array.Binary:
		dst = binary.AppendUvarint(dst, uint64(c.ValueLen(row)))
		return append(dst, c.Value(row)...)
	}
	d := c.Data()
	i := d.Offset() + row
	if c.DataType().ID() == arrow.BOOL {
		if bitutil.BitIsSet(d.Buffers()[1].Bytes(), i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	}
	w := c.DataType().(arrow.FixedWidthDataType).Bytes()
	return append(dst, d.Buffers()[1].Bytes()[i*w:(i+1)*w]...)
}

// runGroup aggregates batches on workers and merges the results in order.
func runGroup(ctx context.Context, s *bound, in iter.Seq2[arrow.RecordBatch, error], o Options) iter.Seq2[arrow.RecordBatch, error] {
	st := o.Profiler.stats(s.name)
	mem := st.allocator(o.Mem)
	work := func(ctx context.Context, n int, b arrow.RecordBatch, emit func(*groups) error) error {
		defer b.Release()
		st.rowsIn(b.NumRows())
		m := st.start()
		part := s.group.start()
		err := guard(func() error { return part.add(b, mem) })
		m.stop()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			part.release()
			return failed(err, s.name, n)
		}
		return emit(part)
	}
	parts := ordered(ctx, in, o.Workers, work, (*groups).release)
	return func(yield func(arrow.RecordBatch, error) bool) {
		all := s.group.start()
		defer all.release()
		n := 0
		for part, err := range parts {
			if err == nil {
				m := st.start()
				err = guard(func() error { return all.merge(part, mem) })
				m.stop()
			}
			if err != nil {
				yield(nil, failed(err, s.name, n))
				return
			}
			n++
		}
		var out arrow.RecordBatch
		m := st.start()
		err := guard(func() (err error) {
			out, err = all.batch(mem)
			return err
		})
		m.stop()
		if err != nil {
			yield(nil, failed(err, s.name, n))
			return
		}
		yield(out, nil)
	}
}
