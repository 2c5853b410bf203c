package iceberg

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/table"
)

// The properties that Create sets, by the names other engines know them by.
const (
	propFormatVersion   = "format-version"
	propShredVariants   = "write.parquet.shred-variants"
	propVectorizedReads = "read.parquet.vectorization.enabled"
	propInferenceBuffer = "write.parquet.variant-inference-buffer-size"
	propTargetFileBytes = "write.target-file-size-bytes"
	propRowGroupBytes   = "write.parquet.row-group-size-bytes"
	propCodec           = "write.parquet.compression-codec"
	propCodecLevel      = "write.parquet.compression-level"
	propPageBytes       = "write.parquet.page-size-bytes"
	propPageRows        = "write.parquet.page-row-limit"
	propDictionaryBytes = "write.parquet.dict-size-bytes"
	propBloomColumn     = "write.parquet.bloom-filter-enabled.column."
	propBloomFPP        = "write.parquet.bloom-filter-fpp.column."
	propBloomNDV        = "write.parquet.bloom-filter-ndv.column."
	propBloomBytes      = "write.parquet.bloom-filter-max-bytes"
	propMetricsDefault  = "write.metadata.metrics.default"
	propNumRetries      = "commit.retry.num-retries"
)

// Column is one column of a new table. Field ids are given out by Create.
type Column struct {
	Name     string
	Type     ice.Type // see ParseType
	Required bool
	Doc      string

	// Default is the write default: the value of rows that do not supply the
	// column. nil means null. A bool, an integer, a float, a string (the usual
	// text of a decimal, date, time, timestamp or UUID too) or []byte. An empty
	// map[string]any is the default struct of a struct column, whose fields
	// then have their own defaults. Variant columns take nil only.
	// (Iceberg spec, "Default values")
	Default any

	// InitialDefault is what rows written before the column existed read. It
	// has no effect in a new table and is used by AddColumn only, where nil
	// means the same as Default.
	InitialDefault any
}

// PartitionField partitions a table by a transform of a column.
type PartitionField struct {
	Source    string        // name of the column
	Transform ice.Transform // nil means identity
	Name      string        // "" means the usual name, such as ts_day
}

// SortField is one key of a table's sort order.
type SortField struct {
	Source     string
	Transform  ice.Transform // nil means identity
	Descending bool
	NullsLast  bool
}

// TableSpec defines a new table. Columns is the only field that must be set.
type TableSpec struct {
	Columns    []Column
	Partition  []PartitionField
	Sort       []SortField       // for other engines: files of this package are not sorted, and say so (no sort_order_id)
	Properties map[string]string // added to those that Create sets, and win over them
	Location   string            // "" means warehouse/namespace/name

	// FormatVersion is the version of the table format; 0 means 3.
	FormatVersion int

	// Unshredded keeps Variant columns as plain binary values.
	Unshredded bool
}

// ParsePartition reads a list such as "trade_date,bucket(16,id),day(ts)".
// Transforms: identity (a bare name), bucket(n,c), truncate(n,c), year(c),
// month(c), day(c), hour(c), void(c).
func ParsePartition(text string) ([]PartitionField, error) {
	var out []PartitionField
	for _, part := range splitTop(text) {
		part = strings.TrimSpace(part)
		name, args, isCall := strings.Cut(part, "(")
		if !isCall {
			if part == "" {
				return nil, invalidf("partition %q: empty name", text)
			}
			out = append(out, PartitionField{Source: part})
			continue
		}
		f, err := parseTransformCall(strings.TrimSpace(name), args)
		if err != nil {
			return nil, invalidf("partition %q: %v", part, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// splitTop splits at the commas outside parentheses.
func splitTop(text string) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, text[start:i])
				start = i + 1
			}
		}
	}
	return append(out, text[start:])
}

func parseTransformCall(name, args string) (PartitionField, error) {
	args, closed := strings.CutSuffix(strings.TrimSpace(args), ")")
	if !closed {
		return PartitionField{}, fmt.Errorf("missing )")
	}
	source, text := strings.TrimSpace(args), name
	if width, col, ok := strings.Cut(args, ","); ok {
		n, err := strconv.Atoi(strings.TrimSpace(width))
		if err != nil || n <= 0 {
			return PartitionField{}, fmt.Errorf("width %q is not a positive number", width)
		}
		source, text = strings.TrimSpace(col), fmt.Sprintf("%s[%d]", name, n)
	}
	tr, err := ice.ParseTransform(text)
	if err != nil {
		return PartitionField{}, err
	}
	if _, unknown := tr.(ice.UnknownTransform); unknown {
		return PartitionField{}, fmt.Errorf("there is no transform %q", name)
	}
	return PartitionField{Source: source, Transform: tr}, nil
}

// Create makes a new table of format version 3 (or spec.FormatVersion) and its
// namespace when that is missing. A table with Variant columns gets
// write.parquet.shred-variants=true, unless spec.Unshredded, and
// read.parquet.vectorization.enabled=false, without which Spark 4.1 crashes on
// shredded files.
func (c *Catalog) Create(ctx context.Context, name string, spec TableSpec) (*Table, error) {
	ident, err := parseName(name)
	if err != nil {
		return nil, err
	}
	if err := c.writable(); err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	opts, schema, err := c.createOptions(ident, spec)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	if err := c.ensureNamespace(ctx, ident); err != nil {
		return nil, fmt.Errorf("create %s: %w", name, catalogError(err))
	}
	tbl, err := c.cat.CreateTable(ctx, ident, schema, opts...)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, catalogError(err))
	}
	return Wrap(tbl, c.cat), nil
}

func (c *Catalog) createOptions(ident table.Identifier, spec TableSpec) ([]catalog.CreateTableOpt, *ice.Schema, error) {
	schema, err := newSchema(spec.Columns)
	if err != nil {
		return nil, nil, err
	}
	part, err := newPartitionSpec(schema, spec.Partition)
	if err != nil {
		return nil, nil, err
	}
	order, err := newSortOrder(schema, spec.Sort)
	if err != nil {
		return nil, nil, err
	}
	opts := []catalog.CreateTableOpt{
		catalog.WithProperties(spec.properties(schema)),
		catalog.WithPartitionSpec(part),
		catalog.WithSortOrder(order),
	}
	switch {
	case spec.Location != "":
		opts = append(opts, catalog.WithLocation(spec.Location))
	case c.warehouse != "":
		opts = append(opts, catalog.WithLocation(c.warehouse+"/"+strings.Join(ident, "/")))
	}
	return opts, schema, nil
}

func (s *TableSpec) properties(schema *ice.Schema) ice.Properties {
	version := s.FormatVersion
	if version == 0 {
		version = 3
	}
	props := ice.Properties{
		propFormatVersion:   strconv.Itoa(version),
		propCodec:           "zstd",
		"write.delete.mode": "merge-on-read",
		"write.update.mode": "merge-on-read",
		"write.merge.mode":  "merge-on-read",
	}
	if hasVariant(schema.AsStruct()) {
		props[propShredVariants] = strconv.FormatBool(!s.Unshredded)
		if !s.Unshredded {
			props[propVectorizedReads] = "false"
		}
	}
	maps.Copy(props, s.Properties)
	return props
}

func newSchema(cols []Column) (*ice.Schema, error) {
	if len(cols) == 0 {
		return nil, invalidf("a table needs a column")
	}
	fields := make([]ice.NestedField, len(cols))
	seen := map[string]bool{}
	for i, col := range cols {
		if seen[col.Name] {
			return nil, invalidf("column %q occurs twice", col.Name)
		}
		seen[col.Name] = true
		f, err := col.field()
		if err != nil {
			return nil, err
		}
		f.ID = i + 1
		fields[i] = f
	}
	// Ids of nested fields must be unique before iceberg-go renumbers them.
	id := len(fields)
	for i := range fields {
		fields[i].Type = numberType(fields[i].Type, func() int { id++; return id })
	}
	return ice.NewSchema(0, fields...), nil
}

// field gives the column's definition, its id unset. The initial default of a
// new table's column is null: there are no earlier rows.
func (c *Column) field() (ice.NestedField, error) {
	if c.Name == "" || c.Type == nil {
		return ice.NestedField{}, invalidf("column %q needs a name and a type", c.Name)
	}
	def, err := normalizeDefault(c.Type, c.Default)
	if err != nil {
		return ice.NestedField{}, invalidf("column %q: default: %v", c.Name, err)
	}
	return ice.NestedField{Name: c.Name, Type: c.Type, Required: c.Required, Doc: c.Doc, WriteDefault: def}, nil
}

// numberType copies a type with fresh ids for its nested fields.
func numberType(t ice.Type, next func() int) ice.Type {
	switch t := t.(type) {
	case *ice.StructType:
		out := &ice.StructType{FieldList: append([]ice.NestedField(nil), t.FieldList...)}
		for i := range out.FieldList {
			out.FieldList[i].ID = next()
		}
		for i := range out.FieldList {
			out.FieldList[i].Type = numberType(out.FieldList[i].Type, next)
		}
		return out
	case *ice.ListType:
		id := next()
		return &ice.ListType{ElementID: id, Element: numberType(t.Element, next), ElementRequired: t.ElementRequired}
	case *ice.MapType:
		key, value := next(), next()
		return &ice.MapType{
			KeyID: key, KeyType: numberType(t.KeyType, next),
			ValueID: value, ValueType: numberType(t.ValueType, next), ValueRequired: t.ValueRequired,
		}
	}
	return t
}

func hasVariant(t ice.StructType) bool {
	for _, f := range t.FieldList {
		if isVariant(f.Type) {
			return true
		}
	}
	return false
}

func isVariant(t ice.Type) bool {
	_, ok := t.(ice.VariantType)
	return ok
}

func newPartitionSpec(schema *ice.Schema, fields []PartitionField) (*ice.PartitionSpec, error) {
	if len(fields) == 0 {
		return ice.UnpartitionedSpec, nil
	}
	opts := make([]ice.PartitionOption, len(fields))
	for i, f := range fields {
		src, tr, err := transformSource(schema, f.Source, f.Transform)
		if err != nil {
			return nil, err
		}
		name := f.Name
		if name == "" {
			name, err = ice.GeneratePartitionFieldName(schema, ice.PartitionField{SourceIDs: []int{src.ID}, Transform: tr})
			if err != nil {
				return nil, invalidf("partition by %q: %v", f.Source, err)
			}
			name = avroName(name)
		}
		id := 1000 + i
		opts[i] = ice.AddPartitionFieldBySourceID(src.ID, name, tr, schema, &id)
	}
	spec, err := ice.NewPartitionSpecOpts(opts...)
	if err != nil {
		return nil, invalidf("partition: %v", err)
	}
	return &spec, nil
}

// avroName puts underscores in place of what manifests cannot have in the name of
// a partition field, such as the dot of a nested one.
func avroName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, name)
	if name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// transformSource finds the column of a partition or sort field and checks the
// transform. No transform but void takes a Variant (Iceberg spec, "Partition Transforms").
func transformSource(schema *ice.Schema, source string, tr ice.Transform) (ice.NestedField, ice.Transform, error) {
	src, ok := schema.FindFieldByName(source)
	if !ok {
		return src, nil, invalidf("there is no column %q", source)
	}
	if tr == nil {
		tr = ice.IdentityTransform{}
	}
	if fieldPath(schema.Fields(), src.ID) == nil {
		return src, nil, invalidf("column %q lies in a list or a map and cannot be a source of %s", source, tr)
	}
	if isVariant(src.Type) || !tr.CanTransform(src.Type) {
		return src, nil, invalidf("column %q of type %s cannot be a source of %s", source, src.Type, tr)
	}
	return src, tr, nil
}

func newSortOrder(schema *ice.Schema, fields []SortField) (table.SortOrder, error) {
	if len(fields) == 0 {
		return table.UnsortedSortOrder, nil
	}
	out := make([]table.SortField, len(fields))
	for i, f := range fields {
		src, tr, err := transformSource(schema, f.Source, f.Transform)
		if err != nil {
			return table.SortOrder{}, err
		}
		out[i] = table.SortField{SourceIDs: []int{src.ID}, Transform: tr, Direction: table.SortASC, NullOrder: table.NullsFirst}
		if f.Descending {
			out[i].Direction = table.SortDESC
		}
		if f.NullsLast {
			out[i].NullOrder = table.NullsLast
		}
	}
	order, err := table.NewSortOrder(1, out)
	if err != nil {
		return table.SortOrder{}, invalidf("sort order: %v", err)
	}
	return order, nil
}
