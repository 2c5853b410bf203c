package iceberg

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	ice "github.com/apache/iceberg-go"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
)

// metricsMode says what a manifest holds about a column, as the properties
// write.metadata.metrics.default and .column.NAME set it.
type metricsMode struct {
	counts, bounds bool
	length         int // of bounds in characters or bytes; 0 means whole
}

const (
	propMetricsColumn   = "write.metadata.metrics.column."
	propMetricsInferred = "write.metadata.metrics.max-inferred-column-defaults"
	defaultBoundLength  = 16
	defaultInferred     = 100
)

func parseMetricsMode(text string) (metricsMode, error) {
	switch strings.ToLower(text) {
	case "none":
		return metricsMode{}, nil
	case "counts":
		return metricsMode{counts: true}, nil
	case "full":
		return metricsMode{counts: true, bounds: true}, nil
	}
	inner, ok := strings.CutPrefix(strings.ToLower(text), "truncate(")
	n, err := strconv.Atoi(strings.TrimSuffix(inner, ")"))
	if !ok || err != nil || n <= 0 {
		return metricsMode{}, invalidf("metrics mode %q: none, counts, full or truncate(n)", text)
	}
	return metricsMode{counts: true, bounds: true, length: n}, nil
}

// metricsModes gives the mode of each top-level column.
func metricsModes(props ice.Properties, fields []ice.NestedField) ([]metricsMode, error) {
	modes := make([]metricsMode, len(fields))
	inferred := props.GetInt(propMetricsInferred, defaultInferred)
	for i, f := range fields {
		text, ok := props[propMetricsColumn+f.Name]
		if !ok {
			text, ok = props[propMetricsDefault]
		}
		switch {
		case ok:
		case i < inferred:
			text = fmt.Sprintf("truncate(%d)", defaultBoundLength)
		default:
			text = "none"
		}
		var err error
		if modes[i], err = parseMetricsMode(text); err != nil {
			return nil, err
		}
	}
	return modes, nil
}

// fileMetrics gathers the maps of a manifest entry, by field id
// (Iceberg spec, "Data File Fields").
type fileMetrics struct {
	sizes, values, nulls, nans map[int]int64
	lower, upper               map[int][]byte
}

func newFileMetrics() *fileMetrics {
	return &fileMetrics{
		sizes: map[int]int64{}, values: map[int]int64{}, nulls: map[int]int64{}, nans: map[int]int64{},
		lower: map[int][]byte{}, upper: map[int][]byte{},
	}
}

// ordinary adds the leaves of an ordinary column, which are cols. Leaves below
// lists and maps get no bounds.
func (m *fileMetrics) ordinary(f ice.NestedField, cols []pq.ColumnMeta, mode metricsMode) {
	types := map[int]ice.Type{}
	leafTypes(f, types)
	for i := range cols {
		c := &cols[i]
		id := c.Node.FieldID
		t, ok := types[id]
		if !ok || id == 0 {
			m.sizes[f.ID] += c.CompressedSize // the halves of a nested Variant
			continue
		}
		m.sizes[id] = c.CompressedSize
		if !mode.counts {
			continue
		}
		m.values[id], m.nulls[id] = c.Slots, c.Nulls
		if c.Node.Type == leaf.Float || c.Node.Type == leaf.Double {
			m.nans[id] = c.NaNs
		}
		if !mode.bounds || c.MaxRep > 0 || c.Min == nil {
			continue
		}
		if lower, upper, ok := bounds(t, c, mode.length); ok {
			m.lower[id], m.upper[id] = lower, upper
		}
	}
}

// variant adds a shredded or plain Variant column.
func (m *fileMetrics) variant(f ice.NestedField, cols []pq.ColumnMeta, rows, nulls int64, lower, upper []byte, mode metricsMode) {
	for i := range cols {
		m.sizes[f.ID] += cols[i].CompressedSize
	}
	if mode.counts {
		m.values[f.ID], m.nulls[f.ID] = rows, nulls
	}
	if mode.bounds && len(lower) > 0 && len(upper) > 0 {
		m.lower[f.ID], m.upper[f.ID] = lower, upper
	}
}

// leafTypes collects the types of the primitive fields in f by id.
func leafTypes(f ice.NestedField, out map[int]ice.Type) {
	switch t := f.Type.(type) {
	case ice.NestedType:
		for _, c := range t.Fields() {
			leafTypes(c, out)
		}
	case ice.VariantType:
	default:
		out[f.ID] = f.Type
	}
}

// bounds turns a leaf's extremes into the binary form of manifests (Iceberg
// spec, "Binary single-value serialization"). Texts and bytes are cut to
// length: the lower bound down, the upper bound up.
func bounds(t ice.Type, c *pq.ColumnMeta, length int) (lower, upper []byte, ok bool) {
	switch t.(type) {
	case ice.DecimalType:
		return decimalBound(c.Node.Type, c.Min), decimalBound(c.Node.Type, c.Max), true
	case ice.StringType:
		lower, upper = c.Min, c.Max
		if length > 0 {
			lower = lower[:runePrefix(lower, length)]
			upper, ok = raiseText(upper, length)
			return bytes.Clone(lower), upper, ok
		}
	case ice.BinaryType, ice.FixedType:
		lower, upper = c.Min, c.Max
		if length > 0 {
			lower = lower[:min(length, len(lower))]
			upper, ok = raiseBytes(upper, length)
			return bytes.Clone(lower), upper, ok
		}
	case ice.GeometryType, ice.GeographyType:
		return nil, nil, false
	}
	return bytes.Clone(c.Min), bytes.Clone(c.Max), true
}

// decimalBound gives the fewest big-endian bytes of a decimal.
func decimalBound(t leaf.Type, plain []byte) []byte {
	be := bytes.Clone(plain)
	if t == leaf.Int32 || t == leaf.Int64 {
		slices.Reverse(be)
	}
	for len(be) > 1 && (be[0] == 0 && be[1] < 0x80 || be[0] == 0xff && be[1] >= 0x80) {
		be = be[1:]
	}
	return be
}

// runePrefix is the length in bytes of the first n characters.
func runePrefix(b []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(b); n-- {
		_, size := utf8.DecodeRune(b[i:])
		i += size
	}
	return i
}

// raiseText cuts b to n characters and raises the last one that can be, so that
// the result is not below b. It is false when there is none.
func raiseText(b []byte, n int) ([]byte, bool) {
	cut := runePrefix(b, n)
	if cut == len(b) {
		return bytes.Clone(b), true
	}
	b = b[:cut]
	for len(b) > 0 {
		r, size := utf8.DecodeLastRune(b)
		b = b[:len(b)-size]
		next := r + 1
		if next >= 0xd800 && next <= 0xdfff {
			next = 0xe000 // surrogates are no characters
		}
		if next <= utf8.MaxRune {
			return utf8.AppendRune(bytes.Clone(b), next), true
		}
	}
	return nil, false
}

// raiseBytes does the same for bytes.
func raiseBytes(b []byte, n int) ([]byte, bool) {
	if len(b) <= n {
		return bytes.Clone(b), true
	}
	out := bytes.Clone(b[:n])
	for len(out) > 0 {
		if last := len(out) - 1; out[last] < 0xff {
			out[last]++
			return out, true
		}
		out = out[:len(out)-1]
	}
	return nil, false
}
