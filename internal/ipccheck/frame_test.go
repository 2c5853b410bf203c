package ipccheck

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// stream is an Arrow stream with nested and dictionary columns, and one body
// beyond smallBody.
func stream(t *testing.T) []byte {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "l", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.BinaryTypes.String})), Nullable: true},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "v", Type: arrow.BinaryTypes.StringView, Nullable: true},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema))
	for _, rows := range []int{3, 0, 200_000} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for range rows {
			for _, f := range b.Fields() {
				f.AppendNull()
			}
		}
		if rows == 3 {
			require.NoError(t, b.UnmarshalJSON([]byte(`{"l": [{"x": "y"}], "d": "one", "v": "a string of some length", "f": 2}`)))
		}
		require.NoError(t, w.Write(b.NewRecordBatch()))
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func TestReaderPassesStreamsOn(t *testing.T) {
	in := stream(t)
	out, err := io.ReadAll(NewReader(bytes.NewReader(in)))
	require.NoError(t, err)
	require.Equal(t, in, out)
	r, err := ipc.NewReader(NewReader(bytes.NewReader(in)))
	require.NoError(t, err)
	rows := int64(0)
	for r.Next() {
		rows += r.RecordBatch().NumRows()
	}
	require.NoError(t, r.Err())
	require.Equal(t, int64(200_004), rows)
}

// What a prefix lets through is a prefix, and a message that is cut in its head
// does not begin.
func TestReaderOfPrefixes(t *testing.T) {
	in := stream(t)
	for n := 0; n < 3000; n++ {
		out, err := io.ReadAll(NewReader(bytes.NewReader(in[:n])))
		require.Equal(t, in[:len(out)], out)
		if err != nil {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
	}
}

// Lengths that nothing backs are errors before any memory is taken for them.
func TestReaderRefusesLies(t *testing.T) {
	in := stream(t)
	size := int(binary.LittleEndian.Uint32(in[4:]))
	head := in[8 : 8+size]
	_, err := Head(head)
	require.NoError(t, err)
	refused := 0
	for i := 0; i+4 <= len(head); i++ {
		b := bytes.Clone(head)
		binary.LittleEndian.PutUint32(b[i:], 0x7FFFFFFF)
		if _, err := Head(b); err != nil {
			refused++
		}
	}
	require.Greater(t, refused, 20)
	for _, lie := range []uint32{MaxMessage + 1, 1 << 31, 0xFFFFFFFE} {
		b := bytes.Clone(in)
		binary.LittleEndian.PutUint32(b[4:], lie)
		out, err := io.ReadAll(NewReader(bytes.NewReader(b)))
		require.Error(t, err)
		require.Empty(t, out)
	}
	for n := range head {
		_, _ = Head(head[:n]) // no panic
	}
}

// TestHead_OddVtable: the library reads a slot of which a table's vtable has but
// the first byte. Passed over here, its vector claimed gigabytes.
func TestHead_OddVtable(t *testing.T) {
	head := func(entries uint32) []byte {
		b := make([]byte, 48)
		put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
		put32(b, 20) // the message, and its vtable of 13 bytes
		put16(b[4:], 13)
		put16(b[4+messageType:], 4)
		put16(b[4+messageHeader:], 8)
		put16(b[4+messageMeta:], 12)
		put32(b[20:], 16)
		b[24] = headerBatch
		put32(b[28:], 40-28) // a record batch without fields
		put32(b[32:], 44-32) // the message's own metadata
		put16(b[36:], 4)
		put32(b[40:], 4)
		put32(b[44:], entries)
		return b
	}
	_, err := Head(head(0))
	require.NoError(t, err)
	_, err = Head(head(1))
	require.ErrorIs(t, err, ErrHead)
}
