package pq

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/frazil/frazil/internal/leaf"
)

// Page types of parquet.thrift.
const (
	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3
)

// pageHeader is PageHeader of parquet.thrift with the header of its type.
type pageHeader struct {
	typ          int64
	uncompressed int64
	compressed   int64
	crc          uint32
	hasCRC       bool
	detailed     bool // the part that belongs to the type is there
	values       int64
	enc          encoding
	defEnc       encoding
	repEnc       encoding
	defBytes     int64 // version 2
	repBytes     int64 // version 2
	isCompressed bool  // version 2
}

// decodePageHeader returns the header at the start of b and its length.
func decodePageHeader(b []byte) (pageHeader, int, error) {
	h := pageHeader{isCompressed: true}
	r := &thriftReader{b: b}
	r.structure(thriftStruct, func(id int16, typ byte) bool {
		switch id {
		case 1:
			h.typ = r.int(typ)
		case 2:
			h.uncompressed = r.int(typ)
		case 3:
			h.compressed = r.int(typ)
		case 4:
			h.crc, h.hasCRC = uint32(r.int(typ)), true
		case 5:
			r.dataPageHeader(typ, &h)
		case 7:
			r.dictionaryPageHeader(typ, &h)
		case 8:
			r.dataPageHeaderV2(typ, &h)
		default:
			return false
		}
		return true
	})
	return h, r.pos, r.err
}

func (r *thriftReader) encoding(typ byte) encoding {
	v := r.int(typ)
	if v < 0 || v > math.MaxUint8 {
		r.fail(corruptf("encoding %d", v))
	}
	return encoding(v)
}

func (r *thriftReader) dataPageHeader(typ byte, h *pageHeader) {
	h.detailed = true
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			h.values = r.int(typ)
		case 2:
			h.enc = r.encoding(typ)
		case 3:
			h.defEnc = r.encoding(typ)
		case 4:
			h.repEnc = r.encoding(typ)
		default:
			return false
		}
		return true
	})
}

func (r *thriftReader) dictionaryPageHeader(typ byte, h *pageHeader) {
	h.detailed = true
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			h.values = r.int(typ)
		case 2:
			h.enc = r.encoding(typ)
		default:
			return false
		}
		return true
	})
}

func (r *thriftReader) dataPageHeaderV2(typ byte, h *pageHeader) {
	h.detailed = true
	h.defEnc, h.repEnc = encRLE, encRLE
	r.structure(typ, func(id int16, typ byte) bool {
		switch id {
		case 1:
			h.values = r.int(typ)
		case 4:
			h.enc = r.encoding(typ)
		case 5:
			h.defBytes = r.int(typ)
		case 6:
			h.repBytes = r.int(typ)
		case 7:
			h.isCompressed = r.bool(typ)
		default:
			return false
		}
		return true
	})
}

// check bounds what the header may make the reader allocate.
func (h *pageHeader) check(o *ReaderOptions, codec Codec) error {
	limit := int64(o.MaxPageBytes)
	if h.compressed < 0 || h.uncompressed < 0 || h.values < 0 {
		return corruptf("a page header with negative sizes")
	}
	if h.compressed > limit || h.uncompressed > limit {
		return corruptf("a page of %d bytes, compressed %d, is above the limit %d", h.uncompressed, h.compressed, limit)
	}
	switch h.typ {
	case pageData, pageDictionary:
		if !plausibleRatio(codec, int(h.compressed), int(h.uncompressed)) {
			return corruptf("a %v page of %d bytes cannot become %d", codec, h.compressed, h.uncompressed)
		}
	case pageDataV2:
		levels := h.defBytes + h.repBytes
		if h.defBytes < 0 || h.repBytes < 0 || levels > h.compressed || levels > h.uncompressed {
			return corruptf("a page with %d bytes of levels in %d", levels, h.compressed)
		}
		if !h.isCompressed {
			codec = Uncompressed
		}
		if !plausibleRatio(codec, int(h.compressed-levels), int(h.uncompressed-levels)) {
			return corruptf("a %v page of %d bytes cannot become %d", codec, h.compressed, h.uncompressed)
		}
	default: // an index page, or one of a later format: skipped by its size
		return nil
	}
	if !h.detailed {
		return corruptf("a page header lacks the part of its type %d", h.typ)
	}
	return nil
}

func (h *pageHeader) checkCRC(body []byte) error {
	if h.hasCRC && crc32.ChecksumIEEE(body) != h.crc {
		return corruptf("a page's checksum does not match")
	}
	return nil
}

// levelReader decodes the levels of a page, in the hybrid encoding or in the
// deprecated one.
type levelReader struct {
	hybrid  hybridReader
	highest uint8
	legacy  []byte // in BIT_PACKED
	at      int    // next level in legacy
}

func (l *levelReader) read(dst []uint8) error {
	if l.legacy == nil {
		return l.hybrid.levels(dst, l.highest)
	}
	width := levelWidth(l.highest)
	if (uint(l.at)+uint(len(dst)))*width > 8*uint(len(l.legacy)) {
		return corruptf("the levels end early")
	}
	err := unpackLegacyLevels(dst, l.legacy, l.at, width, l.highest)
	l.at += len(dst)
	return err
}

// page is the data page that is being read. Its values are in one of three
// forms: plain bytes, a hybrid sequence, or decoded whole into the scratch.
type page struct {
	slots    int // that are left
	rep, def levelReader
	enc      encoding
	plain    []byte
	hybrid   hybridReader // dictionary indexes or RLE booleans
	bit      uint         // position in plain of the next plain Bool
	decoded  int          // next value in the scratch
	scratch  pageScratch
	body     []byte // memory of the decompressed page
}

// pageScratch holds the values of pages that can only be decoded whole.
type pageScratch struct {
	int32s  []int32
	int64s  []int64
	offsets []uint32
	data    []byte
	view    []byte // the bytes that offsets index: data, or the page itself
	lengths []int32
}

// startV1 reads the levels' places of a version 1 page and its values.
func (p *page) startV1(h *pageHeader, in *leaf.Info, body []byte) (err error) {
	if in.MaxRep > 0 {
		if body, err = p.rep.start(body, h.repEnc, in.MaxRep, p.slots); err != nil {
			return err
		}
	}
	if in.MaxDef > 0 {
		if body, err = p.def.start(body, h.defEnc, in.MaxDef, p.slots); err != nil {
			return err
		}
	}
	p.plain = body
	return nil
}

// start takes the levels at the start of body and returns what follows.
func (l *levelReader) start(body []byte, enc encoding, highest uint8, slots int) ([]byte, error) {
	*l = levelReader{highest: highest}
	width := levelWidth(highest)
	switch enc {
	case encRLE:
		if len(body) < 4 {
			return nil, corruptf("a page ends in its levels")
		}
		n := uint64(binary.LittleEndian.Uint32(body))
		body = body[4:]
		if n > uint64(len(body)) {
			return nil, corruptf("%d bytes of levels in a page of %d", n, len(body))
		}
		l.hybrid = hybridReader{src: body[:n], width: width}
		return body[n:], nil
	case encBitPacked:
		n := (uint64(slots)*uint64(width) + 7) / 8
		if n > uint64(len(body)) {
			return nil, corruptf("%d bytes of levels in a page of %d", n, len(body))
		}
		l.legacy = body[:n]
		return body[n:], nil
	}
	return nil, unsupportedf("levels in encoding %d", enc)
}

// startV2 is startV1 for version 2, whose levels have no lengths of their own.
func (p *page) startV2(h *pageHeader, in *leaf.Info, body []byte) {
	rep, def := body[:h.repBytes], body[h.repBytes:h.repBytes+h.defBytes]
	p.rep = levelReader{highest: in.MaxRep, hybrid: hybridReader{src: rep, width: levelWidth(in.MaxRep)}}
	p.def = levelReader{highest: in.MaxDef, hybrid: hybridReader{src: def, width: levelWidth(in.MaxDef)}}
	p.plain = body[h.repBytes+h.defBytes:]
}

// startValues makes the page's values ready to be read in the encoding enc.
func (p *page) startValues(enc encoding, in *leaf.Info, maxBytes int) error {
	p.enc, p.decoded, p.bit = enc, 0, 0
	switch enc {
	case encPlain:
		return nil
	case encDictionary, encPlainDictionary:
		p.enc = encDictionary
		if len(p.plain) == 0 {
			p.hybrid = hybridReader{}
			return nil // a page without values may lack even the width
		}
		if p.plain[0] > 32 {
			return corruptf("dictionary indexes of %d bits", p.plain[0])
		}
		p.hybrid = hybridReader{src: p.plain[1:], width: uint(p.plain[0])}
		return nil
	case encRLE:
		return p.startRLEBools(in.Node)
	case encDelta, encDeltaLength, encDeltaBytes, encByteStreamSplit:
		return p.decodeWhole(in.Node, maxBytes)
	case encBitPacked, encALP:
	}
	return unsupportedf("values in encoding %d", enc)
}

func (p *page) startRLEBools(n *leaf.Node) error {
	if n.Type != leaf.Bool {
		return unsupportedf("values in encoding %d", encRLE)
	}
	if len(p.plain) < 4 {
		p.hybrid = hybridReader{width: 1}
		return nil
	}
	size := uint64(binary.LittleEndian.Uint32(p.plain))
	if size > uint64(len(p.plain)-4) {
		return corruptf("%d bytes of booleans in a page of %d", size, len(p.plain))
	}
	p.hybrid = hybridReader{src: p.plain[4 : 4+size], width: 1}
	return nil
}

// decodeWhole decodes all values of a page in one of the encodings that have no
// use for a position inside.
func (p *page) decodeWhole(n *leaf.Node, maxBytes int) (err error) {
	s := &p.scratch
	switch {
	case p.enc == encByteStreamSplit && plainWidth(n) > 0:
		// The joined streams are plain values.
		s.data = grow(s.data, len(p.plain)+slack)[:len(p.plain)]
		if len(p.plain)%plainWidth(n) != 0 {
			return corruptf("%d bytes of split streams for values of %d", len(p.plain), plainWidth(n))
		}
		joinStreams(s.data, p.plain, plainWidth(n))
		p.plain, p.enc = s.data, encPlain
		return nil
	case p.enc == encDelta && n.Type == leaf.Int32:
		s.int32s, _, err = decodeDelta(s.int32s, p.plain, p.slots)
		return err
	case p.enc == encDelta && n.Type == leaf.Int64:
		s.int64s, _, err = decodeDelta(s.int64s, p.plain, p.slots)
		return err
	case p.enc == encDeltaLength && n.Type == leaf.Bytes:
		s.offsets, s.lengths, s.view, err = decodeDeltaLength(s.offsets, s.lengths, p.plain, p.slots)
		return err
	case p.enc == encDeltaBytes && (n.Type == leaf.Bytes || n.Type == leaf.Fixed):
		err = s.deltaBytes(p.plain, p.slots, maxBytes)
		s.view = s.data
		return err
	}
	return unsupportedf("encoding %d for values of this type", p.enc)
}
