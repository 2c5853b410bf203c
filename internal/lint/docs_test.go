package lint

import (
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestArchitectureNamesEveryFile keeps the file table of ARCHITECTURE.md whole:
// every Go file that is not a test has a row, and every row has its file.
func TestArchitectureNamesEveryFile(t *testing.T) {
	arch := read(t, "ARCHITECTURE.md")
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+\\.go)` \\|").FindAllStringSubmatch(arch, -1) {
		assert.False(t, rows[m[1]], "%s has two rows in ARCHITECTURE.md", m[1])
		rows[m[1]] = true
	}
	for _, s := range sources(t, token.NewFileSet()) {
		if s.isTest() {
			continue
		}
		assert.True(t, rows[s.path], "%s has no row in the file table of ARCHITECTURE.md", s.path)
		delete(rows, s.path)
	}
	assert.Empty(t, rows, "rows of ARCHITECTURE.md without a file")
}

// TestClaimsAreLinkedToTests checks that each row of the capability table in
// README.md, and each invariant in ARCHITECTURE.md, names a test that exists.
func TestClaimsAreLinkedToTests(t *testing.T) {
	known := map[string]bool{}
	for _, s := range sources(t, token.NewFileSet()) {
		if !s.isTest() {
			continue
		}
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`).FindAllStringSubmatch(s.text, -1) {
			known[s.pkg+"."+m[1]] = true
		}
	}
	claim := regexp.MustCompile("`([\\w/]+)\\.((?:Test|Fuzz|Example|Benchmark)\\w*)`")
	for _, doc := range []string{"README.md", "ARCHITECTURE.md", "SECURITY.md"} {
		for _, m := range claim.FindAllStringSubmatch(read(t, doc), -1) {
			assert.True(t, known[m[1]+"."+m[2]], "%s names the test %s.%s, which does not exist", doc, m[1], m[2])
		}
	}
	table := section(t, read(t, "README.md"), "## What works, and the test that proves it")
	for _, row := range strings.Split(table, "\n") {
		if strings.HasPrefix(row, "| ") && !strings.HasPrefix(row, "| What") {
			assert.Regexp(t, claim, row, "a row of the capability table names no test")
		}
	}
}

func TestReadmeNamesTheTwoCommands(t *testing.T) {
	readme := read(t, "README.md")
	for _, c := range []string{"go run ./examples/trades", "go test ./..."} {
		require.Contains(t, readme, c)
	}
}

func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, heading+"\n")
	require.True(t, ok, "no section %q", heading)
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}
