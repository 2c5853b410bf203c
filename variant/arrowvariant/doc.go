// Package arrowvariant converts between Variants and arrow-go's forms of them: the
// values of its package parquet/variant, and columns of the extension type
// arrow.parquet.variant.
//
// It exists so that package variant compiles without Arrow and Parquet. Nothing
// here goes through arrow-go's own decoder or its shredding: bytes are taken as
// they are, and shredded columns are put together by the rules of
// VariantShredding.md.
//
// # Columns
//
// The storage of a Variant column is a struct. Unshredded:
//
//	struct<metadata: binary not null, value: binary not null>
//
// Shredded, where typed_value holds what fits a type, and value the rest:
//
//	struct<metadata: binary not null, value: binary, typed_value: T>
//	T = a scalar type
//	  | list<element: struct<value: binary, typed_value: T> not null>
//	  | struct<name: struct<value: binary, typed_value: T> not null, ...>
//
// [NewColumn] reads both, from an extension array of the canonical name
// arrow.parquet.variant, of the name parquet.variant that arrow-go wrote before
// there was a canonical one, or from the plain storage struct. [NewArray] writes
// the unshredded form under the canonical name.
//
// # Lifetimes
//
// Values of unshredded columns are views of the column's buffers: they are valid
// while the array is retained. Values of shredded columns are valid until the next
// one is read.
//
// Start reading at column.go; shredded.go puts shredded rows together.
package arrowvariant
