package deletevec_test

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/deletevec"
)

func Example() {
	// Two rows of one data file and three of another are deleted.
	var a, b deletevec.Vector
	if err := a.AddMany([]int64{7, 3}); err != nil {
		panic(err)
	}
	if err := b.AddRange(100, 103); err != nil {
		panic(err)
	}

	// One Puffin file holds both vectors.
	var file bytes.Buffer
	w := deletevec.NewWriter(&file, deletevec.WriterOptions{CreatedBy: "example"})
	first, err := w.Add("s3://lake/t/data/a.parquet", &a)
	if err != nil {
		panic(err)
	}
	if _, err := w.Add("s3://lake/t/data/b.parquet", &b); err != nil {
		panic(err)
	}
	if _, err := w.Close(); err != nil {
		panic(err)
	}
	fmt.Printf("%d deleted rows in %d bytes at offset %d\n", first.Cardinality, first.Length, first.Offset)

	// A reader that knows the manifest entry fetches one blob.
	v, err := deletevec.Read(bytes.NewReader(file.Bytes()), deletevec.Ref{Blob: first, Rows: 1000})
	if err != nil {
		panic(err)
	}
	for pos := range v.All() {
		fmt.Println("row", pos)
	}
	// Output:
	// 2 deleted rows in 44 bytes at offset 4
	// row 3
	// row 7
}

func ExampleApply() {
	bld := array.NewInt64Builder(memory.DefaultAllocator)
	bld.AppendValues([]int64{100, 101, 102, 103}, nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{bld.NewArray()}, 4)

	var v deletevec.Vector
	if err := v.Add(8193); err != nil {
		panic(err)
	}
	// The batch begins at row 8192 of its data file.
	live, err := deletevec.Apply(memory.DefaultAllocator, batch, &v, 8192)
	if err != nil {
		panic(err)
	}
	fmt.Println(live.Column(0))
	// Output: [100 102 103]
}

func ExampleVector_Mask() {
	var v deletevec.Vector
	if err := v.AddRange(60, 70); err != nil {
		panic(err)
	}
	m := v.Mask(64, 100)
	fmt.Println(m.Deleted(), m.Live(), m.IsDeleted(5), m.IsDeleted(6))
	// Output: 6 94 true false
}

func ExampleVerify() {
	var v deletevec.Vector
	if err := v.Add(1); err != nil {
		panic(err)
	}
	var file bytes.Buffer
	w := deletevec.NewWriter(&file, deletevec.WriterOptions{})
	blob, err := w.Add("data.parquet", &v)
	if err != nil {
		panic(err)
	}
	size, err := w.Close()
	if err != nil {
		panic(err)
	}
	ref := deletevec.Ref{File: "deletes.puffin", Blob: blob}
	fmt.Println(deletevec.Verify(bytes.NewReader(file.Bytes()), size, ref))
	ref.Cardinality = 2
	fmt.Println(deletevec.Verify(bytes.NewReader(file.Bytes()), size, ref))
	// Output:
	// <nil>
	// deletevec: corrupt deletion vector: the manifest says {DataFile:data.parquet Offset:4 Length:42 Cardinality:2}, the Puffin footer {DataFile:data.parquet Offset:4 Length:42 Cardinality:1} at offset 4 of deletes.puffin (deleted rows of data.parquet)
}
