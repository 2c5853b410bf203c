package iceberg

import (
	"context"
	"path"
	"strings"
	"testing"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
)

// eachLevel lists the levels of runs.
func eachLevel(l *leaf.Levels) []uint8 {
	var out []uint8
	for _, r := range l.Runs {
		for range r.N {
			out = append(out, r.Level)
		}
	}
	return out
}

// intoList makes the rows of a top-level Variant's leaf the elements of lists:
// size elements each, after an empty list and a list that is null.
func intoList(b *leaf.Buffer, in leaf.Info, size int) *leaf.Buffer {
	out := &leaf.Buffer{
		Info: in, Slots: b.Slots + 2,
		Int32s: b.Int32s, Int64s: b.Int64s, Offsets: b.Offsets, Data: b.Data, Indexed: b.Indexed, Index: b.Index,
	}
	out.Def.Append(1, 1)
	out.Def.Append(0, 1)
	out.Rep.Append(0, 2)
	rep := eachLevel(&b.Rep)
	row := -1
	for i, def := range eachLevel(&b.Def) {
		out.Def.Append(def+2, 1)
		switch {
		case rep != nil && rep[i] > 0:
			out.Rep.Append(rep[i]+1, 1)
			continue
		default:
			row++
		}
		out.Rep.Append(uint8(min(row%size, 1)), 1)
	}
	return out
}

// TestScan_ShreddedVariantInList reads a file as other engines may write it: a
// list whose Variant elements are shredded, each with metadata of its own (S26).
func TestScan_ShreddedVariantInList(t *testing.T) {
	ctx := context.Background()
	tbl := newTable(t, newCatalog(t), "vs:array<variant>", "")
	schema, err := shred.Parse("struct<a int, b list<int>>")
	require.NoError(t, err)
	w := shred.NewWriter(schema, shred.WriterOptions{Optional: true})
	for _, doc := range []string{`{"a":1}`, `{"a":"x","c":2}`, `null`, `5`, `{"b":[1,2,"q"]}`, `{}`} {
		require.NoError(t, w.WriteJSON([]byte(doc)))
	}
	root := rootNode(tbl.Unwrap().Schema().Fields(), nil)
	element := root.Children[0].Children[0].Children[0]
	require.Equal(t, leaf.Variant, element.Logical)
	require.Equal(t, leaf.Optional, element.Repetition)
	element.Children = w.Group().Children
	var bufs []*leaf.Buffer
	for i, in := range root.Leaves() {
		bufs = append(bufs, intoList(w.Buffers()[i], in, 3))
	}

	fs, err := tbl.FS(ctx)
	require.NoError(t, err)
	location := path.Join(tbl.Location(), "data", "foreign.parquet")
	out, err := fs.(iceio.WriteFileIO).Create(location)
	require.NoError(t, err)
	pw, err := pq.NewWriter(out, root, pq.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, pw.WriteRowGroup(bufs, 4))
	meta, err := pw.Close()
	require.NoError(t, err)
	require.NoError(t, out.Close())
	b, err := ice.NewDataFileBuilder(*ice.UnpartitionedSpec, ice.EntryContentData, location, ice.ParquetFile, nil, nil, nil, 4, meta.Size)
	require.NoError(t, err)
	tx := tbl.Unwrap().NewTransaction()
	require.NoError(t, tx.NewRowDelta(nil).AddRows(b.Build()).Commit(ctx))
	_, err = tx.Commit(ctx)
	require.NoError(t, err)
	require.NoError(t, tbl.Refresh(ctx))

	require.Equal(t, []string{
		`{"vs":[]}`,
		`{"vs":null}`,
		`{"vs":[{"a":1},{"a":"x","c":2},null]}`,
		`{"vs":[5,{"b":[1,2,"q"]},{}]}`,
	}, scanJSON(t, tbl, ScanOptions{}))
}

// TestNestedVariants writes and reads Variants in structs, lists and maps: they are
// stored unshredded, each with metadata of its own (S26).
func TestNestedVariants(t *testing.T) {
	tbl := newTable(t, newCatalog(t), "id:int,m:map<string,variant>,l:array<array<variant>>,s:struct<v:variant,l:array<struct<v:variant>>>,v:variant", "")
	rows := []string{
		`{"id":0,"m":{"a":{"x":1},"b":[2,{"y":3}],"c":null},"l":[[{"p":1},"s"],[],[true]],"s":{"v":{"q":1.5},"l":[{"v":{"r":[1]}},{"v":null}]},"v":{"z":0}}`,
		`{"id":1,"m":{},"l":[],"s":{"v":null,"l":[]},"v":{"z":1}}`,
		`{"id":2,"m":null,"l":null,"s":null,"v":null}`,
	}
	appendRows(t, tbl, rows...)
	got := scanJSON(t, tbl, ScanOptions{})
	require.Len(t, got, len(rows))
	for i := range rows {
		require.JSONEq(t, rows[i], got[i])
	}
	f := openDataFile(t, tbl)
	var paths []string
	for _, l := range f.Leaves() {
		paths = append(paths, strings.Join(l.Path, "."))
	}
	require.Equal(t, []string{
		"id", "m.key_value.key", "m.key_value.value.metadata", "m.key_value.value.value",
		"l.list.element.list.element.metadata", "l.list.element.list.element.value",
		"s.v.metadata", "s.v.value", "s.l.list.element.v.metadata", "s.l.list.element.v.value",
		"v.metadata", "v.value", "v.typed_value.z.value", "v.typed_value.z.typed_value",
	}, paths)
}
