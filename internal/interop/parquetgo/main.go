// Command parquetgo reads and writes Variants in Parquet files with parquet-go,
// for the suite of package interop:
//
//	parquetgo read FILE               prints the column doc, one row a line
//	parquetgo write IN OUT [SCHEMA]   writes the rows of IN as the column doc
//
// A row is null for SQL NULL or {"metadata":HEX,"value":HEX}. SCHEMA is the
// shredding schema as JSON: a type's name, [element], or {"name":field,...};
// without it nothing is shredded.
//
// The folder is a module of its own, so that parquet-go never reaches the module
// graph of those who import Frazil.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/variant"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "parquetgo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "read":
		return read(args[1])
	case len(args) == 3 && args[0] == "write":
		return write(args[1], args[2], "")
	case len(args) == 4 && args[0] == "write":
		return write(args[1], args[2], args[3])
	}
	return errors.New("usage: read FILE | write IN OUT [SCHEMA]")
}

// raw is a Variant as parquet-go hands it over without decoding it.
type raw struct {
	Metadata []byte `parquet:"metadata"`
	Value    []byte `parquet:"value"`
}

// row is a row of a file.
type row struct {
	Doc *raw `parquet:"doc,optional,variant"`
}

func read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := parquet.NewGenericReader[row](f)
	defer r.Close()
	out := bufio.NewWriter(os.Stdout)
	rows := make([]row, 256)
	for {
		clear(rows)
		n, err := r.Read(rows)
		for _, x := range rows[:n] {
			printRow(out, x.Doc)
		}
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
	}
}

func printRow(out io.Writer, v *raw) {
	if v == nil {
		fmt.Fprintln(out, "null")
		return
	}
	fmt.Fprintf(out, "{\"metadata\":\"%x\",\"value\":\"%x\"}\n", v.Metadata, v.Value)
}

// rowsPerGroup is small, so that a file has several row groups.
const rowsPerGroup = 1000

func write(in, out, schema string) error {
	node, err := column(schema)
	if err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	w := parquet.NewWriter(f, parquet.NewSchema("table", parquet.Group{"doc": parquet.Optional(node)}), parquet.Compression(&parquet.Zstd))
	docs, err := parquet.NewVariantColumnWriter(w, "doc")
	if err != nil {
		return err
	}
	lines, err := os.Open(in)
	if err != nil {
		return err
	}
	defer lines.Close()
	if err := writeRows(w, docs, json.NewDecoder(lines)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

func writeRows(w *parquet.Writer, docs *parquet.VariantColumnWriter, rows *json.Decoder) error {
	for n := 1; ; n++ {
		var x *struct{ Metadata, Value string }
		err := rows.Decode(&x)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
		case x == nil:
			err = docs.WriteNullRow()
		default:
			err = writeValue(docs, x.Metadata, x.Value)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if n%rowsPerGroup == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

func writeValue(w *parquet.VariantColumnWriter, metadata, value string) error {
	m, err := hex.DecodeString(metadata)
	if err != nil {
		return err
	}
	v, err := hex.DecodeString(value)
	if err != nil {
		return err
	}
	names, err := variant.DecodeMetadata(m)
	if err != nil {
		return err
	}
	x, err := variant.Decode(names, v)
	if err != nil {
		return err
	}
	return w.WriteValue(x)
}
