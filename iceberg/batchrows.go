package iceberg

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
)

// routeBatch cuts a batch into runs of rows of one partition.
func (a *Appender) routeBatch(batch arrow.RecordBatch) error {
	first := a.line + 1
	a.line += batch.NumRows()
	if err := a.checkNames(batch.Schema()); err != nil {
		return a.stop(err)
	}
	rows := int(batch.NumRows())
	for start := 0; start < rows; {
		a.key = a.partitioner.batchKey(a.key[:0], batch, start)
		end := a.runEnd(batch, start)
		if err := a.sendRows(batch, start, end, first); err != nil {
			return err
		}
		start = end
	}
	return a.ready()
}

// runEnd is the end of the run of rows with the partition of row start, whose
// key is a.key.
func (a *Appender) runEnd(batch arrow.RecordBatch, start int) int {
	rows := int(batch.NumRows())
	if len(a.partitioner.fields) == 0 {
		return rows
	}
	end := start + 1
	for ; end < rows; end++ {
		a.nextKey = a.partitioner.batchKey(a.nextKey[:0], batch, end)
		if string(a.nextKey) != string(a.key) {
			break
		}
	}
	return end
}

// sendRows queues rows [i,j) of a batch, whose partition key is a.key.
func (a *Appender) sendRows(batch arrow.RecordBatch, i, j int, first int64) error {
	if a.parts[string(a.key)] == nil {
		a.key = a.partitioner.batchKey(a.key[:0], batch, i) // back to the run, for its tuple
	}
	p, err := a.partition(a.key)
	if err != nil {
		return a.stop(err)
	}
	if p.pending != nil { // JSON rows that came before
		if err := a.send(p); err != nil {
			return err
		}
	}
	slice := batch.NewSlice(int64(i), int64(j))
	// A slice shares the batch's memory; its share of it is estimated.
	p.pending = &chunk{batch: slice, line: first + int64(i), bytes: int64(j-i) * slice.NumCols() * 16}
	return a.send(p)
}

// checkNames refuses a batch with columns that the table does not have.
func (a *Appender) checkNames(s *arrow.Schema) error {
	for i, f := range s.Fields() {
		if _, ok := a.scanner.index[f.Name]; !ok {
			return invalidf("the batch has a column %q that the table has not", f.Name)
		}
		if len(s.FieldIndices(f.Name)) > 1 {
			return invalidf("the batch has column %q twice (%d)", f.Name, i)
		}
	}
	return nil
}

// batchKey appends the partition key of row i.
func (p *partitioner) batchKey(dst []byte, batch arrow.RecordBatch, i int) []byte {
	for _, f := range p.fields {
		f.value = variant.Scalar{Kind: variant.KindNull}
		if f.column >= 0 {
			f.value = f.arrowValue(batch, i)
			f.transform()
		}
		dst = f.appendKey(dst)
	}
	return dst
}

// arrowScalar reads one value of a primitive array; null and what is no
// partition source are KindNull.
func arrowScalar(arr arrow.Array, i int) variant.Scalar {
	null := variant.Scalar{Kind: variant.KindNull}
	if arr.IsNull(i) {
		return null
	}
	switch c := arr.(type) {
	case *array.Boolean:
		s := variant.Scalar{Kind: variant.KindBool}
		if c.Value(i) {
			s.Int = 1
		}
		return s
	case *array.Int8:
		return variant.Scalar{Kind: variant.KindInt32, Int: int64(c.Value(i))}
	case *array.Int16:
		return variant.Scalar{Kind: variant.KindInt32, Int: int64(c.Value(i))}
	case *array.Int32:
		return variant.Scalar{Kind: variant.KindInt32, Int: int64(c.Value(i))}
	case *array.Int64:
		return variant.Scalar{Kind: variant.KindInt64, Int: c.Value(i)}
	case *array.Float32:
		return variant.Scalar{Kind: variant.KindFloat, Float: float64(c.Value(i))}
	case *array.Float64:
		return variant.Scalar{Kind: variant.KindDouble, Float: c.Value(i)}
	case *array.Date32:
		return variant.Scalar{Kind: variant.KindDate, Int: int64(c.Value(i))}
	case *array.Time64:
		return variant.Scalar{Kind: variant.KindTime, Int: int64(c.Value(i))}
	case *array.Timestamp:
		return variant.Scalar{Kind: variant.KindTimestamp, Int: int64(c.Value(i))}
	case *array.Decimal128:
		return scalarOfDecimal(c.Value(i), int(c.DataType().(*arrow.Decimal128Type).Scale))
	case *array.String:
		return variant.Scalar{Kind: variant.KindString, Bytes: []byte(c.Value(i))}
	case *array.LargeString:
		return variant.Scalar{Kind: variant.KindString, Bytes: []byte(c.Value(i))}
	case *array.Binary:
		return variant.Scalar{Kind: variant.KindBinary, Bytes: c.Value(i)}
	case *array.FixedSizeBinary:
		return variant.Scalar{Kind: variant.KindBinary, Bytes: c.Value(i)}
	case *array.Dictionary:
		return arrowScalar(c.Dictionary(), c.GetValueIndex(i))
	}
	return null
}

// addBatch writes the rows of a batch. A row that does not fit is rejected and
// the rest written around it.
func (f *dataFile) addBatch(c *chunk) {
	line, batch := c.line, c.batch
	batch.Retain()
	for {
		bad, column, err := f.badRow(batch)
		good := batch
		if err != nil {
			good = batch.NewSlice(0, int64(bad))
		}
		if good.NumRows() > 0 {
			if putErr := f.putBatch(good); putErr != nil {
				f.a.reject(line, nil, &RowError{Line: line, Err: putErr})
				f.err = putErr
			}
		}
		if err == nil || f.err != nil {
			good.Release()
			return
		}
		at := line + int64(bad)
		f.a.reject(at, nil, &RowError{Line: at, Column: column, Err: err})
		rest := batch.NewSlice(int64(bad)+1, batch.NumRows())
		good.Release()
		batch.Release()
		batch, line = rest, at+1
	}
}

// badRow finds the first row that breaks a rule of its column.
func (f *dataFile) badRow(batch arrow.RecordBatch) (row int, column string, err error) {
	row = int(batch.NumRows())
	for _, c := range f.cols {
		arr := columnOf(batch, c.field.Name)
		if arr == nil {
			if c.field.Required && (c.shred != nil || c.json.fallback.kind == fallError) && row > 0 {
				row, column, err = 0, c.field.Name, errMissing
			}
			continue
		}
		if i := firstNull(arr, row); c.field.Required && i < row {
			row, column, err = i, c.field.Name, errRequired
		}
		if c.shred == nil || f.a.opts.lineage {
			continue
		}
		if i, bad := badVariant(arr, row); bad != nil {
			row, column, err = i, c.field.Name, bad
		}
	}
	return row, column, err
}

// firstNull is the first null among n rows, n when there is none.
func firstNull(arr arrow.Array, n int) int {
	if arr.NullN() == 0 {
		return n
	}
	for i := range n {
		if arr.IsNull(i) {
			return i
		}
	}
	return n
}

func columnOf(batch arrow.RecordBatch, name string) arrow.Array {
	if at := batch.Schema().FieldIndices(name); len(at) > 0 {
		return batch.Column(at[0])
	}
	return nil
}

// badVariant finds the first of n rows whose bytes are no Variant.
func badVariant(arr arrow.Array, n int) (int, error) {
	r, err := newVariantRows(arr)
	if err != nil {
		return 0, err
	}
	for i := range n {
		if v := r.at(i); !v.IsMissing() {
			if _, err := variant.New(v.Metadata(), v.Bytes()); err != nil {
				return i, err
			}
		}
	}
	return n, nil
}

// putBatch writes rows that fit.
func (f *dataFile) putBatch(batch arrow.RecordBatch) error {
	rows := int(batch.NumRows())
	for _, c := range f.cols {
		arr := columnOf(batch, c.field.Name)
		var err error
		switch {
		case c.shred != nil:
			err = c.putVariants(arr, rows)
		case arr == nil:
			err = c.putMissing(rows)
		default:
			err = c.putArray(f, arr)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", c.field.Name, err)
		}
	}
	f.rows += rows
	return nil
}

// aligned reports that the batch has the columns that the open row group was
// filled from: a column's values are in one place, or all defaults.
func (f *dataFile) aligned(batch arrow.RecordBatch) bool {
	for _, c := range f.cols {
		if c.shred == nil && f.rows > 0 && c.striped != (columnOf(batch, c.field.Name) != nil) {
			return false
		}
	}
	return true
}

func (c *columnWriter) putMissing(rows int) error {
	for range rows {
		if err := c.json.missing(0); err != nil {
			return err
		}
	}
	return nil
}

func (c *columnWriter) putArray(f *dataFile, arr arrow.Array) error {
	if c.striper == nil {
		var err error
		if c.striper, err = pq.NewStriper(fieldNode(c.field)); err != nil {
			return err
		}
	}
	c.striped = true
	return c.striper.Append(arr)
}

func (c *columnWriter) putVariants(arr arrow.Array, rows int) error {
	var r *variantRows
	if arr != nil {
		var err error
		if r, err = newVariantRows(arr); err != nil {
			return err
		}
	}
	for i := range rows {
		var v variant.Value
		if r != nil {
			v = r.at(i)
		}
		if v.IsMissing() {
			c.nulls++
			if err := c.shred.WriteNull(); err != nil {
				return err
			}
			continue
		}
		if err := c.shred.WriteValue(v); err != nil {
			return err
		}
	}
	return nil
}

// variantRows reads the storage struct of a Variant column.
type variantRows struct {
	rows            arrow.Array
	metadata, value *array.Binary
}

func newVariantRows(arr arrow.Array) (*variantRows, error) {
	if e, ok := arr.(array.ExtensionArray); ok {
		arr = e.Storage()
	}
	s, ok := arr.(*array.Struct)
	if !ok || s.NumField() != 2 {
		return nil, invalidf("a Variant column is a struct of metadata and value, not %s", arr.DataType())
	}
	m, mOK := s.Field(0).(*array.Binary)
	v, vOK := s.Field(1).(*array.Binary)
	if !mOK || !vOK {
		return nil, invalidf("the parts of a Variant column are binary, not %s", arr.DataType())
	}
	return &variantRows{rows: s, metadata: m, value: v}, nil
}

// at gives row i without a copy; a null row is missing.
func (r *variantRows) at(i int) variant.Value {
	if r.rows.IsNull(i) {
		return variant.Value{}
	}
	return variant.Unchecked(r.metadata.Value(i), r.value.Value(i))
}

// sampleBatch feeds the Variants of a batch to the inference.
func (a *Appender) sampleBatch(inf *shred.Inferer, c *chunk, ordinal int) {
	arr := columnOf(c.batch, a.fields[ordinal].Name)
	if arr == nil {
		return
	}
	r, err := newVariantRows(arr)
	if err != nil {
		return
	}
	for i := range int(c.batch.NumRows()) {
		if inf.Full() {
			return
		}
		if v := r.at(i); !v.IsMissing() {
			_ = inf.AddValue(v)
		}
	}
}
