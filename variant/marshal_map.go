package variant

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// keyText returns a map's key as a name.
type keyText func(k reflect.Value) (string, error)

// keyTextOf returns how keys of a type become names, as encoding/json has it: strings
// as they are, then what marshals to text, then integers; nil for others.
func keyTextOf(typ reflect.Type) keyText {
	if typ.Kind() == reflect.String {
		return func(k reflect.Value) (string, error) { return k.String(), nil }
	}
	if typ.Implements(textMarshaler) {
		return func(k reflect.Value) (string, error) {
			if k.Kind() == reflect.Pointer && k.IsNil() {
				return "", nil
			}
			text, err := k.Interface().(encoding.TextMarshaler).MarshalText()
			return string(text), err
		}
	}
	switch {
	case typ.Kind() >= reflect.Int && typ.Kind() <= reflect.Int64:
		return func(k reflect.Value) (string, error) { return strconv.FormatInt(k.Int(), 10), nil }
	case typ.Kind() >= reflect.Uint && typ.Kind() <= reflect.Uintptr:
		return func(k reflect.Value) (string, error) { return strconv.FormatUint(k.Uint(), 10), nil }
	}
	return nil
}

// setKey stores a name in a map's key and says why it cannot.
type setKey func(k reflect.Value, name string) string

// setKeyOf is the other way round of keyTextOf.
func setKeyOf(typ reflect.Type) setKey {
	if reflect.PointerTo(typ).Implements(textUnmarshaler) {
		return func(k reflect.Value, name string) string {
			k.SetZero()
			if err := k.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(name)); err != nil {
				return err.Error()
			}
			return ""
		}
	}
	switch {
	case typ.Kind() == reflect.String:
		return func(k reflect.Value, name string) string { k.SetString(name); return "" }
	case typ.Kind() >= reflect.Int && typ.Kind() <= reflect.Int64:
		return func(k reflect.Value, name string) string {
			x, err := strconv.ParseInt(name, 10, typ.Bits())
			if err != nil {
				return fmt.Sprintf("the key %.40q is no %s", name, typ)
			}
			k.SetInt(x)
			return ""
		}
	case typ.Kind() >= reflect.Uint && typ.Kind() <= reflect.Uintptr:
		return func(k reflect.Value, name string) string {
			x, err := strconv.ParseUint(name, 10, typ.Bits())
			if err != nil {
				return fmt.Sprintf("the key %.40q is no %s", name, typ)
			}
			k.SetUint(x)
			return ""
		}
	}
	return nil
}

// mapEntry is a field of a map.
type mapEntry struct {
	key   string
	value reflect.Value
}

// mapPlan is how a map type is written.
type mapPlan struct {
	key  reflect.Type
	text keyText
	elem *goPlan
	many reflect.Type // the slice that elements are copied to at once; nil: one by one
}

func mapEncoder(typ reflect.Type, opt goOption) encodeFunc {
	p := &mapPlan{key: typ.Key(), text: keyTextOf(typ.Key()), elem: buildPlan(typ.Elem(), opt)}
	if p.text == nil {
		return func(_ *goEncoder, v reflect.Value) error {
			return &GoTypeError{Type: v.Type(), Reason: "the keys of a map must be strings, integers or texts"}
		}
	}
	// What is in a slice can be addressed, what is in a map cannot: IsZero of a
	// pointer would be called for fields of structs, and only there.
	if k := typ.Elem().Kind(); k != reflect.Struct && k != reflect.Array {
		p.many = reflect.SliceOf(typ.Elem())
	}
	return p.encode
}

func (p *mapPlan) encode(e *goEncoder, v reflect.Value) error {
	if v.IsNil() {
		e.null()
		return nil
	}
	if err := e.enter(KindObject); err != nil {
		return err
	}
	from := len(e.entries)
	if err := p.collect(e, v); err != nil {
		return err
	}
	for i := from; i < len(e.entries); i++ {
		x := e.entries[i]
		if err := e.key(x.key); err != nil {
			return err
		}
		if err := p.elem.encode(e, x.value); err != nil {
			return goWithin(err, Step{Name: x.key})
		}
	}
	clear(e.entries[from:])
	e.entries = e.entries[:from]
	e.leave()
	return nil
}

// collect appends the fields of a map to e.entries, in the order of their names.
func (p *mapPlan) collect(e *goEncoder, m reflect.Value) error {
	from, iter := len(e.entries), m.MapRange()
	key := reflect.New(p.key).Elem()
	var values reflect.Value
	if p.many != nil {
		values = reflect.MakeSlice(p.many, m.Len(), m.Len())
	}
	for i := 0; iter.Next(); i++ {
		key.SetIterKey(iter)
		name, err := p.text(key)
		if err != nil {
			return &GoTypeError{Type: p.key, Reason: err.Error()}
		}
		var x reflect.Value
		if p.many == nil {
			x = iter.Value()
		} else {
			x = values.Index(i)
			x.SetIterValue(iter)
		}
		e.entries = append(e.entries, mapEntry{name, x})
	}
	slices.SortFunc(e.entries[from:], func(a, b mapEntry) int { return strings.Compare(a.key, b.key) })
	return nil
}

// name passes a name that is a field's.
func (e *goEncoder) name(key []byte) {
	if e.builder != nil {
		e.builder.Key(key)
	} else {
		e.sink.Key(key)
	}
}

// key passes a name that is a string. A builder refuses one that is not UTF-8.
func (e *goEncoder) key(name string) error {
	e.text = append(e.text[:0], name...)
	if e.builder != nil {
		if e.builder.Key(e.text); e.builder.err == nil {
			return nil
		}
	}
	if !utf8.ValidString(name) {
		return &GoTypeError{Type: typeString, Reason: fmt.Sprintf("the key %.40q is not UTF-8", name)}
	}
	if e.builder == nil {
		e.sink.Key(e.text)
	}
	return nil
}

func mapDecoder(typ reflect.Type, opt goOption) decodeFunc {
	set := setKeyOf(typ.Key())
	if set == nil {
		return undecodable
	}
	elem := buildPlan(typ.Elem(), opt)
	return func(d *goDecoder, b []byte, dst reflect.Value) error {
		var c container
		none, err := d.open(&c, b, KindObject, dst)
		if err != nil || none {
			if none {
				dst.SetZero()
			}
			return err
		}
		if dst.IsNil() {
			dst.Set(reflect.MakeMapWithSize(typ, min(c.n, maxPrealloc)))
		}
		key, x := reflect.New(typ.Key()).Elem(), reflect.New(typ.Elem()).Elem()
		for i := range c.n {
			name, ok := d.name(c.id(i))
			if !ok {
				return corruptValue(c.ids+i*c.idW, "field id is not in the dictionary")
			}
			if reason := set(key, name); reason != "" {
				return mismatch(KindObject, dst, reason)
			}
			x.SetZero()
			if err := elem.decode(d, c.child(i), x); err != nil {
				return goWithin(err, Step{Name: name})
			}
			dst.SetMapIndex(key, x)
		}
		d.depth--
		return nil
	}
}
