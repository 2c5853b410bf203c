// Package interop proves that other engines read what Frazil writes and that
// Frazil reads what they write. Its tests have the build tag interop:
//
//	go test -tags interop -timeout 30m -v ./internal/interop
//
// They set up what they need in a cache folder (FRAZIL_INTEROP_CACHE, by default
// frazil-interop in the user's cache folder): Python venvs with Spark, DuckDB and
// pyiceberg, Iceberg's jars, and two programs, of which testdata/rust reads and writes
// files with arrow-rs and the module parquetgo with parquet-go. A test whose engine
// cannot be had — no Python, Java, Maven, cargo or network — is skipped with the
// reason, and the reasons are printed once more at the end. Every process of an engine
// has a time limit.
//
// Real documents come from the folder that FRAZIL_SHARED names.
//
// # The table of engines
//
// Each test notes what it proves: works for what an engine can do, fails for what a
// test shows that it cannot. A run of all tests compares these notes with the table in
// ARCHITECTURE.md and fails where they differ; -update writes it. Engines that were
// skipped keep their lines.
package interop
