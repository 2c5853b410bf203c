package pq

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

// TestBitPackedLevels is the example of Encodings.md: 0 to 7 in three bits.
func TestBitPackedLevels(t *testing.T) {
	packed := []byte{0b00000101, 0b00111001, 0b01110111}
	l := &levelReader{highest: 7}
	rest, err := l.start(padded(append(packed, 42)), encBitPacked, 7, 8)
	require.NoError(t, err)
	require.Equal(t, []byte{42}, rest)
	got := make([]uint8, 8)
	require.NoError(t, l.read(got[:3]))
	require.NoError(t, l.read(got[3:]))
	require.Equal(t, []uint8{0, 1, 2, 3, 4, 5, 6, 7}, got)
	require.ErrorIs(t, l.read(got[:1]), ErrCorrupt)
	_, err = l.start(padded(packed[:2]), encBitPacked, 7, 8)
	require.ErrorIs(t, err, ErrCorrupt)
	_, err = l.start(padded(packed), encBitPacked, 6, 8)
	require.NoError(t, err)
	require.ErrorIs(t, l.read(got), ErrCorrupt, "7 is above 6")
	_, err = l.start(nil, encDelta, 1, 1)
	require.ErrorIs(t, err, ErrUnsupported)
}

// assembleOne makes an array of one leaf's values, with a null after the first.
func assembleOne(t *testing.T, n *leaf.Node, fill func(b *leaf.Batch)) (arrow.Array, error) {
	t.Helper()
	n.Name, n.Repetition = "x", leaf.Optional
	b := &leaf.Batch{Info: leaf.Info{Node: n, Path: []string{"x"}, MaxDef: 1}, Rows: 3, Slots: 3, Nulls: 1, Def: []uint8{1, 0, 1}}
	fill(b)
	a, err := NewAssembler(n, memory.DefaultAllocator)
	require.NoError(t, err)
	require.Equal(t, "x", a.Field().Name)
	return a.Assemble([]*leaf.Batch{b}, 3)
}

// TestAssembler_OldTimes: milliseconds and INT96 become microseconds.
func TestAssembler_OldTimes(t *testing.T) {
	day := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	int96 := func(julian uint32, nanos uint64) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, nanos), julian)
	}
	for _, x := range []struct {
		name string
		node *leaf.Node
		fill func(b *leaf.Batch)
		want string
	}{
		{"time", testNode("x", 0, leaf.Int32, timeNode(leaf.Time, leaf.Millis, true)), func(b *leaf.Batch) { b.Int32s = []int32{1, 86_399_999} }, ""},
		{"timestamp", testNode("x", 0, leaf.Int64, timeNode(leaf.Timestamp, leaf.Millis, false)), func(b *leaf.Batch) { b.Int64s = []int64{-1, day.UnixMilli()} }, "[-1000 (null) 1782864000000000]"},
		{"INT96", testNode("x", 0, leaf.Int96), func(b *leaf.Batch) {
			// 2026-07-01 is Julian day 2461223.
			b.Data = append(int96(2_440_588, 1_999), int96(2_461_223, 5_000)...)
			b.Offsets = []uint32{0, 12, 24}
		}, "[1 (null) 1782864000000005]"},
	} {
		arr, err := assembleOne(t, x.node, x.fill)
		require.NoError(t, err, x.name)
		if ts, ok := arr.(*array.Timestamp); ok {
			var text []string
			for i, v := range ts.TimestampValues() {
				if ts.IsNull(i) {
					text = append(text, "(null)")
				} else {
					text = append(text, strconv.FormatInt(int64(v), 10))
				}
			}
			require.Equal(t, x.want, "["+strings.Join(text, " ")+"]", x.name)
			continue
		}
		require.Equal(t, []int64{1000, 0, 86_399_999_000}, timesOf(arr), x.name)
	}
	_, err := assembleOne(t, testNode("x", 0, leaf.Int64, timeNode(leaf.Timestamp, leaf.Millis, true)), func(b *leaf.Batch) { b.Int64s = []int64{0, math.MaxInt64} })
	require.ErrorIs(t, err, ErrCorrupt)
	_, err = assembleOne(t, testNode("x", 0, leaf.Int96), func(b *leaf.Batch) {
		b.Data, b.Offsets = append(int96(0, 0), int96(math.MaxUint32, 0)...), []uint32{0, 12, 24}
	})
	require.ErrorIs(t, err, ErrCorrupt)
}

func timesOf(arr arrow.Array) []int64 {
	var out []int64
	for _, v := range arr.(*array.Time64).Time64Values() {
		out = append(out, int64(v))
	}
	return out
}

// TestAssembler_Corrupt: batches that contradict each other or the type.
func TestAssembler_Corrupt(t *testing.T) {
	_, err := assembleOne(t, testNode("x", 0, leaf.Bytes, decimalNode(leaf.Bytes, 0, 20, 0)), func(b *leaf.Batch) {
		b.Data, b.Offsets = []byte(strings.Repeat("\x01", 17)+"\x02"), []uint32{0, 17, 18}
	})
	require.ErrorIs(t, err, ErrCorrupt, "17 significant bytes")
	arr, err := assembleOne(t, testNode("x", 0, leaf.Bytes, decimalNode(leaf.Bytes, 0, 20, 0)), func(b *leaf.Batch) {
		b.Data, b.Offsets = []byte(strings.Repeat("\x00", 16)+"\x01"+"\xff\x85"), []uint32{0, 17, 19}
	})
	require.NoError(t, err)
	require.Equal(t, "-123", arr.(*array.Decimal128).Value(2).BigInt().String())

	st := testGroup("s", leaf.Optional, testNode("a", leaf.Optional, leaf.Int32), testNode("l", leaf.Repeated, leaf.Int32))
	a, err := NewAssembler(st, memory.DefaultAllocator)
	require.NoError(t, err)
	leaves := (&leaf.Node{Children: []*leaf.Node{st}}).Leaves()
	one := &leaf.Batch{Info: leaves[0], Rows: 2, Slots: 2, Nulls: 2, Def: []uint8{1, 0}}
	two := &leaf.Batch{Info: leaves[1], Rows: 3, Slots: 3, Nulls: 3, Def: []uint8{1, 0, 0}, Rep: []uint8{0, 0, 0}}
	_, err = a.Assemble([]*leaf.Batch{one, two}, 2)
	require.ErrorIs(t, err, ErrCorrupt, "2 rows and 3")
	_, err = a.Assemble([]*leaf.Batch{one}, 2)
	require.ErrorIs(t, err, ErrInput)
}

// panickyReader stands for a library that panics on foreign bytes.
type panickyReader struct{}

func (panickyReader) ReadAt([]byte, int64) (int, error) { panic("index out of range") }

// TestPanicIsCorrupt: whatever panics below comes back as an error.
func TestPanicIsCorrupt(t *testing.T) {
	_, err := Open(panickyReader{}, 1000, ReaderOptions{Name: "f"})
	require.ErrorIs(t, err, ErrCorrupt)
	require.EqualError(t, err, "pq: f: corrupt Parquet file: panic: index out of range")
}

// TestColumn_Misuse: ordinals and row counts outside of the file.
func TestColumn_Misuse(t *testing.T) {
	root, g := flatColumns(1, 10)
	data, _ := writeTest(t, root, WriterOptions{}, 10, g)
	f := openTest(t, data, ReaderOptions{})
	for _, at := range [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
		_, err := f.Column(at[0], at[1])
		require.ErrorIs(t, err, ErrInput)
	}
	c, err := f.Column(0, 0)
	require.NoError(t, err)
	require.ErrorIs(t, c.Skip(11), ErrInput)
	require.ErrorIs(t, c.Read(&leaf.Batch{}, 11), ErrInput)
	require.ErrorIs(t, c.Read(&leaf.Batch{}, -1), ErrInput)
	require.NoError(t, c.Read(&leaf.Batch{}, 10), "misuse does no harm")
	require.NoError(t, c.Read(&leaf.Batch{}, 0))
	require.False(t, f.RowGroup(0).Column(0).AllNull())
}

// TestStriper_Reset: a striper is used again for the next row group.
func TestStriper_Reset(t *testing.T) {
	n, err := NodeOf(arrow.Field{Name: "x", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true})
	require.NoError(t, err)
	s, err := NewStriper(n)
	require.NoError(t, err)
	arr, _, err := array.FromJSON(memory.DefaultAllocator, arrow.ListOf(arrow.PrimitiveTypes.Int32), strings.NewReader("[[1,2],null,[]]"))
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, s.Append(arr))
		require.Equal(t, 3, s.Rows())
		require.Equal(t, []int32{1, 2}, s.Buffers()[0].Int32s)
		require.Equal(t, []uint8{3, 3, 0, 1}, expand(&s.Buffers()[0].Def))
		require.Equal(t, []uint8{0, 1, 0, 0}, expand(&s.Buffers()[0].Rep))
		s.Reset()
		require.Zero(t, s.Rows())
	}
}
