//go:build interop

package interop

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/tradegen"
	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
)

// corpus is a column of values, and how it is shredded.
type corpus struct {
	name   string
	values []variant.Value // missing: SQL NULL
	schema *shred.Schema
}

// corpora are the columns that go to and from the engines that have files only.
func corpora(t *testing.T, engine string) (out []corpus) {
	t.Helper()
	out = append(out, leafCorpora(t)...)
	out = append(out, shapeCorpora(t)...)
	out = append(out, randomCorpora(t)...)
	out = append(out, inferred(t, "pricing vectors", tradegen.PricingVectors(1500, 3)))
	for file, texts := range documents(t, engine) {
		if !strings.HasPrefix(file, "json-test-suite") { // texts in base64, nothing to shred
			out = append(out, inferred(t, file, texts[:min(len(texts), 300)]))
		}
	}
	return out
}

func inferred(t *testing.T, name string, texts [][]byte) corpus {
	t.Helper()
	infer := shred.NewInferer(shred.InferOptions{MaxFields: 60})
	c := corpus{name: name}
	for _, text := range texts {
		require.NoError(t, infer.AddJSON(text))
		v, err := variant.ParseJSON(text)
		require.NoError(t, err)
		c.values = append(c.values, v)
	}
	c.schema = typedOnly(infer.Schema())
	return c
}

// typedOnly leaves out what has no type, which other engines cannot ask for: nil
// where nothing is left.
func typedOnly(s *shred.Schema) *shred.Schema {
	switch s.Shape {
	case shred.Object:
		var fields []shred.Field
		for _, f := range s.Fields {
			if typed := typedOnly(f.Schema); typed != nil {
				fields = append(fields, shred.Field{Name: f.Name, Schema: typed})
			}
		}
		if fields == nil {
			return nil
		}
		return shred.ObjectOf(fields)
	case shred.List:
		elem := typedOnly(s.Elem)
		if elem == nil {
			return nil
		}
		return shred.ListOf(elem)
	case shred.Leaf:
		return s
	case shred.Opaque:
	}
	return nil
}

func build(t *testing.T, f func(b *variant.Builder)) variant.Value {
	t.Helper()
	b := variant.NewBuilder()
	f(b)
	v, err := b.Value()
	require.NoError(t, err)
	return v.Clone()
}

func scalarOf(t *testing.T, s variant.Scalar) variant.Value {
	t.Helper()
	return build(t, func(b *variant.Builder) { b.Scalar(&s) })
}

// leafTypes are the types of leaves, each with values that fill it exactly.
func leafTypes(t *testing.T) map[string][]variant.Value {
	t.Helper()
	number := func(k variant.Kind, x int64) variant.Value {
		return scalarOf(t, variant.Scalar{Kind: k, Int: x, Hi: x >> 63})
	}
	decimal := func(k variant.Kind, x int64, scale uint8) variant.Value {
		return scalarOf(t, variant.Scalar{Kind: k, Int: x, Hi: x >> 63, Scale: scale})
	}
	text := func(k variant.Kind, x string) variant.Value {
		return scalarOf(t, variant.Scalar{Kind: k, Bytes: []byte(x)})
	}
	double := func(x float64) variant.Value { return build(t, func(b *variant.Builder) { b.Double(x) }) }
	float := func(x float32) variant.Value { return build(t, func(b *variant.Builder) { b.Float(x) }) }
	yes := build(t, func(b *variant.Builder) { b.Bool(true) })
	no := build(t, func(b *variant.Builder) { b.Bool(false) })
	const micros = 1_750_000_000_123_456
	return map[string][]variant.Value{
		"boolean":          {yes, no},
		"int8":             {number(variant.KindInt8, math.MinInt8), number(variant.KindInt8, math.MaxInt8)},
		"int16":            {number(variant.KindInt16, math.MinInt16), number(variant.KindInt16, math.MaxInt16)},
		"int32":            {number(variant.KindInt32, math.MinInt32), number(variant.KindInt32, math.MaxInt32)},
		"int64":            {number(variant.KindInt64, math.MinInt64), number(variant.KindInt64, math.MaxInt64)},
		"float":            {float(1.5), float(float32(math.Inf(-1))), float(math.SmallestNonzeroFloat32)},
		"double":           {double(0.1), double(math.Inf(1)), double(math.MaxFloat64), double(math.NaN())},
		"decimal(9,2)":     {decimal(variant.KindDecimal4, 125, 2), decimal(variant.KindDecimal4, -999_999_999, 2)},
		"decimal(18,4)":    {decimal(variant.KindDecimal8, 1_234_567_890_125, 4), decimal(variant.KindDecimal8, -1_000_000_000_000_000, 4)},
		"decimal(38,10)":   {decimal(variant.KindDecimal16, math.MaxInt64, 10), decimal(variant.KindDecimal16, math.MinInt64, 10)},
		"date":             {number(variant.KindDate, -1), number(variant.KindDate, 20_000)},
		"time":             {number(variant.KindTime, 0), number(variant.KindTime, 86_399_999_999)},
		"timestamp":        {number(variant.KindTimestamp, micros), number(variant.KindTimestamp, -1)},
		"timestamp_ntz":    {number(variant.KindTimestampNTZ, micros), number(variant.KindTimestampNTZ, -1)},
		"timestamp_ns":     {number(variant.KindTimestampNanos, micros*1000+789), number(variant.KindTimestampNanos, -1)},
		"timestamp_ntz_ns": {number(variant.KindTimestampNTZNanos, micros*1000+789), number(variant.KindTimestampNTZNanos, -1)},
		"string":           {text(variant.KindString, ""), text(variant.KindString, "naïve 漢字 🙂"), text(variant.KindString, strings.Repeat("long ", 50))},
		"binary":           {text(variant.KindBinary, ""), text(variant.KindBinary, "\x00\xff\x80")},
		"uuid":             {text(variant.KindUUID, "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff")},
	}
}

// leafCorpora has a column for each type of leaf: values that fit it, those of all
// other types, which do not, null, SQL NULL, and containers of them.
func leafCorpora(t *testing.T) (out []corpus) {
	t.Helper()
	types := leafTypes(t)
	null := build(t, func(b *variant.Builder) { b.Null() })
	for name, fit := range types {
		schema, err := shred.Parse(name)
		require.NoError(t, err)
		values := append([]variant.Value{null, {}}, fit...)
		for other, misfit := range types {
			if other != name {
				values = append(values, misfit[0])
			}
		}
		values = append(values,
			build(t, func(b *variant.Builder) {
				b.Begin(variant.KindObject)
				b.Key([]byte("k"))
				b.AppendValue(fit[0])
				b.End()
			}),
			build(t, func(b *variant.Builder) {
				b.Begin(variant.KindArray)
				b.AppendValue(fit[0])
				b.Null()
				b.End()
			}))
		out = append(out, corpus{"leaf " + name, values, schema})
	}
	return out
}

// shapeCorpora holds what is easily mixed up: missing, null, empty, wrong shapes.
func shapeCorpora(t *testing.T) (out []corpus) {
	t.Helper()
	for schema, rows := range map[string]string{
		"struct<a:struct<x:bigint,y:string>,b:double>": `{} {"a":null} {"a":{}} {"a":{"x":1}} {"a":{"x":1,"y":"t","z":0}} {"a":{"x":"1","y":2}}
			{"a":{"x":null,"y":null}} {"a":[1],"b":1e0} {"b":null,"c":{"d":[]}} {"a":{"z":{}}} null 5 "text" [] [{"a":1}] {"a":{"y":"only"},"b":2.5e0,"c":1,"":0}`,
		"struct<l:list<bigint>,s:string>": `{} {"l":[]} {"l":[1]} {"l":[1,null,"x",2.5,[],{}]} {"l":null} {"l":5} {"s":"a"} {"l":[2,3],"s":"b"} {"s":null,"l":[null]} null [] [1]`,
		"list<struct<k:string,n:decimal(9,2)>>": `[] [{}] [{"k":"a"}] [{"k":"a","n":1.25},{"n":2},{"k":null,"n":"x","o":1},null,7,[]] null {} "x"
			[{"n":0.5}] [null,null] [{"k":"b","extra":[1,2]}]`,
		"list<list<bigint>>": `[] [[]] [[],[]] [[1],[],[2,3]] [null,[null],5,["x"]] {} null [[[]]] 1`,
		"struct<a:list<struct<b:list<struct<c:boolean>>>>>": `{} {"a":[]} {"a":[{}]} {"a":[{"b":[]}]} {"a":[{"b":[{}]}]} {"a":[{"b":[{"c":true},{"c":null},{"c":1},null]},{"b":null}]}
			{"a":[{"b":[{"c":false}]},{"x":1},{"b":[{"c":true,"d":2}]}]} {"a":{"b":[]}} null`,
	} {
		s, err := shred.Parse(schema)
		require.NoError(t, err)
		c := corpus{name: schema, schema: s}
		for _, text := range strings.Fields(rows) {
			v, err := variant.ParseJSON([]byte(text))
			require.NoError(t, err, text)
			c.values = append(c.values, v, variant.Value{})
		}
		out = append(out, c)
	}
	return out
}

// randomCorpora has random documents under random schemas of few names, so that
// they sometimes fit, sometimes in part and sometimes not at all.
func randomCorpora(t *testing.T) (out []corpus) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 1))
	types := leafTypes(t)
	var leaves []variant.Value
	names := []string{"int8", "int32", "int64", "double", "decimal(9,2)", "string", "boolean", "date", "timestamp"}
	for _, name := range names {
		leaves = append(leaves, types[name]...)
	}
	for i := range 12 {
		schema := randomSchema(t, r, names, 0)
		c := corpus{name: "random " + string(rune('a'+i)), schema: schema}
		for range 60 {
			if r.IntN(12) == 0 {
				c.values = append(c.values, variant.Value{})
				continue
			}
			c.values = append(c.values, build(t, func(b *variant.Builder) { appendRandom(b, r, leaves, schema) }))
		}
		out = append(out, c)
	}
	return out
}

func randomSchema(t *testing.T, r *rand.Rand, leaves []string, depth int) *shred.Schema {
	t.Helper()
	switch {
	case depth < 3 && (depth == 0 || r.IntN(3) == 0):
		var fields []shred.Field
		for _, name := range []string{"a", "b", "c"}[:1+r.IntN(3)] {
			fields = append(fields, shred.Field{Name: name, Schema: randomSchema(t, r, leaves, depth+1)})
		}
		return shred.ObjectOf(fields)
	case depth < 3 && r.IntN(3) == 0:
		return shred.ListOf(randomSchema(t, r, leaves, depth+1))
	}
	s, err := shred.Parse(leaves[r.IntN(len(leaves))])
	require.NoError(t, err)
	return s
}

// appendRandom mostly follows the schema, without one at random.
func appendRandom(b *variant.Builder, r *rand.Rand, leaves []variant.Value, s *shred.Schema) {
	if s == nil || r.IntN(6) == 0 {
		switch r.IntN(6) {
		case 0:
			b.Null()
		case 1:
			b.Begin(variant.KindArray)
			b.End()
		case 2:
			b.Begin(variant.KindObject)
			b.End()
		default:
			b.AppendValue(leaves[r.IntN(len(leaves))])
		}
		return
	}
	switch s.Shape {
	case shred.Object:
		b.Begin(variant.KindObject)
		for _, name := range []string{"a", "b", "c", "extra"} {
			if r.IntN(3) > 0 {
				b.Key([]byte(name))
				appendRandom(b, r, leaves, s.Field(name))
			}
		}
		b.End()
	case shred.List:
		b.Begin(variant.KindArray)
		for range r.IntN(4) {
			appendRandom(b, r, leaves, s.Elem)
		}
		b.End()
	case shred.Leaf, shred.Opaque:
		b.AppendValue(leaves[r.IntN(len(leaves))])
	}
}

// documents lists the real NDJSON and JSON documents that the suite uses.
func documents(t *testing.T, engine string) map[string][][]byte {
	t.Helper()
	shared := os.Getenv("FRAZIL_SHARED")
	if shared == "" {
		skip(t, engine, "FRAZIL_SHARED is not set: no real documents")
	}
	names, err := filepath.Glob(filepath.Join(shared, "data", "*json"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	out := map[string][][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		base := filepath.Base(name)
		if strings.HasSuffix(base, ".json") {
			out[base] = [][]byte{text}
			continue
		}
		for _, line := range strings.Split(string(text), "\n") {
			if strings.TrimSpace(line) != "" {
				out[base] = append(out[base], []byte(line))
			}
		}
	}
	return out
}
