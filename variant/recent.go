package variant

// recent keeps what was derived from the last few dictionaries, found again by
// their content. Dictionaries are compared whole: a caller may reuse the memory of
// one for another.
type recent[T any] struct {
	metas [8][]byte // copies
	made  [8]T
	n     int // entries in use
	last  int // entry found or added last
}

// maxRecentMeta is the size in bytes of the largest dictionary that is kept.
const maxRecentMeta = 16 << 10

// find returns what was kept for a dictionary, or nil.
func (r *recent[T]) find(meta []byte) *T {
	if len(meta) == 0 {
		return nil
	}
	if string(r.metas[r.last]) == string(meta) {
		return &r.made[r.last]
	}
	for i := range r.metas[:r.n] {
		if string(r.metas[i]) == string(meta) {
			r.last = i
			return &r.made[i]
		}
	}
	return nil
}

// add makes room for a dictionary, in place of the one added longest ago when
// there are too many, and returns what was kept there, to be overwritten. A
// dictionary that is too large to keep, or turns out to be bad, is dropped again by
// drop.
func (r *recent[T]) add(meta []byte) *T {
	if r.n < len(r.metas) {
		r.last = r.n
		r.n++
	} else {
		r.last = (r.last + 1) % len(r.metas)
	}
	r.metas[r.last] = append(r.metas[r.last][:0], meta...)
	return &r.made[r.last]
}

// drop makes the entry added last unfindable: no dictionary is empty.
func (r *recent[T]) drop() { r.metas[r.last] = r.metas[r.last][:0] }
