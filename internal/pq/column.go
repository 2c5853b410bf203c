package pq

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/frazil/frazil/internal/leaf"
)

// ColumnReader reads one leaf of one row group. It is not safe for concurrent
// use; several readers of one File are independent.
//
// Invariants: next is the offset of the first byte of the chunk that was not
// decoded; window holds the file's bytes from windowOffset on; row is the row
// at which the page stands, and skip rows are to be passed over before the next
// read.
type ColumnReader struct {
	file    *File
	group   int
	ordinal int
	chunk   *Chunk
	info    leaf.Info
	rows    int64 // of the row group

	row, skip    int64
	next, end    int64
	window       []byte
	windowOffset int64
	started      bool
	exactPages   bool       // requests end with the page
	index        *PageIndex // once a skip has needed it
	dict         dictionary
	page         page
	block        repBlock
	indexes      []int32
	levels       []uint8
	err          error
}

// Remaining returns the rows that were neither read nor skipped.
func (c *ColumnReader) Remaining() int { return int(c.rows - c.row - c.skip) }

// Read replaces b's content with the slots of the next rows. Asking for more
// rows than remain is an error. After an error the reader is useless.
func (c *ColumnReader) Read(b *leaf.Batch, rows int) (err error) {
	if c.err != nil {
		return c.err
	}
	resetBatch(b, c.info)
	if rows < 0 || rows > c.Remaining() {
		return c.file.locate(inputf("%d rows of %d that remain", rows, c.Remaining()), c.group, c.ordinal)
	}
	defer func() {
		err = c.file.locate(err, c.group, c.ordinal)
		if c.err = err; err != nil || c.Remaining() == 0 {
			c.release()
		}
	}()
	defer recoverCorrupt(&err)
	if rows == 0 {
		return nil
	}
	if err := c.settle(); err != nil {
		return err
	}
	b.Rows = rows
	if c.info.MaxRep > 0 {
		err = c.readRepeated(b, rows)
	} else {
		err = c.readFlat(b, rows)
	}
	c.row += int64(rows)
	return err
}

// Skip passes over the next rows. It reads nothing: the next Read finds its way
// with the offset index, when the file has one, and otherwise from page to page.
func (c *ColumnReader) Skip(rows int) error {
	if rows < 0 || rows > c.Remaining() {
		return c.file.locate(inputf("%d rows of %d that remain", rows, c.Remaining()), c.group, c.ordinal)
	}
	c.skip += int64(rows)
	return nil
}

func resetBatch(b *leaf.Batch, in leaf.Info) {
	b.Info = in
	b.Rows, b.Slots, b.Nulls = 0, 0, 0
	b.Def, b.Rep = b.Def[:0], b.Rep[:0]
	b.Bools, b.Int32s, b.Int64s = b.Bools[:0], b.Int32s[:0], b.Int64s[:0]
	b.Floats, b.Doubles = b.Floats[:0], b.Doubles[:0]
	b.Offsets, b.Data = b.Offsets[:0], b.Data[:0]
	b.Dict, b.Index = nil, b.Index[:0]
}

func (c *ColumnReader) readFlat(b *leaf.Batch, rows int) error {
	for rows > 0 {
		if c.page.slots == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
			continue
		}
		n := min(rows, c.page.slots)
		if err := c.readSlots(b, n); err != nil {
			return err
		}
		rows -= n
	}
	return nil
}

var oneByte = func() (t [256][1]byte) {
	for i := range t {
		t[i][0] = byte(i)
	}
	return t
}()

// readSlots appends n slots of the current page but for their repetition levels.
func (c *ColumnReader) readSlots(b *leaf.Batch, n int) error {
	values := n
	if highest := c.info.MaxDef; highest > 0 {
		at := len(b.Def)
		b.Def = growKeep(b.Def, at+n)
		def := b.Def[at:]
		if err := c.page.def.read(def); err != nil {
			return err
		}
		values = bytes.Count(def, oneByte[highest][:])
	}
	c.page.slots -= n
	b.Slots += n
	b.Nulls += n - values
	if values == 0 {
		return nil
	}
	return c.readValues(b, values)
}

// repBlock is a stretch of repetition levels that were decoded ahead, to see
// where a row ends.
type repBlock struct{ levels, rest []uint8 }

const repBlockSlots = 1024

// readRepeated appends whole rows of a repeated leaf.
func (c *ColumnReader) readRepeated(b *leaf.Batch, rows int) error {
	for rows >= 0 {
		n, err := c.rowPart(&rows)
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		if b.Slots+n > c.file.opts.MaxPageBytes {
			return corruptf("a batch of %d rows has more than %d values", b.Rows, c.file.opts.MaxPageBytes)
		}
		b.Rep = append(b.Rep, c.block.rest[:n]...)
		c.block.rest = c.block.rest[n:]
		if err := c.readSlots(b, n); err != nil {
			return err
		}
	}
	return nil
}

// rowPart returns how many of the decoded levels belong to the rows that are
// still wanted, and takes the rows that start there from *rows. 0 means that
// the next row starts, or the chunk ends, after the last of them.
func (c *ColumnReader) rowPart(rows *int) (int, error) {
	for len(c.block.rest) == 0 {
		more, err := c.moreLevels()
		if err != nil {
			return 0, err
		}
		if !more {
			if *rows > 0 {
				return 0, corruptf("the column chunk ends %d rows early", *rows)
			}
			return 0, nil
		}
	}
	n := 0
	n, *rows = rowStarts(c.block.rest, *rows)
	return n, nil
}

// rowStarts returns how many levels come before row start number rows, counted
// from 0, and how many of the rows are left if there is none.
func rowStarts(levels []uint8, rows int) (n, left int) {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	for ; n+8 <= len(levels); n += 8 {
		w := binary.LittleEndian.Uint64(levels[n:])
		zeros := 8 - bits.OnesCount64(((w&low)+low|w)&high)
		if zeros > rows {
			break
		}
		rows -= zeros
	}
	for ; n < len(levels); n++ {
		if levels[n] > 0 {
			continue
		}
		if rows == 0 {
			return n, 0
		}
		rows--
	}
	return n, rows
}

// moreLevels decodes the next block of repetition levels; false is the end of
// the chunk.
func (c *ColumnReader) moreLevels() (bool, error) {
	for c.page.slots == 0 {
		if c.next >= c.end {
			return false, nil
		}
		if err := c.nextPage(); err != nil {
			return false, err
		}
	}
	n := min(repBlockSlots, c.page.slots)
	c.block.levels = grow(c.block.levels, n)
	c.block.rest = c.block.levels
	first := !c.started
	c.started = true
	if err := c.page.rep.read(c.block.rest); err != nil {
		return false, err
	}
	if first && c.block.rest[0] != 0 {
		return false, corruptf("the column chunk starts inside of a row")
	}
	return true, nil
}

// settle carries out the skip.
func (c *ColumnReader) settle() error {
	if c.skip == 0 {
		return nil
	}
	if c.info.MaxRep > 0 || c.skip > int64(c.page.slots) {
		if err := c.jump(); err != nil {
			return err
		}
	}
	if c.info.MaxRep > 0 {
		return c.discardRepeated()
	}
	for c.skip > 0 {
		if c.page.slots == 0 {
			if err := c.nextPage(); err != nil {
				return err
			}
			continue
		}
		n := min(c.skip, int64(c.page.slots))
		if err := c.discardSlots(int(n)); err != nil {
			return err
		}
		c.row += n
		c.skip -= n
	}
	return nil
}

// discardSlots passes over n slots of the current page.
func (c *ColumnReader) discardSlots(n int) error {
	if n == c.page.slots {
		c.page.slots = 0
		return nil
	}
	for n > 0 {
		k := min(n, repBlockSlots)
		values := k
		if highest := c.info.MaxDef; highest > 0 {
			c.levels = grow(c.levels, k)
			if err := c.page.def.read(c.levels); err != nil {
				return err
			}
			values = bytes.Count(c.levels, oneByte[highest][:])
		}
		if err := c.skipValues(values); err != nil {
			return err
		}
		c.page.slots -= k
		n -= k
	}
	return nil
}

func (c *ColumnReader) discardRepeated() error {
	rows := int(c.skip)
	for rows >= 0 {
		n, err := c.rowPart(&rows)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		c.block.rest = c.block.rest[n:]
		if err := c.discardSlots(n); err != nil {
			return err
		}
	}
	c.row += c.skip
	c.skip = 0
	return nil
}

// jump moves to the page that holds the row after the skip, when that is
// another page and the file has an offset index.
func (c *ColumnReader) jump() error {
	if c.chunk.offsetIndex.size == 0 {
		return nil
	}
	if c.index == nil {
		x, err := c.file.offsetIndex(c.group, c.chunk)
		if err != nil {
			return err
		}
		c.index = x
	}
	c.exactPages = true
	pages := c.index.Pages
	target := c.row + c.skip
	i := sort.Search(len(pages), func(i int) bool { return pages[i].FirstRow > target }) - 1
	if i < 0 || pages[i].Offset < c.next {
		return nil // the row is in the current page
	}
	if err := c.loadDictionary(pages[0].Offset); err != nil {
		return err
	}
	c.skipPages(i)
	c.page.slots, c.block.rest, c.started = 0, nil, false
	c.next = pages[i].Offset
	c.skip = target - pages[i].FirstRow
	c.row = pages[i].FirstRow
	return nil
}

// skipPages counts the pages between the current one and page i.
func (c *ColumnReader) skipPages(i int) {
	for _, p := range c.index.Pages[:i] {
		if p.Offset >= c.next {
			c.file.pagesSkipped.Add(1)
		}
	}
}
