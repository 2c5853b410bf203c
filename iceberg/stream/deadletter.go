package stream

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The headers of a dead letter. Key, value and other headers are the record's.
const (
	HeaderReason    = "frazil-reason"
	HeaderQuery     = "frazil-query"
	HeaderTopic     = "frazil-topic"
	HeaderPartition = "frazil-partition"
	HeaderOffset    = "frazil-offset"
)

// KafkaDeadLetter writes dead letters to a topic, with the reason and the
// record's place in headers. Several queries may share it if each Close is
// expected to end it only for the last; give each query its own otherwise.
type KafkaDeadLetter struct {
	cl    *kgo.Client
	topic string

	mu     sync.Mutex
	failed error
}

// NewKafkaDeadLetter connects to the brokers. opts adds to the client's
// options.
func NewKafkaDeadLetter(brokers []string, topic string, opts ...kgo.Opt) (*KafkaDeadLetter, error) {
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(brokers...)}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("kafka dead letters: %w", err)
	}
	return &KafkaDeadLetter{cl: cl, topic: topic}, nil
}

// Put implements DeadLetter.
func (d *KafkaDeadLetter) Put(ctx context.Context, query string, r *Record, reason error) error {
	rec := toKgo(d.topic, r)
	add := func(key, value string) {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	add(HeaderReason, reason.Error())
	add(HeaderQuery, query)
	add(HeaderTopic, r.Partition.Topic)
	add(HeaderPartition, strconv.Itoa(int(r.Partition.ID)))
	add(HeaderOffset, strconv.FormatInt(r.Offset, 10))
	d.cl.Produce(ctx, rec, func(_ *kgo.Record, err error) {
		if err != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.failed = err
		}
	})
	return nil
}

// Flush implements DeadLetter.
func (d *KafkaDeadLetter) Flush(ctx context.Context) error {
	if err := d.cl.Flush(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.failed
	d.failed = nil
	return err
}

// Close implements DeadLetter.
func (d *KafkaDeadLetter) Close() error {
	d.cl.Close()
	return nil
}

// DeadLetterFunc calls a function for each dead letter.
type DeadLetterFunc func(ctx context.Context, query string, r *Record, reason error) error

// Put implements DeadLetter.
func (f DeadLetterFunc) Put(ctx context.Context, query string, r *Record, reason error) error {
	return protect("dead letter function", func() error { return f(ctx, query, r, reason) })
}

// Flush implements DeadLetter; there is nothing to flush.
func (f DeadLetterFunc) Flush(context.Context) error { return nil }

// Close implements DeadLetter; there is nothing to close.
func (f DeadLetterFunc) Close() error { return nil }
