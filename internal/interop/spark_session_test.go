//go:build interop

package interop

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-json"
	"github.com/stretchr/testify/require"
)

// spark is a running Spark session on one SQLite catalog.
type spark struct {
	mu  sync.Mutex
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

// startSpark opens the warehouse dir, whose catalog is dir/catalog.db, in Spark
// as catalog "frazil". The session ends with the test.
func startSpark(t *testing.T, dir string) *spark {
	t.Helper()
	py := python(t, "spark", "pyspark=="+sparkVersion)
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("no java: Spark needs one")
	}
	jars := jar(t, icebergJar) + "," + jar(t, sqliteJar)
	script, err := filepath.Abs("testdata/spark_session.py")
	require.NoError(t, err)
	cmd := exec.Command(py, script, filepath.Join(dir, "catalog.db"), dir, catalogName, jars)
	log, err := os.Create(filepath.Join(t.TempDir(), "spark.log"))
	require.NoError(t, err)
	cmd.Stderr, cmd.Dir = log, t.TempDir()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	s := &spark{in: in, out: bufio.NewReaderSize(out, 1<<20), cmd: cmd}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
		log.Close()
	})
	ready, err := s.out.ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		require.NoError(t, err, "Spark did not start: %s", tail(string(text), 2000))
	}
	t.Logf("Spark: %s", strings.TrimSpace(ready))
	return s
}

type reply struct {
	Rows  []string `json:"rows"`
	Error string   `json:"error"`
}

func (s *spark) ask(request map[string]string) (reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line, err := json.Marshal(request)
	if err != nil {
		return reply{}, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return reply{}, err
	}
	text, err := s.out.ReadBytes('\n')
	if err != nil {
		return reply{}, err
	}
	var r reply
	if err := json.Unmarshal(text, &r); err != nil {
		return reply{}, err
	}
	if r.Error != "" {
		return reply{}, fmt.Errorf("spark: %s", r.Error)
	}
	return r, nil
}

// query returns the rows of a statement as Spark's own JSON texts.
func (s *spark) query(t *testing.T, sql string) []string {
	t.Helper()
	r, err := s.ask(map[string]string{"sql": sql})
	require.NoError(t, err, sql)
	return r.Rows
}

// exec runs a statement for its effect.
func (s *spark) exec(t *testing.T, sql string) {
	t.Helper()
	_, err := s.ask(map[string]string{"ddl": sql})
	require.NoError(t, err, sql)
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }
