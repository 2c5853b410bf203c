package trade

import (
	"errors"
	"fmt"
	"time"

	"github.com/frazil/frazil/variant"
)

// The topics of the pipeline.
const (
	Topic           = "trade-risk-vectors"
	AlertsTopic     = "trade-alerts"
	DeadLetterTopic = "trade-dead-letters"
	AlertsDeadTopic = "trade-alerts-dead-letters"
)

// ErrBad is wrapped by every reason to refuse an event.
var ErrBad = errors.New("bad trade")

// Event is what the jobs need of a trade event, beside its bytes.
type Event struct {
	TradeID       string
	BookID        string
	Desk          string
	AssetClass    string // "" when the event leaves it to the table's default
	ExecutionTime string
	TradeDate     string
	Region        string // "" when absent
	Notional      float64
	RiskWeight    float64 // 1 when absent
	hasVector     bool
}

// Decoder checks events and takes them apart. It is for one goroutine.
type Decoder struct {
	parser *variant.Parser
	sink   eventSink
}

// NewDecoder returns a decoder.
func NewDecoder() *Decoder { return &Decoder{parser: variant.NewParser(variant.ParseOptions{})} }

// Decode reads one event. The error says why the event must not become a row:
// it is not one JSON object, lacks a field that every trade has, or holds a
// value of the wrong type. The event is valid until the next call.
func (d *Decoder) Decode(text []byte) (*Event, error) {
	d.sink = eventSink{ev: Event{RiskWeight: 1}}
	err := d.parser.Parse(text, &d.sink)
	if err == nil {
		err = d.sink.ev.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBad, err)
	}
	return &d.sink.ev, nil
}

// timeLayout is ISO 8601 with milliseconds, in UTC.
const timeLayout = "2006-01-02T15:04:05.000Z"

func (e *Event) check() error {
	required := [...]struct{ name, value string }{
		{"trade_id", e.TradeID},
		{"book_id", e.BookID},
		{"desk", e.Desk},
		{"execution_time", e.ExecutionTime},
		{"trade_date", e.TradeDate},
	}
	for _, f := range required {
		if f.value == "" {
			return fmt.Errorf("%s is missing", f.name)
		}
	}
	if !e.hasVector {
		return errors.New("pricing_vector is missing or not an object")
	}
	if !(e.Notional > 0) {
		return errors.New("notional is missing or not above 0")
	}
	if _, err := time.Parse(time.DateOnly, e.TradeDate); err != nil {
		return fmt.Errorf("trade_date %q is not a date", e.TradeDate)
	}
	if _, err := time.Parse(timeLayout, e.ExecutionTime); err != nil {
		return fmt.Errorf("execution_time %q is not of the form %s", e.ExecutionTime, timeLayout)
	}
	return nil
}

// eventSink receives the event from the parser and keeps the fields of its top
// level; what lies deeper has only been checked to be JSON.
type eventSink struct {
	ev    Event
	depth int
	field field
	err   error
}

type field uint8

const (
	fieldOther field = iota
	fieldTradeID
	fieldBookID
	fieldDesk
	fieldAssetClass
	fieldExecutionTime
	fieldTradeDate
	fieldRegion
	fieldNotional
	fieldRiskWeight
	fieldVector
)

func fieldOf(name []byte) field {
	switch string(name) {
	case "trade_id":
		return fieldTradeID
	case "book_id":
		return fieldBookID
	case "desk":
		return fieldDesk
	case "asset_class":
		return fieldAssetClass
	case "execution_time":
		return fieldExecutionTime
	case "trade_date":
		return fieldTradeDate
	case "region":
		return fieldRegion
	case "notional":
		return fieldNotional
	case "risk_weight":
		return fieldRiskWeight
	case "pricing_vector":
		return fieldVector
	default:
		return fieldOther
	}
}

// Begin implements variant.Sink.
func (s *eventSink) Begin(k variant.Kind) {
	switch s.depth {
	case 0:
		if k != variant.KindObject {
			s.fail(errors.New("the event is not an object"))
		}
	case 1:
		if s.field == fieldVector {
			s.ev.hasVector = k == variant.KindObject
		} else if s.field != fieldOther {
			s.fail(errors.New("a container where a plain value belongs"))
		}
	}
	s.depth++
}

// End implements variant.Sink.
func (s *eventSink) End() { s.depth-- }

// Key implements variant.Sink.
func (s *eventSink) Key(name []byte) {
	if s.depth == 1 {
		s.field = fieldOf(name)
	}
}

// Scalar implements variant.Sink.
func (s *eventSink) Scalar(v *variant.Scalar) {
	if s.depth == 0 {
		s.fail(errors.New("the event is not an object"))
		return
	}
	if s.depth > 1 || v.Kind == variant.KindNull {
		return
	}
	switch s.field {
	case fieldTradeID:
		s.text(v, &s.ev.TradeID)
	case fieldBookID:
		s.text(v, &s.ev.BookID)
	case fieldDesk:
		s.text(v, &s.ev.Desk)
	case fieldAssetClass:
		s.text(v, &s.ev.AssetClass)
	case fieldExecutionTime:
		s.text(v, &s.ev.ExecutionTime)
	case fieldTradeDate:
		s.text(v, &s.ev.TradeDate)
	case fieldRegion:
		s.text(v, &s.ev.Region)
	case fieldNotional:
		s.number(v, &s.ev.Notional)
	case fieldRiskWeight:
		s.number(v, &s.ev.RiskWeight)
	case fieldVector, fieldOther:
	}
}

// Err implements variant.Sink.
func (s *eventSink) Err() error { return s.err }

func (s *eventSink) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *eventSink) text(v *variant.Scalar, to *string) {
	if v.Kind != variant.KindString {
		s.fail(fmt.Errorf("%v where a string belongs", v.Kind))
		return
	}
	*to = string(v.Bytes)
}

var double = variant.Type{ID: variant.TypeDouble}

func (s *eventSink) number(v *variant.Scalar, to *float64) {
	if v.Kind == variant.KindString || v.Kind == variant.KindBool {
		s.fail(fmt.Errorf("%v where a number belongs", v.Kind))
		return
	}
	f, err := variant.CastScalar(v, double)
	if err != nil {
		s.fail(err)
		return
	}
	*to = f.Float
}
