package variant

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sharedLines decodes a file of JSON lines of the shared test data.
func sharedLines[T any](t testing.TB, elem ...string) []T {
	root := os.Getenv("FRAZIL_SHARED")
	if root == "" {
		t.Skip("FRAZIL_SHARED is not set")
	}
	f, err := os.Open(filepath.Join(append([]string{root}, elem...)...))
	require.NoError(t, err)
	defer f.Close()
	var out []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var x T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &x))
		out = append(out, x)
	}
	require.NoError(t, lines.Err())
	return out
}

var (
	sparkCast   = regexp.MustCompile(`^cast\((.*) as variant\)$`)
	sparkInner  = regexp.MustCompile(`^cast\('?(.*?)'?D? as (float|double|int|bigint)\)$`)
	sparkTyped  = regexp.MustCompile(`^(date|timestamp|timestamp_ntz)'(.*)'$`)
	sparkParse  = regexp.MustCompile(`^parse_json\('(.*)'\)$`)
	sparkEscape = strings.NewReplacer(`\u0000`, "\x00", `\\`, `\`)
)

// sparkValue evaluates the SQL expressions of the cast tables, independently of
// the code under test.
func sparkValue(t testing.TB, expr string) Value {
	if m := sparkParse.FindStringSubmatch(expr); m != nil {
		v, err := ParseJSON([]byte(m[1]))
		require.NoError(t, err, expr)
		return v
	}
	m := sparkCast.FindStringSubmatch(expr)
	require.NotNil(t, m, expr)
	s := sparkLiteral(t, m[1])
	return Value{emptyMetadata, AppendScalar(nil, &s)}
}

func sparkLiteral(t testing.TB, lit string) Scalar {
	if m := sparkInner.FindStringSubmatch(lit); m != nil {
		return sparkNumber(t, m[1], m[2])
	}
	if m := sparkTyped.FindStringSubmatch(lit); m != nil {
		layout, kind := "2006-01-02 15:04:05.999999", KindTimestampNTZ
		switch m[1] {
		case "date":
			at, err := time.Parse("2006-01-02", m[2])
			require.NoError(t, err)
			return Scalar{Kind: KindDate, Int: at.Unix() / 86400}
		case "timestamp":
			layout, kind = layout+"-07:00", KindTimestamp
		}
		at, err := time.Parse(layout, m[2])
		require.NoError(t, err)
		return Scalar{Kind: kind, Int: at.UnixMicro()}
	}
	switch {
	case lit == "true" || lit == "false":
		return Scalar{Kind: KindBool, Int: int64(len("false") - len(lit))}
	case lit[0] == 'X':
		b, err := hex.DecodeString(lit[2 : len(lit)-1])
		require.NoError(t, err)
		return Scalar{Kind: KindBinary, Bytes: b}
	case lit[0] == '\'':
		return Scalar{Kind: KindString, Bytes: []byte(sparkEscape.Replace(lit[1 : len(lit)-1]))}
	case strings.HasSuffix(lit, "BD"):
		return sparkDecimal(t, strings.TrimSuffix(lit, "BD"))
	}
	for suffix, typ := range map[string]string{"Y": "tinyint", "S": "smallint", "L": "bigint", "F": "float", "D": "double"} {
		if number, ok := strings.CutSuffix(lit, suffix); ok {
			return sparkNumber(t, number, typ)
		}
	}
	return sparkNumber(t, lit, "int")
}

func sparkNumber(t testing.TB, text, typ string) Scalar {
	switch typ {
	case "float", "double":
		bits, kind := 64, KindDouble
		if typ == "float" {
			bits, kind = 32, KindFloat
		}
		x, err := strconv.ParseFloat(text, bits)
		require.NoError(t, err)
		return Scalar{Kind: kind, Float: x}
	}
	x, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	kind := map[string]Kind{"tinyint": KindInt8, "smallint": KindInt16, "int": KindInt32, "bigint": KindInt64}[typ]
	return Scalar{Kind: kind, Int: x, Hi: x >> 63}
}

func sparkDecimal(t testing.TB, text string) Scalar {
	whole, frac, _ := strings.Cut(text, ".")
	x, ok := new(big.Int).SetString(whole+frac, 10)
	require.True(t, ok)
	low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	high := new(big.Int).Rsh(x, 64).Int64()
	s := Scalar{Kind: KindDecimal16, Scale: uint8(len(frac)), Int: int64(low), Hi: high}
	if digits := len(strings.TrimPrefix(whole, "-")) + len(frac); digits <= 9 {
		s.Kind = KindDecimal4
	} else if digits <= 18 {
		s.Kind = KindDecimal8
	}
	return s
}

// sparkJSON renders a cast value as Spark's to_json does a column of that type.
func sparkJSON(t testing.TB, v Value, typ *Type) string {
	if v.IsNull() || v.IsMissing() {
		return "null"
	}
	s, _ := v.Scalar()
	switch typ.ID {
	case TypeDecimal:
		return s.Dec().String()
	case TypeTimestamp:
		return time.UnixMicro(s.Int).UTC().Format(`"2006-01-02T15:04:05.000000Z"`)
	case TypeTimestampNTZ:
		return time.UnixMicro(s.Int).UTC().Format(`"2006-01-02T15:04:05.000000"`)
	case TypeBinary:
		return `"` + base64.StdEncoding.EncodeToString(s.Bytes) + `"`
	case TypeArray:
		var parts []string
		for _, e := range v.Elements() {
			parts = append(parts, sparkJSON(t, e, typ.Elem))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case TypeMap:
		var parts []string
		for name, e := range v.Fields() {
			parts = append(parts, strconv.Quote(name)+":"+sparkJSON(t, e, typ.Elem))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case TypeStruct:
		var parts []string
		for _, f := range typ.Fields {
			require.False(t, v.Field(f.Name).IsMissing())
			parts = append(parts, strconv.Quote(f.Name)+":"+sparkJSON(t, v.Field(f.Name), &f.Type))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	out, err := AppendJSON(nil, v)
	require.NoError(t, err)
	return string(out)
}

// requireSameJSON compares JSON with numbers by value: 1.0E10 and 1e+10 are the
// same double, and floats are compared as floats (Spark's Java prints more digits
// than a float needs). Strings, decimals and times must agree to the byte.
func requireSameJSON(t *testing.T, want, got string, typ TypeID) {
	t.Helper()
	exact := typ == TypeString || typ == TypeDecimal || typ == TypeTimestamp || typ == TypeTimestampNTZ
	single := typ == TypeFloat
	if want == got {
		return
	}
	require.False(t, exact, "want %s, got %s", want, got)
	a, b := numbersOf(t, want), numbersOf(t, got)
	if x, ok := a.(float64); ok && single {
		y, _ := b.(float64)
		require.Equal(t, float32(x), float32(y))
		return
	}
	require.Equal(t, a, b)
}

func numbersOf(t *testing.T, text string) any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var x any
	require.NoError(t, dec.Decode(&x), text)
	return normalizeNumbers(x)
}

func normalizeNumbers(x any) any {
	switch x := x.(type) {
	case json.Number:
		if f, err := x.Float64(); err == nil && len(x) < 18 {
			return f
		}
		r, _ := new(big.Rat).SetString(string(x))
		return r.RatString()
	case []any:
		for i := range x {
			x[i] = normalizeNumbers(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = normalizeNumbers(x[k])
		}
	}
	return x
}

// castLine is a line of casts.ndjson and casts_strict.ndjson.
type castLine struct {
	Value, Expr, Type string
	Null              bool
	JSON              json.RawMessage // text of {"r":...}
	String            *string
	Error             *string
}

func (l *castLine) result(t *testing.T) string {
	var text string
	require.NoError(t, json.Unmarshal(l.JSON, &text))
	return strings.TrimSuffix(strings.TrimPrefix(text, `{"r":`), "}")
}

// TestTryCast_SparkMatrix runs every line of Spark's try_variant_get table.
func TestTryCast_SparkMatrix(t *testing.T) {
	for _, line := range sharedLines[castLine](t, "conformance", "_functions", "casts.ndjson") {
		t.Run(line.Value+" as "+line.Type, func(t *testing.T) {
			typ, err := ParseType(line.Type)
			require.NoError(t, err)
			v := sparkValue(t, line.Expr)
			got, ok := TryCast(v, typ)
			if line.Null {
				require.True(t, !ok || got.IsNull(), "got %s", got)
				return
			}
			require.True(t, ok)
			requireSameJSON(t, line.result(t), sparkJSON(t, got, &typ), typ.ID)
			checkScalarCast(t, v, got, typ)
		})
	}
}

// TestCast_SparkStrictMatrix runs every line of Spark's variant_get table.
func TestCast_SparkStrictMatrix(t *testing.T) {
	for _, line := range sharedLines[castLine](t, "conformance", "_functions", "casts_strict.ndjson") {
		t.Run(line.Value+" as "+line.Type, func(t *testing.T) {
			typ, err := ParseType(line.Type)
			require.NoError(t, err)
			got, err := Cast(sparkValue(t, line.Expr), typ)
			if line.Error != nil {
				require.Equal(t, "INVALID_VARIANT_CAST", *line.Error)
				require.ErrorIs(t, err, ErrCast)
				require.True(t, got.IsMissing())
				return
			}
			require.NoError(t, err)
			requireSameJSON(t, line.result(t), sparkJSON(t, got, &typ), typ.ID)
		})
	}
}

// checkScalarCast holds CastScalar, which shredded columns use, against Cast: one
// answer whatever the layout (fault S11).
func checkScalarCast(t *testing.T, v, want Value, typ Type) {
	s, ok := v.Scalar()
	if !ok || typ.IsNested() || typ.ID == TypeVariant {
		return
	}
	got, err := CastScalar(&s, typ)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want.Bytes(), AppendScalar(nil, &got)))
}
