//go:build race

// Package race tells tests whether the race detector is on. Under it sync.Pool
// drops what it is given at random, so that allocations cannot be counted.
package race

// Enabled says that the race detector is on.
const Enabled = true
