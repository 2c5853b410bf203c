// Package pq writes and reads Parquet files leaf by leaf: buffers of values with
// levels become column chunks, and column chunks become batches. It knows bytes,
// not meaning; what the columns of a Variant stand for is the business of shred.
//
// # Format
//
//	+------+-------------+-----+---------------+----------------+----------------+--------+------------+------+
//	| PAR1 | row group 0 | ... | bloom filters | column indexes | offset indexes | footer | length (4) | PAR1 |
//	+------+-------------+-----+---------------+----------------+----------------+--------+------------+------+
//
//	row group:    one column chunk a leaf, in the order of the schema's leaves
//	column chunk: [dictionary page] data page ...
//	page:         page header | body, compressed
//	body:         [repetition levels] [definition levels] values
//
// Headers, indexes and the footer are structures of Thrift's compact protocol;
// parquet.thrift of apache/parquet-format names their fields.
//
// # Terms
//
// A leaf, a slot and the levels are those of package leaf. A page's values stand
// densely, without the nulls. The hybrid is the encoding of levels, dictionary
// indexes and booleans: runs of equal values and bit-packed groups of eight.
// Plain encoding of one value, as statistics use it, is the value's little-endian
// bytes, and for byte strings the bytes without a length.
//
// # What is written
//
// Data pages of version 1 with checksums, cut at row boundaries; levels encoded
// straight from runs, once for all leaves that share them; a dictionary for the
// whole chunk or none, decided from a sample; otherwise plain values,
// DELTA_BINARY_PACKED for integers and DELTA_LENGTH_BYTE_ARRAY for byte strings
// where they are smaller. Statistics follow the order of the type: bytes are
// unsigned, decimals are numbers, NaN never counts, a zero stands for both zeros.
//
// # What is read
//
// Every encoding and codec of the format but LZO, ALP and encryption, which are
// refused by name, in data pages of both versions. Foreign bytes are not trusted:
// counts and sizes are bounded before they size an allocation, by the bytes that
// are there and by ReaderOptions, and what contradicts the format is ErrCorrupt.
//
// # Lifetimes and concurrency
//
// A Writer borrows buffers for the length of one call. A File is safe for
// concurrent use, a ColumnReader is not. A Batch is overwritten by the next Read
// with it; its Dict is immutable and may be kept.
//
// # Reading order
//
// thrift.go, schema.go, footer.go for the metadata; file.go, column.go, page.go
// and fetch.go for the way from a file to a batch, in the memory of memory.go; writer.go and chunk_encode.go
// for the way back; hybrid_*.go, delta_*.go, dict_*.go and values_*.go for the
// encodings; arrow_*.go for Arrow arrays.
package pq
