package variant_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/frazil/frazil/variant"
)

// The bytes that the package documentation takes apart.
func ExampleParseJSON() {
	v, err := variant.ParseJSON([]byte(`{"b": 1.50, "a": [true, "x"]}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(hex.EncodeToString(v.Metadata()))
	fmt.Println(hex.EncodeToString(v.Bytes()))
	fmt.Println(v)
	// Output:
	// 11020001026162
	// 0202000106000e2002960000000302000103040578
	// {"a":[true,"x"],"b":1.5}
}

// An Encoder is for many texts; its values are valid until the next one.
func ExampleEncoder() {
	e := variant.NewEncoder(variant.ParseOptions{})
	for _, text := range []string{`{"tenor":"1M","vol":0.274}`, `{"tenor":"1Y","vol":1e400}`} {
		v, err := e.Encode([]byte(text))
		var bad *variant.SyntaxError
		if errors.As(err, &bad) {
			fmt.Println(bad.Path, bad.Offset, errors.Is(err, variant.ErrRange))
			continue
		}
		vol, _ := v.Field("vol").Float64()
		fmt.Println(vol, v.Field("vol").Kind(), v.Field("strike").IsMissing())
	}
	// Output:
	// 0.274 decimal4 true
	// $.vol 20 true
}

func ExampleBuilder() {
	b := variant.NewBuilder()
	b.Begin(variant.KindObject)
	b.Key([]byte("trade"))
	b.Text("T-17")
	b.Key([]byte("date"))
	b.Date(20635)
	b.Key([]byte("legs"))
	b.Begin(variant.KindArray)
	b.Int(7)
	b.Decimal(variant.Decimal{Lo: 1250, Scale: 3})
	b.End()
	b.End()
	v, err := b.Value()
	if err != nil {
		panic(err)
	}
	fmt.Println(v)
	// Output: {"date":"2026-07-01","legs":[7,1.25],"trade":"T-17"}
}

func ExampleNew() {
	metadata, _ := hex.DecodeString("11020001026162")
	value, _ := hex.DecodeString("0202000106000e2002960000000302000103040578")
	v, err := variant.New(metadata, value)
	if err != nil {
		panic(err)
	}
	fmt.Println(v.Field("a").Index(1))
	_, err = variant.New(metadata, value[:len(value)-1])
	fmt.Println(errors.Is(err, variant.ErrCorrupt), err)
	// Output:
	// "x"
	// true variant: corrupt value at byte 0: truncated array or object
}

func ExampleAppendJSON() {
	v, _ := variant.ParseJSON([]byte(` [ 1.0, 2e3, "\u00e9" ] `))
	line, err := variant.AppendJSON([]byte("row: "), v)
	fmt.Println(string(line), err)
	// Output: row: [1,2000.0,"é"] <nil>
}

func ExampleValue_Fields() {
	v, _ := variant.ParseJSON([]byte(`{"delta":0.3,"gamma":0.01,"legs":[1,2]}`))
	for name, x := range v.Fields() {
		fmt.Println(name, x.Kind(), x.Len())
	}
	for i, x := range v.Field("legs").Elements() {
		fmt.Println(i, x)
	}
	// Output:
	// delta decimal4 0
	// gamma decimal4 0
	// legs array 2
	// 0 1
	// 1 2
}

func ExampleParseMetadata() {
	m, err := variant.ParseMetadata(variant.AppendMetadata(nil, []string{"delta", "gamma"}))
	if err != nil {
		panic(err)
	}
	id, ok := m.ID("gamma")
	fmt.Println(m.Len(), m.Name(0), id, ok)
	// Output: 2 delta 1 true
}

// indenter is a sink that prints events.
type indenter struct{ depth int }

func (p *indenter) line(text string) {
	fmt.Fprintln(os.Stdout, strings.Repeat(".", p.depth)+text)
}

func (p *indenter) Begin(k variant.Kind) { p.line(k.String()); p.depth++ }
func (p *indenter) End()                 { p.depth-- }
func (p *indenter) Key(name []byte)      { p.line("key " + string(name)) }
func (p *indenter) Err() error           { return nil }

func (p *indenter) Scalar(s *variant.Scalar) {
	p.line(s.Kind.String() + " " + string(variant.AppendScalarText(nil, s)))
}

// A Parser turns text into events without building a value.
func ExampleParser() {
	p := variant.NewParser(variant.ParseOptions{})
	if err := p.Parse([]byte(`{"spot":144.26,"tags":["fx",null]}`), new(indenter)); err != nil {
		panic(err)
	}
	// Output:
	// object
	// .key spot
	// .decimal4 144.26
	// .key tags
	// .array
	// ..string fx
	// ..null null
}

func ExampleValue_Emit() {
	v, _ := variant.ParseJSON([]byte(`[true]`))
	fmt.Println(v.Emit(new(indenter)))
	// Output:
	// array
	// .bool true
	// <nil>
}
