// Package icejson repairs the JSON that iceberg-go makes of a schema. The
// Iceberg spec's JSON single-value serialization ("Appendix D") writes a float
// or double as a JSON number; Java's reader takes only one in floating-point
// form, while Go's encoding/json prints 1.0 as 1. Spark then refuses the table:
// "Cannot parse default as a double value: 1".
package icejson

import "regexp"

// A field as iceberg-go marshals it, up to its defaults. Inside of a JSON string
// the quotes would be escaped, so that no name or comment can look like this.
var field = regexp.MustCompile(
	`"type":"(?:float|double)","id":-?\d+,"name":"(?:[^"\\]|\\.)*","required":(?:true|false)(?:,"doc":"(?:[^"\\]|\\.)*")?` +
		`((?:,"(?:initial|write)-default":-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)+)`)

var whole = regexp.MustCompile(`(default":-?\d+)(,|$)`)

// FloatDefaults returns text with the defaults of float and double fields in
// floating-point form. text itself is returned when nothing is to be changed,
// and is never modified.
func FloatDefaults(text []byte) []byte {
	var out []byte
	done := 0
	for _, m := range field.FindAllSubmatchIndex(text, -1) {
		out = append(out, text[done:m[2]]...)
		out = append(out, whole.ReplaceAll(text[m[2]:m[3]], []byte("${1}.0${2}"))...)
		done = m[3]
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}
