package iceberg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
)

// Limits on the rows of an Avro file that wait in memory, and on its blocks.
const (
	avroGroupRows  = 16 << 10
	avroGroupBytes = 32 << 20
	avroBlockBytes = 256 << 20
)

// spooledFile is an Avro data file rewritten as a temporary Parquet file, which
// Close removes. Avro keeps rows together and has no statistics, so nothing is
// lost by reading all of it once; and what is done with the rows afterwards, from
// defaults to deletes to paths into Variants, has one implementation. Rows keep
// their positions.
type spooledFile struct {
	*os.File
	size int64
}

// Close removes the file.
func (f *spooledFile) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }

// spoolAvro rewrites an Avro file. Bytes that are no Avro file of the form that
// Iceberg describes are an error.
func spoolAvro(ctx context.Context, in io.Reader) (_ *spooledFile, err error) {
	f, err := os.CreateTemp("", "frazil-*.parquet")
	if err != nil {
		return nil, err
	}
	out := &spooledFile{File: f}
	defer func() {
		if r := recover(); r != nil { // of the library, on foreign bytes
			err = corruptf("avro: %v", r)
		}
		if err != nil {
			err = errors.Join(err, out.Close())
		}
	}()
	r, err := ocf.NewReader(in, ocf.WithSchemaOpts(storedForms()...),
		ocf.WithMaxBlockBytes(avroBlockBytes), ocf.WithMaxDecompressedBlockBytes(avroBlockBytes))
	if err != nil {
		return nil, avroError(err)
	}
	defer r.Close()
	s, err := newSpooler(out, r.Schema())
	if err != nil {
		return nil, err
	}
	defer s.release()
	if err := s.copyRows(ctx, r); err != nil {
		return nil, err
	}
	meta, err := s.out.Close()
	if err != nil {
		return nil, err
	}
	out.size = meta.Size
	return out, nil
}

// storedForms makes the library hand over annotated values as they are stored.
func storedForms() []avro.SchemaOpt {
	var out []avro.SchemaOpt
	for _, name := range []string{
		"date", "time-millis", "time-micros", "timestamp-millis", "timestamp-micros", "timestamp-nanos",
		"local-timestamp-millis", "local-timestamp-micros", "local-timestamp-nanos", "decimal", "uuid", "duration",
	} {
		out = append(out, avro.CustomType{LogicalType: name})
	}
	return out
}

// avroError says that a file is corrupt, unless it could not be read.
func avroError(err error) error {
	if err == nil || contextError(err) != nil {
		return err
	}
	return fmt.Errorf("%w: avro: %w", ErrCorrupt, err)
}

// spooler writes the rows of an Avro file to Parquet.
type spooler struct {
	columns []avroColumn
	out     *pq.Writer
	rows    int
}

// avroColumn is one column: its rows go to an Arrow builder, and from there to
// leaves.
type avroColumn struct {
	name    string
	builder array.Builder
	put     avroPut
	stripes *pq.Striper
}

func newSpooler(out io.Writer, schema *avro.Schema) (_ *spooler, err error) {
	fields, err := (&avroTypes{}).record(schema.Root())
	if err != nil {
		return nil, err
	}
	node := rootNode(fields, nil)
	s := &spooler{}
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	for _, f := range fields {
		i := slices.IndexFunc(node.Children, func(n *leaf.Node) bool { return n.Name == f.Name })
		if i < 0 {
			continue // of type unknown
		}
		c := avroColumn{name: f.Name, builder: array.NewBuilder(memory.DefaultAllocator, arrowType(f.Type))}
		s.columns = append(s.columns, c)
		last := &s.columns[len(s.columns)-1]
		if last.put, err = avroPutter(f.Type, c.builder); err != nil {
			return nil, err
		}
		if last.stripes, err = pq.NewStriper(node.Children[i]); err != nil {
			return nil, err
		}
	}
	s.out, err = pq.NewWriter(out, node, pq.WriterOptions{})
	return s, err
}

func (s *spooler) release() {
	for i := range s.columns {
		s.columns[i].builder.Release()
	}
}

func (s *spooler) copyRows(ctx context.Context, r *ocf.Reader) error {
	bytes := 0
	for {
		var row any
		err := r.Decode(&row)
		if errors.Is(err, io.EOF) {
			return s.flush()
		}
		if err != nil {
			return avroError(err)
		}
		fields, ok := row.(map[string]any)
		if !ok {
			return corruptf("avro: a row that is no record")
		}
		for i := range s.columns {
			c := &s.columns[i]
			n, err := c.put(fields[c.name])
			if err != nil {
				return fmt.Errorf("column %q: %w", c.name, err)
			}
			bytes += n
		}
		if s.rows++; s.rows == avroGroupRows || bytes >= avroGroupBytes {
			if err := s.flush(); err != nil {
				return err
			}
			bytes = 0
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
	}
}

// flush writes the rows that wait as one row group.
func (s *spooler) flush() error {
	if s.rows == 0 {
		return nil
	}
	var leaves []*leaf.Buffer
	for i := range s.columns {
		c := &s.columns[i]
		arr := c.builder.NewArray()
		c.stripes.Reset()
		err := c.stripes.Append(arr)
		arr.Release()
		if err != nil {
			return fmt.Errorf("column %q: %w", c.name, err)
		}
		leaves = append(leaves, c.stripes.Buffers()...)
	}
	rows := s.rows
	s.rows = 0
	return s.out.WriteRowGroup(leaves, rows)
}
