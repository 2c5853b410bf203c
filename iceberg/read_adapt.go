package iceberg

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
)

// adapter turns the arrays of a column as a file has them into arrays of the
// table's type: promoted numbers, struct fields by id in the table's order,
// defaults for fields that the file lacks (Iceberg spec, "Schema Evolution",
// "Column Projection"). It is made once a file.
type adapter struct {
	mem    memory.Allocator
	to     arrow.DataType
	field  ice.NestedField
	fields []structPart // struct
	kids   []*adapter   // list: the element; map: key and value
	widen  widening
}

// structPart says where one field of a struct comes from.
type structPart struct {
	field ice.NestedField
	index int      // of the file's field; -1 when the file lacks it
	from  *adapter // nil when the file lacks it
}

// widening converts the values of a leaf; nil keeps the buffers.
type widening func(mem memory.Allocator, d arrow.ArrayData) *memory.Buffer

// fieldID returns the Iceberg id that a file's field carries, or 0.
func fieldID(f arrow.Field) int {
	text, _ := f.Metadata.GetValue(keyFieldID)
	id, _ := strconv.Atoi(text)
	return id
}

// newAdapter prepares the conversion of a column.
func newAdapter(mem memory.Allocator, from arrow.DataType, want ice.NestedField) (*adapter, error) {
	a := &adapter{mem: mem, to: arrowType(want.Type), field: want}
	mismatch := func() error {
		return unsupportedf("column %q: %s cannot be read as %s", want.Name, from, want.Type)
	}
	switch t := want.Type.(type) {
	case *ice.StructType:
		st, ok := from.(*arrow.StructType)
		if !ok {
			return nil, mismatch()
		}
		return a, a.structure(st, t)
	case *ice.ListType:
		lt, ok := from.(*arrow.ListType)
		if !ok {
			return nil, mismatch()
		}
		return a, a.child(lt.Elem(), t.ElementField())
	case *ice.MapType:
		mt, ok := from.(*arrow.MapType)
		if !ok {
			return nil, mismatch()
		}
		if err := a.child(mt.KeyType(), t.KeyField()); err != nil {
			return nil, err
		}
		return a, a.child(mt.ItemType(), t.ValueField())
	case ice.VariantType:
		st, ok := from.(*arrow.StructType)
		if !ok || st.NumFields() != 2 || st.Field(0).Name != "metadata" || st.Field(1).Name != "value" {
			return nil, mismatch()
		}
		return a, nil
	}
	widen, ok := leafWidening(from, a.to)
	if !ok {
		return nil, mismatch()
	}
	a.widen = widen
	return a, nil
}

func (a *adapter) child(from arrow.DataType, want ice.NestedField) error {
	kid, err := newAdapter(a.mem, from, want)
	a.kids = append(a.kids, kid)
	return err
}

func (a *adapter) structure(from *arrow.StructType, want *ice.StructType) error {
	for _, f := range want.FieldList {
		part := structPart{field: f, index: -1}
		for i, have := range from.Fields() {
			if fieldID(have) != f.ID {
				continue
			}
			kid, err := newAdapter(a.mem, have.Type, f)
			if err != nil {
				return err
			}
			part.index, part.from = i, kid
		}
		a.fields = append(a.fields, part)
	}
	return nil
}

// adapt converts one array, which starts at offset 0. The caller owns both.
func (a *adapter) adapt(arr arrow.Array) (arrow.Array, error) {
	if arrow.TypeEqual(arr.DataType(), a.to, arrow.CheckMetadata()) {
		arr.Retain()
		return arr, nil
	}
	d, err := a.data(arr.Data())
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

func (a *adapter) data(d arrow.ArrayData) (arrow.ArrayData, error) {
	if d.Offset() != 0 {
		panic("BUG: an assembled array starts at an offset")
	}
	children, err := a.children(d)
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	if err != nil {
		return nil, err
	}
	buffers := d.Buffers()
	if a.widen != nil {
		wide := a.widen(a.mem, d)
		defer wide.Release()
		buffers = []*memory.Buffer{buffers[0], wide}
	}
	return array.NewData(a.to, d.Len(), buffers, children, d.NullN(), 0), nil
}

// part gives the data of one field of a struct.
func (a *adapter) part(p structPart, d arrow.ArrayData) (arrow.ArrayData, error) {
	if p.from != nil {
		return p.from.data(d.Children()[p.index])
	}
	missing, err := missingArray(a.mem, p.field, d.Len())
	if err != nil {
		return nil, err
	}
	defer missing.Release()
	missing.Data().Retain()
	return missing.Data(), nil
}

func (a *adapter) children(d arrow.ArrayData) ([]arrow.ArrayData, error) {
	var out []arrow.ArrayData
	switch a.field.Type.(type) {
	case *ice.StructType:
		for _, part := range a.fields {
			c, err := a.part(part, d)
			if err != nil {
				return out, err
			}
			out = append(out, c)
		}
	case *ice.ListType:
		c, err := a.kids[0].data(d.Children()[0])
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	case *ice.MapType:
		return a.entries(d.Children()[0])
	default:
		for _, c := range d.Children() {
			c.Retain()
			out = append(out, c)
		}
	}
	return out, nil
}

// entries converts the key-value struct below a map.
func (a *adapter) entries(d arrow.ArrayData) ([]arrow.ArrayData, error) {
	var kids []arrow.ArrayData
	defer func() {
		for _, k := range kids {
			k.Release()
		}
	}()
	for i, kid := range a.kids {
		k, err := kid.data(d.Children()[i])
		if err != nil {
			return nil, err
		}
		kids = append(kids, k)
	}
	typ := a.to.(*arrow.MapType).Elem()
	return []arrow.ArrayData{array.NewData(typ, d.Len(), d.Buffers(), kids, d.NullN(), 0)}, nil
}

// leafWidening returns how values of one leaf type become those of another, and
// whether they may. Types of one layout need no conversion.
func leafWidening(from, to arrow.DataType) (widening, bool) {
	if arrow.TypeEqual(from, to) {
		return nil, true
	}
	switch to.ID() {
	case arrow.INT32, arrow.INT64:
		return intWidening(from, to)
	case arrow.FLOAT64:
		return widenTo[float32, float64](1), from.ID() == arrow.FLOAT32
	case arrow.DECIMAL128:
		f, ok := from.(*arrow.Decimal128Type)
		return nil, ok && f.Scale == to.(*arrow.Decimal128Type).Scale && f.Precision <= to.(*arrow.Decimal128Type).Precision
	case arrow.TIMESTAMP:
		return timestampWidening(from, to.(*arrow.TimestampType))
	case arrow.TIME64:
		if f, ok := from.(*arrow.Time32Type); ok && f.Unit == arrow.Millisecond {
			return widenTo[int32, int64](1000), true
		}
	case arrow.STRING, arrow.BINARY:
		return nil, from.ID() == arrow.STRING || from.ID() == arrow.BINARY
	case arrow.FIXED_SIZE_BINARY:
		if ext, ok := from.(arrow.ExtensionType); ok {
			from = ext.StorageType()
		}
		return nil, arrow.TypeEqual(from, to)
	}
	return nil, false
}

func intWidening(from, to arrow.DataType) (widening, bool) {
	wide := to.ID() == arrow.INT64
	switch from.ID() {
	case arrow.INT8:
		if wide {
			return widenTo[int8, int64](1), true
		}
		return widenTo[int8, int32](1), true
	case arrow.INT16:
		if wide {
			return widenTo[int16, int64](1), true
		}
		return widenTo[int16, int32](1), true
	case arrow.INT32:
		return widenTo[int32, int64](1), wide
	case arrow.UINT8:
		if wide {
			return widenTo[uint8, int64](1), true
		}
		return widenTo[uint8, int32](1), true
	case arrow.UINT16:
		if wide {
			return widenTo[uint16, int64](1), true
		}
		return widenTo[uint16, int32](1), true
	case arrow.UINT32:
		return widenTo[uint32, int64](1), wide
	}
	return nil, false
}

// timestampWidening takes coarser timestamps, and dates as midnight.
func timestampWidening(from arrow.DataType, to *arrow.TimestampType) (widening, bool) {
	units := unitsPerSecond(to.Unit)
	switch f := from.(type) {
	case *arrow.Date32Type:
		return widenTo[int32, int64](secondsPerDay * units), true
	case *arrow.TimestampType:
		have := unitsPerSecond(f.Unit)
		switch {
		case have == units:
			return nil, true
		case have < units:
			return widenTo[int64, int64](units / have), true
		}
		return narrowTimestamps(have / units), true
	}
	return nil, false
}

// number is a type of values in a buffer.
type bufferValue interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~float32 | ~float64
}

// widenTo converts each value and multiplies it.
func widenTo[F, T bufferValue](factor T) widening {
	return func(mem memory.Allocator, d arrow.ArrayData) *memory.Buffer {
		in := arrow.GetData[F](d.Buffers()[1].Bytes())[:d.Len()]
		out := newBuffer(mem, d.Len()*8)
		values := arrow.GetData[T](out.Bytes())
		for i, v := range in {
			values[i] = T(v) * factor
		}
		return out
	}
}

// narrowTimestamps takes finer timestamps, such as those of INT96, down to the
// unit at or before them.
func narrowTimestamps(factor int64) widening {
	return func(mem memory.Allocator, d arrow.ArrayData) *memory.Buffer {
		in := arrow.Int64Traits.CastFromBytes(d.Buffers()[1].Bytes())[:d.Len()]
		out := newBuffer(mem, d.Len()*8)
		values := arrow.Int64Traits.CastFromBytes(out.Bytes())
		for i, v := range in {
			values[i] = floorDiv(v, factor)
		}
		return out
	}
}

func newBuffer(mem memory.Allocator, n int) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize(n)
	return b
}
