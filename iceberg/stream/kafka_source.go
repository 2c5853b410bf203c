package stream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// StartAt says where to begin a partition of which no progress is known.
type StartAt uint8

// Where a new query begins.
const (
	StartEarliest StartAt = iota
	StartLatest
)

// KafkaSourceOptions configures a Kafka source.
type KafkaSourceOptions struct {
	Brokers []string // host:port, required
	Topics  []string // required

	// Group shares the partitions among all processes that name it. When it is
	// empty this process reads all partitions that exist when it starts, and
	// progress is kept in the checkpoint or the sink only.
	Group string

	// Start applies to partitions without progress. Default: earliest.
	Start StartAt

	// AllowDataLoss goes on at the oldest record that is left when the next one
	// to read has expired. By default the query fails with ErrDataLoss.
	AllowDataLoss bool

	// ReadUncommitted shows records of open and aborted transactions as well.
	ReadUncommitted bool

	// Client adds options to the client, such as TLS and SASL.
	Client []kgo.Opt
}

// KafkaSource reads topics. One query uses it at a time.
type KafkaSource struct {
	o     KafkaSourceOptions
	txnID string // set by a transactional sink
	conn  *kafkaConn
}

// kafkaConn is what lives from Open to Close. The client's callbacks may come
// a little later than that, from other goroutines, so they hold on to it.
type kafkaConn struct {
	a       Assignee
	o       *KafkaSourceOptions
	cl      *kgo.Client               // set once ready is closed
	session *kgo.GroupTransactSession // the same client, when a sink shares it
	ready   chan struct{}
	failed  atomic.Pointer[error] // from a callback, for the next Poll
}

// NewKafkaSource returns a source; it connects when a query opens it.
func NewKafkaSource(o KafkaSourceOptions) *KafkaSource { return &KafkaSource{o: o} }

// Open implements Source.
func (s *KafkaSource) Open(ctx context.Context, a Assignee) error {
	if len(s.o.Brokers) == 0 || len(s.o.Topics) == 0 {
		return invalidf("a Kafka source needs brokers and topics")
	}
	c := &kafkaConn{a: a, o: &s.o, ready: make(chan struct{})}
	if err := c.connect(s.txnID); err != nil {
		return fmt.Errorf("kafka source: %w", err)
	}
	close(c.ready)
	s.conn = c
	if s.o.Group == "" {
		return c.assignAll(ctx)
	}
	return nil
}

func (c *kafkaConn) connect(txnID string) (err error) {
	opts := c.o.clientOptions()
	if c.o.Group != "" {
		opts = append(opts,
			kgo.ConsumerGroup(c.o.Group),
			kgo.ConsumeTopics(c.o.Topics...),
			kgo.DisableAutoCommit(),
			kgo.BlockRebalanceOnPoll(),
			kgo.AdjustFetchOffsetsFn(c.assigned),
			kgo.OnPartitionsRevoked(c.revoked(txnID != "")),
			kgo.OnPartitionsLost(c.revoked(true)),
		)
	}
	if txnID == "" {
		c.cl, err = kgo.NewClient(opts...)
		return err
	}
	opts = append(opts, kgo.TransactionalID(txnID), kgo.ProducerLinger(0))
	if c.session, err = kgo.NewGroupTransactSession(opts...); err != nil {
		return err
	}
	c.cl = c.session.Client()
	return nil
}

// assignAll takes all partitions, without a group.
func (c *kafkaConn) assignAll(ctx context.Context) error {
	starts, err := c.bounds(ctx)
	if err != nil {
		return err
	}
	parts := make(map[Partition]Position, len(starts))
	for p, start := range starts {
		parts[p] = Position{Start: start, Committed: -1}
	}
	at, err := c.a.Assigned(ctx, parts)
	if err != nil {
		return err
	}
	c.cl.AddConsumePartitions(kgoOffsets(at))
	return nil
}

// Fetches are kept small enough that a burst waits at the broker, not here.
const (
	fetchBytes          = 8 << 20
	fetchPartitionBytes = 2 << 20
	fetchWait           = 500 * time.Millisecond
)

func (o *KafkaSourceOptions) clientOptions() []kgo.Opt {
	isolation := kgo.ReadCommitted()
	if o.ReadUncommitted {
		isolation = kgo.ReadUncommitted()
	}
	reset := kgo.NoResetOffset()
	if o.AllowDataLoss {
		reset = kgo.NewOffset().AtStart()
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(o.Brokers...),
		kgo.FetchIsolationLevel(isolation),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(reset),
		// Control records move the position past the end of transactions, so
		// that a drained partition is recognised.
		kgo.KeepControlRecords(),
		kgo.FetchMinBytes(1),
		kgo.FetchMaxWait(fetchWait),
		kgo.FetchMaxBytes(fetchBytes),
		kgo.FetchMaxPartitionBytes(fetchPartitionBytes),
	}
	return append(opts, o.Client...)
}

// bounds lists the default start of each partition.
func (c *kafkaConn) bounds(ctx context.Context) (Offsets, error) {
	if c.o.Start == StartLatest {
		return c.ends(ctx)
	}
	listed, err := kadm.NewClient(c.cl).ListStartOffsets(ctx, c.o.Topics...)
	return listedOffsets(listed, err)
}

// Ends implements Source.
func (s *KafkaSource) Ends(ctx context.Context) (Offsets, error) { return s.conn.ends(ctx) }

func (c *kafkaConn) ends(ctx context.Context) (Offsets, error) {
	adm := kadm.NewClient(c.cl)
	if c.o.ReadUncommitted {
		listed, err := adm.ListEndOffsets(ctx, c.o.Topics...)
		return listedOffsets(listed, err)
	}
	listed, err := adm.ListCommittedOffsets(ctx, c.o.Topics...)
	return listedOffsets(listed, err)
}

func listedOffsets(listed kadm.ListedOffsets, err error) (Offsets, error) {
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("kafka source: list offsets: %w", err)
	}
	o := Offsets{}
	listed.Each(func(l kadm.ListedOffset) { o[Partition{l.Topic, l.Partition}] = l.Offset })
	return o, nil
}

// assigned is called when partitions arrive, with what the group has committed.
func (c *kafkaConn) assigned(ctx context.Context, offered map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	<-c.ready
	at, err := c.positions(ctx, offered)
	if err != nil {
		err = fmt.Errorf("kafka source: assign: %w", err)
		c.failed.CompareAndSwap(nil, &err)
		return nil, err
	}
	return kgoOffsets(at), nil
}

func (c *kafkaConn) positions(ctx context.Context, offered map[string]map[int32]kgo.Offset) (Offsets, error) {
	starts, err := c.bounds(ctx)
	if err != nil {
		return nil, err
	}
	parts := map[Partition]Position{}
	for topic, byID := range offered {
		for id, o := range byID {
			p := Partition{topic, id}
			start, ok := starts[p]
			if !ok {
				return nil, fmt.Errorf("%v is assigned but not listed", p)
			}
			// Offsets below 0 stand for the start and the end.
			parts[p] = Position{Start: start, Committed: max(o.EpochOffset().Offset, -1)}
		}
	}
	if len(parts) == 0 {
		return Offsets{}, nil
	}
	return c.a.Assigned(ctx, parts)
}

func (c *kafkaConn) revoked(lost bool) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(ctx context.Context, _ *kgo.Client, gone map[string][]int32) {
		var parts []Partition
		for topic, ids := range gone {
			for _, id := range ids {
				parts = append(parts, Partition{topic, id})
			}
		}
		if len(parts) > 0 {
			c.a.Revoked(ctx, parts, lost)
		}
	}
}

func kgoOffsets(o Offsets) map[string]map[int32]kgo.Offset {
	m := map[string]map[int32]kgo.Offset{}
	for p, next := range o {
		if m[p.Topic] == nil {
			m[p.Topic] = map[int32]kgo.Offset{}
		}
		m[p.Topic][p.ID] = kgo.NewOffset().At(next)
	}
	return m
}

// Poll implements Source. The group may be rebalanced only in here.
func (s *KafkaSource) Poll(ctx context.Context, max int) ([]Record, error) {
	c := s.conn
	if s.o.Group != "" {
		c.cl.AllowRebalance()
	}
	fetches := c.cl.PollRecords(ctx, max)
	if err := c.failed.Load(); err != nil {
		return nil, *err
	}
	for _, f := range fetches.Errors() {
		if err := s.fetchError(ctx, f); err != nil {
			return nil, err
		}
	}
	recs := make([]Record, 0, fetches.NumRecords())
	fetches.EachRecord(func(r *kgo.Record) { recs = append(recs, fromKgo(r)) })
	return recs, nil
}

// fetchError says whether the query can go on after an error of a partition.
func (s *KafkaSource) fetchError(ctx context.Context, f kgo.FetchError) error {
	var lost *kgo.ErrDataLoss
	switch {
	case errors.Is(f.Err, context.DeadlineExceeded), errors.Is(f.Err, context.Canceled):
		return nil
	case errors.Is(f.Err, kerr.OffsetOutOfRange):
		return fmt.Errorf("%w: %s[%d]: %w (set AllowDataLoss to go on with what is left)", ErrDataLoss, f.Topic, f.Partition, f.Err)
	case errors.As(f.Err, &lost):
		if s.o.AllowDataLoss {
			return nil
		}
		return fmt.Errorf("%w: %w", ErrDataLoss, f.Err)
	}
	var ke *kerr.Error
	if errors.As(f.Err, &ke) && ke.Retriable {
		return nil // the client tries again by itself
	}
	return fmt.Errorf("kafka source: %s[%d]: %w", f.Topic, f.Partition, f.Err)
}

func fromKgo(r *kgo.Record) Record {
	rec := Record{
		Key: r.Key, Value: r.Value, Partition: Partition{r.Topic, r.Partition},
		Offset: r.Offset, Timestamp: r.Timestamp, control: r.Attrs.IsControl(),
	}
	for _, h := range r.Headers {
		rec.Headers = append(rec.Headers, Header{h.Key, h.Value})
	}
	return rec
}

// Commit implements Source: it commits the offsets to the group. In a shared
// session they are part of the sink's transactions.
func (s *KafkaSource) Commit(ctx context.Context, next Offsets) error {
	if s.o.Group == "" || s.conn.session != nil || len(next) == 0 {
		return nil
	}
	group := map[string]map[int32]kgo.EpochOffset{}
	for p, n := range next {
		if group[p.Topic] == nil {
			group[p.Topic] = map[int32]kgo.EpochOffset{}
		}
		group[p.Topic][p.ID] = kgo.EpochOffset{Epoch: -1, Offset: n}
	}
	var failed error
	s.conn.cl.CommitOffsetsSync(ctx, group, func(_ *kgo.Client, _ *kmsgCommitRequest, resp *kmsgCommitResponse, err error) {
		failed = commitError(resp, err)
	})
	if failed != nil {
		return fmt.Errorf("kafka source: commit offsets: %w", failed)
	}
	return nil
}

// Close implements Source.
func (s *KafkaSource) Close() error {
	if s.conn != nil {
		s.conn.cl.CloseAllowingRebalance()
		s.conn = nil
	}
	return nil
}
