package iceberg

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	iceio "github.com/apache/iceberg-go/io"

	"github.com/frazil/frazil/internal/icejson"
)

// Local files replace iceberg-go's for the whole process: a metadata file
// appears whole or not at all, and Java reads it (see package icejson).
func init() {
	local := func(context.Context, *url.URL, map[string]string) (iceio.IO, error) { return localFS{}, nil }
	for _, scheme := range []string{"file", ""} {
		iceio.Unregister(scheme)
		iceio.Register(scheme, local)
	}
}

// localFS is iceberg-go's local file system but for the writing of metadata.
type localFS struct{ iceio.LocalFS }

// Create opens a file for writing. A metadata file is held back until Close.
func (fs localFS) Create(name string) (iceio.FileWriter, error) {
	if !strings.HasSuffix(name, ".metadata.json") {
		return fs.LocalFS.Create(name)
	}
	temp := name + ".tmp"
	f, err := fs.LocalFS.Create(temp)
	if err != nil {
		return nil, err
	}
	return &metadataFile{fs: fs, name: name, temp: temp, file: f}, nil
}

// metadataFile collects the bytes of a metadata file and puts the repaired file
// in place when it is closed.
type metadataFile struct {
	fs         localFS
	name, temp string
	file       iceio.FileWriter
	text       bytes.Buffer
	closed     bool
}

func (m *metadataFile) Write(p []byte) (int, error) { return m.text.Write(p) }

func (m *metadataFile) ReadFrom(r io.Reader) (int64, error) { return m.text.ReadFrom(r) }

// Close writes the file. Its contents are on the disk before it has its name.
func (m *metadataFile) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	if err := m.finish(); err != nil {
		_ = m.file.Close()
		_ = m.fs.Remove(m.temp)
		return fmt.Errorf("iceberg: write %s: %w", m.name, err)
	}
	return nil
}

func (m *metadataFile) finish() error {
	text, err := repairMetadata(m.text.Bytes())
	if err != nil {
		return err
	}
	if _, err := m.file.Write(text); err != nil {
		return err
	}
	if f, ok := m.file.(*os.File); ok {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := m.file.Close(); err != nil {
		return err
	}
	return m.fs.Rename(m.temp, m.name)
}

var gzipMagic = []byte{0x1f, 0x8b}

// repairMetadata makes float defaults readable for Java, also in gzipped
// metadata. With another compression the text stays as it is.
func repairMetadata(text []byte) ([]byte, error) {
	if !bytes.HasPrefix(text, gzipMagic) {
		return icejson.FloatDefaults(text), nil
	}
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(icejson.FloatDefaults(plain)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

var _ iceio.WriteFileIO = localFS{}
