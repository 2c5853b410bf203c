package iceberg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// MergeManifests merges the small data manifests of the main branch into fewer
// of commit.manifest.target-size-bytes. No data is read or written, and rows keep
// their ids. Commits of rows do it by themselves once there are
// commit.manifest.min-count-to-merge. Manifests of deletes are not merged; Compact
// removes what they hold.
func (t *Table) MergeManifests(ctx context.Context) error {
	return t.mergeManifests(ctx, table.MainBranch)
}

func (t *Table) mergeManifests(ctx context.Context, branch string) error {
	_, err := t.commitChange(ctx, change{
		branch: branch,
		stage: func(ctx context.Context, tx *table.Transaction, _ ice.Properties) (bool, error) {
			r, err := tx.RewriteManifests(ctx)
			return err == nil && !r.IsNoOp(), err
		},
	})
	return err
}

// manifestsLook is how many commits there are from one look at the number of
// manifests to the next.
const manifestsLook = 10

// keepPlannable merges the data manifests of a branch once there are as many as
// the property commit.manifest.min-count-to-merge says (100, as in Java), unless
// commit.manifest-merge.enabled is false: each commit adds one, and a scan reads
// all. It is a commit of its own, because iceberg-go merges within an append only
// when row ids are given out too early. What fails here is done by a later commit.
func (t *Table) keepPlannable(ctx context.Context, branch string, c *Commit) {
	props := t.Properties()
	if c.SequenceNumber%manifestsLook != 0 || c.Attempts == 0 || !props.GetBool(table.ManifestMergeEnabledKey, true) {
		return
	}
	s := t.Metadata().SnapshotByID(c.SnapshotID)
	fs, err := t.FS(ctx)
	if s == nil || err != nil {
		return
	}
	manifests, err := s.Manifests(fs)
	if err != nil {
		return
	}
	data := 0
	for _, m := range manifests {
		if m.ManifestContent() == ice.ManifestContentData {
			data++
		}
	}
	if data >= props.GetInt(table.ManifestMinMergeCountKey, table.ManifestMinMergeCountDefault) {
		_ = t.mergeManifests(ctx, branch)
	}
}

// ExpireOptions says which snapshots Expire keeps beside the heads of branches
// and tags. The zero value is the default.
type ExpireOptions struct {
	// Keep is the least number of snapshots that stay on a branch. Default 1.
	Keep int

	// OlderThan keeps younger snapshots. Default 0: age does not matter.
	OlderThan time.Duration
}

// Expired says what Expire has done.
type Expired struct {
	Snapshots []int64 // ids of the snapshots that are gone, oldest first
}

// Expire forgets old snapshots and removes the files that only they needed. A
// Puffin file stays while any vector in it is live. Readers of an expired
// snapshot fail; a scan of a retained one is not disturbed.
func (t *Table) Expire(ctx context.Context, opts ExpireOptions) (*Expired, error) {
	if opts.Keep == 0 {
		opts.Keep = 1
	}
	out := &Expired{}
	_, err := t.commitChange(ctx, change{
		stage: func(_ context.Context, tx *table.Transaction, _ ice.Properties) (bool, error) {
			err := tx.ExpireSnapshots(table.WithRetainLast(opts.Keep), table.WithOlderThan(opts.OlderThan))
			if err != nil {
				return false, fmt.Errorf("%w: %w", ErrInvalid, err)
			}
			staged, err := tx.StagedTable()
			if err != nil {
				return false, err
			}
			out.Snapshots = missingSnapshots(t.Metadata(), staged.Metadata())
			return len(out.Snapshots) > 0, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func missingSnapshots(before, after table.Metadata) []int64 {
	var gone []int64
	for _, s := range before.Snapshots() {
		if after.SnapshotByID(s.SnapshotID) == nil {
			gone = append(gone, s.SnapshotID)
		}
	}
	return gone
}

// OrphanOptions configures RemoveOrphans. The zero value is the default.
type OrphanOptions struct {
	// Delete removes the files. Default: they are only listed.
	Delete bool

	// OlderThan leaves younger files alone: a commit that is under way has files
	// that no snapshot knows yet. Default three days.
	OlderThan time.Duration
}

// defaultOrphanAge is longer than any commit takes.
const defaultOrphanAge = 72 * time.Hour

// Orphan is a file below the table's location that no snapshot and no metadata
// file refers to.
type Orphan struct {
	Path  string
	Bytes int64
}

// RemoveOrphans lists, and on demand removes, the files that belong to nothing:
// leftovers of writers that were killed. Locations are compared by meaning
// (file:///x is /x, s3a is s3). When a file has the path of a live one but
// another scheme or host, nothing is removed and the error Is ErrInvalid.
func (t *Table) RemoveOrphans(ctx context.Context, opts OrphanOptions) ([]Orphan, error) {
	if err := t.writable(); err != nil {
		return nil, err
	}
	age := opts.OlderThan
	if age == 0 {
		age = defaultOrphanAge
	}
	cur, err := t.reload(ctx)
	if err != nil {
		return nil, err
	}
	res, err := cur.DeleteOrphanFiles(ctx,
		table.WithDryRun(!opts.Delete),
		table.WithFilesOlderThan(age),
		table.WithPrefixMismatchMode(table.PrefixMismatchError),
		table.WithEqualSchemes(map[string]string{"s3,s3a,s3n": "s3"}),
	)
	out := make([]Orphan, len(res.OrphanFiles))
	for i, f := range res.OrphanFiles {
		out[i] = Orphan{Path: f.Path, Bytes: f.SizeBytes}
	}
	slices.SortFunc(out, func(a, b Orphan) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	if err != nil {
		return out, fmt.Errorf("orphans of %s: %w", t.Name(), errors.Join(ErrInvalid, err))
	}
	return out, nil
}
