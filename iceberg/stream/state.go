package stream

import (
	"encoding/json"
	"fmt"

	"github.com/apache/iceberg-go/table"

	"github.com/frazil/frazil/iceberg"
)

// state is a query's progress in a table. Its JSON text is an entry of each
// snapshot's summary that the query makes, and a table property set in the
// same commit. An epoch without rows sets only the property.
type state struct {
	// ID identifies the commit that wrote this state.
	ID string `json:"id"`
	// Commit is the id of the query's last commit with rows, which the summary
	// of its snapshot holds as iceberg.CommitIDKey; "" before the first. A
	// snapshot's own number is not known before it is committed, hence the id.
	Commit string `json:"commit,omitempty"`
	// Epoch counts the query's commits to the table, of all processes.
	Epoch int64 `json:"epoch"`
	// Offsets are those of all partitions that the query has ever read.
	Offsets Offsets `json:"offsets"`
}

// stateKey names the summary entry and the property.
func stateKey(query string) string { return "frazil.stream." + query }

// storedState finds the progress of a query in a table.
//
// The nearest ancestor of the branch that the query wrote tells what the rows
// contain, and follows a rollback. The property may know more: epochs without
// rows after that snapshot, and everything once the snapshots have expired. It
// counts if it builds on that same ancestor, or if that ancestor is gone.
// The zero state, with empty offsets, means that the table has no rows of the
// query.
func storedState(meta table.Metadata, branch, query string) (state, error) {
	key := stateKey(query)
	prop, hasProp, err := parseState(meta.Properties()[key])
	if err != nil {
		return state{}, fmt.Errorf("property %s: %w", key, err)
	}
	text, whole := nearest(meta, branch, key)
	anc, hasAnc, err := parseState(text)
	if err != nil {
		return state{}, fmt.Errorf("snapshot summary %s: %w", key, err)
	}
	none := state{Offsets: Offsets{}}
	switch {
	case hasAnc && hasProp && prop.Commit == anc.Commit:
		return prop, nil
	case hasAnc:
		return anc, nil // the table was rolled back to it, or the property removed
	case !hasProp:
		return none, nil
	case prop.Commit == "":
		return prop, nil // no rows so far
	case whole:
		return none, nil // rolled back to before the query's first rows
	case present(meta, prop.Commit):
		return state{}, fmt.Errorf("%w: rolled back to a snapshot older than all that tell the offsets of %q; "+
			"set the table property %s by hand, or start the query under a new name", ErrOffsetsUnknown, query, key)
	}
	return prop, nil // the snapshots have expired
}

func parseState(text string) (state, bool, error) {
	if text == "" {
		return state{}, false, nil
	}
	var s state
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return state{}, false, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if s.Offsets == nil {
		s.Offsets = Offsets{}
	}
	return s, true, nil
}

// nearest walks from the head of a branch to the first snapshot whose summary
// holds key. whole says that the walk reached the table's first snapshot.
func nearest(meta table.Metadata, branch, key string) (text string, whole bool) {
	if branch == "" {
		branch = table.MainBranch
	}
	s := meta.SnapshotByName(branch)
	if s == nil {
		return "", true
	}
	// A damaged table may have a cycle of parents.
	for range len(meta.Snapshots()) {
		if s.Summary != nil && s.Summary.Properties[key] != "" {
			return s.Summary.Properties[key], false
		}
		if s.ParentSnapshotID == nil {
			return "", true
		}
		if s = meta.SnapshotByID(*s.ParentSnapshotID); s == nil {
			return "", false
		}
	}
	return "", false
}

// present says whether the snapshot of a commit is still in the metadata.
func present(meta table.Metadata, commit string) bool {
	for _, s := range meta.Snapshots() {
		if s.Summary != nil && s.Summary.Properties[iceberg.CommitIDKey] == commit {
			return true
		}
	}
	return false
}
