package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/frazil/frazil/internal/tradegen"
	"github.com/frazil/frazil/variant"
)

// corpus is a set of JSON documents of one origin.
type corpus struct {
	name string
	docs [][]byte
	size int // bytes of all docs
}

// corpora returns the generated documents and, where they are, the real ones.
// Documents with a name twice in an object are left out: peers differ on them.
func corpora(docs int) []corpus {
	all := []corpus{newCorpus("pricing vectors", tradegen.PricingVectors(docs, 1))}
	root := os.Getenv("FRAZIL_SHARED")
	if root == "" {
		return all
	}
	for _, name := range []string{
		"cdm-trades-6.1.0.ndjson", "github-webhooks.ndjson", "aws-lambda-events.ndjson", "mdn-compat-3000.ndjson",
		"parking-citations.ndjson", "vega-football.ndjson", "twitter.json", "citm_catalog.json", "canada.json",
	} {
		text, err := os.ReadFile(filepath.Join(root, "data", name))
		if err != nil {
			continue
		}
		lines := [][]byte{text}
		if strings.HasSuffix(name, ".ndjson") {
			lines = bytes.Split(text, []byte("\n"))
		}
		all = append(all, newCorpus(strings.SplitN(name, ".", 2)[0], lines))
	}
	return all
}

func newCorpus(name string, lines [][]byte) corpus {
	c := corpus{name: name}
	encoder := variant.NewEncoder(variant.ParseOptions{})
	for _, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if _, err := encoder.Encode(line); err == nil {
			c.docs = append(c.docs, line)
			c.size += len(line)
		}
	}
	return c
}
