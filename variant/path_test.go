package variant

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func mustPath(t testing.TB, text string) Path {
	t.Helper()
	p, err := ParsePath(text)
	require.NoError(t, err)
	return p
}

func mustParse(t testing.TB, text string) Value {
	t.Helper()
	v, err := ParseJSON([]byte(text))
	require.NoError(t, err)
	return v
}

// pathDiffersFromSpark names the paths of the shared table that mean something
// else here, with the reason and the value found.
var pathDiffersFromSpark = map[string]string{
	`$['it\'s']`: "8", // Spark has no escapes, so it cannot name a key with both quotes (V24)
}

// TestParsePath_SparkTable runs every line of Spark's path table.
func TestParsePath_SparkTable(t *testing.T) {
	type line struct {
		Doc, Path string
		JSON      *string
		Error     *string
	}
	for _, l := range sharedLines[line](t, "conformance", "_functions", "paths.ndjson") {
		t.Run(l.Path, func(t *testing.T) {
			p, err := ParsePath(l.Path)
			if want, ok := pathDiffersFromSpark[l.Path]; ok {
				require.NoError(t, err)
				require.Equal(t, want, mustParse(t, l.Doc).Get(p).String())
				return
			}
			if l.Error != nil {
				require.ErrorIs(t, err, ErrPath)
				return
			}
			require.NoError(t, err)
			got := mustParse(t, l.Doc).Get(p)
			if l.JSON == nil {
				require.True(t, got.IsMissing())
				return
			}
			require.JSONEq(t, *l.JSON, got.String())
		})
	}
}

// TestParsePath_V24 is the grammar's corner set: keys with dots, quotes, digits
// only, nothing at all.
func TestParsePath_V24(t *testing.T) {
	v := mustParse(t, `{"a.b":1,"a":{"b":2},"":3,"?":4,"0":5,"it's":6,"q\"":7,"both'\"":8,"back\\slash":9,"tab\t":10}`)
	for path, want := range map[string]string{
		`$.a.b`: "2", `$['a.b']`: "1", `$["a.b"]`: "1", `$['']`: "3", `$[""]`: "3", `$["?"]`: "4",
		`$['0']`: "5", `$.0`: "5", `$["it's"]`: "6", `$['it\'s']`: "6", `$['q"']`: "7", `$["q\""]`: "7",
		`$['both\'"']`: "8", `$["both'\""]`: "8", `$['both\u0027\u0022']`: "8",
		`$['back\\slash']`: "9", `$.back\slash`: "9", "$['tab\t']": "10", `$['tab\t']`: "10", `$['tab\u0009']`: "10",
	} {
		require.Equal(t, want, v.Get(mustPath(t, path)).String(), path)
	}
	require.True(t, v.Get(mustPath(t, "$[0]")).IsMissing())
	for _, bad := range []string{
		"", "a", "$a", "$a[0]", "a..b", "$..b", "$[", "$]", "$.", "$.a.", "$.[0]", "foo[0", "[0][", "[0]", "$['a", "$['a'",
		`$["a']`, "$[']", "$[0", "$[-1]", "$[ 0 ]", "$[1.5]", "$[a]", "$[]", "$[2147483648]", "$[99999999999999999999]",
		`$['\q']`, `$['\u12']`, `$['\ud800']`, `$['\ud800A']`, `$['\udc00']`, `$['a\']`, "$ .a", " $", "$['\xff']", "$.\xff",
	} {
		_, err := ParsePath(bad)
		require.ErrorIs(t, err, ErrPath, "%q", bad)
	}
}

// TestPath_V24_RoundTrip holds path -> text -> path for keys of every ASCII
// character and the odd ones, alone, doubled and between others.
func TestPath_V24_RoundTrip(t *testing.T) {
	keys := []string{"", "user.name", "a]b", "['x']", `\`, `\\'`, "é", "\u2028", "\U0001F600", "\uFFFD", strings.Repeat("k'", 300)}
	for c := range 0x80 {
		keys = append(keys, string(rune(c)), "a"+string(rune(c))+"b", strings.Repeat(string(rune(c)), 2))
	}
	for _, key := range keys {
		p := NewPath(Step{Name: key}, Step{Index: 7, IsIndex: true}, Step{Name: key})
		back := mustPath(t, p.String())
		require.Equal(t, p.Steps(), back.Steps())
		require.Equal(t, p.String(), back.String())
		double := mustPath(t, `$["`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key)+`"]`)
		require.Equal(t, []Step{{Name: key}}, double.Steps())
	}
}

// TestPath_NormalizedForm is the form of Iceberg's bound keys (spec, "Bounds for
// Variant") with the escapes of RFC 9535.
func TestPath_NormalizedForm(t *testing.T) {
	for text, want := range map[string]string{
		"$": "$", "$.event_type": "$['event_type']", `$["user.name"]`: "$['user.name']",
		"$.location.latitude": "$['location']['latitude']", "$.legs[003].x": "$['legs'][3]['x']",
		`$["it's"]`: `$['it\'s']`, `$['q"']`: `$['q"']`, "$['\x01\b\t\n\f\r\x1f']": `$['\u0001\b\t\n\f\r\u001f']`,
	} {
		require.Equal(t, want, mustPath(t, text).String())
	}
	require.Equal(t, "$", Path{}.String())
	require.Zero(t, Path{}.Len())
	require.Empty(t, Path{}.Steps())
	require.Equal(t, 2, mustPath(t, "$.a[1]").Len())
}

func TestPathError_TellsTheOffset(t *testing.T) {
	_, err := ParsePath("$.abc]x[y]")
	var e *PathError
	require.ErrorAs(t, err, &e)
	require.Equal(t, PathError{"$.abc]x[y]", 8, "expected an index or a quoted key"}, *e)
	require.ErrorContains(t, err, "at byte 8")
}

// TestPath_StepsAreCopies: a caller cannot change a compiled path.
func TestPath_StepsAreCopies(t *testing.T) {
	steps := []Step{{Name: "a"}}
	p := NewPath(steps...)
	steps[0].Name = "b"
	p.Steps()[0].Name = "c"
	require.Equal(t, "$['a']", p.String())
	require.Panics(t, func() { NewPath(Step{IsIndex: true, Index: -1}) })
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"$", "$.a.b", "$['a']['b'][1]['c']", `$["it's"]`, `$['it\'s']`, "$[0][1]", `$['\ud83d\ude00']`, "$.k y", "$..a"} {
		f.Add(seed)
	}
	doc := []byte(`{"a":{"b":[10,{"c":"x"},null]},"k y":2,"":3,"it's":8}`)
	v, err := ParseJSON(doc)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			require.ErrorIs(t, err, ErrPath)
			return
		}
		require.True(t, utf8.ValidString(text))
		back, err := ParsePath(p.String())
		require.NoError(t, err)
		require.Equal(t, p.Steps(), back.Steps())
		got, err := v.Lookup(p)
		require.NoError(t, err)
		require.Equal(t, got, v.Get(back))
		require.Equal(t, got.String(), referenceGet(v, p).String())
	})
}

// referenceGet follows a path through the iterators, without search or guess.
func referenceGet(v Value, p Path) Value {
	for _, step := range p.Steps() {
		next := Value{}
		if step.IsIndex {
			for i, e := range v.Elements() {
				if i == step.Index {
					next = e
				}
			}
		} else {
			for name, e := range v.Fields() {
				if name == step.Name {
					next = e
				}
			}
		}
		v = next
	}
	return v
}
