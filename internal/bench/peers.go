package main

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	arrowvariant "github.com/apache/arrow-go/v18/parquet/variant"
	"github.com/goccy/go-json"
	"github.com/goccy/go-json/jsontext"
	parquetvariant "github.com/parquet-go/parquet-go/variant"

	"github.com/frazil/frazil/variant"
)

// encodeWorks turn the texts of a corpus into Variants.
func encodeWorks(c corpus) []work {
	encoder := variant.NewEncoder(variant.ParseOptions{})
	glue := newTokenEncoder()
	return []work{
		{name: "frazil Encoder", run: func() error { return each(c, func(doc []byte) error { _, err := encoder.Encode(doc); return err }) }},
		{name: "parquet-go builder, jsontext tokens", run: func() error { return each(c, glue.encode) }},
		{name: "parquet-go Marshal, goccy any", run: func() error { return each(c, encodeAny) }},
		{name: "arrow-go ParseJSONBytes", run: func() error {
			return each(c, func(doc []byte) error { _, err := arrowvariant.ParseJSONBytes(doc, false); return err })
		}},
	}
}

func each(c corpus, f func([]byte) error) error {
	for _, doc := range c.docs {
		if err := f(doc); err != nil {
			return err
		}
	}
	return nil
}

func encodeAny(doc []byte) error {
	var x any
	if err := json.Unmarshal(doc, &x); err != nil {
		return err
	}
	_, _, err := parquetvariant.Marshal(x)
	return err
}

// tokenEncoder is the thin glue between a token reader and parquet-go's streaming
// builder, which has no JSON parser.
type tokenEncoder struct {
	reader  bytes.Reader
	tokens  *jsontext.Decoder
	meta    parquetvariant.MetadataBuilder
	builder *parquetvariant.Builder
}

func newTokenEncoder() *tokenEncoder {
	e := &tokenEncoder{}
	e.tokens = jsontext.NewDecoder(&e.reader, jsontext.AllowDuplicateNames(false))
	e.builder = parquetvariant.NewBuilderWithMetadata(&e.meta)
	return e
}

func (e *tokenEncoder) encode(doc []byte) error {
	e.reader.Reset(doc)
	e.tokens.Reset(&e.reader)
	e.meta.Reset()
	e.builder.Reset()
	for {
		t, err := e.tokens.ReadToken()
		if err != nil {
			return err
		}
		e.token(t)
		if e.tokens.StackDepth() == 0 {
			break
		}
	}
	e.meta.AppendTo(nil)
	_, err := e.builder.Bytes()
	return err
}

func (e *tokenEncoder) token(t jsontext.Token) {
	b := e.builder
	switch t.Kind() {
	case '{':
		b.BeginObject()
	case '}':
		b.EndObject()
	case '[':
		b.BeginArray()
	case ']':
		b.EndArray()
	case 'n':
		b.Null()
	case 't', 'f':
		b.Bool(t.Kind() == 't')
	case '"':
		if kind, n := e.tokens.StackIndex(e.tokens.StackDepth()); kind == '{' && n%2 == 1 {
			b.Field(t.String())
		} else {
			b.String(t.String())
		}
	case '0':
		e.number(t.String())
	}
}

// number keeps decimals as they are, as our encoder does.
func (e *tokenEncoder) number(text string) {
	if x, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch {
		case x == int64(int8(x)):
			e.builder.Int8(int8(x))
		case x == int64(int16(x)):
			e.builder.Int16(int16(x))
		case x == int64(int32(x)):
			e.builder.Int32(int32(x))
		default:
			e.builder.Int64(x)
		}
		return
	}
	if whole, frac, ok := strings.Cut(text, "."); ok && len(text) <= 19 && !strings.ContainsAny(frac, "eE") {
		if x, err := strconv.ParseInt(whole+frac, 10, 64); err == nil {
			if x == int64(int32(x)) && math.Abs(float64(x)) < 1e9 {
				e.builder.Decimal4(int32(x), byte(len(frac)))
			} else {
				e.builder.Decimal8(x, byte(len(frac)))
			}
			return
		}
	}
	x, _ := strconv.ParseFloat(text, 64)
	e.builder.Double(x)
}

// encoded holds the values of a corpus in the form that each library keeps them.
type encoded struct {
	ours   []variant.Value
	theirs []arrowvariant.Value
	arrow  error // why arrow-go does not read them
}

// encodeCorpus lets the documents share dictionaries where they have the same, as
// columns do.
func encodeCorpus(c corpus) (e encoded, err error) {
	dictionaries := map[string][]byte{}
	for _, doc := range c.docs {
		v, err := variant.ParseJSON(doc)
		if err != nil {
			return e, err
		}
		key := string(v.Metadata())
		if dictionaries[key] == nil {
			dictionaries[key] = v.Metadata()
		}
		v = variant.Unchecked(dictionaries[key], v.Bytes())
		a, err := toArrow(v)
		if err != nil && e.arrow == nil {
			e.arrow = err
		}
		e.ours, e.theirs = append(e.ours, v), append(e.theirs, a)
	}
	return e, nil
}

// toArrow turns arrow-go's panic on valid metadata into an error.
func toArrow(v variant.Value) (a arrowvariant.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return arrowvariant.New(v.Metadata(), v.Bytes())
}

// jsonWorks turn Variants into JSON texts.
func (e encoded) jsonWorks() []work {
	var dst []byte
	return []work{
		{name: "frazil AppendJSON", run: func() error {
			var err error
			for _, v := range e.ours {
				if dst, err = variant.AppendJSON(dst[:0], v); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "parquet-go Unmarshal, goccy Marshal", run: func() error {
			for _, v := range e.ours {
				x, err := parquetvariant.Unmarshal(v.Metadata(), v.Bytes())
				if err == nil {
					_, err = json.Marshal(x)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "arrow-go MarshalJSON", run: func() error {
			if e.arrow != nil {
				return e.arrow
			}
			for _, v := range e.theirs {
				if _, err := v.MarshalJSON(); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// works are those of the libraries in this process.
func (e encoded) works(c corpus, j job) []work {
	switch j {
	case intoVariant:
		return encodeWorks(c)
	case intoJSON:
		return e.jsonWorks()
	case validation:
		return e.validateWorks()
	case onePath:
		return e.getWorks()
	}
	panic("BUG: no such job")
}

// validateWorks check all bytes of Variants.
func (e encoded) validateWorks() []work {
	return []work{
		{name: "frazil New", run: func() error {
			for _, v := range e.ours {
				if _, err := variant.New(v.Metadata(), v.Bytes()); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "arrow-go New", run: func() error {
			for _, v := range e.ours {
				if _, err := toArrow(v); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// getPaths are the five paths of pricing vectors.
var getPaths = []string{
	"$.greeks.delta", "$.scenarios[0].breakdown.by_region.EMEA", "$.model_params.calibration.fit_error", "$.dv01", "$.model",
}

// getWorks take five paths out of each value.
func (e encoded) getWorks() []work {
	var paths []variant.Path
	var theirs []arrowvariant.VariantPath
	var steps [][]variant.Step
	for _, text := range getPaths {
		p, err := variant.ParsePath(text)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		paths, theirs, steps = append(paths, p), append(theirs, arrowPath(p)), append(steps, p.Steps())
	}
	getter := variant.NewGetter(paths...)
	var many []variant.Value
	return []work{
		{name: "frazil Get", run: func() error {
			for _, v := range e.ours {
				for _, p := range paths {
					count(!v.Get(p).IsMissing())
				}
			}
			return nil
		}},
		{name: "frazil Getter of all five", run: func() error {
			for _, v := range e.ours {
				many = getter.Get(v, many)
				count(!many[0].IsMissing())
			}
			return nil
		}},
		{name: "frazil Field and Index, a search each", run: func() error {
			for _, v := range e.ours {
				for _, s := range steps {
					count(!search(v, s).IsMissing())
				}
			}
			return nil
		}},
		{name: "arrow-go GetByPath", run: func() error {
			for _, v := range e.theirs[:len(e.theirs)*boolean(e.arrow == nil)] {
				for _, p := range theirs {
					_, ok, err := v.GetByPath(p)
					count(ok && err == nil)
				}
			}
			return e.arrow
		}},
	}
}

func arrowPath(p variant.Path) (out arrowvariant.VariantPath) {
	for _, s := range p.Steps() {
		if s.IsIndex {
			out = out.Index(s.Index)
		} else {
			out = out.Field(s.Name)
		}
	}
	return out
}

// search follows a path without what a compiled one remembers.
func search(v variant.Value, steps []variant.Step) variant.Value {
	for _, s := range steps {
		if s.IsIndex {
			v = v.Index(s.Index)
		} else {
			v = v.Field(s.Name)
		}
	}
	return v
}

// count keeps the compiler from dropping lookups.
func count(ok bool) { found += boolean(ok) }

func boolean(x bool) int {
	if x {
		return 1
	}
	return 0
}

// found is the number of lookups that led somewhere.
var found int
