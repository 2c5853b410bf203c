package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// work is one library at one job over all documents of a corpus: in this process by
// run, in another by ask, which returns the CPU time of one pass.
type work struct {
	name string
	run  func() error
	ask  func() (time.Duration, error)
}

// once returns the CPU time of one pass; one in this process is the mean of repeat.
func (w work) once(repeat int) (time.Duration, error) {
	if w.ask != nil {
		return w.ask()
	}
	runtime.GC() // each pays for its own garbage
	start := cpuTime()
	for range repeat {
		if err := w.run(); err != nil {
			return 0, err
		}
	}
	return (cpuTime() - start) / time.Duration(repeat), nil
}

// cpuTime is what the process has used: user and system, all threads.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("BUG: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// table is one job by all libraries, a row for each corpus.
type table struct {
	title string
	job   job
	parts int // of a document, for which times are given; 0 is 1
	names []string
	rows  []row
}

// row holds the best time of one pass over a corpus by each library, or why there
// is none.
type row struct {
	corpus corpus
	best   []time.Duration
	failed []error
}

// roundBytes is the JSON that a round in this process goes over at least.
const roundBytes = 4_000_000

// measure adds a row: works take turns in each round.
func (t *table) measure(works []work, c corpus, rounds int) {
	r := row{corpus: c, best: make([]time.Duration, len(works)), failed: make([]error, len(works))}
	for range rounds {
		for i, w := range works {
			if r.failed[i] != nil {
				continue
			}
			spent, err := w.once(max(1, roundBytes/c.size))
			if r.failed[i] = err; err == nil && (r.best[i] == 0 || spent < r.best[i]) {
				r.best[i] = spent
			}
		}
	}
	t.names = t.names[:0]
	for _, w := range works {
		t.names = append(t.names, w.name)
	}
	t.rows = append(t.rows, r)
}

// print writes the table as Markdown: a column for each library, the first in
// nanoseconds, the others as multiples of it.
func (t *table) print() {
	if len(t.rows) == 0 {
		return
	}
	parts := max(1, t.parts)
	fmt.Printf("\n## %s\n\n| documents (count x mean bytes) | %s, ns | %s | fastest peer |\n|%s\n",
		t.title, t.names[0], strings.Join(t.names[1:], " | "), strings.Repeat("---|", len(t.names)+2))
	logs, counts := make([]float64, len(t.names)+1), make([]int, len(t.names)+1)
	count := func(i int, x float64) {
		logs[i] += math.Log(x)
		counts[i]++
	}
	for _, r := range t.rows {
		c := r.corpus
		fmt.Printf("| %s (%d x %d) | %.0f (%.0f MB/s)", c.name, len(c.docs), c.size/len(c.docs),
			float64(r.best[0])/float64(len(c.docs)*parts), float64(c.size)/1e6/r.best[0].Seconds())
		for i := range r.best[1:] {
			if err := r.failed[i+1]; err != nil {
				fmt.Printf(" | %.20s", err)
				continue
			}
			ratio := float64(r.best[i+1]) / float64(r.best[0])
			count(i+1, ratio)
			fmt.Printf(" | x %.1f", ratio)
		}
		if i := r.fastest(t.names); i > 0 {
			ratio := float64(r.best[i]) / float64(r.best[0])
			count(len(t.names), ratio)
			fmt.Printf(" | %s x %.2f", t.names[i], ratio)
		}
		fmt.Println(" |")
	}
	fmt.Print("| **geometric mean** | ")
	for i := range logs[1:] {
		fmt.Printf("| **x %.2f** ", math.Exp(logs[i+1]/float64(max(1, counts[i+1]))))
	}
	fmt.Println("|")
}

// fastest returns the column of the fastest peer of a row; 0 when all failed.
func (r row) fastest(names []string) (at int) {
	for i, d := range r.best {
		peer := !strings.HasPrefix(names[i], "frazil") && !strings.HasSuffix(names[i], scanAlone)
		if r.failed[i] == nil && peer && (at == 0 || d < r.best[at]) {
			at = i
		}
	}
	return at
}

// printNotes tells what the tables do not.
func printNotes(notes []string) {
	if len(notes) > 0 {
		fmt.Printf("\n## Notes\n\n- %s\n", strings.Join(notes, "\n- "))
	}
}
