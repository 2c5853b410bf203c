package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// checkpoint is the progress of a query on disk, in DIR/checkpoint.json. Both
// kinds of trigger write the same file, and every start reads it the same way.
type checkpoint struct {
	Version int     `json:"version"` // 1
	Query   string  `json:"query"`
	Epoch   int64   `json:"epoch"` // the last one that the sink committed
	Offsets Offsets `json:"offsets"`
}

const checkpointFile = "checkpoint.json"

// loadCheckpoint reads the progress in dir. A folder without any, or no
// folder, is the beginning.
func loadCheckpoint(dir, query string) (checkpoint, error) {
	c := checkpoint{Version: 1, Query: query, Offsets: Offsets{}}
	if dir == "" {
		return c, nil
	}
	path := filepath.Join(dir, checkpointFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("stream: checkpoint: %w", err)
	}
	var got checkpoint
	switch err := json.Unmarshal(b, &got); {
	case err != nil:
		return c, fmt.Errorf("%w: %s: %w", ErrCorrupt, path, err)
	case got.Version != 1:
		return c, fmt.Errorf("%w: %s has version %d, this program reads version 1", ErrCorrupt, path, got.Version)
	case got.Query != query:
		return c, fmt.Errorf("%w: %s belongs to query %q, not %q: give each query a folder of its own", ErrInvalid, path, got.Query, query)
	case got.Epoch < 0:
		return c, fmt.Errorf("%w: %s: epoch %d", ErrCorrupt, path, got.Epoch)
	}
	if got.Offsets == nil {
		got.Offsets = Offsets{}
	}
	return got, nil
}

// save replaces the file in dir. A crash leaves the old or the new one whole:
// the bytes are on disk before the name points to them.
func (c *checkpoint) save(dir string) error {
	if dir == "" {
		return nil
	}
	if err := c.write(dir); err != nil {
		return fmt.Errorf("stream: checkpoint: %w", err)
	}
	return nil
}

func (c *checkpoint) write(dir string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, checkpointFile+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, checkpointFile))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// syncDir makes a rename durable where the system allows it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
