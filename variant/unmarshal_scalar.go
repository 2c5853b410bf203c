package variant

import (
	"encoding/binary"
	"math"
	"reflect"
)

// The functions below store the scalars of which most values consist: each knows the
// bytes that its type has as a rule, and leaves others, and errors, to scalarDecoder.

var (
	decodeAnyBool   = scalarDecoder(storeBool)
	decodeAnyInt    = scalarDecoder(storeInt)
	decodeAnyFloat  = scalarDecoder(storeFloat)
	decodeAnyString = scalarDecoder(storeString)
)

func decodeBool(d *goDecoder, b []byte, dst reflect.Value) error {
	if d.budget < 1 || len(b) == 0 || b[0] != primTrue<<2 && b[0] != primFalse<<2 {
		return decodeAnyBool(d, b, dst)
	}
	d.budget--
	dst.SetBool(b[0] == primTrue<<2)
	return nil
}

func decodeInt(d *goDecoder, b []byte, dst reflect.Value) error {
	x, n := integerAt(b)
	if n == 0 || d.budget < n || dst.OverflowInt(x) {
		return decodeAnyInt(d, b, dst)
	}
	d.budget -= n
	dst.SetInt(x)
	return nil
}

// integerAt returns the integer at the start of b and its size in bytes; 0 when there
// is none.
func integerAt(b []byte) (x int64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	le := binary.LittleEndian
	switch {
	case b[0] == primInt8<<2 && len(b) >= 2:
		return int64(int8(b[1])), 2
	case b[0] == primInt16<<2 && len(b) >= 3:
		return int64(int16(le.Uint16(b[1:]))), 3
	case b[0] == primInt32<<2 && len(b) >= 5:
		return int64(int32(le.Uint32(b[1:]))), 5
	case b[0] == primInt64<<2 && len(b) >= 9:
		return int64(le.Uint64(b[1:])), 9
	}
	return 0, 0
}

// decodeFloat is for float64.
func decodeFloat(d *goDecoder, b []byte, dst reflect.Value) error {
	if d.budget < 9 || len(b) < 9 || b[0] != primDouble<<2 {
		return decodeAnyFloat(d, b, dst)
	}
	d.budget -= 9
	dst.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b[1:])))
	return nil
}

func decodeString(d *goDecoder, b []byte, dst reflect.Value) error {
	if len(b) == 0 || b[0]&3 != basicShort {
		return decodeAnyString(d, b, dst)
	}
	n := int(b[0]>>2) + 1
	if d.budget < n || len(b) < n || !validUTF8(b[1:n]) {
		return decodeAnyString(d, b, dst)
	}
	d.budget -= n
	dst.SetString(d.texts.of(b[1:n]))
	return nil
}
