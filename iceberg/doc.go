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
// # Where to read
//
//	catalog.go, create.go, evolve.go  tables and their schema
//	schema.go, defaults.go            Iceberg types as Parquet nodes and Arrow types; column defaults
//	append.go, appender.go            rows to data files
//	commit.go                         data files to a snapshot
//	scan.go, plan.go, read.go         a snapshot to batches
//	rowdelta.go                       updates and deletes
//	inspect.go, open.go               what a table holds; a table without a catalog
//
// Specifications: the Iceberg table spec (format/spec.md, version 3), and
// Parquet's VariantEncoding.md and VariantShredding.md.
package iceberg
