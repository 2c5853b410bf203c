package iceberg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

// version names what to read of a table: at most one field is set; the zero
// version is the head of the main branch.
type version struct {
	snapshotID int64
	ref        string
	asOf       time.Time
	after      int64 // only what was appended after this snapshot; 0 for everything
}

// fileTask is one data file to read and what has been deleted of it.
type fileTask struct {
	file       ice.DataFile
	seq        int64  // data sequence number; -1 when unknown
	firstRowID *int64 // nil: the rows have no ids of their own (Iceberg spec, "Row Lineage")
	vector     ice.DataFile
	positions  []ice.DataFile // position delete files; empty when there is a vector
	equality   []ice.DataFile
}

// plannedScan is the outcome of planning.
type plannedScan struct {
	snapshot *table.Snapshot // nil: the table is empty
	schema   *ice.Schema
	tasks    []fileTask // by sequence number, then in manifest order
	filter   *filter    // nil: every row
}

// plan finds the data files that may hold rows for which where is true. The
// order is the one in which rows are read: data files by sequence number, then
// manifest order.
func (t *Table) plan(ctx context.Context, v version, where Expr, workers int) (*plannedScan, error) {
	tbl := t.Unwrap()
	scan, err := v.scan(tbl)
	if err != nil {
		return nil, err
	}
	out := &plannedScan{snapshot: scan.Snapshot()}
	if out.schema, err = scan.Projection(); err != nil {
		return nil, fmt.Errorf("iceberg: plan: %w", err)
	}
	if out.filter, err = where.bind(out.schema); err != nil || out.snapshot == nil {
		return out, err
	}
	files, err := tbl.FS(ctx)
	if err != nil {
		return nil, fmt.Errorf("iceberg: plan: %w", err)
	}
	open, err := t.vectors.check(ctx, files, out.snapshot)
	if err != nil {
		return nil, planError(err)
	}
	rows := out.filter.planning(out.schema, tbl.Metadata().Schemas(), sourcesOf(open, tbl.Metadata().PartitionSpecs()))
	if v.after != 0 {
		return out, t.planAppends(ctx, v, out, rows, workers)
	}
	// The filter goes in with a second scan: it has to be bound to the schema of
	// the version first.
	scan, err = v.scan(tbl, table.WithRowFilter(rows), table.WithMaxConcurrency(workers))
	if err != nil {
		return nil, err
	}
	planned, err := scan.PlanFiles(ctx)
	if err != nil {
		return nil, planError(err)
	}
	vectors, err := t.vectors.live(files, out.snapshot)
	if err != nil {
		return nil, err
	}
	if err := out.addTasks(planned, vectors); err != nil {
		return nil, err
	}
	return out, nil
}

// planAppends plans the files that append snapshots have added.
func (t *Table) planAppends(ctx context.Context, v version, out *plannedScan, rows ice.BooleanExpression, workers int) error {
	tbl := t.Unwrap()
	switch {
	case tbl.Metadata().SnapshotByID(v.after) == nil:
		return invalidf("scan: no snapshot %d", v.after)
	case v.after == out.snapshot.SnapshotID:
		return nil
	}
	planned, err := tbl.NewIncrementalAppendScan(table.WithRowFilter(rows), table.WithMaxConcurrency(workers)).
		FromSnapshotExclusive(v.after).ToSnapshot(out.snapshot.SnapshotID).PlanFiles(ctx)
	if err != nil {
		if contextError(err) == nil {
			err = fmt.Errorf("%w: scan after snapshot %d: %w", ErrInvalid, v.after, err)
		}
		return err
	}
	return out.addTasks(planned, nil)
}

// addTasks takes over what iceberg-go has planned.
func (out *plannedScan) addTasks(planned []table.FileScanTask, vectors map[string]ice.DataFile) error {
	for i := range planned {
		// A large file comes as several ranges. Ranges are no concern here:
		// rows are divided by row group.
		if i > 0 && planned[i].File.FilePath() == planned[i-1].File.FilePath() {
			continue
		}
		f := planned[i].File
		if out.filter != nil && len(out.filter.extracts) > 0 &&
			!out.filter.mayMatchFile(out.filter.root, out.schema, f.LowerBoundValues(), f.UpperBoundValues()) {
			continue
		}
		task, err := newFileTask(&planned[i], vectors)
		if err != nil {
			return err
		}
		out.tasks = append(out.tasks, task)
	}
	slices.SortStableFunc(out.tasks, func(a, b fileTask) int { return cmp.Compare(a.seq, b.seq) })
	return nil
}

// scan makes iceberg-go's scan of the version.
func (v version) scan(tbl *table.Table, opts ...table.ScanOption) (*table.Scan, error) {
	switch {
	case v.snapshotID != 0 && (v.ref != "" || !v.asOf.IsZero()), v.ref != "" && !v.asOf.IsZero():
		return nil, invalidf("scan: give one of snapshot, ref and time")
	case v.snapshotID != 0:
		if tbl.Metadata().SnapshotByID(v.snapshotID) == nil {
			return nil, invalidf("scan: no snapshot %d", v.snapshotID)
		}
		opts = append(opts, table.WithSnapshotID(v.snapshotID))
	case !v.asOf.IsZero():
		opts = append(opts, table.WithSnapshotAsOf(v.asOf.UnixMilli()))
	}
	scan := tbl.Scan(opts...)
	if v.ref != "" {
		if v.ref == table.MainBranch {
			return scan, nil
		}
		var err error
		if scan, err = scan.UseRef(v.ref); err != nil {
			return nil, invalidf("scan: no branch or tag %q", v.ref)
		}
	}
	if _, err := scan.ResolveSnapshot(); err != nil {
		return nil, invalidf("scan: %v", err)
	}
	return scan, nil
}

func planError(err error) error {
	if ctxErr := contextError(err); ctxErr != nil {
		return ctxErr
	}
	var path *fs.PathError
	if errors.As(err, &path) || errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("iceberg: plan: %w", err)
	}
	return fmt.Errorf("%w: plan: %w", ErrCorrupt, err)
}

// newFileTask takes over a planned file and its deletes. A vector wins over
// position delete files: it holds their positions (Iceberg spec, "Scan
// Planning").
func newFileTask(p *table.FileScanTask, vectors map[string]ice.DataFile) (fileTask, error) {
	task := fileTask{file: p.File, seq: -1, firstRowID: p.FirstRowID, positions: p.DeleteFiles, equality: p.EqualityDeleteFiles}
	if p.DataSequenceNumber != nil {
		task.seq = *p.DataSequenceNumber
	}
	path := p.File.FilePath()
	if len(p.DeletionVectorFiles) == 0 {
		return task, nil
	}
	task.vector, task.positions = vectors[path], nil
	if task.vector == nil {
		task.vector = p.DeletionVectorFiles[0]
	}
	if task.vector.SpecID() == p.File.SpecID() && !maps.EqualFunc(task.vector.Partition(), p.File.Partition(), samePartitionValue) {
		return task, corruptf("the deletion vector %s is of another partition than its data file %s", task.vector.FilePath(), path)
	}
	return task, nil
}

func samePartitionValue(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// vectorMemo remembers what manifests hold of deletion vectors, and of empty texts.
// It is safe for concurrent use.
type vectorMemo struct {
	vectors manifestMemo[[]ice.DataFile]
	open    manifestMemo[[]int] // openFields of manifests that check has read to the end
}

// manifestMemo remembers, by path, what was read in manifests, which never change: an
// operation on the next snapshot reads only those that are new in it. It holds
// those of one snapshot.
type manifestMemo[T any] struct {
	mu    sync.Mutex
	known map[string]T
}

// of returns what is in each of a snapshot's manifests. read reads one.
func (m *manifestMemo[T]) of(manifests []ice.ManifestFile, read func(ice.ManifestFile) (T, error)) ([]T, error) {
	m.mu.Lock()
	known := m.known
	m.mu.Unlock()
	out, seen := make([]T, 0, len(manifests)), make(map[string]T, len(manifests))
	for _, manifest := range manifests {
		x, ok := known[manifest.FilePath()]
		if !ok {
			var err error
			if x, err = read(manifest); err != nil {
				return nil, err
			}
		}
		seen[manifest.FilePath()] = x
		out = append(out, x)
	}
	m.mu.Lock()
	m.known = seen
	m.mu.Unlock()
	return out, nil
}

// check reads the manifests of a snapshot that it has not read before.
// iceberg-go plans in goroutines of its own, where its panics on foreign bytes
// end the process, and its errors do not name the file; here they become errors
// that do. The result are the openFields of all manifests.
func (m *vectorMemo) check(ctx context.Context, fs iceio.IO, s *table.Snapshot) ([]int, error) {
	if s.ManifestList == "" {
		return nil, corruptf("snapshot %d has no manifest list", s.SnapshotID)
	}
	manifests, err := readManifestList(fs, s)
	if err != nil {
		return nil, err
	}
	open, err := m.open.of(manifests, func(manifest ice.ManifestFile) ([]int, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return checkManifest(fs, manifest)
	})
	return slices.Concat(open...), err
}

func readManifestList(fs iceio.IO, s *table.Snapshot) (_ []ice.ManifestFile, err error) {
	defer namePanic(&err, "manifest list", s.ManifestList)
	manifests, err := s.Manifests(fs)
	if err != nil {
		return nil, fmt.Errorf("manifest list %s: %w", s.ManifestList, err)
	}
	return manifests, nil
}

// checkManifest reads a manifest to its end and gives its openFields.
func checkManifest(fs iceio.IO, m ice.ManifestFile) (open []int, err error) {
	defer namePanic(&err, "manifest", m.FilePath())
	look := slices.ContainsFunc(m.Partitions(), func(s ice.FieldSummary) bool { return s.LowerBound == nil || s.UpperBound == nil })
	for entry, err := range m.Entries(fs, false) {
		if err != nil {
			return nil, fmt.Errorf("manifest %s: %w", m.FilePath(), err)
		}
		if look {
			open = openFields(open, entry.DataFile())
		}
	}
	return open, nil
}

// openFields adds the ids of the partition fields in which a file has an empty
// text. iceberg-go writes an empty text as no bound into the list of manifests,
// and readers take no bound for no value: a manifest with such a file must not be
// left out by its bounds.
func openFields(ids []int, f ice.DataFile) []int {
	for id, v := range f.Partition() {
		if isEmptyText(v) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// isEmptyText reports whether a partition value is a text or bytes without any.
func isEmptyText(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []byte:
		return len(v) == 0
	}
	return false
}

// sourcesOf are the columns, by id, of partition fields.
func sourcesOf(fields []int, specs []ice.PartitionSpec) []int {
	var out []int
	if len(fields) == 0 {
		return nil
	}
	for _, spec := range specs {
		for _, f := range spec.Fields() {
			if slices.Contains(fields, f.FieldID) {
				out = append(out, f.SourceID())
			}
		}
	}
	return out
}

// namePanic turns a panic of the library into an error that names the file. It
// is deferred.
func namePanic(err *error, what, path string) {
	if p := recover(); p != nil {
		*err = corruptf("%s %s: %v", what, path, p)
	}
}

// live lists the deletion vectors of a snapshot by data file. Planning passes
// over a vector that does not say which file it belongs to, and the deleted rows
// would come back; here it is an error.
func (m *vectorMemo) live(fs iceio.IO, s *table.Snapshot) (map[string]ice.DataFile, error) {
	if s.Summary != nil && s.Summary.Properties["total-delete-files"] == "0" {
		return nil, nil
	}
	manifests, err := deleteManifests(fs, s)
	if err != nil {
		return nil, err
	}
	perManifest, err := m.vectors.of(manifests, func(manifest ice.ManifestFile) ([]ice.DataFile, error) {
		return manifestVectors(fs, manifest)
	})
	if err != nil {
		return nil, err
	}
	out := map[string]ice.DataFile{}
	for _, v := range slices.Concat(perManifest...) {
		ref := *v.ReferencedDataFile()
		if out[ref] != nil {
			return nil, corruptf("two deletion vectors for %s", ref)
		}
		out[ref] = v
	}
	return out, nil
}

// manifestVectors lists the live deletion vectors of one manifest.
func manifestVectors(fs iceio.IO, m ice.ManifestFile) ([]ice.DataFile, error) {
	var out []ice.DataFile
	for entry, err := range manifestEntries(fs, m) {
		if err != nil {
			return nil, err
		}
		file := entry.DataFile()
		if !table.IsDeletionVector(file) {
			continue
		}
		ref := file.ReferencedDataFile()
		switch {
		case ref == nil || *ref == "":
			return nil, corruptf("the deletion vector %s names no data file", file.FilePath())
		case file.ContentOffset() == nil || file.ContentSizeInBytes() == nil:
			return nil, corruptf("the deletion vector for %s has no offset and size", *ref)
		}
		out = append(out, file)
	}
	return out, nil
}

// deleteFiles lists the live delete files of a snapshot, vectors included.
func deleteFiles(fs iceio.IO, s *table.Snapshot) iter.Seq2[ice.DataFile, error] {
	return func(yield func(ice.DataFile, error) bool) {
		for entry, err := range deleteEntries(fs, s) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(entry.DataFile(), nil) {
				return
			}
		}
	}
}

// deleteEntries lists the manifest entries of the live delete files.
func deleteEntries(fs iceio.IO, s *table.Snapshot) iter.Seq2[ice.ManifestEntry, error] {
	return func(yield func(ice.ManifestEntry, error) bool) {
		manifests, err := deleteManifests(fs, s)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, m := range manifests {
			for entry, err := range manifestEntries(fs, m) {
				if !yield(entry, err) || err != nil {
					return
				}
			}
		}
	}
}

// deleteManifests lists the manifests of a snapshot that hold delete files.
func deleteManifests(fs iceio.IO, s *table.Snapshot) ([]ice.ManifestFile, error) {
	manifests, err := s.Manifests(fs)
	if err != nil {
		return nil, fmt.Errorf("%w: manifest list %s: %w", ErrCorrupt, s.ManifestList, err)
	}
	var out []ice.ManifestFile
	for _, m := range manifests {
		if m.ManifestContent() == ice.ManifestContentDeletes {
			out = append(out, m)
		}
	}
	return out, nil
}

// manifestEntries lists the live entries of a manifest, up to the first error.
func manifestEntries(fs iceio.IO, m ice.ManifestFile) iter.Seq2[ice.ManifestEntry, error] {
	return func(yield func(ice.ManifestEntry, error) bool) {
		for entry, err := range m.Entries(fs, true) {
			if err != nil {
				yield(nil, fmt.Errorf("%w: manifest %s: %w", ErrCorrupt, m.FilePath(), err))
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}
