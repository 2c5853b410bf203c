package arrowvariant

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowgo "github.com/apache/arrow-go/v18/parquet/variant"
	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/variant"
)

// TestValue_BothDirections carries every value of apache/parquet-testing, and some
// of ours, to arrow-go and back: the bytes stay.
func TestValue_BothDirections(t *testing.T) {
	var values []variant.Value
	for _, text := range docs {
		values = append(values, parse(t, text))
	}
	if root := os.Getenv("FRAZIL_SHARED"); root != "" {
		files, err := filepath.Glob(filepath.Join(root, "parquet-testing", "variant", "*.metadata"))
		require.NoError(t, err)
		require.Greater(t, len(files), 25)
		for _, name := range files {
			metadata, err := os.ReadFile(name)
			require.NoError(t, err)
			value, err := os.ReadFile(strings.TrimSuffix(name, ".metadata") + ".value")
			require.NoError(t, err)
			v, err := variant.New(metadata, value)
			require.NoError(t, err, name)
			values = append(values, v)
		}
	}
	for _, v := range values {
		theirs, err := ToValue(v)
		require.NoError(t, err, "%s", v)
		back, err := FromValue(theirs)
		require.NoError(t, err)
		require.Equal(t, v.Bytes(), back.Bytes())
		require.Equal(t, v.Metadata(), back.Metadata())
		require.True(t, variant.Equal(v, back))
	}
	_, err := ToValue(variant.Value{})
	require.ErrorIs(t, err, variant.ErrUsage)
}

// TestToValue_V01_ArrowPanicsOnManyNames: valid bytes on which arrow-go v18.8.0
// panics are an error; once it reads them, this test says so.
func TestToValue_V01_ArrowPanicsOnManyNames(t *testing.T) {
	var text strings.Builder
	for i := range 126 {
		fmt.Fprintf(&text, `,"k%06d":%d`, i, i)
	}
	v := parse(t, "{"+text.String()[1:]+"}")
	require.NoError(t, v.Validate())
	_, err := ToValue(v)
	require.ErrorIs(t, err, ErrArrow)
}

// TestFromValue_V05_RefusesWhatArrowAccepts: a dictionary that claims to be sorted
// and is not.
func TestFromValue_V05_RefusesWhatArrowAccepts(t *testing.T) {
	theirs, err := arrowgo.New([]byte("\x11\x02\x00\x01\x02ba"), []byte{0x02, 1, 0, 0, 2, 0x0c, 1})
	require.NoError(t, err)
	_, err = FromValue(theirs)
	require.ErrorIs(t, err, variant.ErrCorrupt)
}

// TestFromValue_ArrowBuilders reads what arrow-go's own builder encodes.
func TestFromValue_ArrowBuilders(t *testing.T) {
	theirs, err := arrowgo.ParseJSON(`{"b":[1,2.5,"x"],"a":{"c":null}}`, false)
	require.NoError(t, err)
	v, err := FromValue(theirs)
	require.NoError(t, err)
	require.True(t, variant.Equal(parse(t, `{"a":{"c":null},"b":[1,2.5,"x"]}`), v))
}

func ExampleNewColumn() {
	a, _ := variant.ParseJSON([]byte(`{"model":"SABR"}`))
	arr := NewArray(memory.DefaultAllocator, []variant.Value{a, {}})
	defer arr.Release()
	column, err := NewColumn(arr)
	if err != nil {
		fmt.Println(err)
		return
	}
	for v, err := range column.Values() {
		fmt.Println(v, err)
	}
	// Output:
	// {"model":"SABR"} <nil>
	// <missing> <nil>
}

func ExampleToValue() {
	v, _ := variant.ParseJSON([]byte(`[1,2]`))
	theirs, err := ToValue(v)
	fmt.Println(theirs, err)
	// Output: [1,2] <nil>
}
