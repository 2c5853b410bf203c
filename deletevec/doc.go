// Package deletevec keeps the deleted rows of data files: sets of row
// positions, their bytes in an Iceberg v3 table, and the filter that drops the
// rows from record batches. It knows nothing of tables.
//
// # Format
//
// A data file has at most one deletion vector. It is a blob of a Puffin file,
// which may hold the vectors of many data files (puffin-spec.md, "File
// structure"):
//
//	+------+--------+--------+-----+------+--------------+------+-------+------+
//	| PFA1 | blob 0 | blob 1 | ... | PFA1 | footer, JSON | size | flags | PFA1 |
//	+------+--------+--------+-----+------+--------------+------+-------+------+
//	   4                              4      size bytes      4      4       4
//
// The blob (puffin-spec.md, "deletion-vector-v1 blob type"); length and
// checksum are big-endian, all else is little-endian:
//
//	+--------+-------------+-------+-----+----------+-----+----------+-------+
//	| length | D1 D3 39 64 | count | key | bitmap32 | key | bitmap32 | CRC32 |
//	+--------+-------------+-------+-----+----------+-----+----------+-------+
//	    4           4          8      4                4                 4
//	         |<---------------- length bytes, under CRC32 ----------->|
//
// A key is the upper half of the positions whose lower halves its bitmap holds.
// Keys ascend, as unsigned numbers, and stay below 2^31. A 32-bit bitmap in
// Roaring's portable form splits its values once more, into chunks of 65,536;
// each chunk has a container in the form that takes the fewest bytes: an array
// of values, a bitmap, or runs.
//
//	+--------+---------------+--------------------+----------------+------------+
//	| cookie | count or runs | (chunk, card-1)... | offset table   | containers |
//	+--------+---------------+--------------------+----------------+------------+
//	    4       4 | n/8          4 a container      4 a container
//
// # Terms
//
// A position is the physical index of a row in its data file, counted from 0
// over all its row groups. A [Vector] is a set of positions; its cardinality is
// their number. A [Blob] is where a vector lies. A [Ref] is a Blob with what a
// manifest entry knows about it. A [Mask] is the part of a vector that falls
// into one batch.
//
// # Lifetimes
//
// In memory a container is its own bytes in the file. [ParseBlob] therefore
// returns views of the bytes it was given, and copies what a later change
// touches; [Read] gives the vector bytes of its own, a [Reader] lends its.
// [Vector.Clone] cuts all ties.
//
// # Trust
//
// Bytes from outside are checked whole before any position is used: every error
// about them Is [ErrCorrupt] and says where. The Roaring library's own reader is
// not used, as it panics on foreign bytes; it is the oracle of the tests.
//
// # Reading order
//
// vector.go and container.go (the set), build.go (many positions at once),
// encode.go and parse.go (the blob), writer.go, reader.go and footer.go (the
// Puffin file), mask.go and filter.go (batches).
package deletevec
