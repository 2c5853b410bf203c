package iceberg

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	ice "github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"
)

// modelRow is a row as the model knows it. The row id is learned at the first
// read and must not change afterwards.
type modelRow struct {
	cells map[string]string // JSON by column
	rowID int64             // -1 until it is known
	seq   int64
}

// model mirrors a table in plain Go.
type model struct {
	t       testing.TB
	r       *rand.Rand
	tbl     *Table
	rows    map[int]*modelRow
	nextID  int
	columns []string // beside id
	usedIDs map[int64]int
	log     []string
}

func (m *model) note(format string, args ...any) { m.log = append(m.log, fmt.Sprintf(format, args...)) }

func (m *model) newRow(id int) (*modelRow, string) {
	cells := map[string]string{
		"id": fmt.Sprint(id),
		"n":  fmt.Sprint(m.r.IntN(8)),
		"s":  fmt.Sprintf(`"p%d"`, m.r.IntN(3)),
		"v":  []string{fmt.Sprintf(`{"a":%d}`, id), `[1,"x"]`, `{"a":"t","b":null}`}[m.r.IntN(3)],
	}
	text := fmt.Sprintf(`{"id":%s,"n":%s,"s":%s,"v":%s`, cells["id"], cells["n"], cells["s"], cells["v"])
	if m.r.IntN(4) == 0 {
		text = fmt.Sprintf(`{"id":%s,"s":%s`, cells["id"], cells["s"])
		cells["n"], cells["v"] = "null", "null"
	}
	for i, c := range m.columns {
		cells[c] = fmt.Sprint(100 + i) // the write default
	}
	return &modelRow{cells: cells, rowID: -1}, text + "}"
}

func (m *model) appendRows() {
	var lines []string
	var added []*modelRow
	for range 1 + m.r.IntN(12) {
		row, text := m.newRow(m.nextID)
		m.rows[m.nextID] = row
		m.nextID++
		lines, added = append(lines, text), append(added, row)
	}
	m.note("append %d", len(lines))
	c := appendRows(m.t, m.tbl, lines...)
	for _, row := range added {
		row.seq = c.SequenceNumber
	}
}

// predicate gives a text and the same thing in Go.
func (m *model) predicate() (string, func(id int, r *modelRow) bool) {
	switch m.r.IntN(5) {
	case 0:
		low := m.r.IntN(m.nextID + 1)
		return fmt.Sprintf("id BETWEEN %d AND %d", low, low+4), func(id int, _ *modelRow) bool { return id >= low && id <= low+4 }
	case 1:
		n := fmt.Sprint(m.r.IntN(8))
		return "n = " + n, func(_ int, r *modelRow) bool { return r.cells["n"] == n }
	case 2:
		s := fmt.Sprintf("p%d", m.r.IntN(3))
		low := m.r.IntN(m.nextID + 1)
		return fmt.Sprintf("s = '%s' AND id < %d", s, low), func(id int, r *modelRow) bool { return r.cells["s"] == `"`+s+`"` && id < low }
	case 3:
		return "n IS NULL", func(_ int, r *modelRow) bool { return r.cells["n"] == "null" }
	}
	want := m.r.IntN(m.nextID + 1)
	return fmt.Sprintf("try_variant_get(v, '$.a', 'int') = %d", want), func(_ int, r *modelRow) bool { return r.cells["v"] == fmt.Sprintf(`{"a":%d}`, want) }
}

func (m *model) delete() {
	text, keep := m.predicate()
	m.note("delete %s", text)
	c := deleteRows(m.t, m.tbl, text)
	gone := int64(0)
	for id, row := range m.rows {
		if keep(id, row) {
			delete(m.rows, id)
			gone++
		}
	}
	require.Equal(m.t, gone, c.Deleted)
}

func (m *model) update() {
	text, matches := m.predicate()
	n := m.r.IntN(8)
	m.note("update n = %d where %s", n, text)
	c, err := m.tbl.Update(context.Background(), []Assignment{set(m.t, fmt.Sprintf("n = %d", n)), SetJSON("v", `{"a":-1}`)}, where(m.t, text), WriteOptions{})
	require.NoError(m.t, err)
	changed := int64(0)
	for id, row := range m.rows {
		if matches(id, row) {
			row.cells["n"], row.cells["v"], row.seq = fmt.Sprint(n), `{"a":-1}`, c.SequenceNumber
			changed++
		}
	}
	require.Equal(m.t, changed, c.Updated)
}

func (m *model) merge() {
	var lines []string
	var changed []*modelRow
	updated := 0
	for id, row := range m.rows {
		if m.r.IntN(6) == 0 {
			row.cells["s"] = fmt.Sprintf(`"p%d"`, m.r.IntN(4))
			lines = append(lines, fmt.Sprintf(`{"id":%d,"s":%s}`, id, row.cells["s"]))
			changed = append(changed, row)
			updated++
		}
	}
	for range m.r.IntN(4) {
		row, text := m.newRow(m.nextID)
		m.rows[m.nextID] = row
		m.nextID++
		lines, changed = append(lines, text), append(changed, row)
	}
	m.note("merge %d, %d of them new", len(lines), len(lines)-updated)
	c, err := m.tbl.MergeJSON(context.Background(), rowsOf(lines...), MergeOptions{On: []string{"id"}})
	require.NoError(m.t, err)
	require.EqualValues(m.t, updated, c.Updated)
	require.EqualValues(m.t, len(lines)-updated, c.Inserted)
	for _, row := range changed {
		row.seq = c.SequenceNumber
	}
}

func (m *model) evolve() {
	if len(m.columns) == 3 {
		return
	}
	name := fmt.Sprintf("c%d", len(m.columns))
	m.note("add column %s", name)
	err := m.tbl.AddColumn(context.Background(), "", Column{Name: name, Type: ice.Int32Type{}, Default: 100 + len(m.columns), InitialDefault: 50 + len(m.columns)})
	require.NoError(m.t, err)
	for _, row := range m.rows {
		row.cells[name] = fmt.Sprint(50 + len(m.columns))
	}
	m.columns = append(m.columns, name)
}

// check compares everything with the table.
func (m *model) check() {
	got := scanJSON(m.t, m.tbl, ScanOptions{Lineage: true})
	require.Len(m.t, got, len(m.rows))
	for _, text := range got {
		var cells map[string]json.RawMessage
		require.NoError(m.t, json.Unmarshal([]byte(text), &cells))
		var id int
		require.NoError(m.t, json.Unmarshal(cells["id"], &id))
		row := m.rows[id]
		require.NotNil(m.t, row, "a row that should be gone: %s", text)
		for name, want := range row.cells {
			require.Equal(m.t, want, string(cells[name]), "%s of %s", name, text)
		}
		var rowID, seq int64
		require.NoError(m.t, json.Unmarshal(cells["_row_id"], &rowID))
		require.NoError(m.t, json.Unmarshal(cells["_last_updated_sequence_number"], &seq))
		if row.rowID < 0 {
			require.NotContains(m.t, m.usedIDs, rowID, "a row id is used again: %s", text)
			row.rowID, m.usedIDs[rowID] = rowID, id
		}
		require.Equal(m.t, row.rowID, rowID, text)
		require.Equal(m.t, row.seq, seq, text)
	}
	if m.tbl.Unwrap().CurrentSnapshot() != nil {
		vectorsOf(m.t, m.tbl)
	}
}

// TestModel runs random sequences of changes against a plain Go map; rows, row
// ids, sequence numbers, counts and at most one vector a file hold after every
// step (D01-D08, D19, L08-L12).
func TestModel(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 99))
			partition := []string{"", "s", "bucket(3,id)"}[seed%3]
			tbl := newTable(t, newCatalog(t), "id:bigint,n:int,s:string,v:variant", partition)
			if seed >= 2 {
				require.NoError(t, tbl.SetProperties(context.Background(), map[string]string{
					propUpdateMode: []string{"merge-on-read", modeCopyOnWrite}[seed%2], propDeleteMode: modeCopyOnWrite,
				}))
			}
			m := &model{t: t, r: r, tbl: tbl, rows: map[int]*modelRow{}, usedIDs: map[int64]int{}}
			defer func() {
				if t.Failed() {
					t.Log(m.log)
				}
			}()
			steps := []func(){m.appendRows, m.appendRows, m.delete, m.update, m.merge, m.evolve}
			m.appendRows()
			for range 12 {
				steps[r.IntN(len(steps))]()
				m.check()
			}
			requireOracle(t, tbl)
			require.True(t, slices.IsSorted(scanJSON(t, tbl, ScanOptions{Columns: []string{ice.LastUpdatedSequenceNumberColumnName}, Limit: 1})))
		})
	}
}
