package variant

import (
	"fmt"
	"strings"
)

// sample is a JSON text with a name: one corpus feeds tests, fuzz seeds and
// benchmarks.
type sample struct{ name, text string }

// corpus returns texts that are valid under default options.
func corpus() []sample {
	return append(append(scalarCorpus(), containerCorpus()...), generatedCorpus()...)
}

func scalarCorpus() []sample {
	var out []sample
	for _, t := range []string{
		"null", "true", "false", "0", "-0", "1", "-1", "127", "128", "-128", "-129", "32767", "32768", "-32768", "-32769",
		"2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808",
		"-9223372036854775808", "-9223372036854775809", "99999999999999999999999999999999999999",
		"123456789012345678901234567890123456789", "12345678", "123456789", "1234567890123456", "12345678901234567",
		"123456789012345678", "1234567890123456789",
		"0.0", "-0.0", "1.0", "1.50", "-1.5", "0.00", "1.23", "12345.6789", "123456.7890", "9999999999999999.99",
		"0.12345678", "0.123456789", "999999999.9", "99999999999999999.9", "999999999999999999.9",
		"0.12345678901234567890123456789012345678", "0." + strings.Repeat("0", 37) + "1", "0." + strings.Repeat("0", 38) + "1",
		"1e0", "1E-2", "-1.5E+3", "1e-400", "0e0", "0.0e5", "1.7976931348623157e308", "4.9e-324", "5e-05",
		"0.1e-2147483647", "123456789012345678901234567890e-20", strings.Repeat("1", 300),
		`""`, `"a"`, `"0123456"`, `"01234567"`, `"é"`, `"\u00e9"`, `"\ud83d\ude00"`, `"😀"`, `"\"\\\/\b\f\n\r\t\u0000"`,
		`"` + strings.Repeat("x", 63) + `"`, `"` + strings.Repeat("x", 64) + `"`, `"` + strings.Repeat("é", 40) + `"`,
		`"` + strings.Repeat(`x\n`, 300) + `"`, `"1234567é"`, `"1234567\n"`, "\"\x7f\"",
	} {
		out = append(out, sample{fmt.Sprintf("scalar %.24s", t), t})
	}
	return out
}

func containerCorpus() []sample {
	var out []sample
	for _, t := range []string{
		"[]", "{}", "[[],[]]", `{"a":[]}`, `{"a":{},"b":[]}`, "[1]", "[1,2.5,\"x\",null,true,[],{}]", `{"a":1}`,
		`{"b":1,"a":2}`, `{"":0}`, `{"a":null}`, `{"a":1,"A":2}`, `{"a":{"a":{"a":1}},"b":{"b":{"a":1}}}`,
		`[{"z":1,"y":2},{"y":3,"x":4},{"z":1,"y":2}]`, `[[1,2],[3],[]]`, ` [ 1 , 2 ] `, " { \"a\" :\t1 ,\r\n\"b\" : [ ] } ",
		`{"a": 1, "b": [1, 2], "c": {"d": "x", "e" : {"a": true}}, "a longer name than most": 1.5}`,
		"{\n  \"a\": [\n    {\"b\": 1.25},\n    {\"b\": \"x\"}\n  ]\n}\n",
		"\ufeff[1]", `{"a.b":1,"a":{"b":2},"?":4,"0":5,"it's":6,"q\"":7,"both'\"":8,"back\\slash":9,"tab\t":10}`,
		`{"\u0061":1,"b":2}`, `{"a key of more than sixteen bytes":1,"a key of more than sixteen bytex":2}`,
		`{"exactly14char":1,"exactly15chars":2,"exactly16charss":3}`,
		`{"é":1,"z":2,"a":3}`, `{"$":0,"0":1,"A":2,"a":3,"~":4,"¢":5,"€":6,"` + "\ue000" + `":7,"` + "\uffff" + `":8,"𐀀":9,"😀":10,"` + "\U0010ffff" + `":11}`,
	} {
		out = append(out, sample{fmt.Sprintf("container %.24s", t), t})
	}
	return out
}

// generatedCorpus has values past each limit of the encoding's widths.
func generatedCorpus() []sample {
	var out []sample
	for _, n := range []int{125, 126, 127, 128, 255, 256, 257, 300, 1000} {
		out = append(out, sample{fmt.Sprintf("object of %d", n), wideObject(n)})
		out = append(out, sample{fmt.Sprintf("array of %d", n), "[" + strings.Repeat("1,", n-1) + "1]"})
	}
	for _, n := range []int{240, 250, 256, 300, 65_500, 65_536, 70_000} {
		long := `"` + strings.Repeat("y", n) + `"`
		out = append(out, sample{fmt.Sprintf("string of %d", n), long})
		out = append(out, sample{fmt.Sprintf("fields after %d bytes", n), `{"b":` + long + `,"a":[` + long + `,{"c":1}]}`})
	}
	out = append(out, sample{"depth 1000", strings.Repeat("[", 1000) + strings.Repeat("]", 1000)})
	out = append(out, sample{"object depth 1000", strings.Repeat(`{"k":`, 1000) + "1" + strings.Repeat("}", 1000)})
	return out
}

// wideObject has n keys, an inner object with low ids and one with high ids.
func wideObject(n int) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		fmt.Fprintf(&b, `"k%06d":%d,`, i, i)
	}
	fmt.Fprintf(&b, `"zz":{"k%06d":[{"k000000":1}],"k000001":2}}`, n-1)
	return b.String()
}
