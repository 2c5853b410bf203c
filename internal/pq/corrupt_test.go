package pq

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

// smallFile is a file with every type, dictionaries, several pages, indexes and
// a bloom filter, in a few kilobytes.
func smallFile(t testing.TB, codec Codec) []byte {
	t.Helper()
	root := everyType()
	var g []*leaf.Buffer
	r := rand.New(rand.NewPCG(21, uint64(codec)))
	for i, in := range root.Leaves() {
		g = append(g, testBuffer(r, in, 12, []int{0, 3}[i%2], []float64{0, 0.2, 0.5}[i%3]))
	}
	data, _ := writeTest(t, root, WriterOptions{Codec: codec, PageRows: 7, BloomFilters: []string{"r2", "o7"}}, 12, g)
	return data
}

var smallLimits = ReaderOptions{MaxPageBytes: 1 << 20, MaxFooterBytes: 1 << 20, SkipChecksums: true, FooterHint: 100}

// readEverything uses every part of a file that may be corrupt.
func readEverything(data []byte, opts ReaderOptions) error {
	f, err := Open(bytes.NewReader(data), int64(len(data)), opts)
	if err != nil {
		return err
	}
	var errs []error
	for g := range min(f.RowGroups(), 3) {
		j := 0
		for _, n := range f.Schema().Children {
			a, err := NewAssembler(n, memory.DefaultAllocator)
			errs = append(errs, err)
			count := len((&leaf.Node{Children: []*leaf.Node{n}}).Leaves())
			errs = append(errs, readGroupColumn(f, g, j, count, a))
			j += count
		}
	}
	return errors.Join(errs...)
}

func readGroupColumn(f *File, g, from, count int, a *Assembler) error {
	var errs []error
	rows := int(min(f.RowGroup(g).Rows, 1000))
	var batches []*leaf.Batch
	for j := from; j < from+count; j++ {
		_, err := f.PageIndex(g, j)
		errs = append(errs, err)
		_, err = f.MayContain(g, j, []byte{1, 2, 3, 4})
		errs = append(errs, err)
		b := &leaf.Batch{}
		c, err := f.Column(g, j)
		if err == nil {
			err = c.Read(b, rows)
		}
		errs = append(errs, err)
		batches = append(batches, b)
		if c, err := f.Column(g, j); err == nil && rows > 3 {
			errs = append(errs, c.Skip(rows-3), c.Read(&leaf.Batch{}, 2))
		}
	}
	if err := errors.Join(errs...); err != nil || a == nil {
		return err
	}
	arr, err := a.Assemble(batches, rows)
	if err == nil {
		arr.Release()
	}
	return err
}

// requireHonest accepts success and errors that name the file's fault.
func requireHonest(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	require.NotContains(t, err.Error(), "panic:")
	for _, one := range strings.Split(err.Error(), "\n") {
		ok := strings.Contains(one, ErrCorrupt.Error()) || strings.Contains(one, ErrUnsupported.Error()) || strings.Contains(one, ErrInput.Error())
		require.True(t, ok, "%s", one)
	}
}

// TestCorrupt_Bytes changes bytes all over small files.
func TestCorrupt_Bytes(t *testing.T) {
	for codec, step := range map[Codec]int{Uncompressed: 5, Zstd: 29} {
		data := smallFile(t, codec)
		require.NoError(t, readEverything(data, smallLimits))
		for i := 0; i < len(data); i += step {
			bad := bytes.Clone(data)
			bad[i] ^= []byte{0x01, 0x80, 0xff}[i%3]
			requireHonest(t, readEverything(bad, smallLimits))
		}
	}
}

// TestCorrupt_Prefixes: no strict prefix of a file is a file.
func TestCorrupt_Prefixes(t *testing.T) {
	data := smallFile(t, Zstd)
	for n := range data {
		_, err := Open(bytes.NewReader(data[:n]), int64(n), ReaderOptions{})
		require.ErrorIs(t, err, ErrCorrupt)
	}
	// A size that is not the file's.
	_, err := Open(bytes.NewReader(data), int64(len(data)+10), ReaderOptions{})
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestCorrupt_Checksum: a flipped bit in a page is found by its checksum.
func TestCorrupt_Checksum(t *testing.T) {
	root, g := flatColumns(1, 100)
	data, _ := writeTest(t, root, WriterOptions{Codec: Uncompressed, PlainOnly: true}, 100, g)
	data[200] ^= 4
	f := openTest(t, data, ReaderOptions{Name: "x.parquet"})
	c, err := f.Column(0, 0)
	require.NoError(t, err)
	err = c.Read(&leaf.Batch{}, 100)
	require.ErrorIs(t, err, ErrCorrupt)
	require.EqualError(t, err, "pq: x.parquet: row group 0: column c0: corrupt Parquet file: a page's checksum does not match")
	require.Error(t, c.Read(&leaf.Batch{}, 1), "the error is sticky")
	f = openTest(t, data, ReaderOptions{SkipChecksums: true})
	c, err = f.Column(0, 0)
	require.NoError(t, err)
	require.NoError(t, c.Read(&leaf.Batch{}, 100))
}

// padded gives the decoder the slack that a page buffer has, filled with ones
// so that reading from it shows.
func padded(b []byte) []byte {
	out := append(bytes.Clone(b), bytes.Repeat([]byte{0xff}, slack)...)
	return out[:len(b)]
}

// TestCorrupt_ValuePrefixes: every strict prefix of encoded values fails.
func TestCorrupt_ValuePrefixes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	ints := make([]int64, 300)
	index := make([]uint32, 304) // whole groups of eight, so that no padding is cut
	for i := range ints {
		ints[i] = int64(r.Uint64() >> r.UintN(64))
	}
	for i := range index {
		index[i] = uint32(r.IntN(1 << (1 + r.UintN(10))))
	}
	delta := appendDelta(nil, ints)
	got, rest, err := decodeDelta[int64](nil, padded(delta), len(ints))
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, ints, got)
	for n := range delta {
		_, _, err := decodeDelta[int64](nil, padded(delta[:n]), len(ints))
		require.ErrorIs(t, err, ErrCorrupt, "prefix %d", n)
	}
	_, _, err = decodeDelta[int64](nil, padded(delta), len(ints)-1)
	require.ErrorIs(t, err, ErrCorrupt)

	hybrid := appendIndexes(nil, index, 11)
	out := make([]int32, len(index))
	h := hybridReader{src: padded(hybrid), width: 11}
	require.NoError(t, h.indexes(out, 1<<11))
	for n := range hybrid {
		h := hybridReader{src: padded(hybrid[:n]), width: 11}
		require.ErrorIs(t, h.indexes(out, 1<<11), ErrCorrupt, "prefix %d", n)
	}
}

// TestDelta_WidthsAndOverflow covers every width and deltas that wrap around,
// against arithmetic on the values themselves.
func TestDelta_WidthsAndOverflow(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for width := range uint(65) {
		for _, n := range []int{0, 1, 2, 31, 32, 33, 128, 129, 130, 500} {
			ints := make([]int64, n)
			narrow := make([]int32, n)
			for i := range ints {
				if width > 0 {
					ints[i] = int64(r.Uint64() >> (64 - width))
				}
				narrow[i] = int32(ints[i])
			}
			got, _, err := decodeDelta[int64](nil, padded(appendDelta(nil, ints)), n)
			require.NoError(t, err)
			require.True(t, slices.Equal(ints, got))
			enc := appendDelta(nil, narrow)
			require.LessOrEqual(t, len(enc), 20+n*4+(n/128+1)*(10+4)+128*4)
			got32, _, err := decodeDelta[int32](nil, padded(enc), n)
			require.NoError(t, err)
			require.True(t, slices.Equal(narrow, got32))
		}
	}
}

// TestCorrupt_HugeCounts: counts that a few bytes claim are refused before they
// size an allocation.
func TestCorrupt_HugeCounts(t *testing.T) {
	huge := binary.AppendUvarint(nil, 128)
	huge = binary.AppendUvarint(huge, 4)
	huge = binary.AppendUvarint(huge, 1<<31-1)
	huge = append(huge, 0)
	_, _, err := decodeDelta[int64](nil, padded(huge), 1<<31-1)
	require.ErrorIs(t, err, ErrCorrupt)

	for _, list := range []byte{thriftList, thriftSet} {
		r := &thriftReader{b: []byte{0xf0 | thriftStruct, 0xff, 0xff, 0xff, 0xff, 0x07, 0}}
		_, n := r.list(list)
		require.Zero(t, n)
		require.ErrorIs(t, r.err, errThriftShort)
	}
	deep := bytes.Repeat([]byte{0x10 | thriftStruct}, 100)
	_, err = decodeFooter(deep, 1000)
	require.ErrorIs(t, err, ErrCorrupt)

	require.False(t, plausibleRatio(Snappy, 10, 1000))
	require.False(t, plausibleRatio(Gzip, 10, 100_000))
	require.False(t, plausibleRatio(Uncompressed, 10, 11))
	require.True(t, plausibleRatio(Zstd, 10, 100_000))
}

// TestDecompress_Sizes: a page that does not become exactly what its header
// says is corrupt, in every codec.
func TestDecompress_Sizes(t *testing.T) {
	text := []byte(strings.Repeat("frazil ", 100))
	for _, codec := range []Codec{Zstd, Uncompressed, Snappy, Gzip, LZ4Raw} {
		c := compressor{codec: codec, level: 1}
		packed, err := c.append(nil, text)
		require.NoError(t, err)
		dst := make([]byte, len(text))
		require.NoError(t, decompress(codec, dst, packed))
		require.Equal(t, text, dst)
		for _, n := range []int{0, 1, len(text) - 1, len(text) + 1} {
			require.ErrorIs(t, decompress(codec, make([]byte, n), packed), ErrCorrupt, "%v %d", codec, n)
		}
		for n := range len(packed) {
			require.ErrorIs(t, decompress(codec, dst, packed[:n]), ErrCorrupt, "%v prefix %d", codec, n)
		}
		empty, err := c.append(nil, nil)
		require.NoError(t, err)
		require.NoError(t, decompress(codec, nil, empty), "%v", codec)
	}
}

// TestDecompress_HadoopLZ4 covers the deprecated codec: frames, one or several
// blocks in a frame, and the raw block of writers that did not frame.
func TestDecompress_HadoopLZ4(t *testing.T) {
	text := []byte(strings.Repeat("frazil ice ", 50))
	c := compressor{codec: LZ4Raw}
	block := func(b []byte) []byte {
		packed, err := c.append(nil, b)
		require.NoError(t, err)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(packed))), packed...)
	}
	size := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	raw := block(text)[4:]
	for name, packed := range map[string][]byte{
		"one frame":  append(size(len(text)), block(text)...),
		"two frames": append(append(size(100), block(text[:100])...), append(size(len(text)-100), block(text[100:])...)...),
		"two blocks": append(size(len(text)), append(block(text[:300]), block(text[300:])...)...),
		"raw":        raw,
	} {
		dst := make([]byte, len(text))
		require.NoError(t, decompress(LZ4, dst, packed), name)
		require.Equal(t, text, dst, name)
	}
	require.ErrorIs(t, decompress(LZ4, make([]byte, len(text)), []byte{0, 0, 0, 9, 0, 0, 0, 200, 1}), ErrCorrupt)
}

// TestOpen_Refuses names what is not supported.
func TestOpen_Refuses(t *testing.T) {
	data := smallFile(t, Zstd)
	encrypted := append(bytes.Clone(data[:len(data)-4]), "PARE"...)
	_, err := Open(bytes.NewReader(encrypted), int64(len(encrypted)), ReaderOptions{Name: "secret"})
	require.ErrorIs(t, err, ErrUnsupported)
	require.EqualError(t, err, "pq: secret: unsupported Parquet feature: the footer is encrypted")
	_, err = Open(failingReader{}, 100, ReaderOptions{})
	require.ErrorIs(t, err, io.ErrClosedPipe, "an error of the reader is not the file's fault")
	require.NotErrorIs(t, err, ErrCorrupt)
	_, err = Open(bytes.NewReader(data), int64(len(data)), ReaderOptions{MaxFooterBytes: 10})
	require.ErrorIs(t, err, ErrCorrupt)
}

type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// FuzzFile mutates whole files; the checksums are off, so that pages are
// reached.
func FuzzFile(f *testing.F) {
	for _, codec := range []Codec{Uncompressed, Zstd, Snappy, Gzip, LZ4Raw} {
		f.Add(smallFile(f, codec))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		requireHonest(t, readEverything(data, smallLimits))
	})
}

// FuzzPage mutates one uncompressed page body under each value encoding.
func FuzzPage(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 3, 5, 1, 2, 3, 4}, byte(0), byte(leaf.Int32), uint16(3))
	f.Add(appendDelta(nil, []int32{1, 5, 9}), byte(encDelta), byte(leaf.Int32), uint16(3))
	f.Add(appendDelta(nil, []int32{1, 5, 9}), byte(encDeltaLength), byte(leaf.Bytes), uint16(3))
	f.Add(appendDelta(nil, []int32{0, 1, 0}), byte(encDeltaBytes), byte(leaf.Bytes), uint16(3))
	f.Fuzz(func(t *testing.T, body []byte, enc, typ byte, slots uint16) {
		in := leaf.Info{Node: &leaf.Node{Name: "x", Type: leaf.Bool + leaf.Type(typ%8), Width: 3}, Path: []string{"x"}, MaxDef: 1 + enc%3, MaxRep: typ % 2}
		c := &ColumnReader{
			file: &File{opts: smallLimits.withDefaults()}, chunk: &Chunk{Slots: 1 << 20, Codec: Uncompressed}, info: in, rows: 1 << 16,
		}
		c.page.slots = int(slots)
		c.dict = dictionary{loaded: true, n: 1, int32s: []int32{1}, int64s: []int64{1}, floats: []float32{1}, doubles: []float64{1}}
		if typ := in.Node.Type; typ == leaf.Bytes || typ == leaf.Fixed || typ == leaf.Int96 {
			c.dict.bytes = fixedDict(make([]byte, plainWidth(in.Node)), 1, plainWidth(in.Node))
		}
		h := &pageHeader{enc: encoding(enc % 10), defEnc: encRLE, repEnc: encBitPacked}
		err := c.page.startV1(h, &in, padded(body))
		if err == nil {
			err = c.page.startValues(h.enc, &in, 1<<20)
		}
		if err == nil && in.MaxRep > 0 {
			rep := make([]uint8, slots)
			err = c.page.rep.read(rep)
		}
		if err == nil {
			var b leaf.Batch
			resetBatch(&b, in)
			err = c.readSlots(&b, int(slots))
		}
		requireHonest(t, err)
	})
}

// TestError_OneLine: a name out of a file once broke the message in two.
func TestError_OneLine(t *testing.T) {
	err := &Error{RowGroup: 2, Column: "a.e\n\xff", Err: ErrCorrupt}
	require.Equal(t, `pq: row group 2: column "a.e\n\xff": corrupt Parquet file`, err.Error())
	err.Column = "a.größe"
	require.Equal(t, "pq: row group 2: column a.größe: corrupt Parquet file", err.Error())
}
