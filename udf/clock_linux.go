package udf

import (
	"syscall"
	"time"
)

const hasThreadClock = true

// rusageThread is RUSAGE_THREAD of getrusage(2), which package syscall lacks.
const rusageThread = 1

// threadClock is the time that the calling thread has run.
func threadClock() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(rusageThread, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
