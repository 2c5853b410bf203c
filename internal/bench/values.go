package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strconv"
)

// sameness is how close the JSON that a peer prints of its value is to the document.
type sameness uint8

const (
	same    sameness = iota
	rounded          // the same but for numbers that are equal as doubles only
	different
)

// compareValues holds the documents against the JSON that each engine prints of the
// values it made of them. A comparison of different work would mean nothing.
func (p processes) compareValues(c corpus, e encoded) (notes []string) {
	for _, x := range p.list {
		path := p.path("texts")
		if _, err := x.ask("text " + path); err != nil {
			notes = append(notes, fmt.Sprintf("%s, %s: prints no JSON: %v", c.name, x.engine.name, err))
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s, %s: %v", c.name, x.engine.name, err))
			continue
		}
		var counts [different + 1]int
		for i, got := range bytes.SplitN(text, []byte{0x1e}, len(c.docs)+1)[:len(c.docs)] {
			counts[compareTexts(c.docs[i], got)]++
		}
		notes = append(notes, fmt.Sprintf("%s, %s: %d documents print the same, %d the same as doubles, %d differ",
			c.name, x.engine.name, counts[same], counts[rounded], counts[different]))
		if size, err := x.ask("size"); err == nil {
			notes = append(notes, fmt.Sprintf("%s: %d bytes a value with its metadata (frazil %d, of which metadata %d)",
				x.engine.name, int(size)/x.copies/len(c.docs), e.size(true)/len(c.docs), (e.size(true)-e.size(false))/len(c.docs)))
		}
	}
	return notes
}

// size is that of all values.
func (e encoded) size(metadata bool) (n int) {
	for _, v := range e.ours {
		n += len(v.Bytes())
		if metadata {
			n += len(v.Metadata())
		}
	}
	return n
}

func compareTexts(a, b []byte) sameness {
	x, err := decode(a)
	if err != nil {
		return different
	}
	y, err := decode(b)
	if err != nil {
		return different
	}
	return compareTrees(x, y)
}

func decode(text []byte) (x any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&x)
	return x, err
}

func compareTrees(x, y any) sameness {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok || len(x) != len(y) {
			return different
		}
		worst := same
		for name := range x {
			if _, ok := y[name]; !ok {
				return different
			}
			worst = max(worst, compareTrees(x[name], y[name]))
		}
		return worst
	case []any:
		y, ok := y.([]any)
		if !ok || len(x) != len(y) {
			return different
		}
		worst := same
		for i := range x {
			worst = max(worst, compareTrees(x[i], y[i]))
		}
		return worst
	case json.Number:
		y, ok := y.(json.Number)
		if !ok {
			return different
		}
		return compareNumbers(string(x), string(y))
	}
	if x == y {
		return same
	}
	return different
}

func compareNumbers(x, y string) sameness {
	p, ok1 := new(big.Rat).SetString(x)
	q, ok2 := new(big.Rat).SetString(y)
	if ok1 && ok2 && p.Cmp(q) == 0 {
		return same
	}
	f, err1 := strconv.ParseFloat(x, 64)
	g, err2 := strconv.ParseFloat(y, 64)
	if err1 == nil && err2 == nil && f == g {
		return rounded
	}
	return different
}
