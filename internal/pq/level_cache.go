package pq

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/frazil/frazil/internal/leaf"
)

// levelWidth returns the bits of a level.
func levelWidth(highest uint8) uint { return uint(bits.Len8(highest)) }

// levelCache keeps what was made of the levels of a row group, page by page:
// leaves of one column often share their runs (leaf.Levels), and then their
// bytes and page boundaries.
type levelCache struct {
	encoded map[levelKey]encodedLevels
	rows    map[levelKey]int
	bytes   []byte
}

// levelKey names a stretch of a list of runs, which its first element stands
// for; n counts slots, or rows in the map of those.
type levelKey struct {
	first   *leaf.Run
	runs    int
	slot, n int
	highest uint8
}

// encodedLevels are bytes from..to of the cache, of which full levels equal the
// highest, and the cursor behind them.
type encodedLevels struct {
	from, to, full int
	after          runCursor
}

// reset forgets everything: the lists of the next row group may lie in the same
// memory.
func (l *levelCache) reset() {
	if l.encoded == nil {
		l.encoded, l.rows = make(map[levelKey]encodedLevels), make(map[levelKey]int)
	}
	clear(l.encoded)
	clear(l.rows)
	l.bytes = l.bytes[:0]
}

// append appends the levels of one page, with their length before them, moves
// the cursor behind them and returns how many equal highest.
func (l *levelCache) append(page []byte, c *runCursor, p pageSpan, highest uint8) ([]byte, int) {
	if p.slots == 0 {
		return append(page, 0, 0, 0, 0), 0
	}
	key := levelKey{&c.runs[0], len(c.runs), p.slot, p.slots, highest}
	e, ok := l.encoded[key]
	if !ok {
		e.from = len(l.bytes)
		l.bytes = append(l.bytes, 0, 0, 0, 0)
		l.bytes, e.full = appendLevels(l.bytes, c, p.slots, highest)
		e.to, e.after = len(l.bytes), *c
		binary.LittleEndian.PutUint32(l.bytes[e.from:], uint32(e.to-e.from-4))
		l.encoded[key] = e
	}
	*c = e.after
	return append(page, l.bytes[e.from:e.to]...), e.full
}

// rowSlots returns the slots of the next rows of repetition levels, whose first
// is number slot.
func (l *levelCache) rowSlots(c *runCursor, slot, rows int) int {
	if len(c.runs) == 0 {
		return 0
	}
	key := levelKey{first: &c.runs[0], runs: len(c.runs), slot: slot, n: rows}
	n, ok := l.rows[key]
	if !ok {
		n = rowSlots(*c, rows)
		l.rows[key] = n
	}
	return n
}

func rowSlots(c runCursor, rows int) int {
	slots, started := 0, 0
	for {
		level, n := c.take(math.MaxInt32)
		switch {
		case n == 0:
			return slots
		case level > 0:
			slots += n
		case started+n > rows:
			return slots + rows - started
		default:
			started += n
			slots += n
		}
	}
}
