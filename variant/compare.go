package variant

import (
	"bytes"
	"cmp"
	"math"
	"slices"
)

// Equal reports whether two values mean the same: Compare(a, b) == 0. Widths,
// dictionaries, the order in which an object's values are stored, and trailing
// zeros of decimals do not matter.
func Equal(a, b Value) bool {
	if bytes.Equal(a.value, b.value) && bytes.Equal(a.metadata, b.metadata) {
		return true
	}
	c := newComparer(a, b)
	c.equal = true
	return c.values(a.value, b.value, 0) == 0
}

// Compare orders all values by meaning; it returns a negative number, 0 or a
// positive number. Classes come first, in this order, and values of one class as
// told:
//
//	missing
//	null
//	boolean                 false < true
//	integers and decimals   by value, exactly, whatever their widths and scales
//	float                   by value; -0 equals 0; NaN equals NaN and is the greatest
//	double                  the same; a float never equals a double
//	date
//	time
//	timestamp               by instant, in microseconds or nanoseconds
//	timestamp_ntz           the same, without a zone
//	string                  by UTF-8 bytes
//	binary                  by bytes
//	uuid                    by bytes
//	array                   by elements, from the first on; a prefix is less
//	object                  as arrays, by (name, value) in the order of names
//
// The classes are the encoding's equivalence classes (VariantEncoding.md, "Variant
// primitive types"). Compare needs values that New accepts. Of other bytes it reads
// no more than there are, to a depth of MaxDepth, and its answer then means
// nothing.
func Compare(a, b Value) int {
	c := newComparer(a, b)
	return c.values(a.value, b.value, 0)
}

// comparer walks two values side by side. budget bounds the visits by the bytes,
// against offsets that overlap.
type comparer struct {
	da, db   dict
	sameDict bool
	equal    bool // only whether the result is 0 counts
	budget   int
}

func newComparer(a, b Value) *comparer {
	c := &comparer{budget: len(a.value) + len(b.value) + 1}
	c.da, c.db = orderedDict(a.metadata), orderedDict(b.metadata)
	c.sameDict = bytes.Equal(a.metadata, b.metadata)
	return c
}

// orderedDict is viewDict with a flag that can be trusted: what older writers call
// sorted is in the order of UTF-16 units, which for ASCII alone is surely that of
// bytes.
func orderedDict(metadata []byte) dict {
	d, ok := viewDict(metadata)
	d.sorted = ok && d.sorted && isASCII(d.b[d.names:])
	return d
}

// classes ranks the kinds for Compare.
var classes = [...]uint8{
	KindMissing: 0, KindNull: 1, KindBool: 2,
	KindInt8: 3, KindInt16: 3, KindInt32: 3, KindInt64: 3,
	KindDecimal4: 3, KindDecimal8: 3, KindDecimal16: 3,
	KindFloat: 4, KindDouble: 5, KindDate: 6, KindTime: 7,
	KindTimestamp: 8, KindTimestampNanos: 8, KindTimestampNTZ: 9, KindTimestampNTZNanos: 9,
	KindString: 10, KindBinary: 11, KindUUID: 12, KindArray: 13, KindObject: 14,
}

// values compares the values at the start of a and of b.
func (c *comparer) values(a, b []byte, depth int) int {
	c.budget--
	if c.budget < 0 || depth > MaxDepth || len(a) == 0 || len(b) == 0 {
		return bytes.Compare(a, b)
	}
	ka, kb := firstKinds[a[0]], firstKinds[b[0]]
	if r := cmp.Compare(classes[ka], classes[kb]); r != 0 {
		return r
	}
	if ka.IsContainer() {
		x, okx := readContainer(a)
		y, oky := readContainer(b)
		switch {
		case !okx || !oky:
			return bytes.Compare(a, b)
		case c.equal && x.n != y.n:
			return 1
		case ka == KindArray:
			return c.arrays(&x, &y, depth)
		}
		return c.objects(&x, &y, depth)
	}
	var x, y Scalar
	if readScalar(a, &x) == 0 || readScalar(b, &y) == 0 {
		return bytes.Compare(a, b)
	}
	return compareScalars(&x, &y)
}

// compareScalars compares two scalars of one class.
func compareScalars(x, y *Scalar) int {
	switch x.Kind {
	case KindBool, KindDate, KindTime:
		return cmp.Compare(x.Int, y.Int)
	case KindInt8, KindInt16, KindInt32, KindInt64:
		if y.Kind.IsInteger() {
			return cmp.Compare(x.Int, y.Int)
		}
		return x.Dec().Cmp(y.Dec())
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return x.Dec().Cmp(y.Dec())
	case KindFloat, KindDouble:
		return compareFloats(x.Float, y.Float)
	case KindTimestamp, KindTimestampNanos, KindTimestampNTZ, KindTimestampNTZNanos:
		a, an := instant(x)
		b, bn := instant(y)
		return cmp.Or(cmp.Compare(a, b), cmp.Compare(an, bn))
	case KindString, KindBinary, KindUUID:
		return bytes.Compare(x.Bytes, y.Bytes)
	case KindMissing, KindNull, KindArray, KindObject:
	}
	return 0
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y: // 0 and -0 too
		return 0
	case math.IsNaN(x) && math.IsNaN(y):
		return 0
	case math.IsNaN(x):
		return 1
	}
	return -1
}

// instant splits a timestamp of either unit into microseconds and the nanoseconds
// after them, 0..999.
func instant(s *Scalar) (micros, nanos int64) {
	if s.Kind == KindTimestampNanos || s.Kind == KindTimestampNTZNanos {
		return floorDiv(s.Int, 1000), floorMod(s.Int, 1000)
	}
	return s.Int, 0
}

func (c *comparer) arrays(a, b *container, depth int) int {
	for i := range min(a.n, b.n) {
		if r := c.values(a.child(i), b.child(i), depth+1); r != 0 {
			return r
		}
	}
	return cmp.Compare(a.n, b.n)
}

func (c *comparer) objects(a, b *container, depth int) int {
	if c.sameDict && a.idW == b.idW && bytes.Equal(a.b[a.ids:a.offs], b.b[b.ids:b.offs]) && (c.equal || a.inOrder(&c.da)) {
		return c.arrays(a, b, depth) // the same names at the same places
	}
	orderA, orderB := a.order(&c.da), b.order(&c.db)
	for i := range min(a.n, b.n) {
		ia, ib := i, i
		if orderA != nil {
			ia = orderA[i]
		}
		if orderB != nil {
			ib = orderB[i]
		}
		na, _ := c.da.name(a.id(ia))
		nb, _ := c.db.name(b.id(ib))
		if r := bytes.Compare(na, nb); r != 0 {
			return r
		}
		if r := c.values(a.child(ia), b.child(ib), depth+1); r != 0 {
			return r
		}
	}
	return cmp.Compare(a.n, b.n)
}

// inOrder reports whether the fields are in the order of their names' bytes, which
// only objects of old writers in UTF-16 order are not.
func (k *container) inOrder(d *dict) bool {
	if d.sorted {
		return ascending(k.b[k.ids:k.offs], k.idW)
	}
	var last []byte
	for i := range k.n {
		name, _ := d.name(k.id(i))
		if i > 0 && bytes.Compare(name, last) <= 0 {
			return false
		}
		last = name
	}
	return true
}

// order returns the positions of the fields in the order of their names' bytes,
// nil when that is the order they are in.
func (k *container) order(d *dict) []int {
	if k.inOrder(d) {
		return nil
	}
	order := make([]int, k.n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, _ := d.name(k.id(i))
		b, _ := d.name(k.id(j))
		return bytes.Compare(a, b)
	})
	return order
}
