package pq

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
)

// oracleColumn reads a column chunk with arrow-go's own low-level reader.
func oracleColumn(r *file.Reader, group, j int, in leaf.Info) (*leaf.Buffer, error) {
	c, err := r.RowGroup(group).Column(j)
	if err != nil {
		return nil, err
	}
	b := &leaf.Buffer{Info: in}
	n := int64(512)
	def, rep := make([]int16, n), make([]int16, n)
	for c.HasNext() {
		slots, err := oracleBatch(c, b, def, rep)
		if err != nil {
			return nil, err
		}
		if slots == 0 {
			break
		}
		for i := range slots {
			if in.MaxDef > 0 {
				b.Def.Append(uint8(def[i]), 1)
			}
			if in.MaxRep > 0 {
				b.Rep.Append(uint8(rep[i]), 1)
			}
		}
		b.Slots += int(slots)
	}
	return b, c.Err()
}

func oracleBatch(c file.ColumnChunkReader, b *leaf.Buffer, def, rep []int16) (slots int64, err error) {
	n := int64(len(def))
	values := 0
	switch c := c.(type) {
	case *file.BooleanColumnChunkReader:
		v := make([]bool, n)
		slots, values, err = c.ReadBatch(n, v, def, rep)
		b.Bools = append(b.Bools, v[:values]...)
	case *file.Int32ColumnChunkReader:
		v := make([]int32, n)
		slots, values, err = c.ReadBatch(n, v, def, rep)
		b.Int32s = append(b.Int32s, v[:values]...)
	case *file.Int64ColumnChunkReader:
		v := make([]int64, n)
		slots, values, err = c.ReadBatch(n, v, def, rep)
		b.Int64s = append(b.Int64s, v[:values]...)
	case *file.Float32ColumnChunkReader:
		v := make([]float32, n)
		slots, values, err = c.ReadBatch(n, v, def, rep)
		b.Floats = append(b.Floats, v[:values]...)
	case *file.Float64ColumnChunkReader:
		v := make([]float64, n)
		slots, values, err = c.ReadBatch(n, v, def, rep)
		b.Doubles = append(b.Doubles, v[:values]...)
	case *file.ByteArrayColumnChunkReader:
		v := make([]parquet.ByteArray, n)
		slots, values, err = c.ReadBatch(n, v, def, rep)
		for _, x := range v[:values] {
			b.AppendBytes(x)
		}
	case *file.FixedLenByteArrayColumnChunkReader:
		v := make([]parquet.FixedLenByteArray, n)
		slots, values, err = c.ReadBatch(n, v, def, rep)
		for _, x := range v[:values] {
			b.AppendBytes(x)
		}
	case *file.Int96ColumnChunkReader:
		v := make([]parquet.Int96, n)
		slots, values, err = c.ReadBatch(n, v, def, rep)
		for _, x := range v[:values] {
			b.AppendBytes(x[:])
		}
	}
	return slots, err
}

// TestWriter_ArrowGoReads writes random slots of every type and lets arrow-go's
// column readers tell what is in the file.
func TestWriter_ArrowGoReads(t *testing.T) {
	root := everyType()
	const rows = 700
	for _, opts := range []WriterOptions{{}, {Codec: Snappy, PageRows: 90}, {Codec: Gzip, PlainOnly: true}, {Codec: LZ4Raw, DictionaryBytes: -1}} {
		for _, distinct := range []int{0, 9} {
			t.Run(fmt.Sprintf("%+v/%d", opts, distinct), func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, uint64(distinct)))
				var g []*leaf.Buffer
				for i, in := range root.Leaves() {
					g = append(g, testBuffer(r, in, rows, distinct, []float64{0, 0.1, 0.6}[i%3]))
				}
				data, _ := writeTest(t, root, opts, rows, g)
				fr, err := file.NewParquetReader(bytes.NewReader(data))
				require.NoError(t, err)
				require.EqualValues(t, rows, fr.NumRows())
				for j, b := range g {
					got, err := oracleColumn(fr, 0, j, b.Info)
					require.NoError(t, err)
					requireSameBuffer(t, b, got)
				}
			})
		}
	}
}

// arrowGoFile writes random slots with arrow-go's column writers.
func arrowGoFile(t testing.TB, root *leaf.Node, rows int, g []*leaf.Buffer, props ...parquet.WriterProperty) []byte {
	t.Helper()
	var out bytes.Buffer
	node, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, arrowGoNodes(t, root), -1)
	require.NoError(t, err)
	w := file.NewParquetWriter(&out, node, file.WithWriterProps(parquet.NewWriterProperties(props...)))
	rg, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	for _, b := range g {
		c, err := rg.NextColumn()
		require.NoError(t, err)
		arrowGoColumn(t, c, b)
		require.NoError(t, c.Close())
	}
	require.NoError(t, rg.Close())
	require.NoError(t, w.Close())
	return out.Bytes()
}

func arrowGoNodes(t testing.TB, n *leaf.Node) schema.FieldList {
	t.Helper()
	var out schema.FieldList
	for _, c := range n.Children {
		rep := []parquet.Repetition{parquet.Repetitions.Required, parquet.Repetitions.Optional, parquet.Repetitions.Repeated}[c.Repetition]
		var node schema.Node
		var err error
		if c.Type == leaf.Group {
			node, err = schema.NewGroupNode(c.Name, rep, arrowGoNodes(t, c), -1)
		} else {
			typ := map[leaf.Type]parquet.Type{leaf.Bool: parquet.Types.Boolean, leaf.Int32: parquet.Types.Int32, leaf.Int64: parquet.Types.Int64, leaf.Int96: parquet.Types.Int96, leaf.Float: parquet.Types.Float, leaf.Double: parquet.Types.Double, leaf.Bytes: parquet.Types.ByteArray, leaf.Fixed: parquet.Types.FixedLenByteArray}[c.Type]
			node, err = schema.NewPrimitiveNode(c.Name, rep, typ, -1, int32(c.Width))
		}
		require.NoError(t, err)
		out = append(out, node)
	}
	return out
}

func arrowGoColumn(t testing.TB, c file.ColumnChunkWriter, b *leaf.Buffer) {
	t.Helper()
	int16s := func(l *leaf.Levels) []int16 {
		var out []int16
		for _, x := range expand(l) {
			out = append(out, int16(x))
		}
		return out
	}
	def, rep := int16s(&b.Def), int16s(&b.Rep)
	var err error
	switch c := c.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = c.WriteBatch(b.Bools, def, rep)
	case *file.Int32ColumnChunkWriter:
		_, err = c.WriteBatch(b.Int32s, def, rep)
	case *file.Int64ColumnChunkWriter:
		_, err = c.WriteBatch(b.Int64s, def, rep)
	case *file.Float32ColumnChunkWriter:
		_, err = c.WriteBatch(b.Floats, def, rep)
	case *file.Float64ColumnChunkWriter:
		_, err = c.WriteBatch(b.Doubles, def, rep)
	case *file.ByteArrayColumnChunkWriter:
		var v []parquet.ByteArray
		for i := range b.Values() {
			v = append(v, parquet.ByteArray(b.Data[b.Offsets[i]:b.Offsets[i+1]]))
		}
		_, err = c.WriteBatch(v, def, rep)
	case *file.FixedLenByteArrayColumnChunkWriter:
		var v []parquet.FixedLenByteArray
		for i := range b.Values() {
			v = append(v, parquet.FixedLenByteArray(b.Data[b.Offsets[i]:b.Offsets[i+1]]))
		}
		_, err = c.WriteBatch(v, def, rep)
	case *file.Int96ColumnChunkWriter:
		var v []parquet.Int96
		for i := range b.Values() {
			v = append(v, parquet.Int96(b.Data[b.Offsets[i]:b.Offsets[i+1]]))
		}
		_, err = c.WriteBatch(v, def, rep)
	}
	require.NoError(t, err)
}

// TestReader_ArrowGoWrites reads what arrow-go writes: every codec, page
// version and value encoding it has, dictionaries that overflow included.
func TestReader_ArrowGoWrites(t *testing.T) {
	root := everyType()
	const rows = 400
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4Raw}
	encodings := map[leaf.Type][]parquet.Encoding{
		leaf.Bool:   {parquet.Encodings.RLE, parquet.Encodings.Plain},
		leaf.Int32:  {parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.ByteStreamSplit},
		leaf.Int64:  {parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.ByteStreamSplit},
		leaf.Float:  {parquet.Encodings.ByteStreamSplit},
		leaf.Double: {parquet.Encodings.ByteStreamSplit},
		leaf.Bytes:  {parquet.Encodings.DeltaByteArray, parquet.Encodings.DeltaLengthByteArray},
		leaf.Fixed:  {parquet.Encodings.ByteStreamSplit},
	}
	variant := 0
	for _, codec := range codecs {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, mode := range []string{"dictionary", "overflow", "plain", "other"} {
				variant++
				t.Run(fmt.Sprintf("%v/v%d/%s", codec, version+1, mode), func(t *testing.T) {
					r := rand.New(rand.NewPCG(5, uint64(variant)))
					var g []*leaf.Buffer
					props := []parquet.WriterProperty{parquet.WithCompression(codec), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(400), parquet.WithBatchSize(50), parquet.WithDictionaryDefault(mode == "dictionary" || mode == "overflow"), parquet.WithStats(true)}
					if mode == "overflow" {
						props = append(props, parquet.WithDictionaryPageSizeLimit(300))
					}
					for i, in := range root.Leaves() {
						g = append(g, testBuffer(r, in, rows, map[string]int{"dictionary": 20}[mode], []float64{0, 0.1, 0.6}[i%3]))
						if e := encodings[in.Node.Type]; mode == "other" && e != nil {
							props = append(props, parquet.WithEncodingPath(parquet.ColumnPath(in.Path), e[i%len(e)]))
						}
					}
					f := openTest(t, arrowGoFile(t, root, rows, g, props...), ReaderOptions{})
					for j, b := range g {
						requireSameBuffer(t, b, readColumn(t, f, 0, j, 37))
					}
				})
			}
		}
	}
}

// TestReader_Conformance reads every Parquet file that other engines wrote for
// us and compares each column with what arrow-go reads. Provenance: the README
// files of those folders.
func TestReader_Conformance(t *testing.T) {
	shared := os.Getenv("FRAZIL_SHARED")
	if shared == "" {
		t.Skip("FRAZIL_SHARED is not set")
	}
	files := 0
	for _, dir := range []string{"parquet-testing", "conformance"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(shared, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".parquet") {
				return err
			}
			files++
			t.Run(strings.TrimPrefix(path, shared), func(t *testing.T) { compareWithArrowGo(t, path) })
			return nil
		}))
	}
	require.Positive(t, files)
}

func compareWithArrowGo(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	f := openTest(t, data, ReaderOptions{Name: path})
	fr, err := file.NewParquetReader(bytes.NewReader(data), file.WithReadProps(parquet.NewReaderProperties(memory.DefaultAllocator)))
	require.NoError(t, err)
	require.Equal(t, fr.NumRows(), f.Rows())
	require.Equal(t, fr.MetaData().Schema.NumColumns(), len(f.Leaves()))
	for g := range f.RowGroups() {
		for j, in := range f.Leaves() {
			d := fr.MetaData().Schema.Column(j)
			require.Equal(t, d.Path(), pathText(in.Path))
			require.EqualValues(t, d.MaxDefinitionLevel(), in.MaxDef)
			require.EqualValues(t, d.MaxRepetitionLevel(), in.MaxRep)
			want, err := oracleColumn(fr, g, j, in)
			require.NoError(t, err)
			got := readColumn(t, f, g, j, 1000)
			requireSameBuffer(t, want, got)
			requireTrueStatistics(t, f, g, j, got)
		}
	}
}

// requireTrueStatistics checks what is offered of foreign statistics against
// the values.
func requireTrueStatistics(t testing.TB, f *File, g, j int, b *leaf.Buffer) {
	t.Helper()
	c := f.RowGroup(g).Column(j)
	require.EqualValues(t, b.Slots, c.Slots)
	if c.NullsKnown {
		require.EqualValues(t, b.Slots-b.Values(), c.Nulls)
	}
	if c.HasMinMax {
		requireWithin(t, b, 0, b.Values(), c.Min, c.Max)
	}
	x, err := f.PageIndex(g, j)
	require.NoError(t, err)
	if x == nil {
		return
	}
	cr, err := f.Column(g, j)
	require.NoError(t, err)
	var batch leaf.Batch
	for _, p := range x.Pages {
		require.NoError(t, cr.Read(&batch, int(p.Rows)))
		if p.NullsKnown {
			require.EqualValues(t, batch.Nulls, p.Nulls)
		}
		if !x.HasStats {
			continue
		}
		require.Equal(t, batch.Nulls == batch.Slots, p.AllNull)
		page := &leaf.Buffer{Info: batch.Info}
		appendBatch(page, &batch)
		if !p.AllNull {
			requireWithin(t, page, 0, page.Values(), p.Min, p.Max)
		}
	}
	require.Zero(t, cr.Remaining())
}

// requireWithin checks each value against bounds; NaN is in none.
func requireWithin(t testing.TB, b *leaf.Buffer, from, to int, lo, hi []byte) {
	t.Helper()
	for i := from; i < to; i++ {
		v := plainValue(b, i)
		if v == nil {
			continue
		}
		require.LessOrEqual(t, comparePlain(b.Node, lo, v), 0, "value %d of %v", i, b.Path)
		require.GreaterOrEqual(t, comparePlain(b.Node, hi, v), 0, "value %d of %v", i, b.Path)
	}
}

// plainValue returns value i in plain encoding, nil for NaN.
func plainValue(b *leaf.Buffer, i int) []byte {
	one := numberBounds(b, i, min(i+1, b.Values()))
	switch b.Node.Type {
	case leaf.Bytes, leaf.Fixed, leaf.Int96:
		return b.Data[b.Offsets[i]:b.Offsets[i+1]:b.Offsets[i+1]]
	default:
		return one.lo
	}
}
