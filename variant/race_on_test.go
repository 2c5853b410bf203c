//go:build race

package variant

// raceEnabled says that the race detector is on, under which sync.Pool drops
// what it is given at random, so that allocations cannot be counted.
const raceEnabled = true
