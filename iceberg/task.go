package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/memory"
	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/frazil/frazil/variant"
)

// taskVersion is the version of a task's bytes.
const taskVersion = 1

// Task is the part of a scan that reads one data file: which file, what was
// deleted of it, and what the scan wants of its rows. It can be sent to another
// process, where Table.ScanTasks reads it without planning again.
//
// The bytes are a JSON object. It describes the files by Avro manifests, as the
// table's own metadata does:
//
//	{"version":1, "table":UUID, "snapshot":ID, "schema":ID,      what was planned
//	 "columns":[..], "extractions":[..], "where":"..",           what to read
//	 "seq":N, "first_row_id":N, "data":MANIFEST, "deletes":[MANIFEST..]}
//
// Bytes of a stranger are refused or read other files of the same store: run
// only tasks of planners that may read what the process may read.
type Task struct {
	Path  string // the data file
	Rows  int64  // in the file; deleted rows and those that the filter takes out count
	Bytes int64  // size of the file

	wire taskWire
}

// taskWire is the form of a task in bytes.
type taskWire struct {
	Version     int              `json:"version"`
	Table       string           `json:"table"`
	Snapshot    int64            `json:"snapshot"`
	Schema      int              `json:"schema"`
	Columns     []string         `json:"columns,omitempty"`
	All         bool             `json:"all,omitempty"` // all columns
	Extractions []extractionWire `json:"extractions,omitempty"`
	Where       string           `json:"where,omitempty"`
	Lineage     bool             `json:"lineage,omitempty"`

	Path       string         `json:"path"`
	Rows       int64          `json:"rows"`
	Bytes      int64          `json:"bytes"`
	Seq        int64          `json:"seq"`
	FirstRowID *int64         `json:"first_row_id,omitempty"`
	Data       manifestWire   `json:"data"`
	Deletes    []manifestWire `json:"deletes,omitempty"`
}

type extractionWire struct {
	Name   string `json:"name,omitempty"`
	Column string `json:"column"`
	Path   string `json:"path"`
	Type   string `json:"type"`
	Try    bool   `json:"try,omitempty"`
}

// manifestWire is a manifest of files of one partition spec.
type manifestWire struct {
	Spec    int    `json:"spec"`
	Entries []byte `json:"entries"` // Avro
}

// TaskOptions says how to read tasks. The zero value is the default.
type TaskOptions struct {
	BatchRows int              // the most rows of a batch. Default 16,384
	Workers   int              // goroutines that read. Default: one per processor
	Unordered bool             // deliver batches as they are ready, not task by task
	Allocator memory.Allocator // of the batches. Default: Go's heap
}

// Tasks gives the data files of the scan, one a task, in the order in which the
// scan reads them. A scan with a Limit has none: a limit is one of all rows.
func (s *Scan) Tasks() ([]Task, error) {
	if s.opts.Limit > 0 {
		return nil, invalidf("tasks of a scan with a Limit")
	}
	head := taskWire{
		Version: taskVersion, Table: s.meta.TableUUID().String(), Snapshot: s.SnapshotID(), Schema: s.plan.schema.ID,
		Columns: s.opts.Columns, All: s.opts.Columns == nil, Lineage: s.opts.Lineage,
	}
	if len(head.Columns) == 0 {
		head.Columns = nil // as UnmarshalBinary leaves it
	}
	if !s.opts.Where.IsTrue() {
		head.Where = s.opts.Where.String()
	}
	for _, x := range s.opts.Extractions {
		head.Extractions = append(head.Extractions, extractionWire{x.Name, x.Column, x.Path.String(), x.Type.String(), x.Try})
	}
	out := make([]Task, len(s.plan.tasks))
	for i := range s.plan.tasks {
		w := head
		if err := w.describe(s.meta, &s.plan.tasks[i]); err != nil {
			return nil, pathError(s.plan.tasks[i].file.FilePath(), err)
		}
		out[i] = w.task()
	}
	return out, nil
}

func (w taskWire) task() Task { return Task{Path: w.Path, Rows: w.Rows, Bytes: w.Bytes, wire: w} }

// describe adds a data file and its deletes.
func (w *taskWire) describe(meta table.Metadata, t *fileTask) error {
	w.Path, w.Rows, w.Bytes, w.Seq, w.FirstRowID = t.file.FilePath(), t.file.Count(), t.file.FileSizeBytes(), t.seq, t.firstRowID
	var err error
	if w.Data, err = encodeEntries(meta, ice.ManifestContentData, []ice.DataFile{t.file}); err != nil {
		return err
	}
	deletes := slices.Concat(t.positions, t.equality)
	if t.vector != nil {
		deletes = append(deletes, t.vector)
	}
	bySpec := map[int32][]ice.DataFile{}
	var specs []int32
	for _, f := range deletes {
		if bySpec[f.SpecID()] == nil {
			specs = append(specs, f.SpecID())
		}
		bySpec[f.SpecID()] = append(bySpec[f.SpecID()], f)
	}
	for _, id := range specs {
		m, err := encodeEntries(meta, ice.ManifestContentDeletes, bySpec[id])
		if err != nil {
			return err
		}
		w.Deletes = append(w.Deletes, m)
	}
	return nil
}

// encodeEntries writes a manifest of files of one spec. Its sequence numbers and
// snapshot mean nothing; those that count stand in the task.
func encodeEntries(meta table.Metadata, content ice.ManifestContent, files []ice.DataFile) (manifestWire, error) {
	id := int(files[0].SpecID())
	spec := meta.PartitionSpecByID(id)
	if spec == nil {
		return manifestWire{}, corruptf("no partition spec %d", id)
	}
	var out bytes.Buffer
	snapshot, seq := int64(1), int64(1)
	w, err := ice.NewManifestWriter(3, &out, *spec, schemaOfSpec(meta, spec), snapshot, ice.WithManifestWriterContent(content))
	if err != nil {
		return manifestWire{}, err
	}
	for _, f := range files {
		if err := w.Existing(ice.NewManifestEntry(ice.EntryStatusEXISTING, &snapshot, &seq, &seq, f)); err != nil {
			return manifestWire{}, err
		}
	}
	if err := w.Close(); err != nil {
		return manifestWire{}, err
	}
	return manifestWire{Spec: id, Entries: out.Bytes()}, nil
}

// schemaOfSpec is the newest schema that has the sources of all fields of spec.
func schemaOfSpec(meta table.Metadata, spec *ice.PartitionSpec) *ice.Schema {
	for _, s := range slices.Backward(meta.Schemas()) {
		all := true
		for _, f := range spec.Fields() {
			_, ok := s.FindFieldByID(f.SourceID())
			all = all && ok
		}
		if all {
			return s
		}
	}
	return meta.CurrentSchema()
}

// MarshalBinary gives the bytes of the task, for Table.ScanTasks of any process
// that can read the table.
func (t Task) MarshalBinary() ([]byte, error) { return json.Marshal(t.wire) }

// UnmarshalBinary reads the bytes of a task. Bytes that are none are ErrCorrupt,
// those of a newer version ErrUnsupported.
func (t *Task) UnmarshalBinary(data []byte) error {
	var w taskWire
	if err := json.Unmarshal(data, &w); err != nil {
		return corruptf("task: %v", err)
	}
	if w.Version != taskVersion {
		return unsupportedf("a task of version %d", w.Version)
	}
	*t = w.task()
	return nil
}

// ScanTasks reads tasks of one scan of this table, in the order given. The handle
// may be at another version than the scan was: files and deletes are those of the
// task, and the schema must be one that the table has had.
func (t *Table) ScanTasks(ctx context.Context, tasks []Task, opts TaskOptions) (*Scan, error) {
	if len(tasks) == 0 {
		return nil, invalidf("no tasks to scan")
	}
	head := &tasks[0].wire
	scan, err := head.options(opts)
	if err != nil {
		return nil, err
	}
	if err := scan.validate(); err != nil {
		return nil, err
	}
	scan.withDefaults()
	meta := t.Metadata()
	if head.Table != meta.TableUUID().String() {
		return nil, invalidf("a task of another table than %s", t.Name())
	}
	plan := &plannedScan{snapshot: &table.Snapshot{SnapshotID: head.Snapshot}}
	at := slices.IndexFunc(meta.Schemas(), func(s *ice.Schema) bool { return s.ID == head.Schema })
	if at < 0 {
		return nil, invalidf("a task with schema %d, which %s does not have; refresh the table", head.Schema, t.Name())
	}
	plan.schema = meta.Schemas()[at]
	if plan.filter, err = scan.Where.bind(plan.schema); err != nil {
		return nil, err
	}
	for i := range tasks {
		w := &tasks[i].wire
		if !w.sameScan(head) {
			return nil, invalidf("task %d is of another scan than task 0", i)
		}
		ft, err := w.fileTask()
		if err != nil {
			return nil, fmt.Errorf("task %d: %w", i, err)
		}
		plan.tasks = append(plan.tasks, ft)
	}
	return t.newScan(ctx, scan, plan)
}

// options are those of the scan that the task belongs to.
func (w *taskWire) options(o TaskOptions) (ScanOptions, error) {
	out := ScanOptions{
		Columns: w.Columns, Lineage: w.Lineage,
		BatchRows: o.BatchRows, Workers: o.Workers, Unordered: o.Unordered, Allocator: o.Allocator,
	}
	if !w.All && out.Columns == nil {
		out.Columns = []string{}
	}
	var err error
	if w.Where != "" {
		if out.Where, err = ParseWhere(w.Where); err != nil {
			return out, err
		}
	}
	for _, e := range w.Extractions {
		x := Extraction{Name: e.Name, Column: e.Column, Try: e.Try}
		if x.Path, err = variant.ParsePath(e.Path); err != nil {
			return out, invalidf("task: %v", err)
		}
		if x.Type, err = variant.ParseType(e.Type); err != nil {
			return out, invalidf("task: %v", err)
		}
		out.Extractions = append(out.Extractions, x)
	}
	return out, nil
}

func (w *taskWire) sameScan(o *taskWire) bool {
	return w.Table == o.Table && w.Snapshot == o.Snapshot && w.Schema == o.Schema && w.Where == o.Where && w.All == o.All &&
		w.Lineage == o.Lineage && slices.Equal(w.Columns, o.Columns) && slices.Equal(w.Extractions, o.Extractions)
}

// fileTask decodes the files.
func (w *taskWire) fileTask() (fileTask, error) {
	out := fileTask{seq: w.Seq, firstRowID: w.FirstRowID}
	data, err := w.Data.decode(ice.ManifestContentData)
	switch {
	case err != nil:
		return out, err
	case len(data) != 1 || data[0].ContentType() != ice.EntryContentData:
		return out, corruptf("a task needs one data file")
	}
	out.file = data[0]
	for _, m := range w.Deletes {
		files, err := m.decode(ice.ManifestContentDeletes)
		if err != nil {
			return out, err
		}
		for _, f := range files {
			if err := out.addDelete(f); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

func (t *fileTask) addDelete(f ice.DataFile) error {
	ref := f.ReferencedDataFile()
	switch {
	case table.IsDeletionVector(f):
		if t.vector != nil || ref == nil || *ref != t.file.FilePath() || f.ContentOffset() == nil || f.ContentSizeInBytes() == nil {
			return corruptf("the deletion vector of a task is not that of %s", t.file.FilePath())
		}
		t.vector = f
	case f.ContentType() == ice.EntryContentEqDeletes:
		t.equality = append(t.equality, f)
	default:
		t.positions = append(t.positions, f)
	}
	return nil
}

func (m *manifestWire) decode(content ice.ManifestContent) (files []ice.DataFile, err error) {
	defer namePanic(&err, "manifest", "of a task")
	file := ice.NewManifestFile(3, "task", int64(len(m.Entries)), int32(m.Spec), 1).Content(content).SequenceNum(1, 1).Build()
	entries, err := ice.ReadManifest(file, bytes.NewReader(m.Entries), false)
	if err != nil {
		return nil, corruptf("task: %v", err)
	}
	for _, e := range entries {
		files = append(files, e.DataFile())
	}
	return files, nil
}
