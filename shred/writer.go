package shred

import (
	"errors"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/variant"
)

// WriterOptions are the options of a Writer; the zero value is the default.
type WriterOptions struct {
	// Name is the column's name, of which the group and the paths of its
	// leaves are made. Default: "variant".
	Name string
	// FieldID is Iceberg's id of the column, 0 for none.
	FieldID int
	// Optional allows WriteNull: the column may be SQL NULL.
	Optional bool
	// Temporal puts texts of dates and timestamps into leaves of these types,
	// from which they come back as dates and timestamps. Default: they are
	// strings, and go to the residual there.
	Temporal bool
	// Parse are the options of WriteJSON.
	Parse variant.ParseOptions
}

// Writer shreds rows into leaf buffers. JSON text and the events of a value go
// straight to the leaves; only what the schema does not cover is built as Variant
// bytes, with the ids of the row's own dictionary. A row that fails leaves no
// trace. Once the keys of the rows are known, a row costs no allocation but the
// growth of the buffers. A Writer is for one goroutine.
//
// The buffers grow until Reset. Memory is theirs, plus the dictionaries of the
// sets of keys that were met, which are bounded.
type Writer struct {
	opts    WriterOptions
	group   *leaf.Node
	err     error // of the schema
	parser  *variant.Parser
	builder *variant.Builder
	file    *file
	buffers []leaf.Buffer
	list    []*leaf.Buffer
	root    *node
	keys    *keyTable
	rows    int
	present track // rows that are not SQL NULL
	top     levels
	full    leaf.Levels
	bounds  boundsKeeper
	sized   int // rows at the last measurement of size
	size    int
	added   int // bytes of input since then

	sink rowSink
}

// NewWriter returns a Writer for a schema. A schema that is not valid makes all
// writes fail with an error that Is ErrSchema.
func NewWriter(s *Schema, o WriterOptions) *Writer {
	if o.Name == "" {
		o.Name = "variant"
	}
	w := &Writer{opts: o, parser: variant.NewParser(o.Parse), builder: variant.NewBuilder(), keys: newKeyTable()}
	if w.err = s.validate(0); w.err != nil {
		s = &Schema{}
	}
	w.group = s.Group(o.Name, o.Optional, o.FieldID)
	var err error
	if w.file, err = newFile(w.group, Context{}); err != nil {
		panic("BUG: shred: own group: " + err.Error())
	}
	parent := leaf.Node{Children: []*leaf.Node{w.group}}
	for _, info := range parent.Leaves() {
		w.buffers = append(w.buffers, leaf.Buffer{Info: info})
	}
	w.buffers[w.file.meta].Indexed = true
	for i := range w.buffers {
		w.list = append(w.list, &w.buffers[i])
	}
	w.root = newNode(&w.file.layout, w)
	w.sink.init(w)
	return w
}

// Group returns the Parquet group that the buffers fill, for the schema of the
// file.
func (w *Writer) Group() *leaf.Node { return w.group }

// Schema returns the shredding schema.
func (w *Writer) Schema() *Schema { return w.file.schema() }

// Rows returns the number of rows since the last Reset.
func (w *Writer) Rows() int { return w.rows }

// WriteJSON adds a row from one JSON text. An error of the text is that of
// [variant.Parser].
func (w *Writer) WriteJSON(text []byte) error {
	if err := w.begin(len(text), true); err != nil {
		return err
	}
	if err := w.parser.Parse(text, &w.sink); err != nil {
		return w.fail(err)
	}
	return w.end()
}

// WriteValue adds a row. Corrupt bytes are an error that Is variant.ErrCorrupt; a
// missing value is SQL NULL.
func (w *Writer) WriteValue(v variant.Value) error {
	if v.IsMissing() {
		return w.WriteNull()
	}
	if err := w.begin(len(v.Bytes()), false); err != nil {
		return err
	}
	if err := v.Emit(&w.sink); err != nil {
		return w.fail(err)
	}
	return w.end()
}

// Write adds a row from the events that emit passes to the sink.
func (w *Writer) Write(emit func(sink variant.Sink) error) error {
	if err := w.begin(0, false); err != nil {
		return err
	}
	if err := emit(&w.sink); err != nil {
		return w.fail(err)
	}
	return w.end()
}

// errNotOptional is the misuse of WriteNull.
var errNotOptional = errors.New("shred: SQL NULL in a required column")

// WriteNull adds a row that is SQL NULL.
func (w *Writer) WriteNull() error {
	switch {
	case w.err != nil:
		return w.err
	case !w.opts.Optional:
		return errNotOptional
	}
	w.rows++
	return nil
}

// maxBytes bounds the bytes of all buffers together; a row adds no more than
// its text has, or its tape.
const maxBytes = 3 << 30

// begin starts a row of about n bytes. stable says that the producer's names stay
// as they are at their addresses: the parser interns them, while Emit points into
// its input, which others may overwrite.
func (w *Writer) begin(n int, stable bool) error {
	if w.err != nil {
		return w.err
	}
	if w.added += n; w.size+w.added > maxBytes {
		w.sized = -sizeEvery
		if w.Size()+n > maxBytes {
			return ErrFull
		}
	}
	if w.rows >= maxSlots {
		return ErrFull
	}
	if len(w.keys.keys) > w.keys.limit {
		w.forget()
	}
	w.keys.begin()
	w.sink.begin(stable)
	return nil
}

// end closes the row: it takes the row's dictionary and encodes what waits on
// the tape.
func (w *Writer) end() error {
	if err := w.sink.finish(); err != nil {
		return w.fail(err)
	}
	s, err := w.keys.current()
	if err != nil {
		return w.fail(err)
	}
	if err := w.sink.flush(s.meta); err != nil {
		return w.fail(err)
	}
	s.appendTo(&w.buffers[w.file.meta], w.keys.epoch)
	w.present.mark(uint32(w.rows))
	w.rows++
	return nil
}

// fail removes what the row has left in the tracks and buffers.
func (w *Writer) fail(err error) error {
	w.root.truncate(w.present.n)
	return err
}

// forget starts the interned keys afresh.
func (w *Writer) forget() {
	w.root.forget()
	w.sink.forget()
	clear(w.keys.keys)
	clear(w.keys.shapes)
	w.keys.count, w.keys.last = 0, nil
	w.root.remember(w.keys)
}

// remember interns the keys of the schema.
func (n *node) remember(t *keyTable) {
	for _, e := range n.keys.all {
		t.keys[e.key.name] = e.key
	}
	for _, f := range n.fields {
		f.remember(t)
	}
	if n.elem != nil {
		n.elem.remember(t)
	}
}

// Buffers completes and returns the buffers of the rows since the last Reset, in
// the order of Group().Leaves(). They are the Writer's, valid until its next call
// other than Size and Rows. Leaves with the same levels share their runs, and the
// metadata brings its dictionary.
func (w *Writer) Buffers() []*leaf.Buffer {
	base := w.file.base
	w.top.def.Reset()
	if w.opts.Optional {
		rows := leaf.Levels{}
		rows.Append(base-1, w.rows)
		w.present.compose(&w.top.def, &rows, base-1)
	} else {
		w.top.def.Append(base, w.rows)
	}
	meta := &w.buffers[w.file.meta]
	meta.Slots = w.rows
	if meta.MaxDef > 0 {
		meta.Def.Share(&w.top.def)
	}
	w.full = raise(w.full, &w.top.def, base)
	w.root.finish(&slotLevels{levels: w.top, present: base, count: w.present.n, full: w.full}, w.buffers)
	return w.list
}

// Reset empties the buffers for the next row group. Bounds go on.
func (w *Writer) Reset() {
	w.bounds.add(w.root)
	for i := range w.buffers {
		b := &w.buffers[i]
		b.Def, b.Rep = leaf.Levels{}, leaf.Levels{}
		b.Reset()
	}
	w.root.reset()
	w.present.reset()
	w.rows, w.sized, w.size, w.added = 0, 0, 0, 0
	w.keys.epoch++
}

// sizeEvery is the number of rows between two measurements of the size.
const sizeEvery = 64

// Size estimates the bytes that the buffers hold, before encoding and
// compression. It may lag up to 64 rows behind.
func (w *Writer) Size() int {
	if w.rows-w.sized >= sizeEvery || w.size == 0 {
		w.sized = w.rows
		w.size, w.added = 0, 0
		for i := range w.buffers {
			b := &w.buffers[i]
			w.size += len(b.Bools) + 4*len(b.Int32s) + 8*len(b.Int64s) + 4*len(b.Floats) +
				8*len(b.Doubles) + len(b.Data) + 4*len(b.Index)
		}
	}
	return w.size
}
