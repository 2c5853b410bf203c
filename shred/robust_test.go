package shred

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/tradegen"
	"github.com/frazil/frazil/variant"
)

// leafSamples are texts of values by the leaf type that holds them, with the
// extremes at which casts begin to fail.
var leafSamples = map[string][]string{
	"boolean":       {"true", "false"},
	"tinyint":       {"0", "127", "-128"},
	"smallint":      {"0", "128", "32767", "-32768"},
	"int":           {"0", "1", "2147483647", "-2147483648", "300", "16777217"},
	"bigint":        {"0", "9223372036854775807", "-9223372036854775808", "2147483648", "9007199254740993", "127"},
	"double":        {"0e0", "1.5e0", "-1e300", "1e19", "127.9e0", "3.0000001e9"},
	"decimal(9,2)":  {"0.00", "0.01", "-0.01", "9999999.99", "127.99", "1.005", "0.1", "0.7"},
	"decimal(18,6)": {"0.000001", "999999999999.999999", "123456.7", "9007199254.740993", "-5"},
	"decimal(38,4)": {"0.0001", "1234567890123456789012345678901234.5678", "9223372036854775807", "-1.5"},
	"string":        {`"x"`, `""`, `"12"`, `"1.5"`, `"true"`, `"2026-07-01"`, `"2026-07-01 01:02:03"`, `"é"`},
}

// TestReader_FastPathsEqualCasts compares every type of leaf, under every type
// of request, with the plain column: answers, and rows that do not cast, one value
// at a time and all of them together, with and without nulls and residuals.
func TestReader_FastPathsEqualCasts(t *testing.T) {
	for name, texts := range leafSamples {
		schema := fmt.Sprintf("struct<a %s, l list<%s>>", name, name)
		var sets [][]string
		for _, text := range texts {
			sets = append(sets, []string{fmt.Sprintf(`{"a":%s,"l":[null,%s]}`, text, text)})
		}
		var mixed []string
		for i, text := range texts {
			mixed = append(mixed, fmt.Sprintf(`{"a":%s,"l":[%s,%s,1]}`, text, text, texts[(i+1)%len(texts)]), `{"a":null}`, `{"l":[]}`, `{"a":[1],"l":[{"z":1}]}`, `{"a":"7","l":["8","9"]}`, `5`)
		}
		sets = append(sets, mixed)
		for _, rows := range sets {
			shredded, plain := write(t, schema, rows...), write(t, "variant", rows...)
			for _, typ := range someTypes {
				for _, path := range []string{"$.a", "$.l[1]", "$.l", "$.l[9]"} {
					for _, try := range []bool{true, false} {
						req := []Request{request(t, path, typ, try)}
						want, wantErr := extract(plain, req)
						got, err := extract(shredded, req)
						if wantErr != nil {
							require.ErrorIs(t, err, ErrCast, "%s as %s from %s", path, typ, name)
							continue
						}
						require.NoError(t, err, "%s as %s from %s", path, typ, name)
						if typ != "array<variant>" {
							require.Equal(t, render(t, want[0], req[0].Type), render(t, got[0], req[0].Type), "%s as %s from %s: %v", path, typ, name, rows)
						}
					}
				}
			}
		}
	}
}

// TestRange_NeverStricterThanThePredicate compares what statistics say with what
// the rows answer, for every operator and polarity.
func TestRange_NeverStricterThanThePredicate(t *testing.T) {
	literals := map[string][]string{"int": {"0", "7", "300", "-5"}, "double": {"0.5e0", "7e0", "-1e300"}, "string": {`"x"`, `"7"`, `""`}, "decimal(38,2)": {"0.01", "7", "-1"}, "bigint": {"7", "9007199254740993"}}
	ops := []Op{Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual}
	useful := 0
	for seed := range uint64(100) {
		g := generator{rand.New(rand.NewPCG(seed, 3))}
		var kinds []string
		for k := range leafSamples {
			kinds = append(kinds, k)
		}
		kind := kinds[g.IntN(len(kinds))]
		var rows []string
		for range 1 + g.IntN(5) {
			text := leafSamples[kind][g.IntN(len(leafSamples[kind]))]
			switch g.IntN(12) {
			case 0:
				text = "null"
			case 1:
				text = `"7"`
			}
			rows = append(rows, `{"a":`+text+`}`)
		}
		if g.IntN(4) == 0 {
			rows = append(rows, `{}`, `3`)
		}
		w := write(t, "struct<a "+kind+">", rows...)
		for typ, lits := range literals {
			req := request(t, "$.a", typ, true)
			answers, err := extract(w, []Request{req})
			require.NoError(t, err)
			p, err := Project(w.Group(), Context{}, []Request{req}, nil)
			require.NoError(t, err)
			for which, r := range []Range{p.Range(0, statsOf(w)), w.Bounds().Range(req)} {
				checkNulls(t, r, nullsOf(answers[0]))
				for _, text := range lits {
					v := mustJSON(t, text)
					s, _ := v.Scalar()
					lit, err := variant.CastScalar(&s, req.Type)
					require.NoError(t, err)
					for _, op := range ops {
						may := r.Compare(op, lit)
						if may != anything {
							useful++
						}
						for _, row := range rows {
							is := evaluate(mustJSON(t, row), req, op, lit)
							require.NotZero(t, may&is, "%d: %s as %s %d %s: %v of %v", which, row, typ, op, text, may, rows)
							require.NotZero(t, may.Not()&is.Not())
							require.NotZero(t, may.And(may)&is.And(is))
							require.NotZero(t, may.Or(anything)&is.Or(False))
						}
					}
				}
			}
		}
	}
	require.Greater(t, useful, 3_000)
}

func checkNulls(t *testing.T, r Range, nulls []bool) {
	for _, null := range nulls {
		want := False
		if null {
			want = True
		}
		require.NotZero(t, r.IsNull()&want)
	}
}

func evaluate(v variant.Value, req Request, op Op, lit variant.Scalar) Truth {
	c, ok := variant.TryCast(v.Get(req.Path), req.Type)
	s, isScalar := c.Scalar()
	if !ok || !isScalar || s.Kind == variant.KindNull {
		return Null
	}
	d := Order(&s, &lit)
	is := [...]bool{Equal: d == 0, NotEqual: d != 0, Less: d < 0, LessEqual: d <= 0, Greater: d > 0, GreaterEqual: d >= 0}[op]
	if is {
		return True
	}
	return False
}

// statsOf gives the statistics that a Parquet writer would keep.
func statsOf(w *Writer) func(int) Stats {
	buffers := w.Buffers()
	return func(c int) Stats {
		b := buffers[c]
		s := Stats{Slots: int64(b.Slots), Nulls: int64(b.Slots - b.Values()), NullsKnown: true}
		if b.Node.Name != "typed_value" {
			return s
		}
		var low, high *variant.Scalar
		col := columnOfBuffer(b)
		for i := range col.values {
			v := &col.values[i]
			if low == nil || Order(v, low) < 0 {
				low = v
			}
			if high == nil || Order(v, high) > 0 {
				high = v
			}
		}
		if low != nil {
			s.Min, s.Max = plain(b.Node, low), plain(b.Node, high)
		}
		return s
	}
}

func plain(n *leaf.Node, s *variant.Scalar) []byte {
	if n.Type == leaf.Bytes || n.Type == leaf.Fixed {
		if s.Kind != variant.KindDecimal16 {
			return s.Bytes
		}
		return s.Bytes // the column's own big-endian bytes
	}
	raw := variant.AppendScalar(nil, s)
	if n.Type == leaf.Bool {
		return []byte{byte(s.Int)}
	}
	size := 4
	if n.Type == leaf.Int64 || n.Type == leaf.Double {
		size = 8
	}
	if n.Type == leaf.Int32 && s.Kind != variant.KindDecimal4 && s.Kind != variant.KindDate {
		return []byte{byte(s.Int), byte(s.Int >> 8), byte(s.Int >> 16), byte(s.Int >> 24)}
	}
	return raw[len(raw)-size:]
}

// S27: one value in the field's own residual, and statistics say nothing; a
// residual above it does not matter.
func TestRange_S27_OwnResidualOnly(t *testing.T) {
	req := request(t, "$.a", "int", false)
	seven, err := variant.CastScalar(&variant.Scalar{Kind: variant.KindInt8, Int: 70}, req.Type)
	require.NoError(t, err)
	typed := []string{`{"a":1}`, `{"a":10}`}
	for _, c := range []struct {
		extra string
		prune bool
	}{{`{"a":2,"z":9}`, true}, {`5`, true}, {`{"a":"70"}`, false}, {`{"a":70e0}`, false}} {
		w := write(t, "struct<a int>", append(typed, c.extra)...)
		p, err := Project(w.Group(), Context{}, []Request{req}, nil)
		require.NoError(t, err)
		r := p.Range(0, statsOf(w))
		require.Equal(t, !c.prune, r.Compare(Equal, seven).MayMatch(), c.extra)
		require.Equal(t, !c.prune, w.Bounds().Range(req).Compare(Equal, seven).MayMatch(), c.extra)
		// Other types than the leaf's do not skip.
		p, err = Project(w.Group(), Context{}, []Request{request(t, "$.a", "string", false)}, nil)
		require.NoError(t, err)
		require.False(t, p.Range(0, statsOf(w)).Known)
	}
	// Without statistics nothing is known, and nothing fails (S29).
	w := write(t, "struct<a int>", typed...)
	p, err := Project(w.Group(), Context{}, []Request{req}, allNull(w.Buffers()))
	require.NoError(t, err)
	require.Equal(t, Range{}, p.Range(0, func(int) Stats { return Stats{} }))
}

// S23: in a list of Variants each element has its own metadata; null and empty
// lists have none.
func TestAssemble_S23_NestedContext(t *testing.T) {
	rows := []string{`{"a":1,"b":2}`, `{"z":[1,{"q":2}]}`, `{"a":"x"}`, `[1]`, `{"a":5,"l":[1,2]}`}
	w := NewWriter(mustParse(t, "struct<a int, l list<int>>"), WriterOptions{})
	for _, r := range rows {
		require.NoError(t, w.WriteJSON([]byte(r)))
	}
	// The column's slots become the elements of [r0 r1], [], NULL, [r2 r3 r4]:
	// optional group, repeated group, element.
	group := w.Group()
	a, err := NewAssembler(group, Context{Def: 2, Rep: 1}, nil)
	require.NoError(t, err)
	outer := []struct{ rep, def uint8 }{{0, 2}, {1, 2}, {0, 1}, {0, 0}, {0, 2}, {1, 2}, {1, 2}}
	var batches []*leaf.Batch
	for _, c := range a.Columns() {
		b := batchOf(w.Buffers()[c], w.Rows())
		in := *b
		b.MaxDef, b.MaxRep = in.MaxDef+2, in.MaxRep+1
		b.Def, b.Rep, b.Rows = nil, nil, 4
		at := 0
		for _, o := range outer {
			if o.def < 2 {
				b.Def, b.Rep = append(b.Def, o.def), append(b.Rep, o.rep)
				b.Nulls++
				continue
			}
			for k := 0; k == 0 || at < in.Slots && in.Rep != nil && in.Rep[at] > 0; k++ {
				def, rep := uint8(2), o.rep
				if in.Def != nil {
					def += in.Def[at]
				}
				if k > 0 {
					rep = in.Rep[at] + 1
				}
				b.Def, b.Rep = append(b.Def, def), append(b.Rep, rep)
				at++
			}
		}
		b.Slots = len(b.Def)
		batches = append(batches, b)
	}
	var got []string
	require.NoError(t, a.Assemble(batches, len(outer), func(_ int, v variant.Value) error {
		got = append(got, v.String())
		if !v.IsMissing() {
			return v.Validate()
		}
		return nil
	}))
	require.Equal(t, []string{rows[0], rows[1], "<missing>", "<missing>", rows[2], rows[3], rows[4]}, got)
}

// A row that fails leaves no trace, at whatever byte it fails.
func TestWriter_FailedRowsLeaveNoTrace(t *testing.T) {
	schema := "struct<a int, b struct<c string, d list<struct<e int, f list<string>>>>, g list<int>>"
	good := `{"a":1,"b":{"c":"x","d":[{"e":1,"f":["p","q"]},{"e":"r","f":[]},7]},"g":[1,null,"s",{"u":1}],"h":{"i":[1,2]}}`
	clean := write(t, schema, good, good)
	for n := range len(good) {
		w := write(t, schema, good)
		require.Error(t, w.WriteJSON([]byte(good[:n])))
		require.Error(t, w.Write(func(sink variant.Sink) error {
			_ = mustJSON(t, good).Emit(sink)
			return fmt.Errorf("the producer failed")
		}))
		require.Error(t, w.Write(func(sink variant.Sink) error { sink.Begin(variant.KindObject); return nil }))
		require.NoError(t, w.WriteJSON([]byte(good)))
		require.Equal(t, 2, w.Rows())
		for i, b := range w.Buffers() {
			require.Equal(t, columnOfBuffer(clean.Buffers()[i]), columnOfBuffer(b), "%d: %v", n, b.Path)
		}
	}
}

// Duplicate keys are an error, in shredded objects and in residuals.
func TestWriter_DuplicateKeys(t *testing.T) {
	for _, schema := range []string{"variant", "struct<a int>", "struct<b struct<a int>>", "list<struct<a int>>", "int"} {
		w := write(t, schema)
		for _, text := range []string{`{"a":1,"a":2}`, `{"b":{"a":1,"a":"x"}}`, `[{"a":1,"a":1}]`, `{"z":1,"z":2}`} {
			require.ErrorIs(t, w.WriteJSON([]byte(text)), variant.ErrDuplicateKey, schema)
		}
		require.Zero(t, w.Rows())
		last := NewWriter(mustParse(t, schema), WriterOptions{Parse: variant.ParseOptions{LastKeyWins: true}})
		for _, text := range []string{`{"a":1,"a":2}`, `{"b":{"a":1,"a":"x"}}`, `[{"a":1,"a":1}]`, `{"z":1,"z":2}`} {
			require.NoError(t, last.WriteJSON([]byte(text)), schema)
		}
		readBack(t, last, `{"a":2}`, `{"b":{"a":"x"}}`, `[{"a":1}]`, `{"z":2}`)
	}
	w := write(t, "struct<a int>")
	one := variant.Scalar{Kind: variant.KindInt8, Int: 1}
	require.ErrorIs(t, w.Write(func(k variant.Sink) error {
		k.Begin(variant.KindObject)
		for range 2 {
			k.Key([]byte("a"))
			k.Scalar(&one)
		}
		k.End()
		return k.Err()
	}), ErrDuplicateKey)
}

// A warm Writer allocates nothing per row, and an absent column costs nothing.
func TestWriter_AllocatesNothing(t *testing.T) {
	texts := tradegen.PricingVectors(2000, 1)
	i := NewInferer(InferOptions{})
	for _, text := range texts {
		require.NoError(t, i.AddJSON(text))
	}
	w := NewWriter(i.Schema(), WriterOptions{Optional: true})
	round := func() {
		for _, text := range texts {
			if err := w.WriteJSON(text); err != nil {
				t.Fatal(err)
			}
		}
		w.Buffers()
		w.Reset()
	}
	round()
	allocs := testing.AllocsPerRun(3, round)
	require.LessOrEqual(t, allocs, 0.02*float64(len(texts)), "for %d rows", len(texts))
}

func TestWriter_AbsentColumnsShareLevels(t *testing.T) {
	w := write(t, "struct<a int, b string, c list<int>>", `{"a":1}`, `{"a":2,"b":"x"}`, `7`)
	slots := &bufferAt(t, w, "typed_value/a/value").Def
	require.Same(t, &slots.Runs[0], &bufferAt(t, w, "typed_value/b/value").Def.Runs[0])
	require.Same(t, &slots.Runs[0], &bufferAt(t, w, "typed_value/c/value").Def.Runs[0])
	meta := bufferAt(t, w, "metadata")
	require.True(t, meta.Indexed)
	require.Equal(t, []uint32{0, 1, 2}, meta.Index)
}

// TestWriter_ManyKeys fills the tables of keys and shapes beyond their bounds.
func TestWriter_ManyKeys(t *testing.T) {
	w := NewWriter(mustParse(t, "struct<a int>"), WriterOptions{})
	w.keys.limit = 1000
	const rows = 500
	for i := range rows {
		var b strings.Builder
		fmt.Fprintf(&b, `{"a":%d`, i)
		for k := range 20 {
			fmt.Fprintf(&b, `,"k%d":1`, i*20+k)
		}
		require.NoError(t, w.WriteJSON([]byte(b.String()+"}")))
		require.LessOrEqual(t, len(w.keys.keys), 1032)
	}
	got, err := assembled(w, true)
	require.NoError(t, err)
	for i := range got {
		n, _ := got[i].Field("a").Int64()
		require.Equal(t, int64(i), n)
		require.Equal(t, 21, got[i].Len())
	}
}

// FuzzReader feeds levels and values that fit together badly: the answer is an
// error or garbage, never a panic.
func FuzzReader(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, []byte{1, 2, 3, 0, 255, 7})
	}
	f.Fuzz(func(t *testing.T, seed uint64, noise []byte) { corruptAndRead(seed, noise) })
}

func TestReader_CorruptBatchesNeverPanic(t *testing.T) {
	for seed := range uint64(1500) {
		g := rand.New(rand.NewPCG(seed, 4))
		noise := make([]byte, 1+g.IntN(12))
		for i := range noise {
			noise[i] = byte(g.Uint32())
		}
		corruptAndRead(seed, noise)
	}
}

func corruptAndRead(seed uint64, noise []byte) {
	g := generator{rand.New(rand.NewPCG(seed, 5))}
	w := NewWriter(g.schema(3), WriterOptions{Optional: true})
	for range 8 {
		_ = w.WriteJSON([]byte(g.doc(3)))
	}
	buffers := w.Buffers()
	var reqs []Request
	for range 4 {
		typ, _ := variant.ParseType(someTypes[g.IntN(len(someTypes))])
		reqs = append(reqs, Request{Path: g.path(), Type: typ, Try: true})
	}
	p, _ := Project(w.Group(), Context{}, append(reqs, Request{}), nil)
	var batches []*leaf.Batch
	for _, c := range p.Columns() {
		b := batchOf(buffers[c], w.Rows())
		b.Data = append([]byte(nil), b.Data...)
		b.Def, b.Rep = append([]uint8(nil), b.Def...), append([]uint8(nil), b.Rep...)
		for i, x := range noise {
			if (int(x)+c+i)%7 > 1 {
				continue
			}
			switch k := int(x) * 31; {
			case x&3 == 0 && len(b.Def) > 0:
				at := k % len(b.Def)
				was := b.Def[at] == b.MaxDef
				b.Def[at] = x >> 2 % (b.MaxDef + 1)
				if was && b.Def[at] != b.MaxDef {
					b.Nulls++
				}
			case x&3 == 1 && len(b.Rep) > 0:
				b.Rep[k%len(b.Rep)] = x >> 2 % (b.MaxRep + 1)
			case x&3 == 2 && len(b.Data) > 0:
				b.Data[k%len(b.Data)] ^= x
			case x&3 == 3:
				b.Nulls += int(x>>2) % 3
			}
		}
		batches = append(batches, b)
	}
	out, err := p.NewReader(nil).Read(batches, w.Rows())
	if err == nil {
		for _, o := range out {
			o.Release()
		}
	}
}

// The caller's text buffer may be overwritten between rows: names that lie at one
// address in it are not one name. Keys are plain, escaped and repeated.
func TestWriter_ReusedTextBuffer(t *testing.T) {
	rows := []string{
		`{"aa":1,"bb":{"cc":2}}`, `{"bb":1,"aa":{"dd":2}}`, `{"cc":1,"aa":{"cc":2}}`, `{"aa":1,"bb":{"cc":2}}`,
		`{"\u0061a":1,"bb":{"d":1}}`, `{"\u0062b":1,"aa":{"c":1}}`, `{"\u0061a":1,"bb":{"d":1}}`,
	}
	for _, schema := range []string{"variant", "struct<aa int, bb struct<cc int>>"} {
		for _, o := range []variant.ParseOptions{{}, {LastKeyWins: true}, {ReplaceInvalid: true}} {
			w := NewWriter(mustParse(t, schema), WriterOptions{Optional: true, Parse: o})
			buf := make([]byte, 64)
			for range 3 {
				for _, r := range rows {
					require.NoError(t, w.WriteJSON(buf[:copy(buf, r)]))
				}
			}
			all := append(append(append([]string(nil), rows...), rows...), rows...)
			readBack(t, w, all...)
			// The same for values whose bytes are overwritten.
			w = NewWriter(mustParse(t, schema), WriterOptions{Optional: true})
			meta, value := make([]byte, 128), make([]byte, 128)
			for _, r := range rows {
				v := mustJSON(t, r)
				require.NoError(t, w.WriteValue(variant.Unchecked(meta[:copy(meta, v.Metadata())], value[:copy(value, v.Bytes())])))
			}
			readBack(t, w, rows...)
		}
	}
}

// Swap gives a row group away and goes on in the memory of another one, even of
// another schema, of which neither values nor bounds remain.
func TestWriter_Swap(t *testing.T) {
	other := write(t, "struct<x string, y string, z string, u bigint, v bigint>", `{"x":"zzz","y":"0","z":"q","u":-900,"v":900}`)
	spare := other.Swap(nil)
	w := write(t, "struct<a int, b string>", `{"a":1,"b":"m"}`, `{"a":2,"c":[1]}`)
	before := make([]*oracleColumn, 0, 6)
	for _, b := range w.Buffers() {
		before = append(before, columnOfBuffer(b))
	}
	first := w.Swap(spare)
	require.Len(t, first, len(before))
	require.Zero(t, w.Rows())
	for i, b := range first {
		require.Equal(t, before[i], columnOfBuffer(b))
	}
	require.NoError(t, w.WriteJSON([]byte(`{"a":7,"d":null}`)))
	for i, b := range first {
		require.Equal(t, before[i], columnOfBuffer(b), "the rows that follow do not touch what was given away")
	}
	readBack(t, w, `{"a":7,"d":null}`)
	w.Swap(first)
	require.Equal(t, `{"$['a']":1,"$['b']":"m"}`, boundsObject(t, w.Bounds().Lower).String())
	require.Equal(t, `{"$['a']":7,"$['b']":"m"}`, boundsObject(t, w.Bounds().Upper).String())
}
