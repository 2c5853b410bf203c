package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// job is what a table compares.
type job uint8

const (
	intoVariant job = iota
	intoJSON
	validation
	onePath
)

// engine is a peer that runs in processes of its own, one for each corpus. They
// take the arguments DOCS VALUES COPIES and then jobs by name from standard input,
// as rust/src/main.rs and duckdb/bench.py describe.
type engine struct {
	name    string
	command []string
	works   []engineWork
}

// engineWork is a job of an engine under the name that its process knows.
type engineWork struct {
	job   job
	title string
	ask   string
}

var rustWorks = []engineWork{
	{intoVariant, "Rust json_to_variant", "parse"},
	{intoVariant, "Rust append_json", "parse-rows"},
	{intoJSON, "Rust to_json", "print"},
	{intoJSON, "Rust to_json, frazil's values", "print-ours"},
	{validation, "Rust try_new", "validate"},
	{validation, "Rust try_new, frazil's values", "validate-ours"},
	{onePath, "Rust variant_get", "get"},
	{onePath, "Rust get_path", "get-path"},
}

// scanAlone ends the name of a work that only reads the values that another one prints or
// stores: it tells which part of that is neither, and is no peer.
const scanAlone = ", scan alone"

func duckdbWorks(version string) []engineWork {
	name := "DuckDB " + version
	return []engineWork{
		{intoVariant, name + " from VARCHAR", "parse"},
		{intoVariant, name + " from JSON", "parse-checked"},
		{intoJSON, name, "print"},
		{intoJSON, name + scanAlone, "scan"},
		{onePath, name, "get"},
	}
}

// process is a running engine.
type process struct {
	engine engine
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	copies int
}

// processes are the engines that hold one corpus, and the folder of their files.
type processes struct {
	dir  string
	list []*process
}

// engineBytes is the JSON that a round of an engine goes over at least: corpora are
// copied until they are that long, so that the start of a query does not count.
const engineBytes = 4_000_000

// startAll gives a corpus to each engine. Texts are separated by a control
// character, which JSON cannot contain, rather than by lines, which it can.
func startAll(engines []engine, c corpus, e encoded) (p processes, err error) {
	if len(engines) == 0 {
		return p, nil
	}
	if p.dir, err = os.MkdirTemp("", "frazil-bench"); err != nil {
		return p, err
	}
	var texts, values []byte
	for i, doc := range c.docs {
		texts = append(append(texts, doc...), 0x1e)
		m, v := e.ours[i].Metadata(), e.ours[i].Bytes()
		values = binary.LittleEndian.AppendUint32(values, uint32(len(m)))
		values = binary.LittleEndian.AppendUint32(values, uint32(len(v)))
		values = append(append(values, m...), v...)
	}
	err = errors.Join(os.WriteFile(p.path("docs"), texts, 0o600), os.WriteFile(p.path("values"), values, 0o600))
	for _, engine := range engines {
		if err != nil {
			break
		}
		var started *process
		if started, err = engine.start(p, max(1, engineBytes/c.size)); err == nil {
			p.list = append(p.list, started)
		}
	}
	if err != nil {
		p.close()
	}
	return p, err
}

func (p processes) path(name string) string { return filepath.Join(p.dir, name) }

func (p processes) close() {
	for _, x := range p.list {
		_ = x.in.Close()
		_ = x.cmd.Wait()
	}
	_ = os.RemoveAll(p.dir)
}

// works are those of all engines at a job.
func (p processes) works(j job) (out []work) {
	for _, x := range p.list {
		for _, w := range x.engine.works {
			if w.job == j {
				out = append(out, work{name: w.title, ask: func() (time.Duration, error) {
					spent, err := x.ask(w.ask)
					return spent / time.Duration(x.copies), err
				}})
			}
		}
	}
	return out
}

// start runs the process and waits until it holds the documents.
func (e engine) start(p processes, copies int) (*process, error) {
	args := append(e.command[1:len(e.command):len(e.command)], p.path("docs"), p.path("values"), strconv.Itoa(copies))
	cmd := exec.Command(e.command[0], args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	x := &process{engine: e, cmd: cmd, in: in, out: bufio.NewScanner(out), copies: copies}
	if !x.out.Scan() || x.out.Text() != "ready" {
		return nil, errors.Join(fmt.Errorf("%s does not start", e.name), in.Close(), cmd.Wait())
	}
	return x, nil
}

// ask has a job done and returns its time over all copies, or the size it asks for.
func (x *process) ask(job string) (time.Duration, error) {
	if _, err := fmt.Fprintln(x.in, job); err != nil {
		return 0, err
	}
	if !x.out.Scan() {
		return 0, fmt.Errorf("%s has ended", x.engine.name)
	}
	if reason, failed := strings.CutPrefix(x.out.Text(), "error"); failed {
		return 0, errors.New(strings.TrimSpace(reason))
	}
	n, err := strconv.ParseInt(x.out.Text(), 10, 64)
	return time.Duration(n), err
}
