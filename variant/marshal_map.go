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

// mapEntries returns the fields of a map in the order of their names.
func mapEntries(m reflect.Value, text keyText) ([]mapEntry, error) {
	entries := make([]mapEntry, 0, m.Len())
	for k, x := range m.Seq2() {
		name, err := text(k)
		if err != nil {
			return nil, &GoTypeError{Type: k.Type(), Reason: err.Error()}
		}
		entries = append(entries, mapEntry{name, x})
	}
	slices.SortFunc(entries, func(a, b mapEntry) int { return strings.Compare(a.key, b.key) })
	return entries, nil
}

func mapEncoder(typ reflect.Type, opt goOption) encodeFunc {
	text := keyTextOf(typ.Key())
	if text == nil {
		return func(_ *goEncoder, v reflect.Value) error {
			return &GoTypeError{Type: v.Type(), Reason: "the keys of a map must be strings, integers or texts"}
		}
	}
	elem := buildPlan(typ.Elem(), opt)
	return func(e *goEncoder, v reflect.Value) error {
		if v.IsNil() {
			e.null()
			return nil
		}
		if err := e.enter(KindObject); err != nil {
			return err
		}
		entries, err := mapEntries(v, text)
		if err != nil {
			return err
		}
		for i := range entries {
			if err := e.key(entries[i].key); err != nil {
				return err
			}
			if err := elem.encode(e, entries[i].value); err != nil {
				return goWithin(err, Step{Name: entries[i].key})
			}
		}
		e.leave()
		return nil
	}
}

// key passes a name that is a string.
func (e *goEncoder) key(name string) error {
	if !utf8.ValidString(name) {
		return &GoTypeError{Type: typeString, Reason: fmt.Sprintf("the key %.40q is not UTF-8", name)}
	}
	e.text = append(e.text[:0], name...)
	e.sink.Key(e.text)
	return nil
}

func mapDecoder(typ reflect.Type, opt goOption) decodeFunc {
	set := setKeyOf(typ.Key())
	if set == nil {
		return undecodable
	}
	elem := buildPlan(typ.Elem(), opt)
	return func(d *goDecoder, b []byte, dst reflect.Value) error {
		c, none, err := d.open(b, KindObject, dst)
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
