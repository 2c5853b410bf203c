package arrowvariant

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/frazil/frazil/variant"
)

// ErrType is returned by [NewColumn] when an array is no Variant column, or is
// shredded as a type that the shredding spec does not know.
var ErrType = errors.New("arrowvariant: not a Variant column")

// Column reads the rows of a Variant column. It is for one goroutine; the array
// must stay retained while it is used.
type Column struct {
	storage  *array.Struct
	metadata byteArray
	root     *shredded // value and typed_value of whole rows

	// For shredded rows: the dictionary of the last one, and what writes it anew.
	dict    *variant.Metadata
	builder *variant.Builder
}

// NewColumn returns a reader of an extension array, or of its storage struct. An
// error Is [ErrType].
func NewColumn(arr arrow.Array) (*Column, error) {
	if ext, ok := arr.(array.ExtensionArray); ok {
		if name := ext.DataType().(arrow.ExtensionType).ExtensionName(); !extensions.IsVariantExtensionName(name) {
			return nil, fmt.Errorf("%w: extension type %s", ErrType, name)
		}
		arr = ext.Storage()
	}
	storage, ok := arr.(*array.Struct)
	if !ok {
		return nil, fmt.Errorf("%w: storage type %s", ErrType, arr.DataType())
	}
	c := &Column{storage: storage}
	typ := storage.DataType().(*arrow.StructType)
	at, ok := typ.FieldIdx("metadata")
	if !ok {
		return nil, fmt.Errorf("%w: %s has no field metadata", ErrType, typ)
	}
	if c.metadata = bytesOf(storage.Field(at)); c.metadata == nil {
		return nil, fmt.Errorf("%w: metadata of type %s", ErrType, typ.Field(at).Type)
	}
	var err error
	if c.root, err = newShredded(storage, 0); err != nil {
		return nil, err
	}
	return c, nil
}

// Len returns the number of rows.
func (c *Column) Len() int { return c.storage.Len() }

// IsNull reports whether row i is a NULL of the column, which is no Variant null.
func (c *Column) IsNull(i int) bool { return c.storage.IsNull(i) }

// Value returns row i, missing when it is NULL. All bytes are checked; an error Is
// variant.ErrCorrupt and names the row.
func (c *Column) Value(i int) (variant.Value, error) {
	if c.storage.IsNull(i) {
		return variant.Value{}, nil
	}
	metadata := c.metadata.Value(i)
	if c.root.typed == nil {
		if c.root.value.IsNull(i) {
			return variant.Value{}, rowError(i, corrupt("value is NULL"))
		}
		v, err := variant.New(metadata, c.root.value.Value(i))
		return v, rowError(i, err)
	}
	v, err := c.assemble(metadata, i)
	return v, rowError(i, err)
}

// Values iterates over all rows; those that are NULL are missing. It ends after the
// first error.
func (c *Column) Values() iter.Seq2[variant.Value, error] {
	return func(yield func(variant.Value, error) bool) {
		for i := range c.Len() {
			v, err := c.Value(i)
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func rowError(i int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("arrowvariant: row %d: %w", i, err)
}

func corrupt(reason string) error { return fmt.Errorf("%w: %s", variant.ErrCorrupt, reason) }

// assemble puts a shredded row together over its own dictionary.
func (c *Column) assemble(metadata []byte, i int) (variant.Value, error) {
	if c.dict == nil || !bytes.Equal(c.dict.Bytes(), metadata) {
		dict, err := variant.ParseMetadata(metadata)
		if err != nil {
			return variant.Value{}, err
		}
		c.dict = dict
	}
	if c.builder == nil {
		c.builder = variant.NewBuilder()
	}
	c.builder.ResetMetadata(c.dict)
	if err := c.root.emit(c.builder, c.dict, i, 0); err != nil {
		return variant.Value{}, err
	}
	v, err := c.builder.Value()
	if err != nil { // a field that is shredded and in value too, or not in the dictionary
		return variant.Value{}, corrupt(err.Error())
	}
	return v, nil
}

// byteArray is what the arrays of binary types have in common.
type byteArray interface {
	Value(i int) []byte
	IsNull(i int) bool
}

// bytesOf returns an array of one of the binary types, also dictionary encoded; nil
// for others.
func bytesOf(arr arrow.Array) byteArray {
	switch arr := arr.(type) {
	case *array.Binary:
		return arr
	case *array.LargeBinary:
		return arr
	case *array.BinaryView:
		return arr
	case *array.Dictionary:
		if values := bytesOf(arr.Dictionary()); values != nil {
			return encodedBytes{arr, values}
		}
	}
	return nil
}

// encodedBytes is a dictionary encoded array of bytes.
type encodedBytes struct {
	*array.Dictionary
	values byteArray
}

// Value returns the bytes of row i.
func (e encodedBytes) Value(i int) []byte { return e.values.Value(e.GetValueIndex(i)) }

// NewArray returns an unshredded extension array of the values, in the canonical
// type arrow.parquet.variant; missing values are NULL. The caller releases it.
func NewArray(mem memory.Allocator, values []variant.Value) *extensions.VariantArray {
	metadata := array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary)
	defer metadata.Release()
	value := array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary)
	defer value.Release()
	valid := memory.NewResizableBuffer(mem)
	defer valid.Release()
	valid.Resize(int(bitutil.BytesForBits(int64(len(values)))))
	clear(valid.Bytes())
	nulls := 0
	for i, v := range values {
		// A NULL has empty bytes in the fields, which are not null by type.
		metadata.Append(v.Metadata())
		value.Append(v.Bytes())
		if v.IsMissing() {
			nulls++
			continue
		}
		bitutil.SetBit(valid.Bytes(), i)
	}
	return newExtension(metadata.NewBinaryArray(), value.NewBinaryArray(), valid, nulls)
}

// newExtension takes the two columns over.
func newExtension(metadata, value *array.Binary, valid *memory.Buffer, nulls int) *extensions.VariantArray {
	defer metadata.Release()
	defer value.Release()
	typ := extensions.NewDefaultVariantType()
	data := array.NewData(typ.StorageType(), metadata.Len(), []*memory.Buffer{valid},
		[]arrow.ArrayData{metadata.Data(), value.Data()}, nulls, 0)
	defer data.Release()
	storage := array.NewStructData(data)
	defer storage.Release()
	return array.NewExtensionArrayWithStorage(typ, storage).(*extensions.VariantArray)
}
