// Package alert is the second job: in real time it scores each trade, enriches
// it and routes the large ones to a topic of alerts, Kafka to Kafka.
package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/frazil/frazil/examples/trades/internal/trade"
	"github.com/frazil/frazil/iceberg/stream"
)

// Level says how urgent an alert is.
type Level string

// The levels, by notional.
const (
	High     Level = "HIGH"     // above HighNotional
	Critical Level = "CRITICAL" // above CriticalNotional
)

// The notionals above which a trade is reported.
const (
	HighNotional     = 25e6
	CriticalNotional = 50e6
)

// Alert is a record of the alerts topic.
type Alert struct {
	TradeID    string  `json:"trade_id"`
	BookID     string  `json:"book_id"`
	Desk       string  `json:"desk"`
	AssetClass string  `json:"asset_class"`
	Notional   float64 `json:"notional"`
	// Score weighs the notional by the trade's own weight, 0 to 100.
	Score         float64 `json:"score"`
	Level         Level   `json:"level"`
	ExecutionTime string  `json:"execution_time"`
	// TradeTime is when the broker got the trade, AlertTime when the alert was
	// made; both in milliseconds since 1970. The broker stamps the record of
	// the alert itself when it arrives.
	TradeTime int64 `json:"trade_time_ms"`
	AlertTime int64 `json:"alert_time_ms"`
}

// Options configures the query.
type Options struct {
	Brokers    []string
	Group      string // consumer group; "" reads all partitions
	Checkpoint string // folder of the progress file
	// NewOnly begins at the end of the topic when there is no progress yet.
	NewOnly bool
	// TransactionalID makes the alerts exactly once, at the price of latency.
	TransactionalID string
}

// Query builds the streaming query.
func Query(o Options) (stream.Query, error) {
	dead, err := stream.NewKafkaDeadLetter(o.Brokers, trade.AlertsDeadTopic)
	if err != nil {
		return stream.Query{}, err
	}
	start := stream.StartEarliest
	if o.NewOnly {
		start = stream.StartLatest
	}
	dec := trade.NewDecoder()
	return stream.Query{
		Name: "trade-alerts",
		Source: stream.NewKafkaSource(stream.KafkaSourceOptions{
			Brokers: o.Brokers, Topics: []string{trade.Topic}, Group: o.Group, Start: start,
		}),
		Transform: func(_ context.Context, in *stream.Record, out *stream.Output) error {
			return route(dec, in, out, time.Now())
		},
		Sink: stream.NewKafkaSink(stream.KafkaSinkOptions{
			Brokers: o.Brokers, Topic: trade.AlertsTopic, TransactionalID: o.TransactionalID,
		}),
		Trigger:         stream.RealTime(time.Minute),
		OutputMode:      stream.OutputUpdate,
		RealTimeEnabled: true,
		Checkpoint:      o.Checkpoint,
		DeadLetter:      dead,
	}, nil
}

// route emits an alert if the trade is large.
func route(dec *trade.Decoder, in *stream.Record, out *stream.Output, now time.Time) error {
	ev, err := dec.Decode(in.Value)
	if err != nil {
		return err
	}
	level, ok := levelOf(ev.Notional)
	if !ok {
		return nil
	}
	class := ev.AssetClass
	if class == "" {
		class = "UNKNOWN"
	}
	value, err := json.Marshal(Alert{
		TradeID: ev.TradeID, BookID: ev.BookID, Desk: ev.Desk, AssetClass: class, Notional: ev.Notional,
		Score: score(ev), Level: level, ExecutionTime: ev.ExecutionTime,
		TradeTime: in.Timestamp.UnixMilli(), AlertTime: now.UnixMilli(),
	})
	if err != nil {
		return fmt.Errorf("alert: %w", err)
	}
	out.Emit(in.Key, value, stream.Header{Key: "level", Value: []byte(level)})
	return nil
}

func levelOf(notional float64) (Level, bool) {
	switch {
	case notional > CriticalNotional:
		return Critical, true
	case notional > HighNotional:
		return High, true
	}
	return "", false
}

// score maps the weighted notional to 0..100 on a logarithmic scale: 50 at the
// level HIGH, 100 at forty times that.
func score(ev *trade.Event) float64 {
	x := 50 + 50*math.Log(ev.Notional*ev.RiskWeight/HighNotional)/math.Log(40)
	return math.Round(min(max(x, 0), 100)*10) / 10
}
