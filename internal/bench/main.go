package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 7, "rounds of which the best counts")
	docs := flag.Int("docs", 2000, "generated documents")
	only := flag.Bool("pricing", false, "measure the generated documents only")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	if err := compare(*docs, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func compare(docs, rounds int, only bool) error {
	all := corpora(docs)
	if only {
		all = all[:1]
	}
	for i, c := range all {
		e, err := encodeCorpus(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Printf("\n## %s: %d documents of %d bytes\n", c.name, len(c.docs), c.size/len(c.docs))
		report("JSON to Variant", encodeWorks(c), c, rounds, 1)
		report("Variant to JSON", e.jsonWorks(), c, rounds, 1)
		report("validation", e.validateWorks(), c, rounds, 1)
		if i == 0 {
			report("one path", e.getWorks(), c, rounds, len(getPaths))
			reportStructs(rounds)
		}
	}
	return nil
}

// report measures works round by round and prints the best of each, per document and
// per part of one.
func report(title string, works []work, c corpus, rounds, parts int) {
	best := make([]time.Duration, len(works))
	failed := make([]error, len(works))
	for range rounds {
		for i, w := range works {
			if failed[i] != nil {
				continue
			}
			repeat := max(1, 2_000_000/c.size)
			start := cpuTime()
			for range repeat {
				if failed[i] = w.run(); failed[i] != nil {
					break
				}
			}
			if spent := (cpuTime() - start) / time.Duration(repeat); best[i] == 0 || spent < best[i] {
				best[i] = spent
			}
		}
	}
	fmt.Printf("\n| %s | ns/doc | MB/s of JSON | times ours |\n|---|---|---|---|\n", title)
	for i, w := range works {
		if failed[i] != nil {
			fmt.Printf("| %s | fails: %.60s | | |\n", w.name, failed[i])
			continue
		}
		ns := float64(best[i]) / float64(len(c.docs)*parts)
		mbs := float64(c.size) / 1e6 / best[i].Seconds()
		fmt.Printf("| %s | %.0f | %.0f | %.1f |\n", w.name, ns, mbs, float64(best[i])/float64(best[0]))
	}
}

// cpuTime is what the process has used: user and system, all threads.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("BUG: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
