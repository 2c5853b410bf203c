package udf

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// spin works for a while on the processor.
func spin() *Scalar {
	return Scalar1("spin", Each(func(x float64) float64 {
		for range 2000 {
			x = math.Sqrt(x*x + 1)
		}
		return x
	}), ScalarOptions{})
}

func sleep() *Scalar {
	return Scalar1("sleep", func(out, a []float64) error {
		time.Sleep(2 * time.Millisecond)
		copy(out, a)
		return nil
	}, ScalarOptions{})
}

func profileOf(t *testing.T, stages ...Stage) (*Profiler, []Profile) {
	mem := checked(t)
	prof := new(Profiler)
	collect(t, plan(t, stages...), streamOf(mem, randomTrades(1, 2000), 100), Options{Workers: 2, Mem: mem, Profiler: prof})
	return prof, prof.Profiles()
}

// Rows, batches and bytes are exact; times are not tested beyond what must hold
// of any clock: sleeping takes wall time and no CPU time, work takes both.
func TestProfileCounts(t *testing.T) {
	_, ps := profileOf(t, With("a", spin(), "delta"), With("b", sleep(), "a"), runningSum(),
		GroupBy([]string{"desk"}, Count("n", "")))
	require.Len(t, ps, 4)
	order := map[string]int{"spin": 0, "sleep": 1, "running sum": 2, "group by": 3}
	slices.SortFunc(ps, func(a, b Profile) int { return order[a.Name] - order[b.Name] })
	for i := range ps {
		require.Contains(t, order, ps[i].Name)
		require.Equal(t, int64(20), ps[i].Batches)
		require.Equal(t, int64(2000), ps[i].Rows)
		require.Positive(t, ps[i].Wall)
	}
	// 100 values of 8 bytes and 13 of validity, rounded up to 64 by Arrow.
	require.Equal(t, int64(20*(832+64)), ps[0].Alloc)
	require.Equal(t, ps[0].Alloc, ps[1].Alloc)
	require.GreaterOrEqual(t, ps[0].Peak, int64(832+64))
	require.LessOrEqual(t, ps[0].Peak, ps[0].Alloc)
	require.GreaterOrEqual(t, ps[1].Wall, 20*2*time.Millisecond)
	if hasThreadClock {
		require.Positive(t, ps[0].CPU)
		require.Less(t, ps[1].CPU, ps[1].Wall)
	}
	require.Equal(t, time.Duration(-1), ps[2].CPU, "iterators may change threads")
}

// The time of a function is not in that of the function that feeds it.
func TestProfileSplitsNestedTime(t *testing.T) {
	twice := Table("twice", tradeSchema, func(_ *Call, b arrow.RecordBatch, emit func(arrow.RecordBatch) error) error {
		for range 2 {
			b.Retain()
			if err := emit(b); err != nil {
				return err
			}
		}
		return nil
	})
	_, ps := profileOf(t, twice, With("delta", sleep(), "delta"))
	require.Equal(t, int64(40), ps[1].Batches)
	require.GreaterOrEqual(t, ps[1].Wall, 40*2*time.Millisecond)
	require.Less(t, ps[0].Wall, ps[1].Wall)
}

func TestWriteTable(t *testing.T) {
	prof, _ := profileOf(t, With("a", spin(), "delta"), runningSum())
	var buf bytes.Buffer
	require.NoError(t, prof.WriteTable(&buf))
	lines := strings.Split(strings.TrimSpace(buf.String()), "\n")
	require.Len(t, lines, 3)
	require.Equal(t, []string{"function", "batches", "rows", "wall", "cpu", "rows/s", "alloc", "peak"}, strings.Fields(lines[0]))
	require.Equal(t, []string{"spin", "20", "2000"}, strings.Fields(lines[1])[:3])
	require.Contains(t, lines[2], " - ")
	require.NoError(t, new(Profiler).WriteTable(io.Discard))
}

// The pprof export is read with another Protocol Buffers decoder.
func TestWritePprof(t *testing.T) {
	prof, ps := profileOf(t, With("a", spin(), "delta"), With("b", double(), "a"))
	var buf bytes.Buffer
	require.NoError(t, prof.WritePprof(&buf))
	zr, err := gzip.NewReader(&buf)
	require.NoError(t, err)
	b, err := io.ReadAll(zr)
	require.NoError(t, err)
	var texts []string
	var samples, types, functions [][]byte
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		require.Positive(t, n)
		if kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b[n:])
			switch field {
			case profileSampleType:
				types = append(types, v)
			case profileSample:
				samples = append(samples, v)
			case profileFunction:
				functions = append(functions, v)
			case profileStrings:
				texts = append(texts, string(v))
			}
		}
		n += protowire.ConsumeFieldValue(field, kind, b[n:])
		b = b[n:]
	}
	require.Empty(t, texts[0])
	require.Len(t, types, 5)
	require.Len(t, samples, 2)
	require.Equal(t, "rows", texts[varints(t, types[1])[0]])
	require.Equal(t, "spin", texts[varints(t, functions[0])[1]])
	values := varints(t, samples[0])
	require.Equal(t, []uint64{1, uint64(ps[0].Batches), uint64(ps[0].Rows)}, values[:3])
	require.Equal(t, uint64(ps[0].Wall), values[5])
}

func varints(t *testing.T, b []byte) []uint64 {
	var out []uint64
	for len(b) > 0 {
		_, kind, n := protowire.ConsumeTag(b)
		require.Equal(t, protowire.VarintType, kind)
		x, m := protowire.ConsumeVarint(b[n:])
		out = append(out, x)
		b = b[n+m:]
	}
	return out
}

// Measuring nothing costs nothing: without a profiler no clock is read.
func TestNilProfiler(t *testing.T) {
	var s *stats
	m := s.start()
	m.pause()
	m.resume()
	m.stop()
	s.rowsIn(1)
	require.Nil(t, (*Profiler)(nil).stats("x"))
	for b, err := range plan(t, With("x", double(), "delta")).Run(context.Background(), streamOf(nil, nil, 1), Options{}) {
		require.NoError(t, err)
		b.Release()
	}
}
