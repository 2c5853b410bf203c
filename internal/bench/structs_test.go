package main

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

// TestStructs: both libraries give back the structs from which the values were made.
func TestStructs(t *testing.T) {
	rows, err := equities(100)
	require.NoError(t, err)
	ours, theirs, err := encodeStructs(rows)
	require.NoError(t, err)
	for i := range rows {
		var x, y equity
		require.NoError(t, variant.Unmarshal(ours[i], &x))
		require.Equal(t, rows[i], x)
		require.NoError(t, goStruct(theirs[i], reflect.ValueOf(&y).Elem()))
		require.Equal(t, rows[i], y)
	}
	for _, w := range structDecoders(ours, theirs) {
		require.NoError(t, w.run(), w.name)
	}
}

// BenchmarkStructs is structs to Variants and back, per value.
func BenchmarkStructs(b *testing.B) {
	rows, err := equities(600)
	require.NoError(b, err)
	ours, theirs, err := encodeStructs(rows)
	require.NoError(b, err)
	for _, w := range append(structEncoders(rows), structDecoders(ours, theirs)...) {
		b.Run(w.name, func(b *testing.B) {
			start, n := cpuTime(), 0
			for ; n < b.N; n += len(rows) {
				if err := w.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime()-start)/float64(n), "cpu-ns/op")
		})
	}
}
