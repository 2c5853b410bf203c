package pq_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
)

// A file of one optional column: levels as runs, values without the null.
func ExampleWriter() {
	root := &leaf.Node{Children: []*leaf.Node{{Name: "price", Repetition: leaf.Optional, Type: leaf.Int64}}}
	price := &leaf.Buffer{Info: root.Leaves()[0], Slots: 3, Int64s: []int64{990, 1010}}
	price.Def.Append(1, 1)
	price.Def.Append(0, 1)
	price.Def.Append(1, 1)

	var file bytes.Buffer
	w, err := pq.NewWriter(&file, root, pq.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.WriteRowGroup([]*leaf.Buffer{price}, 3); err != nil {
		log.Fatal(err)
	}
	meta, err := w.Close()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(meta.Rows, "rows,", meta.Columns[0].Nulls, "null, min", meta.Columns[0].Min)
	// Output: 3 rows, 1 null, min [222 3 0 0 0 0 0 0]
}

// One leaf of a file, without a byte of the others.
func ExampleOpen() {
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "desk", Type: arrow.BinaryTypes.String},
		{Name: "var", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil), strings.NewReader(`[{"desk":"FX","var":1.5},{"desk":"EQ","var":null}]`))
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Release()
	data := write(rec)
	f, err := pq.Open(bytes.NewReader(data), int64(len(data)), pq.ReaderOptions{Name: "risk.parquet"})
	if err != nil {
		log.Fatal(err)
	}
	column, err := f.Column(0, 1)
	if err != nil {
		log.Fatal(err)
	}
	var b leaf.Batch
	if err := column.Read(&b, column.Remaining()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Def, b.Doubles, f.Stats().Columns)
	// Output: [1 0] [1.5] [1]
}

// write writes a record through leaf buffers.
func write(rec arrow.RecordBatch) []byte {
	root, err := pq.RootOf(rec.Schema())
	if err != nil {
		log.Fatal(err)
	}
	var cols []*leaf.Buffer
	for i, n := range root.Children {
		s, err := pq.NewStriper(n)
		if err != nil {
			log.Fatal(err)
		}
		if err := s.Append(rec.Column(i)); err != nil {
			log.Fatal(err)
		}
		cols = append(cols, s.Buffers()...)
	}
	var file bytes.Buffer
	w, err := pq.NewWriter(&file, root, pq.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.WriteRowGroup(cols, int(rec.NumRows())); err != nil {
		log.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
}

// An Arrow array from a column's leaves.
func ExampleAssembler() {
	n, err := pq.NodeOf(arrow.Field{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true})
	if err != nil {
		log.Fatal(err)
	}
	a, err := pq.NewAssembler(n, memory.DefaultAllocator)
	if err != nil {
		log.Fatal(err)
	}
	tags := &leaf.Batch{
		Info: (&leaf.Node{Children: []*leaf.Node{n}}).Leaves()[0],
		Rows: 3, Slots: 4, Nulls: 2,
		Def: []uint8{3, 3, 1, 0}, Rep: []uint8{0, 1, 0, 0},
		Offsets: []uint32{0, 1, 3}, Data: []byte("abb"),
	}
	arr, err := a.Assemble([]*leaf.Batch{tags}, 3)
	if err != nil {
		log.Fatal(err)
	}
	defer arr.Release()
	fmt.Println(arr)
	// Output: [["a" "bb"] [] (null)]
}
