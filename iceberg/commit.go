package iceberg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"
)

// CommitIDKey is the entry of a snapshot's summary that identifies the commit
// over retries.
const CommitIDKey = "frazil.commit-id"

// Commit describes a commit that took place.
type Commit struct {
	SnapshotID     int64 // 0 when there was nothing to commit
	SequenceNumber int64
	CommitID       string
	Attempts       int            // 0 when an earlier process had committed the same CommitID
	Rows           int64          // rows added
	Rejected       int64          // rows left out by Reject
	Bytes          int64          // of the added data files
	Files          []ice.DataFile // the added data files
}

// delta is what one snapshot changes. The operation follows from the content:
// rows only append, vectors only delete, both overwrite.
type delta struct {
	rows     []ice.DataFile // data files added
	vectors  []ice.DataFile // deletion vectors added
	oldRows  []ice.DataFile // data files removed
	oldMarks []ice.DataFile // deletion vectors and delete files removed

	// vectorSeq is the data sequence number of the vectors when they replace
	// position delete files.
	vectorSeq int64
}

func (d *delta) empty() bool {
	return len(d.rows)+len(d.vectors)+len(d.oldRows)+len(d.oldMarks) == 0
}

// change is a commit to be made.
//
// build is called once an attempt with the newest version of the table and
// returns what to change there; an error from it ends the commit. Before it is
// called again, abandon is called, unless the last attempt may still come true.
type change struct {
	branch     string
	id         string
	summary    map[string]string
	properties map[string]string
	check      func(ctx context.Context, t *Table) error
	build      func(ctx context.Context, cur *Table) (*delta, error)
	abandon    func() error // removes the files of the last build; nil when there is nothing to remove
	replace    bool         // the rows stay the same: operation "replace"

	// stage, when set, takes the place of build: it puts the change into the
	// transaction itself and reports false when there is nothing to change.
	stage func(ctx context.Context, tx *table.Transaction, summary ice.Properties) (bool, error)
}

// Retries of one commit. The count is that of Java's commit.retry.num-retries
// with more patience, because each attempt here is a whole reload.
const (
	defaultRetries = 20
	firstBackoff   = 10 * time.Millisecond
	maxBackoff     = 2 * time.Second
	resolveTimeout = 15 * time.Second
	unknownRetries = 3
)

// committer makes one change.
type committer struct {
	t        *Table
	change   change
	attempts int
	rows     []ice.DataFile // of the last attempt
	after    []error        // of what followed the commit, such as removing files
	leftover [][]string     // metadata files by attempt

	// doubts are the branch heads on which attempts were made whose outcome is
	// not known; 0 stands for a branch without a snapshot. An attempt is refused
	// for certain once its branch has moved on without it, as each is pinned to
	// its head.
	doubts []int64
}

// commitChange makes c in one snapshot, reloading, checking and rebuilding on
// every attempt.
//
// Exactly once: each attempt is pinned to the branch head that was checked, and
// carries the same commit id, which the next attempt looks for in the history
// first. So of two attempts that are both still under way at the catalog, at
// most one can be applied.
func (t *Table) commitChange(ctx context.Context, c change) (*Commit, error) {
	if err := t.writable(); err != nil {
		return nil, err
	}
	if c.branch == "" {
		c.branch = table.MainBranch
	}
	if c.id == "" {
		c.id = uuid.NewString()
	}
	k := &committer{t: t, change: c}
	done, err := k.run(ctx)
	var landed *landedError
	if errors.As(err, &landed) {
		return landed.commit, nil
	}
	if err == nil && c.build != nil && !c.replace {
		t.keepPlannable(ctx, c.branch, done)
	}
	if err == nil && len(k.after) > 0 {
		err = fmt.Errorf("committed, but: %w", errors.Join(k.after...))
	}
	return done, err
}

func (k *committer) run(ctx context.Context) (*Commit, error) {
	retries := k.t.Properties().GetInt(propNumRetries, defaultRetries)
	for {
		cur, err := k.t.reload(ctx)
		if err != nil {
			return nil, k.giveUp(ctx, err)
		}
		if s := findCommit(cur.Metadata(), k.change.branch, k.change.id); s != nil {
			return k.done(ctx, cur, s), nil
		}
		k.settle(cur)
		if err := k.clear(); err != nil {
			return nil, k.giveUp(ctx, err)
		}
		committed, err := k.attempt(ctx, cur)
		if err == nil {
			return committed, nil
		}
		var final *finalError
		if errors.As(err, &final) {
			return nil, k.giveUp(ctx, final.err)
		}
		k.attempts++
		if k.attempts > retries || len(k.doubts) > unknownRetries {
			return nil, k.giveUp(ctx, fmt.Errorf("%w: gave up after %d attempts: %w", ErrConflict, k.attempts, err))
		}
		if err := k.backoff(ctx); err != nil {
			return nil, k.giveUp(ctx, err)
		}
	}
}

// headOf is the snapshot of the change's branch, 0 when it has none.
func (k *committer) headOf(tbl *table.Table) int64 {
	if s := tbl.Metadata().SnapshotByName(k.change.branch); s != nil {
		return s.SnapshotID
	}
	return 0
}

// settle drops the doubts about attempts on heads that the branch has left; cur
// does not hold the commit.
func (k *committer) settle(cur *table.Table) {
	head := k.headOf(cur)
	k.doubts = slices.DeleteFunc(k.doubts, func(tried int64) bool { return tried != head })
}

// clear removes the files of the last build, which was refused for certain.
func (k *committer) clear() error {
	if k.attempts == 0 || len(k.doubts) > 0 || k.change.abandon == nil {
		return nil
	}
	return k.change.abandon()
}

// finalError marks an error that another attempt would not cure.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// attempt tries once, on top of cur.
func (k *committer) attempt(ctx context.Context, cur *table.Table) (*Commit, error) {
	rec := &recorder{}
	tbl := rec.wrap(cur, k.t.cat)
	fresh := &Table{cat: k.t.cat, vectors: k.t.vectors}
	fresh.cur.Store(cur)
	if k.change.check != nil {
		if err := k.change.check(ctx, fresh); err != nil {
			return nil, &finalError{err}
		}
	}
	d, err := k.build(ctx, fresh)
	if err != nil {
		return nil, &finalError{err}
	}
	tx, err := k.stage(ctx, tbl, d)
	if err == nil && tx == nil {
		return &Commit{CommitID: k.change.id, Attempts: k.attempts + 1}, nil
	}
	if err != nil {
		k.leftover = append(k.leftover, rec.paths())
		if errors.Is(err, table.ErrCommitFailed) {
			return nil, err
		}
		return nil, &finalError{fmt.Errorf("iceberg: commit: %w", err)}
	}
	k.rows = d.rows
	done, err := k.submit(ctx, cur, tx, d)
	if err != nil {
		k.leftover = append(k.leftover, rec.paths())
		if !errors.Is(err, table.ErrCommitFailed) {
			k.doubts = append(k.doubts, k.headOf(cur))
		}
		return nil, err
	}
	k.attempts++
	return k.done(ctx, done, findCommit(done.Metadata(), k.change.branch, k.change.id)), nil
}

func (k *committer) build(ctx context.Context, cur *Table) (*delta, error) {
	if k.change.build == nil {
		return &delta{}, nil
	}
	return k.change.build(ctx, cur)
}

// submit asks the catalog once. iceberg-go's own commit would try again by
// itself, without the caller's check.
func (k *committer) submit(ctx context.Context, cur *table.Table, tx *table.Transaction, d *delta) (*table.Table, error) {
	tc, err := tx.TableCommit()
	if err == nil {
		err = k.correctSummary(tx, tc.Updates, d)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", table.ErrCommitFailed, err) // nothing was sent
	}
	meta, location, err := k.t.cat.CommitTable(ctx, tc.Identifier, tc.Requirements, tc.Updates)
	if err != nil {
		return nil, err
	}
	removeOldMetadata(ctx, cur, meta)
	done := table.New(cur.Identifier(), meta, location, cur.FS, k.t.cat)
	for _, u := range tc.Updates {
		if err := exceptMissing(u.PostCommit(ctx, cur, done)); err != nil {
			k.after = append(k.after, err)
		}
	}
	return done, nil
}

// exceptMissing leaves out of a joined error the files that were to be removed
// and are gone already: an earlier removal, or one that was broken off.
func exceptMissing(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		if isNotExist(err) {
			return nil
		}
		return err
	}
	var rest []error
	for _, e := range joined.Unwrap() {
		rest = append(rest, exceptMissing(e))
	}
	return errors.Join(rest...)
}

// removeOldMetadata deletes the metadata files that the new version no longer
// lists, if the table's properties ask for it.
func removeOldMetadata(ctx context.Context, old *table.Table, meta table.Metadata) {
	if !meta.Properties().GetBool(table.MetadataDeleteAfterCommitEnabledKey, table.MetadataDeleteAfterCommitEnabledDefault) {
		return
	}
	fs, err := old.FS(ctx)
	if err != nil {
		return
	}
	listed := map[string]bool{}
	for e := range meta.PreviousFiles() {
		listed[e.MetadataFile] = true
	}
	for e := range old.Metadata().PreviousFiles() {
		if !listed[e.MetadataFile] {
			_ = fs.Remove(e.MetadataFile) // another process may have done it
		}
	}
}

// stage writes the manifests of the delta and gathers all updates. There is no
// transaction when nothing changes.
func (k *committer) stage(ctx context.Context, tbl *table.Table, d *delta) (*table.Transaction, error) {
	tx, err := tbl.NewTransactionOnBranchWithError(k.change.branch)
	if err != nil {
		return nil, err
	}
	if err := tx.AssertRefSnapshotID(k.change.branch); err != nil {
		return nil, err
	}
	if len(k.change.properties) > 0 {
		if err := tx.SetProperties(k.change.properties); err != nil {
			return nil, err
		}
	}
	props := ice.Properties{}
	maps.Copy(props, k.change.summary)
	props[CommitIDKey] = k.change.id
	switch {
	case k.change.stage != nil:
		if ok, err := k.change.stage(ctx, tx, props); err != nil || !ok {
			return nil, err
		}
		return tx, nil
	case d.empty() && len(k.change.properties) == 0:
		return nil, nil
	case d.empty():
		return tx, nil
	case k.change.replace:
		return tx, k.stageRewrite(ctx, tx, d, props)
	case d.removesFiles():
		return tx, k.stageReplace(ctx, tx, tbl.Metadata(), d, props)
	}
	return tx, tx.NewRowDelta(props).AddRows(d.rows...).AddDeletes(d.vectors...).RemoveDeletes(d.oldMarks...).Commit(ctx)
}

// stageRewrite replaces data files. The deletion vectors of the removed files
// go with them.
func (k *committer) stageRewrite(ctx context.Context, tx *table.Transaction, d *delta, props ice.Properties) error {
	rw := tx.NewRewrite(props)
	for _, f := range slices.Concat(d.oldRows, d.oldMarks) {
		rw.DeleteFile(f)
	}
	for _, f := range d.rows {
		rw.AddDataFile(f)
	}
	return rw.Commit(ctx)
}

// findCommit looks for a commit id in the ancestry of a branch.
func findCommit(meta table.Metadata, branch, id string) *table.Snapshot {
	s := meta.SnapshotByName(branch)
	for s != nil {
		if s.Summary != nil && s.Summary.Properties[CommitIDKey] == id {
			return s
		}
		if s.ParentSnapshotID == nil {
			return nil
		}
		s = meta.SnapshotByID(*s.ParentSnapshotID)
	}
	return nil
}

// done ends a commit that took place, by this attempt or an earlier one.
func (k *committer) done(ctx context.Context, tbl *table.Table, s *table.Snapshot) *Commit {
	k.t.advance(tbl)
	c := &Commit{CommitID: k.change.id, Attempts: k.attempts}
	if k.attempts > 0 {
		c.addFiles(k.rows)
	}
	if s != nil {
		c.SnapshotID, c.SequenceNumber = s.SnapshotID, s.SequenceNumber
	}
	if len(k.leftover) > 0 {
		if keep := live(ctx, tbl, s); keep != nil {
			k.discard(ctx, keep)
		}
	}
	return c
}

// live lists the metadata files that the committed snapshot refers to, or nil
// when they are not known: then nothing is removed.
func live(ctx context.Context, tbl *table.Table, s *table.Snapshot) map[string]bool {
	if s == nil {
		return nil
	}
	fs, err := tbl.FS(ctx)
	if err != nil {
		return nil
	}
	manifests, err := s.Manifests(fs)
	if err != nil {
		return nil
	}
	keep := map[string]bool{s.ManifestList: true}
	for _, m := range manifests {
		keep[m.FilePath()] = true
	}
	return keep
}

// giveUp ends a commit that did not take place, as far as is known. Files of
// attempts that the catalog refused are removed; when one attempt's outcome is
// not known, everything stays.
func (k *committer) giveUp(ctx context.Context, err error) error {
	if len(k.doubts) == 0 {
		k.discard(ctx, map[string]bool{})
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resolveTimeout)
	defer cancel()
	cur, reloadErr := k.t.reload(ctx)
	if reloadErr == nil {
		if s := findCommit(cur.Metadata(), k.change.branch, k.change.id); s != nil {
			k.t.advance(cur)
			return &landedError{commit: k.done(ctx, cur, s)}
		}
		if k.settle(cur); len(k.doubts) == 0 {
			k.discard(ctx, map[string]bool{})
			return err
		}
	}
	return fmt.Errorf("%w (commit id %s): %w", ErrUnknownOutcome, k.change.id, err)
}

// landedError carries a commit that turned out to have taken place while its
// error was being handled.
type landedError struct{ commit *Commit }

func (e *landedError) Error() string { return "BUG: a landed commit was not unwrapped" }

// discard removes the metadata files of attempts that are not in keep.
func (k *committer) discard(ctx context.Context, keep map[string]bool) {
	fs, err := k.t.FS(context.WithoutCancel(ctx))
	if err != nil {
		return
	}
	for _, paths := range k.leftover {
		for _, p := range paths {
			if !keep[p] {
				_ = fs.Remove(p) // an orphan is harmless, and RemoveOrphans finds it
			}
		}
	}
	k.leftover = nil
}

func (k *committer) backoff(ctx context.Context) error {
	wait := min(firstBackoff<<min(k.attempts, 10), maxBackoff)
	timer := time.NewTimer(wait/2 + rand.N(wait/2))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

func (c *Commit) addFiles(files []ice.DataFile) {
	c.Files = files
	for _, f := range files {
		c.Rows += f.Count()
		c.Bytes += f.FileSizeBytes()
	}
}
