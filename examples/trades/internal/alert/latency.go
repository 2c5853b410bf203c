package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/frazil/frazil/examples/trades/internal/kafka"
	"github.com/frazil/frazil/examples/trades/internal/trade"
)

// Report is what the alerts topic tells.
type Report struct {
	Critical, High int
	Bytes          int64 // of all alerts
	// Latencies are those of all alerts, sorted: from the time the broker got
	// the trade to the time it got the alert.
	Latencies []time.Duration
}

// Percentile gives the latency that a share p (0 to 1) of the alerts does not
// exceed; 0 without alerts.
func (r *Report) Percentile(p float64) time.Duration {
	if len(r.Latencies) == 0 {
		return 0
	}
	i := int(math.Ceil(p*float64(len(r.Latencies)))) - 1
	return r.Latencies[min(max(i, 0), len(r.Latencies)-1)]
}

// Read reads the alerts topic from the given offsets, or from its start where
// there are none, to its present end.
func Read(ctx context.Context, brokers []string, from map[int32]int64) (*Report, error) {
	ends, err := kafka.Ends(ctx, brokers, trade.AlertsTopic)
	if err != nil {
		return nil, fmt.Errorf("alerts: %w", err)
	}
	left := map[int32]int64{}
	start := map[int32]kgo.Offset{}
	for p, end := range ends {
		if end > from[p] {
			left[p], start[p] = end, kgo.NewOffset().At(from[p])
		}
	}
	r := &Report{}
	if len(left) == 0 {
		return r, nil
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.FetchMaxWait(100*time.Millisecond),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{trade.AlertsTopic: start}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())
	if err != nil {
		return nil, fmt.Errorf("alerts: %w", err)
	}
	defer cl.Close()
	for len(left) > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, fmt.Errorf("alerts: %w", err)
		}
		for rec := range fetches.RecordsAll() {
			if rec.Offset+1 >= left[rec.Partition] {
				delete(left, rec.Partition)
			}
			if err := r.add(rec); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(r.Latencies)
	return r, nil
}

func (r *Report) add(rec *kgo.Record) error {
	if rec.Attrs.IsControl() {
		return nil
	}
	var a Alert
	if err := json.Unmarshal(rec.Value, &a); err != nil {
		return fmt.Errorf("alerts: partition %d offset %d: %w", rec.Partition, rec.Offset, err)
	}
	switch a.Level {
	case Critical:
		r.Critical++
	case High:
		r.High++
	default:
		return fmt.Errorf("alerts: partition %d offset %d: level %q", rec.Partition, rec.Offset, a.Level)
	}
	r.Bytes += int64(len(rec.Value))
	took := rec.Timestamp.Sub(time.UnixMilli(a.TradeTime))
	r.Latencies = append(r.Latencies, max(took, 0))
	return nil
}
