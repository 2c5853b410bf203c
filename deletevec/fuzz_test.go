package deletevec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// allocated returns the bytes that f takes from the heap.
func allocated(f func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	f()
	metrics.Read(sample)
	return sample[0].Value.Uint64() - before
}

// slack is what errors and the readers themselves may take whatever the input.
const slack = 64 << 10

// FuzzParseBlob mutates blobs. The frame is repaired in one of two tries, so
// that the mutation reaches the structure. Bytes are refused or give a vector
// that is a set: ascending, as large as it says, and equal after encoding.
func FuzzParseBlob(f *testing.F) {
	for _, positions := range shapes() {
		var v Vector
		require.NoError(f, v.AddMany(positions))
		b, err := AppendBlob(nil, &v)
		require.NoError(f, err)
		if len(b) < 20_000 {
			f.Add(b)
		}
	}
	f.Add(frame(directory(1<<62, 0, bitmapOf(1))))
	f.Add(frame(directory(1, 0, runsOf(20, 0, 9, 9, 9))))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkBlob(t, b)
		if len(b) >= minBlob {
			b = slices.Clone(b)
			copy(b[4:], blobMagic)
			binary.BigEndian.PutUint32(b, uint32(len(b)-8))
			binary.BigEndian.PutUint32(b[len(b)-4:], crc32.ChecksumIEEE(b[4:len(b)-4]))
			checkBlob(t, b)
		}
	})
}

func checkBlob(t *testing.T, b []byte) {
	var v *Vector
	var err error
	size := allocated(func() { v, err = ParseBlob(b) })
	require.LessOrEqual(t, size, uint64(64*len(b)+slack))
	if err != nil {
		require.ErrorIs(t, err, ErrCorrupt)
		return
	}
	n, last := int64(0), int64(-1)
	for p := range v.All() {
		if n == 200_000 { // runs may stand for many times as many
			n = v.Cardinality()
			break
		}
		if p <= last || n < 1000 && !v.Contains(p) {
			t.Fatalf("position %d after %d, contained: %v", p, last, v.Contains(p))
		}
		last = p
		n++
	}
	require.Equal(t, n, v.Cardinality())
	again, err := AppendBlob(nil, v)
	require.NoError(t, err)
	// A bitmap of runs has a shorter head than one without.
	require.LessOrEqual(t, len(again), 2*len(b))
	w, err := ParseBlob(again)
	require.NoError(t, err)
	require.True(t, v.Equal(w))
	v.Mask(max(0, last-100), 200)
}

// FuzzReadFooter mutates whole Puffin files.
func FuzzReadFooter(f *testing.F) {
	file, _ := smallPuffin(f)
	f.Add(file)
	plain := footerOf(f, func(*blobJSON) {})
	f.Add(withFooter(f, lz4Frame(f, plain), flagLZ4))
	f.Add(withFooter(f, `{"blobs":[]}`, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		var blobs []Blob
		var err error
		// An LZ4 frame may ask for one block buffer of 4 MiB and a copy.
		const lz4Buffers = 10 << 20
		size := allocated(func() { blobs, err = ReadFooter(bytes.NewReader(b), int64(len(b))) })
		require.LessOrEqual(t, size, uint64(64*len(b)+slack+lz4Buffers))
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		for _, blob := range blobs {
			if _, err := Read(bytes.NewReader(b), Ref{Blob: blob}); err != nil {
				require.ErrorIs(t, err, ErrCorrupt)
			}
		}
		if err := Verify(bytes.NewReader(b), int64(len(b))); err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
		}
	})
}
