//go:build interop

package interop

import (
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
)

// wholeValues reads the file's only column, a Variant, through the assembler.
func wholeValues(t *testing.T, f *pq.File) (values []variant.Value) {
	t.Helper()
	for g := range f.RowGroups() {
		a, err := shred.NewAssembler(f.Schema().Children[0], shred.Context{}, allNull(f, g))
		require.NoError(t, err)
		err = a.Assemble(readColumns(t, f, g, a.Columns()), int(f.RowGroup(g).Rows), func(_ int, v variant.Value) error {
			values = append(values, v.Clone())
			if v.IsMissing() {
				return nil
			}
			return v.Validate()
		})
		require.NoError(t, err)
	}
	return values
}

// fieldValues reads one field of the documents through a plan; a document without
// it gives a missing value.
func fieldValues(t *testing.T, f *pq.File, name string) (values []variant.Value) {
	t.Helper()
	path, err := variant.ParsePath("$[" + strconv.Quote(name) + "]")
	require.NoError(t, err)
	for g := range f.RowGroups() {
		p, err := shred.Project(f.Schema().Children[0], shred.Context{}, []shred.Request{{Path: path}}, allNull(f, g))
		require.NoError(t, err)
		answer, err := p.NewReader(nil).Read(readColumns(t, f, g, p.Columns()), int(f.RowGroup(g).Rows))
		require.NoError(t, err)
		rows := answer[0].(*array.Struct)
		for i := range rows.Len() {
			if rows.IsNull(i) {
				values = append(values, variant.Value{})
				continue
			}
			v, err := variant.New(rows.Field(0).(*array.Binary).Value(i), rows.Field(1).(*array.Binary).Value(i))
			require.NoError(t, err)
			values = append(values, v.Clone())
		}
		rows.Release()
	}
	return values
}

func allNull(f *pq.File, group int) func(int) bool {
	return func(c int) bool { return f.RowGroup(group).Column(c).AllNull() }
}

func readColumns(t *testing.T, f *pq.File, group int, columns []int) (batches []*leaf.Batch) {
	t.Helper()
	for _, c := range columns {
		r, err := f.Column(group, c)
		require.NoError(t, err)
		b := &leaf.Batch{}
		require.NoError(t, r.Read(b, int(f.RowGroup(group).Rows)))
		batches = append(batches, b)
	}
	return batches
}
