package iceberg

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/frazil/frazil/variant"
)

// rowScanner finds the columns of JSON rows. Rows of one source mostly have
// their fields in one order, so each field is first compared with the one that
// stood at its place in the row before, and only looked up when it differs.
type rowScanner struct {
	index  map[string]int // column by name
	order  []placedKey
	spans  []span // by column, of the row at hand
	strict *variant.Parser
	key    []byte
}

// placedKey remembers the field at one place of a row.
type placedKey struct {
	raw    []byte // key with its quotes
	column int    // -1: not a column of the table
}

func newRowScanner(names []string, parse variant.ParseOptions) *rowScanner {
	s := &rowScanner{index: map[string]int{}, spans: make([]span, len(names)), strict: variant.NewParser(parse)}
	for i, n := range names {
		s.index[n] = i
	}
	return s
}

// scan fills spans with the places of the columns' values in row. Fields that
// are no columns are checked and dropped.
func (s *rowScanner) scan(row []byte) error {
	clear(s.spans)
	place := 0
	return members(row, func(key []byte, value span) error {
		var column int
		if place < len(s.order) && bytes.Equal(s.order[place].raw, key) {
			column = s.order[place].column
		} else {
			var err error
			if column, err = s.learn(place, key); err != nil {
				return err
			}
		}
		place++
		if column < 0 {
			return s.strict.Parse(row[value.start:value.end], discard{})
		}
		if s.spans[column].end != 0 {
			return fmt.Errorf("%w %s", variant.ErrDuplicateKey, key)
		}
		s.spans[column] = value
		return nil
	})
}

// maxOrder bounds the memory of scan for rows with endless fields.
const maxOrder = 10_000

func (s *rowScanner) learn(place int, key []byte) (int, error) {
	var err error
	if s.key, err = unquote(s.key[:0], key); err != nil {
		return 0, err
	}
	column, ok := s.index[string(s.key)]
	if !ok {
		column = -1
	}
	if place < maxOrder {
		for len(s.order) <= place {
			s.order = append(s.order, placedKey{})
		}
		s.order[place] = placedKey{raw: append(s.order[place].raw[:0], key...), column: column}
	}
	return column, nil
}

// discard is the sink of values that are only checked.
type discard struct{}

func (discard) Begin(variant.Kind)     {}
func (discard) End()                   {}
func (discard) Key([]byte)             {}
func (discard) Scalar(*variant.Scalar) {}
func (discard) Err() error             { return nil }

// checker checks values without keeping them. It is safe for concurrent use.
type checker struct{ pool sync.Pool }

func newChecker() *checker {
	return &checker{pool: sync.Pool{New: func() any { return variant.NewParser(variant.ParseOptions{}) }}}
}

// Parse fails when text is no valid Variant JSON.
func (c *checker) Parse(text []byte) error {
	p := c.pool.Get().(*variant.Parser)
	defer c.pool.Put(p)
	return p.Parse(text, discard{})
}
