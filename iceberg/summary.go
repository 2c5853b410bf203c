package iceberg

import (
	"maps"
	"slices"
	"strconv"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Entries of a snapshot's summary that iceberg-go leaves out or counts otherwise
// than Java (Iceberg spec, "Optional Snapshot Summary Fields").
const (
	addedVectorsKey      = "added-dvs"
	removedVectorsKey    = "removed-dvs"
	addedPositionFiles   = "added-position-delete-files"
	removedPositionFiles = "removed-position-delete-files"
	addedFilesSizeKey    = "added-files-size"
	removedFilesSizeKey  = "removed-files-size"
	totalFilesSizeKey    = "total-files-size"
)

// correctSummary makes the summary of the staged snapshot that of Java: vectors
// are no position delete files, a vector is as large as its blob and not as the
// Puffin file that others share, and a change that only takes rows away is a
// delete, however it does that.
func (k *committer) correctSummary(tx *table.Transaction, updates []table.Update, d *delta) error {
	at := slices.IndexFunc(updates, func(u table.Update) bool { return u.Action() == table.UpdateAddSnapshot })
	if at < 0 || d.empty() {
		return nil
	}
	staged, err := tx.StagedTable()
	if err != nil {
		return err
	}
	s := *staged.Metadata().SnapshotByName(k.change.branch)
	sum := table.Summary{Operation: s.Summary.Operation, Properties: maps.Clone(s.Summary.Properties)}
	if !k.change.replace && len(d.rows) == 0 {
		sum.Operation = table.OpDelete
	}
	d.countVectors(sum.Properties)
	if p := staged.Metadata().SnapshotByID(deref(s.ParentSnapshotID)); p != nil && p.Summary != nil {
		sumBytes(sum.Properties, p.Summary.Properties)
	}
	s.Summary = &sum
	updates[at] = table.NewAddSnapshotUpdate(&s)
	return nil
}

// countVectors corrects the counts of a summary for the vectors of the delta.
func (d *delta) countVectors(summary ice.Properties) {
	var removed []ice.DataFile
	for _, f := range d.oldMarks {
		if table.IsDeletionVector(f) {
			removed = append(removed, f)
		}
	}
	addTo(summary, addedVectorsKey, len64(d.vectors))
	addTo(summary, removedVectorsKey, len64(removed))
	addTo(summary, addedPositionFiles, -len64(d.vectors))
	addTo(summary, removedPositionFiles, -len64(removed))
	addTo(summary, addedFilesSizeKey, -sharedBytes(d.vectors))
	addTo(summary, removedFilesSizeKey, -sharedBytes(removed))
}

// sumBytes computes the total size again, from the corrected sizes: it may have
// been cut at 0.
func sumBytes(summary, parent ice.Properties) {
	if total, err := strconv.ParseInt(parent[totalFilesSizeKey], 10, 64); err == nil {
		total += countOf(summary, addedFilesSizeKey) - countOf(summary, removedFilesSizeKey)
		summary[totalFilesSizeKey] = strconv.FormatInt(max(total, 0), 10)
	}
}

func countOf(summary ice.Properties, key string) int64 {
	n, _ := strconv.ParseInt(summary[key], 10, 64) // what is no number counts nothing
	return n
}

func deref(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

func len64(files []ice.DataFile) int64 { return int64(len(files)) }

// sharedBytes is the part of the Puffin files' sizes that is not of the vectors
// themselves.
func sharedBytes(vectors []ice.DataFile) int64 {
	n := int64(0)
	for _, v := range vectors {
		if size := v.ContentSizeInBytes(); size != nil {
			n += v.FileSizeBytes() - *size
		}
	}
	return n
}

// addTo changes a count, which is left out when it is 0.
func addTo(summary ice.Properties, key string, n int64) {
	if n == 0 {
		return
	}
	if sum := countOf(summary, key) + n; sum > 0 {
		summary[key] = strconv.FormatInt(sum, 10)
		return
	}
	delete(summary, key)
}
