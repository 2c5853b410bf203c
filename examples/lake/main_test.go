package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lake runs a command as the program would.
func lake(t testing.TB, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	err = run(context.Background(), streams{strings.NewReader(stdin), &out, &errOut}, args)
	return out.String(), errOut.String(), err
}

func mustLake(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	out, errOut, err := lake(t, stdin, args...)
	require.NoError(t, err, errOut)
	return out
}

func TestLoadWholeLinesAndScan(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "in.ndjson")
	require.NoError(t, os.WriteFile(file, []byte("{\"a\":1}\n\n \t\r\n[2]\r\n\"x\""), 0o600))
	mustLake(t, "", "load", "-warehouse", dir, "-table", "d.t", file)
	require.FileExists(t, filepath.Join(dir, "catalog.db"))
	mustLake(t, "null\n", "load", "-warehouse", dir, "-table", "d.t", "-")
	require.Equal(t, "{\"doc\":{\"a\":1}}\n{\"doc\":[2]}\n{\"doc\":\"x\"}\n{\"doc\":null}\n",
		mustLake(t, "", "scan", "-warehouse", dir, "-table", "d.t"))
}

func TestLoadColumns(t *testing.T) {
	dir := t.TempDir()
	in := `{"a":"x","b":1.5,"v":{"k":[1,{"z":null}]},"other":{"x":1}}` + "\n" + `{"b":null}` + "\n"
	args := []string{"load", "-warehouse", dir, "-table", "d.t", "-columns", "a:string,b:double", "-variant", "v", "-partition", "a"}
	mustLake(t, in, append(args, "-")...)
	mustLake(t, in, append(args, "-")...)
	out := mustLake(t, "", "scan", "-warehouse", dir, "-table", "d.t")
	require.Equal(t, 2, strings.Count(out, `{"a":"x","b":1.5,"v":{"k":[1,{"z":null}]}}`+"\n"))
	require.Equal(t, 2, strings.Count(out, `{"a":null,"b":null,"v":null}`+"\n"))
	_, _, err := lake(t, in, "load", "-warehouse", dir, "-table", "d.t", "-columns", "a:int", "-")
	require.ErrorContains(t, err, "of type string, not int")
	_, _, err = lake(t, in, "load", "-warehouse", dir, "-table", "d.t", "-columns", "zz:int", "-")
	require.ErrorContains(t, err, `no column "zz"`)
}

func TestBadLines(t *testing.T) {
	dir := t.TempDir()
	in := "{\"a\":1}\n\n{\"a\":\n{\"a\":2}\n{\"a\":1e999}\n"
	_, _, err := lake(t, in, "load", "-warehouse", dir, "-table", "d.t", "-")
	require.ErrorContains(t, err, "line 3")
	_, _, err = lake(t, "", "scan", "-warehouse", dir, "-table", "d.t")
	require.ErrorContains(t, err, "no such table", "nothing is loaded")

	out, errOut, err := lake(t, in, "load", "-warehouse", dir, "-table", "d.t", "-on-error", "skip", "-stats", "-")
	require.NoError(t, err)
	require.Contains(t, out, "2 rows")
	require.Contains(t, errOut, "skipped: line 3")
	require.Contains(t, errOut, "skipped: line 5")
	require.Contains(t, errOut, "2 lines skipped")
	lines := strings.Split(strings.TrimSpace(errOut), "\n")
	var s map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &s))
	require.Equal(t, 2.0, s["rows"])
	require.Equal(t, float64(len(in)), s["bytes_in"])
	require.Equal(t, 1.0, s["files"])
	require.Greater(t, s["file_bytes"], 0.0)
	require.Contains(t, s, "seconds")

	// A bad line leaves the rows that were there.
	_, _, err = lake(t, in, "load", "-warehouse", dir, "-table", "d.t", "-")
	require.Error(t, err)
	require.Equal(t, "{\"doc\":{\"a\":1}}\n{\"doc\":{\"a\":2}}\n", mustLake(t, "", "scan", "-warehouse", dir, "-table", "d.t"))
}

func TestOrderIsKept(t *testing.T) {
	dir := t.TempDir()
	var in strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&in, "{\"n\":%d,\"s\":\"%d\"}\n", i, i*7)
	}
	mustLake(t, in.String(), "load", "-warehouse", dir, "-table", "d.t", "-")
	got := mustLake(t, "", "scan", "-warehouse", dir, "-table", "d.t")
	require.Equal(t, in.String(), strings.ReplaceAll(strings.ReplaceAll(got, `{"doc":`, ""), "}}\n", "}\n"))
}

func TestInspectJSON(t *testing.T) {
	dir := t.TempDir()
	var in strings.Builder
	for i := range 200 {
		fmt.Fprintf(&in, `{"k":"p%d","v":{"n":%d}}`+"\n", i%2, i)
	}
	load := func(table string, flags ...string) {
		args := []string{"load", "-warehouse", dir, "-table", table, "-columns", "k:string", "-variant", "v"}
		mustLake(t, in.String(), append(append(args, flags...), "-")...)
	}
	load("d.t", "-partition", "k")
	load("d.plain", "-shred=false")
	var info struct {
		Schema []struct {
			ID             int
			Name, Type     string
			Required       bool
			InitialDefault any `json:"initial_default"`
			WriteDefault   any `json:"write_default"`
		}
		Snapshots []struct {
			ID        int64
			Operation string
			Summary   map[string]string
		}
		DataFiles []struct {
			Path      string
			Rows      int64
			Bytes     int64
			Partition map[string]any
			Shredded  map[string]string
		} `json:"data_files"`
		Vectors []any `json:"deletion_vectors"`
	}
	d := json.NewDecoder(strings.NewReader(mustLake(t, "", "inspect", "-warehouse", dir, "-table", "d.t", "-json", "-verify")))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&info))
	require.Equal(t, "k", info.Schema[0].Name)
	require.Equal(t, "variant", info.Schema[1].Type)
	require.Equal(t, "append", info.Snapshots[0].Operation)
	require.Equal(t, "200", info.Snapshots[0].Summary["added-records"])
	require.Len(t, info.DataFiles, 2)
	require.Equal(t, map[string]any{"k": "p0"}, info.DataFiles[0].Partition)
	require.EqualValues(t, 100, info.DataFiles[0].Rows)
	require.Equal(t, map[string]string{"v": "struct<n int>"}, info.DataFiles[0].Shredded)
	require.NotNil(t, info.Vectors)
	require.Contains(t, mustLake(t, "", "inspect", "-warehouse", dir, "-table", "d.plain", "-json"), `"shredded": {}`)
	require.Contains(t, mustLake(t, "", "inspect", "-warehouse", dir, "-table", "d.t"), "p0")

	// The same by the metadata file, and by the catalog's URI.
	meta, err := filepath.Glob(filepath.Join(dir, "d", "t", "metadata", "00001-*.metadata.json"))
	require.NoError(t, err)
	require.Len(t, meta, 1)
	one := mustLake(t, "", "inspect", "-metadata", meta[0], "-json")
	require.Equal(t, one, mustLake(t, "", "inspect", "-catalog", "sqlite:"+filepath.Join(dir, "catalog.db"), "-table", "d.t", "-json"))
}

func TestMaintenance(t *testing.T) {
	dir := t.TempDir()
	table := func(cmd string, more ...string) []string {
		return append([]string{cmd, "-warehouse", dir, "-table", "d.raw"}, more...)
	}
	for i := range 3 {
		in := strings.Repeat(fmt.Sprintf("{\"n\":%d}\n", i), 20)
		mustLake(t, in, table("load", "-shred=false", "-")...)
	}
	require.Contains(t, mustLake(t, "", table("reshred", "-to", "d.fast")...), "60 rows")
	require.Contains(t, mustLake(t, "", table("reshred", "-to", "d.fast")...), "0 rows")
	rows := mustLake(t, "", table("scan")...)
	require.Equal(t, rows, mustLake(t, "", "scan", "-warehouse", dir, "-table", "d.fast"))
	require.Contains(t, mustLake(t, "", "inspect", "-warehouse", dir, "-table", "d.fast", "-json"), `"doc": "struct<n int>"`)

	require.Contains(t, mustLake(t, "", table("compact")...), "3 files with 60 rows became 1")
	require.Equal(t, rows, mustLake(t, "", table("scan")...))
	require.Contains(t, mustLake(t, "", table("expire", "-keep", "1")...), "snapshots expired")
	require.Equal(t, rows, mustLake(t, "", table("scan")...))
	require.Empty(t, mustLake(t, "", table("orphans")...))
	mustLake(t, "", table("inspect", "-verify")...)
}

func TestMisuseSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		want string
		args []string
	}{
		{"give a command", nil},
		{"no command", []string{"nope"}},
		{"-table", []string{"load", "-warehouse", dir, "-"}},
		{"-warehouse DIR or -catalog URI", []string{"load", "-table", "a.b", "-"}},
		{"namespace.name", []string{"load", "-warehouse", dir, "-table", "b", "-"}},
		{"one file", []string{"load", "-warehouse", dir, "-table", "a.b"}},
		{"stop or skip", []string{"load", "-warehouse", dir, "-table", "a.b", "-on-error", "x", "-"}},
		{"unknown type", []string{"load", "-warehouse", dir, "-table", "a.b", "-columns", "a:strin", "-"}},
		{`no column "z"`, []string{"load", "-warehouse", dir, "-table", "a.b", "-columns", "a:string", "-partition", "z", "-"}},
		{"cannot be a source", []string{"load", "-warehouse", dir, "-table", "a.b", "-partition", "doc", "-"}},
		{"is a secret", []string{"load", "-catalog", "http://x", "-prop", "s3.secret-access-key=abc", "-table", "a.b", "-"}},
		{"stands alone", []string{"inspect", "-metadata", "x", "-table", "a.b"}},
		{"lake load creates it", []string{"inspect", "-warehouse", dir, "-table", "a.b"}},
		{"no such file", []string{"load", "-warehouse", dir, "-table", "a.b", filepath.Join(dir, "none")}},
	} {
		_, _, err := lake(t, "{}\n", c.args...)
		require.ErrorContains(t, err, c.want, c.args)
		require.NotContains(t, oneLine(err), "\n")
	}
	for _, c := range commands() {
		_, help, err := lake(t, "", c.name, "-h")
		require.NoError(t, err)
		require.Contains(t, help, "example:\n  lake "+c.name)
	}
}

// A load that waits for its input ends with its context, and leaves no table.
func TestInterruptedLoad(t *testing.T) {
	dir := t.TempDir()
	in, feed := io.Pipe()
	defer feed.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- run(ctx, streams{in, io.Discard, io.Discard}, []string{"load", "-warehouse", dir, "-table", "d.t", "-"})
	}()
	_, err := feed.Write([]byte("{\"a\":1}\n"))
	require.NoError(t, err)
	cancel()
	select {
	case err := <-done:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(10 * time.Second):
		t.Fatal("the load did not stop")
	}
	_, _, err = lake(t, "", "scan", "-warehouse", dir, "-table", "d.t")
	require.ErrorContains(t, err, "no such table")
}

// A wrong flag printed the whole help, thirty lines, around its one line.
func TestWrongFlagsAreOneLine(t *testing.T) {
	for _, args := range [][]string{{"scan", "-nope"}, {"scan", "-limit", "x"}, {"load", "-nope"}, {"inspect", "-nope"}, {"merge", "-nope"}, {"update", "-set", "id"}, {}} {
		out, errOut, err := lake(t, "", args...)
		require.ErrorContains(t, err, "lake", args)
		require.ErrorContains(t, err, "-h", args)
		require.NotContains(t, err.Error(), "\n", args)
		require.Empty(t, out+errOut, args)
	}
	_, help, err := lake(t, "", "scan", "-h")
	require.NoError(t, err)
	require.Contains(t, help, "example:")
	require.Contains(t, help, "-limit N")
}

// -limit 0 printed every row.
func TestLimitOfNoRows(t *testing.T) {
	dir := t.TempDir()
	mustLake(t, "1\n2\n", "load", "-warehouse", dir, "-table", "d.t", "-")
	require.Empty(t, mustLake(t, "", "scan", "-warehouse", dir, "-table", "d.t", "-limit", "0"))
	require.Equal(t, "{\"doc\":1}\n", mustLake(t, "", "scan", "-warehouse", dir, "-table", "d.t", "-limit", "1"))
}

// Reading a folder that is misspelt made it, with an empty catalog.
func TestReadingCreatesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	for _, command := range []string{"scan", "inspect", "compact"} {
		_, _, err := lake(t, "", command, "-warehouse", dir, "-table", "d.t")
		require.ErrorContains(t, err, "no warehouse in "+dir)
		require.NoDirExists(t, dir)
	}
}
