//go:build interop

package interop

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/shred"
	"github.com/frazil/frazil/variant"
)

// arrowRSProgram compiles testdata/rust.
func arrowRSProgram(t *testing.T) program {
	t.Helper()
	return program{install(t, arrowRS, "testdata/rust", func(dir string) (string, error) {
		if _, err := exec.LookPath("cargo"); err != nil {
			return "", err
		}
		target := filepath.Join(dir, "rust")
		err := command("testdata/rust", "cargo", "build", "-q", "--locked", "--target-dir", target)
		return filepath.Join(target, "debug", "frazil-interop"), err
	})}
}

// parquetGoProgram compiles the module parquetgo.
func parquetGoProgram(t *testing.T) program {
	t.Helper()
	return program{install(t, parquetGo, "parquetgo", func(dir string) (string, error) {
		path, err := filepath.Abs(filepath.Join(dir, "parquetgo"))
		if err != nil {
			return "", err
		}
		return path, command("parquetgo", "go", "build", "-o", path, ".")
	})}
}

// theyRead writes each corpus as we do, shredded and plain, and lets an engine
// read it.
func theyRead(t *testing.T, e fileEngine, list []corpus) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			got, err := e.read(t, ourFile(t, c.values, c.schema))
			require.NoError(t, err)
			require.Empty(t, sameValues(c.values, got), "shredded")
			got, err = e.read(t, ourFile(t, c.values, nil))
			require.NoError(t, err)
			require.Empty(t, sameValues(c.values, got), "plain")
		})
	}
}

// weReadTheirs lets an engine write each corpus, shredded and plain, and reads it.
func weReadTheirs(t *testing.T, e fileEngine, list []corpus) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "theirs.parquet")
			require.NoError(t, e.write(t, file, c.values, c.schema))
			got, shredded := weRead(t, file)
			require.Equal(t, c.schema != nil, shredded)
			require.Empty(t, sameValues(c.values, got), "shredded")
			require.NoError(t, e.write(t, file, c.values, nil))
			got, shredded = weRead(t, file)
			require.False(t, shredded)
			require.Empty(t, sameValues(c.values, got), "plain")
		})
	}
}

const (
	readsFiles  = "reads the Parquet files that we shred, and plain ones, value by value"
	writesFiles = "writes Parquet files, shredded and plain, that we read value by value"
)

// TestArrowRSReadsOurFiles: every type of leaf, shape and document is the same
// value in arrow-rs, and its JSON says the same as ours.
func TestArrowRSReadsOurFiles(t *testing.T) {
	e := arrowRSProgram(t)
	works(t, arrowRS, readsFiles)
	theyRead(t, e, corpora(t, arrowRS))
}

// TestWeReadArrowRSFiles: what arrow-rs shreds by a schema is the same value to us.
func TestWeReadArrowRSFiles(t *testing.T) {
	e := arrowRSProgram(t)
	works(t, arrowRS, writesFiles)
	var list []corpus
	for _, c := range corpora(t, arrowRS) {
		c.values = slices.DeleteFunc(c.values, hasLongScale)
		list = append(list, c)
	}
	weReadTheirs(t, e, list)
}

// hasLongScale tells whether a value has a decimal with more digits behind the point
// than its width has.
func hasLongScale(v variant.Value) bool {
	switch k := v.Kind(); k {
	case variant.KindArray:
		for _, x := range v.Elements() {
			if hasLongScale(x) {
				return true
			}
		}
	case variant.KindObject:
		for _, x := range v.Fields() {
			if hasLongScale(x) {
				return true
			}
		}
	case variant.KindDecimal4, variant.KindDecimal8:
		d, _ := v.Decimal()
		return d.Scale > 9 && k == variant.KindDecimal4 || d.Scale > 18
	default:
	}
	return false
}

// TestArrowRSRefusesLongScales: the encoding allows any scale up to 38 in any width;
// arrow-rs ends on a decimal4 of scale 10. We store such a number as decimal8.
func TestArrowRSRefusesLongScales(t *testing.T) {
	e := arrowRSProgram(t)
	fails(t, arrowRS, "takes decimal4 values with more than 9 digits behind the point, which the encoding allows and we do not write", "it panics")
	v, err := variant.New([]byte{1, 0, 0}, []byte{8 << 2, 10, 1, 0, 0, 0})
	require.NoError(t, err)
	require.Equal(t, "0.0000000001", v.String())
	require.True(t, hasLongScale(v))
	err = e.write(t, filepath.Join(t.TempDir(), "theirs.parquet"), []variant.Value{v}, nil)
	schema, parseErr := shred.Parse("string")
	require.NoError(t, parseErr)
	if err == nil {
		err = e.write(t, filepath.Join(t.TempDir(), "theirs.parquet"), []variant.Value{v}, schema)
	}
	require.ErrorContains(t, err, "Scale 10 is larger than max precision 9")
}

// TestParquetGoReadsOurFiles: every type of leaf, shape and document is the same
// value in parquet-go.
func TestParquetGoReadsOurFiles(t *testing.T) {
	e := parquetGoProgram(t)
	works(t, parquetGo, readsFiles)
	theyRead(t, e, corpora(t, parquetGo))
}

// TestWeReadParquetGoFiles: what parquet-go shreds is the same value to us.
func TestWeReadParquetGoFiles(t *testing.T) {
	e := parquetGoProgram(t)
	works(t, parquetGo, writesFiles)
	weReadTheirs(t, e, corpora(t, parquetGo))
}
