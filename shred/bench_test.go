package shred

import (
	"bytes"
	"fmt"
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/internal/tradegen"
	"github.com/frazil/frazil/variant"
)

// benchRows is the number of pricing vectors of the benchmarks: enough for the
// inference to settle and for batches of the usual size.
const benchRows = 10000

func benchTexts(n int) [][]byte { return tradegen.PricingVectors(n, 1) }

func benchValues(tb testing.TB, n int) (values []variant.Value) {
	for _, t := range benchTexts(n) {
		values = append(values, mustJSON(tb, string(t)))
	}
	return values
}

func benchSchema(tb testing.TB, texts [][]byte) *Schema {
	i := NewInferer(InferOptions{})
	for _, t := range texts {
		require.NoError(tb, i.AddJSON(t))
	}
	return i.Schema()
}

// best runs the benchmark in pieces and reports the least processor time of a
// piece per row, collection of garbage included: on a machine that does other
// work, what the code itself takes.
func best(b *testing.B, rows int, piece func()) {
	piece()
	used := func() int64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return u.Utime.Nano() + u.Stime.Nano()
	}
	least := int64(math.MaxInt64)
	b.ResetTimer()
	for range b.N {
		start := used()
		piece()
		least = min(least, used()-start)
	}
	b.ReportMetric(float64(least)/float64(rows), "best-ns/row")
}

type nullSink struct{ n int }

func (k *nullSink) Begin(variant.Kind)     { k.n++ }
func (k *nullSink) End()                   { k.n++ }
func (k *nullSink) Key([]byte)             { k.n++ }
func (k *nullSink) Scalar(*variant.Scalar) { k.n++ }
func (k *nullSink) Err() error             { return nil }

// benchPiece is the number of rows of a piece of the benchmarks that write.
const benchPiece = 1000

// BenchmarkParseOnly is the part of the JSON parser in BenchmarkWriteJSON.
func BenchmarkParseOnly(b *testing.B) {
	texts := benchTexts(benchPiece)
	p := variant.NewParser(variant.ParseOptions{})
	k := &nullSink{}
	best(b, benchPiece, func() {
		for _, t := range texts {
			if err := p.Parse(t, k); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWriteJSON is JSON text to leaf buffers.
func BenchmarkWriteJSON(b *testing.B) {
	texts := benchTexts(benchPiece)
	w := NewWriter(benchSchema(b, texts), WriterOptions{Optional: true})
	best(b, benchPiece, func() {
		for _, t := range texts {
			if err := w.WriteJSON(t); err != nil {
				b.Fatal(err)
			}
		}
		w.Buffers()
		w.Reset()
	})
}

// BenchmarkWriteValue is Variant bytes to leaf buffers.
func BenchmarkWriteValue(b *testing.B) {
	values := benchValues(b, benchPiece)
	w := NewWriter(benchSchema(b, benchTexts(benchPiece)), WriterOptions{Optional: true})
	best(b, benchPiece, func() {
		for _, v := range values {
			if err := w.WriteValue(v); err != nil {
				b.Fatal(err)
			}
		}
		w.Buffers()
		w.Reset()
	})
}

// BenchmarkFinish is the composition of levels at the end of a row group.
func BenchmarkFinish(b *testing.B) {
	w := benchWriter(b)
	best(b, w.Rows(), func() { w.Buffers() })
}

// benchBatches gives the batches of a plan in slices of the usual batch size.
func benchBatches(b *testing.B, w *Writer, columns []int) []*leaf.Batch {
	return pickBatches(w.Buffers(), columns, w.Rows())
}

func benchPaths(tb testing.TB) []Request {
	var reqs []Request
	for _, p := range [][2]string{
		{"$.greeks.delta", "double"},
		{"$.scenarios[0].breakdown.by_region.EMEA", "double"},
		{"$.model_params.calibration.fit_error", "double"},
		{"$.dv01", "double"},
		{"$.model", "string"},
	} {
		path, err := variant.ParsePath(p[0])
		require.NoError(tb, err)
		typ, err := variant.ParseType(p[1])
		require.NoError(tb, err)
		reqs = append(reqs, Request{Path: path, Type: typ})
	}
	return reqs
}

func benchWriter(b *testing.B) *Writer {
	texts := benchTexts(benchRows)
	w := NewWriter(benchSchema(b, texts), WriterOptions{Optional: true})
	for _, t := range texts {
		require.NoError(b, w.WriteJSON(t))
	}
	return w
}

// BenchmarkReadFivePaths is leaf batches to Arrow arrays, per row.
func BenchmarkReadFivePaths(b *testing.B) {
	w := benchWriter(b)
	benchRead(b, w, benchPaths(b))
}

// BenchmarkReadOnePath is one object path of them.
func BenchmarkReadOnePath(b *testing.B) {
	w := benchWriter(b)
	benchRead(b, w, benchPaths(b)[:1])
}

func benchRead(b *testing.B, w *Writer, reqs []Request) {
	p, err := Project(w.Group(), Context{}, reqs, allNull(w.Buffers()))
	require.NoError(b, err)
	batches := benchBatches(b, w, p.Columns())
	r := p.NewReader(nil)
	best(b, w.Rows(), func() {
		out, err := r.Read(batches, w.Rows())
		if err != nil {
			b.Fatal(err)
		}
		for _, o := range out {
			o.Release()
		}
	})
}

// BenchmarkAssemble is leaf batches to whole values, per row.
func BenchmarkAssemble(b *testing.B) {
	w := benchWriter(b)
	a, err := NewAssembler(w.Group(), Context{}, allNull(w.Buffers()))
	require.NoError(b, err)
	batches := benchBatches(b, w, a.Columns())
	best(b, w.Rows(), func() {
		if err := a.Assemble(batches, w.Rows(), func(int, variant.Value) error { return nil }); err != nil {
			b.Fatal(err)
		}
	})
}

// fileOf writes the buffers of a writer as a file of one row group.
func fileOf(tb testing.TB, w *Writer, o pq.WriterOptions) []byte {
	var out bytes.Buffer
	f, err := pq.NewWriter(&out, &leaf.Node{Name: "table", Children: []*leaf.Node{w.Group()}}, o)
	require.NoError(tb, err)
	require.NoError(tb, f.WriteRowGroup(w.Buffers(), w.Rows()))
	_, err = f.Close()
	require.NoError(tb, err)
	return out.Bytes()
}

// BenchmarkJSONToFile is the whole way from JSON text to a zstd Parquet file, per
// pricing vector.
func BenchmarkJSONToFile(b *testing.B) {
	texts := benchTexts(benchRows)
	w := NewWriter(benchSchema(b, texts), WriterOptions{Optional: true})
	size := 0
	round := func() {
		for _, t := range texts {
			if err := w.WriteJSON(t); err != nil {
				b.Fatal(err)
			}
		}
		size = len(fileOf(b, w, pq.WriterOptions{}))
		w.Reset()
	}
	best(b, benchRows, round)
	b.ReportMetric(float64(size)/float64(len(texts)), "file-B/row")
}

// BenchmarkValuesToFile is the same from Variants in memory.
func BenchmarkValuesToFile(b *testing.B) {
	texts := benchTexts(benchRows)
	w := NewWriter(benchSchema(b, texts), WriterOptions{Optional: true})
	values := benchValues(b, benchRows)
	round := func() {
		for _, v := range values {
			if err := w.WriteValue(v); err != nil {
				b.Fatal(err)
			}
		}
		fileOf(b, w, pq.WriterOptions{})
		w.Reset()
	}
	best(b, benchRows, round)
}

// fileRows is the number of rows that a reader of the benchmarks takes at once.
const fileRows = 1024

// benchFile reads requests from a file in batches.
func benchFile(b *testing.B, reqs []Request) {
	benchFileOf(b, benchWriter(b), pq.WriterOptions{}, reqs)
}

func benchFileOf(b *testing.B, w *Writer, o pq.WriterOptions, reqs []Request) {
	data := fileOf(b, w, o)
	f, err := pq.Open(bytes.NewReader(data), int64(len(data)), pq.ReaderOptions{})
	require.NoError(b, err)
	p, err := Project(w.Group(), Context{Ordered: f.IsOwn()}, reqs, func(c int) bool { return f.RowGroup(0).Column(c).AllNull() })
	require.NoError(b, err)
	before := f.Stats().PageBytes
	round := func() {
		r := p.NewReader(nil)
		columns := make([]*pq.ColumnReader, len(p.Columns()))
		batches := make([]*leaf.Batch, len(columns))
		for i, c := range p.Columns() {
			if columns[i], err = f.Column(0, c); err != nil {
				b.Fatal(err)
			}
			batches[i] = &leaf.Batch{}
		}
		for left := w.Rows(); left > 0; left -= fileRows {
			n := min(left, fileRows)
			for i := range columns {
				if err := columns[i].Read(batches[i], n); err != nil {
					b.Fatal(err)
				}
			}
			out, err := r.Read(batches, n)
			if err != nil {
				b.Fatal(err)
			}
			for _, o := range out {
				o.Release()
			}
		}
	}
	round()
	read := f.Stats().PageBytes - before
	best(b, w.Rows(), round)
	b.ReportMetric(float64(read)/float64(w.Rows()), "read-B/row")
	b.ReportMetric(float64(len(p.Columns())), "columns")
}

// BenchmarkFileFivePaths is Parquet file to Arrow arrays, per row.
func BenchmarkFileFivePaths(b *testing.B) { benchFile(b, benchPaths(b)) }

// BenchmarkFileOnePath is one object path of them.
func BenchmarkFileOnePath(b *testing.B) { benchFile(b, benchPaths(b)[:1]) }

// BenchmarkFileWhole is Parquet file to whole values.
func BenchmarkFileWhole(b *testing.B) { benchFile(b, []Request{{}}) }

// BenchmarkFilePlain is the same from files that are not shredded: our own, and one
// of another writer, whose values are looked through for fields out of order.
func BenchmarkFilePlain(b *testing.B) {
	w := NewWriter(&Schema{}, WriterOptions{Optional: true})
	for _, t := range benchTexts(benchRows) {
		require.NoError(b, w.WriteJSON(t))
	}
	for _, name := range []string{"frazil version 0", "another"} {
		b.Run(name, func(b *testing.B) { benchFileOf(b, w, pq.WriterOptions{CreatedBy: name}, []Request{{}}) })
	}
}

// BenchmarkGrowth writes and reads documents of more and more fields, and of more
// and more distinct sets of keys; figures are per field.
func BenchmarkGrowth(b *testing.B) {
	docs := func(fields, shapes int) (out [][]byte) {
		for i := range benchPiece {
			var d []byte
			for f := range fields {
				if shapes > 1 && (f*7919+i%shapes*104729)%13 < 4 {
					continue
				}
				d = fmt.Appendf(d, `,"field%03d":%d`, f, i*f)
			}
			d = append(d, '}')
			d[0] = '{'
			out = append(out, d)
		}
		return out
	}
	for _, c := range [][2]int{{10, 1}, {100, 1}, {300, 1}, {100, 10}, {100, 100}, {100, 1000}} {
		fields, shapes := c[0], c[1]
		texts := docs(fields, shapes)
		w := NewWriter(benchSchema(b, texts), WriterOptions{})
		fill := func() {
			for _, t := range texts {
				if err := w.WriteJSON(t); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(fmt.Sprintf("write/fields=%d/shapes=%d", fields, shapes), func(b *testing.B) {
			best(b, benchPiece*fields, func() { fill(); w.Buffers(); w.Reset() })
		})
		fill()
		a, err := NewAssembler(w.Group(), Context{}, allNull(w.Buffers()))
		require.NoError(b, err)
		batches := benchBatches(b, w, a.Columns())
		b.Run(fmt.Sprintf("assemble/fields=%d/shapes=%d", fields, shapes), func(b *testing.B) {
			best(b, benchPiece*fields, func() {
				if err := a.Assemble(batches, benchPiece, func(int, variant.Value) error { return nil }); err != nil {
					b.Fatal(err)
				}
			})
		})
		p, err := Project(w.Group(), Context{}, []Request{request(b, "$.field003", "bigint", false)}, allNull(w.Buffers()))
		require.NoError(b, err)
		one := benchBatches(b, w, p.Columns())
		r := p.NewReader(nil)
		b.Run(fmt.Sprintf("path/fields=%d/shapes=%d", fields, shapes), func(b *testing.B) {
			best(b, benchPiece, func() {
				out, err := r.Read(one, benchPiece)
				if err != nil {
					b.Fatal(err)
				}
				out[0].Release()
			})
		})
	}
}

// BenchmarkRows writes and reads files of more and more rows, in row groups of
// benchRows; figures are per row.
func BenchmarkRows(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 400_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchRowsOf(b, n) })
	}
}

func benchRowsOf(b *testing.B, rows int) {
	texts := benchTexts(benchRows)
	w := NewWriter(benchSchema(b, texts), WriterOptions{Optional: true})
	var out bytes.Buffer
	write := func() {
		out.Reset()
		f, err := pq.NewWriter(&out, &leaf.Node{Name: "table", Children: []*leaf.Node{w.Group()}}, pq.WriterOptions{})
		require.NoError(b, err)
		for range rows / benchRows {
			for _, t := range texts {
				if err := w.WriteJSON(t); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, f.WriteRowGroup(w.Buffers(), w.Rows()))
			w.Reset()
		}
		_, err = f.Close()
		require.NoError(b, err)
	}
	b.Run("write", func(b *testing.B) { best(b, rows, write) })
	f, err := pq.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), pq.ReaderOptions{})
	require.NoError(b, err)
	for name, reqs := range map[string][]Request{"five paths": benchPaths(b), "whole": {{}}} {
		b.Run(name, func(b *testing.B) { best(b, rows, func() { readGroups(b, f, w.Group(), reqs) }) })
	}
}

// readGroups reads requests from all row groups of a file in batches.
func readGroups(b *testing.B, f *pq.File, group *leaf.Node, reqs []Request) {
	pf := &parquetFile{f, group}
	for g := range f.RowGroups() {
		p, err := Project(group, Context{}, reqs, pf.allNull(g))
		require.NoError(b, err)
		r := p.NewReader(nil)
		pf.scan(b, g, fileRows, p.Columns(), func(batches []*leaf.Batch, n int) {
			arrays, err := r.Read(batches, n)
			require.NoError(b, err)
			for _, a := range arrays {
				a.Release()
			}
		})
	}
}
