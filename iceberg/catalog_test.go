package iceberg

import (
	"os"
	"path/filepath"
	"testing"

	ice "github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"
)

// A warehouse on a medium that cannot be written could not be opened at all: the
// catalog asked SQLite for a log of changes first. Now tables are read, also
// while another process writes, and every write is refused by name.
func TestReadOnlyWarehouse(t *testing.T) {
	dir := t.TempDir()
	writer, err := OpenWarehouse(bg, dir)
	require.NoError(t, err)
	defer writer.Close()
	tbl := newTable(t, writer, "id bigint", "")
	appendRows(t, tbl, `{"id":1}`)

	cat, err := OpenCatalog(bg, filepath.Join(dir, "catalog.db"), map[string]string{"read-only": "true"})
	require.NoError(t, err)
	defer cat.Close()
	got, err := cat.Load(bg, "ns.t")
	require.NoError(t, err)
	require.Equal(t, []string{`{"id":1}`}, readJSON(t, got))
	appendRows(t, tbl, `{"id":2}`)
	require.NoError(t, got.Refresh(bg))
	require.Equal(t, []string{`{"id":1}`, `{"id":2}`}, readJSON(t, got))

	_, err = got.Delete(bg, Expr{}, WriteOptions{})
	require.ErrorIs(t, err, ErrReadOnly)
	_, err = got.NewAppender(bg, AppendOptions{})
	require.ErrorIs(t, err, ErrReadOnly)
	_, err = cat.Create(bg, "ns.other", TableSpec{Columns: []Column{{Name: "id", Type: ice.Int64Type{}}}})
	require.ErrorIs(t, err, ErrReadOnly)
	require.ErrorIs(t, cat.Drop(bg, "ns.t"), ErrReadOnly)
}

// A catalog that is to be read is not created when it is missing.
func TestReadOnlyWarehouseIsNotCreated(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "catalog.db")
	_, err := OpenCatalog(bg, missing, map[string]string{"read-only": "true"})
	require.ErrorContains(t, err, missing)
	require.NoFileExists(t, missing)
}

// A user without the right to write gets the catalog for reading, unasked.
func TestUnwritableWarehouseIsRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	writer, err := OpenWarehouse(bg, dir)
	require.NoError(t, err)
	appendRows(t, newTable(t, writer, "id bigint", ""), `{"id":1}`)
	require.NoError(t, writer.Close())
	file := filepath.Join(dir, "catalog.db")
	require.NoError(t, os.Chmod(file, 0o444))
	require.NoError(t, os.Chmod(dir, 0o555))
	defer func() { require.NoError(t, os.Chmod(dir, 0o755)) }()
	cat, err := OpenWarehouse(bg, dir)
	require.NoError(t, err)
	defer cat.Close()
	got, err := cat.Load(bg, "ns.t")
	require.NoError(t, err)
	require.Equal(t, []string{`{"id":1}`}, readJSON(t, got))
	_, err = got.Delete(bg, Expr{}, WriteOptions{})
	require.ErrorIs(t, err, ErrReadOnly)
}

// A metadata file that is no JSON was reported by the name of the table alone.
func TestDamagedMetadataIsNamed(t *testing.T) {
	cat, err := OpenWarehouse(bg, t.TempDir())
	require.NoError(t, err)
	defer cat.Close()
	tbl := newTable(t, cat, "id bigint", "")
	file := tbl.Unwrap().MetadataLocation()
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	_, err = cat.Load(bg, "ns.t")
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, file)
}
