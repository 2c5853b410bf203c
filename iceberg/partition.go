package iceberg

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	ice "github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/frazil/frazil/variant"
)

// partitioner computes the partition of rows.
type partitioner struct {
	spec   ice.PartitionSpec
	schema *ice.Schema
	fields []*partitionSource
}

// partitionSource is one field of the partition tuple and where it comes from.
type partitionSource struct {
	field    ice.PartitionField
	column   int              // ordinal of the top-level column; -1 for void
	levels   []partitionLevel // from the column down to the source
	typ      ice.Type         // of the source
	result   ice.Type         // of the transform
	cell     *cell
	identity bool
	value    variant.Scalar // of the row at hand, KindNull when there is none
}

// partitionLevel is the source of a partition field, or a struct around it.
type partitionLevel struct {
	name     string
	fallback fallback
	find     *rowScanner // finds the value in the JSON of the struct around it; nil for the column
}

// newPartitioner prepares the table's default spec.
func newPartitioner(spec ice.PartitionSpec, schema *ice.Schema) (*partitioner, error) {
	p := &partitioner{spec: spec, schema: schema}
	cols := schema.Fields()
	for _, f := range spec.Fields() {
		if _, void := f.Transform.(ice.VoidTransform); void {
			p.fields = append(p.fields, &partitionSource{field: f, column: -1})
			continue
		}
		if _, unknown := f.Transform.(ice.UnknownTransform); unknown {
			return nil, unsupportedf("writing with partition transform %s", f.Transform)
		}
		src, err := newPartitionSource(f, cols)
		if err != nil {
			return nil, err
		}
		p.fields = append(p.fields, src)
	}
	return p, nil
}

func newPartitionSource(f ice.PartitionField, cols []ice.NestedField) (*partitionSource, error) {
	path := fieldPath(cols, f.SourceID())
	if path == nil {
		return nil, unsupportedf("partition field %q, whose source is no column and no field of a struct", f.Name)
	}
	typ := path[len(path)-1].Type
	out := &partitionSource{field: f, typ: typ, result: f.Transform.ResultType(typ)}
	out.column = slices.IndexFunc(cols, func(c ice.NestedField) bool { return c.ID == path[0].ID })
	_, out.identity = f.Transform.(ice.IdentityTransform)
	var err error
	if out.cell, err = newCell(typ); err != nil {
		return nil, err
	}
	for i, field := range path {
		level := partitionLevel{name: field.Name}
		if level.fallback, err = newFallback(field); err != nil {
			return nil, err
		}
		if i > 0 {
			level.find = newRowScanner([]string{field.Name}, variant.ParseOptions{})
		}
		out.levels = append(out.levels, level)
	}
	return out, nil
}

// fieldPath leads from a column through structs to the field with an id; nil when
// there is none, or lists or maps lie between.
func fieldPath(fields []ice.NestedField, id int) []ice.NestedField {
	for _, f := range fields {
		if f.ID == id {
			return []ice.NestedField{f}
		}
		if s, ok := f.Type.(*ice.StructType); ok {
			if rest := fieldPath(s.FieldList, id); rest != nil {
				return append([]ice.NestedField{f}, rest...)
			}
		}
	}
	return nil
}

// jsonKey appends the partition key of a JSON row. A value that does not fit
// its column makes the row's own error later; the key is then that of null.
func (p *partitioner) jsonKey(dst, row []byte, spans []span) []byte {
	for _, f := range p.fields {
		f.value = variant.Scalar{Kind: variant.KindNull}
		if f.column < 0 {
			dst = f.appendKey(dst)
			continue
		}
		var text []byte
		if at := spans[f.column]; at.end > 0 {
			text = row[at.start:at.end]
		}
		f.value = f.jsonValue(text)
		f.transform()
		dst = f.appendKey(dst)
	}
	return dst
}

// jsonValue reads the source in the JSON of its column, nil when that is missing.
// What cannot be read is null.
func (f *partitionSource) jsonValue(text []byte) variant.Scalar {
	null := variant.Scalar{Kind: variant.KindNull}
	for i := 1; i < len(f.levels); i++ {
		level := &f.levels[i]
		switch {
		case text == nil && f.levels[i-1].fallback.kind != fallStruct, string(text) == "null":
			return null
		case text == nil: // a struct whose fields have their own defaults
			continue
		case level.find.scan(text) != nil:
			return null
		}
		at := level.find.spans[0]
		text = text[at.start:at.end]
		if at.end == 0 {
			text = nil
		}
	}
	if text == nil {
		return f.levels[len(f.levels)-1].missing()
	}
	if string(text) == "null" {
		return null
	}
	s, err := f.cell.json(text)
	if err != nil {
		return null
	}
	return s
}

// missing is the value of rows that do not have the source.
func (l *partitionLevel) missing() variant.Scalar {
	if l.fallback.kind == fallScalar {
		return l.fallback.scalar
	}
	return variant.Scalar{Kind: variant.KindNull}
}

// arrowValue reads the source in row i of a batch.
func (f *partitionSource) arrowValue(batch arrow.RecordBatch, i int) variant.Scalar {
	at := batch.Schema().FieldIndices(f.levels[0].name)
	if len(at) == 0 {
		return f.levels[0].missing()
	}
	arr := batch.Column(at[0])
	for k := 1; k < len(f.levels); k++ {
		s, ok := arr.(*array.Struct)
		if !ok || s.IsNull(i) {
			return variant.Scalar{Kind: variant.KindNull}
		}
		n, found := s.DataType().(*arrow.StructType).FieldIdx(f.levels[k].name)
		if !found {
			return f.levels[k].missing()
		}
		arr = s.Field(n)
	}
	return arrowScalar(arr, i)
}

// transform replaces the source value by the partition value.
func (f *partitionSource) transform() {
	if f.identity || f.value.Kind == variant.KindNull {
		return
	}
	out := f.field.Transform.Apply(ice.Optional[ice.Literal]{Val: literalOf(f.typ, &f.value), Valid: true})
	f.value = variant.Scalar{Kind: variant.KindNull}
	if out.Valid {
		f.value = scalarOf(out.Val)
	}
}

// appendKey appends bytes that are equal for equal values only.
func (f *partitionSource) appendKey(dst []byte) []byte {
	s := &f.value
	switch s.Kind {
	case variant.KindNull, variant.KindMissing:
		return append(dst, 0)
	case variant.KindString, variant.KindBinary, variant.KindUUID:
		dst = binary.AppendUvarint(append(dst, 2), uint64(len(s.Bytes)))
		return append(dst, s.Bytes...)
	case variant.KindFloat, variant.KindDouble:
		return binary.LittleEndian.AppendUint64(append(dst, 3), math.Float64bits(s.Float))
	case variant.KindDecimal4, variant.KindDecimal8, variant.KindDecimal16:
		dst = binary.LittleEndian.AppendUint64(append(dst, 4), uint64(s.Hi))
		return binary.LittleEndian.AppendUint64(dst, uint64(s.Int))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 1), uint64(s.Int))
}

// tuple gives the partition values of the row at hand, by partition field id,
// in the Go types that iceberg-go's manifests take.
func (p *partitioner) tuple() map[int]any {
	out := map[int]any{}
	for _, f := range p.fields {
		var v any
		if f.value.Kind != variant.KindNull {
			v = literalOf(f.result, &f.value).Any()
		}
		out[f.field.FieldID] = v
	}
	return out
}

// literalOf boxes a scalar as a literal of an Iceberg type.
func literalOf(t ice.Type, s *variant.Scalar) ice.Literal {
	switch t := t.(type) {
	case ice.BooleanType:
		return ice.NewLiteral(s.Int != 0)
	case ice.Int32Type:
		return ice.NewLiteral(int32(s.Int))
	case ice.Int64Type:
		return ice.NewLiteral(s.Int)
	case ice.Float32Type:
		return ice.NewLiteral(float32(s.Float))
	case ice.Float64Type:
		return ice.NewLiteral(s.Float)
	case ice.DateType:
		return ice.NewLiteral(ice.Date(s.Int))
	case ice.TimeType:
		return ice.NewLiteral(ice.Time(s.Int))
	case ice.TimestampType, ice.TimestampTzType:
		return ice.NewLiteral(ice.Timestamp(s.Int))
	case ice.TimestampNsType, ice.TimestampTzNsType:
		return ice.NewLiteral(ice.TimestampNano(s.Int))
	case ice.DecimalType:
		return ice.NewLiteral(ice.Decimal{Val: decimal128.New(s.Hi, uint64(s.Int)), Scale: t.Scale()})
	case ice.UUIDType:
		return ice.NewLiteral(uuid.UUID(s.Bytes))
	case ice.StringType:
		return ice.NewLiteral(string(s.Bytes))
	}
	return ice.NewLiteral(slices.Clone(s.Bytes))
}

// scalarOf unboxes what a transform returned.
func scalarOf(l ice.Literal) variant.Scalar {
	switch v := l.Any().(type) {
	case bool:
		s := variant.Scalar{Kind: variant.KindBool}
		if v {
			s.Int = 1
		}
		return s
	case int32:
		return variant.Scalar{Kind: variant.KindInt32, Int: int64(v)}
	case int64:
		return variant.Scalar{Kind: variant.KindInt64, Int: v}
	case float32:
		return variant.Scalar{Kind: variant.KindFloat, Float: float64(v)}
	case float64:
		return variant.Scalar{Kind: variant.KindDouble, Float: v}
	case ice.Date:
		return variant.Scalar{Kind: variant.KindDate, Int: int64(v)}
	case ice.Time:
		return variant.Scalar{Kind: variant.KindTime, Int: int64(v)}
	case ice.Timestamp:
		return variant.Scalar{Kind: variant.KindTimestamp, Int: int64(v)}
	case ice.TimestampNano:
		return variant.Scalar{Kind: variant.KindTimestampNanos, Int: int64(v)}
	case ice.Decimal:
		return variant.Scalar{Kind: variant.KindDecimal16, Int: int64(v.Val.LowBits()), Hi: v.Val.HighBits(), Scale: uint8(v.Scale)}
	case uuid.UUID:
		return variant.Scalar{Kind: variant.KindUUID, Bytes: v[:]}
	case string:
		return variant.Scalar{Kind: variant.KindString, Bytes: []byte(v)}
	case []byte:
		return variant.Scalar{Kind: variant.KindBinary, Bytes: v}
	}
	panic("BUG: a transform returned a literal of an unknown type")
}

// logicalTypes gives the Avro types of the partition values, which
// iceberg-go's manifest writer wants beside them.
func (p *partitioner) logicalTypes() map[int]string {
	out := map[int]string{}
	for _, f := range p.fields {
		if name := avroLogicalType(f.result); name != "" {
			out[f.field.FieldID] = name
		}
	}
	return out
}

// path gives the folder of the partition at hand below the data folder.
func (p *partitioner) path(tuple map[int]any) string {
	if len(p.fields) == 0 {
		return ""
	}
	values := make(partitionRow, len(p.fields))
	for i, f := range p.fields {
		values[i] = tuple[f.field.FieldID]
	}
	return p.spec.PartitionToPath(values, p.schema)
}

// partitionRow is a partition tuple as iceberg-go's StructLike.
type partitionRow []any

func (r partitionRow) Size() int            { return len(r) }
func (r partitionRow) Get(pos int) any      { return r[pos] }
func (r partitionRow) Set(pos int, val any) { r[pos] = val }
