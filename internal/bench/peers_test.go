package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

// TestWorks runs every work once, and holds what the peers encode against ours:
// a comparison of different results would mean nothing.
func TestWorks(t *testing.T) {
	for i, c := range corpora(50) {
		different := 0
		c.docs = c.docs[:min(len(c.docs), 50)]
		glue := newTokenEncoder()
		for _, doc := range c.docs {
			want, err := variant.ParseJSON(doc)
			require.NoError(t, err)
			require.NoError(t, glue.encode(doc))
			value, err := glue.builder.Bytes()
			require.NoError(t, err)
			got, err := variant.New(glue.meta.AppendTo(nil), value)
			require.NoError(t, err)
			if !variant.Equal(want, got) {
				different++ // the glue makes doubles of integers beyond 64 bits
			}
		}
		require.True(t, i > 0 || different == 0, c.name)
		t.Logf("%s: %d of %d documents differ", c.name, different, len(c.docs))
		e, err := encodeCorpus(c)
		require.NoError(t, err)
		for _, works := range [][]work{encodeWorks(c), e.jsonWorks(), e.validateWorks(), e.getWorks()} {
			for _, w := range works {
				if err := w.run(); err != nil {
					t.Logf("%s: %s: %v", c.name, w.name, err)
				}
			}
		}
	}
	rows, err := equities(10)
	require.NoError(t, err)
	for _, w := range structEncoders(rows) {
		require.NoError(t, w.run())
	}
}

func BenchmarkPricing(b *testing.B) {
	c := corpora(2000)[0]
	e, err := encodeCorpus(c)
	require.NoError(b, err)
	for _, works := range [][]work{encodeWorks(c), e.jsonWorks(), e.validateWorks(), e.getWorks()} {
		for _, w := range works {
			b.Run(w.name, func(b *testing.B) {
				b.SetBytes(int64(c.size))
				for range b.N {
					if err := w.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestCompareTexts: what a peer prints is held against the document as JSON.
func TestCompareTexts(t *testing.T) {
	for _, c := range []struct {
		doc, text string
		want      sameness
	}{
		{`{"a":[1,2.50,"x"],"b":null}`, `{"b":null,"a":[1.0,2.5,"x"]}`, same},
		{`[5.2e-05]`, `[0.000052]`, same},
		{`[0.12345678901234567890]`, `[0.12345678901234568]`, rounded},
		{`[1]`, `[2]`, different},
		{`["1"]`, `[1]`, different},
		{`{"a":1}`, `{"b":1}`, different},
		{`[1,2]`, `[1]`, different},
		{`[1]`, `[`, different},
	} {
		require.Equal(t, c.want, compareTexts([]byte(c.doc), []byte(c.text)), c.text)
	}
}
