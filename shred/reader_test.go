package shred

import (
	"math/rand/v2"
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
