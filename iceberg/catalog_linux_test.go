package iceberg

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fullDiskEnv names the warehouse that a process reads which may not make a file longer.
const fullDiskEnv = "FRAZIL_TEST_FULL_DISK"

// On a full disk a table could not even be read, with "disk I/O error (4874)":
// SQLite had no room for the index of its log. A limit on the size of files
// stands for the disk, in a process of its own.
func TestFullDiskIsRead(t *testing.T) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		readOnFullDisk(t, dir)
		return
	}
	dir := t.TempDir()
	cat, err := OpenWarehouse(bg, dir)
	require.NoError(t, err)
	appendRows(t, newTable(t, cat, "id bigint", ""), `{"id":1}`)
	require.NoError(t, cat.Close())
	runOnFullDisk(t, dir)
}

func runOnFullDisk(t *testing.T, dir string) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^TestFullDiskIsRead$")
	cmd.Env = append(os.Environ(), fullDiskEnv+"="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

func readOnFullDisk(t *testing.T, dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 10, Max: 1 << 10}))
	cat, err := OpenWarehouse(bg, dir)
	require.NoError(t, err)
	defer cat.Close()
	tbl, err := cat.Load(bg, "ns.t")
	require.NoError(t, err)
	require.Equal(t, []string{`{"id":1}`}, readJSON(t, tbl))
	_, err = tbl.Delete(bg, Expr{}, WriteOptions{})
	require.ErrorIs(t, err, ErrReadOnly)
}
