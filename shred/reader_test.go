package shred

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

var someTypes = []string{
	"variant", "string", "int", "bigint", "tinyint", "smallint", "double", "float", "boolean", "decimal(9,2)", "decimal(38,2)",
	"decimal(20,5)", "date", "timestamp", "timestamp_ntz", "binary", "array<int>", "array<string>", "map<string,int>",
	"struct<a:int,b:string>", "array<variant>",
}

func (g generator) path() variant.Path {
	var steps []variant.Step
	for range g.IntN(4) {
		if g.IntN(3) == 0 {
			steps = append(steps, variant.Step{Index: g.IntN(3), IsIndex: true})
		} else {
			steps = append(steps, variant.Step{Name: g.name()})
		}
	}
	return variant.NewPath(steps...)
}

// render prints an array so that Variants compare by their JSON.
func render(t testing.TB, arr arrow.Array, typ variant.Type) []string {
	out := make([]string, arr.Len())
	s, isStruct := arr.(*array.Struct)
	for i := range out {
		switch {
		case arr.IsNull(i):
			out[i] = "NULL"
		case isStruct && typ.ID == variant.TypeVariant:
			m, v := s.Field(0).(*array.Binary).Value(i), s.Field(1).(*array.Binary).Value(i)
			value, err := variant.New(m, v)
			require.NoError(t, err)
			out[i] = value.String()
		default:
			out[i] = arr.ValueStr(i)
		}
	}
	return out
}

// TestProperty_S11_PlainEqualsShredded asks the same of a plain column, of
// shredded ones that fit in part, and of the values themselves: the answers, and
// the rows that do not cast, must be the same.
func TestProperty_S11_PlainEqualsShredded(t *testing.T) {
	for seed := range uint64(600) {
		g := generator{rand.New(rand.NewPCG(seed, 2))}
		s := g.schema(4)
		shredded := NewWriter(s, WriterOptions{Optional: true})
		plain := NewWriter(&Schema{}, WriterOptions{Optional: true})
		for range 20 {
			doc := []byte(g.doc(4))
			if g.IntN(10) == 0 {
				require.NoError(t, shredded.WriteNull())
				require.NoError(t, plain.WriteNull())
				continue
			}
			require.NoError(t, shredded.WriteJSON(doc))
			require.NoError(t, plain.WriteJSON(doc))
		}
		for range 10 {
			typ, err := variant.ParseType(someTypes[g.IntN(len(someTypes))])
			require.NoError(t, err)
			req := Request{Path: g.path(), Type: typ, Try: g.IntN(3) > 0}
			want, wantErr := extract(plain, []Request{req})
			got, gotErr := extract(shredded, []Request{req})
			note := []any{"seed %d: %s as %s from %s", seed, req.Path, typ, s}
			if wantErr != nil {
				require.Error(t, gotErr, note...)
				var a, b *Error
				require.ErrorAs(t, wantErr, &a)
				require.ErrorAs(t, gotErr, &b, note...)
				require.Equal(t, a.Row, b.Row, note...)
				require.ErrorIs(t, gotErr, ErrCast)
				continue
			}
			require.NoError(t, gotErr, note...)
			if typ.ID == variant.TypeArray && typ.Elem.ID == variant.TypeVariant {
				continue // the same values over other dictionaries
			}
			require.Equal(t, render(t, want[0], typ), render(t, got[0], typ), note...)
		}
	}
}

// S11: the text of a value does not depend on the layout.
func TestReader_S11_SameTextInEveryLayout(t *testing.T) {
	rows := []string{`{"p":1.50}`, `{"p":0.05}`, `{"p":22}`, `{"p":1.0}`, `{"p":"x"}`, `{"p":2.5e0}`, `{"p":true}`, `{"p":-0.0}`}
	want := []string{"1.5", "0.05", "22", "1", "x", "2.5", "true", "0"}
	for _, schema := range []string{"variant", "struct<p decimal(18,2)>", "struct<p decimal(38,20)>", "struct<p double>", "struct<p string>", "struct<p int>", "int"} {
		arrays, err := extract(write(t, schema, rows...), []Request{request(t, "$.p", "string", false)})
		require.NoError(t, err)
		for i, s := range want {
			require.Equal(t, s, arrays[0].(*array.String).Value(i), schema)
		}
	}
}

// S20: rows that were read whole and written again, twice, are the same.
func TestAssemble_S20_RewriteTwice(t *testing.T) {
	rows := []string{`{"a":1,"b":{"c":"x","d":[1,2,{"e":null}]}}`, `{"a":"s","z":{"y":[]}}`, `[1]`, `null`}
	schema := mustParse(t, "struct<a int, b struct<c string, d list<int>>>")
	w := NewWriter(schema, WriterOptions{Optional: true})
	for _, r := range rows {
		require.NoError(t, w.WriteJSON([]byte(r)))
	}
	for range 2 {
		values, err := assembled(w, true)
		require.NoError(t, err)
		next := NewWriter(schema, WriterOptions{Optional: true})
		for _, v := range values {
			require.NoError(t, next.WriteValue(v))
		}
		readBack(t, next, rows...)
		for i, b := range w.Buffers() {
			require.Equal(t, columnOfBuffer(b), columnOfBuffer(next.Buffers()[i]), b.Path)
		}
		w = next
	}
}

// S33: the whole value, and a path of it, in one read; null rows stay null.
func TestReader_S33_WholeAndPath(t *testing.T) {
	w := NewWriter(mustParse(t, "struct<a int>"), WriterOptions{Optional: true})
	require.NoError(t, w.WriteJSON([]byte(`{"a":1,"b":2}`)))
	require.NoError(t, w.WriteNull())
	require.NoError(t, w.WriteJSON([]byte(`null`)))
	out, err := extract(w, []Request{request(t, "$", "variant", false), request(t, "$.a", "int", false), request(t, "$", "variant", false), request(t, "$.a", "variant", false)})
	require.NoError(t, err)
	whole := variantType()
	require.Equal(t, []string{`{"a":1,"b":2}`, "NULL", "null"}, render(t, out[0], whole))
	require.Equal(t, []string{"1", "NULL", "NULL"}, render(t, out[1], request(t, "$", "int", false).Type))
	require.Equal(t, render(t, out[0], whole), render(t, out[2], whole))
	require.Equal(t, []string{"1", "NULL", "NULL"}, render(t, out[3], whole))
	require.Equal(t, 1, out[0].NullN())
}

// S34: one path of fifty leaves reads its own columns and no others.
func TestProject_S34_ReadsOnlyWhatIsAsked(t *testing.T) {
	var parts []string
	for i := range 50 {
		parts = append(parts, fmt.Sprintf(`"f%02d":%d`, i, i))
	}
	row := "{" + strings.Join(parts, ",") + "}"
	w := write(t, inferred(t, row), row, row)
	leaves := w.Buffers()
	names := func(p *Plan) (out []string) {
		for _, c := range p.Columns() {
			out = append(out, strings.Join(leaves[c].Path[1:], "/"))
		}
		return out
	}
	plan := func(path, typ string, null func(int) bool) *Plan {
		p, err := Project(w.Group(), Context{}, []Request{request(t, path, typ, false)}, null)
		require.NoError(t, err)
		return p
	}
	require.Equal(t, []string{"typed_value/f07/typed_value"}, names(plan("$.f07", "bigint", allNull(leaves))))
	require.Equal(t, []string{"typed_value/f07/typed_value"}, names(plan("$.f07", "variant", allNull(leaves))))
	require.Equal(t, []string{"metadata", "typed_value/f07/value", "typed_value/f07/typed_value"}, names(plan("$.f07", "bigint", nil)))
	require.Equal(t, []string{"metadata", "value"}, names(plan("$.other", "bigint", nil)))
	require.Empty(t, names(plan("$.other", "bigint", allNull(leaves))))
	require.Len(t, names(plan("$", "variant", allNull(leaves))), 51)
	require.Len(t, names(plan("$", "variant", nil)), 102)
}

// U05: filtering rows before or after an extraction gives the same.
func TestReader_U05_InterleavedInRowOrder(t *testing.T) {
	w := write(t, "struct<a int>", `{"a":1}`, `{"a":"2"}`, `{"a":3}`, `{}`, `{"a":null}`, `{"a":6.0}`, `{"a":"7"}`)
	for _, typ := range []string{"int", "bigint", "double", "string", "decimal(9,2)", "float", "smallint"} {
		out, err := extract(w, []Request{request(t, "$.a", typ, false)})
		require.NoError(t, err)
		require.Equal(t, 7, out[0].Len())
		require.Equal(t, []bool{false, false, false, true, true, false, false}, nullsOf(out[0]))
		for i, want := range map[int]string{0: "1", 1: "2", 2: "3", 5: "6", 6: "7"} {
			require.Equal(t, want, strings.TrimSuffix(out[0].ValueStr(i), ".00"), typ)
		}
	}
	_, err := extract(w, []Request{request(t, "$.a", "boolean", false)})
	var e *Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, ErrCast)
	require.Equal(t, 1, e.Row)
	require.Equal(t, "$['a']", e.Path)
	require.Equal(t, `"2"`, e.Value)
	out, err := extract(w, []Request{request(t, "$.a", "boolean", true)})
	require.NoError(t, err)
	require.Equal(t, []bool{false, true, false, true, true, false, true}, nullsOf(out[0]))
}

// TestAssemble_V18_TimesWithinADay: a typed leaf may hold a time that no value may.
func TestAssemble_V18_TimesWithinADay(t *testing.T) {
	for _, c := range []struct {
		micros int64
		ok     bool
	}{{0, true}, {86_399_999_999, true}, {86_400_000_000, false}, {-1, false}} {
		w := NewWriter(LeafOf(Type{Kind: variant.KindTime}), WriterOptions{})
		require.NoError(t, w.WriteValue(scalarValue(variant.Scalar{Kind: variant.KindTime, Int: 1})))
		bufferAt(t, w, "typed_value").Int64s[0] = c.micros
		got, err := assembled(w, true)
		if !c.ok {
			require.ErrorIs(t, err, ErrCorrupt)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, got[0].Validate())
	}
}
