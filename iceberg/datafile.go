package iceberg

import (
	"bufio"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
)

// dataFile is one Parquet file that is being written. It belongs to the worker
// that serves its partition; the encoding of a row group runs beside it.
//
//	rows -> sample -> (infer) -> columns -> row group -> encode -> file
type dataFile struct {
	a    *Appender
	p    *part
	path string

	sample     []*chunk // rows that wait for the inference
	sampleRows int

	cols   []*columnWriter // nil while sampling
	root   *leaf.Node
	rows   int  // in the open row group
	batch  bool // the open row group holds Arrow rows
	last   bool // the file has its target size and takes no more rows
	spare  *rowGroup
	flight *job // the encoding of the previous row group

	// Of the goroutine that encodes.
	out     iceio.FileWriter
	buf     *bufio.Writer
	pq      *pq.Writer
	written int64 // bytes of row groups
	encErr  error

	err error // of the worker; takes encErr over when a row group has landed
}

// columnWriter fills one top-level column of a file.
type columnWriter struct {
	field    ice.NestedField
	ordinal  int           // among the columns of the table
	json     *jsonColumn   // an ordinary column
	repeated bool          // json has lists or maps
	marks    []int         // json's slots at the start of a row, when repeated
	striper  *pq.Striper   // the same column from Arrow arrays
	striped  bool          // this row group's values are in striper
	shred    *shred.Writer // a Variant column
	schema   *shred.Schema
	nulls    int64 // Variant: SQL NULLs in the file
}

// rowGroup is a set of full buffers, in the order of the leaves.
type rowGroup struct {
	parts [][]*leaf.Buffer // by column
	bufs  []*leaf.Buffer   // all of them
	rows  int
	bytes int64
}

const fileBuffer = 256 << 10

func (a *Appender) newDataFile(p *part) *dataFile {
	f := &dataFile{a: a, p: p}
	if !a.needsSample() {
		f.err = f.open(nil)
	}
	return f
}

// open fixes the layout of the file. schemas are those of the Variant columns
// in the order of the table; nil stores them unshredded.
func (f *dataFile) open(schemas []*shred.Schema) error {
	shredded := map[int]*shred.Schema{}
	for i, field := range f.a.fields {
		c := &columnWriter{field: field, ordinal: i}
		switch field.Type.(type) {
		case ice.UnknownType:
			continue
		case ice.VariantType:
			c.schema = &shred.Schema{}
			if schemas != nil {
				c.schema, schemas = schemas[0], schemas[1:]
			}
			shredded[field.ID] = c.schema
			c.shred = shred.NewWriter(c.schema, shred.WriterOptions{Name: field.Name, FieldID: field.ID, Optional: !field.Required, Parse: f.a.parse})
		default:
			var err error
			if c.json, err = newJSONColumn(field, f.a.parse); err != nil {
				return err
			}
			for _, b := range c.json.leaves {
				c.repeated = c.repeated || b.MaxRep > 0
			}
		}
		f.cols = append(f.cols, c)
	}
	f.root = rootNode(f.a.fields, shredded)
	if len(f.cols) == 0 {
		return unsupportedf("a table without a column that can be stored")
	}
	return nil
}

// infer looks at the sampled rows, fixes the layout, and writes them.
func (f *dataFile) infer() {
	var schemas []*shred.Schema
	for i, field := range f.a.fields {
		if !isVariant(field.Type) {
			continue
		}
		inf := shred.NewInferer(shred.InferOptions{MaxRows: f.a.opts.SampleRows, Parse: f.a.parse})
		for _, c := range f.sample {
			f.a.sampleColumn(inf, c, i)
		}
		s := inf.Schema()
		if s == nil {
			s = &shred.Schema{}
		}
		schemas = append(schemas, s)
	}
	sample := f.sample
	f.sample, f.sampleRows = nil, 0
	f.err = f.open(schemas)
	for _, c := range sample {
		f.add(c)
	}
}

// sampleColumn feeds the values of one column to the inference. Bad values are
// met again, and reported, when the rows are written.
func (a *Appender) sampleColumn(inf *shred.Inferer, c *chunk, ordinal int) {
	if c.batch != nil {
		a.sampleBatch(inf, c, ordinal)
		return
	}
	width := len(a.fields)
	for i, r := range c.rows {
		if inf.Full() {
			return
		}
		row := c.data[r.start:r.end]
		if !a.whole {
			at := c.spans[i*width+ordinal]
			if at.end == 0 {
				continue
			}
			row = row[at.start:at.end]
		}
		_ = inf.AddJSON(row)
	}
}

// add takes a chunk over and writes its rows, now or after the inference.
func (f *dataFile) add(c *chunk) {
	if f.err != nil {
		f.a.recycle(c)
		return
	}
	if f.cols == nil {
		f.sample = append(f.sample, c)
		f.sampleRows += c.count()
		if f.sampleRows >= f.a.opts.SampleRows {
			f.infer()
		}
		return
	}
	defer f.a.recycle(c)
	if isBatch := c.batch != nil; isBatch != f.batch || isBatch && !f.aligned(c.batch) {
		f.endGroup()
		f.batch = isBatch
	}
	if c.batch != nil {
		f.addBatch(c)
	} else {
		for i := range c.rows {
			f.addJSON(c, i)
		}
	}
	f.measure()
}

// addJSON writes row i of a chunk, or rejects it and leaves no trace.
func (f *dataFile) addJSON(c *chunk, i int) {
	r := c.rows[i]
	row := c.data[r.start:r.end]
	var spans []span
	if !f.a.whole {
		n := len(f.a.fields)
		spans = c.spans[i*n : (i+1)*n]
	}
	column, err := f.putRow(row, spans)
	if err == nil {
		f.rows++
		return
	}
	f.a.reject(r.line, row, &RowError{Line: r.line, Column: column, Err: err})
}

// putRow writes one row and names the column that failed. The Variant columns
// come last and their writers undo themselves; the others are undone here.
func (f *dataFile) putRow(row []byte, spans []span) (column string, err error) {
	for n, c := range f.cols {
		if c.json == nil {
			continue
		}
		if c.repeated {
			c.marks = c.json.mark(c.marks)
		}
		if at := spans[c.ordinal]; at.end == 0 {
			err = c.json.missing(0)
		} else {
			err = c.json.json(0, row[at.start:at.end])
		}
		if err != nil {
			f.undo(n + 1)
			return c.field.Name, err
		}
	}
	if column, err = f.putVariants(row, spans); err != nil {
		f.undo(len(f.cols))
	}
	return column, err
}

func (f *dataFile) putVariants(row []byte, spans []span) (column string, err error) {
	if f.a.variants > 1 {
		if column, err := f.checkVariants(row, spans); err != nil {
			return column, err
		}
	}
	for _, c := range f.cols {
		if c.shred == nil {
			continue
		}
		text := row
		if spans != nil {
			at := spans[c.ordinal]
			text = row[at.start:at.end]
		}
		switch {
		case len(text) > 0:
			err = c.shred.WriteJSON(text)
		case c.field.Required:
			err = errMissing
		default:
			c.nulls++
			err = c.shred.WriteNull()
		}
		if err != nil {
			return c.field.Name, err
		}
	}
	return "", nil
}

// checkVariants makes sure that no Variant of the row fails: it would be undone in
// the last one only.
func (f *dataFile) checkVariants(row []byte, spans []span) (column string, err error) {
	for _, c := range f.cols {
		if c.shred == nil || spans[c.ordinal].end == 0 {
			continue
		}
		at := spans[c.ordinal]
		if err := f.a.check.Parse(row[at.start:at.end]); err != nil {
			return c.field.Name, err
		}
	}
	return "", nil
}

// undo takes the unfinished row out of the first n columns.
func (f *dataFile) undo(n int) {
	for _, c := range f.cols[:n] {
		switch {
		case c.json == nil:
		case c.repeated:
			c.json.undo(c.marks)
		default:
			for _, b := range c.json.leaves {
				truncate(b, f.rows)
			}
		}
	}
}

// measure updates the account of buffered bytes and ends a full row group.
func (f *dataFile) measure() {
	size := f.size()
	f.a.account(f.p, size-f.p.buffered.Load())
	if size >= f.a.opts.RowGroupBytes {
		f.endGroup()
	}
}

// size estimates the bytes in the open row group's buffers.
func (f *dataFile) size() int64 {
	var n int64
	for _, c := range f.cols {
		if c.shred != nil {
			n += int64(c.shred.Size())
			continue
		}
		for _, b := range c.buffers() {
			n += bufferSize(b)
		}
	}
	return n
}

func bufferSize(b *leaf.Buffer) int64 {
	return int64(len(b.Bools)+4*len(b.Int32s)+8*len(b.Int64s)+4*len(b.Floats)+8*len(b.Doubles)+
		4*len(b.Offsets)+len(b.Data)) + int64(8*(len(b.Def.Runs)+len(b.Rep.Runs)))
}

// buffers are the leaves of an ordinary column that hold the open row group's
// values.
func (c *columnWriter) buffers() []*leaf.Buffer {
	if c.striped {
		return c.striper.Buffers()
	}
	return c.json.leaves
}

// reset empties the buffers of an ordinary column.
func (c *columnWriter) reset() {
	if c.striper != nil {
		c.striper.Reset()
	}
	for _, b := range c.json.leaves {
		b.Reset()
	}
	c.striped = false
}

// endGroup hands the open row group to the encoder and goes on with empty
// buffers. At most one row group of a file is being encoded.
func (f *dataFile) endGroup() {
	if f.rows == 0 || f.err != nil {
		return
	}
	f.landed()
	f.last = f.written >= f.a.opts.TargetFileBytes
	g := f.spare
	f.spare = nil
	if g == nil {
		g = &rowGroup{}
	}
	f.swap(g)
	f.rows = 0
	f.flight = f.a.pool.start(func() { f.encode(g) })
}

// swap moves the contents of the live buffers into g, whose old memory the
// live buffers get. Levels of Variant leaves are lent by their writer until the
// next swap, which waits for this one's encoding.
func (f *dataFile) swap(g *rowGroup) {
	if g.parts == nil {
		g.parts = make([][]*leaf.Buffer, len(f.cols))
	}
	g.bufs = g.bufs[:0]
	for i, c := range f.cols {
		if c.shred != nil {
			g.parts[i] = c.shred.Swap(g.parts[i])
		} else {
			g.parts[i] = swapBuffers(c.buffers(), g.parts[i])
			c.reset()
		}
		g.bufs = append(g.bufs, g.parts[i]...)
	}
	g.rows, g.bytes = f.rows, f.p.buffered.Load()
	f.p.buffered.Store(0)
}

func swapBuffers(live, spare []*leaf.Buffer) []*leaf.Buffer {
	for i, b := range live {
		if i == len(spare) {
			spare = append(spare, &leaf.Buffer{})
		}
		spare[i].Info, spare[i].Indexed = b.Info, b.Indexed
		*spare[i], *b = *b, *spare[i]
	}
	return spare
}

// landed waits for the row group in flight.
func (f *dataFile) landed() {
	if f.flight != nil {
		f.flight.finish()
		f.flight = nil
	}
	if f.err == nil {
		f.err = f.encErr
	}
}

// encode writes a row group; it runs beside the worker.
func (f *dataFile) encode(g *rowGroup) {
	var err error
	if f.encErr == nil && !f.a.failed.Load() {
		err = f.write(g)
	}
	f.a.pool.buffered.Add(-g.bytes)
	f.a.pool.changed()
	for _, b := range g.bufs {
		b.Reset()
	}
	if err != nil {
		f.encErr = err
		f.a.ioError(err)
	}
	f.spare = g
}

func (f *dataFile) write(g *rowGroup) error {
	if err := f.a.ctx.Err(); err != nil {
		return err
	}
	if f.pq == nil {
		if err := f.create(); err != nil {
			return pathError(f.path, err)
		}
	}
	if err := f.pq.WriteRowGroup(g.bufs, g.rows); err != nil {
		return pathError(f.path, err)
	}
	f.written = f.pq.Size()
	return nil
}

func (f *dataFile) create() (err error) {
	if f.path, err = f.a.newPath(f.p); err != nil {
		return err
	}
	f.p.seq++
	if f.out, err = f.a.fs.Create(f.path); err != nil {
		return err
	}
	f.buf = bufio.NewWriterSize(f.out, fileBuffer)
	f.pq, err = pq.NewWriter(f.buf, f.root, f.a.pqOptions)
	return err
}
