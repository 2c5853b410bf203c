package udf

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
)

// validBits returns the validity of up to 64 rows of a from row from on, the
// first in the lowest bit. Bits beyond the array mean nothing.
func validBits(a arrow.Array, from int) uint64 {
	b := a.NullBitmapBytes()
	if len(b) == 0 {
		return ^uint64(0)
	}
	at := a.Data().Offset() + from
	i, s := at>>3, at&7
	if i+9 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		return w>>s | uint64(b[i+8])<<(63-s)<<1
	}
	var pad [9]byte
	copy(pad[:], b[min(i, len(b)):])
	return binary.LittleEndian.Uint64(pad[:])>>s | uint64(pad[8])<<(63-s)<<1
}

// hasNulls reports whether any argument has a null.
func hasNulls(args []arrow.Array) bool {
	for _, a := range args {
		if a.NullN() > 0 {
			return true
		}
	}
	return false
}

// splitRows sorts rows from..from+n-1 into those that are valid in all arguments
// and the rest, counted from from.
func splitRows(args []arrow.Array, from, n int, live, null []int) (l, z []int) {
	for base := 0; base < n; base += 64 {
		w := ^uint64(0)
		for _, a := range args {
			w &= validBits(a, from+base)
		}
		for i := range min(64, n-base) {
			if w>>i&1 == 1 {
				live = append(live, base+i)
			} else {
				null = append(null, base+i)
			}
		}
	}
	return live, null
}
