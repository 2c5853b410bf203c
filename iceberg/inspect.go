package iceberg

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/frazil/frazil/internal/leaf"
	"github.com/frazil/frazil/internal/pq"
	"github.com/frazil/frazil/shred"
)

// Inspection says what a table holds. It marshals to the JSON that the program
// examples/lake prints.
type Inspection struct {
	Schema          []ColumnInfo   `json:"schema"`
	Snapshots       []SnapshotInfo `json:"snapshots"`
	DataFiles       []FileInfo     `json:"data_files"`
	DeletionVectors []VectorInfo   `json:"deletion_vectors"`
	DeleteFiles     []DeleteInfo   `json:"delete_files,omitempty"`
}

// ColumnInfo is a top-level column. The defaults are in the metadata's form;
// nil is null.
type ColumnInfo struct {
	ID             int    `json:"id"`
	Name           string `json:"name"`
	Type           string `json:"type"` // by its Iceberg name
	Required       bool   `json:"required"`
	InitialDefault any    `json:"initial_default"`
	WriteDefault   any    `json:"write_default"`
}

// SnapshotInfo is a snapshot that the metadata still lists, oldest first.
type SnapshotInfo struct {
	ID        int64             `json:"id"`
	Operation string            `json:"operation"`
	Summary   map[string]string `json:"summary"`
}

// FileInfo is a live data file of the current snapshot.
type FileInfo struct {
	Path      string            `json:"path"`
	Rows      int64             `json:"rows"`
	Bytes     int64             `json:"bytes"`
	Partition map[string]any    `json:"partition"` // by field name; nil is null
	Shredded  map[string]string `json:"shredded"`  // layout by column, for shredded Variants
}

// VectorInfo is a live deletion vector of the current snapshot.
type VectorInfo struct {
	DataFile    string `json:"data_file"`
	Puffin      string `json:"puffin"`
	Cardinality int64  `json:"cardinality"`
}

// DeleteInfo is a live position or equality delete file of the current snapshot.
type DeleteInfo struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Rows    int64  `json:"rows"`
}

// Inspect lists the schema, the snapshots, and the files of the current
// snapshot: data files by sequence number, then in manifest order. It reads the
// footer of each data file.
func (t *Table) Inspect(ctx context.Context) (*Inspection, error) {
	meta := t.Metadata()
	out := &Inspection{DataFiles: []FileInfo{}, DeletionVectors: []VectorInfo{}}
	for _, f := range meta.CurrentSchema().Fields() {
		out.Schema = append(out.Schema, ColumnInfo{
			ID: f.ID, Name: f.Name, Type: f.Type.String(), Required: f.Required,
			InitialDefault: f.InitialDefault, WriteDefault: f.WriteDefault,
		})
	}
	out.Snapshots = snapshotInfos(meta)
	s := meta.CurrentSnapshot()
	if s == nil {
		return out, nil
	}
	fs, err := t.FS(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := liveEntries(fs, s)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := out.add(fs, meta, e.DataFile()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func snapshotInfos(meta table.Metadata) []SnapshotInfo {
	out := []SnapshotInfo{}
	for _, s := range meta.Snapshots() {
		info := SnapshotInfo{ID: s.SnapshotID, Summary: map[string]string{}}
		if s.Summary != nil {
			info.Operation = string(s.Summary.Operation)
			for k, v := range s.Summary.Properties {
				info.Summary[k] = v
			}
		}
		out = append(out, info)
	}
	return out
}

// liveEntry is an entry and the manifest that lists it.
type liveEntry struct {
	ice.ManifestEntry
	manifest string
}

// liveEntries lists the entries of a snapshot's manifests that are not
// deleted, by sequence number, then in manifest order.
func liveEntries(fs iceio.IO, s *table.Snapshot) (entries []liveEntry, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = corruptf("manifests of snapshot %d: %v", s.SnapshotID, p)
		}
	}()
	manifests, err := s.Manifests(fs)
	if err != nil {
		return nil, fmt.Errorf("%w: manifest list %s: %w", ErrCorrupt, s.ManifestList, err)
	}
	for _, m := range manifests {
		for e, err := range m.Entries(fs, true) {
			if err != nil {
				return nil, fmt.Errorf("%w: manifest %s: %w", ErrCorrupt, m.FilePath(), err)
			}
			entries = append(entries, liveEntry{e, m.FilePath()})
		}
	}
	slices.SortStableFunc(entries, func(a, b liveEntry) int { return cmp.Compare(a.SequenceNum(), b.SequenceNum()) })
	return entries, nil
}

func (out *Inspection) add(fs iceio.IO, meta table.Metadata, f ice.DataFile) error {
	switch {
	case table.IsDeletionVector(f):
		v := VectorInfo{Puffin: f.FilePath(), Cardinality: f.Count()}
		if ref := f.ReferencedDataFile(); ref != nil {
			v.DataFile = *ref
		}
		out.DeletionVectors = append(out.DeletionVectors, v)
	case f.ContentType() == ice.EntryContentData:
		info := FileInfo{Path: f.FilePath(), Rows: f.Count(), Bytes: f.FileSizeBytes(), Partition: partitionInfo(meta, f)}
		var err error
		if info.Shredded, err = shreddedColumns(fs, f); err != nil {
			return fileError(f.FilePath(), err)
		}
		out.DataFiles = append(out.DataFiles, info)
	default:
		out.DeleteFiles = append(out.DeleteFiles, DeleteInfo{Path: f.FilePath(), Content: f.ContentType().String(), Rows: f.Count()})
	}
	return nil
}

// partitionInfo gives the partition values of a file by name: strings, numbers
// and booleans as they are, the rest in the text of the transform.
func partitionInfo(meta table.Metadata, f ice.DataFile) map[string]any {
	out := map[string]any{}
	spec := meta.PartitionSpecByID(int(f.SpecID()))
	if spec == nil {
		return out
	}
	types := spec.PartitionType(meta.CurrentSchema())
	for i, pf := range spec.Fields() {
		v := f.Partition()[pf.FieldID]
		switch v.(type) {
		case nil, string, int32, int64, bool, float32, float64:
			out[pf.Name] = v
		default:
			out[pf.Name] = pf.Transform.ToHumanStrType(types.FieldList[i].Type, v)
		}
	}
	return out
}

// shreddedColumns reads the layouts of the shredded Variant columns from the
// file's footer.
func shreddedColumns(fs iceio.IO, f ice.DataFile) (map[string]string, error) {
	out := map[string]string{}
	if f.FileFormat() != ice.ParquetFile {
		return out, nil
	}
	in, err := fs.Open(f.FilePath())
	if err != nil {
		return nil, err
	}
	defer in.Close()
	file, err := pq.Open(in, f.FileSizeBytes(), pq.ReaderOptions{Name: f.FilePath()})
	if err != nil {
		return nil, err
	}
	for _, n := range file.Schema().Children {
		if !isVariantGroup(n) {
			continue
		}
		s, err := shred.FromGroup(n)
		if err != nil {
			return nil, err
		}
		if s.Shape != shred.Opaque {
			out[n.Name] = s.String()
		}
	}
	return out, nil
}

// isVariantGroup tells a Variant by its annotation, or, in files of writers
// that leave it out, by its parts.
func isVariantGroup(n *leaf.Node) bool {
	if n.Type != leaf.Group {
		return false
	}
	return n.Logical == leaf.Variant || n.Logical == leaf.None && n.Child("metadata") != nil && n.Child("typed_value") != nil
}

// MarshalIndent gives the inspection as indented JSON, with the angle brackets of
// schema texts as they are.
func (out *Inspection) MarshalIndent() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(out)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
