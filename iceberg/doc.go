// Package iceberg reads and writes Apache Iceberg v3 tables with shredded
// Variant columns.
//
// # Layers
//
// iceberg-go keeps the metadata, the manifests and the catalogs; this package
// writes and reads the data files and decides what a commit contains. A Table
// wraps iceberg-go's *table.Table and gives it back by Unwrap.
//
//	rows -> Appender -> data files -> Commit -> snapshot
//	snapshot -> Scan (plan, prune) -> data files -> Arrow batches
//	snapshot -> Delete, Update, Merge -> deletion vectors + data files -> Commit
//
// # Terms
//
// A data file holds rows of one partition. A deletion vector marks the deleted
// rows of one data file by position. A snapshot is a list of data files and
// vectors; a branch names the snapshot that is current; a commit moves a branch
// from one snapshot to the next, or fails because another commit was faster.
//
// # Commits
//
// Every commit goes through one loop (commit.go): load the newest metadata, let
// the caller check it, build the change on it, and ask the catalog to replace
// exactly that version. A refused attempt is built anew. Each commit carries an
// id in the snapshot's summary, so that a commit whose answer was lost is found
// in the history instead of being made twice. Files that may be live are never
// removed.
//
// # Scans
//
// A batch of a data file is read in two steps. The columns of the predicate come
// first; of the others only what is left is read, and nothing where no row is.
//
//	row group --statistics--> page ranges --batches--> vector mask
//	    -> columns of Where -> three-valued truth -> mask
//	    -> other columns: all rows, or run by run when few are left -> Arrow batch
//
// A Variant column is never read as a whole unless it is asked for: each
// extraction reads the leaf that holds it, and residuals only where there are
// any. Positions are those of the file whatever is skipped.
//
// # Where to read
//
//	catalog.go, create.go, evolve.go     tables and their schema
//	schema.go, types.go, defaults.go     Iceberg types as Parquet nodes and Arrow types; column defaults
//	append.go, appender.go, pool.go      rows to partitions, and the workers
//	rowscan.go, jsoncol.go, cell.go      JSON text to leaf buffers; batchrows.go the same for Arrow
//	datafile.go, metrics.go              leaf buffers to a file and its manifest entry
//	commit.go                            files to a snapshot
//	scan.go, plan.go, read.go            a snapshot to batches; task.go the same in parts
//	rowdelta.go                          updates, deletes and merges
//	compact.go, reshred.go, maintain.go  upkeep
//	open.go, inspect.go, verify.go       a table without a catalog; what a table holds
//
// Specifications: the Iceberg table spec (format/spec.md, version 3), and
// Parquet's VariantEncoding.md and VariantShredding.md.
package iceberg
