package iceberg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	ice "github.com/apache/iceberg-go"
	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// isManifestList reports whether iceberg-go gives a manifest list such a name.
func isManifestList(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "snap-") && strings.HasSuffix(base, ".avro")
}

// hasTextPartitions reports whether partitions of a table, by any of its specs,
// may have texts or bytes for values.
func hasTextPartitions(meta table.Metadata) bool {
	for _, spec := range meta.PartitionSpecs() {
		for _, f := range spec.Fields() {
			switch f.Transform.(type) {
			case ice.IdentityTransform, ice.TruncateTransform:
			default:
				continue
			}
			if textColumn(meta.Schemas(), f.SourceID()) {
				return true
			}
		}
	}
	return false
}

// textColumn reports whether a column is of texts or bytes, or in no schema.
func textColumn(schemas []*ice.Schema, id int) bool {
	for _, schema := range schemas {
		if field, ok := schema.FindFieldByID(id); ok {
			return field.Type == ice.StringType{} || field.Type == ice.BinaryType{}
		}
	}
	return true
}

// listFile holds back the bytes of a manifest list and writes them, with
// closeBounds, when it is closed.
type listFile struct {
	fs     iceio.IO
	name   string
	file   iceio.FileWriter
	text   bytes.Buffer
	closed bool
}

func createList(fs iceio.WriteFileIO, name string) (iceio.FileWriter, error) {
	f, err := fs.Create(name)
	if err != nil {
		return nil, err
	}
	return &listFile{fs: fs, name: name, file: f}, nil
}

func (l *listFile) Write(p []byte) (int, error) { return l.text.Write(p) }

func (l *listFile) ReadFrom(r io.Reader) (int64, error) { return l.text.ReadFrom(r) }

// Close writes the file.
func (l *listFile) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	list, err := closeBounds(l.fs, l.name, l.text.Bytes())
	if err == nil {
		_, err = l.file.Write(list)
	}
	if err = errors.Join(err, l.file.Close()); err != nil {
		return fmt.Errorf("iceberg: write %s: %w", l.name, err)
	}
	return nil
}

// closeBounds returns a manifest list in which partition values that are empty
// texts or bytes count for the bounds. iceberg-go writes such a bound as none,
// which the spec ("Manifest Lists", field_summary) has for fields without values,
// so that readers pass over the manifest. list itself is returned when it says
// nothing wrong. Manifests are read, through fs, only where it may.
func closeBounds(fs iceio.IO, name string, list []byte) (_ []byte, err error) {
	defer namePanic(&err, "manifest list", name)
	r, err := ocf.NewReader(bytes.NewReader(list), ocf.WithSchemaOpts(storedForms()...))
	if err != nil {
		return nil, avroError(err)
	}
	defer r.Close()
	snapshot, err := strconv.ParseInt(string(r.Metadata()["snapshot-id"]), 10, 64)
	if err != nil {
		return nil, corruptf("manifest list: snapshot-id: %v", err)
	}
	var manifests []map[string]any
	changed := false
	for {
		var m map[string]any
		err := r.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, avroError(err)
		}
		manifests = append(manifests, m)
		here, err := closeManifestBounds(fs, m, snapshot)
		if err != nil {
			return nil, err
		}
		changed = changed || here
	}
	if !changed {
		return list, nil
	}
	return encodeList(r, manifests)
}

// encodeList writes the entries of a list as iceberg-go does, under the header of r.
func encodeList(r *ocf.Reader, manifests []map[string]any) ([]byte, error) {
	meta, schema := map[string][]byte{}, ""
	for key, value := range r.Metadata() {
		switch {
		case key == "avro.schema":
			schema = string(value)
		case !strings.HasPrefix(key, "avro."):
			meta[key] = value
		}
	}
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, r.Schema(), ocf.WithSchema(schema), ocf.WithMetadata(meta), ocf.WithCodec(ocf.DeflateCodec(-1)))
	if err != nil {
		return nil, err
	}
	for _, m := range manifests {
		if err := w.Encode(m); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

// closeManifestBounds sets the missing bounds of one entry of the list, and
// reports whether there were any.
func closeManifestBounds(fs iceio.IO, m map[string]any, snapshot int64) (bool, error) {
	summaries, _ := m["partitions"].([]any)
	var doubts []int
	for i, s := range summaries {
		summary, _ := s.(map[string]any)
		if doubtful(summary, m["added_snapshot_id"] == any(snapshot)) {
			doubts = append(doubts, i)
		}
	}
	if len(doubts) == 0 {
		return false, nil
	}
	manifest, _ := m["manifest_path"].(string)
	empty, err := emptyTexts(fs, manifest)
	if err != nil {
		return false, err
	}
	if len(empty) != len(summaries) {
		return false, corruptf("manifest %s: %d partition fields, %d in the list", manifest, len(empty), len(summaries))
	}
	changed := false
	for _, i := range doubts {
		if !empty[i] {
			continue
		}
		for _, bound := range []string{"lower_bound", "upper_bound"} {
			if summary := summaries[i].(map[string]any); summary[bound] == nil {
				summary[bound], changed = []byte{}, true
			}
		}
	}
	return changed, nil
}

// doubtful reports whether the bounds of a field may lack an empty text. Nulls
// without bounds are no reason to look in manifests of earlier snapshots: each
// commit would read them again, and what added them has looked.
func doubtful(summary map[string]any, added bool) bool {
	lower, upper := summary["lower_bound"] != nil, summary["upper_bound"] != nil
	switch {
	case lower && upper:
		return false
	case lower || upper:
		return true
	case summary["contains_nan"] == true:
		return false
	}
	return added || summary["contains_null"] != true
}

// emptyTexts reports, for each partition field of a manifest, whether an entry
// has an empty text or no bytes in it.
func emptyTexts(fs iceio.IO, name string) (_ []bool, err error) {
	defer namePanic(&err, "manifest", name)
	f, err := fs.Open(name)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	defer f.Close()
	r, err := ocf.NewReader(f, ocf.WithSchemaOpts(storedForms()...))
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", name, avroError(err))
	}
	defer r.Close()
	fields := childOf(childOf(r.Schema().Root(), "data_file"), "partition").Fields
	out := make([]bool, len(fields))
	for {
		var entry map[string]any
		err := r.Decode(&entry)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("manifest %s: %w", name, avroError(err))
		}
		file, _ := entry["data_file"].(map[string]any)
		values, _ := file["partition"].(map[string]any)
		for i, field := range fields {
			out[i] = out[i] || isEmptyText(values[field.Name])
		}
	}
}

// childOf is the type of a field of a record; without fields when there is none.
func childOf(n *avro.SchemaNode, name string) *avro.SchemaNode {
	for i := range n.Fields {
		if n.Fields[i].Name == name {
			return &n.Fields[i].Type
		}
	}
	return &avro.SchemaNode{}
}
