//go:build interop

package interop

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/iceberg"
)

// TestDuckDBReadsOurFiles: the Parquet files of a table, shredded and plain, give
// the same documents in both majors of DuckDB.
func TestDuckDBReadsOurFiles(t *testing.T) {
	docs := documents(t)
	for _, version := range []string{duckdbVersion, duckdbOldVersion} {
		py := python(t, "duckdb-"+version, "duckdb=="+version)
		for _, unshredded := range []bool{false, true} {
			for file, texts := range docs {
				if strings.HasPrefix(file, "json-test-suite") { // texts in base64, nothing to shred
					continue
				}
				name := version + "/" + file
				if unshredded {
					name += "/plain"
				}
				t.Run(name, func(t *testing.T) { duckDBReads(t, py, texts, unshredded) })
			}
		}
	}
}

func duckDBReads(t *testing.T, py string, texts [][]byte, unshredded bool) {
	_, cat := warehouse(t)
	ctx := context.Background()
	tbl, err := cat.Create(ctx, "docs.d", iceberg.TableSpec{Columns: columns(t, "doc:variant"), Unshredded: unshredded})
	require.NoError(t, err)
	var rows, want []string
	for _, text := range texts {
		rows = append(rows, string(text))
		want = append(want, `{"doc":`+strings.TrimSpace(string(text))+`}`)
	}
	commit, err := tbl.AppendJSON(ctx, lines(rows...), iceberg.AppendOptions{})
	require.NoError(t, err)
	args := []string{"testdata/duckdb_json.py", "doc"}
	for _, f := range commit.Files {
		args = append(args, strings.TrimPrefix(f.FilePath(), "file://"))
	}
	out, err := exec.Command(py, args...).Output()
	require.NoError(t, err, stderrOf(err))
	requireSameRows(t, want, strings.Split(strings.TrimSpace(string(out)), "\n"))
}

// stderrOf gives what a command that failed printed last.
func stderrOf(err error) string {
	if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as exec.Cmd.Output returns it
		return tail(string(e.Stderr), 500)
	}
	return ""
}
