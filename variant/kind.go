package variant

// Kind is the type of one value, as the encoding's tables of basic and
// primitive types name it (VariantEncoding.md, "Encoding types"). The two
// spellings of a string share one kind; so do the widths of containers.
type Kind uint8

// The kinds. The order is part of no format.
const (
	KindMissing           Kind = iota // no value at all: the zero Value
	KindNull                          // a present null
	KindBool                          // true or false
	KindInt8                          // 8-bit signed integer
	KindInt16                         // 16-bit signed integer
	KindInt32                         // 32-bit signed integer
	KindInt64                         // 64-bit signed integer
	KindFloat                         // IEEE 754 binary32
	KindDouble                        // IEEE 754 binary64
	KindDecimal4                      // decimal of up to 9 digits
	KindDecimal8                      // decimal of up to 18 digits
	KindDecimal16                     // decimal of up to 38 digits
	KindDate                          // days since 1970-01-01
	KindTime                          // microseconds since midnight, no zone
	KindTimestamp                     // microseconds since 1970-01-01T00:00:00Z
	KindTimestampNTZ                  // microseconds since 1970-01-01T00:00:00, no zone
	KindTimestampNanos                // nanoseconds since 1970-01-01T00:00:00Z
	KindTimestampNTZNanos             // nanoseconds since 1970-01-01T00:00:00, no zone
	KindString                        // UTF-8 text
	KindBinary                        // bytes
	KindUUID                          // 16 bytes, most significant first
	KindArray                         // ordered values
	KindObject                        // values by unique name
)

var kindNames = [...]string{
	KindMissing: "missing", KindNull: "null", KindBool: "bool",
	KindInt8: "int8", KindInt16: "int16", KindInt32: "int32", KindInt64: "int64",
	KindFloat: "float", KindDouble: "double",
	KindDecimal4: "decimal4", KindDecimal8: "decimal8", KindDecimal16: "decimal16",
	KindDate: "date", KindTime: "time",
	KindTimestamp: "timestamp", KindTimestampNTZ: "timestamp_ntz",
	KindTimestampNanos: "timestamp_nanos", KindTimestampNTZNanos: "timestamp_ntz_nanos",
	KindString: "string", KindBinary: "binary", KindUUID: "uuid",
	KindArray: "array", KindObject: "object",
}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// IsInteger reports whether k is one of the four integers.
func (k Kind) IsInteger() bool { return k >= KindInt8 && k <= KindInt64 }

// IsDecimal reports whether k is one of the three decimals.
func (k Kind) IsDecimal() bool { return k >= KindDecimal4 && k <= KindDecimal16 }

// IsExact reports whether k belongs to the encoding's class of exact numbers:
// integers and decimals, which compare by value whatever their width.
func (k Kind) IsExact() bool { return k.IsInteger() || k.IsDecimal() }

// IsNumeric reports whether k is an exact number, a float or a double.
func (k Kind) IsNumeric() bool { return k >= KindInt8 && k <= KindDecimal16 }

// IsContainer reports whether k is an array or an object.
func (k Kind) IsContainer() bool { return k == KindArray || k == KindObject }

// The two low bits of a value's first byte (VariantEncoding.md, "Basic Type").
const (
	basicPrimitive = 0
	basicShort     = 1
	basicObject    = 2
	basicArray     = 3
)

// Ids of primitive types (VariantEncoding.md, "Variant primitive types").
const (
	primNull = iota
	primTrue
	primFalse
	primInt8
	primInt16
	primInt32
	primInt64
	primDouble
	primDecimal4
	primDecimal8
	primDecimal16
	primDate
	primTimestamp
	primTimestampNTZ
	primFloat
	primBinary
	primString
	primTime
	primTimestampNanos
	primTimestampNTZNanos
	primUUID
	primCount
)

// primKinds gives the kind of each primitive id; ids that this version of the
// encoding does not define are KindMissing.
var primKinds = [64]Kind{
	primNull: KindNull, primTrue: KindBool, primFalse: KindBool,
	primInt8: KindInt8, primInt16: KindInt16, primInt32: KindInt32, primInt64: KindInt64,
	primDouble: KindDouble, primDecimal4: KindDecimal4, primDecimal8: KindDecimal8,
	primDecimal16: KindDecimal16, primDate: KindDate, primTimestamp: KindTimestamp,
	primTimestampNTZ: KindTimestampNTZ, primFloat: KindFloat, primBinary: KindBinary,
	primString: KindString, primTime: KindTime, primTimestampNanos: KindTimestampNanos,
	primTimestampNTZNanos: KindTimestampNTZNanos, primUUID: KindUUID,
}

// kindHeaders is the first byte of each kind whose first byte is fixed;
// booleans, short strings and containers are written by hand.
var kindHeaders = [...]byte{
	KindNull: primNull << 2, KindInt8: primInt8 << 2, KindInt16: primInt16 << 2,
	KindInt32: primInt32 << 2, KindInt64: primInt64 << 2, KindFloat: primFloat << 2,
	KindDouble: primDouble << 2, KindDecimal4: primDecimal4 << 2,
	KindDecimal8: primDecimal8 << 2, KindDecimal16: primDecimal16 << 2,
	KindDate: primDate << 2, KindTime: primTime << 2, KindTimestamp: primTimestamp << 2,
	KindTimestampNTZ: primTimestampNTZ << 2, KindTimestampNanos: primTimestampNanos << 2,
	KindTimestampNTZNanos: primTimestampNTZNanos << 2, KindString: primString << 2,
	KindBinary: primBinary << 2, KindUUID: primUUID << 2,
}

// firstKinds gives the kind that the first byte of a value announces.
var firstKinds = func() (t [256]Kind) {
	for i := range t {
		switch i & 3 {
		case basicPrimitive:
			t[i] = primKinds[i>>2]
		case basicShort:
			t[i] = KindString
		case basicObject:
			t[i] = KindObject
		case basicArray:
			t[i] = KindArray
		}
	}
	return t
}()

// fixedSizes is the whole size in bytes, first byte included, of primitives
// whose size follows from their id; 0 for the others.
var fixedSizes = [64]uint8{
	primNull: 1, primTrue: 1, primFalse: 1,
	primInt8: 2, primInt16: 3, primInt32: 5, primInt64: 9, primDouble: 9,
	primDecimal4: 6, primDecimal8: 10, primDecimal16: 18, primDate: 5,
	primTimestamp: 9, primTimestampNTZ: 9, primFloat: 5, primTime: 9,
	primTimestampNanos: 9, primTimestampNTZNanos: 9, primUUID: 17,
}
