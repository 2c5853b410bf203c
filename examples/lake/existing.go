package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/frazil/frazil/iceberg"
)

// checkExisting refuses flags that describe a new table when the table exists
// and is another one: they would have no effect.
func (l *loader) checkExisting(t *iceberg.Table, cols []iceberg.Column) error {
	if l.columns != "" || l.variant != "" {
		if err := sameColumns(t, cols); err != nil {
			return fmt.Errorf("table %s exists and %w; leave out -columns and -variant to load into it as it is", t.Name(), err)
		}
	}
	if l.given["partition"] {
		fields, err := l.partitionFields()
		if err != nil {
			return err
		}
		if have := partitionsOf(t); !slices.Equal(have, partitionTexts(fields)) {
			return fmt.Errorf("table %s exists and is %s; leave out -partition, which is for new tables", t.Name(), partitionedBy(have))
		}
	}
	if l.given["shred"] && l.shred && !t.Properties().GetBool("write.parquet.shred-variants", true) {
		return fmt.Errorf("table %s exists and does not shred (write.parquet.shred-variants=false); leave out -shred, or lake reshred it into a new table", t.Name())
	}
	return nil
}

// sameColumns makes sure that the table has just these columns, in any order.
func sameColumns(t *iceberg.Table, cols []iceberg.Column) error {
	fields := t.Schema().Fields()
	named := map[string]bool{}
	for _, c := range cols {
		named[c.Name] = true
		f, ok := t.Schema().FindFieldByName(c.Name)
		if !ok {
			return fmt.Errorf("has no column %q", c.Name)
		}
		if have, want := typeText(f.Type), typeText(c.Type); have != want {
			return fmt.Errorf("its column %q is of type %s, not %s", c.Name, have, want)
		}
	}
	for _, f := range fields {
		if !named[f.Name] {
			return fmt.Errorf("also has the column %q", f.Name)
		}
	}
	return nil
}

var fieldIDs = regexp.MustCompile(`\b\d+: `)

// typeText is a type without the ids of its nested fields, which only the type
// of a table has.
func typeText(t fmt.Stringer) string { return fieldIDs.ReplaceAllString(t.String(), "") }

// partitionsOf are the partition fields of a table as -partition takes them.
func partitionsOf(t *iceberg.Table) []string {
	var out []string
	spec := t.Unwrap().Spec()
	for _, p := range spec.Fields() {
		source, _ := t.Schema().FindColumnName(p.SourceID())
		out = append(out, partitionFieldText(source, p.Transform.String()))
	}
	return out
}

func partitionTexts(fields []iceberg.PartitionField) []string {
	var out []string
	for _, f := range fields {
		transform := "identity"
		if f.Transform != nil {
			transform = f.Transform.String()
		}
		out = append(out, partitionFieldText(f.Source, transform))
	}
	return out
}

// partitionFieldText turns a transform such as bucket[16] into bucket(16,source).
func partitionFieldText(source, transform string) string {
	name, width, _ := strings.Cut(strings.TrimSuffix(transform, "]"), "[")
	switch {
	case name == "identity":
		return source
	case width != "":
		return name + "(" + width + "," + source + ")"
	}
	return name + "(" + source + ")"
}

func partitionedBy(fields []string) string {
	if len(fields) == 0 {
		return "not partitioned"
	}
	return "partitioned by " + strings.Join(fields, ",")
}
