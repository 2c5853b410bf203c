package variant

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEncoder_MemoryIsInvisible: what an encoder remembers of earlier texts changes
// nothing in the bytes of later ones. The texts share shapes of objects, but differ
// in the ids of their names, and the width of these; in the size of the outermost
// header; and in keys that begin alike.
func TestEncoder_MemoryIsInvisible(t *testing.T) {
	inner := `{"zz1":1,"zz2":-2.5,"zz10":{"zzz":[{},{"zz1":7}]},"y":"t"}`
	texts := []string{inner, `[` + inner + `,` + inner + `]`, `{"a":` + inner + `}`, `{}`, `[]`, `7`}
	for _, n := range []int{1, 30, 252, 253, 260, 300, 70_000} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		texts = append(texts, `{`+b.String()+`"q":`+inner+`}`, `{"q":`+inner+`,`+b.String()+`"r":0}`)
	}
	for _, tail := range []string{"", "a", "b", "c", `\"b`, "aa", "ab"} {
		texts = append(texts, `{"same":1,"samesame`+tail+`":{"x":1},"later`+tail+`":2}`)
	}
	want := make([]Value, len(texts))
	for i, text := range texts {
		v, err := NewEncoder(ParseOptions{}).Encode([]byte(text))
		require.NoError(t, err)
		require.NoError(t, v.Validate())
		want[i] = v
	}
	r := rand.New(rand.NewPCG(8, 3))
	e := NewEncoder(ParseOptions{})
	for range 400 {
		i := r.IntN(len(texts))
		if len(texts[i]) > 1<<19 && r.IntN(8) > 0 {
			continue
		}
		v, err := e.Encode([]byte(texts[i]))
		require.NoError(t, err)
		require.Equal(t, want[i].Metadata(), v.Metadata(), "%.60s", texts[i])
		require.Equal(t, want[i].Bytes(), v.Bytes(), "%.60s", texts[i])
	}
}
