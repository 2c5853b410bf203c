package iceberg

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	iceio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

// maxMetadataBytes bounds a metadata file, compressed or not.
const maxMetadataBytes = 256 << 20

// OpenMetadata opens a table by its metadata file, without a catalog. It can be
// read and inspected, not changed.
//
// The folder above the one that holds the file is the table's root. A path in
// the metadata that starts with the table's location maps into the root, so a
// table may have been moved; any other path must lie inside the root, links
// resolved, else reading it is ErrEscape. No network scheme is followed.
func OpenMetadata(path string) (*Table, error) {
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("iceberg: open metadata: %w", err)
	}
	meta, err := readMetadata(abs)
	if err != nil {
		return nil, fmt.Errorf("open metadata %s: %w", path, err)
	}
	root := filepath.Dir(filepath.Dir(abs))
	files := &rootedIO{root: root, location: plainPath(meta.Location())}
	tbl := table.New(nil, meta, path, func(context.Context) (iceio.IO, error) { return files, nil }, nil)
	t := Wrap(tbl, nil)
	t.readOnly = true
	return t, nil
}

func readMetadata(path string) (meta table.Metadata, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := readCapped(f)
	if err != nil {
		return nil, err
	}
	if len(data) >= 2 && data[0] == 0x1f && data[1] == 0x8b {
		z, err := gzip.NewReader(strings.NewReader(string(data)))
		if err != nil {
			return nil, corruptf("gzip: %v", err)
		}
		if data, err = readCapped(z); err != nil {
			return nil, corruptf("gzip: %v", err)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			err = corruptf("metadata: %v", p)
		}
	}()
	meta, err = table.ParseMetadataBytes(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return meta, nil
}

func readCapped(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxMetadataBytes+1))
	if err == nil && len(data) > maxMetadataBytes {
		err = unsupportedf("metadata of more than %d bytes", maxMetadataBytes)
	}
	return data, err
}

// rootedIO reads the files of a table inside one folder.
type rootedIO struct {
	root     string // absolute, links resolved
	location string // of the table by its metadata, without scheme and last slash
}

// plainPath takes the scheme off a file URI and the slashes off the end.
func plainPath(p string) string {
	if rest, ok := cutFileScheme(p); ok {
		p = rest
	}
	for len(p) > 1 && strings.HasSuffix(p, "/") {
		p = p[:len(p)-1]
	}
	return p
}

// cutFileScheme turns file:/x, file:///x and file://localhost/x into /x. It is
// false for other schemes, and for files of another host.
func cutFileScheme(p string) (string, bool) {
	rest, ok := strings.CutPrefix(p, "file:")
	if !ok {
		return p, false
	}
	if host, ok := strings.CutPrefix(rest, "//"); ok {
		rest = strings.TrimPrefix(host, "localhost")
		if !strings.HasPrefix(rest, "/") {
			return p, false
		}
	}
	if un, err := url.PathUnescape(rest); err == nil {
		rest = un
	}
	return rest, true
}

// resolve maps a path of the metadata to a file inside the root.
func (r *rootedIO) resolve(name string) (string, error) {
	// The location is compared as written first: it may have any scheme, or
	// none, as long as the files below it have the same.
	plain := plainPath(name)
	path := plain
	rest, below := strings.CutPrefix(plain, r.location)
	switch {
	case below && r.location != "" && (rest == "" || rest[0] == '/'):
		path = filepath.Join(r.root, filepath.FromSlash(rest))
	case hasScheme(plain):
		return "", fmt.Errorf("%w: %s is not on this machine", ErrEscape, name)
	case !filepath.IsAbs(path):
		path = filepath.Join(r.root, filepath.FromSlash(path))
	}
	path = filepath.Clean(path)
	if !inside(r.root, path) {
		return "", fmt.Errorf("%w: %s", ErrEscape, name)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if !inside(r.root, resolved) {
		return "", fmt.Errorf("%w: %s is a link out of it", ErrEscape, name)
	}
	return resolved, nil
}

func hasScheme(p string) bool {
	scheme, _, ok := strings.Cut(p, ":")
	return ok && len(scheme) > 1 && !strings.ContainsAny(scheme, `/\`) && strings.Contains(p, "://")
}

func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Open opens a file of the table for reading.
func (r *rootedIO) Open(name string) (iceio.File, error) {
	path, err := r.resolve(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	// Opening a pipe would wait for a writer, perhaps forever.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: no regular file", ErrCorrupt)}
	}
	return os.Open(path)
}

// Remove refuses.
func (r *rootedIO) Remove(name string) error {
	return &fs.PathError{Op: "remove", Path: name, Err: errors.Join(ErrReadOnly, fs.ErrPermission)}
}
