package variant

import "slices"

// knownNames is what a decoder knows of a dictionary that comes again and again: its
// names as strings, and the fields of structs that they name.
type knownNames struct {
	names  []string  // empty: the dictionary is not good
	fields [][]int32 // by structPlan.number, nil until asked for: of each name the field, or -1
	learnt bool
}

// maxKnownNames bounds the tables of one dictionary.
const maxKnownNames = 1 << 10

// recognize finds what is known of the dictionary. It is learnt when a dictionary comes
// the second time, so that ones that differ from value to value cost a copy each, no
// strings.
func (d *goDecoder) recognize() {
	if d.dict.n == 0 || d.dict.n > maxKnownNames || len(d.metadata) > maxRecentMeta {
		return
	}
	k := d.recent.find(d.metadata)
	if k == nil {
		*d.recent.add(d.metadata) = knownNames{}
		return
	}
	if !k.learnt {
		k.learn(&d.dict)
	}
	if len(k.names) > 0 {
		d.known = k
	}
}

func (k *knownNames) learn(d *dict) {
	k.learnt = true
	names, text := make([]string, d.n), string(d.b)
	for i := range names {
		if _, ok := d.name(i); !ok {
			return
		}
		at := 1 + (i+1)*d.width
		lo, hi := readUint(d.b[at:], d.width), readUint(d.b[at+d.width:], d.width)
		names[i] = text[d.names+int(lo) : d.names+int(hi)]
	}
	k.names = names
}

// fieldsOf returns the field of a struct type that each name names.
func (k *knownNames) fieldsOf(p *structPlan) []int32 {
	if p.number < len(k.fields) && k.fields[p.number] != nil {
		return k.fields[p.number]
	}
	for p.number >= len(k.fields) {
		k.fields = append(k.fields, nil)
	}
	t := make([]int32, len(k.names))
	for id, name := range k.names {
		t[id] = -1
		if at, ok := slices.BinarySearchFunc(p.fields, name, goField.compareName); ok {
			t[id] = int32(at)
		}
	}
	k.fields[p.number] = t
	return t
}

// name returns a name as a string that shares no bytes with the value.
func (d *goDecoder) name(id int) (string, bool) {
	if d.known != nil {
		if uint(id) < uint(len(d.known.names)) {
			return d.known.names[id], true
		}
		return "", false
	}
	name, ok := d.dict.name(id)
	if len(name) < longName {
		return string(name), ok
	}
	s, known := d.long[id]
	if !known {
		if d.long == nil {
			d.long = map[int]string{}
		}
		s = string(name)
		d.long[id] = s
	}
	return s, ok
}

// recentTexts keeps short texts, most of which come again: codes, labels, enumerations.
type recentTexts [64]string

// maxRecentText is the length in bytes of the texts that are kept.
const maxRecentText = 24

// of returns a copy of b, the one that was made before if it is still there.
func (t *recentTexts) of(b []byte) string {
	n := len(b)
	if n == 0 || n > maxRecentText {
		return string(b)
	}
	h := uint32(b[0]) | uint32(b[n/2])<<8 | uint32(b[n-1])<<16 | uint32(n)<<24
	s := &t[h*0x9E3779B1>>26]
	if *s != string(b) {
		*s = string(b)
	}
	return *s
}
