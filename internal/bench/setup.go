package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed rust/Cargo.toml rust/Cargo.lock rust/src/main.rs duckdb/bench.py
var sources embed.FS

// The versions of DuckDB that are measured. Those of Rust are in rust/Cargo.toml.
var duckdbVersions = []string{"1.5.6", "2.0.1"}

// setUp builds and installs the engines that are asked for, once, in a cache folder:
// FRAZIL_BENCH_CACHE, or frazil-bench in that of the user. What cannot be had is
// left out with the reason.
func setUp(o options) (out []engine) {
	dir, err := cacheDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, "skipped: engines:", err)
		return nil
	}
	if o.rust {
		if path, err := buildRust(dir); err != nil {
			fmt.Fprintln(os.Stderr, "skipped: Rust:", err)
		} else {
			out = append(out, engine{"Rust", []string{path}, rustWorks})
		}
	}
	for _, version := range duckdbVersions {
		if !o.duckdb {
			break
		}
		if command, err := installDuckDB(dir, version); err != nil {
			fmt.Fprintln(os.Stderr, "skipped: DuckDB", version+":", err)
		} else {
			out = append(out, engine{"DuckDB " + version, command, duckdbWorks(version)})
		}
	}
	return out
}

// cacheDir returns the folder of the engines, with the sources in it.
func cacheDir() (string, error) {
	dir := os.Getenv("FRAZIL_BENCH_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(user, "frazil-bench")
	}
	for _, name := range []string{"rust/Cargo.toml", "rust/Cargo.lock", "rust/src/main.rs", "duckdb/bench.py"} {
		text, err := sources.ReadFile(name)
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
			continue // cargo builds anew what is newer
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func buildRust(dir string) (string, error) {
	target := filepath.Join(dir, "rust", "target")
	manifest := filepath.Join(dir, "rust", "Cargo.toml")
	if err := command("cargo", "build", "--release", "--locked", "--manifest-path", manifest, "--target-dir", target); err != nil {
		return "", err
	}
	return filepath.Join(target, "release", "frazil-bench-rust"), nil
}

func installDuckDB(dir, version string) ([]string, error) {
	venv := filepath.Join(dir, "duckdb-"+version)
	python := filepath.Join(venv, "bin", "python")
	script := filepath.Join(dir, "duckdb", "bench.py")
	check := fmt.Sprintf("import duckdb; assert duckdb.__version__ == %q", version)
	if command(python, "-c", check) == nil {
		return []string{python, script}, nil
	}
	if err := command("python3", "-m", "venv", venv); err != nil {
		return nil, err
	}
	err := command(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "duckdb=="+version)
	return []string{python, script}, err
}

// command runs a program to its end; an error tells the end of what it printed.
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
