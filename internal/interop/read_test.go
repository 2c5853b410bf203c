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
func wholeValues(f *pq.File) (values []variant.Value, err error) {
	for g := range f.RowGroups() {
		a, err := shred.NewAssembler(f.Schema().Children[0], shred.Context{}, allNull(f, g))
		if err != nil {
			return nil, err
		}
		batches, err := readColumns(f, g, a.Columns())
		if err != nil {
			return nil, err
		}
		err = a.Assemble(batches, int(f.RowGroup(g).Rows), func(_ int, v variant.Value) error {
			values = append(values, v.Clone())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return values, nil
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
		batches, err := readColumns(f, g, p.Columns())
		require.NoError(t, err)
		answer, err := p.NewReader(nil).Read(batches, int(f.RowGroup(g).Rows))
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

func readColumns(f *pq.File, group int, columns []int) (batches []*leaf.Batch, err error) {
	for _, c := range columns {
		r, err := f.Column(group, c)
		if err != nil {
			return nil, err
		}
		b := &leaf.Batch{}
		if err := r.Read(b, int(f.RowGroup(group).Rows)); err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}
