package variant

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzMeaning takes any bytes through everything that reads meaning. Bytes that
// New refuses must do no harm; of those that it accepts, the canonical form and the
// way through Go values keep the meaning.
func FuzzMeaning(f *testing.F) {
	for _, v := range pricingValues(f, 3) {
		f.Add(v.Metadata(), v.Bytes())
	}
	for _, group := range rankedValues(f) {
		for _, v := range group {
			f.Add(v.Metadata(), v.Bytes())
		}
	}
	paths := compilePaths(f, append(pricingPaths, "$", "$[0]", "$.a[1].x"))
	getter := NewGetter(paths...)
	typ := mustType(f, "struct<a:array<string>,greeks:map<string,decimal(9,2)>,model:int,x:variant>")
	f.Fuzz(func(t *testing.T, metadata, value []byte) {
		v := Unchecked(metadata, value)
		many := getter.Get(v, nil)
		for _, p := range paths {
			v.Get(p)
			_, _ = v.Lookup(p)
		}
		Compare(v, v.Clone())
		Hash(v)
		_, _ = Cast(v, typ)
		_, _ = TryCast(v, typ)
		_, _ = Cast(v, Type{ID: TypeString})
		var x any
		errGo := Unmarshal(v, &x)
		canonical, errCanonical := Canonical(v)
		if _, err := New(metadata, value); err != nil {
			return
		}
		require.NoError(t, errGo)
		require.NoError(t, errCanonical)
		require.NoError(t, canonical.Validate())
		require.True(t, Equal(v, canonical), "%s", v)
		require.Equal(t, Hash(v), Hash(canonical))
		again, err := Canonical(canonical)
		require.NoError(t, err)
		require.Equal(t, canonical, again)
		for i, p := range paths {
			got := v.Get(p)
			found, err := v.Lookup(p)
			require.NoError(t, err)
			require.Equal(t, string(got.Bytes()), string(found.Bytes()), p)
			require.Equal(t, string(got.Bytes()), string(many[i].Bytes()), p)
		}
		for _, p := range allPaths(v, nil, nil) {
			got, err := v.Lookup(p)
			require.NoError(t, err)
			require.Equal(t, referenceGet(v, p).Bytes(), got.Bytes())
		}
	})
}
