package iceberg

import (
	"context"
	"slices"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// removesFiles reports whether the delta takes away more than vectors that it
// replaces: data files, or position delete files.
func (d *delta) removesFiles() bool {
	return len(d.oldRows) > 0 || slices.ContainsFunc(d.oldMarks, func(f ice.DataFile) bool { return !table.IsDeletionVector(f) })
}

// stageReplace stages a delta that removes files.
func (k *committer) stageReplace(ctx context.Context, tx *table.Transaction, meta table.Metadata, d *delta, props ice.Properties) error {
	rows, err := numberRows(meta, d.rows)
	if err != nil {
		return err
	}
	if len(d.vectors) == 0 {
		return tx.ReplaceFiles(ctx, d.oldRows, rows, d.oldMarks, props)
	}
	additions := make([]table.DeleteFileAddition, len(d.vectors))
	for i, v := range d.vectors {
		additions[i] = table.DeleteFileAddition{File: v, DataSequenceNumber: d.vectorSeq}
	}
	return tx.ReplaceFilesWithDeleteFiles(ctx, d.oldRows, rows, d.oldMarks, additions, props)
}

// numberRows gives data files the row ids that the commit will assign to them:
// iceberg-go wants to see them when files are replaced. The commit is pinned to
// the metadata, so the numbers hold.
func numberRows(meta table.Metadata, files []ice.DataFile) ([]ice.DataFile, error) {
	next := meta.NextRowID()
	out := make([]ice.DataFile, len(files))
	for i, f := range files {
		spec := meta.PartitionSpecByID(int(f.SpecID()))
		if spec == nil {
			return nil, corruptf("no partition spec %d", f.SpecID())
		}
		b, err := ice.NewDataFileBuilder(*spec, f.ContentType(), f.FilePath(), f.FileFormat(), f.Partition(),
			partitionLogicalTypes(meta, spec), nil, f.Count(), f.FileSizeBytes())
		if err != nil {
			return nil, pathError(f.FilePath(), err)
		}
		b.ColumnSizes(f.ColumnSizes()).ValueCounts(f.ValueCounts()).NullValueCounts(f.NullValueCounts()).
			NaNValueCounts(f.NaNValueCounts()).LowerBoundValues(f.LowerBoundValues()).UpperBoundValues(f.UpperBoundValues()).
			SplitOffsets(f.SplitOffsets()).FirstRowID(next)
		if id := f.SortOrderID(); id != nil {
			b.SortOrderID(*id)
		}
		out[i] = b.Build()
		next += f.Count()
	}
	return out, nil
}

// convertPositions turns every position delete file of the table into vectors,
// when the change touches a data file that one applies to: a data file has its
// deletes in one place, and no position delete file stays behind that readers
// would have to match with vectors (Iceberg spec, "Deletion Vectors"). A data file that is newer than all the deletes
// stands in the way: iceberg-go gives new vectors the age of what they replace.
// Then the position delete files stay, and readers pass over them.
func (a *attempt) convertPositions(ctx context.Context, d *delta) error {
	if !slices.ContainsFunc(a.order, func(f *touchedFile) bool { return len(f.task.positions) > 0 }) {
		return nil
	}
	plan, err := a.plan(ctx, Expr{})
	if err != nil {
		return err
	}
	old, newest, err := a.positionFiles(plan.snapshot)
	if err != nil {
		return err
	}
	for _, f := range a.order {
		if f.task.seq > newest {
			return nil
		}
	}
	for i := range plan.tasks {
		if task := &plan.tasks[i]; len(task.positions) > 0 {
			a.remove(task, nil)
		}
	}
	d.vectorSeq = newest
	d.oldMarks = append(d.oldMarks, old...)
	return nil
}

// positionFiles lists the position delete files of a snapshot, and the sequence
// number of the newest.
func (a *attempt) positionFiles(s *table.Snapshot) ([]ice.DataFile, int64, error) {
	var out []ice.DataFile
	newest := int64(0)
	for entry, err := range deleteEntries(a.fs, s) {
		if err != nil {
			return nil, 0, err
		}
		f := entry.DataFile()
		if f.ContentType() == ice.EntryContentPosDeletes && !table.IsDeletionVector(f) {
			out = append(out, f)
			newest = max(newest, entry.SequenceNum())
		}
	}
	return out, newest, nil
}
