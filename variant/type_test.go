package variant

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseType_RoundTrip(t *testing.T) {
	for text, want := range map[string]string{
		"variant": "", "boolean": "", "tinyint": "", "smallint": "", "int": "", "bigint": "", "float": "", "double": "",
		"decimal(9,2)": "", "decimal(38,38)": "", "string": "", "binary": "", "date": "", "timestamp": "", "timestamp_ntz": "",
		"array<int>": "", "map<string,decimal(9,2)>": "", "struct<>": "",
		"struct<name:string,legs:array<struct<rate:double>>>": "", "struct<`a.b`:int,`it``s`:int,``:int,é:int>": "",
		"INT": "int", " Array < Integer > ": "array<int>", "byte": "tinyint", "short": "smallint", "long": "bigint",
		"real": "float", "decimal": "decimal(10,0)", "DEC(5)": "decimal(5,0)", "numeric( 5 , 2 )": "decimal(5,2)",
		"timestamp_ltz": "timestamp", "struct<a int, b: array<string>>": "struct<a:int,b:array<string>>",
		"map< STRING , variant >": "map<string,variant>",
	} {
		if want == "" {
			want = text
		}
		got, err := ParseType(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String())
		back, err := ParseType(got.String())
		require.NoError(t, err)
		require.True(t, got.Equal(&back))
		require.Equal(t, strings.ContainsAny(want, "<"), got.IsNested())
	}
}

func TestParseType_Errors(t *testing.T) {
	for _, text := range []string{
		"", "integerr", "int int", "decimal(39,0)", "decimal(0,0)", "decimal(5,6)", "decimal(5,-1)", "decimal(5", "decimal()",
		"array", "array<", "array<int", "array<>", "map<int,int>", "map<string>", "map<string,int", "struct<a>", "struct<a:int",
		"struct<a:int,>", "struct<:int>", "struct<`a:int>", "struct<a:int,a:int>", "struct<a:int>>", "varchar(5)", "char", "interval",
		strings.Repeat("array<", 2000) + "int" + strings.Repeat(">", 2000),
	} {
		_, err := ParseType(text)
		require.ErrorIs(t, err, ErrType, text)
	}
}

func TestType_Equal(t *testing.T) {
	texts := []string{"int", "decimal(9,2)", "decimal(9,3)", "array<int>", "array<string>", "struct<a:int>", "struct<b:int>", "struct<a:int,b:int>"}
	for i, a := range texts {
		for j, b := range texts {
			x, err := ParseType(a)
			require.NoError(t, err)
			y, err := ParseType(b)
			require.NoError(t, err)
			require.Equal(t, i == j, x.Equal(&y), "%s %s", a, b)
		}
	}
	require.Equal(t, "TypeID(200)", TypeID(200).String())
}

func FuzzParseType(f *testing.F) {
	for _, seed := range []string{"struct<a:int,`b``c`:array<map<string,decimal(9,2)>>>", "decimal", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typ, err := ParseType(text)
		if err != nil {
			require.ErrorIs(t, err, ErrType)
			return
		}
		back, err := ParseType(typ.String())
		require.NoError(t, err, typ.String())
		require.True(t, typ.Equal(&back))
	})
}

func ExampleParseType() {
	t, err := ParseType("struct<name: string, price: decimal(9,2)>")
	fmt.Println(t, err)
	fmt.Println(t.Fields[1].Type.ID, t.Fields[1].Type.Precision)
	// Output:
	// struct<name:string,price:decimal(9,2)> <nil>
	// decimal 9
}

// TestType_ByHand: types that ParseType does not give are no surprise.
func TestType_ByHand(t *testing.T) {
	v := mustParse(t, `[1,"x"]`)
	list := Type{ID: TypeArray}
	require.Equal(t, "array<variant>", list.String())
	require.True(t, list.Equal(&Type{ID: TypeArray, Elem: &Type{}}))
	require.False(t, list.Equal(&Type{ID: TypeArray, Elem: &Type{ID: TypeInt}}))
	got, err := Cast(v, list)
	require.NoError(t, err)
	require.Equal(t, `[1,"x"]`, got.String())
	require.Equal(t, "map<string,variant>", Type{ID: TypeMap}.String())
	for _, typ := range []Type{
		{ID: TypeDecimal},
		{ID: TypeDecimal, Precision: -1},
		{ID: TypeDecimal, Precision: 39},
		{ID: TypeDecimal, Precision: 9, Scale: 10},
		{ID: TypeDecimal, Precision: 9, Scale: -1},
		{ID: TypeDecimal, Precision: 38, Scale: 300},
		{ID: 99},
	} {
		_, err := Cast(v.Index(0), typ)
		require.ErrorIs(t, err, ErrCast, "%+v", typ)
		require.NotEmpty(t, typ.String())
	}
}
