// Package leaf holds the data that passes between shred, which knows the
// meaning of a column, and internal/pq, which knows its bytes: the tree of a
// Parquet schema, the buffers that writers fill, and the batches that readers
// deliver. It has no dependencies, so that shred needs no Parquet library.
//
// # Terms
//
// A leaf is a node of the schema that holds values. A slot is one entry of a
// leaf: a value, or a null at some depth. Each slot has a definition level,
// the number of optional and repeated ancestors (itself included) that are
// present, and a repetition level, the depth of the repeated ancestor that the
// slot continues; 0 starts a new row. A slot holds a value when its definition
// level equals the leaf's maximum. Levels follow the Dremel encoding that the
// Parquet format describes (README.md, "Nested Encoding").
package leaf
