package variant

import (
	"encoding/binary"
)

// The quick step below is written for registers: it takes the dictionary as its
// bytes, the width of an offset and the start of the names, and loads whole
// machine words, so that it needs eight readable bytes at each place. Where it
// has not, near the ends of small values, the full step answers.

// widthMask keeps the low 1..4 bytes.
var widthMask = [5]uint32{0, 0xff, 0xffff, 0xffffff, 0xffffffff}

// namesStart returns the width of the offsets of a dictionary and where the
// bytes of its names start; 0 and 0 when the offsets do not fit.
func namesStart(metadata []byte) (width, names int) {
	if len(metadata) < 8 || metadata[0]&0x0f != 1 {
		return 0, 0
	}
	w := int(metadata[0]>>6) + 1
	n := int(binary.LittleEndian.Uint32(metadata[1:]) & widthMask[w])
	names = 1 + (n+2)*w
	if names > len(metadata) {
		return 0, 0
	}
	return w, names
}

// nameAt returns name id, or nil when it is out of range or the quick way cannot
// tell. The empty name is not nil.
func nameAt(metadata []byte, width, names int, id uint32) []byte {
	at := 1 + (int(id)+1)*width
	if at+width >= names || at+8 > len(metadata) { // offset id, and one after it
		return nil
	}
	x := binary.LittleEndian.Uint64(metadata[at:])
	lo := names + int(uint32(x)&widthMask[width])
	hi := names + int(uint32(x>>(uint(8*width)&63))&widthMask[width])
	if lo > hi || hi > len(metadata) {
		return nil
	}
	return metadata[lo:hi]
}

// A guess is a word: 16 bits of the shape's hash, then 15 of the position where
// the key was found, or where it would stand, then 1 that tells the latter.
const (
	guessTag    = 16
	guessAbsent = 1
	guessMaxPos = 1<<15 - 1
)

// shape hashes what tells objects apart: the number of fields, the first id and
// the last.
func shape(n int, first, last uint32) uint32 {
	return (uint32(n) ^ first<<8 ^ last<<16) * 0x9E3779B1
}

// guess returns the guess for a shape, which has one of two places. It is never
// more than a guess: shapes share hashes.
func (s *compiledStep) guess(shape uint32) (pos int, absent, ok bool) {
	at, tag := shape>>28%shapeSlots, shape&0xffff
	g := s.seen[at].Load()
	if g>>guessTag != tag || g == 0 {
		if g = s.seen[at^1].Load(); g>>guessTag != tag || g == 0 {
			return 0, false, false
		}
	}
	return int(g >> 1 & guessMaxPos), g&guessAbsent != 0, true
}

// learn keeps a guess, in the place that is free or holds the shape already.
func (s *compiledStep) learn(shape uint32, pos int, absent bool) {
	if pos > guessMaxPos {
		return
	}
	at, tag := shape>>28%shapeSlots, shape&0xffff
	g := tag<<guessTag | uint32(pos)<<1
	if absent {
		g |= guessAbsent
	}
	if old := s.seen[at].Load(); old != 0 && old>>guessTag != tag {
		if other := s.seen[at^1].Load(); other == 0 || other>>guessTag == tag {
			at ^= 1
		}
	}
	s.seen[at].Store(g)
}

// glance makes a step by the guess alone, in objects of up to 255 fields. It
// answers found or missing only when the guess is confirmed.
func (s *compiledStep) glance(b, metadata []byte, width, names int) ([]byte, walkState) {
	if len(b) < 2 || b[0]&0x43 != basicObject || b[1] == 0 {
		return nil, walkUnsure
	}
	n, idW, offW := int(b[1]), int(b[0]>>4&3)+1, int(b[0]>>2&3)+1
	offs := 2 + n*idW
	data := offs + (n+1)*offW
	if data+4 > len(b) { // so that four bytes can be loaded at every id and offset
		return nil, walkUnsure
	}
	le := binary.LittleEndian
	first, last := le.Uint32(b[2:])&widthMask[idW], le.Uint32(b[offs-idW:])&widthMask[idW]
	pos, absent, ok := s.guess(shape(n, first, last))
	if !ok {
		return nil, walkUnsure
	}
	if absent {
		if s.absentAt(b[2:offs], metadata, width, names, idW, pos) {
			return nil, walkMissing
		}
		return nil, walkUnsure
	}
	if uint(pos) >= uint(n) {
		return nil, walkUnsure
	}
	name := nameAt(metadata, width, names, le.Uint32(b[2+pos*idW:])&widthMask[idW])
	if name == nil || string(name) != s.name {
		return nil, walkUnsure
	}
	at := data + int(le.Uint32(b[offs+pos*offW:])&widthMask[offW])
	end := data + int(le.Uint32(b[data-offW:])&widthMask[offW])
	if at >= end || end > len(b) {
		return nil, walkUnsure
	}
	return b[at:end], walkFound
}

// absentAt confirms that the key would stand at pos if it were there: its
// neighbours are on either side, and the fields are in order of their names, which
// in a sorted dictionary is that of their ids.
func (s *compiledStep) absentAt(ids, metadata []byte, width, names, idW, pos int) bool {
	at := pos * idW
	if uint(at) > uint(len(ids)) || len(metadata) == 0 || metadata[0]&0x10 == 0 || !ascending(ids, idW) {
		return false
	}
	if pos > 0 {
		name := nameAt(metadata, width, names, readUint(ids[at-idW:], idW))
		if name == nil || string(name) >= s.name {
			return false
		}
	}
	if at < len(ids) {
		name := nameAt(metadata, width, names, readUint(ids[at:], idW))
		if name == nil || string(name) <= s.name {
			return false
		}
	}
	return true
}

// ascending reports whether each id of w bytes is larger than the one before it.
func ascending(ids []byte, w int) bool {
	if w == 1 {
		for i := 1; i < len(ids); i++ {
			if ids[i-1] >= ids[i] {
				return false
			}
		}
		return true
	}
	for i := w; i < len(ids); i += w {
		if readUint(ids[i-w:], w) >= readUint(ids[i:], w) {
			return false
		}
	}
	return true
}

// glanceIndex makes a step into an array of up to 255 elements, as quickly.
func glanceIndex(b []byte, index int) ([]byte, walkState) {
	if len(b) < 2 || b[0]&0x13 != basicArray {
		return nil, walkUnsure
	}
	n, offW := int(b[1]), int(b[0]>>2&3)+1
	data := 2 + (n+1)*offW
	if data+4 > len(b) {
		return nil, walkUnsure
	}
	if index >= n {
		return nil, walkMissing
	}
	le := binary.LittleEndian
	at := data + int(le.Uint32(b[2+index*offW:])&widthMask[offW])
	end := data + int(le.Uint32(b[data-offW:])&widthMask[offW])
	if at >= end || end > len(b) {
		return nil, walkUnsure
	}
	return b[at:end], walkFound
}
