package variant

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
)

const (
	// dictSlots is the number of dictionaries that a path remembers; a power of two.
	dictSlots = 8
	// minDict and maxDict bound the metadata worth remembering, in bytes: below,
	// a search is as fast; above, comparing the bytes costs more than a search.
	minDict = 8
	maxDict = 2048
	// dictPause is the number of misses between two entries that are made, once
	// all slots could be full: rows that share no dictionaries must not make an
	// entry each.
	dictPause = 64
)

// idCache remembers the ids of some names in the dictionaries seen last, by the
// dictionaries' bytes: rows of one shape share them. Entries are immutable but
// for their hints, so that any number of goroutines may use one cache.
type idCache struct {
	slots  [dictSlots]atomic.Pointer[resolved]
	before [dictSlots]atomic.Uint32 // hash of the last miss: an entry is made at the second
	misses atomic.Uint32
}

// resolved holds the ids of a list of steps in one dictionary.
type resolved struct {
	metadata []byte
	absent   bool // some name is not in the dictionary
	steps    []resolvedStep
}

// resolvedStep is where a name stands in the dictionary, and stood in the object
// where it was last found.
type resolvedStep struct {
	id    uint32 // noID for an index, and for a name that is not there
	hint  atomic.Uint32
	index int // of an element; -1 for a name
}

const noID = 1<<32 - 1

// find returns the entry for a dictionary, or nil.
func (c *idCache) find(metadata []byte, steps []*compiledStep) *resolved {
	n := len(metadata)
	if n < minDict || n > maxDict {
		return nil
	}
	le := binary.LittleEndian
	h := le.Uint64(metadata[n-8:]) ^ le.Uint64(metadata[min(n/2, n-8):])*0x9E3779B97F4A7C15
	h = (h ^ uint64(n)) * 0x9E3779B97F4A7C15
	slot := h >> 61 % dictSlots
	r := c.slots[slot].Load()
	if r != nil && bytes.Equal(r.metadata, metadata) {
		return r
	}
	return c.miss(metadata, steps, slot, uint32(h))
}

// miss makes an entry when a dictionary comes the second time, and not too often.
func (c *idCache) miss(metadata []byte, steps []*compiledStep, slot uint64, hash uint32) *resolved {
	if c.before[slot].Swap(hash) != hash {
		return nil
	}
	if n := c.misses.Add(1); n > dictSlots && n%dictPause != 0 {
		return nil
	}
	r := resolve(metadata, steps)
	if r != nil {
		c.slots[slot].Store(r)
	}
	return r
}

// resolve looks all names up by a scan, which relies on no order. It gives none
// for a dictionary that is corrupt or has a name twice, where an object may use
// either id.
func resolve(metadata []byte, steps []*compiledStep) *resolved {
	d, ok := viewDict(metadata)
	if !ok {
		return nil
	}
	r := &resolved{metadata: bytes.Clone(metadata), steps: make([]resolvedStep, len(steps))}
	for i, s := range steps {
		r.steps[i].id, r.steps[i].index = noID, -1
		if s.isIndex {
			r.steps[i].index = s.index
		}
	}
	for id := range d.n {
		name, ok := d.name(id)
		if !ok {
			return nil
		}
		for i, s := range steps {
			if s.isIndex || string(name) != s.name {
				continue
			}
			if r.steps[i].id != noID {
				return nil
			}
			r.steps[i].id = uint32(id)
		}
	}
	for i, s := range steps {
		r.absent = r.absent || !s.isIndex && r.steps[i].id == noID
	}
	return r
}

// take makes a step in an object of up to 255 fields.
func (r *resolvedStep) take(b []byte) ([]byte, walkState) {
	if len(b) < 2 || b[0]&0x43 != basicObject || r.id == noID {
		return nil, walkUnsure
	}
	n, idW, offW := int(b[1]), int(b[0]>>4&3)+1, int(b[0]>>2&3)+1
	offs := 2 + n*idW
	data := offs + (n+1)*offW
	if data+4 > len(b) { // so that four bytes can be loaded at every id and offset
		return nil, walkUnsure
	}
	le := binary.LittleEndian
	pos := int(r.hint.Load())
	if pos >= n || le.Uint32(b[2+pos*idW:])&widthMask[idW] != r.id {
		if pos = indexID(b[2:offs], idW, r.id); pos < 0 {
			return nil, walkMissing
		}
		r.hint.Store(uint32(pos))
	}
	at := data + int(le.Uint32(b[offs+pos*offW:])&widthMask[offW])
	end := data + int(le.Uint32(b[data-offW:])&widthMask[offW])
	if at >= end || end > len(b) {
		return nil, walkUnsure
	}
	return b[at:end], walkFound
}

// indexID returns the position of an id among ids of w bytes, or -1.
func indexID(ids []byte, w int, id uint32) int {
	if w == 1 {
		if id > 0xff {
			return -1
		}
		return bytes.IndexByte(ids, byte(id))
	}
	for i := 0; i < len(ids); i += w {
		if readUint(ids[i:], w) == id {
			return i / w
		}
	}
	return -1
}
