package variant

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scalarKinds lists every kind that a Scalar may have.
func scalarKinds() []Kind {
	var out []Kind
	for k := KindNull; k < KindArray; k++ {
		out = append(out, k)
	}
	return out
}

// randomEvents sends one random value to all sinks and returns the oracle's tree.
func randomEvents(r *rand.Rand, depth int, sinks ...Sink) any {
	each := func(f func(Sink)) {
		for _, s := range sinks {
			f(s)
		}
	}
	kind := r.IntN(12)
	if depth > 4 {
		kind = 2
	}
	switch kind {
	case 0:
		each(func(s Sink) { s.Begin(KindArray) })
		out := make([]any, r.IntN(5))
		for i := range out {
			out[i] = randomEvents(r, depth+1, sinks...)
		}
		each(Sink.End)
		return out
	case 1:
		each(func(s Sink) { s.Begin(KindObject) })
		out := map[string]any{}
		for range r.IntN(8) {
			name := fmt.Sprintf("%c%d", 'z'-rune(r.IntN(20)), r.IntN(20))
			if _, dup := out[name]; dup {
				continue
			}
			each(func(s Sink) { s.Key([]byte(name)) })
			out[name] = randomEvents(r, depth+1, sinks...)
		}
		each(Sink.End)
		return out
	}
	s, want := randomScalar(r)
	each(func(k Sink) { k.Scalar(&s) })
	return want
}

// randomScalar returns a scalar of any kind and what the oracle should see.
func randomScalar(r *rand.Rand) (Scalar, string) {
	kinds := scalarKinds()
	s := Scalar{Kind: kinds[r.IntN(len(kinds))], Int: int64(r.Uint64()) >> r.IntN(64)}
	switch s.Kind {
	case KindNull:
		return s, "null"
	case KindBool:
		s.Int &= 1
		return s, fmt.Sprintf("bool %v", s.Int == 1)
	case KindInt8:
		s.Int = int64(int8(s.Int))
	case KindInt16:
		s.Int = int64(int16(s.Int))
	case KindInt32, KindDate:
		s.Int = int64(int32(s.Int))
	case KindTime:
		s.Int = int64(uint64(s.Int) % microsPerDay)
	case KindFloat:
		f := math.Float32frombits(r.Uint32())
		s.Float = float64(f)
		return s, fmt.Sprintf("float %x", math.Float32bits(float32(s.Float)))
	case KindDouble:
		s.Float = math.Float64frombits(r.Uint64())
		return s, fmt.Sprintf("double %x", math.Float64bits(s.Float))
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return randomDecimal(r, s)
	case KindString:
		s.Bytes = []byte(strings.Repeat("é", r.IntN(60)))
		return s, "string " + string(s.Bytes)
	case KindBinary:
		s.Bytes = make([]byte, r.IntN(80))
		return s, "binary " + string(s.Bytes)
	case KindUUID:
		s.Bytes = slices.Repeat([]byte{byte(r.Uint32())}, 16)
		return s, fmt.Sprintf("uuid %x", s.Bytes)
	case KindInt64, KindTimestamp, KindTimestampNTZ, KindTimestampNanos, KindTimestampNTZNanos,
		KindMissing, KindArray, KindObject:
	}
	return s, fmt.Sprintf("%v %d", s.Kind, s.Int)
}

func randomDecimal(r *rand.Rand, s Scalar) (Scalar, string) {
	limit := map[Kind]uint64{KindDecimal4: 1e9, KindDecimal8: 1e18, KindDecimal16: math.MaxUint64}[s.Kind]
	d := decimalOf(r.IntN(2) == 0, 0, r.Uint64()%limit, uint8(r.IntN(39)))
	if s.Kind == KindDecimal16 {
		hi, lo, _ := mul128(0, r.Uint64(), r.Uint64()%1e18)
		d = decimalOf(r.IntN(2) == 0, hi, lo, d.Scale)
	}
	s.Scale, s.Int, s.Hi = d.Scale, int64(d.Lo), d.Hi
	return s, fmt.Sprintf("%v %v %d", s.Kind, d.Big(), d.Scale)
}

// allNames is the dictionary of every name that randomEvents uses, unsorted.
func allNames() *Metadata {
	var names []string
	for c := 'z'; c > 'z'-20; c-- {
		for n := range 20 {
			names = append(names, fmt.Sprintf("%c%d", c, n))
		}
	}
	meta := widerMetadata(names, 3)
	meta[0] &^= 0x10
	m, err := ParseMetadata(meta)
	if err != nil {
		panic(err)
	}
	return m
}

// TestBuilder_RandomValues has the oracle read what a builder makes of random
// events, over its own dictionary and over a given one, and back through Emit.
func TestBuilder_RandomValues(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	own, given, again := NewBuilder(), NewBuilder(), NewBuilder()
	m := allNames()
	for range 3000 {
		own.Reset()
		given.ResetMetadata(m)
		want := randomEvents(r, 0, own, given)
		for _, b := range []*Builder{own, given} {
			v, err := b.Value()
			require.NoError(t, err)
			require.NoError(t, v.Validate())
			got, err := oracleDecode(v.Metadata(), v.Bytes())
			require.NoError(t, err)
			require.Equal(t, want, got)
			again.Reset()
			again.AppendValue(v)
			w, err := again.Value()
			require.NoError(t, err)
			got, err = oracleDecode(w.Metadata(), w.Bytes())
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		v, _ := given.Value()
		require.Same(t, &m.Bytes()[0], &v.Metadata()[0])
	}
}

// TestBuilder_OverWhatItKeeps runs a builder without room for shapes, so that the
// general way of closing objects is taken, against one with room.
func TestBuilder_OverWhatItKeeps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	full, m := NewBuilder(), allNames()
	for i := range 2000 {
		full.Reset()
		if i%2 == 1 {
			full.ResetMetadata(m)
		}
		full.tree.shapes = maxShapes
		if i%3 == 0 {
			full.tree.shapes, full.tree.ordered = 1, maxShapeOrder
		}
		want := randomEvents(r, 0, full)
		v, err := full.Value()
		require.NoError(t, err)
		got, err := oracleDecode(v.Metadata(), v.Bytes())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// TestBuilder_Misuse: events in an order that makes no value are errors that stay.
func TestBuilder_Misuse(t *testing.T) {
	null := &Scalar{Kind: KindNull}
	for name, f := range map[string]func(b *Builder){
		"nothing":                  func(*Builder) {},
		"two values":               func(b *Builder) { b.Null(); b.Null() },
		"key outside":              func(b *Builder) { b.Key([]byte("a")) },
		"key in array":             func(b *Builder) { b.Begin(KindArray); b.Key([]byte("a")) },
		"two keys":                 func(b *Builder) { b.Begin(KindObject); b.Key([]byte("a")); b.Key([]byte("b")) },
		"value without key":        func(b *Builder) { b.Begin(KindObject); b.Scalar(null) },
		"end after key":            func(b *Builder) { b.Begin(KindObject); b.Key([]byte("a")); b.End() },
		"end outside":              func(b *Builder) { b.End() },
		"end twice":                func(b *Builder) { b.Begin(KindArray); b.End(); b.End() },
		"open":                     func(b *Builder) { b.Begin(KindArray) },
		"begin of a scalar":        func(b *Builder) { b.Begin(KindInt8) },
		"scalar of a container":    func(b *Builder) { b.Scalar(&Scalar{Kind: KindArray}) },
		"scalar of no kind":        func(b *Builder) { b.Scalar(&Scalar{Kind: 99}) },
		"missing value":            func(b *Builder) { b.AppendValue(Value{}) },
		"short uuid":               func(b *Builder) { b.Scalar(&Scalar{Kind: KindUUID}) },
		"value after an error":     func(b *Builder) { b.End(); b.Null() },
		"missing inside an object": func(b *Builder) { b.Begin(KindObject); b.Key([]byte("a")); b.AppendValue(Value{}); b.End() },
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			f(b)
			_, err := b.Value()
			require.ErrorIs(t, err, ErrUsage)
			b.Reset()
			b.Int(7)
			v, err := b.Value()
			require.NoError(t, err)
			require.Equal(t, "7", v.String())
		})
	}
}

// TestBuilder_BadContent: values that the encoding cannot hold.
func TestBuilder_BadContent(t *testing.T) {
	b := NewBuilder()
	for name, c := range map[string]struct {
		add func(b *Builder)
		err error
	}{
		"text":             {func(b *Builder) { b.Text("\xff") }, ErrText},
		"scalar text":      {func(b *Builder) { b.Scalar(&Scalar{Kind: KindString, Bytes: []byte("\xff")}) }, ErrText},
		"name":             {func(b *Builder) { b.Begin(KindObject); b.Key([]byte("\xff")) }, ErrText},
		"int8":             {func(b *Builder) { b.Scalar(&Scalar{Kind: KindInt8, Int: 128}) }, ErrRange},
		"date":             {func(b *Builder) { b.Scalar(&Scalar{Kind: KindDate, Int: 1 << 40}) }, ErrRange},
		"time":             {func(b *Builder) { b.Time(microsPerDay) }, ErrRange},
		"negative time":    {func(b *Builder) { b.Time(-1) }, ErrRange},
		"scale":            {func(b *Builder) { b.Decimal(Decimal{Lo: 1, Scale: 39}) }, ErrRange},
		"decimal4":         {func(b *Builder) { b.Scalar(&Scalar{Kind: KindDecimal4, Int: 1e9}) }, ErrRange},
		"39 digits":        {func(b *Builder) { b.Decimal(Decimal{Hi: math.MaxInt64}) }, ErrRange},
		"39 digits, minus": {func(b *Builder) { b.Decimal(Decimal{Hi: math.MinInt64}) }, ErrRange},
		"duplicate":        {func(b *Builder) { b.Begin(KindObject); b.Key([]byte("a")); b.Null(); b.Key([]byte("a")) }, ErrDuplicateKey},
		"uuid":             {func(b *Builder) { b.Scalar(&Scalar{Kind: KindUUID, Bytes: []byte("short")}) }, ErrUsage},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // what was refused once is refused again
				b.Reset()
				c.add(b)
				require.ErrorIs(t, b.Err(), c.err)
				b.Null()
				_, err := b.Value()
				require.ErrorIs(t, err, c.err)
			}
		})
	}
}

func TestBuilder_GivenDictionary(t *testing.T) {
	m, err := ParseMetadata(AppendMetadata(nil, []string{"a", "b"}))
	require.NoError(t, err)
	b := NewBuilder()
	for range 3 {
		b.ResetMetadata(m)
		b.Begin(KindObject)
		b.Key([]byte("b"))
		b.Int(1)
		b.End()
		v, err := b.Value()
		require.NoError(t, err)
		require.Equal(t, "02010100020c01", hex.EncodeToString(v.Bytes()))

		b.ResetMetadata(m)
		b.Begin(KindObject)
		b.Key([]byte("c"))
		b.Int(1)
		b.End()
		_, err = b.Value()
		require.ErrorIs(t, err, ErrUnknownKey)
	}
}

// TestBuilder_AppendValue copies bytes where the dictionary is the same slice, and
// encodes again where it is not.
func TestBuilder_AppendValue(t *testing.T) {
	src, err := ParseJSON([]byte(`{"x":[{"b":1.50,"a":"t"}],"c":null}`))
	require.NoError(t, err)
	m, err := ParseMetadata(src.Metadata())
	require.NoError(t, err)
	b := NewBuilder()
	b.ResetMetadata(m)
	b.Begin(KindArray)
	b.AppendValue(Unchecked(m.Bytes(), src.Bytes()))
	b.AppendValue(src)
	b.AppendValue(src.Field("x").Index(0).Field("b"))
	b.End()
	v, err := b.Value()
	require.NoError(t, err)
	require.NoError(t, v.Validate())
	require.Equal(t, src.Bytes(), v.Index(0).Bytes())
	require.Equal(t, `[{"c":null,"x":[{"a":"t","b":1.5}]},{"c":null,"x":[{"a":"t","b":1.5}]},1.5]`, v.String())
}

// TestBuilder_V10_AppendValueCountsLevels: a value whose bytes are copied as they are
// may not bring the whole beyond the limit, so that nothing is written that our own
// reader refuses.
func TestBuilder_V10_AppendValueCountsLevels(t *testing.T) {
	m, err := ParseMetadata(AppendMetadata(nil, []string{"k"}))
	require.NoError(t, err)
	nest := func(levels int) Value {
		b := NewBuilder()
		b.ResetMetadata(m)
		for i := range levels {
			if i%2 == 0 {
				b.Begin(KindArray)
			} else {
				b.Begin(KindObject)
				b.Key([]byte("k"))
			}
		}
		if levels%2 == 0 {
			b.Null()
		}
		for range levels {
			b.End()
		}
		v, err := b.Value()
		require.NoError(t, err)
		return v.Clone()
	}
	inner := nest(600)
	shared, err := m.Value(inner.Bytes())
	require.NoError(t, err)
	for outer, ok := range map[int]bool{0: true, 400: true, 401: false, MaxDepth: false} {
		b := NewBuilder()
		b.ResetMetadata(m)
		for range outer {
			b.Begin(KindArray)
		}
		b.AppendValue(shared)
		for range outer {
			b.End()
		}
		v, err := b.Value()
		require.Equal(t, ok, err == nil, "%d: %v", outer, err)
		if ok {
			require.NoError(t, v.Validate())
		} else {
			require.ErrorIs(t, err, ErrDepth)
		}
	}
}
