package variant

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParseDecimal_AgainstBigRat: the number is the one that math/big reads, with the
// digits that were written.
func TestParseDecimal_AgainstBigRat(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		return b.String()
	}
	parsed := 0
	for range 5000 {
		text := []string{"", "-", "+"}[r.IntN(3)] + digits(1+r.IntN(25))
		if r.IntN(2) == 0 {
			text += "." + digits(r.IntN(25))
		}
		if r.IntN(3) == 0 {
			text += fmt.Sprintf("e%+d", r.IntN(60)-30)
		}
		want, ok := new(big.Rat).SetString(text)
		require.True(t, ok, text)
		d, err := ParseDecimal(text)
		if err != nil {
			require.ErrorIs(t, err, ErrRange, text)
			continue
		}
		parsed++
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale)), nil)
		require.Zero(t, want.Cmp(new(big.Rat).SetFrac(d.Big(), power)), text)
	}
	require.Greater(t, parsed, 2000)
}

func TestParseDecimal(t *testing.T) {
	for text, want := range map[string]string{
		"-1.50": "-1.50", "12": "12", ".5": "0.5", "5.": "5", "1.25e3": "1250", "125e-2": "1.25", "0e99": "0", "0.00": "0.00",
		"1e37": "1" + strings.Repeat("0", 37), "1e-38": "0." + strings.Repeat("0", 37) + "1",
	} {
		d, err := ParseDecimal(text)
		require.NoError(t, err, text)
		require.Equal(t, want, d.String(), text)
	}
	for _, text := range []string{"1e38", "1e-39", "1e99999999999999999999", strings.Repeat("9", 39)} {
		_, err := ParseDecimal(text)
		require.ErrorIs(t, err, ErrRange, text)
	}
	for _, text := range []string{"", "-", ".", "1x", " 1", "1 ", "0x1", "NaN", "1e", "--1", "1,5", "\xff"} {
		_, err := ParseDecimal(text)
		require.ErrorIs(t, err, ErrCast, text)
	}
}

func ExampleParseDecimal() {
	d, err := ParseDecimal("-1234.50")
	fmt.Println(d, d.Scale, d.Trim(), err)
	// Output: -1234.50 2 -1234.5 <nil>
}
