// Command bench compares package variant with its peers on the same documents, in
// one run:
//
//	go run . [-rounds 7] [-docs 2000] [-rust] [-duckdb] [-pricing]
//
// It prints CPU time (user and system, garbage collection included, one core) per
// document for each library and its ratio to ours. Rounds of all libraries are
// interleaved and the best of each counts, since the machines that this runs on
// are shared: compare ratios, not absolutes. With FRAZIL_SHARED set the real
// documents in its folder data are measured beside the generated pricing vectors.
//
// Peers in Go run in this process. Rust's parquet-variant and DuckDB run in
// processes of their own, which hold the documents in memory and answer each job
// with the CPU time that it took them:
//
//	bench  --- docs, values --->  rust/src/main.rs    built by cargo
//	bench  --- docs ----------->  duckdb/bench.py     in a venv of each version
//	       <-- nanoseconds -----
//
// They are set up once in a cache folder, and left out with the reason where that
// cannot be done. What they print as JSON is compared with the documents, so that
// no peer is praised for work that it does not do.
//
// The folder is a module of its own, so that peers never reach the module graph of
// those who import Frazil. Records are in results.
package main
