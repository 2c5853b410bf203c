package iceberg

import (
	"fmt"
	"testing"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/require"
)

func TestReshredCopiesEachRowOnce(t *testing.T) {
	cat := newCatalog(t)
	cols := []Column{{Name: "id", Type: ice.Int64Type{}}, {Name: "doc", Type: ice.VariantType{}}}
	source, err := cat.Create(bg, "ns.raw", TableSpec{Columns: cols, Unshredded: true})
	require.NoError(t, err)
	cols = append(cols, Column{Name: "region", Type: ice.StringType{}, Default: "EMEA"})
	target, err := cat.Create(bg, "ns.fast", TableSpec{Columns: cols})
	require.NoError(t, err)
	next := 0
	feed := func(n int) {
		var rows []string
		for range n {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"doc":{"n":%d}}`, next, next))
			next++
		}
		appendRows(t, source, rows...)
	}
	check := func(want int) {
		c, err := Reshred(bg, source, target, ReshredOptions{})
		require.NoError(t, err)
		require.EqualValues(t, want, c.Rows)
		got := readJSON(t, target)
		require.Len(t, got, next)
		for i, row := range got {
			require.Equal(t, fmt.Sprintf(`{"id":%d,"doc":{"n":%d},"region":"EMEA"}`, i, i), row)
		}
	}
	check(0)
	feed(30)
	feed(5)
	check(35)
	check(0)
	feed(40)
	_, err = source.Compact(bg, CompactOptions{}) // makes no row new
	require.NoError(t, err)
	feed(3)
	check(43)
	info, err := target.Inspect(bg)
	require.NoError(t, err)
	require.Contains(t, info.DataFiles[0].Shredded, "doc")

	_, err = source.Delete(bg, where(t, "id = 1"), WriteOptions{})
	require.NoError(t, err)
	_, err = Reshred(bg, source, target, ReshredOptions{})
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "SkipDeletes")
}

// A source from which whole files were deleted, by retention say, could never be
// copied from again: the deletion counted as an overwrite.
func TestReshredFollowsDeletes(t *testing.T) {
	cat := newCatalog(t)
	cols := []Column{{Name: "day", Type: ice.Int32Type{}}, {Name: "id", Type: ice.Int64Type{}}}
	source, err := cat.Create(bg, "ns.raw", TableSpec{Columns: cols, Partition: []PartitionField{{Source: "day"}}})
	require.NoError(t, err)
	target, err := cat.Create(bg, "ns.t", TableSpec{Columns: cols})
	require.NoError(t, err)
	appendRows(t, source, `{"day":1,"id":1}`, `{"day":2,"id":2}`)
	opts := ReshredOptions{SkipDeletes: true}
	_, err = Reshred(bg, source, target, opts)
	require.NoError(t, err)
	appendRows(t, source, `{"day":2,"id":3}`, `{"day":1,"id":4}`)
	deleteRows(t, source, "day = 1")
	require.Equal(t, table.OpDelete, source.Metadata().CurrentSnapshot().Summary.Operation)
	deleteRows(t, source, "id = 2")
	appendRows(t, source, `{"day":3,"id":5}`)
	c, err := Reshred(bg, source, target, opts)
	require.NoError(t, err)
	require.EqualValues(t, 2, c.Rows)
	require.ElementsMatch(t, []string{`{"day":1,"id":1}`, `{"day":2,"id":2}`, `{"day":2,"id":3}`, `{"day":3,"id":5}`}, readJSON(t, target))

	_, err = source.Update(bg, []Assignment{set(t, "id = 6")}, where(t, "id = 5"), WriteOptions{})
	require.NoError(t, err)
	_, err = Reshred(bg, source, target, opts)
	require.ErrorIs(t, err, ErrUnsupported)
}

// Two jobs copy at the same time: one of them fails, and no row comes twice.
func TestReshredIsFenced(t *testing.T) {
	cat := newCatalog(t)
	cols := []Column{{Name: "id", Type: ice.Int64Type{}}}
	source, err := cat.Create(bg, "ns.raw", TableSpec{Columns: cols})
	require.NoError(t, err)
	target, err := cat.Create(bg, "ns.t", TableSpec{Columns: cols})
	require.NoError(t, err)
	appendRows(t, source, numbered(10, `{"id":%d}`)...)
	f := &faults{commit: func(n int, do func() error) error {
		if n == 1 {
			_, err := Reshred(bg, source, target, ReshredOptions{})
			require.NoError(t, err)
		}
		return do()
	}}
	_, err = Reshred(bg, source, faulty(t, cat, "ns.t", f), ReshredOptions{})
	require.ErrorIs(t, err, ErrConflict)
	sameRows(t, 10, target)
}

// A table copied into itself held every row twice.
func TestReshredIntoItselfIsRefused(t *testing.T) {
	tbl, err := newCatalog(t).Create(bg, "ns.t", TableSpec{Columns: []Column{{Name: "id", Type: ice.Int64Type{}}}})
	require.NoError(t, err)
	appendRows(t, tbl, numbered(3, `{"id":%d}`)...)
	_, err = Reshred(bg, tbl, tbl, ReshredOptions{})
	require.ErrorIs(t, err, ErrInvalid)
	sameRows(t, 3, tbl)
}
