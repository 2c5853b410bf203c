// Package shred turns one Variant column into typed Parquet leaves and back.
//
// A Variant column of similar documents is stored as if it had been a nested
// struct: each frequent field is a column of its own type, with statistics and an
// encoding that suits it, and what does not fit stays in Variant bytes beside it
// (apache/parquet-format, VariantShredding.md). Reading one path then costs what
// reading one plain column costs.
//
// # The group
//
// A pair is a `value` and a `typed_value`. The column is a pair with metadata, and
// pairs nest in the typed_value of objects and lists:
//
//	optional group v (VARIANT)
//	├── metadata     required binary    the row's dictionary of names
//	├── value        optional binary    the residual: what the pair does not hold
//	└── typed_value  optional group     an object's fields, each a required pair
//	    ├── model
//	    │   ├── value        optional binary
//	    │   └── typed_value  optional binary (STRING)
//	    └── legs
//	        ├── value        optional binary
//	        └── typed_value  optional group (LIST)
//	            └── list     repeated group
//	                └── element  required group: a pair
//
//	value     typed_value   meaning
//	null      null          missing; where a value must be: Variant null
//	set       null          any value, of any type
//	null      set           a value of the shredded type
//	set       set           an object: fields of both sides
//
// # One row, three ways
//
// Under the schema struct<a int, b list<string>>, the row
//
//	{"a": 1, "b": ["x", 2], "c": true}
//
// becomes
//
//	metadata                    dictionary [a b c]
//	value                       {"c": true}, ids of the dictionary above
//	a.value        null         a.typed_value        1
//	b.value        null         b.typed_value        present
//	b[].value      null, 2      b[].typed_value      "x", null
//
// # Terms
//
// A slot is a place where a pair's value may be: a row for the column, an object
// that is there for a field, an element for a list. Definition and repetition
// levels are counted as Parquet does; see internal/leaf. Residual is what stays in
// a `value`. Exact numbers, integers and decimals, are one class: a number goes
// to a typed leaf if that loses nothing, and comes back in the leaf's type.
//
// # Who does what
//
//   - [Schema] is the shape of typed_value: [Parse], [FromGroup], [Merge], [Diff].
//   - [Inferer] proposes one from a sample of rows.
//   - [Writer] takes rows as JSON, as values or as events and fills leaf buffers.
//   - [Project] plans which leaves a set of paths needs; its [Reader] turns them
//     into Arrow arrays, its Range bounds the answers by statistics.
//   - [Assembler] gives whole values back.
//   - [Bounds] are those of Iceberg's manifests.
//
// The package does no input or output and imports no Parquet library: buffers and
// batches pass through internal/leaf.
//
// # Lifetimes
//
// Buffers of a Writer are valid until its next write or Reset. Values that an
// Assembler passes are valid during the call. Arrow arrays are the caller's.
//
// # Reading order
//
// schema.go, group.go and layout.go; then node.go, sink.go and track.go for the
// way in; then project.go, reader.go, tree.go, assemble.go and flat.go for the way
// out, and order.go for values that other writers left out of order.
package shred
