package shred

import "encoding/binary"

// containerView reads an encoded object or array (VariantEncoding.md, "Value Data for
// Object" and "for Array").
type containerView struct {
	n               int
	ids, offsets    []byte
	data            []byte
	idSize, offSize int // idSize is 0 for an array
}

func openContainer(b []byte) (o containerView, ok bool) {
	h := b[0] >> 2
	o.offSize = int(h&3) + 1
	large := h >> 2 & 1
	if b[0]&3 == basicObject {
		o.idSize, large = int(h>>2&3)+1, h>>4&1
	}
	nw := 1
	if large != 0 {
		nw = 4
	}
	if len(b) < 1+nw {
		return o, false
	}
	n := uint64(getUint(b[1:], nw))
	rest := b[1+nw:]
	if n*uint64(o.idSize)+(n+1)*uint64(o.offSize) > uint64(len(rest)) {
		return o, false
	}
	o.n = int(n)
	o.ids = rest[:o.n*o.idSize]
	o.offsets = rest[len(o.ids):][:(o.n+1)*o.offSize]
	o.data = rest[len(o.ids)+len(o.offsets):]
	return o, true
}

// field returns the id and bytes of field i, nil if the offsets are wrong. The
// size of a value follows from itself, as offsets need not be in order.
func (o *containerView) field(i int) (uint32, []byte) {
	id := getUint(o.ids[i*o.idSize:], o.idSize)
	at := getUint(o.offsets[i*o.offSize:], o.offSize)
	if uint64(at) >= uint64(len(o.data)) {
		return id, nil
	}
	size := variantSize(o.data[at:])
	if size == 0 {
		return id, nil
	}
	return id, o.data[at:][:size]
}

func getUint(b []byte, width int) uint32 {
	if len(b) >= 4 {
		return binary.LittleEndian.Uint32(b) & (1<<(8*width) - 1)
	}
	x := uint32(0)
	for i := range width {
		x |= uint32(b[i]) << (8 * i)
	}
	return x
}

// variantSize returns the size of the value at the start of b, from its header
// alone; 0 when b is too short.
func variantSize(b []byte) int {
	size := uint64(0)
	switch h := b[0] >> 2; b[0] & 3 {
	case basicShort:
		size = uint64(h) + 1
	case basicObject, basicArray:
		ow, iw, large := int(h&3)+1, 0, h>>2&1
		if b[0]&3 == basicObject {
			iw, large = int(h>>2&3)+1, h>>4&1
		}
		nw := 1
		if large != 0 {
			nw = 4
		}
		if len(b) < 1+nw {
			return 0
		}
		n := uint64(getUint(b[1:], nw))
		head := 1 + uint64(nw) + n*uint64(iw) + (n+1)*uint64(ow)
		if head > uint64(len(b)) {
			return 0
		}
		size = head + uint64(getUint(b[head-uint64(ow):], ow))
	default:
		if size = uint64(primitiveSizes[h]); size == 0 {
			if h != 15 && h != 16 || len(b) < 5 {
				return 0
			}
			size = 5 + uint64(binary.LittleEndian.Uint32(b[1:]))
		}
	}
	if size > uint64(len(b)) {
		return 0
	}
	return int(size)
}

// primitiveSizes are the sizes of the primitives by id, 0 where the value says
// its length (VariantEncoding.md, "Variant primitive types").
var primitiveSizes = [64]uint8{1, 1, 1, 2, 3, 5, 9, 9, 6, 10, 18, 5, 9, 9, 5, 0, 0, 9, 9, 9, 17}
