package shred

import (
	"slices"
	"strings"

	"github.com/frazil/frazil/variant"
)

// Merge returns a schema for values of both schemas: fields of either, numbers
// widened within the class of exact numbers. Where the two cannot be reconciled,
// as a string and a struct, the place becomes Opaque, and as a field it is left
// out. A field that one of them has as Opaque, for a `value` column of its own,
// stays one.
func Merge(a, b *Schema) *Schema {
	switch {
	case a.Shape == Opaque || b.Shape == Opaque || a.Shape != b.Shape:
		return &Schema{}
	case a.Shape == Leaf:
		t, ok := mergeTypes(a.Type, b.Type)
		if !ok {
			return &Schema{}
		}
		return LeafOf(t)
	case a.Shape == List:
		return ListOf(Merge(a.Elem, b.Elem))
	}
	var fields []Field
	for _, f := range a.Fields {
		s := f.Schema
		if o := b.Field(f.Name); o != nil {
			s = Merge(f.Schema, o)
			if s.Shape == Opaque && f.Schema.Shape != Opaque && o.Shape != Opaque {
				continue
			}
		}
		fields = append(fields, Field{f.Name, s})
	}
	for _, f := range b.Fields {
		if a.Field(f.Name) == nil {
			fields = append(fields, f)
		}
	}
	return ObjectOf(fields)
}

func mergeTypes(a, b Type) (Type, bool) {
	switch {
	case a == b:
		return a, true
	case a.Kind.IsInteger() && b.Kind.IsInteger():
		return Type{Kind: max(a.Kind, b.Kind)}, true
	case !a.Kind.IsExact() || !b.Kind.IsExact():
		return Type{}, false
	}
	scale := max(a.Scale, b.Scale)
	digits := max(intDigits(a), intDigits(b)) + scale
	if digits > 38 {
		return Type{}, false
	}
	return Decimal(digits, scale), true
}

// intDigits returns the digits before the point that a type can hold.
func intDigits(t Type) int {
	switch t.Kind {
	case variant.KindInt8:
		return 3
	case variant.KindInt16:
		return 5
	case variant.KindInt32:
		return 10
	case variant.KindInt64:
		return 19
	}
	return t.Precision - t.Scale
}

// Change is a difference between two schemas. From is empty for what was added,
// To for what was removed.
type Change struct {
	Path string // $, names and [*] for list elements
	From string
	To   string
}

// String prints the change as a line: "+ path type", "- path type", or
// "~ path from -> to".
func (c Change) String() string {
	switch {
	case c.From == "":
		return "+ " + c.Path + " " + c.To
	case c.To == "":
		return "- " + c.Path + " " + c.From
	}
	return "~ " + c.Path + " " + c.From + " -> " + c.To
}

// Diff lists what changes from a to b, in the order of the paths' names.
func Diff(a, b *Schema) []Change { return diff(nil, "$", a, b) }

func diff(out []Change, path string, a, b *Schema) []Change {
	if a.Shape != b.Shape || a.Shape == Leaf && a.Type != b.Type {
		return append(out, Change{path, a.String(), b.String()})
	}
	if a.Shape == List {
		return diff(out, path+"[*]", a.Elem, b.Elem)
	}
	var names []string
	for _, f := range slices.Concat(a.Fields, b.Fields) {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := path + strings.TrimPrefix(variant.NewPath(variant.Step{Name: name}).String(), "$")
		x, y := a.Field(name), b.Field(name)
		switch {
		case x == nil:
			out = append(out, Change{Path: at, To: y.String()})
		case y == nil:
			out = append(out, Change{Path: at, From: x.String()})
		default:
			out = diff(out, at, x, y)
		}
	}
	return out
}
