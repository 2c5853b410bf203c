package iceberg

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/frazil/frazil/variant"
)

// Renderer prints the rows of record batches as JSON: columns in order, NULL as
// null, timestamps with six digits and a Z unless they have no zone (nine digits
// for nanoseconds), dates as 2026-07-01, decimals with their declared scale,
// floats in their own shortest form, NaN and infinities as strings, binary in
// padded base64, structs and maps as objects, lists as arrays, and Variants as
// the JSON that the variant package gives them.
//
// A Renderer serves one batch at a time and one goroutine. Rows may be rendered
// as long as the batch is not released.
type Renderer struct {
	names [][]byte // "name": with its separator
	cols  []cellRenderer
	err   error
}

// cellRenderer appends row i of one array.
type cellRenderer func(dst []byte, i int) []byte

// NewRenderer makes a renderer for batches of the given schema.
func NewRenderer(s *arrow.Schema) *Renderer {
	r := &Renderer{cols: make([]cellRenderer, s.NumFields())}
	for i, f := range s.Fields() {
		name := []byte{','}
		if i == 0 {
			name[0] = '{'
		}
		r.names = append(r.names, append(appendJSONText(name, f.Name), ':'))
	}
	return r
}

// Bind takes the batch whose rows are rendered next. A column of a type that
// has no JSON form is an error that Is ErrUnsupported.
func (r *Renderer) Bind(rec arrow.RecordBatch) error {
	for i := range r.cols {
		cell, err := r.renderer(rec.Column(i), extensionOf(rec.Schema().Field(i)))
		if err != nil {
			return fmt.Errorf("column %q: %w", rec.ColumnName(i), err)
		}
		r.cols[i] = cell
	}
	return nil
}

// AppendRow appends row i as one JSON object. A Variant that cannot be decoded
// is an error that Is ErrCorrupt.
func (r *Renderer) AppendRow(dst []byte, i int) ([]byte, error) {
	for c, cell := range r.cols {
		dst = append(dst, r.names[c]...)
		dst = cell(dst, i)
	}
	if len(r.cols) == 0 {
		dst = append(dst, '{')
	}
	return append(dst, '}'), r.takeError()
}

// AppendCell appends column c of row i as one JSON value.
func (r *Renderer) AppendCell(dst []byte, c, i int) ([]byte, error) {
	return r.cols[c](dst, i), r.takeError()
}

func (r *Renderer) takeError() error {
	err := r.err
	r.err = nil
	return err
}

// extensionOf names the extension type whose storage f holds, "" for none.
func extensionOf(f arrow.Field) string {
	name, _ := f.Metadata.GetValue(keyExtensionName)
	return name
}

// The canonical names of the extension types that columns may have, and the
// name that Variants had before.
const (
	variantExtension    = "arrow.parquet.variant"
	oldVariantExtension = "parquet.variant"
	uuidExtension       = "arrow.uuid"
)

// renderer makes the renderer of one array; a null is null at every depth.
func (r *Renderer) renderer(arr arrow.Array, extension string) (cellRenderer, error) {
	var value cellRenderer
	var err error
	s, isStruct := arr.(*array.Struct)
	if raw, ok := arr.(*array.FixedSizeBinary); ok && extension == uuidExtension {
		value = func(dst []byte, i int) []byte { return appendUUID(dst, raw.Value(i)) }
	} else if isStruct && (extension == variantExtension || extension == oldVariantExtension) {
		value, err = r.variant(s)
	} else if value = scalarRenderer(arr); value == nil {
		value, err = r.nested(arr)
	}
	if err != nil {
		return nil, err
	}
	if arr.NullN() == 0 && arr.DataType().ID() != arrow.NULL {
		return value, nil
	}
	return func(dst []byte, i int) []byte {
		if arr.IsNull(i) {
			return append(dst, "null"...)
		}
		return value(dst, i)
	}, nil
}

func (r *Renderer) variant(s *array.Struct) (cellRenderer, error) {
	metadata, ok := s.Field(0).(*array.Binary)
	value, ok2 := s.Field(1).(*array.Binary)
	if !ok || !ok2 {
		return nil, unsupportedf("a variant stored as %s", s.DataType())
	}
	return func(dst []byte, i int) []byte {
		out, err := variant.AppendJSON(dst, variant.Unchecked(metadata.Value(i), value.Value(i)))
		if err != nil && r.err == nil {
			r.err = corruptf("variant in row %d: %v", i, err)
		}
		return out
	}, nil
}

func (r *Renderer) nested(arr arrow.Array) (cellRenderer, error) {
	switch a := arr.(type) {
	case *array.Struct:
		return r.object(a)
	case *array.Map:
		return r.mapping(a)
	case array.ListLike:
		elem, ok := a.DataType().(arrow.ListLikeType)
		if !ok {
			return nil, unsupportedf("%s", a.DataType())
		}
		item, err := r.renderer(a.ListValues(), extensionOf(elem.ElemField()))
		if err != nil {
			return nil, err
		}
		return func(dst []byte, i int) []byte {
			dst = append(dst, '[')
			from, to := a.ValueOffsets(i)
			for k := from; k < to; k++ {
				if k > from {
					dst = append(dst, ',')
				}
				dst = item(dst, int(k))
			}
			return append(dst, ']')
		}, nil
	}
	return nil, unsupportedf("%s has no JSON form", arr.DataType())
}

func (r *Renderer) object(a *array.Struct) (cellRenderer, error) {
	st, ok := a.DataType().(*arrow.StructType)
	if !ok {
		return nil, unsupportedf("%s", a.DataType())
	}
	inner := &Renderer{cols: make([]cellRenderer, a.NumField())}
	for i := range inner.cols {
		f := st.Field(i)
		cell, err := r.renderer(a.Field(i), extensionOf(f))
		if err != nil {
			return nil, err
		}
		name := []byte{','}
		if i == 0 {
			name[0] = '{'
		}
		inner.names = append(inner.names, append(appendJSONText(name, f.Name), ':'))
		inner.cols[i] = cell
	}
	return func(dst []byte, i int) []byte {
		dst, _ = inner.AppendRow(dst, i) // cells report to r
		return dst
	}, nil
}

// mapping renders a map as an object. A key that is no text is the text of its
// JSON form.
func (r *Renderer) mapping(a *array.Map) (cellRenderer, error) {
	mt, ok := a.DataType().(*arrow.MapType)
	if !ok {
		return nil, unsupportedf("%s", a.DataType())
	}
	key, err := r.renderer(a.Keys(), extensionOf(mt.KeyField()))
	if err != nil {
		return nil, err
	}
	item, err := r.renderer(a.Items(), extensionOf(mt.ItemField()))
	if err != nil {
		return nil, err
	}
	return func(dst []byte, i int) []byte {
		dst = append(dst, '{')
		from, to := a.ValueOffsets(i)
		for k := from; k < to; k++ {
			if k > from {
				dst = append(dst, ',')
			}
			mark := len(dst)
			dst = key(dst, int(k))
			if dst[mark] != '"' {
				dst = append(appendJSONText(dst[:mark:mark], string(dst[mark:])), ':')
			} else {
				dst = append(dst, ':')
			}
			dst = item(dst, int(k))
		}
		return append(dst, '}')
	}, nil
}

// scalarRenderer returns the renderer of an array of scalars, or nil.
func scalarRenderer(arr arrow.Array) cellRenderer {
	switch a := arr.(type) {
	case *array.Null:
		return func(dst []byte, _ int) []byte { return append(dst, "null"...) }
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, a.Value(i)) }
	case *array.Int8:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
	case *array.Int16:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
	case *array.Int32:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
	case *array.Int64:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, a.Value(i), 10) }
	case *array.Float32:
		return func(dst []byte, i int) []byte { return appendJSONFloat(dst, float64(a.Value(i)), 32) }
	case *array.Float64:
		return func(dst []byte, i int) []byte { return appendJSONFloat(dst, a.Value(i), 64) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(dst []byte, i int) []byte { return appendDecimal(dst, a.Value(i), int(scale)) }
	case *array.String:
		return func(dst []byte, i int) []byte { return appendJSONText(dst, a.Value(i)) }
	case *array.LargeString:
		return func(dst []byte, i int) []byte { return appendJSONText(dst, a.Value(i)) }
	}
	return binaryRenderer(arr)
}

func binaryRenderer(arr arrow.Array) cellRenderer {
	if ext, ok := arr.(array.ExtensionArray); ok && ext.ExtensionType().ExtensionName() == "arrow.uuid" {
		raw := ext.Storage().(*array.FixedSizeBinary)
		return func(dst []byte, i int) []byte { return appendUUID(dst, raw.Value(i)) }
	}
	switch a := arr.(type) {
	case *array.Binary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }
	case *array.LargeBinary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }
	case *array.FixedSizeBinary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }
	case *array.Date32:
		return func(dst []byte, i int) []byte {
			return append(appendDate(append(dst, '"'), int64(a.Value(i))), '"')
		}
	case *array.Time64:
		perSecond := unitsPerSecond(a.DataType().(*arrow.Time64Type).Unit)
		return func(dst []byte, i int) []byte {
			return append(appendTime(append(dst, '"'), int64(a.Value(i)), perSecond), '"')
		}
	case *array.Timestamp:
		typ := a.DataType().(*arrow.TimestampType)
		perSecond, tail := unitsPerSecond(typ.Unit), `"`
		if typ.TimeZone != "" {
			tail = `Z"`
		}
		return func(dst []byte, i int) []byte {
			return append(appendTimestamp(append(dst, '"'), int64(a.Value(i)), perSecond), tail...)
		}
	}
	return nil
}

func unitsPerSecond(u arrow.TimeUnit) int64 {
	switch u {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1000
	case arrow.Microsecond:
		return microsPerSecond
	case arrow.Nanosecond:
	}
	return nanosPerSecond
}

func appendBase64(dst, raw []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), raw), '"')
}

func appendUUID(dst, raw []byte) []byte {
	dst = append(dst, '"')
	for i, part := range [][]byte{raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return append(dst, '"')
}

// appendJSONFloat appends the shortest decimal that reads back as the same
// value of the given width, of two digits at least; a whole number keeps ".0",
// so that its type shows. The second digit matters for the least values, of which
// one digit would be far off: 4.9e-324, not 5e-324.
func appendJSONFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	mark := len(dst)
	dst = strconv.AppendFloat(dst, f, format, -1, bits)
	if format == 'e' && bytes.IndexByte(dst[mark:], '.') < 0 {
		return strconv.AppendFloat(dst[:mark], f, format, 1, bits)
	}
	if bits == 32 && isTie(dst[mark:], float32(f)) {
		return strconv.AppendFloat(dst[:mark], f, 'e', maxFloat32Digits-1, 32)
	}
	if format == 'f' {
		for _, c := range dst[mark:] {
			if c == '.' {
				return dst
			}
		}
		dst = append(dst, ".0"...)
	}
	return dst
}

// maxFloat32Digits is the number of digits that tells any two float32 apart.
const maxFloat32Digits = 9

// isTie reports whether a text lies half-way between f and a neighbour. It reads
// back as f only by the rule for ties, and Java's writers do not rely on that.
func isTie(text []byte, f float32) bool {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || v == float64(f) {
		return false
	}
	next := math.Nextafter32(f, float32(math.Inf(1)))
	if v < float64(f) {
		next = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return v == (float64(f)+float64(next))/2
}

// appendDecimal appends n / 10^scale exactly, with scale digits.
func appendDecimal(dst []byte, n decimal128.Num, scale int) []byte {
	if n.Sign() < 0 {
		dst, n = append(dst, '-'), n.Negate()
	}
	var buf [64]byte
	var digits []byte
	if n.HighBits() == 0 {
		digits = strconv.AppendUint(buf[:0], n.LowBits(), 10)
	} else {
		digits = n.BigInt().Append(buf[:0], 10)
	}
	for range scale - len(digits) + 1 {
		if len(digits) <= scale {
			digits = append([]byte{'0'}, digits...)
		}
	}
	if scale <= 0 {
		return append(dst, digits...)
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	dst = append(dst, '.')
	return append(dst, digits[len(digits)-scale:]...)
}

const hexDigits = "0123456789abcdef"

// appendJSONText appends s in quotes. Bytes that are no UTF-8 become U+FFFD.
func appendJSONText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = appendEscape(append(dst, s[start:i]...), c)
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
