package pq

import (
	"errors"
	"sort"
)

// nextPage makes the next data page current. At the end of the chunk it is an
// error: the caller knows that rows are missing.
func (c *ColumnReader) nextPage() error {
	for c.next < c.end {
		h, body, err := c.nextBody()
		if err != nil {
			return err
		}
		switch h.typ {
		case pageDictionary:
			if err := c.setDictionary(&h, body); err != nil {
				return err
			}
		case pageData, pageDataV2:
			return c.startPage(&h, body)
		}
	}
	return corruptf("the column chunk ends early")
}

// nextBody takes the next page of any type.
func (c *ColumnReader) nextBody() (h pageHeader, body []byte, err error) {
	h, size, err := c.nextHeader()
	if err != nil {
		return h, nil, err
	}
	if err := h.check(&c.file.opts, c.chunk.Codec); err != nil {
		return h, nil, err
	}
	if h.compressed > c.end-c.next-int64(size) {
		return h, nil, corruptf("a page of %d bytes reaches out of its column chunk", h.compressed)
	}
	b, err := c.fetch(size + int(h.compressed))
	if err != nil {
		return h, nil, err
	}
	c.next += int64(len(b))
	body = b[size:]
	if !c.file.opts.SkipChecksums {
		err = h.checkCRC(body)
	}
	return h, body, err
}

// nextHeader decodes the header of the next page, reading more while it is not
// complete, and returns its length.
func (c *ColumnReader) nextHeader() (h pageHeader, size int, err error) {
	for n := int64(c.headerGuess()); ; n *= 4 {
		b, err := c.fetch(int(min(n, c.end-c.next)))
		if err != nil {
			return h, 0, err
		}
		h, size, err = decodePageHeader(b)
		if !errors.Is(err, errThriftShort) {
			return h, size, err
		}
		if n >= c.end-c.next || n >= c.file.opts.maxPageHeader() {
			return h, 0, corruptf("a page header ends early")
		}
	}
}

// headerGuess is how many bytes to ask for first: in a reader that jumps, the
// whole page, whose size the offset index tells.
func (c *ColumnReader) headerGuess() int {
	const usual = 128
	if !c.exactPages {
		return usual
	}
	pages := c.index.Pages
	i := sort.Search(len(pages), func(i int) bool { return pages[i].Offset >= c.next })
	switch {
	case i < len(pages) && pages[i].Offset == c.next:
		return int(pages[i].Size)
	case i == 0: // the dictionary comes before the first page
		return int(pages[0].Offset - c.next)
	}
	return usual
}

// fetch returns the n bytes of the file at c.next, with slack behind them. They
// stay valid until the next call.
func (c *ColumnReader) fetch(n int) ([]byte, error) {
	from := c.next - c.windowOffset
	if from >= 0 && from+int64(n) <= int64(len(c.window)) {
		return c.window[from : from+int64(n)], nil
	}
	var have []byte
	if from >= 0 && from < int64(len(c.window)) {
		have = c.window[from:]
	}
	size := n
	if !c.exactPages {
		size = max(n, len(have)+int(min(int64(c.file.opts.ReadAhead), c.end-c.next-int64(len(have)))))
	}
	// The page before is used up, so that its memory can be overwritten.
	window := c.window
	if cap(window) < size+slack {
		window = takeBuffer(size + slack)
	}
	window = window[:size]
	copy(window, have)
	if cap(c.window) > 0 && cap(c.window) < size+slack {
		giveBuffer(c.window)
	}
	read, err := c.file.readInto(window[len(have):], c.next+int64(len(have)))
	c.file.pageBytes.Add(int64(read))
	if err != nil {
		return nil, err
	}
	c.window, c.windowOffset = window, c.next
	return window[:n], nil
}

// startPage makes a data page current.
func (c *ColumnReader) startPage(h *pageHeader, body []byte) error {
	p := &c.page
	if h.values > c.chunk.Slots || c.info.MaxRep == 0 && h.values > c.rows {
		return corruptf("a page of %d values in a chunk of %d", h.values, c.chunk.Slots)
	}
	if c.block.rest != nil {
		c.block.rest = c.block.rest[:0]
	}
	p.slots = int(h.values)
	c.file.touched[c.ordinal].Store(true)
	// Skipped whole: neither decompressed nor decoded.
	if c.info.MaxRep == 0 && c.skip > 0 && c.skip >= h.values {
		c.file.pagesSkipped.Add(1)
		return nil
	}
	c.file.pagesRead.Add(1)
	body, err := c.decompress(h, body)
	if err != nil {
		return err
	}
	if h.typ == pageDataV2 {
		p.startV2(h, &c.info, body)
	} else if err := p.startV1(h, &c.info, body); err != nil {
		return err
	}
	return p.startValues(h.enc, &c.info, c.file.opts.MaxPageBytes)
}

// decompress returns the page's body as it was before compression, with slack
// behind it. The levels of a version 2 page are never compressed.
func (c *ColumnReader) decompress(h *pageHeader, body []byte) ([]byte, error) {
	levels := 0
	if h.typ == pageDataV2 {
		levels = int(h.defBytes + h.repBytes)
		if !h.isCompressed {
			return body, nil
		}
	}
	if c.chunk.Codec == Uncompressed {
		return body, nil
	}
	n := int(h.uncompressed)
	if cap(c.page.body) < n+slack {
		giveBuffer(c.page.body)
		c.page.body = takeBuffer(n + slack)
	}
	out := c.page.body[:n]
	copy(out, body[:levels])
	if n == levels { // no values: some writers leave out the empty frame
		return out, nil
	}
	return out, decompress(c.chunk.Codec, out[levels:], body[levels:])
}
