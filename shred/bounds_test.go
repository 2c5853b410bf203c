package shred

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

func boundsObject(t *testing.T, b []byte) variant.Value {
	t.Helper()
	n := metadataSize(b)
	require.NotZero(t, n)
	v, err := variant.New(b[:n], b[n:])
	require.NoError(t, err)
	return v
}

// S30, S27: bounds of leaves whose residual holds nothing but Variant nulls, outside
// arrays, by normalized path, of one type on both sides.
func TestBounds_S30_S27(t *testing.T) {
	w := write(t, "struct<`user.name` bigint, tags string, long string, mixed int, nulls int, list list<int>, d double, nan double, dec decimal(9,2), big decimal(38,2), flag boolean, o struct<x int>>",
		`{"user.name":1,"tags":"a","long":"prefix-that-is-long-a","mixed":1,"nulls":5,"list":[1],"d":-1.5e0,"dec":1.5,"big":12345678901234567890.5,"flag":true,"o":{"x":3},"other":1}`)
	w.Bounds()
	w.Reset()
	nan := variant.NewBuilder()
	nan.Reset()
	nan.Begin(variant.KindObject)
	nan.Key([]byte("nan"))
	nan.Double(math.NaN())
	nan.End()
	v, err := nan.Value()
	require.NoError(t, err)
	require.NoError(t, w.WriteValue(v))
	require.NoError(t, w.WriteJSON([]byte(`{"user.name":9,"tags":"é","long":"prefix-that-is-long-z","mixed":"n/a","nulls":null,"d":2e0,"dec":-7,"big":1,"flag":false,"o":5}`)))
	b := w.Bounds()
	require.Equal(t, `{"$['big']":1,"$['d']":-1.5,"$['dec']":-7,"$['long']":"prefix-that-is-l","$['nulls']":5,"$['o']['x']":3,"$['tags']":"a","$['user.name']":1}`,
		boundsObject(t, b.Lower).String())
	require.Equal(t, `{"$['big']":12345678901234567890.5,"$['d']":2.0,"$['dec']":1.5,"$['long']":"prefix-that-is-m","$['nulls']":5,"$['o']['x']":3,"$['tags']":"é","$['user.name']":9}`,
		boundsObject(t, b.Upper).String())
	require.Equal(t, kinds(boundsObject(t, b.Lower)), kinds(boundsObject(t, b.Upper)))
	require.Equal(t, Bounds{}, write(t, "struct<a int>", `{}`).Bounds())
	root := write(t, "string", `"b"`, `"a"`, `null`).Bounds()
	require.Equal(t, `{"$":"a"}`, boundsObject(t, root.Lower).String())
	// Bounds of another engine, or garbage, say nothing and do not fail.
	for n := range b.Lower {
		Bounds{b.Lower[:n], b.Upper}.Range(request(t, "$.tags", "string", false))
	}
}

// S30: texts are cut by characters, never below the value, and given up where
// nothing is above them.
func TestBounds_Cut(t *testing.T) {
	top := strings.Repeat("\U0010ffff", 20)
	for _, c := range []struct{ in, lower, upper string }{
		{"short", "short", "short"},
		{strings.Repeat("é", 17), strings.Repeat("é", 16), strings.Repeat("é", 15) + "ê"},
		{strings.Repeat("a", 15) + "\U0010ffff" + "z", strings.Repeat("a", 15) + "\U0010ffff", strings.Repeat("a", 14) + "b"},
		{strings.Repeat("a", 15) + "\ud7ff" + "z", strings.Repeat("a", 15) + "\ud7ff", strings.Repeat("a", 15) + "\ue000"},
	} {
		w := write(t, "string", quote(c.in))
		lower, _ := boundsObject(t, w.Bounds().Lower).Field("$").Text()
		upper, _ := boundsObject(t, w.Bounds().Upper).Field("$").Text()
		require.Equal(t, c.lower, lower)
		require.Equal(t, c.upper, upper)
		require.LessOrEqual(t, lower, c.in)
		require.GreaterOrEqual(t, upper, c.in)
	}
	require.Equal(t, Bounds{}, write(t, "string", quote(top)).Bounds())
}
