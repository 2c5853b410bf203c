package iceberg

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// skipSlow is skipContainer one byte at a time.
func skipSlow(b []byte, i int) int {
	depth, quoted := 0, false
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// TestSkipContainerMatchesSlowScan: eight bytes at a time end where one at a time
// do, whatever stands at the edges of a word: quotes, escapes, brackets in strings,
// bytes with the high bit, and texts that are no JSON.
func TestSkipContainerMatchesSlowScan(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{`"`, `\`, `\"`, `\\`, `{`, `}`, `[`, `]`, `"a":`, `12`, `"{"`, `"]"`, `,`, `Ã¤`, `|`, "\x1b", `;`, `"long enough to fill words, {[`}
	ended := 0
	for range 40_000 {
		var b strings.Builder
		at := r.IntN(9)
		b.WriteString(strings.Repeat("}", at) + []string{"{", "["}[r.IntN(2)])
		for range r.IntN(30) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := []byte(b.String())
		want := skipSlow(text, at)
		got, err := skipContainer(text, at)
		if want == 0 {
			require.ErrorIs(t, err, errTruncated, "%q", text)
			continue
		}
		ended++
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got, "%q", text)
	}
	require.Greater(t, ended, 4_000)

	lines, _ := tradeLines(200)
	for _, l := range lines {
		end, err := skipContainer(l, 0)
		require.NoError(t, err)
		require.Equal(t, len(l), end)
		for cut := range l {
			_, err := skipContainer(l[:cut], 0)
			require.ErrorIs(t, err, errTruncated)
		}
	}
}

// TestPlainTextMatchesSlowScan: every byte at every place of a text.
func TestPlainTextMatchesSlowScan(t *testing.T) {
	for n := range 20 {
		for at := range n {
			for c := range 256 {
				text := []byte(strings.Repeat(" ", n))
				text[at] = byte(c)
				require.Equal(t, plainBytes(text), plainText(text), "%q", text)
			}
		}
	}
}
