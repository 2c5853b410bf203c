package variant_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/frazil/frazil/variant"
)

// Fields of ordinary Go structs hold Variants through encoding/json.
func ExampleValue_MarshalJSON() {
	var event struct {
		ID      int
		Payload variant.Value
	}
	err := json.Unmarshal([]byte(`{"ID": 7, "Payload": {"price": 1.50, "tags": ["a"]}}`), &event)
	fmt.Println(event.Payload.Field("price").Kind(), err)
	text, err := json.Marshal(event)
	fmt.Println(string(text), err)
	// Output:
	// decimal4 <nil>
	// {"ID":7,"Payload":{"price":1.5,"tags":["a"]}} <nil>
}

// Steps chain without checks: what is not there is missing, whatever is asked of it.
func ExampleValue_Field() {
	v, err := variant.ParseJSON([]byte(`{"legs": [{"rate": 0.25}, {"rate": null}]}`))
	if err != nil {
		panic(err)
	}
	rate, ok := v.Field("legs").Index(0).Field("rate").Float64()
	fmt.Println(rate, ok)
	for _, leg := range []variant.Value{v.Field("legs").Index(1), v.Field("legs").Index(2)} {
		x := leg.Field("rate")
		fmt.Println(x, x.IsNull(), x.IsMissing())
	}
	// Output:
	// 0.25 true
	// null true false
	// <missing> false true
}

func ExampleValue_Elements() {
	v, err := variant.ParseJSON([]byte(`[1, "two", [3]]`))
	if err != nil {
		panic(err)
	}
	for i, x := range v.Elements() {
		fmt.Println(i, x.Kind(), x)
	}
	// Output:
	// 0 int8 1
	// 1 string "two"
	// 2 array [3]
}

// Lookup tells a key that is not there from bytes that cannot be read.
func ExampleValue_Lookup() {
	path, err := variant.ParsePath("$.a")
	if err != nil {
		panic(err)
	}
	good, err := variant.ParseJSON([]byte(`{"b":1}`))
	if err != nil {
		panic(err)
	}
	x, err := good.Lookup(path)
	fmt.Println(x, err)
	bad := variant.Unchecked([]byte{0x11, 0, 0}, []byte{2, 1, 5, 0, 1, 0}) // field id 5 of no names
	_, err = bad.Lookup(path)
	fmt.Println(err, errors.Is(err, variant.ErrCorrupt))
	// Output:
	// <missing> <nil>
	// variant: corrupt value at byte 0: field id or its name is out of range true
}

func ExampleValidate() {
	whole := []byte{0x14, 1, 0, 0, 0} // int32 1
	fmt.Println(variant.Validate(variant.Unchecked([]byte{0x11, 0, 0}, whole)))
	fmt.Println(variant.Validate(variant.Unchecked([]byte{0x11, 0, 0}, whole[:3])))
	// Output:
	// <nil>
	// variant: corrupt value at byte 0: truncated value
}

// Values that mean the same are equal and have one hash, however they are written.
func ExampleEqual() {
	a, _ := variant.ParseJSON([]byte(`{"x": 1, "y": 2.50}`))
	b, _ := variant.ParseJSON([]byte(`{"y": 2.5, "x": 1.0}`))
	c, _ := variant.ParseJSON([]byte(`{"y": 2.5, "x": 1e0}`)) // a double is another class
	fmt.Println(variant.Equal(a, b), variant.Hash(a) == variant.Hash(b))
	fmt.Println(variant.Equal(a, c))
	// Output:
	// true true
	// false
}

// A binary is text when it is cast to string, as in Spark, and base64 in JSON.
func ExampleCastScalar() {
	s := variant.Scalar{Kind: variant.KindBinary, Bytes: []byte("abc")}
	text, err := variant.CastScalar(&s, variant.Type{ID: variant.TypeString})
	fmt.Println(string(text.Bytes), err)
	fmt.Println(string(variant.AppendScalarJSON(nil, &s)), string(variant.AppendScalarText(nil, &s)))
	_, err = variant.CastScalar(&s, variant.Type{ID: variant.TypeInt})
	fmt.Println(err)
	// Output:
	// abc <nil>
	// "YWJj" YWJj
	// variant: binary "YWJj" does not cast to int
}

func ExampleNewPath() {
	p := variant.NewPath(variant.Step{Name: "legs"}, variant.Step{Index: 0, IsIndex: true}, variant.Step{Name: "it's"})
	fmt.Println(p)
	// Output: $['legs'][0]['it\'s']
}

// A value is built over a dictionary that others share, and its events go to any sink.
func ExampleEmitGo() {
	names, err := variant.ParseMetadata(variant.AppendMetadata(nil, []string{"desk", "id", "rate"}))
	if err != nil {
		panic(err)
	}
	b := variant.NewBuilder()
	for _, trade := range []map[string]any{{"id": 1, "rate": 0.5}, {"id": 2, "desk": "FX"}} {
		b.ResetMetadata(names)
		if err := variant.EmitGo(trade, b); err != nil {
			panic(err)
		}
		v, err := b.Value()
		fmt.Println(v, len(v.Metadata()), err)
	}
	// Output:
	// {"id":1,"rate":0.5} 16 <nil>
	// {"desk":"FX","id":2} 16 <nil>
}

// Rows that share a dictionary have it checked once.
func ExampleMetadata_Value() {
	names, err := variant.ParseMetadata([]byte{0x11, 1, 0, 1, 'a'})
	if err != nil {
		panic(err)
	}
	for _, row := range [][]byte{{2, 1, 0, 0, 2, 0x0c, 7}, {2, 1, 0, 0, 2, 0x0c}} {
		fmt.Println(names.Value(row))
	}
	// Output:
	// {"a":7} <nil>
	// <missing> variant: corrupt value at byte 0: truncated array or object
}
