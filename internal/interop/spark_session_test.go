//go:build interop

package interop

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-json"
	"github.com/stretchr/testify/require"
)

// sparkProcess is the one Spark of the suite, started by the first test that
// needs it and ended by TestMain.
type sparkProcess struct {
	mu  sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
	log string // the file of its stderr
}

var theSpark struct {
	sync.Mutex
	*sparkProcess
}

// sparkSession is Spark on one warehouse.
type sparkSession struct {
	process *sparkProcess
	dir     string
}

// startSpark opens the warehouse dir, whose catalog is dir/catalog.db, in Spark
// as its default catalog.
func startSpark(t *testing.T, dir string) *sparkSession {
	t.Helper()
	py := python(t, spark, "spark", sparkPackage)
	if _, err := exec.LookPath("java"); err != nil {
		skip(t, spark, "no java, which it needs")
	}
	jars := jar(t, spark, icebergJar) + "," + jar(t, spark, sqliteJar)
	theSpark.Lock()
	defer theSpark.Unlock()
	if theSpark.sparkProcess == nil {
		p, err := newSparkProcess(py, jars)
		require.NoError(t, err)
		theSpark.sparkProcess = p
	}
	s := &sparkSession{theSpark.sparkProcess, dir}
	_, err := s.process.ask(map[string]string{"open": dir, "catalog": catalogName})
	require.NoError(t, err)
	return s
}

func newSparkProcess(py, jars string) (*sparkProcess, error) {
	script, err := filepath.Abs("testdata/spark_session.py")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "spark")
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &sparkProcess{cmd: exec.Command(py, script, jars), log: log.Name()}
	p.cmd.Stderr, p.cmd.Dir, p.cmd.WaitDelay = log, dir, 10*time.Second
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, 1<<20)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := p.reply(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	return p, nil
}

// closeSpark ends Spark and removes its folder.
func closeSpark() {
	if p := theSpark.sparkProcess; p != nil {
		p.in.Close()
		kill := time.AfterFunc(time.Minute, func() { p.cmd.Process.Kill() })
		p.cmd.Wait()
		kill.Stop()
		os.RemoveAll(filepath.Dir(p.log))
	}
}

func (p *sparkProcess) ask(request map[string]string) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("spark: %w", err)
	}
	return p.reply()
}

// reply waits for an answer. A Spark that gives none in time is ended.
func (p *sparkProcess) reply() ([]string, error) {
	late := time.AfterFunc(engineTimeout, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	text, err := p.out.ReadBytes('\n')
	if err != nil {
		log, _ := os.ReadFile(p.log)
		return nil, fmt.Errorf("spark: no answer: %w: %s", err, tail(string(log), 2000))
	}
	var r struct {
		Rows  []string
		Error string
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if r.Error != "" {
		return nil, errors.New("spark: " + r.Error)
	}
	return r.Rows, nil
}

// query returns the rows of a statement as Spark's own JSON texts.
func (s *sparkSession) query(t *testing.T, sql string) []string {
	t.Helper()
	rows, err := s.process.ask(map[string]string{"open": s.dir, "sql": sql})
	require.NoError(t, err, sql)
	return rows
}

// exec runs statements for their effect.
func (s *sparkSession) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		_, err := s.process.ask(map[string]string{"open": s.dir, "ddl": sql})
		require.NoError(t, err, sql)
	}
}

// one returns the only row of a query.
func (s *sparkSession) one(t *testing.T, sql string) string {
	t.Helper()
	rows := s.query(t, sql)
	require.Len(t, rows, 1, sql)
	return strings.TrimSpace(rows[0])
}
