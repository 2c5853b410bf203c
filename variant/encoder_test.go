package variant

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// encodeChecked encodes a text, has the bytes decoded by the oracle, checks them,
// and requires the tree that the oracle expects of the text.
func encodeChecked(t testing.TB, e *Encoder, text string) Value {
	t.Helper()
	v, err := e.Encode([]byte(text))
	require.NoError(t, err)
	require.NoError(t, v.Validate())
	got, err := oracleDecode(v.Metadata(), v.Bytes())
	require.NoError(t, err)
	want, err := oracleJSON([]byte(strings.TrimPrefix(text, "\ufeff")))
	require.NoError(t, err)
	require.Equal(t, want, got)
	return v
}

// TestEncode_Corpus decodes what the encoder writes by an independent decoder,
// with a fresh encoder (nothing predicted), one that has just seen the same text
// (all predicted right) and one that has seen everything else.
func TestEncode_Corpus(t *testing.T) {
	shared := NewEncoder(ParseOptions{})
	for _, s := range corpus() {
		t.Run(s.name, func(t *testing.T) {
			first := encodeChecked(t, NewEncoder(ParseOptions{}), s.text).Clone()
			for range 3 {
				v := encodeChecked(t, shared, s.text)
				require.Equal(t, first.Bytes(), v.Bytes())
				require.Equal(t, first.Metadata(), v.Metadata())
			}
			v, err := ParseJSON([]byte(s.text))
			require.NoError(t, err)
			require.Equal(t, first.Bytes(), v.Bytes())
		})
	}
}

// TestEncode_SharesMetadata: rows with one set of names have one slice of metadata,
// whatever the order of the names and the depth they are at.
func TestEncode_SharesMetadata(t *testing.T) {
	e := NewEncoder(ParseOptions{})
	var first Value
	for i, text := range []string{`{"a":1,"b":{"c":2}}`, `{"b":{"c":2},"a":1}`, `[{"a":1},{"c":1},{"b":[]},{"c":2}]`, `{"c":{"b":{"a":{}}}}`} {
		v := encodeChecked(t, e, text)
		if i == 0 {
			first = v
		}
		require.Same(t, &first.Metadata()[0], &v.Metadata()[0])
	}
}

// V01: arrow-go's reader overflowed on offset tables beyond 255 bytes.
func TestV01_DictionariesOfEverySize(t *testing.T) {
	e := NewEncoder(ParseOptions{})
	for _, n := range []int{125, 126, 127, 255, 256, 300, 65535, 65536, 70000} {
		text := wideObject(n)
		v, err := e.Encode([]byte(text))
		require.NoError(t, err)
		require.NoError(t, v.Validate())
		m, err := ParseMetadata(v.Metadata())
		require.NoError(t, err)
		require.Equal(t, n+1, m.Len())
		for _, i := range []int{0, 1, n / 2, n - 1} {
			id, ok := m.ID(fmt.Sprintf("k%06d", i))
			require.True(t, ok)
			require.Equal(t, i, id)
			got, ok := v.Field(m.Name(i)).Int64()
			require.True(t, ok)
			require.EqualValues(t, i, got)
		}
		_, ok := m.ID("none")
		require.False(t, ok)
	}
	for width := 1; width <= 4; width++ {
		meta := widerMetadata([]string{"a", "b", "cc"}, width)
		m, err := ParseMetadata(meta)
		require.NoError(t, err)
		id, ok := m.ID("cc")
		require.True(t, ok)
		require.Equal(t, 2, id)
	}
}

// widerMetadata is AppendMetadata with offsets of a given width.
func widerMetadata(names []string, width int) []byte {
	b := appendUint([]byte{0x11 | byte(width-1)<<6}, uint32(len(names)), width)
	at := uint32(0)
	for _, s := range append([]string{""}, names...) {
		at += uint32(len(s))
		b = appendUint(b, at, width)
	}
	return append(b, strings.Join(names, "")...)
}

// V03: the widths of ids and offsets swapped in an object's header, or the width
// of ids taken from the number of fields.
func TestV03_HeaderWidths(t *testing.T) {
	for _, ids := range []int{0, 300, 66_000} {
		for _, pad := range []int{0, 300, 70_000, 17_000_000} {
			if ids > 300 && pad > 70_000 {
				continue
			}
			var b strings.Builder
			b.WriteString(`[{`)
			for i := range ids {
				fmt.Fprintf(&b, `"a%d":0,`, i)
			}
			b.WriteString(`"a":0},{"z":"` + strings.Repeat("p", pad) + `"}]`)
			v, err := NewEncoder(ParseOptions{}).Encode([]byte(b.String()))
			require.NoError(t, err)
			require.NoError(t, v.Validate())
			idW, offW := uintWidth(uint32(ids+1)), uintWidth(uint32(pad+5))
			require.Equal(t, byte(2|(offW-1)<<2|(idW-1)<<4), v.Index(1).Bytes()[0], "ids %d pad %d", ids, pad)
			if ids > 255 {
				require.EqualValues(t, 0x40, v.Index(0).Bytes()[0]&0x40, "is_large")
			}
			text, ok := v.Index(1).Field("z").Text()
			require.True(t, ok)
			require.Len(t, text, pad)
		}
	}
}

// V04: with duplicates the region of values was sized from the first one.
func TestV04_LastKeyWins(t *testing.T) {
	e := NewEncoder(ParseOptions{LastKeyWins: true})
	for text, want := range map[string]string{
		`{"a":1,"a":"hello"}`:                               "02010000061568656c6c6f",
		`{"a":"hello","a":1}`:                               "02010000020c01",
		`{"a":1,"a":2,"a":"hello"}`:                         "02010000061568656c6c6f",
		`{"a":{"a":1,"a":[{"a":3,"a":4}]},"a":1}`:           "02010000020c01",
		`{"a":1,"\u0061":1,"a":{"x":{"a":2},"x":1}, "a":1}`: "02010000020c01",
	} {
		v, err := e.Encode([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, hex.EncodeToString(v.Bytes()), text)
		require.NoError(t, v.Validate())
	}
	v := encodeChecked(t, e, `[{"b":{"c":1,"d":2,"c":3},"a":[{"x":1,"x":[1,2,{"y":1,"y":2}]}],"b":{"c":4,"c":5}},{"a":1}]`)
	require.Equal(t, `[{"a":[{"x":[1,2,{"y":2}]}],"b":{"c":5}},{"a":1}]`, v.String())

	for _, text := range []string{`{"a":1,"a":2}`, `{"b":0,"a":{"a":{"a":1}},"a":2}`, `[{"x":[{"q":1,"r":2,"\u0071":3}]}]`} {
		_, err := ParseJSON([]byte(text))
		require.ErrorIs(t, err, ErrDuplicateKey, text)
		require.ErrorIs(t, err, ErrSyntax, text)
	}
}

// V05: the sorted flag set over a dictionary in order of insertion.
func TestV05_SortedFlagIsTrue(t *testing.T) {
	v := encodeChecked(t, NewEncoder(ParseOptions{}), `{"b":2,"a":1}`)
	require.Equal(t, "11020001026162", hex.EncodeToString(v.Metadata()))
	require.Equal(t, "020200010200040c020c01", hex.EncodeToString(v.Bytes()))
	require.Equal(t, `{"a":1,"b":2}`, v.String())
	require.ErrorIs(t, ValidateMetadata(unhex(t, "11020001026261")), ErrCorrupt)
	require.NoError(t, ValidateMetadata(unhex(t, "01020001026261")))
}

// V11: integers beyond 38 digits and scales beyond 38 panicked or became strings.
func TestV11_BigNumbers(t *testing.T) {
	for text, kind := range map[string]Kind{
		"9223372036854775807":                     KindInt64,
		"9223372036854775808":                     KindDecimal16,
		"-9223372036854775809":                    KindDecimal16,
		strings.Repeat("9", 38):                   KindDecimal16,
		"123456789012345678901234567890123456789": KindDouble,
		"0." + strings.Repeat("0", 38) + "1":      KindDouble,
		"0." + strings.Repeat("0", 37) + "1":      KindDecimal16, // for its scale: see Decimal.kind
	} {
		v := encodeChecked(t, NewEncoder(ParseOptions{}), text)
		require.Equal(t, kind, v.Kind(), text)
	}
}

// V12: the smallest width by digits, with digits and scale as written.
func TestV12_DecimalWidths(t *testing.T) {
	for text, want := range map[string]string{
		"1.23": "20027b000000", "1.50": "200296000000", "0.00": "200200000000",
		"9999999999999999.99": "2402ffff63a7b3b6e00d", "123456.7890": "2404d202964900000000", "12345.6789": "200415cd5b07",
	} {
		v := encodeChecked(t, NewEncoder(ParseOptions{}), text)
		require.Equal(t, want, hex.EncodeToString(v.Bytes()), text)
	}
}

// V13: exponents that overflow, and the sign of zero.
func TestV13_NumberCorners(t *testing.T) {
	for text, want := range map[string]string{
		"-0": "0", "-0.0": "0", "1.0": "1", "1e2": "100.0", "1e-400": "0.0", "0.1e-2147483647": "0.0",
	} {
		v := encodeChecked(t, NewEncoder(ParseOptions{}), text)
		require.Equal(t, want, v.String(), text)
	}
	for _, number := range []string{"1e400", "-1e400", "1e999999999999", "123456789012345678901234567890e2147483639", strings.Repeat("9", 400)} {
		_, err := ParseJSON([]byte(`{"a":[1,{"b c":` + number + `}]}`))
		require.ErrorIs(t, err, ErrRange)
		var se *SyntaxError
		require.ErrorAs(t, err, &se)
		require.Equal(t, "$.a[1]['b c']", se.Path)
		require.Equal(t, 15, se.Offset)
	}
	e := NewEncoder(ParseOptions{NegativeZero: true})
	for _, text := range []string{"-0", "-0.0", "-0.000000000000000000000000000", "-0e0"} {
		v, err := e.Encode([]byte(text))
		require.NoError(t, err)
		require.Equal(t, "1c0000000000000080", hex.EncodeToString(v.Bytes()), text)
		require.Equal(t, "-0.0", v.String())
	}
}

// V14: malformed JSON that a widely used reader took.
func TestV14_MalformedJSON(t *testing.T) {
	for text, offset := range map[string]int{
		"": 0, " ": 1, "nul": 0, "tru": 0, "fals": 0, "truex": 4, "01": 1, "1.": 2, "-": 1, "-x": 1, "0x10": 1, "1e": 2, "1e+": 3, "[1 2]": 3,
		`{"a" 1}`: 5, `{"a":1 "b":2}`: 7, "[1]]": 3, `{"a":1} x`: 8, "1 2": 2, "\"a\nb\"": 2, "[1,]": 3, `{"a":1,}`: 7,
		`{a:1}`: 1, `{"a"`: 4, `{"a":`: 5, `{`: 1, `[`: 1, `"`: 1, `"a`: 2, `"\`: 2, `"\x"`: 1, `"\u12"`: 1, `"\u12g4"`: 1, ".5": 0, "+1": 0,
		"NaN": 0, "/*c*/1": 0, "[1,2": 4, "\ufeff": 3, "\ufeff\ufeff1": 3, "TRUE": 0, "'a'": 0, "12345678901234567890.": 21,
	} {
		_, err := ParseJSON([]byte(text))
		require.ErrorIs(t, err, ErrSyntax, "%q", text)
		var se *SyntaxError
		require.ErrorAs(t, err, &se)
		require.Equal(t, offset, se.Offset, "%q: %v", text, err)
	}
}

// TestEncode_StrictPrefixesFail: a text cut short anywhere is an error, or, of a
// number, another number.
func TestEncode_StrictPrefixesFail(t *testing.T) {
	e := NewEncoder(ParseOptions{})
	for _, s := range corpus() {
		text := strings.TrimSpace(s.text)
		if len(text) > 4000 || text[0] == '-' || text[0] >= '0' && text[0] <= '9' {
			continue
		}
		for n := range len(text) {
			_, err := e.Encode([]byte(text[:n]))
			require.ErrorIs(t, err, ErrSyntax, "%.40s cut to %d", text, n)
		}
	}
}

// V15: invalid UTF-8 and lone surrogates, in values and names.
func TestV15_InvalidText(t *testing.T) {
	replace := NewEncoder(ParseOptions{ReplaceInvalid: true})
	for text, want := range map[string]string{
		"\"a\xff\"": `"a�"`, "{\"\xff\":1}": `{"�":1}`, `"\ud800"`: `"�"`, `"\udfda"`: `"�"`, `"\ud800\u0041"`: `"�A"`,
		"\"1234567\xff89\"": `"1234567�89"`, "\"\xed\xa0\x80\"": `"���"`, "\"\xc0\x80\"": `"��"`, "\"\xe2\x82\"": `"��"`,
		`"\ud83d\ud83d\ude00"`: `"�😀"`, `"\ud83dx"`: `"�x"`,
	} {
		_, err := ParseJSON([]byte(text))
		require.ErrorIs(t, err, ErrSyntax, "%q", text)
		v, err := replace.Encode([]byte(text))
		require.NoError(t, err, "%q", text)
		require.NoError(t, v.Validate())
		require.Equal(t, want, v.String(), "%q", text)
	}
	_, err := replace.Encode([]byte(`{"\ud800":1,"\ud801":2}`))
	require.ErrorIs(t, err, ErrDuplicateKey, "replaced before names are compared")
	_, err = ParseJSON([]byte("{\"a\":[\"x\xff\"]}"))
	var se *SyntaxError
	require.ErrorAs(t, err, &se)
	require.Equal(t, 8, se.Offset)
	require.Equal(t, "$.a[0]", se.Path)
	require.ErrorIs(t, Validate(Unchecked(unhex(t, "110000"), unhex(t, "09fffe"))), ErrCorrupt)

	v, err := NewEncoder(ParseOptions{ReplaceInvalid: true, LastKeyWins: true}).Encode([]byte(`{"\ud800":1,"a":0,"\ud801":2}`))
	require.NoError(t, err)
	require.Equal(t, `{"a":0,"�":2}`, v.String())
}

// V10: nesting has one limit in every direction.
func TestV10_Depth(t *testing.T) {
	for _, n := range []int{500, 1000, 1001, 10_000, 3_000_000} {
		for _, open := range []string{"[", `{"k":`} {
			text := strings.Repeat(open, n) + "1" + strings.Repeat(map[string]string{"[": "]"}[open]+map[string]string{`{"k":`: "}"}[open], n)
			v, err := ParseJSON([]byte(text))
			if n > MaxDepth {
				require.ErrorIs(t, err, ErrDepth)
				continue
			}
			require.NoError(t, err)
			require.NoError(t, v.Validate())
			require.Equal(t, text, v.String())
		}
	}
	b := []byte{0}
	for range MaxDepth {
		b = wrapArray(b)
	}
	v := Unchecked(emptyMetadata, b)
	require.NoError(t, v.Validate())
	deeper := Unchecked(emptyMetadata, wrapArray(b))
	require.ErrorIs(t, deeper.Validate(), ErrCorrupt)
	_, err := AppendJSON(nil, deeper)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorIs(t, deeper.Emit(discard{}), ErrCorrupt)
	w := NewBuilder()
	w.AppendValue(deeper)
	_, err = w.Value()
	require.Error(t, err)
	_, err = NewEncoder(ParseOptions{MaxDepth: 3}).Encode([]byte("[[[[]]]]"))
	require.ErrorIs(t, err, ErrDepth)
}

// wrapArray makes an array of one element, with offsets of four bytes.
func wrapArray(b []byte) []byte {
	out := append([]byte{0x0f, 1, 0, 0, 0, 0}, 0, 0, 0, 0)
	putUint(out[6:], uint32(len(b)), 4)
	return append(out, b...)
}

// V17: an empty array printed as null.
func TestV17_EmptyContainers(t *testing.T) {
	for _, text := range []string{"[]", `{"a":[]}`, "[[],[]]", "{}", `[{},[{}],{"a":{}}]`} {
		require.Equal(t, text, encodeChecked(t, NewEncoder(ParseOptions{}), text).String())
	}
	require.Equal(t, "030000", hex.EncodeToString(encodeChecked(t, NewEncoder(ParseOptions{}), "[]").Bytes()))
}

// V25: names are case-sensitive.
func TestV25_CaseSensitivity(t *testing.T) {
	v := encodeChecked(t, NewEncoder(ParseOptions{}), `{"a":1,"A":2}`)
	for name, want := range map[string]string{"a": "1", "A": "2", "B": "<missing>"} {
		require.Equal(t, want, v.Field(name).String())
	}
}

func TestEncode_SizeLimit(t *testing.T) {
	e := NewEncoder(ParseOptions{MaxSize: 10})
	_, err := e.Encode([]byte(`"12345678"`))
	require.NoError(t, err)
	_, err = e.Encode([]byte(`"123456789"`))
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = e.Encode([]byte(`[0.1,0.1]`))
	require.ErrorIs(t, err, ErrTooLarge, "the value is larger than its text")
}

// TestEncode_ErrorsLeaveNoTrace: an encoder works on after an error at any depth.
func TestEncode_ErrorsLeaveNoTrace(t *testing.T) {
	e := NewEncoder(ParseOptions{})
	good := `{"a":{"b":[{"c":1,"a":2}]},"b":2}`
	for n := range len(good) {
		_, err := e.Encode([]byte(good[:n]))
		require.Error(t, err)
		_, err = e.Encode([]byte(good[:n] + "\x00"))
		require.Error(t, err)
		encodeChecked(t, e, good)
	}
}

// TestEncode_ManyShapes sends more names, shapes and dictionaries than an encoder
// keeps.
func TestEncode_ManyShapes(t *testing.T) {
	e := NewEncoder(ParseOptions{})
	for i := range 30_000 {
		text := fmt.Sprintf(`{"k%d":{"k%d":1,"x":2},"a":1,"k%d":[{"b%d":1,"a":2}]}`, i%7000, i*7919%9973, 7000+i%5003, i%17)
		v, err := e.Encode([]byte(text))
		require.NoError(t, err)
		if i%97 == 0 {
			encodeChecked(t, e, text)
		} else if i%11 == 0 {
			require.NoError(t, v.Validate())
		}
	}
	require.LessOrEqual(t, len(e.builder.tree.keys), maxTableKeys+5)
	require.LessOrEqual(t, e.builder.tree.shapes, maxShapes)
}

func TestSyntaxError_Place(t *testing.T) {
	_, err := ParseJSON([]byte("{\n \"legs\": [\n  {\"tenor\": \"1M\"},\n  {\"tenor\": x}\n ]\n}"))
	var se *SyntaxError
	require.ErrorAs(t, err, &se)
	require.Equal(t, 4, se.Line)
	require.Equal(t, "$.legs[1].tenor", se.Path)
	require.Equal(t, 44, se.Offset)
	require.Equal(t, `variant: expected a value at byte 44 (line 4, $.legs[1].tenor) near "\"},\n  {\"tenor\": x}\n ]\n}"`, err.Error())
	require.False(t, errors.Is(err, ErrCorrupt))
}

// TestParseJSON_Concurrent: pooled encoders, writers and validators serve many
// goroutines; run it with -race. Values outlive the encoder that made them.
func TestParseJSON_Concurrent(t *testing.T) {
	texts := []string{`{"a":[1,{"b":2.5}]}`, `{"b":"x","c":{}}`, `[1,2,3]`}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			values := make([]Value, 300)
			for i := range values {
				v, err := ParseJSON([]byte(texts[(i+g)%3]))
				if err != nil || v.Validate() != nil {
					t.Error("a good text did not parse")
				}
				values[i] = v
			}
			for i, v := range values {
				if v.String() != texts[(i+g)%3] {
					t.Errorf("%s became %s", texts[(i+g)%3], v)
				}
			}
		})
	}
	wg.Wait()
}

// The path of a value a thousand levels down made a message of thousands of bytes.
func TestSyntaxErrorOfDeepTextIsShort(t *testing.T) {
	_, err := ParseJSON([]byte(strings.Repeat("[", 2*MaxDepth)))
	require.ErrorIs(t, err, ErrDepth)
	require.Less(t, len(err.Error()), 300)
	require.ErrorContains(t, err, "$[0][0]")
}
