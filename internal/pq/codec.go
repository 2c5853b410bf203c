package pq

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// maxSnappyRatio and its siblings are above what the formats can express; a
// page that claims more is refused before its memory is allocated. Zstandard
// and Brotli have no such bound.
const (
	maxSnappyRatio = 32
	maxLZ4Ratio    = 256
	maxGzipRatio   = 1100
)

// zstdDecoder is shared: DecodeAll is safe for concurrent use.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic("BUG: zstd decoder options: " + err.Error())
	}
	return d
})

// decompress fills dst, which is as long as the page header says, from src.
func decompress(codec Codec, dst, src []byte) error {
	n, err := decompressInto(codec, dst, src)
	if err != nil {
		return corruptf("%v page: %v", codec, err)
	}
	if n != len(dst) {
		return corruptf("%v page has %d bytes where its header says %d", codec, n, len(dst))
	}
	return nil
}

func decompressInto(codec Codec, dst, src []byte) (int, error) {
	switch codec {
	case Uncompressed:
		if len(src) > len(dst) {
			return len(src), nil
		}
		return copy(dst, src), nil
	case Zstd:
		out, err := zstdDecoder().DecodeAll(src, dst[:0:len(dst)])
		return len(out), err
	case Snappy:
		n, err := s2.DecodedLen(src)
		if err != nil || n != len(dst) {
			return n, err
		}
		out, err := s2.Decode(dst, src)
		return len(out), err
	case Gzip:
		return gunzip(dst, src)
	case LZ4Raw:
		return unLZ4(dst, src)
	case LZ4:
		return unHadoopLZ4(dst, src)
	case Brotli:
		return unBrotli(dst, src)
	}
	return 0, unsupportedf("codec %v", codec)
}

// plausibleRatio reports that a page may grow from n to size bytes.
func plausibleRatio(codec Codec, n, size int) bool {
	switch codec {
	case Uncompressed:
		return size == n
	case Snappy:
		return size <= n*maxSnappyRatio
	case LZ4Raw, LZ4:
		return size <= n*maxLZ4Ratio
	case Gzip:
		return size <= n*maxGzipRatio
	case Zstd, Brotli:
	}
	return true
}

var gzipReaders sync.Pool // of *gzip.Reader, which hold no input after use

func gunzip(dst, src []byte) (int, error) {
	z, _ := gzipReaders.Get().(*gzip.Reader)
	if z == nil {
		z = new(gzip.Reader)
	}
	in := bytes.NewReader(src)
	if err := z.Reset(in); err != nil {
		return 0, err
	}
	defer func() {
		in.Reset(nil)
		gzipReaders.Put(z)
	}()
	return readExactly(z, dst)
}

// readExactly fills dst and returns a larger count when the stream goes on.
func readExactly(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return n, err
	}
	if n < len(dst) {
		return n, nil
	}
	var more [1]byte
	k, err := io.ReadFull(r, more[:])
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n + k, err
}

func unLZ4(dst, src []byte) (int, error) {
	if len(dst) == 0 && len(src) <= 1 {
		return 0, nil // an empty block is a single zero token
	}
	codec, err := compress.GetCodec(compress.Codecs.Lz4Raw)
	if err != nil {
		return 0, err
	}
	out, err := compress.Decode(codec, dst, src)
	return len(out), err
}

// unHadoopLZ4 decodes the deprecated codec LZ4: Hadoop's frames, or, from
// writers that did not know of them, one raw block.
//
//	+----------------------+------------------------+-----------+
//	| uncompressed size BE | compressed size BE (4) | LZ4 block | ... until the first size is reached
//	+----------------------+------------------------+-----------+
func unHadoopLZ4(dst, src []byte) (int, error) {
	n, ok := hadoopFrames(dst, src)
	if ok {
		return n, nil
	}
	return unLZ4(dst, src)
}

func hadoopFrames(dst, src []byte) (n int, ok bool) {
	for len(src) > 0 {
		if len(src) < 8 {
			return n, false
		}
		want := int(binary.BigEndian.Uint32(src))
		src = src[4:]
		if want > len(dst)-n {
			return n, false
		}
		for want > 0 {
			if len(src) < 4 {
				return n, false
			}
			size := binary.BigEndian.Uint32(src)
			if src = src[4:]; uint64(size) > uint64(len(src)) {
				return n, false
			}
			k, err := unLZ4(dst[n:n+want], src[:size])
			if err != nil || k == 0 {
				return n, false
			}
			src = src[size:]
			n += k
			want -= k
		}
	}
	return n, true
}

func unBrotli(dst, src []byte) (int, error) {
	codec, err := compress.GetCodec(compress.Codecs.Brotli)
	if err != nil {
		return 0, err
	}
	stream, ok := codec.(compress.StreamingCodec)
	if !ok {
		return 0, unsupportedf("codec %v", Brotli)
	}
	r := stream.NewReader(bytes.NewReader(src))
	defer r.Close() //nolint:errcheck // a reader over memory has nothing to report
	return readExactly(r, dst)
}

// compressor compresses the pages of one worker. It is not safe for concurrent
// use.
type compressor struct {
	codec Codec
	level int
	zstd  *zstd.Encoder
	gzip  *gzip.Writer
	block []byte
	sink  appendWriter
}

// appendWriter is a writer to a byte slice.
type appendWriter struct{ b []byte }

func (w *appendWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// appendParts is append for a page whose first bytes are levels. Zstandard puts
// them into a block of their own: their few symbols want another Huffman table
// than the noise of packed values.
func (c *compressor) appendParts(dst, src []byte, levels int) ([]byte, error) {
	if c.codec != Zstd || levels < minPart || len(src)-levels < minPart {
		return c.append(dst, src)
	}
	if err := c.startZstd(); err != nil {
		return dst, err
	}
	c.sink.b = dst
	c.zstd.ResetContentSize(&c.sink, int64(len(src)))
	_, err := c.zstd.Write(src[:levels])
	err = errors.Join(err, c.zstd.Flush())
	_, err2 := c.zstd.Write(src[levels:])
	err = errors.Join(err, err2, c.zstd.Close())
	dst, c.sink.b = c.sink.b, nil
	return dst, err
}

// minPart is the fewest bytes that are worth a block.
const minPart = 512

// append appends the compressed form of src to dst.
func (c *compressor) append(dst, src []byte) ([]byte, error) {
	switch c.codec {
	case Uncompressed:
		return append(dst, src...), nil
	case Zstd:
		return c.appendZstd(dst, src)
	case Snappy:
		c.block = grow(c.block, s2.MaxEncodedLen(len(src)))
		return append(dst, s2.EncodeSnappy(c.block, src)...), nil
	case Gzip:
		return c.appendGzip(dst, src)
	case LZ4Raw:
		codec, err := compress.GetCodec(compress.Codecs.Lz4Raw)
		if err != nil {
			return dst, err
		}
		c.block = grow(c.block, int(codec.CompressBound(int64(len(src)))))
		return append(dst, codec.Encode(c.block, src)...), nil
	case Brotli, LZ4:
	}
	return dst, unsupportedf("writing codec %v", c.codec)
}

func (c *compressor) appendZstd(dst, src []byte) ([]byte, error) {
	if err := c.startZstd(); err != nil {
		return dst, err
	}
	return c.zstd.EncodeAll(src, dst), nil
}

func (c *compressor) startZstd() (err error) {
	if c.zstd == nil {
		// Levels have few symbols but, to a fast encoder, no matches: without
		// the last option they would not be compressed at all.
		c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(c.level)), zstd.WithZeroFrames(true),
			zstd.WithWindowSize(1<<20), zstd.WithAllLitEntropyCompression(true))
	}
	return err
}

func (c *compressor) appendGzip(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	if c.gzip == nil {
		z, err := gzip.NewWriterLevel(out, c.level)
		if err != nil {
			return dst, err
		}
		c.gzip = z
	} else {
		c.gzip.Reset(out)
	}
	if _, err := c.gzip.Write(src); err != nil {
		return dst, err
	}
	if err := c.gzip.Close(); err != nil {
		return dst, err
	}
	return out.Bytes(), nil
}
