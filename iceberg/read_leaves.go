package iceberg

import (
	"fmt"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
)

// leafSet reads the leaves of one row group side by side. A window says which
// rows are wanted; a leaf is read when it is fetched, and passes over the rows
// that nobody fetched, so that a column costs nothing while no row passes the
// filter.
type leafSet struct {
	file  *pq.File
	group int
	from  int // first row of the window within the row group
	rows  int // rows of the window
	cols  []leafColumn
}

// leafColumn is one leaf, opened at its first fetch.
//
// Invariant: batch holds the rows from..done-1, and done is where the reader
// stands.
type leafColumn struct {
	reader     *pq.ColumnReader
	from, done int
	batch      leaf.Batch
}

func newLeafSet(file *pq.File) *leafSet {
	return &leafSet{file: file, cols: make([]leafColumn, len(file.Leaves()))}
}

// startGroup moves to the first row of a row group.
func (s *leafSet) startGroup(group int) {
	s.group, s.from, s.rows = group, 0, 0
	for i := range s.cols {
		c := &s.cols[i]
		c.reader, c.from, c.done = nil, 0, 0
	}
}

// window sets the rows that are fetched next. Windows go forward.
func (s *leafSet) window(from, rows int) { s.from, s.rows = from, rows }

// ahead reports whether leaf i stands beyond the start of the window.
func (s *leafSet) ahead(i int) bool { return s.cols[i].done > s.from }

// fetch returns the slots of leaf i for the rows of the window.
func (s *leafSet) fetch(i int) (*leaf.Batch, error) {
	c := &s.cols[i]
	if c.from == s.from && c.done == s.from+s.rows {
		return &c.batch, nil
	}
	if err := s.read(i, c); err != nil {
		return nil, fmt.Errorf("column %q: %w", dotted(s.file.Leaves()[i].Path), err)
	}
	return &c.batch, nil
}

func (s *leafSet) read(i int, c *leafColumn) error {
	if c.done > s.from {
		panic("BUG: a leaf was read beyond the rows that are wanted")
	}
	if c.reader == nil {
		r, err := s.file.Column(s.group, i)
		if err != nil {
			return err
		}
		c.reader = r
	}
	if c.done < s.from {
		if err := c.reader.Skip(s.from - c.done); err != nil {
			return err
		}
	}
	c.from, c.done = s.from, s.from+s.rows
	return c.reader.Read(&c.batch, s.rows)
}

// fetchAll returns the batches of several leaves in dst.
func (s *leafSet) fetchAll(dst []*leaf.Batch, leaves []int) ([]*leaf.Batch, error) {
	dst = dst[:0]
	for _, i := range leaves {
		b, err := s.fetch(i)
		if err != nil {
			return nil, err
		}
		dst = append(dst, b)
	}
	return dst, nil
}

// allNull reports whether leaf i of the row group is known to hold no value.
func (s *leafSet) allNull(i int) bool { return s.file.RowGroup(s.group).Column(i).AllNull() }

func dotted(path []string) string {
	n := 0
	for _, p := range path {
		n += len(p) + 1
	}
	out := make([]byte, 0, n)
	for i, p := range path {
		if i > 0 {
			out = append(out, '.')
		}
		out = append(out, p...)
	}
	return string(out)
}
