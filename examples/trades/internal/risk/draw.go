package risk

import (
	"math"
	"math/bits"
	"slices"
)

const (
	scenarios = 1000
	// rank is the place of the reported loss among all, the largest first:
	// one in a hundred scenarios is worse.
	rank = scenarios/100 + 1
)

// generator makes 64 random bits a step: a Weyl sequence, whose steps do not
// wait for each other, through one 128-bit product.
type generator uint64

const (
	weyl = 0x9E3779B97F4A7C15 // 2^64 / golden ratio, odd
	salt = 0xD1B54A32D192ED03
)

func (g *generator) next() uint64 {
	*g += weyl
	hi, lo := bits.Mul64(uint64(*g), uint64(*g)^salt)
	return hi ^ lo
}

// state is where the scenarios of a trade begin: a hash (FNV-1a, then mixed) of
// seed and id.
func state(seed uint64, id string) generator {
	h := seed ^ 0xCBF29CE484222325
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 0x100000001B3
	}
	for range 2 {
		h ^= h >> 32
		h *= salt
	}
	return generator(h ^ h>>29)
}

// uniform is the number in (0, 1) that a draw stands for.
func uniform(x uint32) float64 { return (float64(x) + 0.5) / (1 << 32) }

// normal is the inverse of the standard normal distribution.
func normal(u float64) float64 { return math.Sqrt2 * math.Erfinv(2*u-1) }

// tail is the move z of the reported scenario: the rank-th smallest of all.
func tail(g generator) float64 { return normal(uniform(selectDraw(g))) }

// candidates is room for the draws below the cut, of which 30 are expected and
// more than 64 come once in 10^8 trades.
const candidates = 64

// cut is a limit that almost always has at least rank of the scenarios below it
// (all but 1 in 10^5 trades), and few more.
const cut = 3 * (1 << 32) / 100

// selectDraw returns the rank-th smallest of a trade's draws. Each step of the
// generator is two scenarios of 32 bits.
func selectDraw(g generator) uint32 {
	var low [candidates]uint32
	n, run := uint(0), g
	for range scenarios / 2 {
		x := run.next()
		// Every draw is stored, and the next one overwrites it unless it was
		// below the cut: no branch to mispredict. Too many wrap around.
		low[n%candidates] = uint32(x >> 32)
		n += uint((x>>32 - cut) >> 63)
		low[n%candidates] = uint32(x)
		n += uint((x&math.MaxUint32 - cut) >> 63)
	}
	if n < rank || n >= candidates {
		return selectAll(g)
	}
	return smallest(low[:n])
}

// selectAll is selectDraw without a cut, for the rare trades that it fails.
func selectAll(g generator) uint32 {
	var all [scenarios]uint32
	for i := 0; i < scenarios; i += 2 {
		x := g.next()
		all[i], all[i+1] = uint32(x>>32), uint32(x)
	}
	return smallest(all[:])
}

// smallest returns the rank-th smallest value. v[:rank] ends with the smallest
// values in order.
func smallest(v []uint32) uint32 {
	top := v[:rank]
	slices.Sort(top)
	for _, x := range v[rank:] {
		if x >= top[rank-1] {
			continue
		}
		j := rank - 1
		for ; j > 0 && top[j-1] > x; j-- {
			top[j] = top[j-1]
		}
		top[j] = x
	}
	return top[rank-1]
}
