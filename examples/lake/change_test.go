package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const changeRows = `{"id":"a","n":1,"v":{"x":1,"tags":["p","q"]}}
{"id":"b","n":2,"v":{"x":"two"}}
{"id":"c","n":3,"v":{"x":3.5}}
{"id":"d","n":null}
`

// changeTable loads the rows and returns the flags that name the table.
func changeTable(t testing.TB) []string {
	t.Helper()
	at := []string{"-warehouse", t.TempDir(), "-table", "d.t"}
	mustLake(t, changeRows, append(append([]string{"load"}, at...), "-columns", "id:string,n:int", "-variant", "v", "-")...)
	return at
}

func lakeArgs(verb string, at []string, more ...string) []string {
	return append(append([]string{verb}, at...), more...)
}

func TestScanFlags(t *testing.T) {
	at := changeTable(t)
	require.Equal(t, "{\"n\":2,\"id\":\"b\"}\n{\"n\":3,\"id\":\"c\"}\n", mustLake(t, "", lakeArgs("scan", at, "-columns", "n, id", "-where", "n >= 2")...))
	require.Equal(t, "{\"id\":\"a\"}\n", mustLake(t, "", lakeArgs("scan", at, "-columns", "id", "-limit", "1")...))
	out := mustLake(t, "", lakeArgs("scan", at, "-lineage", "-where", "id = 'd'", "-ref", "main")...)
	require.Equal(t, `{"id":"d","n":null,"v":null,"_row_id":3,"_last_updated_sequence_number":1}`+"\n", out)
	for _, bad := range [][]string{{"-where", "nope = 1"}, {"-where", "n ="}, {"-columns", "zz"}, {"-limit", "-1"}, {"-ref", "zz"}, {"-snapshot", "1"}, {"extra"}} {
		_, _, err := lake(t, "", lakeArgs("scan", at, bad...)...)
		require.Error(t, err, "%v", bad)
		require.NotContains(t, oneLine(err), "\n")
	}
}

func TestGet(t *testing.T) {
	at := changeTable(t)
	get := func(more ...string) string {
		return mustLake(t, "", lakeArgs("get", at, append([]string{"-column", "v"}, more...)...)...)
	}
	require.Equal(t, "1\nnull\n3\nnull\n", get("-path", "$.x", "-type", "int", "-try"))
	require.Equal(t, "1\n\"two\"\n3.5\nnull\n", get("-path", "$.x"))
	require.Equal(t, "[\"p\",\"q\"]\n", get("-path", "$.tags", "-type", "array<string>", "-limit", "1"))
	require.Equal(t, "\"q\"\n", get("-path", "$.tags[1]", "-type", "string", "-where", "n = 1"))
	require.Equal(t, "{\"x\":\"1\"}\n", get("-type", "struct<x:string>", "-where", "id = 'a'"))
	require.Equal(t, "3.50\n", get("-path", "$.x", "-type", "decimal(4,2)", "-where", "id = 'c'"))
	_, _, err := lake(t, "", lakeArgs("get", at, "-column", "v", "-path", "$.x", "-type", "int")...)
	require.ErrorContains(t, err, "row 1")
	require.ErrorContains(t, err, `"two"`)
	require.ErrorContains(t, err, ".parquet")
	for _, bad := range [][]string{{}, {"-column", "n"}, {"-column", "v", "-path", "x..y"}, {"-column", "v", "-type", "nope"}} {
		_, _, err := lake(t, "", lakeArgs("get", at, bad...)...)
		require.Error(t, err, "%v", bad)
	}
}

func TestStatsOfScanAndGet(t *testing.T) {
	at := changeTable(t)
	for _, args := range [][]string{lakeArgs("scan", at, "-stats"), lakeArgs("get", at, "-column", "v", "-path", "$.x", "-stats")} {
		_, errOut, err := lake(t, "", args...)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(errOut), "\n")
		var s stats
		require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &s))
		require.EqualValues(t, 4, s.Rows)
		require.Positive(t, *s.BytesRead)
		require.NotEmpty(t, s.ColumnsRead)
	}
}

func TestDeleteUpdateMerge(t *testing.T) {
	at := changeTable(t)
	_, errOut, err := lake(t, "", lakeArgs("delete", at, "-where", "n = 2")...)
	require.NoError(t, err)
	require.Contains(t, errOut, "deleted 1,")
	_, errOut, err = lake(t, "", lakeArgs("delete", at, "-where", "n = 2")...)
	require.NoError(t, err)
	require.Contains(t, errOut, "no row matches")
	mustLake(t, "", lakeArgs("update", at, "-set", "n=30", "-set", `v='{"y":[]}'`, "-where", "id = 'c'")...)
	mustLake(t, `{"id":"a","n":10}`+"\n"+`{"id":"e","n":5}`+"\n", lakeArgs("merge", at, "-key", "id", "-")...)
	out := mustLake(t, "", lakeArgs("scan", at)...)
	require.ElementsMatch(t, []string{
		`{"id":"a","n":10,"v":{"tags":["p","q"],"x":1}}`, `{"id":"c","n":30,"v":{"y":[]}}`, `{"id":"d","n":null,"v":null}`, `{"id":"e","n":5,"v":null}`,
	}, strings.Split(strings.TrimSpace(out), "\n"))
	for _, bad := range [][]string{
		lakeArgs("delete", at), lakeArgs("update", at, "-where", "TRUE"), lakeArgs("update", at, "-set", "n", "-where", "TRUE"),
		lakeArgs("update", at, "-set", "n='x'", "-where", "TRUE"), lakeArgs("update", at, "-set", "n=1"),
		lakeArgs("merge", at, "-"), lakeArgs("merge", at, "-key", "id"), lakeArgs("merge", at, "-key", "zz", "-"),
	} {
		_, _, err := lake(t, `{"id":"a"}`, bad...)
		require.Error(t, err, "%v", bad)
	}
}
