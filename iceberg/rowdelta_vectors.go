package iceberg

import (
	"context"
	"slices"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"

	"github.com/frazil/frazil/deletevec"
)

// writeVectors writes one Puffin file with a vector for each touched file, which
// holds what was deleted before as well, and removes the vectors that they
// replace.
func (a *attempt) writeVectors(ctx context.Context, d *delta) error {
	locations, err := a.t.Unwrap().LocationProvider()
	if err != nil {
		return err
	}
	a.puffin = locations.NewDataLocation(uuid.NewString() + "-deletes.puffin")
	out, err := a.fs.Create(a.puffin)
	if err != nil {
		return pathError(a.puffin, err)
	}
	blobs, size, err := a.writePuffin(ctx, out)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return pathError(a.puffin, err)
	}
	for i, f := range a.order {
		entry, err := a.vectorEntry(f.task, blobs[i], size)
		if err != nil {
			return err
		}
		d.vectors = append(d.vectors, entry)
		if f.task.vector != nil {
			d.oldMarks = append(d.oldMarks, f.task.vector)
		}
	}
	a.changes.Vectors = d.vectors
	return a.checkVectors(d)
}

func (a *attempt) writePuffin(ctx context.Context, out iceio.FileWriter) ([]deletevec.Blob, int64, error) {
	w := deletevec.NewWriter(out, deletevec.WriterOptions{})
	blobs := make([]deletevec.Blob, len(a.order))
	for i, f := range a.order {
		if err := context.Cause(ctx); err != nil {
			return nil, 0, err
		}
		v, err := f.union()
		if err != nil {
			return nil, 0, err
		}
		if blobs[i], err = w.Add(f.task.file.FilePath(), v); err != nil {
			return nil, 0, err
		}
	}
	size, err := w.Close()
	return blobs, size, err
}

// union is the vector of the file after the change.
func (f *touchedFile) union() (*deletevec.Vector, error) {
	v := &deletevec.Vector{}
	if f.all {
		return v, v.AddRange(0, f.task.file.Count())
	}
	if err := v.AddMany(f.gone); err != nil {
		return nil, err
	}
	if f.old != nil {
		v.Union(f.old)
	}
	return v, nil
}

// vectorEntry describes a vector for the manifest; its partition is that of the
// data file (Iceberg spec, "Deletion Vectors").
func (a *attempt) vectorEntry(task *fileTask, blob deletevec.Blob, size int64) (ice.DataFile, error) {
	spec := a.t.Metadata().PartitionSpecByID(int(task.file.SpecID()))
	if spec == nil {
		return nil, corruptf("no partition spec %d, which %s names", task.file.SpecID(), task.file.FilePath())
	}
	b, err := ice.NewDataFileBuilder(*spec, ice.EntryContentPosDeletes, a.puffin, ice.PuffinFile,
		task.file.Partition(), partitionLogicalTypes(a.t.Metadata(), spec), nil, blob.Cardinality, size)
	if err != nil {
		return nil, pathError(a.puffin, err)
	}
	return b.ReferencedDataFile(task.file.FilePath()).ContentOffset(blob.Offset).ContentSizeInBytes(blob.Length).Build(), nil
}

// partitionLogicalTypes gives the Avro types of a spec's values. The source of
// a field may be a column that only an older schema has.
func partitionLogicalTypes(meta table.Metadata, spec *ice.PartitionSpec) map[int]string {
	out := map[int]string{}
	for _, f := range spec.Fields() {
		for _, s := range slices.Backward(meta.Schemas()) {
			source, ok := s.FindFieldByID(f.SourceID())
			if !ok {
				continue
			}
			if name := avroLogicalType(f.Transform.ResultType(source.Type)); name != "" {
				out[f.FieldID] = name
			}
			break
		}
	}
	return out
}

// checkVectors guards what every table relies on: at most one vector for each
// data file after the commit.
func (a *attempt) checkVectors(d *delta) error {
	return checkOneVector(d.vectors, d.oldMarks, func(path string) ice.DataFile {
		if f := a.touched[path]; f != nil {
			return f.task.vector
		}
		return nil
	})
}

// checkOneVector fails when a data file would get two of the added vectors, or
// keep its live one beside an added one.
func checkOneVector(added, removed []ice.DataFile, live func(path string) ice.DataFile) error {
	seen := map[string]bool{}
	for _, v := range added {
		ref := v.ReferencedDataFile()
		if ref == nil {
			return invalidf("a deletion vector that names no data file")
		}
		if seen[*ref] {
			return invalidf("two deletion vectors for %s", *ref)
		}
		seen[*ref] = true
		old := live(*ref)
		if old == nil {
			continue
		}
		if !slices.ContainsFunc(removed, func(f ice.DataFile) bool {
			r := f.ReferencedDataFile()
			return f.FilePath() == old.FilePath() && r != nil && *r == *ref
		}) {
			return invalidf("the deletion vector of %s is not replaced", *ref)
		}
	}
	return nil
}

// avroLogicalType names the annotation of a partition value in a manifest.
func avroLogicalType(t ice.Type) string {
	switch t.(type) {
	case ice.DateType:
		return "date"
	case ice.TimeType:
		return "time-micros"
	case ice.TimestampType, ice.TimestampTzType:
		return "timestamp-micros"
	case ice.TimestampNsType, ice.TimestampTzNsType:
		return "timestamp-nanos"
	case ice.DecimalType:
		return "decimal"
	case ice.UUIDType:
		return "uuid"
	}
	return ""
}
