package stream

import (
	"sync/atomic"
	"time"
)

// Progress describes the epoch that has just ended and the query so far.
type Progress struct {
	Query    string
	Epoch    int64
	Records  int64         // read in this epoch
	Bad      int64         // of these, refused
	Duration time.Duration // from the epoch's first record to its commit
	Commit   time.Duration // of this, the sink's commit
	Offsets  Offsets       // the next record of every assigned partition
	Total    Counters
}

// Counters count since the query was started.
type Counters struct {
	Records   int64 // read from the source, bad ones included
	Bytes     int64 // of their values
	Emitted   int64 // records given to the sink
	Bad       int64 // refused by the transform or the sink
	Epochs    int64 // committed
	Fenced    int64 // epochs dropped because another writer was faster
	Rebalance int64 // times that partitions arrived
}

// counters are Counters that one goroutine writes and others read.
type counters struct {
	records, bytes, emitted, bad, epochs, fenced, rebalance atomic.Int64
}

func (c *counters) snapshot() Counters {
	return Counters{
		Records: c.records.Load(), Bytes: c.bytes.Load(), Emitted: c.emitted.Load(), Bad: c.bad.Load(),
		Epochs: c.epochs.Load(), Fenced: c.fenced.Load(), Rebalance: c.rebalance.Load(),
	}
}
