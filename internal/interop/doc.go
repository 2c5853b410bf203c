// Package interop proves that other engines read what Frazil writes and that
// Frazil reads what they write. Its tests have the build tag interop:
//
//	go test -tags interop -v ./internal/interop
//
// They set up what they need — a Python venv with Spark, DuckDB and pyiceberg,
// and Iceberg's jars — in a cache folder (FRAZIL_INTEROP_CACHE, by default
// frazil-interop in the user's cache folder), and skip with a reason where a
// part cannot be had: no Python, no Java, no Maven, no network.
package interop
