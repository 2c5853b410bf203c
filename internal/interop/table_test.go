//go:build interop

package interop

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the table of engines into ARCHITECTURE.md")

// The table stands in ARCHITECTURE.md, between these lines.
const (
	tableFile  = "../../ARCHITECTURE.md"
	tableBegin = "<!-- engines: written by the tests of internal/interop with -update -->\n"
	tableEnd   = "<!-- engines: end -->\n"
)

// cell is a line of the table: what an engine can do with what we write, or we
// with what it writes, and the test that shows it.
type cell struct {
	engine, feature, works, test string
}

var proven = struct {
	sync.Mutex
	cells   []cell
	skipped map[string]string // engine -> why, where a test of it was skipped
}{skipped: map[string]string{}}

// works notes that a test proves a feature, once it has passed.
func works(t *testing.T, engine, feature string) { note(t, engine, feature, "yes") }

// fails notes a test that proves that an engine cannot do something, and why.
func fails(t *testing.T, engine, feature, why string) { note(t, engine, feature, "no: "+why) }

func note(t *testing.T, engine, feature, verdict string) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	t.Cleanup(func() {
		proven.Lock()
		defer proven.Unlock()
		if !t.Failed() && !t.Skipped() {
			proven.cells = append(proven.cells, cell{engine, feature, verdict, "`internal/interop." + name + "`"})
		}
	})
}

// skip ends a test whose engine cannot be had. Its lines of the table stay as
// they are.
func skip(t *testing.T, engine, format string, args ...any) {
	t.Helper()
	reason := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	proven.Lock()
	proven.skipped[engine] = reason
	proven.Unlock()
	t.Skip(reason)
}

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	closeSpark()
	for _, engine := range sortedKeys(proven.skipped) {
		fmt.Printf("interop: skipped %s: %s\n", engine, proven.skipped[engine])
	}
	whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
	if status == 0 && whole {
		if err := checkTable(); err != nil {
			fmt.Println("interop:", err)
			status = 1
		}
	}
	os.Exit(status)
}

// checkTable compares the table with what was proven, or writes it. The engines
// that were skipped keep their lines.
func checkTable() error {
	doc, err := os.ReadFile(tableFile)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(doc), tableBegin)
	old, foot, end := strings.Cut(rest, tableEnd)
	if !ok || !end {
		return fmt.Errorf("%s has no table of engines", tableFile)
	}
	table := renderTable(old)
	if table == old {
		return nil
	}
	if *update {
		return os.WriteFile(tableFile, []byte(head+tableBegin+table+tableEnd+foot), 0o644)
	}
	return fmt.Errorf("the table of engines in ARCHITECTURE.md is not what the tests prove (run them with -update):\n%s", lineChanges(old, table))
}

const tableHead = "| engine | what | works | test |\n|---|---|---|---|\n"

// renderTable gives the lines that were proven, and those of the old table whose
// engine was skipped, in the order of the text. An engine that could not be had where
// the table was written is added by -update only.
func renderTable(old string) string {
	var rows []string
	for _, c := range proven.cells {
		known := *update || strings.Contains(old, "\n| "+c.engine+" |")
		if !known {
			fmt.Printf("interop: the table has no line for %s: %s\n", c.engine, c.feature)
		}
		if known && proven.skipped[c.engine] == "" {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |", c.engine, c.feature, c.works, c.test))
		}
	}
	for _, row := range strings.Split(strings.TrimPrefix(old, tableHead), "\n") {
		for engine := range proven.skipped {
			if strings.HasPrefix(row, "| "+engine+" |") {
				rows = append(rows, row)
			}
		}
	}
	slices.Sort(rows)
	return tableHead + strings.Join(slices.Compact(rows), "\n") + "\n"
}

// lineChanges lists the lines that only one of the texts has.
func lineChanges(old, now string) string {
	var out []string
	for i, pair := range [][2]string{{old, now}, {now, old}} {
		for _, line := range strings.Split(pair[0], "\n") {
			if !strings.Contains(pair[1], line) {
				out = append(out, "-+"[i:i+1]+" "+line)
			}
		}
	}
	return strings.Join(out, "\n")
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
