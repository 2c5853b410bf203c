package iceberg

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

// throughBytes sends the tasks of a scan to another handle and reads them there.
func throughBytes(t testing.TB, tbl, other *Table, opts ScanOptions) []string {
	t.Helper()
	scan, err := tbl.Scan(bg, opts)
	require.NoError(t, err)
	tasks, err := scan.Tasks()
	require.NoError(t, err)
	var got []Task
	for _, task := range tasks {
		data, err := task.MarshalBinary()
		require.NoError(t, err)
		var again Task
		require.NoError(t, again.UnmarshalBinary(data))
		twice, err := again.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, string(data), string(twice))
		got = append(got, again)
	}
	if len(got) == 0 {
		return nil
	}
	back, err := other.ScanTasks(bg, got, TaskOptions{Workers: 3})
	require.NoError(t, err)
	require.Equal(t, scan.SnapshotID(), back.SnapshotID())
	var out bytes.Buffer
	for lines, err := range back.JSON(bg, JSONRows) {
		require.NoError(t, err)
		out.Write(lines)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// Every table of the conformance set, with its vectors, position deletes, defaults
// and partitions, reads the same through tasks.
func TestTasksReadAsTheScan(t *testing.T) {
	for _, name := range []string{
		"dv_multi_file", "dv_repeated_s", "update_mor", "v2_posdel_upgraded", "partition_transforms", "defaults",
		"schema_evolution", "trades_s", "variant_bounds", "rewrite_data_files",
	} {
		t.Run(name, func(t *testing.T) {
			tbl := conformanceTable(t, name)
			opts := ScanOptions{Lineage: true}
			want := scanJSON(t, tbl, opts)
			require.Equal(t, want, throughBytes(t, tbl, conformanceTable(t, name), opts))
		})
	}
}

// A task carries projections, predicates and extractions, also when the table has
// moved on, and reads its own snapshot.
func TestTasksCarryTheScan(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id bigint, p string, d date, v variant", "p, day(d)")
	for i := range 3 {
		appendRows(t, tbl, numbered(40, `{"id":%[1]d,"p":"x%[1]d","d":"2026-07-01","v":{"n":%[1]d,"s":"a"}}`)...)
		deleteRows(t, tbl, []string{"id = 3", "id = 5 AND p = 'x5'", "id > 30"}[i])
	}
	path, err := variant.ParsePath("$.n")
	require.NoError(t, err)
	typ, err := variant.ParseType("int")
	require.NoError(t, err)
	snapshot := tbl.Metadata().CurrentSnapshot().SnapshotID
	cases := []ScanOptions{
		{},
		{Columns: []string{"v", "id"}, Where: where(t, "id < 20 AND variant_get(v, '$.n', 'int') <> 7")},
		{Extractions: []Extraction{{Name: "n", Column: "v", Path: path, Type: typ}}, Where: where(t, "p LIKE 'x1%'")},
		{Columns: []string{}, Lineage: true},
	}
	var want [][]string
	for _, opts := range cases {
		want = append(want, scanJSON(t, tbl, opts))
	}
	require.NoError(t, tbl.RenameColumn(bg, "id", "number"))
	deleteRows(t, tbl, "number < 10")
	other, err := cat.Load(bg, "ns.t")
	require.NoError(t, err)
	for i, opts := range cases {
		opts.SnapshotID = snapshot
		require.Equal(t, want[i], throughBytes(t, tbl, other, opts), "case %d", i)
	}
}

func TestTasksOfEqualityDeletes(t *testing.T) {
	tbl := newTableV2(t, newCatalog(t))
	appendRows(t, tbl, `{"id":1,"s":"a"}`, `{"id":2,"s":"b"}`, `{"id":3,"s":"c"}`)
	deleteEqual(t, tbl, 2)
	deletePositions(t, tbl, "pos.parquet", []string{dataFiles(t, tbl)[0]}, []int64{0})
	require.Equal(t, []string{`{"id":3,"s":"c"}`}, throughBytes(t, tbl, tbl, ScanOptions{}))
}

// taskEnv tells the test program to be the other process: it names the folder of
// a warehouse.
const taskEnv = "FRAZIL_TEST_TASKS"

// Tasks run in a process that has planned nothing.
func TestTasksInAnotherProcess(t *testing.T) {
	if dir := os.Getenv(taskEnv); dir != "" {
		runTasks(t, dir)
		return
	}
	dir := t.TempDir()
	cat, err := OpenWarehouse(bg, dir)
	require.NoError(t, err)
	tbl := newTable(t, cat, "id bigint, v variant", "")
	for range 3 {
		appendRows(t, tbl, numbered(20, `{"id":%[1]d,"v":{"n":%[1]d}}`)...)
	}
	deleteRows(t, tbl, "id IN (3, 4)")
	scan, err := tbl.Scan(bg, ScanOptions{})
	require.NoError(t, err)
	tasks, err := scan.Tasks()
	require.NoError(t, err)
	for i, task := range tasks {
		data, err := task.MarshalBinary()
		require.NoError(t, err)
		require.Less(t, len(data), 16<<10)
		require.NoError(t, os.WriteFile(filepath.Join(dir, numbered(9, "%d.task")[i]), data, 0o600))
	}
	require.NoError(t, cat.Close())
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^TestTasksInAnotherProcess$")
	cmd.Env = append(os.Environ(), taskEnv+"="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	rows, err := os.ReadFile(filepath.Join(dir, "rows"))
	require.NoError(t, err)
	require.Equal(t, scanJSON(t, tbl, ScanOptions{}), strings.Split(strings.TrimSpace(string(rows)), "\n"))
}

func runTasks(t *testing.T, dir string) {
	cat, err := OpenWarehouse(bg, dir)
	require.NoError(t, err)
	defer cat.Close()
	tbl, err := cat.Load(bg, "ns.t")
	require.NoError(t, err)
	var out []byte
	names := filesBelow(t, dir, ".task")
	slices.Sort(names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var task Task
		require.NoError(t, task.UnmarshalBinary(data))
		scan, err := tbl.ScanTasks(bg, []Task{task}, TaskOptions{})
		require.NoError(t, err)
		for lines, err := range scan.JSON(bg, JSONRows) {
			require.NoError(t, err)
			out = append(out, lines...)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rows"), out, 0o600))
}

func TestRefusedTasks(t *testing.T) {
	cat := newCatalog(t)
	tbl := newTable(t, cat, "id bigint, v variant", "")
	appendRows(t, tbl, `{"id":1}`)
	deleteRows(t, tbl, "id = 1")
	appendRows(t, tbl, `{"id":1}`, `{"id":2}`)
	deleteRows(t, tbl, "id = 1")
	plan := func(opts ScanOptions) []Task {
		scan, err := tbl.Scan(bg, opts)
		require.NoError(t, err)
		tasks, err := scan.Tasks()
		require.NoError(t, err)
		return tasks
	}
	scan, err := tbl.Scan(bg, ScanOptions{Limit: 1})
	require.NoError(t, err)
	_, err = scan.Tasks()
	require.ErrorIs(t, err, ErrInvalid)
	_, err = tbl.ScanTasks(bg, nil, TaskOptions{})
	require.ErrorIs(t, err, ErrInvalid)
	_, err = tbl.ScanTasks(bg, append(plan(ScanOptions{}), plan(ScanOptions{Lineage: true})...), TaskOptions{})
	require.ErrorIs(t, err, ErrInvalid)
	cols, err := ParseColumns("id bigint")
	require.NoError(t, err)
	other, err := cat.Create(bg, "ns.other", TableSpec{Columns: cols})
	require.NoError(t, err)
	_, err = other.ScanTasks(bg, plan(ScanOptions{}), TaskOptions{})
	require.ErrorIs(t, err, ErrInvalid)

	data, err := plan(ScanOptions{})[0].MarshalBinary()
	require.NoError(t, err)
	var task Task
	require.ErrorIs(t, task.UnmarshalBinary([]byte(`{"version":2}`)), ErrUnsupported)
	for n := 0; n < len(data); n += 11 {
		require.ErrorIs(t, task.UnmarshalBinary(data[:n]), ErrCorrupt)
	}
	// Bytes that were changed are refused or read; they never panic.
	for at := 0; at < len(data); at += 53 {
		bad := bytes.Clone(data)
		bad[at] ^= 1
		if task.UnmarshalBinary(bad) != nil {
			continue
		}
		scan, err := tbl.ScanTasks(bg, []Task{task}, TaskOptions{})
		if err != nil {
			continue
		}
		for batch, err := range scan.Batches(bg) {
			if err == nil {
				batch.Release()
			}
		}
	}
}
