// Package variant reads and writes Variant values: JSON-like data in the binary
// form that Parquet, Iceberg and Spark share, with types that JSON lacks.
//
// It turns JSON text, Go values and events into bytes and back, finds fields by
// path, casts as SQL does, and compares by meaning. It knows no files and no
// columns, and imports nothing but the standard library.
//
// # The bytes
//
// A value is two byte strings (VariantEncoding.md in apache/parquet-format). The
// metadata is a dictionary of field names, which many values can share:
//
//	{"b": 1.50, "a": [true, "x"]}
//
//	metadata  11        02         00 01 02   61 62
//	          |         |          |          names: a b
//	          |         |          offsets of the names, and the end
//	          |         number of names
//	          version 1 | sorted | (width of an offset - 1) << 6
//
// The value is a tree in which each container is contiguous, so that a part of a
// value, under the same metadata, is a value:
//
//	02         02      00 01     06 00 0e       20 02 96000000   03 02 00 01 03 04 05 78
//	|          |       |         |              |                |
//	|          |       |         |              b: decimal4,     a: array of two, offsets
//	|          |       |         |              scale 2,         0 1 and the end, true,
//	|          |       |         |              150              short string "x"
//	|          |       |         offsets of the fields' values from the first, and the end
//	|          |       ids: indexes into the dictionary, in the order of the names
//	|          number of fields
//	object, with the widths of offset, id and count
//
// The low two bits of a first byte tell the basic type: primitive, short string,
// object or array; what the other six mean depends on it. All integers are
// little-endian. Values may lie in any order behind the offsets; this package
// leaves them as the source had them.
//
// # Terms
//
//   - Metadata, dictionary: the names, and their encoding. Encoder and Builder sort
//     them, so equal sets of names give equal bytes.
//   - Kind: the type of one value. Several kinds can hold the same number: integers
//     and decimals are one class, the exact numbers, and accessors work by class.
//   - Missing: no value; the zero Value. Null: a value that is there.
//   - Event: one step of a walk through a value. A Sink takes events; Parser,
//     Value.Emit and the readers of shredded columns send them.
//   - Shape: the sequence of keys of an object. What depends on it alone is learned
//     from the first object and reused for the next ones.
//
// # Lifetimes
//
// A Value is a view: it is valid as long as the bytes it was made from. What an
// Encoder or Builder returns is valid until its next Encode or Reset; Clone keeps a
// value longer. Its metadata is never written over: it stays valid, and two values
// that have the same slice have the same names, so consumers may compare addresses.
// Bytes that a Sink is given are valid during the call.
//
// Encoder, Parser and Builder are for one goroutine. Value, Metadata, Path and Getter
// are safe for concurrent reads, and so are the functions of the package.
//
// # Trust
//
// New checks every rule of the encoding before anything is read; Validate says
// which. Unchecked skips that for bytes that are known to be good. On any bytes at
// all no method panics, loops, recurses deeper than MaxDepth or allocates more than
// a small multiple of the input; with Unchecked what methods return for bad bytes
// means nothing, but for errors, which Is ErrCorrupt.
//
// Fields out of order, which some writers leave, are no reason to lose one: New
// refuses such an object, but lookups, comparisons and texts of it are right.
//
// Names are stored once and may come any number of times, so that a text can be much
// longer than its value: AppendJSON tells where that ends.
//
// Value bytes must be exact: New refuses bytes behind the value, so that every
// strict prefix of good bytes, and good bytes with more behind them, are errors.
// Inside containers it accepts unused bytes between values, because writers exist
// that leave them.
//
// # Decisions
//
// Where the specifications are silent, Parser documents how JSON numbers, duplicate
// keys, invalid text and nesting are read, AppendScalarJSON and AppendScalarText how
// values are written, ParseOptions what can be chosen.
//
// # Reading order
//
//	kind.go, scalar.go     types and their bytes
//	metadata.go            dictionaries
//	container.go           headers of arrays and objects
//	value.go, emit.go      views and walks
//	validate.go            the rules
//	event.go               Sink
//	json_parse.go          text to events; json_number.go, json_string.go and
//	                       json_blank.go its leaves
//	keys.go, shape.go      what is remembered of names and objects
//	builder.go             events to bytes; builder_close.go headers, dictionary.go
//	                       and builder_widen.go the ids of fields
//	encoder.go             text to bytes
//	json_write.go          bytes to text; scalar_text.go, number_text.go its leaves
//	path.go, get.go        finding parts
//	type.go, cast.go       SQL types and casts
//	compare.go, hash.go    meaning
//	marshal.go             Go values
package variant
