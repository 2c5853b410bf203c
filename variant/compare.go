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
	return c.values(a.value, b.value, 0) == 0 && c.budget >= 0
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
	r := c.values(a.value, b.value, 0)
	if c.budget < 0 { // bytes that New refuses
		return cmp.Or(bytes.Compare(a.value, b.value), bytes.Compare(a.metadata, b.metadata))
	}
	return r
}

// comparer walks two values side by side, with the budget of emitter.
type comparer struct {
	da, db   orderedDict
	sameDict bool
	equal    bool // only whether the result is 0 counts
	budget   int
	same     []uint32 // by id of a: 1 + the id of b that was found to be the same long name
}

func newComparer(a, b Value) *comparer {
	c := &comparer{budget: len(a.value) + len(b.value) + 1}
	c.da.view(a.metadata)
	c.db.view(b.metadata)
	c.sameDict = bytes.Equal(a.metadata, b.metadata)
	return c
}

// orderedDict is a dictionary whose names are compared. Its flag can be trusted: what
// older writers call sorted is in the order of UTF-16 units, which for ASCII alone is
// surely that of bytes.
type orderedDict struct {
	dict
	rank []int32 // of each name; nil when not worked out
}

// manyNames is the size in bytes of an unsorted dictionary that is worth sorting, so
// that long names which begin alike are not compared in each object anew.
const manyNames = 4 << 10

func (d *orderedDict) view(metadata []byte) {
	d.dict, _ = viewDict(metadata)
	d.sorted = d.sorted && isASCII(d.b[d.names:])
}

// before reports whether name i is before name j.
func (d *orderedDict) before(i, j int) bool {
	if d.sorted {
		return i < j
	}
	if d.rank == nil && len(d.b) > manyNames {
		d.rank = ranks(&d.dict, bytes.Compare)
	}
	if uint(i) < uint(len(d.rank)) && uint(j) < uint(len(d.rank)) {
		return d.rank[i] < d.rank[j]
	}
	a, _ := d.name(i)
	b, _ := d.name(j)
	return bytes.Compare(a, b) < 0
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
	if c.budget--; c.budget < 0 || depth > MaxDepth {
		c.budget = -1
		return 1
	}
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
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
			c.budget = -1
			return 1
		case c.equal && x.n != y.n:
			return 1
		case ka == KindArray:
			return c.arrays(&x, &y, depth)
		}
		return c.objects(&x, &y, depth)
	}
	var x, y Scalar
	na, nb := readScalar(a, &x), readScalar(b, &y)
	if c.budget -= na + nb - 1; na == 0 || nb == 0 || c.budget < 0 {
		c.budget = -1
		return 1
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
		if r := c.names(a.id(ia), b.id(ib)); r != 0 {
			return r
		}
		if r := c.values(a.child(ia), b.child(ib), depth+1); r != 0 {
			return r
		}
	}
	return cmp.Compare(a.n, b.n)
}

// names compares a name of a with one of b. Long ones that are the same are compared
// once.
func (c *comparer) names(ia, ib int) int {
	if c.sameDict && ia == ib {
		return 0
	}
	na, _ := c.da.name(ia)
	nb, _ := c.db.name(ib)
	if len(na) < longName || len(na) != len(nb) {
		return bytes.Compare(na, nb)
	}
	if c.same == nil {
		c.same = make([]uint32, c.da.n)
	}
	if c.same[ia] == uint32(ib)+1 {
		return 0
	}
	r := bytes.Compare(na, nb)
	if r == 0 {
		c.same[ia] = uint32(ib) + 1
	}
	return r
}

// inOrder reports whether the fields are in the order of their names' bytes, which
// those of old writers in UTF-16 order are not.
func (k *container) inOrder(d *orderedDict) bool {
	if d.sorted {
		return ascending(k.b[k.ids:k.offs], k.idW)
	}
	for i := 1; i < k.n; i++ {
		if !d.before(k.id(i-1), k.id(i)) {
			return false
		}
	}
	return true
}

// order returns the positions of the fields in the order of their names' bytes,
// nil when that is the order they are in.
func (k *container) order(d *orderedDict) []int {
	if k.inOrder(d) {
		return nil
	}
	order := make([]int, k.n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case d.before(k.id(i), k.id(j)):
			return -1
		case d.before(k.id(j), k.id(i)):
			return 1
		}
		return 0
	})
	return order
}
