package shred

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// vector is an Arrow array of fixed width in the making: all slots of a batch,
// converted by a loop of its own, then single slots where the answer is in the
// residual.
type vector struct {
	typ   arrow.DataType
	data  []byte
	valid []byte // bitmap
	nulls int
	rows  int
	set   func(row int, s *variant.Scalar)
}

// array wraps the memory without a copy.
func (v *vector) array() arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(v.data)}
	if v.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(v.valid)
	}
	data := array.NewData(v.typ, v.rows, buffers, nil, v.nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func (v *vector) isSet(row int) bool { return v.valid[row>>3]>>(row&7)&1 != 0 }

// fill sets one row that was null.
func (v *vector) fill(row int, s *variant.Scalar) {
	v.valid[row>>3] |= 1 << (row & 7)
	v.nulls--
	v.set(row, s)
}

// validity builds the bitmap of the slots whose level is max and counts them.
func validity(def []uint8, max uint8, rows int) (bitmap []byte, set int) {
	bitmap = make([]byte, (rows+7)/8)
	if def == nil {
		for i := range bitmap {
			bitmap[i] = 0xFF
		}
		if rows&7 != 0 {
			bitmap[len(bitmap)-1] = 1<<(rows&7) - 1
		}
		return bitmap, rows
	}
	want := uint64(max) * everyByte
	i := 0
	for ; i+8 <= rows; i += 8 {
		b := byte(equalBytes(binary.LittleEndian.Uint64(def[i:]), want) * 0x0102040810204080 >> 56)
		bitmap[i>>3] = b
		set += bits.OnesCount8(b)
	}
	for ; i < rows; i++ {
		if def[i] == max {
			bitmap[i>>3] |= 1 << (i & 7)
			set++
		}
	}
	return bitmap, set
}

// spread moves the first n values, which are dense, to the slots that have one.
func spread[T any](dst []T, def []uint8, max uint8, n int) {
	if def == nil || n == len(dst) {
		return
	}
	var zero T
	for i := len(dst) - 1; i >= 0; i-- {
		if def[i] == max {
			n--
			dst[i] = dst[n]
		} else {
			dst[i] = zero
		}
	}
}

// spreadWords is spread for numbers, without a branch on the levels, which are
// hard to predict where fields come and go by document.
func spreadWords[T uint32 | uint64](dst []T, def []uint8, max uint8, n int) {
	if def == nil || n == len(dst) {
		return
	}
	def = def[:len(dst)]
	for i := len(dst) - 1; i >= 0; i-- {
		here := 0
		if def[i] == max {
			here = 1
		}
		n -= here
		dst[i] = dst[n] & -T(here)
	}
}

func words32(b []byte) []uint32 { return arrow.Uint32Traits.CastFromBytes(b) }
func words64(b []byte) []uint64 { return arrow.Uint64Traits.CastFromBytes(b) }

// convert answers a request of scalar type from a typed leaf by a loop without
// calls, where the cast cannot fail and needs no thought. b may be nil: no value.
func (l *layout) convert(t *variant.Type, b *leaf.Batch, rows int) (*vector, bool) {
	v := &vector{typ: ArrowType(*t), rows: rows}
	n := 0
	if b == nil {
		v.valid, v.nulls = make([]byte, (rows+7)/8), rows
		b = &leaf.Batch{}
	} else {
		v.valid, n = validity(b.Def, b.MaxDef, rows)
		v.nulls = rows - n
	}
	return v, v.values(l, t, b, n)
}

func (v *vector) values(l *layout, t *variant.Type, b *leaf.Batch, n int) bool {
	switch t.ID {
	case variant.TypeDouble:
		dst := make([]float64, v.rows)
		if n > 0 && !toDoubles(dst[:n], l.typ, b) {
			return false
		}
		v.data = arrow.Float64Traits.CastToBytes(dst)
		spreadWords(words64(v.data), b.Def, b.MaxDef, n)
		v.set = func(i int, s *variant.Scalar) { dst[i] = s.Float }
	case variant.TypeBigint:
		dst := make([]int64, v.rows)
		if n > 0 && !toInts(dst[:n], l.typ, b) {
			return false
		}
		v.ints64(dst, b, n)
	case variant.TypeTimestamp, variant.TypeTimestampNTZ:
		kind := variant.KindTimestamp
		if t.ID == variant.TypeTimestampNTZ {
			kind = variant.KindTimestampNTZ
		}
		dst := make([]int64, v.rows)
		if n > 0 && l.typ.Kind != kind {
			return false
		}
		copy(dst, b.Int64s[:n])
		v.ints64(dst, b, n)
	case variant.TypeInt, variant.TypeDate:
		return v.ints32(l, t, b, n)
	case variant.TypeDecimal:
		return v.decimals(l, t, b, n)
	case variant.TypeFloat:
		dst := make([]float32, v.rows)
		if n > 0 && l.typ.Kind != variant.KindFloat {
			return false
		}
		copy(dst, b.Floats[:n])
		v.data = arrow.Float32Traits.CastToBytes(dst)
		spreadWords(words32(v.data), b.Def, b.MaxDef, n)
		v.set = func(i int, s *variant.Scalar) { dst[i] = float32(s.Float) }
	case variant.TypeBoolean:
		return v.bools(l, b, n)
	default:
		return false
	}
	return true
}

func (v *vector) ints64(dst []int64, b *leaf.Batch, n int) {
	v.data = arrow.Int64Traits.CastToBytes(dst)
	spreadWords(words64(v.data), b.Def, b.MaxDef, n)
	v.set = func(i int, s *variant.Scalar) { dst[i] = s.Int }
}

func (v *vector) ints32(l *layout, t *variant.Type, b *leaf.Batch, n int) bool {
	ok := l.typ.Kind == variant.KindDate
	if t.ID == variant.TypeInt {
		ok = l.typ.Kind == variant.KindInt8 || l.typ.Kind == variant.KindInt16 || l.typ.Kind == variant.KindInt32
	}
	if n > 0 && !ok {
		return false
	}
	dst := make([]int32, v.rows)
	copy(dst, b.Int32s[:n])
	v.data = arrow.Int32Traits.CastToBytes(dst)
	spreadWords(words32(v.data), b.Def, b.MaxDef, n)
	v.set = func(i int, s *variant.Scalar) { dst[i] = int32(s.Int) }
	return true
}

// decimals widens coefficients; it does not change a scale.
func (v *vector) decimals(l *layout, t *variant.Type, b *leaf.Batch, n int) bool {
	dst := make([]decimal128.Num, v.rows)
	if n > 0 && (l.typ.Scale != t.Scale || l.typ.Precision > t.Precision) {
		return false
	}
	switch {
	case n == 0:
	case l.typ.Kind == variant.KindDecimal4:
		for i, x := range b.Int32s[:n] {
			dst[i] = decimal128.FromI64(int64(x))
		}
	case l.typ.Kind == variant.KindDecimal8:
		for i, x := range b.Int64s[:n] {
			dst[i] = decimal128.FromI64(x)
		}
	default:
		return false
	}
	spread(dst, b.Def, b.MaxDef, n)
	v.data = arrow.Decimal128Traits.CastToBytes(dst)
	v.set = func(i int, s *variant.Scalar) { dst[i] = decimal128.New(s.Hi, uint64(s.Int)) }
	return true
}

func (v *vector) bools(l *layout, b *leaf.Batch, n int) bool {
	if n > 0 && l.typ.Kind != variant.KindBool {
		return false
	}
	dst := make([]byte, (v.rows+7)/8)
	set := func(i int, x bool) {
		if x {
			dst[i>>3] |= 1 << (i & 7)
		}
	}
	k := 0
	for i := 0; k < n; i++ {
		if b.Def == nil || b.Def[i] == b.MaxDef {
			set(i, b.Bools[k])
			k++
		}
	}
	v.data = dst
	v.set = func(i int, s *variant.Scalar) { set(i, s.Int != 0) }
	return true
}

// doublePow10 are the powers of ten that a double holds exactly, so that a
// division of an exact coefficient is rounded once, as a decimal's conversion is.
var doublePow10 = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

func toDoubles(dst []float64, t Type, b *leaf.Batch) bool {
	switch t.Kind {
	case variant.KindDouble:
		copy(dst, b.Doubles)
	case variant.KindDecimal4:
		src, f := b.Int32s[:len(dst)], doublePow10[t.Scale]
		for i, x := range src {
			dst[i] = float64(x) / f
		}
	case variant.KindDecimal8:
		src, f := b.Int64s[:len(dst)], doublePow10[t.Scale]
		for i, x := range src {
			if x > 1<<53 || x < -1<<53 {
				return false
			}
			dst[i] = float64(x) / f
		}
	case variant.KindInt8, variant.KindInt16, variant.KindInt32:
		for i, x := range b.Int32s[:len(dst)] {
			dst[i] = float64(x)
		}
	case variant.KindInt64:
		for i, x := range b.Int64s[:len(dst)] {
			dst[i] = float64(x)
		}
	default:
		return false
	}
	return true
}

func toInts(dst []int64, t Type, b *leaf.Batch) bool {
	switch t.Kind {
	case variant.KindInt64:
		copy(dst, b.Int64s)
	case variant.KindInt8, variant.KindInt16, variant.KindInt32:
		for i, x := range b.Int32s[:len(dst)] {
			dst[i] = int64(x)
		}
	default:
		return false
	}
	return true
}

// texts is an Arrow array of strings or binaries from a leaf of the same kind.
func texts(dt arrow.DataType, b *leaf.Batch, rows int) (arrow.Array, error) {
	valid, n := validity(b.Def, b.MaxDef, rows)
	offsets := make([]int32, rows+1)
	size := 0
	k := 0
	for i := range rows {
		if b.Def == nil || b.Def[i] == b.MaxDef {
			size += b.Len(k)
			k++
		}
		offsets[i+1] = int32(size)
	}
	if size > maxArrowBytes {
		return nil, fmt.Errorf("shred: %d bytes of text in one batch; read fewer rows", size)
	}
	var data []byte
	if b.Dict == nil && n > 0 {
		data = make([]byte, size)
		copy(data, b.Data[b.Offsets[0]:])
	} else {
		data = make([]byte, 0, size)
		for k := range n {
			data = append(data, b.Bytes(k)...)
		}
	}
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(data)}
	if n < rows {
		buffers[0] = memory.NewBufferBytes(valid)
	}
	d := array.NewData(dt, rows, buffers, nil, rows-n, 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}

// maxArrowBytes is what 32-bit offsets can tell.
const maxArrowBytes = 1<<31 - 1
