package arrowvariant

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

// nested is a value of so many arrays in each other, one more than variant.MaxDepth
// included.
func nested(t *testing.T, levels int) variant.Value {
	n := min(levels, variant.MaxDepth)
	v := parse(t, strings.Repeat("[", n)+strings.Repeat("]", n))
	if levels > n {
		b := append([]byte{0x0f, 1, 0, 0, 0, 0, 0, 0, 0, 0}, v.Bytes()...)
		b[6], b[7], b[8] = byte(len(v.Bytes())), byte(len(v.Bytes())>>8), byte(len(v.Bytes())>>16)
		v = variant.Unchecked(v.Metadata(), b)
	}
	return v
}

// shreddedLists is a Variant column shredded as lists in lists.
func shreddedLists(levels int) arrow.DataType {
	bin := arrow.BinaryTypes.Binary
	value := arrow.Field{Name: "value", Type: bin, Nullable: true}
	elem := arrow.StructOf(value)
	for range levels - 1 {
		elem = arrow.StructOf(value, arrow.Field{Name: "typed_value", Type: arrow.ListOfNonNullable(elem), Nullable: true})
	}
	return arrow.StructOf(arrow.Field{Name: "metadata", Type: bin}, value,
		arrow.Field{Name: "typed_value", Type: arrow.ListOfNonNullable(elem), Nullable: true})
}

// TestV10_Depth: the limit of levels is the same into Arrow and out of it, and holds
// for what is put together from shredded lists and the values in them.
func TestV10_Depth(t *testing.T) {
	deepest, deeper := nested(t, variant.MaxDepth), nested(t, variant.MaxDepth+1)
	arr := NewArray(memory.DefaultAllocator, []variant.Value{deepest, deeper})
	defer arr.Release()
	c, err := NewColumn(arr)
	require.NoError(t, err)
	v, err := c.Value(0)
	require.NoError(t, err)
	require.True(t, variant.Equal(deepest, v))
	_, err = c.Value(1)
	require.ErrorIs(t, err, variant.ErrCorrupt)
	require.ErrorContains(t, err, variant.ErrDepth.Error())

	a, err := ToValue(deepest)
	require.NoError(t, err)
	_, err = FromValue(a)
	require.NoError(t, err)
	if a, err = ToValue(deeper); err == nil {
		_, err = FromValue(a)
		require.ErrorIs(t, err, variant.ErrCorrupt)
	}

	const levels = 10
	for inner, ok := range map[int]bool{variant.MaxDepth - levels: true, variant.MaxDepth - levels + 1: false} {
		rest := nested(t, inner)
		row := fmt.Sprintf(`{"value":%q}`, base64.StdEncoding.EncodeToString(rest.Bytes()))
		for range levels - 1 {
			row = `{"value":null,"typed_value":[` + row + `]}`
		}
		row = fmt.Sprintf(`[{"metadata":%q,"value":null,"typed_value":[%s]}]`, base64.StdEncoding.EncodeToString(rest.Metadata()), row)
		arr, _, err := array.FromJSON(memory.DefaultAllocator, shreddedLists(levels), strings.NewReader(row))
		require.NoError(t, err)
		c, err := NewColumn(arr)
		require.NoError(t, err)
		v, err := c.Value(0)
		if ok {
			require.NoError(t, err)
			require.NoError(t, v.Validate())
		} else {
			require.ErrorIs(t, err, variant.ErrCorrupt)
			require.ErrorContains(t, err, variant.ErrDepth.Error())
		}
		arr.Release()
	}

	for _, levels := range []int{variant.MaxDepth, variant.MaxDepth + 1, 5000} {
		arr := array.MakeArrayOfNull(memory.DefaultAllocator, shreddedLists(levels), 1)
		_, err := NewColumn(arr)
		require.Equal(t, levels <= variant.MaxDepth, err == nil, "%d: %v", levels, err)
		if err != nil {
			require.ErrorIs(t, err, ErrType)
			require.ErrorIs(t, err, variant.ErrDepth)
		}
		arr.Release()
	}
}

// TestColumn_Slices: a part of a column has its own rows, whatever the offset of its
// buffers.
func TestColumn_Slices(t *testing.T) {
	var values []variant.Value
	for i := range 20 {
		values = append(values, parse(t, fmt.Sprintf(`{"a":%d}`, i)))
	}
	values[7] = variant.Value{}
	whole := NewArray(memory.DefaultAllocator, values)
	defer whole.Release()
	part := array.NewSlice(whole, 5, 12)
	defer part.Release()
	shreddedWhole, _, err := array.FromJSON(memory.DefaultAllocator, shreddedLists(1), strings.NewReader(`[null,
		{"metadata":"EQAA","value":null,"typed_value":[{"value":"DAE="},{"value":"DAI="}]},
		{"metadata":"EQAA","value":null,"typed_value":[]},
		{"metadata":"EQAA","value":"DAM=","typed_value":null}]`))
	require.NoError(t, err)
	defer shreddedWhole.Release()
	shreddedPart := array.NewSlice(shreddedWhole, 1, 4)
	defer shreddedPart.Release()
	for _, c := range []struct {
		arr  arrow.Array
		want []string
	}{
		{part, []string{`{"a":5}`, `{"a":6}`, "<missing>", `{"a":8}`, `{"a":9}`, `{"a":10}`, `{"a":11}`}},
		{shreddedPart, []string{"[1,2]", "[]", "3"}},
	} {
		col, err := NewColumn(c.arr)
		require.NoError(t, err)
		var got []string
		for v, err := range col.Values() {
			require.NoError(t, err)
			got = append(got, v.String())
		}
		require.Equal(t, c.want, got)
	}
}
