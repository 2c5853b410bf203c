package deletevec

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table/dv"
	"github.com/stretchr/testify/require"
)

// The benchmarks of this file run this package and others on the same work, each
// through its own API, one after the other in the same process:
//
//	go test ./deletevec -run '^$' -bench Peers -cpu 1
//
// On a machine with other work only the least time of a run means much; it is the
// metric least-us.

type contender struct {
	name string
	run  func()
}

func race(b *testing.B, contenders []contender) {
	for _, c := range contenders {
		b.Run(c.name, func(b *testing.B) {
			least := time.Duration(math.MaxInt64)
			for b.Loop() {
				start := time.Now()
				c.run()
				least = min(least, time.Since(start))
			}
			b.ReportMetric(float64(least.Nanoseconds())/1e3, "least-us")
		})
	}
}

// peerSets are the sizes that are compared.
var peerSets = []struct {
	name string
	n    int
	rows int64
}{{"1M of 100M", 1_000_000, 100_000_000}, {"5M of 10M", 5_000_000, 10_000_000}}

// BenchmarkPeersBuild makes a vector from positions. The bitset is what it costs to
// set bits in memory for all rows, without making anything of them.
func BenchmarkPeersBuild(b *testing.B) {
	for _, set := range peerSets {
		positions := randomPositions(set.n, set.rows)
		for _, order := range []string{"unsorted", "sorted"} {
			if order == "sorted" {
				slices.Sort(positions)
			}
			unsigned := make([]uint64, len(positions))
			for i, p := range positions {
				unsigned[i] = uint64(p)
			}
			b.Run(set.name+" "+order, func(b *testing.B) {
				race(b, []contender{
					{"frazil", func() { _ = new(Vector).AddMany(positions) }},
					{"bitset", func() {
						words := make([]uint64, (set.rows+63)/64)
						for _, p := range positions {
							words[p>>6] |= 1 << (p & 63)
						}
					}},
					{"roaring AddMany", func() { roaring64.New().AddMany(unsigned) }},
					{"iceberg-go Set", func() {
						v := dv.NewRoaringPositionBitmap()
						for _, p := range unsigned {
							v.Set(p)
						}
					}},
				})
			})
		}
	}
}

// peerFile writes a Puffin file with one vector and opens it for both.
func peerFile(b testing.TB, n int, rows int64) (iceio.IO, string, iceberg.DataFile, Ref) {
	var file bytes.Buffer
	w := NewWriter(&file, WriterOptions{})
	blob, err := w.Add("data.parquet", vectorOf(b, randomPositions(n, rows)))
	require.NoError(b, err)
	size, err := w.Close()
	require.NoError(b, err)
	path := filepath.Join(b.TempDir(), "dv.puffin")
	fs := iceio.LocalFS{}
	require.NoError(b, fs.WriteFile(path, file.Bytes()))
	entry, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentPosDeletes, path, iceberg.PuffinFile,
		nil, nil, nil, blob.Cardinality, size)
	require.NoError(b, err)
	entry.ReferencedDataFile(blob.DataFile).ContentOffset(blob.Offset).ContentSizeInBytes(blob.Length)
	return fs, path, entry.Build(), Ref{File: path, Blob: blob, Rows: rows}
}

// BenchmarkPeersRead reads one vector from its file, which is opened for it.
// iceberg-go reads the footer of the Puffin file as well; DeserializeDV is its part
// behind that, from memory, and ParseBlob ours.
func BenchmarkPeersRead(b *testing.B) {
	for _, set := range peerSets {
		fs, path, entry, ref := peerFile(b, set.n, set.rows)
		blob := make([]byte, ref.Length)
		f, err := fs.Open(path)
		require.NoError(b, err)
		require.NoError(b, readFull(f, blob, ref.Offset))
		require.NoError(b, f.Close())
		var kept Reader
		open := func(read func(iceio.File) (*Vector, error)) func() {
			return func() {
				f, err := fs.Open(path)
				require.NoError(b, err)
				_, err = read(f)
				require.NoError(b, err)
				require.NoError(b, f.Close())
			}
		}
		b.Run(set.name, func(b *testing.B) {
			race(b, []contender{
				{"frazil Reader", open(func(f iceio.File) (*Vector, error) { return kept.Read(f, ref) })},
				{"frazil Read", open(func(f iceio.File) (*Vector, error) { return Read(f, ref) })},
				{"iceberg-go ReadDV", func() {
					_, err := dv.ReadDV(fs, entry)
					require.NoError(b, err)
				}},
				{"frazil ParseBlob", func() {
					_, err := ParseBlob(blob)
					require.NoError(b, err)
				}},
				{"iceberg-go DeserializeDV", func() {
					_, err := dv.DeserializeDV(blob, ref.Cardinality)
					require.NoError(b, err)
				}},
			})
		})
	}
}

// BenchmarkPeersOnePosition writes one Puffin file for one deleted row to disk.
func BenchmarkPeersOnePosition(b *testing.B) {
	fs := iceio.LocalFS{}
	path := filepath.Join(b.TempDir(), "dv.puffin")
	spec := func(int32) *iceberg.PartitionSpec { return iceberg.UnpartitionedSpec }
	race(b, []contender{
		{"frazil", func() {
			var v Vector
			require.NoError(b, v.Add(42))
			out, err := fs.Create(path)
			require.NoError(b, err)
			w := NewWriter(out, WriterOptions{})
			_, err = w.Add("data.parquet", &v)
			require.NoError(b, err)
			_, err = w.Close()
			require.NoError(b, err)
			require.NoError(b, out.Close())
		}},
		{"iceberg-go", func() {
			w := dv.NewDVWriter(fs, spec)
			require.NoError(b, w.Add("data.parquet", []int64{42}, 0, nil))
			_, err := w.Flush(context.Background(), path)
			require.NoError(b, err)
		}},
	})
}

// BenchmarkPeersFilter drops deleted rows from batches of one column; least-us is
// for 1,000,000 rows, so that a thousandth of it is nanoseconds a row. arrow-go is
// given its mask ready made.
func BenchmarkPeersFilter(b *testing.B) {
	const rows, size = 1_000_000, 8192
	mem := memory.NewGoAllocator()
	ctx := compute.WithAllocator(context.Background(), mem)
	for _, column := range []string{"float64", "string"} {
		batch := benchBatch(mem, column, rows)
		for _, deleted := range []int{1, rows / 100, rows / 10, rows / 2} {
			v := vectorOf(b, randomPositions(deleted, rows))
			keep := keepArray(mem, v, rows)
			b.Run(fmt.Sprintf("%s deleted %d", column, deleted), func(b *testing.B) {
				race(b, []contender{
					{"frazil", func() { filterAll(b, batch, v, size) }},
					{"arrow-go", func() {
						for at := int64(0); at < rows; at += size {
							to := min(at+size, rows)
							part, mask := batch.NewSlice(at, to), array.NewSlice(keep, at, to)
							out, err := compute.FilterRecordBatch(ctx, part, mask, compute.DefaultFilterOptions())
							require.NoError(b, err)
							out.Release()
							mask.Release()
							part.Release()
						}
					}},
				})
			})
		}
	}
}

// keepArray is the selection of the rows that v leaves.
func keepArray(mem memory.Allocator, v *Vector, rows int) *array.Boolean {
	bld := array.NewBooleanBuilder(mem)
	m := v.Mask(0, rows)
	for i := range rows {
		bld.Append(!m.IsDeleted(i))
	}
	return bld.NewBooleanArray()
}
