package variant

import "unicode/utf8"

// Null adds a null.
func (b *Builder) Null() {
	if b.place() {
		b.buf = append(b.buf, primNull)
	}
}

// Bool adds a boolean.
func (b *Builder) Bool(x bool) {
	s := Scalar{Kind: KindBool}
	if x {
		s.Int = 1
	}
	b.Scalar(&s)
}

// Int adds the smallest integer that holds x.
func (b *Builder) Int(x int64) {
	var s Scalar
	s.SetInt(x)
	b.Scalar(&s)
}

// Double adds a double.
func (b *Builder) Double(x float64) { b.Scalar(&Scalar{Kind: KindDouble, Float: x}) }

// Float adds a float.
func (b *Builder) Float(x float32) { b.Scalar(&Scalar{Kind: KindFloat, Float: float64(x)}) }

// Decimal adds the smallest decimal that holds d with its scale; more than 38 digits or
// scale are an error that Is ErrRange.
func (b *Builder) Decimal(d Decimal) {
	var s Scalar
	s.SetDecimal(d)
	b.Scalar(&s)
}

// Text adds a string; one that is not UTF-8 is an error that Is ErrText.
func (b *Builder) Text(x string) {
	if b.place() {
		if !utf8.ValidString(x) {
			b.fail(errText)
			return
		}
		b.buf = appendTextHeader(b.buf, len(x))
		b.buf = append(b.buf, x...)
	}
}

// Binary adds a binary.
func (b *Builder) Binary(x []byte) { b.Scalar(&Scalar{Kind: KindBinary, Bytes: x}) }

// UUID adds a UUID, most significant byte first.
func (b *Builder) UUID(x [16]byte) {
	if b.place() {
		b.buf = append(append(b.buf, primUUID<<2), x[:]...)
	}
}

// Date adds a date in days since 1970-01-01.
func (b *Builder) Date(days int32) { b.Scalar(&Scalar{Kind: KindDate, Int: int64(days)}) }

// Time adds a time of day in microseconds since midnight; what is no time of a day is
// an error that Is ErrRange.
func (b *Builder) Time(micros int64) { b.Scalar(&Scalar{Kind: KindTime, Int: micros}) }

// Timestamp adds an instant in microseconds since 1970-01-01T00:00:00Z.
func (b *Builder) Timestamp(micros int64) { b.Scalar(&Scalar{Kind: KindTimestamp, Int: micros}) }

// TimestampNTZ adds a date and time without zone, in microseconds since 1970.
func (b *Builder) TimestampNTZ(micros int64) {
	b.Scalar(&Scalar{Kind: KindTimestampNTZ, Int: micros})
}

// AppendValue adds a whole value, encoded again over this builder's dictionary.
// Over a given dictionary that is the value's own, the very same slice, the bytes
// are copied as they are. A value whose containers would be deeper than MaxDepth
// here is an error that Is ErrDepth or ErrCorrupt.
func (b *Builder) AppendValue(v Value) {
	if b.err != nil {
		return
	}
	if v.IsMissing() {
		b.fail(ErrUsage)
		return
	}
	raw := exact(v.value)
	if raw != nil && (!v.Kind().IsContainer() || b.dict != nil && sameSlice(b.dict.meta, v.metadata)) {
		if !b.place() {
			return
		}
		budget := len(raw)
		if b.Depth()+len(raw)/minContainer > MaxDepth && !nestsWithin(raw, MaxDepth-b.Depth(), &budget) {
			b.fail(ErrDepth)
			return
		}
		b.buf = append(b.buf, raw...)
		return
	}
	if err := v.Emit(b); err != nil {
		b.fail(err)
	}
}

// minContainer is the size in bytes of the smallest container with a value in it, but
// for that: header, count and two offsets.
const minContainer = 4

// nestsWithin reports whether the containers in a value are at most so many levels
// deep. budget bounds the visits by the bytes: each container and child has one.
func nestsWithin(b []byte, levels int, budget *int) bool {
	c, ok := readContainer(b)
	if !ok {
		return true
	}
	if *budget -= 1 + c.n; *budget < 0 || levels == 0 {
		return false
	}
	for i := range c.n {
		if x := c.child(i); len(x) > 0 && x[0]&3 >= basicObject && !nestsWithin(x, levels-1, budget) {
			return false
		}
	}
	return true
}

// sameSlice reports whether a and b are the same bytes in memory.
func sameSlice(a, b []byte) bool {
	return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0]
}
