package variant

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAppendInt_Digits: integers of every length.
func TestAppendInt_Digits(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	check := func(x int64) {
		require.Equal(t, strconv.FormatInt(x, 10), string(appendInt(nil, x)))
	}
	for _, p := range pow10[:19] {
		for d := int64(-2); d <= 2; d++ {
			check(int64(p) + d)
			check(-int64(p) + d)
		}
	}
	check(math.MinInt64)
	check(math.MaxInt64)
	for range 20_000 {
		check(int64(r.Uint64()) >> r.IntN(64))
	}
}

// TestAppendSmallDecimal_Digits: decimals of every length and scale, against the way
// that writes digit by digit.
func TestAppendSmallDecimal_Digits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	check := func(x int64, scale uint8) {
		want := Decimal{Hi: x >> 63, Lo: uint64(x), Scale: scale}.Trim().String()
		require.Equal(t, want, string(appendSmallDecimal(nil, x, scale)), "%d scale %d", x, scale)
		require.Equal(t, "ab"+want, string(appendSmallDecimal([]byte("ab"), x, scale)))
	}
	for scale := range uint8(39) {
		for _, p := range pow10[:19] {
			for d := int64(-2); d <= 2; d++ {
				check(int64(p)+d, scale)
				check(-int64(p)+d, scale)
			}
		}
		for range 2000 {
			x := int64(r.Uint64()) >> (4 + r.IntN(60))
			check(x, scale)
			p := int64(pow10[r.IntN(18)])
			check(x/p*p, scale)
		}
	}
}

// TestShortDigits: a double is written with the digits that strconv finds, where the
// short way finds some.
func TestShortDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 5))
	var tmp [32]byte
	found := 0
	check := func(f float64) {
		got := shortDigits(&tmp, f)
		if got == nil {
			return
		}
		found++
		want := strconv.AppendFloat(nil, f, 'e', -1, 64)
		if want[1] != '.' {
			want = strconv.AppendFloat(nil, f, 'e', 1, 64)
		}
		require.Equal(t, string(want), string(got))
	}
	for range 200_000 {
		check(math.Abs(math.Float64frombits(r.Uint64())))
		f := float64(r.Uint64N(pow10[1+r.IntN(17)])+1) * math.Pow10(r.IntN(40)-25)
		check(f)
		check(math.Nextafter(f, 0))
		check(math.Nextafter(f, math.Inf(1)))
	}
	require.Greater(t, found, 100_000)
	for _, f := range []float64{5e-324, math.MaxFloat64, 1e15, 1e14, 999999999999999, 1e-8, 1e22, 1e23, 0.1, 5.2e-05, 9.99999999999999e14} {
		check(f)
	}
	require.Equal(t, "5.2e-05", string(shortDigits(&tmp, 5.2e-05)))
}

// TestDecimal_LongScalesAreWide: 0.0000000001 was a decimal4, as its one digit allows.
// Spark and arrow-rs refuse decimal4 with a scale above 9 and decimal8 with one above
// 18, so it is written wider, in every way into a value; it is read in any width.
func TestDecimal_LongScalesAreWide(t *testing.T) {
	for text, want := range map[string]Kind{
		"0.000000001":           KindDecimal4,
		"0.123456789":           KindDecimal4,
		"0.0000000001":          KindDecimal8,
		"-0.0000000000":         KindDecimal8,
		"1.00000000001":         KindDecimal8,
		"0.00000000000000001":   KindDecimal8,
		"0.000000000000000001":  KindDecimal8,
		"0.0000000000000000001": KindDecimal16,
		"1.0000000000000000001": KindDecimal16,

		"0.00000000000000000000000000000000000001": KindDecimal16,
	} {
		v, err := ParseJSON([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, v.Kind(), text)
		events := &recorder{}
		require.NoError(t, NewParser(ParseOptions{}).Parse([]byte(text), events))
		require.Equal(t, want, events.kind, text)
		d, ok := v.Decimal()
		require.True(t, ok)
		b := NewBuilder()
		b.Decimal(d)
		built, err := b.Value()
		require.NoError(t, err)
		require.Equal(t, v.Bytes(), built.Bytes())
	}
	foreign, err := New(emptyMetadata, []byte{primDecimal4 << 2, 30, 1, 0, 0, 0})
	require.NoError(t, err)
	require.Equal(t, "0.000000000000000000000000000001", foreign.String())
}

// recorder keeps the kind of the last scalar.
type recorder struct {
	discard
	kind Kind
}

func (r *recorder) Scalar(s *Scalar) { r.kind = s.Kind }
