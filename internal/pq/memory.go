package pq

import (
	"math/bits"
	"sync"
)

// The memory of windows and page bodies is pooled, because a scan opens a
// reader for every column of every row group. The rule: only ColumnReader takes
// and gives back, it does so when its last row was read or an error ended it,
// no batch or dictionary ever points into the memory, and buffers of more than
// maxPooled bytes are left to the collector.
const (
	minPooled = 16 << 10
	maxPooled = 8 << 20
)

var pooled sync.Pool // of *[]byte

// takeBuffer returns n bytes of arbitrary content.
func takeBuffer(n int) []byte {
	if b, _ := pooled.Get().(*[]byte); b != nil && cap(*b) >= n {
		return (*b)[:n]
	}
	// Powers of two, so that the next column finds it large enough.
	return make([]byte, n, max(1<<bits.Len(uint(n-1)), minPooled))
}

func giveBuffer(b []byte) {
	if cap(b) > 0 && cap(b) <= maxPooled {
		pooled.Put(&b)
	}
}

// release gives the reader's memory back.
func (c *ColumnReader) release() {
	giveBuffer(c.window)
	giveBuffer(c.page.body)
	c.window, c.page.body, c.page.plain, c.page.scratch.view = nil, nil, nil, nil
	c.page.hybrid, c.page.def, c.page.rep = hybridReader{}, levelReader{}, levelReader{}
}

// Encoders are pooled as well: a table's many files, and the many files that a
// partitioned append has open, then share a few. The rule: only WriteRowGroup
// takes and gives back, nothing that it leaves behind points into an encoder,
// and one that has grown past maxEncoder is left to the collector.
const maxEncoder = 64 << 20

var pooledEncoders sync.Pool // of *chunkEncoder

func takeEncoder(o *WriterOptions) *chunkEncoder {
	e, _ := pooledEncoders.Get().(*chunkEncoder)
	if e == nil {
		e = &chunkEncoder{}
	}
	if e.comp.codec != o.Codec || e.comp.level != o.Level {
		e.comp = compressor{codec: o.Codec, level: o.Level}
	}
	e.opts = o
	e.levels.reset()
	return e
}

func giveEncoder(e *chunkEncoder) {
	e.opts = nil
	e.levels.reset() // it points to the row group's levels
	if cap(e.out)+cap(e.page)+cap(e.gather.data)+8*cap(e.numbers) <= maxEncoder {
		pooledEncoders.Put(e)
	}
}

// grow returns a slice of length n that reuses the memory of s. Its content is
// arbitrary.
func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, n+n/4)
}

// growKeep returns s with length n and its content kept.
func growKeep[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	out := make([]T, n, n+n/2)
	copy(out, s)
	return out
}
