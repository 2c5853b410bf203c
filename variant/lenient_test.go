package variant

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lenientText appends a random value whose objects repeat keys and whose strings have
// bytes that are no UTF-8 and halves of surrogate pairs.
func lenientText(r *rand.Rand, w *strings.Builder, depth int) {
	pieces := []string{"a", "b", "é", "\xff", "\xc3", "\xed\xa0\x80", `\ud800`, `\udfda`, `\ud83d\ude00`, `\u0000`, `\\`, "\uFFFD", "\U0001F600"}
	text := func() {
		w.WriteByte('"')
		for range r.IntN(3) {
			w.WriteString(pieces[r.IntN(len(pieces))])
		}
		w.WriteByte('"')
	}
	kind := r.IntN(8)
	switch {
	case depth > 4 || kind < 2:
		fmt.Fprint(w, r.IntN(1000)-500)
	case kind == 2:
		text()
	case kind == 3:
		w.WriteString([]string{"null", "true", "[]", "{}", " [ ] "}[r.IntN(5)])
	case kind == 4:
		w.WriteByte('[')
		for i := range 1 + r.IntN(3) {
			if i > 0 {
				w.WriteString(", ")
			}
			lenientText(r, w, depth+1)
		}
		w.WriteByte(']')
	default:
		w.WriteByte('{')
		for i := range 1 + r.IntN(6) {
			if i > 0 {
				w.WriteByte(',')
			}
			text()
			w.WriteString(" :")
			lenientText(r, w, depth+1)
		}
		w.WriteByte('}')
	}
}

// TestEncode_V04_V15_LenientAsEncodingJSON: with both options the last of several keys
// wins and U+FFFD stands for what is no text, before names are compared, at any depth:
// what encoding/json does, which knows nothing of this package.
func TestEncode_V04_V15_LenientAsEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	e := NewEncoder(ParseOptions{LastKeyWins: true, ReplaceInvalid: true})
	strict, repeats, invalid := NewEncoder(ParseOptions{}), 0, 0
	for range 5000 {
		var w strings.Builder
		lenientText(r, &w, 0)
		var want any
		require.NoError(t, json.Unmarshal([]byte(w.String()), &want), w.String())
		v, err := e.Encode([]byte(w.String()))
		require.NoError(t, err, w.String())
		require.NoError(t, v.Validate(), w.String())
		var got any
		require.NoError(t, json.Unmarshal([]byte(v.String()), &got))
		require.Equal(t, want, got, w.String())
		if _, err = strict.Encode([]byte(w.String())); err != nil {
			require.ErrorIs(t, err, ErrSyntax)
			repeats += strings.Count(err.Error(), ErrDuplicateKey.Error())
			invalid += strings.Count(err.Error(), ErrText.Error())
		}
	}
	require.Greater(t, repeats, 100)
	require.Greater(t, invalid, 100)
}
