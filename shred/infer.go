package shred

import (
	"math"
	"slices"
	"strings"

	"github.com/frazil/frazil/variant"
)

// InferOptions are the limits of inference. The zero value gives the limits of
// Iceberg's Java implementation, plus the rules of this package.
type InferOptions struct {
	// MinFrequency is the least share of rows, those that are null or missing
	// not counted, in which a field must be present and not null. Default 0.10;
	// negative: any field.
	MinFrequency float64
	// MaxFields is the number of fields of one object that are shredded, the
	// most frequent ones. Default 300.
	MaxFields int
	// MaxDepth is the nesting below which nothing is shredded. Default 50, at
	// most 99.
	MaxDepth int
	// MaxIntermediate is the number of distinct fields of one object that the
	// sample keeps track of. Default 1,000.
	MaxIntermediate int
	// MaxRows is the size of the sample: further rows are ignored, and Full
	// tells. Default 100.
	MaxRows int
	// Majority is the share of a field's values, nulls not counted, that must
	// be of one class for the field to be shredded as that class. Default 0.90.
	Majority float64
	// Temporal proposes date, timestamp or timestamp_ntz where that Majority of
	// a field's values are texts of such; the Writer needs the same option.
	// Default: texts are strings, whatever they look like.
	Temporal bool
	// Parse are the options of AddJSON.
	Parse variant.ParseOptions
}

func (o InferOptions) withDefaults() InferOptions {
	if o.MinFrequency == 0 {
		o.MinFrequency = 0.10
	}
	if o.MaxFields <= 0 {
		o.MaxFields = 300
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = 50
	}
	o.MaxDepth = min(o.MaxDepth, maxDepth-1)
	if o.MaxIntermediate <= 0 {
		o.MaxIntermediate = 1000
	}
	if o.MaxRows <= 0 {
		o.MaxRows = 100
	}
	if o.Majority <= 0 {
		o.Majority = 0.90
	}
	return o
}

// class is a set of kinds that one typed leaf can hold.
type class uint8

const (
	classBool class = iota
	classExact
	classFloat
	classDouble
	classDate
	classTime
	classTimestamp
	classTimestampNTZ
	classTimestampNanos
	classTimestampNTZNanos
	classString
	classBinary
	classUUID
	classArray
	classObject
	classes
)

// kindClasses gives the class of each kind; null and missing have none.
var kindClasses = [...]class{
	variant.KindBool: classBool,
	variant.KindInt8: classExact, variant.KindInt16: classExact,
	variant.KindInt32: classExact, variant.KindInt64: classExact,
	variant.KindFloat: classFloat, variant.KindDouble: classDouble,
	variant.KindDecimal4: classExact, variant.KindDecimal8: classExact, variant.KindDecimal16: classExact,
	variant.KindDate: classDate, variant.KindTime: classTime,
	variant.KindTimestamp: classTimestamp, variant.KindTimestampNTZ: classTimestampNTZ,
	variant.KindTimestampNanos: classTimestampNanos, variant.KindTimestampNTZNanos: classTimestampNTZNanos,
	variant.KindString: classString, variant.KindBinary: classBinary, variant.KindUUID: classUUID,
	variant.KindArray: classArray, variant.KindObject: classObject,
}

// classTypes gives the leaf type of each class that has but one.
var classTypes = [classes]variant.Kind{
	classBool: variant.KindBool, classFloat: variant.KindFloat, classDouble: variant.KindDouble,
	classDate: variant.KindDate, classTime: variant.KindTime,
	classTimestamp: variant.KindTimestamp, classTimestampNTZ: variant.KindTimestampNTZ,
	classTimestampNanos: variant.KindTimestampNanos, classTimestampNTZNanos: variant.KindTimestampNTZNanos,
	classString: variant.KindString, classBinary: variant.KindBinary, classUUID: variant.KindUUID,
}

// sample is what was seen at one place of the rows.
type sample struct {
	values int // not null
	nulls  int
	counts [classes]int

	// Exact numbers.
	fraction  bool // some have digits after the point
	min, max  int64
	wide      bool // some do not fit 64 bits
	intDigits int  // before the point
	scale     int  // after the point, as written
	trimmed   int  // after the point, without trailing zeros

	// Strings that are texts of dates, timestamps with and without a zone.
	dates, stamps, local int

	fields map[string]*sample
	elem   *sample
}

// Inferer collects a sample of rows and proposes a schema. The rules, for each
// place in the rows:
//
//   - integers and decimals are one class. Whole numbers become int or bigint;
//     with a fraction, decimal(p,s), where s is the largest scale seen and p is
//     raised to the limit of the physical width: 9, 18 or 38. Numbers that need
//     more than 38 digits together are not shredded.
//   - every other kind is a class of its own. Strings stay strings, whatever
//     they look like, unless an option asks for dates and timestamps.
//   - a place is shredded as a class that at least Majority of its values have;
//     the rest stays in its `value`.
//   - elements of all arrays at one place are one place; objects in them are
//     shredded inside.
//
// An Inferer is for one goroutine.
type Inferer struct {
	opts    InferOptions
	encoder *variant.Encoder
	rows    int
	root    sample
	sink    sampler
}

// NewInferer returns an Inferer without rows.
func NewInferer(o InferOptions) *Inferer {
	o = o.withDefaults()
	return &Inferer{opts: o, encoder: variant.NewEncoder(o.Parse)}
}

// AddJSON adds one JSON text to the sample. A text with an error is not counted.
func (i *Inferer) AddJSON(text []byte) error {
	if i.Full() {
		return nil
	}
	v, err := i.encoder.Encode(text)
	if err != nil {
		return err
	}
	return i.add(v)
}

// AddValue adds one value to the sample; a missing one is SQL NULL. A corrupt
// value is an error and is not counted.
func (i *Inferer) AddValue(v variant.Value) error {
	if i.Full() {
		return nil
	}
	if v.IsMissing() {
		i.rows++
		return nil
	}
	if err := v.Validate(); err != nil {
		return err
	}
	return i.add(v)
}

func (i *Inferer) add(v variant.Value) error {
	i.rows++
	i.sink.begin(&i.root, i.opts)
	return v.Emit(&i.sink)
}

// Rows returns the number of rows in the sample.
func (i *Inferer) Rows() int { return i.rows }

// Full reports whether the sample has MaxRows rows and ignores more.
func (i *Inferer) Full() bool { return i.rows >= i.opts.MaxRows }

// Schema returns the schema that the sample proposes, Opaque if nothing in it
// is worth a column.
func (i *Inferer) Schema() *Schema {
	if s := i.propose(&i.root, 0); s != nil {
		return s
	}
	return &Schema{}
}

// propose returns the schema of one place, or nil when it is not shredded.
func (i *Inferer) propose(s *sample, depth int) *Schema {
	c, ok := s.majority(i.opts.Majority)
	if !ok || depth > i.opts.MaxDepth {
		return nil
	}
	switch c {
	case classExact:
		if t, ok := s.exact(); ok {
			return LeafOf(t)
		}
		return nil
	case classArray:
		if s.elem == nil {
			return nil
		}
		elem := i.propose(s.elem, depth+1)
		if elem == nil {
			return nil
		}
		return ListOf(elem)
	case classObject:
		return i.proposeObject(s, depth)
	case classString:
		return LeafOf(Type{Kind: i.proposeText(s)})
	}
	return LeafOf(Type{Kind: classTypes[c]})
}

func (i *Inferer) proposeText(s *sample) variant.Kind {
	least := i.opts.Majority * float64(s.values)
	switch {
	case !i.opts.Temporal:
	case float64(s.dates) >= least:
		return variant.KindDate
	case float64(s.stamps) >= least:
		return variant.KindTimestamp
	case float64(s.local) >= least:
		return variant.KindTimestampNTZ
	}
	return variant.KindString
}

func (i *Inferer) proposeObject(s *sample, depth int) *Schema {
	least := i.opts.MinFrequency * float64(i.root.values)
	var names []string
	for name, f := range s.fields {
		if f.values > 0 && float64(f.values) >= least {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := s.fields[b].values - s.fields[a].values; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var fields []Field
	for _, name := range names[:min(len(names), i.opts.MaxFields)] {
		if f := i.propose(s.fields[name], depth+1); f != nil {
			fields = append(fields, Field{Name: strings.Clone(name), Schema: f})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return ObjectOf(fields)
}

// majority returns the class that has at least the share of the values.
func (s *sample) majority(share float64) (class, bool) {
	best := class(0)
	for c := range classes {
		if s.counts[c] > s.counts[best] {
			best = c
		}
	}
	return best, s.values > 0 && float64(s.counts[best]) >= share*float64(s.values)
}

// exact returns the type of a column for all exact numbers that were seen.
func (s *sample) exact() (Type, bool) {
	if !s.fraction && !s.wide {
		if s.min >= math.MinInt32 && s.max <= math.MaxInt32 {
			return Type{Kind: variant.KindInt32}, true
		}
		return Type{Kind: variant.KindInt64}, true
	}
	scale := s.scale
	if s.intDigits+scale > 38 {
		scale = s.trimmed
	}
	precision := max(s.intDigits+scale, 1)
	switch {
	case precision <= 9:
		return Decimal(9, scale), true
	case precision <= 18:
		return Decimal(18, scale), true
	case precision <= 38:
		return Decimal(38, scale), true
	}
	return Type{}, false
}

// sampler is the variant.Sink that fills samples.
type sampler struct {
	opts  InferOptions
	stack []*sample // the open containers; nil below what is tracked
	next  *sample   // where the next value goes, outside arrays
	keyed bool      // next was set by a Key
}

func (k *sampler) begin(root *sample, o InferOptions) {
	k.opts, k.stack, k.next, k.keyed = o, k.stack[:0], root, false
}

// Err implements variant.Sink.
func (k *sampler) Err() error { return nil }

// target returns the place of the next value, nil when it is not tracked. After
// a Key, and at the root, it is next; otherwise the element of an array.
func (k *sampler) target() *sample {
	if k.keyed || len(k.stack) == 0 {
		return k.next
	}
	if top := k.stack[len(k.stack)-1]; top != nil {
		return top.elem
	}
	return nil
}

// Begin implements variant.Sink.
func (k *sampler) Begin(kind variant.Kind) {
	s := k.target()
	k.keyed = false
	if s != nil {
		s.values++
		s.counts[kindClasses[kind]]++
	}
	if len(k.stack) > k.opts.MaxDepth {
		s = nil
	}
	k.stack = append(k.stack, s)
	if s != nil && kind == variant.KindArray && s.elem == nil {
		s.elem = &sample{}
	}
}

// End implements variant.Sink.
func (k *sampler) End() {
	k.stack = k.stack[:len(k.stack)-1]
}

// Key implements variant.Sink.
func (k *sampler) Key(name []byte) {
	top := k.stack[len(k.stack)-1]
	k.next, k.keyed = nil, true
	if top == nil {
		return
	}
	s := top.fields[string(name)]
	if s == nil && len(top.fields) < k.opts.MaxIntermediate {
		if top.fields == nil {
			top.fields = map[string]*sample{}
		}
		s = &sample{}
		top.fields[string(name)] = s
	}
	k.next = s
}

// Scalar implements variant.Sink.
func (k *sampler) Scalar(v *variant.Scalar) {
	if s := k.target(); s != nil {
		s.scalar(v)
	}
	k.keyed = false
}

func (s *sample) scalar(v *variant.Scalar) {
	if v.Kind == variant.KindNull {
		s.nulls++
		return
	}
	s.values++
	s.counts[kindClasses[v.Kind]]++
	if v.Kind.IsExact() {
		s.number(v.Dec())
	} else if v.Kind == variant.KindString {
		s.text(v)
	}
}

func (s *sample) text(v *variant.Scalar) {
	k := temporalKind(v.Bytes)
	if k == variant.KindString {
		return
	}
	if _, ok := parseTemporal(v, k); !ok {
		return
	}
	switch k {
	case variant.KindDate:
		s.dates++
	case variant.KindTimestamp:
		s.stamps++
	case variant.KindTimestampNTZ:
		s.local++
	}
}

func (s *sample) number(d variant.Decimal) {
	t := d.Trim()
	s.scale = max(s.scale, int(d.Scale))
	s.trimmed = max(s.trimmed, int(t.Scale))
	if t.Lo != 0 || t.Hi != 0 {
		s.intDigits = max(s.intDigits, t.Precision()-int(t.Scale))
	}
	s.fraction = s.fraction || d.Scale > 0
	x, ok := t.Int64()
	switch {
	case ok:
		s.min, s.max = min(s.min, x), max(s.max, x)
	case t.Scale == 0:
		s.wide = true
	}
}
