package variant

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sharedFile reads a file of the data shared by the project's checks.
func sharedFile(t testing.TB, elem ...string) []byte {
	t.Helper()
	root := os.Getenv("FRAZIL_SHARED")
	if root == "" {
		t.Skip("FRAZIL_SHARED is not set")
	}
	b, err := os.ReadFile(filepath.Join(append([]string{root}, elem...)...))
	require.NoError(t, err)
	return b
}

// parsesUnlikeSpark names the texts for which a decision of this project differs
// from what Spark 4.1 does.
var parsesUnlikeSpark = map[string]struct {
	why  string
	json string // "" means an error
}{
	`{"a":1} x`:         {"text after the value is an error", ""},
	`"\ud83d"`:          {"half a surrogate pair is an error", ""},
	"\ufeff1":           {"a byte order mark is skipped", "1"},
	"{\"￮\":1,\"😀\":2}": {"names are in the order of UTF-8, not UTF-16", `{"￮":1,"😀":2}`},
}

// TestConformance_ParseJSON: every text that Spark was asked to parse. The value's
// bytes are Spark's wherever no field ids are involved; dictionaries differ, as ours
// are sorted.
func TestConformance_ParseJSON(t *testing.T) {
	type line struct {
		Input    string
		Valid    bool
		JSON     string
		ValueHex string `json:"value_hex"`
	}
	seen := 0
	for _, c := range sharedLines[line](t, "conformance", "_functions", "parse_json.ndjson") {
		v, err := ParseJSON([]byte(c.Input))
		if d, ok := parsesUnlikeSpark[c.Input]; ok {
			seen++
			if d.json == "" {
				require.ErrorIs(t, err, ErrSyntax, "%s: %s", c.Input, d.why)
				continue
			}
			require.NoError(t, err, d.why)
			require.Equal(t, d.json, v.String(), d.why)
			continue
		}
		if !c.Valid {
			require.ErrorIs(t, err, ErrSyntax, "%q", c.Input)
			continue
		}
		require.NoError(t, err, "%q", c.Input)
		require.Equal(t, c.JSON, v.String(), "%q", c.Input)
		if !strings.Contains(c.Input, "{") {
			require.Equal(t, c.ValueHex, hex.EncodeToString(v.Bytes()), "%q", c.Input)
		} else if c.ValueHex != "" {
			require.Len(t, v.Bytes(), len(c.ValueHex)/2, "%.40q", c.Input)
		}
	}
	require.Equal(t, len(parsesUnlikeSpark), seen)
}

// parquetTesting gives the JSON of each case of apache/parquet-testing's variant
// directory as this package writes it; its own data_dictionary.json is in another
// notation for times, and rounds decimals.
var parquetTesting = map[string]string{
	"array_empty":                  `[]`,
	"array_nested":                 `[{"id":1,"thing":{"names":["Contrarian","Spider"]}},null,{"id":2,"names":["Apple","Ray",null],"type":"if"}]`,
	"array_primitive":              `[2,1,5,9]`,
	"long_string":                  "",
	"object_empty":                 `{}`,
	"object_nested":                `{"id":1,"observation":{"location":"In the Volcano","time":"12:34:56","value":{"humidity":456,"temperature":123}},"species":{"name":"lava monster","population":6789}}`,
	"object_primitive":             `{"boolean_false_field":false,"boolean_true_field":true,"double_field":1.23456789,"int_field":1,"null_field":null,"string_field":"Apache Parquet","timestamp_field":"2025-04-16T12:34:56.78"}`,
	"primitive_binary":             `"AxM33q2+78r+"`,
	"primitive_boolean_false":      `false`,
	"primitive_boolean_true":       `true`,
	"primitive_date":               `"2025-04-16"`,
	"primitive_decimal16":          `12345678912345678.9`,
	"primitive_decimal4":           `12.34`,
	"primitive_decimal8":           `12345678.9`,
	"primitive_double":             `1.2345678901234E9`,
	"primitive_float":              `1.234568E9`,
	"primitive_int16":              `1234`,
	"primitive_int32":              `123456`,
	"primitive_int64":              `1234567890123456789`,
	"primitive_int8":               `42`,
	"primitive_null":               `null`,
	"primitive_time":               `"12:33:54.123456"`,
	"primitive_timestamp":          `"2025-04-16 16:34:56.78+00:00"`,
	"primitive_timestamp_nanos":    `"2024-11-07 12:33:54.123456789+00:00"`,
	"primitive_timestampntz":       `"2025-04-16 12:34:56.78"`,
	"primitive_timestampntz_nanos": `"2024-11-07 12:33:54.123456789"`,
	"primitive_uuid":               `"f24f9b64-81fa-49d1-b74e-8c09a6e31c56"`,
	"primitive_string":             `"This string is longer than 64 bytes and therefore does not fit in a short_string and it also includes several non ascii characters such as 🐢, 💖, ♥️, 🎣 and 🤦!!"`,
	"short_string":                 `"Less than 64 bytes (❤️ with utf8)"`,
}

// TestConformance_ParquetTesting reads each case, prints it, writes it again through
// a builder, over its own dictionary and over the case's, and compares bytes.
func TestConformance_ParquetTesting(t *testing.T) {
	for name, want := range parquetTesting {
		t.Run(name, func(t *testing.T) {
			meta := sharedFile(t, "parquet-testing", "variant", name+".metadata")
			value := sharedFile(t, "parquet-testing", "variant", name+".value")
			v, err := New(meta, value)
			require.NoError(t, err)
			if name == "long_string" {
				want = `"` + string(value[5:]) + `"`
			}
			require.Equal(t, want, v.String())

			m, err := ParseMetadata(meta)
			require.NoError(t, err)
			b := NewBuilder()
			b.ResetMetadata(m)
			require.NoError(t, v.Emit(b))
			again, err := b.Value()
			require.NoError(t, err)
			require.Equal(t, len(value), len(again.Bytes()))
			require.Equal(t, want, again.String())
			if v.Kind() != KindObject && v.Kind() != KindArray {
				require.Equal(t, value, again.Bytes())
			}
			b.Reset()
			b.AppendValue(v)
			again, err = b.Value()
			require.NoError(t, err)
			require.NoError(t, again.Validate())
			require.Equal(t, want, again.String())
		})
	}
	sharedFile(t, "parquet-testing", "variant", "README.md")
	cases, err := filepath.Glob(filepath.Join(os.Getenv("FRAZIL_SHARED"), "parquet-testing", "variant", "*.value"))
	require.NoError(t, err)
	require.Len(t, cases, len(parquetTesting))
}

// undecidedError tells whether a text that RFC 8259 leaves open is one that this
// package refuses: numbers beyond doubles, and text that is not UTF-8.
func undecidedError(name string) bool {
	for _, part := range []string{
		"huge_exp", "overflow", "pos_double_huge", "surrogate", "UTF", "utf", "invalid",
		"overlong", "iso_latin", "lone", "not_in_unicode", "truncated", "incomplete", "inverted", "1st_valid",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// TestConformance_JSONTestSuite: what must parse does, what must not does not; of
// the rest, either. What parses is what encoding/json sees.
func TestConformance_JSONTestSuite(t *testing.T) {
	var cases []struct{ Name, Type, In string }
	require.NoError(t, json.Unmarshal(sharedFile(t, "data", "json-test-suite.json"), &cases))
	require.NotEmpty(t, cases)
	e := NewEncoder(ParseOptions{LastKeyWins: true})
	for _, c := range cases {
		text, err := base64.StdEncoding.DecodeString(c.In)
		require.NoError(t, err)
		_, err = e.Encode(text)
		switch c.Type {
		case "y":
			require.NoError(t, err, c.Name)
			if want, err := oracleJSON(text); err == nil {
				v, _ := e.Encode(text)
				got, err := oracleDecode(v.Metadata(), v.Bytes())
				require.NoError(t, err, c.Name)
				require.Equal(t, want, got, c.Name)
			}
		case "n":
			require.ErrorIs(t, err, ErrSyntax, c.Name)
		default:
			if err != nil && !undecidedError(c.Name) {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
}

// TestConformance_Documents: real documents, line by line or whole, decoded by the
// oracle and compared with encoding/json.
func TestConformance_Documents(t *testing.T) {
	for _, name := range []string{
		"aws-lambda-events.ndjson", "github-webhooks.ndjson", "cdm-trades-6.1.0.ndjson", "mdn-compat-3000.ndjson",
		"canada.json", "citm_catalog.json", "twitter.json", "twitterescaped.json", "update-center.json", "github_events.json",
	} {
		t.Run(name, func(t *testing.T) {
			e := NewEncoder(ParseOptions{})
			texts := [][]byte{sharedFile(t, "data", name)}
			if strings.HasSuffix(name, ".ndjson") {
				texts = lines(texts[0])
			}
			step := 1 + len(texts)/100
			for i, text := range texts {
				if i%step == 0 && name != "canada.json" { // 110,000 numbers are too many for the oracle
					encodeChecked(t, e, string(text))
				}
				v, err := e.Encode(text)
				require.NoError(t, err)
				w, err := ParseJSON([]byte(v.String()))
				require.NoError(t, err)
				require.Equal(t, v.String(), w.String())
			}
		})
	}
}

func lines(b []byte) [][]byte {
	var out [][]byte
	for _, l := range strings.Split(string(b), "\n") {
		if strings.TrimSpace(l) != "" {
			out = append(out, []byte(l))
		}
	}
	return out
}
