package deletevec_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/deletevec"
)

// sets are random sets of positions, each a mixture of single positions and
// ranges, so that all three forms of containers occur.
func sets() [][]int64 {
	out := [][]int64{{0}, {math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, math.MaxUint32 + 1, 1 << 62, math.MaxInt64}}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 99))
		span := int64(1) << (4 + r.IntN(20))
		var set []int64
		for range 1 + r.IntN(6000) {
			set = append(set, r.Int64N(span))
		}
		for range r.IntN(20) {
			from := r.Int64N(span)
			for p := from; p < from+r.Int64N(3000); p++ {
				set = append(set, p)
			}
		}
		if seed%4 == 0 {
			for range r.IntN(50) {
				set = append(set, r.Int64N(8)<<32+r.Int64N(100_000))
			}
		}
		slices.Sort(set)
		out = append(out, slices.Compact(set))
	}
	return out
}

// TestRoaringReadsOurBytes: the vector inside a blob is a 64-bit portable
// Roaring bitmap; the Roaring library reads it as we meant it, and writes the
// same bytes once its containers are optimized.
func TestRoaringReadsOurBytes(t *testing.T) {
	for _, set := range sets() {
		var v deletevec.Vector
		require.NoError(t, v.AddMany(set))
		blob, err := deletevec.AppendBlob(nil, &v)
		require.NoError(t, err)

		theirs := roaring64.New()
		n, err := theirs.ReadFrom(bytes.NewReader(blob[8 : len(blob)-4]))
		require.NoError(t, err)
		require.Equal(t, int64(len(blob)-12), n)
		require.Equal(t, uint64(len(set)), theirs.GetCardinality())
		for i, x := range theirs.ToArray() {
			require.Equal(t, set[i], int64(x))
		}

		fresh := roaring64.New()
		for _, p := range set {
			fresh.Add(uint64(p))
		}
		fresh.RunOptimize()
		var buf bytes.Buffer
		_, err = fresh.WriteTo(&buf)
		require.NoError(t, err)
		require.Equal(t, buf.Len(), len(blob)-12, "same forms, same size")
	}
}

// TestIcebergGoRoundTrip: iceberg-go reads our blobs and we read its.
func TestIcebergGoRoundTrip(t *testing.T) {
	for _, set := range sets() {
		if set[len(set)-1]>>32 > 1000 {
			continue // iceberg-go fills an array up to the highest key
		}
		var v deletevec.Vector
		require.NoError(t, v.AddMany(set))
		ours, err := deletevec.AppendBlob(nil, &v)
		require.NoError(t, err)
		read, err := dv.DeserializeDV(ours, int64(len(set)))
		require.NoError(t, err)
		for _, p := range set {
			require.True(t, read.Contains(uint64(p)))
		}

		theirs, err := dv.SerializeDV(read)
		require.NoError(t, err)
		got, err := deletevec.ParseBlob(theirs)
		require.NoError(t, err)
		require.True(t, got.Equal(&v))

		fresh := dv.NewRoaringPositionBitmap()
		for _, p := range set {
			fresh.Set(uint64(p))
		}
		theirs, err = dv.SerializeDV(fresh)
		require.NoError(t, err)
		got, err = deletevec.ParseBlob(theirs)
		require.NoError(t, err)
		require.Equal(t, set, slices.Collect(got.All()))
	}
}
