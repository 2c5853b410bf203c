package udf

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
)

// slowGroups is the answer row by row, groups in the order of appearance.
func slowGroups(trades []trade) []string {
	type group struct {
		n, known   int64
		sum        float64
		least, top float64
	}
	var order []string
	groups := make(map[string]*group)
	for _, tr := range trades {
		key := text(tr.desk)
		if tr.desk != nil {
			key = "=" + key
		}
		g := groups[key]
		if g == nil {
			g = &group{least: math.Inf(1), top: math.Inf(-1)}
			groups[key] = g
			order = append(order, key)
		}
		g.n++
		if tr.delta != nil {
			g.known++
			g.sum += *tr.delta
			g.least, g.top = min(g.least, *tr.delta), max(g.top, *tr.delta)
		}
	}
	var out []string
	for _, key := range order {
		g := groups[key]
		desk := array.NullValueStr
		if key[0] == '=' {
			desk = key[1:]
		}
		sum, least, top := array.NullValueStr, array.NullValueStr, array.NullValueStr
		if g.known > 0 {
			sum, least, top = fmt.Sprintf("%.9f", g.sum), fmt.Sprint(g.least), fmt.Sprint(g.top)
		}
		out = append(out, fmt.Sprintf("%s|%d|%d|%s|%s|%s|", desk, g.n, g.known, sum, least, top))
	}
	return out
}

func groupTexts(t *testing.T, b arrow.RecordBatch) []string {
	out := make([]string, b.NumRows())
	for i := range out {
		for j, c := range b.Columns() {
			s := c.ValueStr(i)
			if j == 3 && c.IsValid(i) {
				s = fmt.Sprintf("%.9f", c.(*array.Float64).Value(i))
			}
			out[i] += s + "|"
		}
	}
	return out
}

func TestGroupByMatchesRowByRow(t *testing.T) {
	mem := checked(t)
	p := plan(t, GroupBy([]string{"desk"}, Count("n", ""), Count("known", "delta"),
		Sum[float64]("sum", "delta"), Min[float64]("min", "delta"), Max[float64]("max", "delta")))
	for _, rows := range []int{0, 1, 5, 4000} {
		trades := randomTrades(5, rows)
		for _, size := range []int{3, 1100, 4000} {
			for b, err := range p.Run(context.Background(), streamOf(mem, trades, size), Options{Workers: 3, Mem: mem}) {
				require.NoError(t, err)
				require.Equal(t, slowGroups(trades), append([]string(nil), groupTexts(t, b)...))
				for _, c := range b.Columns() {
					requireSound(t, c)
				}
				b.Release()
			}
		}
	}
}

// The same stream in the same batches gives the same bits, whatever the workers.
func TestSumDoesNotDependOnWorkers(t *testing.T) {
	mem := checked(t)
	p := plan(t, GroupBy(nil, Sum[float64]("sum", "delta")))
	var want uint64
	for workers := 1; workers < 8; workers++ {
		for b, err := range p.Run(context.Background(), streamOf(mem, randomTrades(7, 20_000), 333), Options{Workers: workers, Mem: mem}) {
			require.NoError(t, err)
			got := math.Float64bits(b.Column(0).(*array.Float64).Value(0))
			if workers == 1 {
				want = got
			}
			require.Equal(t, want, got)
			b.Release()
		}
	}
}

// Keys of every kind, several at once: no two run into each other.
func TestGroupKeys(t *testing.T) {
	mem := checked(t)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "c", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "d", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "e", Type: arrow.BinaryTypes.Binary, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	rows := []string{
		`{"a": "x", "b": "yz"}`, `{"a": "xy", "b": "z"}`, `{"a": "", "b": ""}`, `{"a": null, "b": ""}`, `{"a": "", "b": null}`,
		`{"c": true}`, `{"c": false}`, `{}`, `{"d": 1.5}`, `{"d": -1.5}`, `{"e": "AQ=="}`, `{"e": "AAE="}`,
	}
	for range 2 {
		for _, row := range rows {
			require.NoError(t, b.UnmarshalJSON([]byte(row)))
		}
	}
	batch := b.NewRecordBatch()
	in := func(yield func(arrow.RecordBatch, error) bool) { yield(batch, nil) }
	p, err := NewPlan(schema, GroupBy([]string{"a", "b", "c", "d", "e"}, Count("n", "")))
	require.NoError(t, err)
	for out, err := range p.Run(context.Background(), in, Options{Mem: mem}) {
		require.NoError(t, err)
		require.Equal(t, int64(len(rows)), out.NumRows())
		for i := range len(rows) {
			require.Equal(t, int64(2), out.Column(5).(*array.Int64).Value(i))
		}
		require.Equal(t, "xy", out.Column(0).ValueStr(1))
		out.Release()
	}
	_, err = NewPlan(arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)}}, nil), GroupBy([]string{"l"}))
	require.ErrorIs(t, err, ErrType)
}

// An aggregate of the user's own, with a result of another type than its
// argument and a state of its own.
func TestOwnAggregate(t *testing.T) {
	mem := checked(t)
	type span struct {
		first, last string
		n           int64
	}
	names := NewAggregate("span", "desk", Aggregator[string, span, string]{
		Update: func(states []span, groups []uint32, values []string) {
			for i, x := range values {
				s := &states[groups[i]]
				if s.n++; s.n == 1 {
					s.first = string([]byte(x)) // the bytes are the batch's
				}
				s.last = string([]byte(x))
			}
		},
		Merge: func(into, later *span) {
			into.last = later.last
			into.n += later.n
		},
		Result: func(s *span) string { return fmt.Sprintf("%s..%s (%d)", s.first, s.last, s.n) },
	})
	trades := randomTrades(9, 300)
	var want struct {
		first, last string
		n           int
	}
	for _, tr := range trades {
		if tr.desk != nil {
			if want.n++; want.n == 1 {
				want.first = *tr.desk
			}
			want.last = *tr.desk
		}
	}
	got := collect(t, plan(t, GroupBy(nil, names)), streamOf(mem, trades, 70), Options{Mem: mem})
	require.Equal(t, []string{fmt.Sprintf("%s..%s (%d)|", want.first, want.last, want.n)}, got)
	require.Equal(t, []string{array.NullValueStr + "|"}, collect(t, plan(t, GroupBy(nil, names)), streamOf(mem, nil, 1), Options{Mem: mem}))
}
