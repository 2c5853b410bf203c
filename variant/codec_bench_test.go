package variant

import (
	"testing"

	"github.com/frazil/frazil/internal/tradegen"
)

// texts returns the benchmark's work: n pricing vectors of three shapes, and their
// mean size in bytes.
func texts(b *testing.B, n int) [][]byte {
	b.Helper()
	v := tradegen.PricingVectors(n, 1)
	total := 0
	for _, t := range v {
		total += len(t)
	}
	b.SetBytes(int64(total / n))
	b.ReportAllocs()
	return v
}

const benchRows = 4096

// BenchmarkEncode is JSON to Variant bytes.
func BenchmarkEncode(b *testing.B) {
	rows := texts(b, benchRows)
	e := NewEncoder(ParseOptions{})
	i := 0
	for b.Loop() {
		if _, err := e.Encode(rows[i%benchRows]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkParse is JSON to events that nobody takes.
func BenchmarkParse(b *testing.B) {
	rows := texts(b, benchRows)
	p := NewParser(ParseOptions{})
	var sink Sink = discard{}
	i := 0
	for b.Loop() {
		if err := p.Parse(rows[i%benchRows], sink); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkAppendJSON is Variant bytes to JSON.
func BenchmarkAppendJSON(b *testing.B) {
	values := benchValues(b, texts(b, benchRows))
	var dst []byte
	i := 0
	for b.Loop() {
		var err error
		if dst, err = AppendJSON(dst[:0], values[i%benchRows]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkNew is the full check of the bytes.
func BenchmarkNew(b *testing.B) {
	values := benchValues(b, texts(b, benchRows))
	i := 0
	for b.Loop() {
		v := &values[i%benchRows]
		if _, err := New(v.metadata, v.value); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkRebuild is bytes to events to bytes over the same dictionary, as
// residuals and assembly do it.
func BenchmarkRebuild(b *testing.B) {
	values := benchValues(b, texts(b, benchRows))
	dicts := map[*byte]*Metadata{}
	metas := make([]*Metadata, len(values))
	for i, v := range values {
		at := &v.metadata[0]
		if dicts[at] == nil {
			dicts[at], _ = ParseMetadata(v.metadata)
		}
		metas[i] = dicts[at]
	}
	w := NewBuilder()
	i := 0
	for b.Loop() {
		w.ResetMetadata(metas[i%benchRows])
		if err := values[i%benchRows].Emit(w); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Value(); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func benchValues(b *testing.B, rows [][]byte) []Value {
	b.Helper()
	e := NewEncoder(ParseOptions{})
	values := make([]Value, len(rows))
	for i, t := range rows {
		v, err := e.Encode(t)
		if err != nil {
			b.Fatal(err)
		}
		values[i] = Value{v.metadata, append([]byte(nil), v.value...)}
	}
	return values
}
