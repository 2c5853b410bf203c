package shred_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
)

func ExampleParse() {
	s, err := shred.Parse("struct<model string, greeks struct<delta decimal(9,6)>, `10Y` list<double>>")
	fmt.Println(s, err)
	_, err = shred.Parse("struct<n uint32>")
	fmt.Println(err)
	// Output:
	// struct<10Y list<double>, greeks struct<delta decimal(9,6)>, model string> <nil>
	// shred: invalid shredding schema: unknown type "uint32" at offset 15
}

func ExampleInferer() {
	i := shred.NewInferer(shred.InferOptions{})
	for _, row := range []string{
		`{"price": 21.69, "qty": 10, "legs": [{"tenor": "1Y"}, {"tenor": "5Y"}]}`,
		`{"price": 22, "qty": 3000000000, "legs": []}`,
		`{"price": 22.125, "qty": 7, "legs": [{"tenor": "10Y"}], "note": null}`,
	} {
		if err := i.AddJSON([]byte(row)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(i.Schema())
	// Output:
	// struct<legs list<struct<tenor string>>, price decimal(9,3), qty bigint>
}

func ExampleWriter() {
	s, _ := shred.Parse("struct<a int>")
	w := shred.NewWriter(s, shred.WriterOptions{Name: "v", Optional: true})
	_ = w.WriteJSON([]byte(`{"a": 1}`))
	_ = w.WriteJSON([]byte(`{"a": "one", "b": true}`))
	_ = w.WriteNull()
	for _, b := range w.Buffers() {
		fmt.Println(b.Path, "slots", b.Slots, "values", b.Values())
	}
	// Output:
	// [v metadata] slots 3 values 2
	// [v value] slots 3 values 1
	// [v typed_value a value] slots 3 values 1
	// [v typed_value a typed_value] slots 3 values 1
}

func ExampleProject() {
	s, _ := shred.Parse("struct<a int, b struct<c string>>")
	group := s.Group("v", true, 0)
	path, _ := variant.ParsePath("$.b.c")
	text, _ := variant.ParseType("string")
	reqs := []shred.Request{{Path: path, Type: text}}

	p, _ := shred.Project(group, shred.Context{}, reqs, nil)
	leaves := (&leaf.Node{Children: []*leaf.Node{group}}).Leaves()
	for _, c := range p.Columns() {
		fmt.Println(leaves[c].Path)
	}

	// Statistics say that no residual of the path has a value.
	p, _ = shred.Project(group, shred.Context{}, reqs, func(c int) bool { return leaves[c].Node.Name == "value" })
	fmt.Println(len(p.Columns()), leaves[p.Columns()[0]].Path)
	// Output:
	// [v metadata]
	// [v typed_value b typed_value c value]
	// [v typed_value b typed_value c typed_value]
	// 1 [v typed_value b typed_value c typed_value]
}

func ExampleDiff() {
	a, _ := shred.Parse("struct<a int, b string>")
	b, _ := shred.Parse("struct<a decimal(9,2), c list<int>>")
	for _, c := range shred.Diff(a, b) {
		fmt.Println(c)
	}
	fmt.Println(shred.Merge(a, b))
	// Output:
	// ~ $['a'] int -> decimal(9,2)
	// - $['b'] string
	// + $['c'] list<int>
	// struct<a decimal(12,2), b string, c list<int>>
}

func ExampleFromGroup() {
	s, _ := shred.Parse("struct<a decimal(9,2), legs list<struct<tenor string>>>")
	group := s.Group("v", true, 3)
	back, err := shred.FromGroup(group)
	fmt.Println(back, err)
	// A type that the spec does not list.
	group.Child("typed_value").Child("a").Child("typed_value").Logical = leaf.Other
	_, err = shred.FromGroup(group)
	fmt.Println(errors.Is(err, shred.ErrSchema))
	// Output:
	// struct<a decimal(9,2), legs list<struct<tenor string>>> <nil>
	// true
}

func ExampleBounds_Range() {
	s, _ := shred.Parse("struct<price decimal(9,2), name string>")
	w := shred.NewWriter(s, shred.WriterOptions{})
	_ = w.WriteJSON([]byte(`{"price": 10.5, "name": "a"}`))
	_ = w.WriteJSON([]byte(`{"price": 20, "name": 7}`))
	bounds := w.Bounds()

	path, _ := variant.ParsePath("$.price")
	double, _ := variant.ParseType("double")
	r := bounds.Range(shred.Request{Path: path, Type: double})
	thirty := variant.Scalar{Kind: variant.KindDouble, Float: 30}
	fmt.Println("price > 30 may match:", r.Compare(shred.Greater, thirty).MayMatch())
	fmt.Println("NOT price > 30 may match:", r.Compare(shred.Greater, thirty).Not().MayMatch())

	// A name is not a string, so that the names have no bounds.
	path, _ = variant.ParsePath("$.name")
	text, _ := variant.ParseType("string")
	fmt.Println(bounds.Range(shred.Request{Path: path, Type: text}).Known)
	// Output:
	// price > 30 may match: false
	// NOT price > 30 may match: true
	// false
}

func ExampleAssembler() {
	s, _ := shred.Parse("struct<a int>")
	w := shred.NewWriter(s, shred.WriterOptions{Name: "v", Optional: true})
	_ = w.WriteJSON([]byte(`{"a": 1, "b": true}`))
	_ = w.WriteNull()
	_ = w.WriteJSON([]byte(`{"a": "one"}`))

	// To a file and back.
	var out bytes.Buffer
	pw, _ := pq.NewWriter(&out, &leaf.Node{Name: "table", Children: []*leaf.Node{w.Group()}}, pq.WriterOptions{})
	_ = pw.WriteRowGroup(w.Buffers(), w.Rows())
	_, _ = pw.Close()
	f, _ := pq.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), pq.ReaderOptions{})

	a, _ := shred.NewAssembler(f.Schema().Child("v"), shred.Context{}, func(c int) bool { return f.RowGroup(0).Column(c).AllNull() })
	rows := int(f.RowGroup(0).Rows)
	var batches []*leaf.Batch
	for _, c := range a.Columns() {
		column, _ := f.Column(0, c)
		b := &leaf.Batch{}
		_ = column.Read(b, rows)
		batches = append(batches, b)
	}
	_ = a.Assemble(batches, rows, func(row int, v variant.Value) error {
		fmt.Println(row, v)
		return nil
	})
	// Output:
	// 0 {"a":1,"b":true}
	// 1 <missing>
	// 2 {"a":"one"}
}
