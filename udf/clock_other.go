//go:build !linux

package udf

import "time"

const hasThreadClock = false

// threadClock is not to be had portably; profiles say so.
func threadClock() time.Duration { return 0 }
