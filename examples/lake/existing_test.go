package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Flags that describe a new table had no effect on one that exists: the rows went
// into an unpartitioned table, say, and nobody was told.
func TestLoadFlagsOfAnExistingTable(t *testing.T) {
	dir := t.TempDir()
	load := func(table string, flags ...string) error {
		args := append([]string{"load", "-warehouse", dir, "-table", table}, flags...)
		_, _, err := lake(t, `{"id":1,"l":[1],"v":{"x":1}}`+"\n", append(args, "-")...)
		return err
	}
	columns := "id:bigint,l:list<int>"
	require.NoError(t, load("d.t", "-columns", columns, "-variant", "v", "-partition", "bucket(4,id),id"))
	require.NoError(t, load("d.t", "-columns", columns, "-variant", "v", "-partition", "bucket(4, id), id"))
	require.NoError(t, load("d.t"))
	for flag, problem := range map[string]string{
		"-partition=id":           "is partitioned by bucket(4,id),id; leave out -partition",
		"-partition=":             "is partitioned by bucket(4,id),id",
		"-columns=id:bigint":      `also has the column "l"`,
		"-columns=id:string":      `its column "id" is of type long, not string`,
		"-columns=zz:int":         `has no column "zz"`,
		"-columns=l:list<string>": `its column "l" is of type list<int>, not list<string>`,
		"-variant=v":              `also has the column "id"`,
	} {
		require.ErrorContains(t, load("d.t", flag), problem, flag)
	}
	require.NoError(t, load("d.plain", "-shred=false"))
	require.NoError(t, load("d.plain"))
	require.NoError(t, load("d.plain", "-shred=false"))
	require.ErrorContains(t, load("d.plain", "-shred"), "does not shred")
	require.ErrorContains(t, load("d.plain", "-partition", "id"), "is not partitioned; leave out -partition")
}
