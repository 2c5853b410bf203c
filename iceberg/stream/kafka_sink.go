package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TransactionInterval is how long a transaction of an exactly-once Kafka sink
// stays open at most, whatever the trigger's interval: readers that ask for
// committed records wait that long.
const TransactionInterval = 50 * time.Millisecond

// KafkaSinkOptions configures a Kafka sink.
type KafkaSinkOptions struct {
	Brokers []string // host:port, required
	Topic   string   // required

	// TransactionalID makes the sink exactly once: output and the source's
	// group offsets are committed in one transaction. The source must be a
	// Kafka source on the same brokers with a Group. Each process of the group
	// needs an id of its own, the same one after a restart, so that the broker
	// ends the transaction of its predecessor.
	TransactionalID string

	// Client adds options to the client, such as TLS and SASL.
	Client []kgo.Opt
}

// KafkaSink writes records to a topic: at least once, or exactly once with a
// TransactionalID. Records with one key keep their order.
type KafkaSink struct {
	o   KafkaSinkOptions
	cl  *kgo.Client  // own client when not transactional
	src *KafkaSource // shares its session when transactional
	in  bool         // a transaction is open

	mu     sync.Mutex
	failed error // first failed record of the epoch
}

// NewKafkaSink returns a sink; it connects when a query recovers it.
func NewKafkaSink(o KafkaSinkOptions) *KafkaSink { return &KafkaSink{o: o} }

// link implements linker: a transactional sink produces in the session of its
// source.
func (k *KafkaSink) link(src Source) error {
	if k.o.TransactionalID == "" {
		return nil
	}
	ks, ok := src.(*KafkaSource)
	if !ok || ks.o.Group == "" {
		return invalidf("an exactly-once Kafka sink needs a KafkaSource with a Group on the same brokers")
	}
	k.src = ks
	ks.txnID = k.o.TransactionalID
	return nil
}

// maxCommitInterval implements pacer.
func (k *KafkaSink) maxCommitInterval() time.Duration {
	if k.src != nil {
		return TransactionInterval
	}
	return 1<<63 - 1
}

// Recover implements Sink. The offsets of a transactional sink are those of
// the source's group, so it stores none of its own.
func (k *KafkaSink) Recover(context.Context, string) (Offsets, error) {
	if len(k.o.Brokers) == 0 || k.o.Topic == "" {
		return nil, invalidf("a Kafka sink needs brokers and a topic")
	}
	if k.src != nil || k.cl != nil {
		return nil, nil
	}
	opts := []kgo.Opt{kgo.SeedBrokers(k.o.Brokers...), kgo.ProducerLinger(0)}
	cl, err := kgo.NewClient(append(opts, k.o.Client...)...)
	if err != nil {
		return nil, fmt.Errorf("kafka sink: %w", err)
	}
	k.cl = cl
	return nil, nil
}

// Write implements Sink. It does not wait for the broker.
func (k *KafkaSink) Write(ctx context.Context, recs []Record, _ func(*Record, error)) error {
	cl, err := k.begin()
	if err != nil {
		return err
	}
	for i := range recs {
		cl.Produce(ctx, toKgo(k.o.Topic, &recs[i]), k.acknowledged)
	}
	return k.takeError(false)
}

// begin gives the client to produce with, inside a transaction if asked for.
func (k *KafkaSink) begin() (*kgo.Client, error) {
	if k.src == nil {
		return k.cl, nil
	}
	if !k.in {
		if err := k.src.conn.session.Begin(); err != nil {
			return nil, fmt.Errorf("kafka sink: begin transaction: %w", err)
		}
		k.in = true
	}
	return k.src.conn.cl, nil
}

func toKgo(topic string, r *Record) *kgo.Record {
	rec := &kgo.Record{Topic: topic, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return rec
}

func (k *KafkaSink) acknowledged(_ *kgo.Record, err error) {
	if err == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed == nil {
		k.failed = err
	}
}

// takeError gives the first failure since the epoch began, and forgets it if
// the epoch is over.
func (k *KafkaSink) takeError(over bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.failed
	if over {
		k.failed = nil
	}
	if err != nil {
		return fmt.Errorf("kafka sink: produce to %s: %w", k.o.Topic, err)
	}
	return nil
}

// Commit implements Sink.
func (k *KafkaSink) Commit(ctx context.Context, _ Epoch) error {
	if k.src != nil {
		return k.commitTransaction(ctx)
	}
	if err := k.cl.Flush(ctx); err != nil {
		return fmt.Errorf("kafka sink: flush: %w", err)
	}
	return k.takeError(true)
}

// commitTransaction commits output and group offsets together. Everything that
// was polled has been written, which is what the session's offsets mean. An
// epoch whose transaction the session had to abort, because of a rebalance or
// a failed record, starts over with a new client: what this one has buffered
// may be from before the abort.
func (k *KafkaSink) commitTransaction(ctx context.Context) error {
	if _, err := k.begin(); err != nil { // the epoch may have moved offsets only
		return err
	}
	if err := k.src.conn.cl.Flush(ctx); err != nil {
		return fmt.Errorf("kafka sink: flush: %w", err)
	}
	failed := k.takeError(true)
	k.in = false
	committed, err := k.src.conn.session.End(ctx, kgo.TransactionEndTry(failed == nil))
	switch {
	case failed != nil:
		return errors.Join(failed, err)
	case err != nil:
		return fmt.Errorf("kafka sink: end transaction: %w", err)
	case !committed:
		return fmt.Errorf("%w: the transaction was aborted by a rebalance", ErrFenced)
	}
	return nil
}

// Abort implements Sink. Records that are already at the broker stay there
// unless a transaction is open.
func (k *KafkaSink) Abort(ctx context.Context) error {
	defer func() { _ = k.takeError(true) }()
	if k.src == nil || !k.in {
		return nil
	}
	k.in = false
	if _, err := k.src.conn.session.End(ctx, kgo.TryAbort); err != nil {
		return fmt.Errorf("kafka sink: abort transaction: %w", err)
	}
	return nil
}

// Close implements Sink.
func (k *KafkaSink) Close() error {
	if k.cl != nil {
		k.cl.Close()
		k.cl = nil
	}
	k.in = false
	return nil
}
