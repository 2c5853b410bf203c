package shred

import "github.com/frazil/frazil/internal/leaf"

// track records in which slots of its parent something is present, at no cost
// for the slots in which it is not: only a change from absent to present leaves
// an entry. Levels are composed from tracks once a row group.
//
// Invariants: gaps are ascending, disjoint, not empty and before next; n ==
// next - the sum of gap lengths.
type track struct {
	next uint32 // the slot after the last present one
	n    uint32 // present slots
	gaps []gap
}

// gap is a range of absent slots; the slot after it is present.
type gap struct{ at, n uint32 }

// mark makes a slot present. The slot must not be before next.
func (t *track) mark(slot uint32) {
	if slot != t.next {
		t.gaps = append(t.gaps, gap{t.next, slot - t.next})
	}
	t.next = slot + 1
	t.n++
}

// truncate forgets all slots from the given one on.
func (t *track) truncate(slots uint32) {
	for k := len(t.gaps); k > 0; k-- {
		g := t.gaps[k-1]
		if g.at+g.n < slots {
			break
		}
		t.n -= t.next - (g.at + g.n)
		t.next, t.gaps = g.at, t.gaps[:k-1]
	}
	if t.next > slots {
		t.n -= t.next - slots
		t.next = slots
	}
}

func (t *track) reset() { t.next, t.n, t.gaps = 0, 0, t.gaps[:0] }

// compose appends to dst the levels of a child: where the parent's level is
// present the child has a slot, which raises the level by one if the track
// marks it; elsewhere the parent's level stays.
func (t *track) compose(dst, parent *leaf.Levels, present uint8) {
	slot, k := uint32(0), 0
	for _, r := range parent.Runs {
		if r.Level == present {
			k = t.composeRun(dst, slot, slot+r.N, k, present)
			slot += r.N
		} else {
			dst.Append(r.Level, int(r.N))
		}
	}
}

// composeRun appends the levels of the child's slots from one on to the end of a
// run. Gaps before k end before the first of them; it returns the same for the slot
// after the last.
func (t *track) composeRun(dst *leaf.Levels, slot, end uint32, k int, present uint8) int {
	for slot < end {
		level, stop := present+1, t.next
		switch {
		case slot >= t.next:
			level, stop = present, end
		case k < len(t.gaps) && slot >= t.gaps[k].at:
			level, stop = present, t.gaps[k].at+t.gaps[k].n
			if stop <= end {
				k++
			}
		case k < len(t.gaps):
			stop = t.gaps[k].at
		}
		stop = min(stop, end)
		dst.Append(level, int(stop-slot))
		slot = stop
	}
	return k
}

// lengths is a run-length list of list lengths.
type lengths struct {
	runs  []lengthRun
	lists uint32
	total uint32 // elements of all lists
}

type lengthRun struct{ length, n uint32 }

func (l *lengths) append(length uint32) {
	l.lists++
	l.total += length
	if k := len(l.runs); k > 0 && l.runs[k-1].length == length {
		l.runs[k-1].n++
		return
	}
	l.runs = append(l.runs, lengthRun{length, 1})
}

func (l *lengths) truncate(lists uint32) {
	for l.lists > lists {
		last := &l.runs[len(l.runs)-1]
		drop := min(l.lists-lists, last.n)
		last.n -= drop
		l.lists -= drop
		l.total -= drop * last.length
		if last.n == 0 {
			l.runs = l.runs[:len(l.runs)-1]
		}
	}
}

func (l *lengths) reset() { l.runs, l.lists, l.total = l.runs[:0], 0, 0 }

// levels is the pair of level lists of one set of slots. rep is empty, and not
// used, above all lists.
type levels struct{ def, rep leaf.Levels }

// elements composes the slots of a list's elements from those of the list: a
// list that is absent or empty keeps one slot without an element.
func (l *lengths) elements(dst, list *levels, present, rep uint8) {
	dst.def.Reset()
	dst.rep.Reset()
	reps := repCursor{runs: list.rep.Runs}
	var run lengthRun
	next := 0
	for _, r := range list.def.Runs {
		if r.Level != present {
			dst.def.Append(r.Level, int(r.N))
			reps.copy(&dst.rep, r.N)
			continue
		}
		for range r.N {
			if run.n == 0 {
				run = l.runs[next]
				next++
			}
			run.n--
			dst.rep.Append(reps.take(), 1)
			if run.length == 0 {
				dst.def.Append(present, 1)
				continue
			}
			dst.def.Append(present+1, int(run.length))
			if run.length > 1 {
				dst.rep.Append(rep, int(run.length-1))
			}
		}
	}
}

// repCursor walks repetition levels; without runs all levels are 0.
type repCursor struct {
	runs []leaf.Run
	used uint32 // of runs[0]
}

func (c *repCursor) take() uint8 {
	if len(c.runs) == 0 {
		return 0
	}
	level := c.runs[0].Level
	if c.used++; c.used == c.runs[0].N {
		c.runs, c.used = c.runs[1:], 0
	}
	return level
}

func (c *repCursor) copy(dst *leaf.Levels, n uint32) {
	if len(c.runs) == 0 {
		dst.Append(0, int(n))
		return
	}
	for n > 0 {
		take := min(n, c.runs[0].N-c.used)
		dst.Append(c.runs[0].Level, int(take))
		n -= take
		if c.used += take; c.used == c.runs[0].N {
			c.runs, c.used = c.runs[1:], 0
		}
	}
}
