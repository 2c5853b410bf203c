package shred

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/frazil/frazil/variant"
)

// FieldStats is what a sample says about one path.
type FieldStats struct {
	Path      string // normalized, with [*] for the elements of arrays
	Values    int    // not null
	Nulls     int    // Variant nulls
	Frequency float64
	Classes   []ClassCount // most frequent first
	IntDigits int          // exact numbers: most digits before the point
	Scale     int          // exact numbers: most digits after the point
	Type      string       // what the path is shredded as, empty if it is not
}

// ClassCount is the number of values of one class.
type ClassCount struct {
	Class string
	Count int
}

// Stats returns what the sample says about each path, parents first, in the order
// of names. Frequency is the share of Values among the rows that are not null; it
// exceeds 1 inside arrays.
func (i *Inferer) Stats() []FieldStats {
	var out []FieldStats
	i.stats(&out, "$", &i.root, i.Schema())
	return out
}

func (i *Inferer) stats(out *[]FieldStats, path string, s *sample, schema *Schema) {
	f := FieldStats{Path: path, Values: s.values, Nulls: s.nulls, IntDigits: s.intDigits, Scale: s.scale}
	if i.root.values > 0 {
		f.Frequency = float64(s.values) / float64(i.root.values)
	}
	for c := range classes {
		if s.counts[c] > 0 {
			f.Classes = append(f.Classes, ClassCount{c.String(), s.counts[c]})
		}
	}
	slices.SortStableFunc(f.Classes, func(a, b ClassCount) int { return b.Count - a.Count })
	if schema == nil {
		schema = &Schema{}
	}
	switch schema.Shape {
	case Leaf:
		f.Type = schema.Type.String()
	case Object, List:
		f.Type = schema.Shape.String()
	case Opaque:
	}
	*out = append(*out, f)
	var names []string
	for name := range s.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := path + strings.TrimPrefix(variant.NewPath(variant.Step{Name: name}).String(), "$")
		i.stats(out, at, s.fields[name], schema.Field(name))
	}
	if s.elem != nil && s.elem.values+s.elem.nulls > 0 {
		i.stats(out, path+"[*]", s.elem, schema.Elem)
	}
}

// WriteStats prints Stats as a table.
func (i *Inferer) WriteStats(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "path\tvalues\tnulls\tshare\tclasses\tdigits\tshredded as")
	for _, f := range i.Stats() {
		var classes []string
		for _, c := range f.Classes {
			classes = append(classes, fmt.Sprintf("%s %d", c.Class, c.Count))
		}
		digits := ""
		if f.IntDigits+f.Scale > 0 {
			digits = fmt.Sprintf("%d.%d", f.IntDigits, f.Scale)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%.2f\t%s\t%s\t%s\n", f.Path, f.Values, f.Nulls, f.Frequency, strings.Join(classes, ", "), digits, f.Type)
	}
	return t.Flush()
}

var classNames = [classes]string{
	"bool", "exact", "float", "double", "date", "time", "timestamp", "timestamp_ntz", "timestamp_ns", "timestamp_ntz_ns",
	"string", "binary", "uuid", "array", "object",
}

// String returns the class's name.
func (c class) String() string { return classNames[c] }
