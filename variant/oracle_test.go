package variant

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The oracle is a second decoder, written from the grammar of VariantEncoding.md
// with none of the package's code: slow, strict about what this package writes, and
// free to panic on bad bytes, which oracleDecode turns into an error. A scalar
// becomes a string such as "int8 1" or "decimal4 150 2"; an array []any; an object
// map[string]any.

type oracle struct {
	names []string
	b     []byte
}

func oracleDecode(meta, value []byte) (tree any, err error) {
	defer func() {
		if r := recover(); r != nil {
			tree, err = nil, fmt.Errorf("oracle: %v", r)
		}
	}()
	o := &oracle{b: value}
	o.metadata(meta)
	tree, size := o.value(0)
	if size != len(value) {
		return nil, errors.New("oracle: trailing bytes")
	}
	return tree, nil
}

func must(ok bool, what string) {
	if !ok {
		panic(what)
	}
}

func little(b []byte) (x uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	return x
}

func (o *oracle) metadata(m []byte) {
	must(m[0]&15 == 1, "version")
	w := int(m[0]>>6) + 1
	n := int(little(m[1 : 1+w]))
	offset := func(i int) int { return int(little(m[1+w+i*w : 1+w+i*w+w])) }
	text := m[1+w+(n+1)*w:]
	must(offset(0) == 0, "first offset")
	must(offset(n) == len(text), "last offset")
	for i := range n {
		name := string(text[offset(i):offset(i+1)])
		must(utf8.ValidString(name), "name")
		if m[0]&16 != 0 && i > 0 {
			must(o.names[i-1] < name, "sorted")
		}
		o.names = append(o.names, name)
	}
}

func (o *oracle) value(at int) (any, int) {
	h := o.b[at]
	switch h % 4 {
	case 1:
		s := string(o.b[at+1 : at+1+int(h/4)])
		must(utf8.ValidString(s), "string")
		return "string " + s, 1 + int(h/4)
	case 2:
		return o.object(at, int(h/4))
	case 3:
		return o.array(at, int(h/4))
	}
	return o.primitive(at, int(h/4))
}

func (o *oracle) primitive(at, id int) (any, int) {
	rest := o.b[at+1:]
	signed := func(n int) string {
		x := little(rest[:n])
		return strconv.FormatInt(int64(x<<(64-8*n))>>(64-8*n), 10)
	}
	ints := map[int]struct {
		name string
		size int
	}{
		3: {"int8", 1}, 4: {"int16", 2}, 5: {"int32", 4}, 6: {"int64", 8}, 11: {"date", 4}, 12: {"timestamp", 8},
		13: {"timestamp_ntz", 8}, 17: {"time", 8}, 18: {"timestamp_nanos", 8}, 19: {"timestamp_ntz_nanos", 8},
	}
	if t, ok := ints[id]; ok {
		return t.name + " " + signed(t.size), 1 + t.size
	}
	switch id {
	case 0:
		return "null", 1
	case 1:
		return "bool true", 1
	case 2:
		return "bool false", 1
	case 7:
		return fmt.Sprintf("double %x", little(rest[:8])), 9
	case 14:
		return fmt.Sprintf("float %x", little(rest[:4])), 5
	case 8, 9, 10:
		n := 4 << (id - 8)
		return oracleDecimal(id, int(rest[0]), rest[1:1+n]), 2 + n
	case 15:
		n := int(little(rest[:4]))
		return "binary " + string(rest[4:4+n]), 5 + n
	case 16:
		n := int(little(rest[:4]))
		must(utf8.Valid(rest[4:4+n]), "string")
		return "string " + string(rest[4:4+n]), 5 + n
	case 20:
		return fmt.Sprintf("uuid %x", rest[:16]), 17
	}
	panic("type")
}

func oracleDecimal(id, scale int, b []byte) string {
	big := new(big.Int)
	for i := len(b) - 1; i >= 0; i-- {
		big.Lsh(big, 8)
		big.Or(big, newInt(int64(b[i])))
	}
	if b[len(b)-1] >= 128 {
		big.Sub(big, newInt(1).Lsh(newInt(1), uint(8*len(b))))
	}
	digits := map[int]int{8: 9, 9: 18, 10: 38}[id]
	must(len(newInt(0).Abs(big).String()) <= digits, "precision")
	must(scale <= 38, "scale")
	return fmt.Sprintf("%s %s %d", map[int]string{8: "decimal4", 9: "decimal8", 10: "decimal16"}[id], big, scale)
}

func newInt(x int64) *big.Int { return big.NewInt(x) }

// count reads num_elements.
func (o *oracle) count(at int, large bool) (n, next int) {
	if large {
		return int(little(o.b[at : at+4])), at + 4
	}
	return int(o.b[at]), at + 1
}

func (o *oracle) array(at, h int) (any, int) {
	w := h%4 + 1
	n, p := o.count(at+1, h&4 != 0)
	offset := func(i int) int { return int(little(o.b[p+i*w : p+i*w+w])) }
	data := p + (n+1)*w
	out := make([]any, n)
	end := 0
	for i := range out {
		must(offset(i) == end, "elements follow one another")
		var size int
		out[i], size = o.value(data + offset(i))
		end += size
	}
	must(offset(n) == end, "array end")
	return out, data + end - at
}

func (o *oracle) object(at, h int) (any, int) {
	w, idw := h%4+1, h/4%4+1
	n, p := o.count(at+1, h&16 != 0)
	ids := p
	p += n * idw
	offset := func(i int) int { return int(little(o.b[p+i*w : p+i*w+w])) }
	data := p + (n+1)*w
	out := map[string]any{}
	type span struct{ from, to int }
	var spans []span
	last := ""
	for i := range n {
		name := o.names[little(o.b[ids+i*idw:ids+i*idw+idw])]
		must(i == 0 || last < name, "order of fields")
		v, size := o.value(data + offset(i))
		out[name], last = v, name
		spans = append(spans, span{offset(i), offset(i) + size})
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	end := 0
	for _, s := range spans {
		must(s.from == end, "fields leave no gaps")
		end = s.to
	}
	must(offset(n) == end, "object end")
	return out, data + end - at
}

// oracleJSON gives the tree that a JSON text should become under default options,
// by encoding/json and big numbers.
func oracleJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return nil, err
	}
	return oracleTree(x)
}

func oracleTree(x any) (any, error) {
	var err error
	switch x := x.(type) {
	case nil:
		return "null", nil
	case bool:
		return fmt.Sprintf("bool %v", x), nil
	case string:
		return "string " + x, nil
	case json.Number:
		return oracleNumber(string(x))
	case []any:
		out := make([]any, len(x))
		for i := range x {
			if out[i], err = oracleTree(x[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := map[string]any{}
		for k, v := range x {
			if out[k], err = oracleTree(v); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	panic("type")
}

func oracleNumber(t string) (any, error) {
	double := func() (any, error) {
		f, err := strconv.ParseFloat(t, 64)
		var bits [8]byte
		binary.BigEndian.PutUint64(bits[:], math.Float64bits(f))
		return fmt.Sprintf("double %x", binary.BigEndian.Uint64(bits[:])), err
	}
	if strings.ContainsAny(t, "eE") {
		return double()
	}
	whole, frac, _ := strings.Cut(t, ".")
	x, _ := new(big.Int).SetString(whole+frac, 10)
	digits := len(new(big.Int).Abs(x).String())
	if frac == "" && x.IsInt64() {
		for i, name := range []string{"int8", "int16", "int32", "int64"} {
			if n := uint(8 << i); x.BitLen() < int(n) || x.Cmp(new(big.Int).Neg(new(big.Int).Lsh(newInt(1), n-1))) == 0 {
				return name + " " + x.String(), nil
			}
		}
	}
	if digits > 38 || len(frac) > 38 {
		return double()
	}
	name := "decimal16"
	digits = max(digits, len(frac))
	if digits <= 9 {
		name = "decimal4"
	} else if digits <= 18 {
		name = "decimal8"
	}
	return fmt.Sprintf("%s %s %d", name, x, len(frac)), nil
}
