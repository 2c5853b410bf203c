package stream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// FileSource reads the lines of files that match a pattern, and finds files
// that arrive later. Each file is a partition, named by its path; an offset is
// the position of a line's first byte. Files may grow; they must not change
// otherwise. A last line counts once its line end is there, or when the query
// is told to drain what is available.
type FileSource struct {
	pattern string
	a       Assignee
	next    Offsets
	poll    time.Duration
}

// NewFileSource returns a source of the files that match the pattern, in the
// syntax of path/filepath.Match.
func NewFileSource(pattern string) *FileSource {
	return &FileSource{pattern: pattern, poll: 200 * time.Millisecond}
}

// maxLine bounds a line, so that a file without line ends does not fill memory.
const maxLine = 128 << 20

// Open implements Source.
func (s *FileSource) Open(ctx context.Context, a Assignee) error {
	s.a, s.next = a, Offsets{}
	if _, err := filepath.Match(s.pattern, ""); err != nil {
		return invalidf("file source: pattern %q: %v", s.pattern, err)
	}
	return s.discover(ctx)
}

// discover tells the query about new files.
func (s *FileSource) discover(ctx context.Context) error {
	paths, err := filepath.Glob(s.pattern)
	if err != nil {
		return fmt.Errorf("file source: %w", err)
	}
	found := map[Partition]Position{}
	for _, path := range paths {
		p := Partition{Topic: path}
		if _, known := s.next[p]; !known {
			found[p] = Position{Start: 0, Committed: -1}
		}
	}
	if len(found) == 0 {
		return nil
	}
	at, err := s.a.Assigned(ctx, found)
	if err != nil {
		return err
	}
	for p, next := range at {
		s.next[p] = next
	}
	return nil
}

// Poll implements Source.
func (s *FileSource) Poll(ctx context.Context, max int) ([]Record, error) {
	for {
		if err := s.discover(ctx); err != nil {
			return nil, err
		}
		var recs []Record
		for _, p := range s.next.Partitions() {
			var err error
			if recs, err = s.read(p, recs, max); err != nil {
				return nil, err
			}
		}
		if len(recs) > 0 {
			return recs, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(s.poll):
		}
	}
}

// read appends complete lines of a file to recs, up to max records in all.
func (s *FileSource) read(p Partition, recs []Record, max int) ([]Record, error) {
	if len(recs) >= max {
		return recs, nil
	}
	f, err := os.Open(p.Topic)
	if err != nil {
		return nil, fmt.Errorf("file source: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("file source: %w", err)
	}
	if info.Size() < s.next[p] {
		return nil, fmt.Errorf("%w: %s has %d bytes, %d were read before", ErrDataLoss, p.Topic, info.Size(), s.next[p])
	}
	if _, err := f.Seek(s.next[p], io.SeekStart); err != nil {
		return nil, fmt.Errorf("file source: %w", err)
	}
	r := bufio.NewReaderSize(f, 1<<16)
	for len(recs) < max {
		line, err := readLine(r)
		if errors.Is(err, io.EOF) {
			return recs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("file source: %s at %d: %w", p.Topic, s.next[p], err)
		}
		rec := Record{Value: bytes.TrimRight(line, "\r\n"), Partition: p, Offset: s.next[p], Timestamp: info.ModTime()}
		rec.width = int64(len(line))
		s.next[p] += rec.width
		recs = append(recs, rec)
	}
	return recs, nil
}

// readLine reads a line with its end; io.EOF when the end is not there yet.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxLine:
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrInvalid, maxLine)
		}
	}
}

// Ends implements Source. A file ends after its last complete line.
func (s *FileSource) Ends(context.Context) (Offsets, error) {
	ends := Offsets{}
	for p := range s.next {
		end, err := lastLineEnd(p.Topic)
		if err != nil {
			return nil, fmt.Errorf("file source: %w", err)
		}
		ends[p] = end
	}
	return ends, nil
}

// lastLineEnd finds the position after the last line end of a file.
func lastLineEnd(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 1<<16)
	for at := size; at > 0; {
		n := min(at, int64(len(buf)))
		at -= n
		if _, err := f.ReadAt(buf[:n], at); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
	}
	return 0, nil
}

// Commit implements Source; progress is the query's.
func (s *FileSource) Commit(context.Context, Offsets) error { return nil }

// Close implements Source.
func (s *FileSource) Close() error {
	s.next = nil
	return nil
}
