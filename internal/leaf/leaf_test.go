package leaf

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLevels_AppendAndTruncate(t *testing.T) {
	var l Levels
	var want []uint8
	for i, n := range []int{3, 1, 1, 4, 2} {
		level := uint8(i % 3)
		l.Append(level, n)
		for range n {
			want = append(want, level)
		}
	}
	l.Append(1, 1) // continues the last run
	want = append(want, 1)
	require.Len(t, l.Runs, 5)
	for n := l.Len(); n >= 0; n-- {
		l.Truncate(n)
		require.Equal(t, n, l.Len())
		var got []uint8
		for _, r := range l.Runs {
			require.NotZero(t, r.N)
			for range r.N {
				got = append(got, r.Level)
			}
		}
		require.Equal(t, len(want[:n]), len(got))
		require.Equal(t, string(want[:n]), string(got))
	}
	l.Append(2, 5)
	l.Reset()
	require.Zero(t, l.Len())
	require.Empty(t, l.Runs)
}

func TestLevels_Share(t *testing.T) {
	var a, b Levels
	a.Append(1, 2)
	b.Share(&a)
	require.Equal(t, 2, b.Len())
	require.Same(t, &a.Runs[0], &b.Runs[0])
}

// TestLeaves counts levels by the definition of package doc.
func TestLeaves(t *testing.T) {
	n := func(name string, r Repetition, typ Type, children ...*Node) *Node {
		return &Node{Name: name, Repetition: r, Type: typ, Children: children}
	}
	root := n("root", Optional, Group, // its own repetition adds nothing
		n("a", Required, Int32),
		n("l", Optional, Group, n("list", Repeated, Group, n("x.y", Optional, Bytes), n("z", Required, Bool))),
		n("none", Optional, Group),
		n("r", Repeated, Double),
	)
	type row struct {
		path     string
		def, rep uint8
	}
	var got []row
	for _, in := range root.Leaves() {
		got = append(got, row{strings.Join(in.Path, "/"), in.MaxDef, in.MaxRep})
	}
	require.Equal(t, []row{{"a", 0, 0}, {"l/list/x.y", 3, 1}, {"l/list/z", 2, 1}, {"r", 1, 1}}, got)
	require.Same(t, root.Children[0], root.Child("a"))
	require.Nil(t, root.Child("l.list"), "a dot has no meaning")
}

func TestBuffer_Values(t *testing.T) {
	for typ := Bool; typ <= Fixed; typ++ {
		b := &Buffer{Info: Info{Node: &Node{Type: typ, Width: 1}}}
		require.Zero(t, b.Values())
		switch typ {
		case Bool:
			b.Bools = []bool{true}
		case Int32:
			b.Int32s = []int32{1}
		case Int64:
			b.Int64s = []int64{1}
		case Float:
			b.Floats = []float32{1}
		case Double:
			b.Doubles = []float64{1}
		case Bytes, Fixed, Int96:
			b.AppendBytes([]byte("x"))
		case Group:
		}
		require.Equal(t, 1, b.Values())
		b.Reset()
		require.Zero(t, b.Values())
	}
	b := &Buffer{Info: Info{Node: &Node{Type: Bytes}}, Indexed: true, Index: []uint32{0, 0, 0}}
	b.AppendBytes([]byte("entry"))
	require.Equal(t, 3, b.Values())
	require.Zero(t, (&Buffer{Info: Info{Node: &Node{}}}).Values())
}

func TestBatch_Bytes(t *testing.T) {
	dict := &Dict{Offsets: []uint32{0, 1, 3}, Data: []byte("abb")}
	require.Equal(t, 2, dict.Len())
	require.Zero(t, (&Dict{}).Len())
	indexed := &Batch{Dict: dict, Index: []int32{1, 0}}
	require.Equal(t, "bb", string(indexed.Bytes(0)))
	plain := &Batch{Offsets: []uint32{0, 2, 2}, Data: []byte("xy")}
	require.Equal(t, "xy", string(plain.Bytes(0)))
	require.Empty(t, plain.Bytes(1))
}

// TestDecimalWidth_Exact compares with powers computed in full.
func TestDecimalWidth_Exact(t *testing.T) {
	limit := big.NewInt(1)
	for precision := 1; precision <= 38; precision++ {
		limit.Mul(limit, big.NewInt(10))
		width := 1
		for new(big.Int).Lsh(big.NewInt(1), uint(8*width-1)).Cmp(limit) < 0 {
			width++
		}
		require.Equal(t, width, DecimalWidth(precision), "%d digits", precision)
	}
}
