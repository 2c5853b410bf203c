//go:build interop

package interop

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The versions of the engines that the suite runs against.
const (
	sparkVersion     = "4.1.4"
	duckdbVersion    = "2.0.1"
	duckdbOldVersion = "1.5.6"
	pyarrowVersion   = "26.0.1"
	pyicebergVersion = "0.12.0"
	icebergJar       = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
	sqliteJar        = "org.xerial:sqlite-jdbc:3.50.3.0"
)

// cacheDir returns the folder in which engines are kept between runs.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FRAZIL_INTEROP_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		require.NoError(t, err)
		dir = filepath.Join(user, "frazil-interop")
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

var venvs sync.Map // name -> *venv

type venv struct {
	once   sync.Once
	python string
	err    error
}

// python returns the interpreter of a venv that has the packages, which are
// installed once. It skips the test when that cannot be done here.
func python(t *testing.T, name string, packages ...string) string {
	t.Helper()
	v, _ := venvs.LoadOrStore(name, &venv{})
	env := v.(*venv)
	env.once.Do(func() { env.python, env.err = makeVenv(filepath.Join(cacheDir(t), name), packages) })
	if env.err != nil {
		t.Skipf("no Python with %s: %v", strings.Join(packages, " "), env.err)
	}
	return env.python
}

func makeVenv(dir string, packages []string) (string, error) {
	py := filepath.Join(dir, "bin", "python")
	want := strings.Join(packages, "\n")
	if have, err := os.ReadFile(filepath.Join(dir, "packages")); err == nil && string(have) == want {
		return py, nil
	}
	if err := command("python3", "-m", "venv", dir); err != nil {
		return "", err
	}
	if err := command(py, append([]string{"-m", "pip", "install", "-q", "--disable-pip-version-check"}, packages...)...); err != nil {
		return "", err
	}
	return py, os.WriteFile(filepath.Join(dir, "packages"), []byte(want), 0o644)
}

// jar returns the path of a Maven artifact, fetched once.
func jar(t *testing.T, artifact string) string {
	t.Helper()
	part := strings.Split(artifact, ":")
	dir := filepath.Join(cacheDir(t), "jars")
	path := filepath.Join(dir, part[1]+"-"+part[2]+".jar")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := command("mvn", "-q", "-B", "dependency:copy", "-Dartifact="+artifact, "-DoutputDirectory="+dir); err != nil {
		t.Skipf("no %s: %v", artifact, err)
	}
	return path
}

func command(name string, args ...string) error {
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		tail := strings.TrimSpace(out.String())
		return fmt.Errorf("%s: %w: %s", name, err, tail[max(0, len(tail)-300):])
	}
	return nil
}
