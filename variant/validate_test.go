package variant

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const metaAB = "11020001026162" // sorted: a, b

// TestValidate_Accepts what is valid though this package writes it otherwise.
func TestValidate_Accepts(t *testing.T) {
	for name, c := range map[string]struct{ meta, value, json string }{
		"reserved bit of metadata":         {"31020001026162", "0c01", "1"},
		"reserved bit of an object":        {metaAB, "82020001000204" + "0c010c02", `{"a":1,"b":2}`},
		"reserved bits of an array":        {metaAB, "e30100020c01", "[1]"},
		"empty dictionary, unsorted":       {"010000", "00", "null"},
		"wider dictionary":                 {"d1" + "01000000" + "00000000" + "01000000" + "61", "0201000002" + "0c01", `{"a":1}`},
		"unsorted dictionary":              {"01020001026261", "020201000200040c010c02", `{"a":2,"b":1}`},
		"dictionary with a name twice":     {"01020001026161", "02010100020c01", `{"a":1}`},
		"large object of one":              {metaAB, "42" + "01000000" + "01" + "0002" + "0c01", `{"b":1}`},
		"large array of one":               {metaAB, "13" + "01000000" + "0002" + "0c01", "[1]"},
		"ids of four bytes":                {metaAB, "32" + "01" + "01000000" + "0002" + "0c01", `{"b":1}`},
		"offsets of four bytes":            {metaAB, "0e" + "01" + "01" + "00000000" + "02000000" + "0c01", `{"b":1}`},
		"values in another order":          {metaAB, "020200010200040c020c01", `{"a":1,"b":2}`},
		"long form of a short string":      {metaAB, "40" + "01000000" + "61", `"a"`},
		"empty long string":                {metaAB, "40" + "00000000", `""`},
		"decimal16 of one digit":           {metaAB, "28" + "02" + "96000000000000000000000000000000", "1.5"},
		"decimal4 with scale 38":           {metaAB, "20" + "26" + "01000000", "0.00000000000000000000000000000000000001"},
		"an array that leaves a gap":       {metaAB, "03" + "01" + "0004" + "0c01" + "ffff", "[1]"},
		"elements stored in another order": {metaAB, "03" + "02" + "020004" + "0c020c01", "[1,2]"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := New(unhex(t, c.meta), unhex(t, c.value))
			require.NoError(t, err)
			require.Equal(t, c.json, v.String())
		})
	}
}

func TestValidate_RejectsMetadata(t *testing.T) {
	for name, meta := range map[string]string{
		"empty":                "",
		"version 0":            "100000",
		"version 2":            "120000",
		"no size":              "11",
		"no offsets":           "1100",
		"truncated offsets":    "11020001",
		"first offset not 0":   "110101016161",
		"offsets fall":         "11020002016162",
		"offset past the end":  "1101000261",
		"bytes after the last": "110100016162",
		"not UTF-8":            "11010001ff",
		"half a character":     "1102000102c3a9",
		"flag lies":            "11020001026261",
		"flag, name twice":     "11020001026161",
		"huge":                 "d1ffffffff00000000",
		"huge, wrapping":       "d1feffffff0000000000000000",
	} {
		t.Run(name, func(t *testing.T) {
			err := ValidateMetadata(unhex(t, meta))
			require.ErrorIs(t, err, ErrCorrupt)
			_, err = ParseMetadata(unhex(t, meta))
			require.ErrorIs(t, err, ErrCorrupt)
			_, err = New(unhex(t, meta), []byte{0})
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
}

// V09, V18 and others: values that must be refused, by New and by every walk.
func TestV09_RejectsValues(t *testing.T) {
	for name, value := range map[string]string{
		"empty":                            "",
		"truncated int8":                   "0c",
		"truncated int32":                  "140102",
		"truncated decimal":                "2002",
		"trailing byte":                    "0c0100",
		"unknown type":                     "54",
		"last unknown type":                "fc",
		"long string claims 2 GiB":         "40ffffff7f61",
		"long string without size":         "4001",
		"binary longer than the rest":      "3c0300000001fe",
		"short string longer than rest":    "fd61",
		"string not UTF-8":                 "09fffe",
		"long string not UTF-8":            "4001000000ff",
		"array of 2^32-1":                  "1fffffffff00000000",
		"object of 2^32-1":                 "7effffffff00000000",
		"array without offsets":            "0301",
		"array past the end":               "030100030c01",
		"element offset past the end":      "030102020c01",
		"element longer than the array":    "030100010c01",
		"id not in the dictionary":         "02010200020c01",
		"names fall":                       "020201000002040c010c02",
		"name twice":                       "020200000002040c010c02",
		"fields overlap":                   "020200010000020c01",
		"elements overlap":                 "03020000020c01",
		"scale 39":                         "202701000000",
		"decimal4 of ten digits":           "200000ca9a3b",
		"decimal8 of nineteen digits":      "2400000064a7b3b6e00d",
		"decimal16 of 39 digits":           "28000000000040228a097ac4865aa84c3b4b",
		"time of a day":                    "440060d71d14000000",
		"negative time":                    "44ffffffffffffffff",
		"nested truncated":                 "03010007030100041400",
		"trailing bytes after a container": "03000000",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(unhex(t, metaAB), unhex(t, value))
			require.ErrorIs(t, err, ErrCorrupt)
			// Walks of unchecked bytes find what would mislead them, and never panic.
			v := Unchecked(unhex(t, metaAB), unhex(t, value))
			_, _ = AppendJSON(nil, v)
			_ = v.Emit(discard{})
			for range v.Fields() {
			}
			for range v.Elements() {
			}
			v.Field("a").Index(0).Field("b").Int64()
		})
	}
}

// TestValidate_CostIsBounded: a buffer of zeros whose header claims a hundred million
// elements, and children that share bytes, level after level, so that a walk that
// trusts offsets would visit 2^60 values.
func TestV09_CostIsBounded(t *testing.T) {
	zeros := make([]byte, 1<<20)
	copy(zeros, []byte{0x13, 0, 0, 0, 6})
	require.ErrorIs(t, Validate(Unchecked(emptyMetadata, zeros)), ErrCorrupt)
	b := []byte{0}
	for range 60 {
		b = append([]byte{0x03, 2, 0, 0, byte(len(b))}, b...)
	}
	v := Unchecked(emptyMetadata, b[:])
	require.ErrorIs(t, v.Validate(), ErrCorrupt)
	require.ErrorIs(t, v.Emit(discard{}), ErrCorrupt)
	_, err := AppendJSON(nil, v)
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestValidate_StrictPrefixesFail: bytes cut short anywhere are an error, for the
// dictionary and for the value, and so are bytes after them.
func TestValidate_StrictPrefixesFail(t *testing.T) {
	e := NewEncoder(ParseOptions{})
	for _, s := range corpus() {
		v, err := e.Encode([]byte(s.text))
		require.NoError(t, err)
		if len(v.Bytes()) > 4000 || len(v.Metadata()) > 4000 {
			continue
		}
		for n := range len(v.Bytes()) {
			require.ErrorIs(t, Validate(Unchecked(v.Metadata(), v.Bytes()[:n])), ErrCorrupt, "%s: value cut to %d", s.name, n)
		}
		for n := range len(v.Metadata()) {
			require.ErrorIs(t, Validate(Unchecked(v.Metadata()[:n], v.Bytes())), ErrCorrupt, "%s: metadata cut to %d", s.name, n)
		}
		require.ErrorIs(t, Validate(Unchecked(v.Metadata(), append(v.Clone().Bytes(), 0))), ErrCorrupt)
		require.ErrorIs(t, Validate(Unchecked(append(v.Clone().Metadata(), 0), v.Bytes())), ErrCorrupt)
	}
}

// V07: names in UTF-8 order on writing; values of writers in UTF-16 order are
// accepted and their fields found.
func TestV07_Order(t *testing.T) {
	names := []string{"$", "0", "A", "a", "~", "\u00a2", "\u20ac", "\ue000", "\uffff", "\U00010000", "\U0001f600", "\U0010ffff"}
	b := NewBuilder()
	b.Begin(KindObject)
	for i := len(names) - 1; i >= 0; i-- {
		b.Key([]byte(names[i]))
		b.Int(int64(i))
	}
	b.End()
	v, err := b.Value()
	require.NoError(t, err)
	i := 0
	for name, x := range v.Fields() {
		require.Equal(t, names[i], name)
		got, _ := x.Int64()
		require.EqualValues(t, i, got)
		i++
	}
	require.Equal(t, len(names), i)

	older := []string{"a", "\u20ac", "\U00010000", "\U0001f600", "\U0010ffff", "\ue000", "\uffff"}
	meta := widerMetadata(older, 1)
	meta[0] &^= 0x10
	value := []byte{0x02, 7, 0, 1, 2, 3, 4, 5, 6, 0, 2, 4, 6, 8, 10, 12, 14, 12, 0, 12, 1, 12, 2, 12, 3, 12, 4, 12, 5, 12, 6}
	old, err := New(meta, value)
	require.NoError(t, err)
	for i, name := range older {
		got, ok := old.Field(name).Int64()
		require.True(t, ok, "%q", name)
		require.EqualValues(t, i, got)
	}
	require.True(t, old.Field("\ufffe").IsMissing())
	value[2], value[3] = 1, 0
	require.ErrorIs(t, Validate(Unchecked(meta, value)), ErrCorrupt, "neither order")
}

// TestValidate_DictionariesAreComparedByContent: memory that a caller writes over is
// a new dictionary.
func TestValidate_DictionariesAreComparedByContent(t *testing.T) {
	meta, value := unhex(t, metaAB), unhex(t, "02010100020c01")
	for range 3 {
		copy(meta, unhex(t, "11020001026162"))
		v, err := New(meta, value)
		require.NoError(t, err)
		require.Equal(t, `{"b":1}`, v.String())
		copy(meta, unhex(t, "11020001026163"))
		v, err = New(meta, value)
		require.NoError(t, err)
		require.Equal(t, `{"c":1}`, v.String())
		copy(meta, unhex(t, "11020001026261"))
		_, err = New(meta, value)
		require.ErrorIs(t, err, ErrCorrupt)
	}
}

func TestCorruptError_Place(t *testing.T) {
	_, err := New(unhex(t, metaAB), unhex(t, "0301000702010700020c01"))
	var ce *CorruptError
	require.ErrorAs(t, err, &ce)
	require.Equal(t, "value", ce.Part)
	require.Equal(t, 6, ce.Offset)
	require.Equal(t, "variant: corrupt value at byte 6: field id is not in the dictionary", err.Error())
}

// TestMetadata_Value: a value under a checked dictionary is checked as New does it, with
// names in any order, by any number of goroutines.
func TestMetadata_Value(t *testing.T) {
	for _, meta := range []string{"11020001026162", "01020001026261"} { // a b; b a
		m, err := ParseMetadata(unhex(t, meta))
		require.NoError(t, err)
		for _, value := range []string{
			"00", "0202000100020 40c010c02", "02020100000204 0c010c02", "0201020002 0c01", "0c", "0c0100", "02020000000204 0c010c02",
		} {
			b := unhex(t, strings.ReplaceAll(value, " ", ""))
			_, want := New(m.Bytes(), b)
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					v, got := m.Value(b)
					assert.Equal(t, want, got, value)
					assert.Equal(t, want != nil, v.IsMissing())
				})
			}
			group.Wait()
		}
	}
}
