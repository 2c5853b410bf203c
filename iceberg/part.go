package iceberg

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
)

// part is one partition of an append: its rows in order, and the file that is
// being written.
type part struct {
	tuple   map[int]any // partition values by partition field id
	folder  string      // below the data folder, "" when unpartitioned
	ordinal int         // order of first appearance

	// Of the goroutine that calls the appender.
	pending *chunk
	lastUse int64 // row number

	// Guarded by the pool's lock.
	queue []*chunk
	busy  bool

	// Of the worker that serves the partition.
	file *dataFile
	seq  int // files so far

	buffered atomic.Int64 // bytes in the buffers of its row groups
}

// chunkAction is what to do after the rows of a chunk.
type chunkAction uint8

const (
	actNone  chunkAction = iota
	actGroup             // write the open row group
	actClose             // close the file
)

// chunk is a run of rows of one partition on their way to a worker: JSON texts
// with the places of their columns, or an Arrow batch.
type chunk struct {
	data  []byte
	rows  []rowRef
	spans []span // one a row and column, relative to the row
	batch arrow.RecordBatch
	line  int64 // number of the batch's first row
	act   chunkAction
	bytes int64 // of batch
}

// rowRef is one JSON row of a chunk.
type rowRef struct {
	line       int64
	start, end uint32
}

// The size at which a chunk goes to a worker.
const (
	chunkBytes = 256 << 10
	chunkRows  = 1024
)

func (c *chunk) size() int64 {
	return int64(len(c.data)) + int64(len(c.spans))*8 + int64(len(c.rows))*16 + c.bytes
}

func (c *chunk) full() bool { return len(c.data) >= chunkBytes || len(c.rows) >= chunkRows }

// add copies a JSON row.
func (c *chunk) add(line int64, row []byte, spans []span) {
	start := uint32(len(c.data))
	c.data = append(c.data, row...)
	c.rows = append(c.rows, rowRef{line: line, start: start, end: uint32(len(c.data))})
	c.spans = append(c.spans, spans...)
}

// count is the number of rows.
func (c *chunk) count() int {
	if c.batch != nil {
		return int(c.batch.NumRows())
	}
	return len(c.rows)
}

// release lets go of the batch.
func (c *chunk) release() {
	if c.batch != nil {
		c.batch.Release()
		c.batch = nil
	}
}

// recycle gives the memory of a chunk back, unless it is oversized.
func (a *Appender) recycle(c *chunk) {
	c.release()
	if cap(c.data) <= 2*chunkBytes {
		*c = chunk{data: c.data[:0], rows: c.rows[:0], spans: c.spans[:0]}
		a.chunks.Put(c)
	}
}
