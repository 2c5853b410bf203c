package variant

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
)

// decoderFor returns the function that reads into a Go type.
func decoderFor(typ reflect.Type, opt goOption) decodeFunc {
	if f := specialDecoder(typ, opt); f != nil {
		return f
	}
	switch typ.Kind() {
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return decodeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return scalarDecoder(storeUint)
	case reflect.Float64:
		return decodeFloat
	case reflect.Float32:
		return decodeAnyFloat
	case reflect.String:
		return decodeString
	case reflect.Interface:
		if typ.NumMethod() == 0 {
			return decodeAny
		}
		return nullOnly
	case reflect.Pointer:
		return pointerDecoder(typ, buildPlan(typ.Elem(), opt))
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return bytesDecoder
		}
		return sliceDecoder(buildPlan(typ.Elem(), opt))
	case reflect.Array:
		if typ.Elem().Kind() == reflect.Uint8 {
			return scalarDecoder(storeByteArray)
		}
		return arrayDecoder(buildPlan(typ.Elem(), opt))
	case reflect.Map:
		return mapDecoder(typ, opt)
	case reflect.Struct:
		return structDecoder(goFields(typ))
	}
	return undecodable
}

func undecodable(_ *goDecoder, b []byte, dst reflect.Value) error {
	return mismatch(firstKind(b), dst, "no Variant goes into it")
}

// nullOnly is for interfaces with methods, of which nothing but nil can be made.
func nullOnly(d *goDecoder, b []byte, dst reflect.Value) error {
	if firstKind(b) != KindNull {
		return undecodable(d, b, dst)
	}
	dst.SetZero()
	return nil
}

func firstKind(b []byte) Kind {
	if len(b) == 0 {
		return KindMissing
	}
	return firstKinds[b[0]]
}

// specialDecoder handles the types that have a meaning of their own; nil for others.
func specialDecoder(typ reflect.Type, opt goOption) decodeFunc {
	switch typ {
	case typeTime:
		if opt&optTime != 0 {
			return scalarDecoder(storeClock)
		}
		return scalarDecoder(storeTime)
	case typeDuration:
		if opt&optTime != 0 {
			return scalarDecoder(storeClock)
		}
	case typeDecimal:
		return scalarDecoder(storeDecimal)
	case typeBigInt:
		return scalarDecoder(storeBigInt)
	case typeNumber:
		return scalarDecoder(storeNumber)
	case typeValue:
		return func(d *goDecoder, b []byte, dst reflect.Value) error {
			return d.value(b, dst.Addr().Interface().(*Value))
		}
	case typeRawJSON:
		return decodeRawJSON
	}
	if isUUID(typ, opt) {
		return scalarDecoder(storeByteArray)
	}
	if typ.Kind() != reflect.Interface && typ.Kind() != reflect.Pointer && reflect.PointerTo(typ).Implements(textUnmarshaler) {
		return scalarDecoder(storeText)
	}
	return nil
}

func storeBigInt(s *Scalar, dst reflect.Value) string {
	if !s.Kind.IsExact() {
		return wrongKind
	}
	d := s.Dec().Trim()
	if d.Scale != 0 {
		return "the number is not whole"
	}
	dst.Addr().Interface().(*big.Int).Set(d.Big())
	return ""
}

func storeNumber(s *Scalar, dst reflect.Value) string {
	if !s.Kind.IsNumeric() {
		return wrongKind
	}
	text := AppendScalarJSON(nil, s)
	if text[0] == '"' {
		return "the number is not finite"
	}
	dst.SetString(string(text))
	return ""
}

func storeText(s *Scalar, dst reflect.Value) string {
	if s.Kind != KindString {
		return wrongKind
	}
	if err := dst.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(bytes.Clone(s.Bytes)); err != nil {
		return err.Error()
	}
	return ""
}

// value stores a copy of a part of the value.
func (d *goDecoder) value(b []byte, dst *Value) error {
	whole := exact(b)
	if whole == nil {
		return corruptValue(0, "truncated or of unknown type")
	}
	if d.budget -= len(whole); d.budget < 0 {
		return corruptValue(0, "values overlap")
	}
	if d.copied == nil {
		d.copied = bytes.Clone(d.metadata)
	}
	*dst = Value{d.copied, bytes.Clone(whole)}
	return nil
}

func decodeRawJSON(d *goDecoder, b []byte, dst reflect.Value) error {
	whole := exact(b)
	if d.budget -= len(whole); whole == nil || d.budget < 0 {
		return corruptValue(0, "truncated, or values overlap")
	}
	text, err := appendJSON(nil, Value{d.metadata, whole}, d.text)
	d.text -= len(text)
	dst.Set(reflect.ValueOf(json.RawMessage(text)))
	return err
}

func bytesDecoder(d *goDecoder, b []byte, dst reflect.Value) error {
	if err := d.read(b, dst); err != nil {
		return err
	}
	if d.scalar.Kind == KindNull {
		dst.SetZero()
		return nil
	}
	if reason := storeBytes(&d.scalar, dst); reason != "" {
		return mismatch(d.scalar.Kind, dst, reason)
	}
	return nil
}

func pointerDecoder(typ reflect.Type, elem *goPlan) decodeFunc {
	return func(d *goDecoder, b []byte, dst reflect.Value) error {
		if len(b) > 0 && b[0] == primNull {
			dst.SetZero()
			return nil
		}
		if d.depth++; d.depth > MaxDepth {
			return mismatch(firstKind(b), dst, ErrDepth.Error())
		}
		if dst.IsNil() {
			dst.Set(reflect.New(typ.Elem()))
		}
		err := elem.decode(d, b, dst.Elem())
		d.depth--
		return err
	}
}

func sliceDecoder(elem *goPlan) decodeFunc {
	return func(d *goDecoder, b []byte, dst reflect.Value) error {
		var c container
		none, err := d.open(&c, b, KindArray, dst)
		if err != nil || none {
			if none {
				dst.SetZero()
			}
			return err
		}
		switch {
		case c.n == 0 && dst.IsNil():
			dst.Set(reflect.MakeSlice(dst.Type(), 0, 0))
		case dst.Cap() < c.n:
			dst.SetZero()
			dst.Grow(min(c.n, maxPrealloc))
		}
		room := min(c.n, dst.Cap())
		dst.SetLen(room)
		for i := range c.n {
			if i == room {
				dst.Grow(1)
				room = min(c.n, dst.Cap())
				dst.SetLen(room)
			}
			x := dst.Index(i)
			x.SetZero()
			if err := elem.decode(d, c.child(i), x); err != nil {
				dst.SetLen(i + 1)
				return goWithin(err, Step{Index: i, IsIndex: true})
			}
		}
		d.depth--
		return nil
	}
}

func arrayDecoder(elem *goPlan) decodeFunc {
	return func(d *goDecoder, b []byte, dst reflect.Value) error {
		var c container
		none, err := d.open(&c, b, KindArray, dst)
		if err != nil || none {
			return err
		}
		if c.n != dst.Len() {
			return mismatch(KindArray, dst, "the lengths differ")
		}
		for i := range c.n {
			if err := elem.decode(d, c.child(i), dst.Index(i)); err != nil {
				return goWithin(err, Step{Index: i, IsIndex: true})
			}
		}
		d.depth--
		return nil
	}
}

func structDecoder(fields []goField) decodeFunc {
	for i := range fields {
		if fields[i].bad != "" {
			return func(_ *goDecoder, b []byte, dst reflect.Value) error {
				return mismatch(firstKind(b), dst, fields[i].bad)
			}
		}
	}
	goPlans.structs++
	p := &structPlan{fields: fields, number: goPlans.structs - 1}
	return p.decode
}

// structPlan is how a struct type is read.
type structPlan struct {
	fields []goField
	number int // counts the struct types, from 0
}

func (p *structPlan) decode(d *goDecoder, b []byte, dst reflect.Value) error {
	var c container
	none, err := d.open(&c, b, KindObject, dst)
	if err != nil || none {
		return err
	}
	if d.known == nil || c.data+4 > len(c.b) {
		err = p.decodeByName(d, &c, dst)
	} else {
		err = p.decodeByID(d, &c, dst, d.known.fieldsOf(p))
	}
	d.depth--
	return err
}

// decodeByID reads an object over a dictionary of which each name's field is known. It
// loads ids and offsets as four bytes each, so that objects of less than four bytes of
// values are left to decodeByName.
func (p *structPlan) decodeByID(d *goDecoder, c *container, dst reflect.Value, known []int32) error {
	le, b := binary.LittleEndian, c.b
	ids, offs, idMask, offMask := c.ids, c.offs, widthMask[c.idW], widthMask[c.offW]
	for range c.n {
		id, start := le.Uint32(b[ids:])&idMask, uint64(c.data)+uint64(le.Uint32(b[offs:])&offMask)
		if uint(id) >= uint(len(known)) {
			return corruptValue(ids, "field id is not in the dictionary")
		}
		ids, offs = ids+c.idW, offs+c.offW
		at := known[id]
		if at < 0 {
			continue
		}
		var child []byte
		if start <= uint64(len(b)) {
			child = b[start:]
		}
		f := &p.fields[at]
		if f.direct < 0 {
			if err := f.decode(d, child, dst); err != nil {
				return err
			}
			continue
		}
		if err := f.plan.decode(d, child, dst.Field(f.direct)); err != nil {
			return goWithin(err, Step{Name: f.name})
		}
	}
	return nil
}

func (p *structPlan) decodeByName(d *goDecoder, c *container, dst reflect.Value) error {
	next := 0
	for i := range c.n {
		name, ok := d.dict.name(c.id(i))
		if !ok {
			return corruptValue(c.ids+i*c.idW, "field id is not in the dictionary")
		}
		if f := fieldNamed(p.fields, name, &next); f != nil {
			if err := f.decode(d, c.child(i), dst); err != nil {
				return err
			}
		}
	}
	return nil
}

// decode reads the field's value into a struct, which may embed the one that has the
// field.
func (f *goField) decode(d *goDecoder, b []byte, dst reflect.Value) error {
	x, ok := f.in(dst)
	if !ok {
		return mismatch(firstKind(b), dst, "a nil pointer to an unexported struct cannot be set")
	}
	if err := f.plan.decode(d, b, x); err != nil {
		return goWithin(err, Step{Name: f.name})
	}
	return nil
}

// fieldNamed returns the field with a name, nil if there is none. Fields of structs
// and of objects are both in the order of their names, so that the next one is
// usually the one that comes.
func fieldNamed(fields []goField, name []byte, next *int) *goField {
	for i := *next; i < len(fields) && i < *next+4; i++ {
		if fields[i].name == string(name) {
			*next = i + 1
			return &fields[i]
		}
		if fields[i].name > string(name) {
			break
		}
	}
	i, ok := slices.BinarySearchFunc(fields, name, func(f goField, name []byte) int {
		return bytes.Compare(f.key, name)
	})
	*next = i
	if !ok {
		return nil
	}
	*next = i + 1
	return &fields[i]
}

// in returns the field in a struct, after making the embedded structs on the way;
// false when one cannot be made.
func (f *goField) in(v reflect.Value) (reflect.Value, bool) {
	for i, at := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() && !v.CanSet() {
				return v, false
			}
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}
	return v, true
}
