package variant

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// ParseOptions are the choices in reading JSON. The zero value is the default.
type ParseOptions struct {
	// LastKeyWins keeps the last of several fields of one name. Default: the
	// second is an error that Is ErrDuplicateKey.
	LastKeyWins bool
	// ReplaceInvalid puts U+FFFD where a text is not UTF-8 or has half a
	// surrogate pair, before names are sorted and compared. Default: an error.
	ReplaceInvalid bool
	// NegativeZero reads -0 and -0.0 as the double -0. Default: integer and
	// decimal zero.
	NegativeZero bool
	// MaxDepth is the number of containers that may be open at once, at most
	// and by default the constant MaxDepth.
	MaxDepth int
	// MaxSize is the largest text in bytes. Default: the constant MaxSize.
	MaxSize int
}

// Parser turns JSON text into events.
type Parser struct {
	opts ParseOptions
}

// NewParser returns a parser.
func NewParser(o ParseOptions) *Parser { return &Parser{opts: o} }

// Parse passes one JSON text to the sink.
func (p *Parser) Parse(text []byte, sink Sink) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if !json.Valid(text) {
		return &SyntaxError{Line: 1, Path: "$", Err: ErrSyntax}
	}
	var stack []bool
	key := false
	for {
		t, err := d.Token()
		if err != nil {
			return sink.Err()
		}
		switch t := t.(type) {
		case json.Delim:
			switch t {
			case '{':
				sink.Begin(KindObject)
				stack, key = append(stack, true), true
				continue
			case '[':
				sink.Begin(KindArray)
				stack, key = append(stack, false), false
				continue
			default:
				sink.End()
				stack = stack[:len(stack)-1]
			}
		case string:
			if key {
				sink.Key([]byte(t))
				key = false
				continue
			}
			sink.Scalar(&Scalar{Kind: KindString, Bytes: []byte(t)})
		case json.Number:
			var s Scalar
			number(string(t), &s)
			sink.Scalar(&s)
		case bool:
			s := Scalar{Kind: KindBool}
			if t {
				s.Int = 1
			}
			sink.Scalar(&s)
		case nil:
			sink.Scalar(&Scalar{Kind: KindNull})
		}
		key = len(stack) > 0 && stack[len(stack)-1]
	}
}

func number(t string, s *Scalar) {
	if x, err := strconv.ParseInt(t, 10, 64); err == nil {
		s.SetInt(x)
		return
	}
	digits := strings.TrimPrefix(t, "-")
	whole, frac, _ := strings.Cut(digits, ".")
	if !strings.ContainsAny(t, "eE") && len(whole)+len(frac) <= 39 && len(frac) <= 38 {
		var hi, lo uint64
		for _, c := range whole + frac {
			hi, lo, _ = mul128(hi, lo, 10)
			if lo += uint64(c - '0'); lo < uint64(c-'0') {
				hi++
			}
		}
		if fits38(hi, lo) {
			s.SetDecimal(decimalOf(t[0] == '-', hi, lo, uint8(len(frac))))
			return
		}
	}
	f, _ := strconv.ParseFloat(t, 64)
	if math.IsInf(f, 0) {
		f = 0
	}
	s.Kind, s.Float = KindDouble, f
}
