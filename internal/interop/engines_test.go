//go:build interop

package interop

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The engines, as the table in ARCHITECTURE.md names them.
const (
	spark     = "Spark 4.1.4, Iceberg 1.12.0"
	duckdb    = "DuckDB 2.0.1"
	duckdbOld = "DuckDB 1.5.6"
	duckdbIce = "DuckDB 2.0.1, its iceberg extension"
	pyiceberg = "pyiceberg 0.12.0"
	arrowRS   = "arrow-rs 60.1.0"
	parquetGo = "parquet-go 0.32.0"
	arrowGo   = "arrow-go 18.8.0"
)

// What is installed for them. The versions of arrow-rs stand in
// testdata/rust/Cargo.toml, those of the Go libraries in the go.mod files.
const (
	sparkPackage     = "pyspark==4.1.4"
	duckdbPackage    = "duckdb==2.0.1"
	duckdbOldPackage = "duckdb==1.5.6"
	pyicebergPackage = "pyiceberg[pyarrow,sql-sqlite]==0.12.0"
	icebergJar       = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
	sqliteJar        = "org.xerial:sqlite-jdbc:3.50.3.0"
)

// The limits of processes, so that an engine that hangs fails its test. The
// suite takes minutes; these are for machines that do other work as well.
const (
	installTimeout = 10 * time.Minute
	engineTimeout  = 5 * time.Minute
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

// installed is an engine, installed once in a run.
type installed struct {
	once sync.Once
	path string
	err  error
}

var engines sync.Map // what is installed -> *installed

// install gives what make returns, the path of a program or a file, making it when
// it is first asked for. It skips the test when that cannot be done here.
func install(t *testing.T, engine, what string, make func(dir string) (string, error)) string {
	t.Helper()
	x, _ := engines.LoadOrStore(what, &installed{})
	e := x.(*installed)
	dir := cacheDir(t)
	e.once.Do(func() { e.path, e.err = make(dir) })
	if e.err != nil {
		skip(t, engine, "no %s: %v", what, e.err)
	}
	return e.path
}

// python returns the interpreter of a venv that has the package.
func python(t *testing.T, engine, name, pkg string) string {
	t.Helper()
	return install(t, engine, pkg, func(dir string) (string, error) {
		dir = filepath.Join(dir, name)
		py, done := filepath.Join(dir, "bin", "python"), filepath.Join(dir, "packages")
		if have, err := os.ReadFile(done); err == nil && string(have) == pkg {
			return py, nil
		}
		if err := command("", "python3", "-m", "venv", dir); err != nil {
			return "", err
		}
		if err := command("", py, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "2", pkg); err != nil {
			return "", err
		}
		return py, os.WriteFile(done, []byte(pkg), 0o644)
	})
}

// jar returns the path of a Maven artifact.
func jar(t *testing.T, engine, artifact string) string {
	t.Helper()
	return install(t, engine, artifact, func(dir string) (string, error) {
		part := strings.Split(artifact, ":")
		dir = filepath.Join(dir, "jars")
		path := filepath.Join(dir, part[1]+"-"+part[2]+".jar")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		return path, command("", "mvn", "-q", "-B", "dependency:copy", "-Dartifact="+artifact, "-DoutputDirectory="+dir)
	})
}

// command runs a step of an installation.
func command(dir, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &out, 10*time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(name), err, tail(strings.TrimSpace(out.String()), 300))
	}
	return nil
}

// output runs an engine's program and returns what it prints.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := tryOutput(t, name, args...)
	require.NoError(t, err)
	return out
}

// tryOutput is output for programs that may fail; the error holds the last lines
// that they printed.
func tryOutput(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), engineTimeout)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, 10*time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(name), err, tail(strings.TrimSpace(errs.String()), 1000))
	}
	return out.String(), nil
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

func outputLines(text string) []string {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
