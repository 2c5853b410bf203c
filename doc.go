// Package frazil is the root of a library that keeps streams of irregular JSON
// in open tables and reads them fast. It holds no code; start with the package
// that does what you need:
//
//   - variant: one JSON-like value as Variant bytes — encode, navigate, cast
//   - shred: one column of values as typed Parquet leaves, and back
//   - iceberg: tables — create, append, scan, update, delete, merge
//   - iceberg/stream: streaming queries into and out of tables and Kafka
//   - deletevec: the deleted rows of data files, in Puffin files
//   - udf: vectorized functions over Arrow arrays
//
// README.md shows the two commands to begin with, ARCHITECTURE.md is the map.
package frazil
