package variant

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/race"

	"github.com/frazil/frazil/internal/tradegen"
)

// TestAllocations_Warm: no allocation per document once an encoder, a parser, a
// builder has seen the shapes, and none in JSON out, checks and walks.
func TestAllocations_Warm(t *testing.T) {
	if race.Enabled {
		t.Skip("pools lose their contents under the race detector")
	}
	rows := tradegen.PricingVectors(300, 7)
	e, p, b := NewEncoder(ParseOptions{}), NewParser(ParseOptions{}), NewBuilder()
	values := make([]Value, len(rows))
	metas := make([]*Metadata, len(rows))
	for i, text := range rows {
		v, err := e.Encode(text)
		require.NoError(t, err)
		values[i] = v.Clone()
		metas[i], err = ParseMetadata(v.Metadata())
		require.NoError(t, err)
	}
	var sink Sink = discard{}
	var dst []byte
	shared := metas[0]
	for name, f := range map[string]func(i int) error{
		"Encode":     func(i int) error { _, err := e.Encode(rows[i]); return err },
		"Parse":      func(i int) error { return p.Parse(rows[i], sink) },
		"AppendJSON": func(i int) (err error) { dst, err = AppendJSON(dst[:0], values[i]); return err },
		"New":        func(i int) error { _, err := New(values[i].Metadata(), values[i].Bytes()); return err },
		"Emit":       func(i int) error { return values[i].Emit(sink) },
		"Builder": func(i int) error {
			b.Reset()
			b.AppendValue(values[i])
			_, err := b.Value()
			return err
		},
		"Builder over a dictionary": func(int) error {
			b.ResetMetadata(shared)
			if err := values[0].Emit(b); err != nil {
				return err
			}
			_, err := b.Value()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := func() {
				for i := range rows {
					if err := f(i); err != nil {
						t.Fatal(err)
					}
				}
			}
			all()
			require.Zero(t, testing.AllocsPerRun(5, all))
		})
	}
}

// TestAllocations_Bounded: what a hostile value makes the package allocate is a
// small multiple of its size.
func TestAllocations_Bounded(t *testing.T) {
	for name, c := range map[string]struct{ meta, value []byte }{
		"dictionary of empty names": {append([]byte{0xc1, 0xff, 0xff, 0, 0}, make([]byte, 4*65536)...), []byte{0}},
		"claims 2^32-1 names":       {append([]byte{0xc1, 0xff, 0xff, 0xff, 0xff}, make([]byte, 1<<16)...), []byte{0}},
		"claims 2^32-1 elements":    {emptyMetadata, append([]byte{0x13, 0xff, 0xff, 0xff, 0xff}, make([]byte, 1<<16)...)},
		"array of empty arrays":     {emptyMetadata, zeroArrays(1 << 14)},
	} {
		t.Run(name, func(t *testing.T) {
			const runs = 20
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range runs {
				_, _ = New(c.meta, c.value)
			}
			runtime.ReadMemStats(&after)
			require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(runs*8*(len(c.meta)+len(c.value))))
		})
	}
}

// zeroArrays is an array of n empty arrays, written by hand.
func zeroArrays(n int) []byte {
	b := appendUint([]byte{0x1b}, uint32(n), 4)
	for i := range n + 1 {
		b = appendUint(b, uint32(3*i), 3)
	}
	for range n {
		b = append(b, 3, 0, 0)
	}
	return b
}
