// Command bench compares package variant with its peers on the same documents, in
// one process and one run:
//
//	go run . [-rounds 7] [-docs 2000]
//
// It prints CPU time (user and system, garbage collection included, one core) per
// document for each library and its ratio to ours. Rounds of all libraries are
// interleaved and the best of each counts, since the machines that this runs on
// are shared: compare ratios, not absolutes. With FRAZIL_SHARED set the real
// documents in its folder data are measured beside the generated pricing vectors.
//
// The folder is a module of its own, so that peers never reach the module graph of
// those who import Frazil. Records are in results.
package main
