package variant

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// ErrGoType is returned by [Marshal] and [Unmarshal] when a Go type and a value do
// not fit together. The error in hand is a [*GoTypeError].
var ErrGoType = errors.New("variant: Go type does not fit")

// GoTypeError says where and why. It Is [ErrGoType].
type GoTypeError struct {
	Type   reflect.Type // the Go type
	Kind   Kind         // of the value that was unmarshaled; KindMissing when marshaling
	Path   string       // such as $['legs'][2]; "$" is the whole
	Reason string
}

// Error tells types, place and reason.
func (e *GoTypeError) Error() string {
	typ := "nil"
	if e.Type != nil {
		typ = e.Type.String()
	}
	if e.Kind == KindMissing {
		return fmt.Sprintf("variant: cannot marshal %s at %s: %s", typ, e.Path, e.Reason)
	}
	return fmt.Sprintf("variant: cannot unmarshal %s into %s at %s: %s", e.Kind, typ, e.Path, e.Reason)
}

// Is reports whether target is [ErrGoType].
func (e *GoTypeError) Is(target error) bool { return target == ErrGoType }

// goWithin adds the step that led to an error, from the inside out.
func goWithin(err error, step Step) error {
	if e := (*GoTypeError)(nil); errors.As(err, &e) {
		e.Path = string(step.appendText(nil)) + e.Path
	}
	return err
}

// goRooted completes the path of an error.
func goRooted(err error) error {
	if err == nil {
		return nil
	}
	if e := (*GoTypeError)(nil); errors.As(err, &e) {
		e.Path = "$" + e.Path
	}
	return err
}

// goOption is what a struct tag says about the encoding of a type.
type goOption uint8

const (
	optDate  goOption = 1 << iota // time.Time as a date
	optTime                       // time.Time and time.Duration as a time of day
	optNTZ                        // time.Time without a zone
	optNanos                      // time.Time with nanoseconds
	optUUID                       // [16]byte as a uuid
)

var goOptions = map[string]goOption{"date": optDate, "time": optTime, "ntz": optNTZ, "nanos": optNanos, "uuid": optUUID}

// goPlan is how a Go type is read and written. The functions are set before the
// plan is published; plans of recursive types refer to each other.
type goPlan struct {
	encode encodeFunc
	decode decodeFunc
}

type planKey struct {
	typ reflect.Type
	opt goOption
}

// goPlans caches plans for the life of the process: their number is that of types
// in the program.
var goPlans struct {
	done     sync.Map // planKey -> *goPlan
	mu       sync.Mutex
	building map[planKey]*goPlan // under mu
	structs  int                 // under mu: the number of structPlans
}

// recentPlan is the plan that was asked for last.
type recentPlan struct {
	typ  reflect.Type
	plan *goPlan
}

// of is planOf without options.
func (r *recentPlan) of(typ reflect.Type) *goPlan {
	if r.typ != typ {
		r.typ, r.plan = typ, planOf(typ, 0)
	}
	return r.plan
}

func planOf(typ reflect.Type, opt goOption) *goPlan {
	if p, ok := goPlans.done.Load(planKey{typ, opt}); ok {
		return p.(*goPlan)
	}
	goPlans.mu.Lock()
	defer goPlans.mu.Unlock()
	goPlans.building = map[planKey]*goPlan{}
	p := buildPlan(typ, opt)
	for key, built := range goPlans.building {
		goPlans.done.Store(key, built)
	}
	goPlans.building = nil
	return p
}

// buildPlan makes the plan of a type and of all types in it; goPlans.mu is held.
func buildPlan(typ reflect.Type, opt goOption) *goPlan {
	key := planKey{typ, opt}
	if p, ok := goPlans.done.Load(key); ok {
		return p.(*goPlan)
	}
	if p, ok := goPlans.building[key]; ok {
		return p
	}
	p := &goPlan{}
	goPlans.building[key] = p
	p.encode = encoderFor(typ, opt)
	p.decode = decoderFor(typ, opt)
	return p
}

var (
	typeString      = reflect.TypeFor[string]()
	typeTime        = reflect.TypeFor[time.Time]()
	typeDuration    = reflect.TypeFor[time.Duration]()
	typeDecimal     = reflect.TypeFor[Decimal]()
	typeValue       = reflect.TypeFor[Value]()
	typeBigInt      = reflect.TypeFor[big.Int]()
	typeNumber      = reflect.TypeFor[json.Number]()
	typeRawJSON     = reflect.TypeFor[json.RawMessage]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isUUID reports whether an array type holds UUIDs: by its tag, or by its name.
func isUUID(typ reflect.Type, opt goOption) bool {
	return typ.Kind() == reflect.Array && typ.Len() == 16 && typ.Elem().Kind() == reflect.Uint8 &&
		(opt&optUUID != 0 || typ.Name() == "UUID")
}

// goField is a field of a struct type, those of embedded structs included.
type goField struct {
	name      string
	key       []byte // name, always the same array
	index     []int  // as reflect.Value.FieldByIndex takes it
	direct    int    // index of one element; -1 in embedded structs
	opt       goOption
	omitEmpty bool
	omitZero  bool
	tagged    bool
	plan      *goPlan
	typ       reflect.Type
	bad       string // what is wrong with the tag
}

func (f goField) compareName(name string) int { return strings.Compare(f.name, name) }

// goFields lists the fields of a struct in the order of their names' bytes, which
// is that of encoded objects. Names collide as in encoding/json: the shallowest
// wins, then the tagged one, and else none of them.
func goFields(typ reflect.Type) []goField {
	var all []goField
	collectFields(typ, nil, map[reflect.Type]bool{}, &all)
	slices.SortStableFunc(all, func(a, b goField) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		if c := len(a.index) - len(b.index); c != 0 {
			return c
		}
		switch {
		case a.tagged && !b.tagged:
			return -1
		case b.tagged && !a.tagged:
			return 1
		}
		return 0
	})
	var out []goField
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end].name == all[i].name {
			end++
		}
		if end == i+1 || len(all[i+1].index) > len(all[i].index) || all[i].tagged && !all[i+1].tagged {
			out = append(out, all[i])
		}
		i = end
	}
	for i := range out {
		out[i].plan = buildPlan(out[i].typ, out[i].opt)
	}
	return out
}

// collectFields appends the fields of typ, and those of the structs embedded in it.
func collectFields(typ reflect.Type, index []int, open map[reflect.Type]bool, all *[]goField) {
	if open[typ] {
		return
	}
	open[typ] = true
	defer delete(open, typ)
	for i := range typ.NumField() {
		sf := typ.Field(i)
		tag := sf.Tag.Get("variant")
		if tag == "-" {
			continue
		}
		at := append(slices.Clip(index), i)
		inner := sf.Type
		if sf.Anonymous && inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if sf.Anonymous && tag == "" && inner.Kind() == reflect.Struct && !isLeafStruct(inner) {
			collectFields(inner, at, open, all)
			continue
		}
		if sf.IsExported() {
			*all = append(*all, newGoField(&sf, tag, at))
		}
	}
}

// isLeafStruct tells the structs that are written as one scalar.
func isLeafStruct(typ reflect.Type) bool {
	return typ == typeTime || typ == typeDecimal || typ == typeValue || typ == typeBigInt ||
		reflect.PointerTo(typ).Implements(textMarshaler)
}

func newGoField(sf *reflect.StructField, tag string, index []int) goField {
	name, options, _ := strings.Cut(tag, ",")
	f := goField{name: name, index: index, direct: -1, typ: sf.Type, tagged: name != ""}
	if len(index) == 1 {
		f.direct = index[0]
	}
	if name == "" {
		f.name = sf.Name
	}
	f.key = []byte(f.name)
	if !utf8.ValidString(f.name) {
		f.bad = fmt.Sprintf("the name of %s is not UTF-8", sf.Name)
	}
	for option := range strings.SplitSeq(options, ",") {
		switch bit, ok := goOptions[option]; {
		case ok:
			f.opt |= bit
		case option == "omitempty":
			f.omitEmpty = true
		case option == "omitzero":
			f.omitZero = true
		case option != "":
			f.bad = fmt.Sprintf("unknown option %q in the tag of %s", option, sf.Name)
		}
	}
	return f
}
