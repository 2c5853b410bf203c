package shred

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

// FuzzWriter shreds any text under any schema: what is accepted comes back.
func FuzzWriter(f *testing.F) {
	f.Add("struct<a int, b list<struct<c string>>>", []byte(`{"a":1,"b":[{"c":"x"},{"d":null}],"e":{}}`))
	f.Add("list<decimal(9,2)>", []byte(`[1.5,"x",[],{"a":1e3}]`))
	f.Add("variant", []byte(`"\ud83d\ude00"`))
	f.Fuzz(func(t *testing.T, schema string, text []byte) {
		s, err := Parse(schema)
		if err != nil {
			require.ErrorIs(t, err, ErrSchema)
			return
		}
		again, err := Parse(s.String())
		require.NoError(t, err)
		require.True(t, s.Equal(again))
		want, wantErr := variant.ParseJSON(text)
		want = want.Clone()
		w := NewWriter(s, WriterOptions{})
		err = w.WriteJSON(text)
		require.Equal(t, wantErr == nil, err == nil)
		require.NoError(t, w.WriteJSON([]byte(`{"a":[1]}`)))
		got, err := assembled(w, false)
		require.NoError(t, err)
		require.Equal(t, `{"a":[1]}`, got[len(got)-1].String())
		if wantErr == nil {
			require.Equal(t, want.String(), got[0].String())
		} else {
			require.Len(t, got, 1)
		}
	})
}

// FuzzValue shreds foreign Variant bytes: corrupt ones are an error or garbage,
// good ones come back.
func FuzzValue(f *testing.F) {
	v, _ := variant.ParseJSON([]byte(`{"a":1,"b":[1.5,"x"],"c":{"d":null}}`))
	f.Add("struct<a int, b list<string>>", v.Metadata(), v.Bytes())
	f.Fuzz(func(t *testing.T, schema string, metadata, value []byte) {
		s, err := Parse(schema)
		if err != nil {
			return
		}
		w := NewWriter(s, WriterOptions{Optional: true})
		v, err := variant.New(metadata, value)
		if err != nil {
			_ = w.WriteValue(variant.Unchecked(metadata, value))
			return
		}
		require.NoError(t, w.WriteValue(v))
		got, err := assembled(w, true)
		require.NoError(t, err)
		require.Equal(t, v.String(), got[0].String())
	})
}

// FuzzBounds reads any bytes as bounds.
func FuzzBounds(f *testing.F) {
	w := NewWriter(LeafOf(Type{Kind: variant.KindString}), WriterOptions{})
	_ = w.WriteJSON([]byte(`"x"`))
	b := w.Bounds()
	f.Add(b.Lower, b.Upper)
	req := Request{Type: variant.Type{ID: variant.TypeString}}
	f.Fuzz(func(t *testing.T, lower, upper []byte) {
		r := Bounds{Lower: lower, Upper: upper}.Range(req)
		if r.Known {
			require.LessOrEqual(t, Order(&r.Min, &r.Max), 0)
		}
	})
}
