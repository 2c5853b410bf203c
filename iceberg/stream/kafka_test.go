package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// broker starts an embedded broker with the topics in and out.
func broker(t *testing.T, partitions int32) (*kfake.Cluster, []string) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, "in", "out", "dead"),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c, c.ListenAddrs()
}

// produce writes records with numbers as keys and values.
func produce(t *testing.T, brokers []string, topic string, from, to int) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	require.NoError(t, err)
	defer cl.Close()
	var recs []*kgo.Record
	for _, n := range numbers(from, to) {
		recs = append(recs, &kgo.Record{Topic: topic, Key: []byte(n), Value: []byte(n)})
	}
	require.NoError(t, cl.ProduceSync(t.Context(), recs...).FirstErr())
}

// consume reads a topic from the start to its present end, committed records only.
func consume(t *testing.T, brokers []string, topic string) []*kgo.Record {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxWait(50*time.Millisecond))
	require.NoError(t, err)
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListCommittedOffsets(t.Context(), topic)
	require.NoError(t, err)
	left := map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var recs []*kgo.Record
	for len(left) > 0 {
		f := cl.PollFetches(ctx)
		require.NoError(t, f.Err())
		f.EachRecord(func(r *kgo.Record) {
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
			if !r.Attrs.IsControl() {
				recs = append(recs, r)
			}
		})
	}
	return recs
}

func sortedValues(recs []*kgo.Record) []string {
	var s []string
	for _, r := range recs {
		s = append(s, string(r.Value))
	}
	return byNumber(s)
}

func byNumber(s []string) []string {
	slices.SortFunc(s, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return s
}

// TestKafkaStartsAtTheEarliestRecord covers K03: records from before the first
// start are read, also when a group starts anew before its first commit.
func TestKafkaStartsAtTheEarliestRecord_K03(t *testing.T) {
	for _, group := range []string{"", "g"} {
		_, brokers := broker(t, 3)
		produce(t, brokers, "in", 0, 100)
		crash := errors.New("crash")
		sink := &memory{fail: func(Epoch) error { return crash }}
		q := Query{
			Name:   "q",
			Source: NewKafkaSource(KafkaSourceOptions{Brokers: brokers, Topics: []string{"in"}, Group: group}),
			Sink:   sink, Trigger: AvailableNow(), Checkpoint: t.TempDir(),
		}
		require.ErrorIs(t, run(t, q), crash)
		sink.fail = nil
		require.NoError(t, run(t, q))
		require.Equal(t, numbers(0, 100), byNumber(sink.values()))
		produce(t, brokers, "in", 100, 150)
		require.NoError(t, run(t, q))
		require.Equal(t, numbers(0, 150), byNumber(sink.values()))
	}
}

func TestKafkaToKafkaInRealTime(t *testing.T) {
	_, brokers := broker(t, 2)
	dead, err := NewKafkaDeadLetter(brokers, "dead")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ckpt := t.TempDir()
	r, err := Start(ctx, Query{
		Name:   "q",
		Source: NewKafkaSource(KafkaSourceOptions{Brokers: brokers, Topics: []string{"in"}, Group: "g"}),
		Sink:   NewKafkaSink(KafkaSinkOptions{Brokers: brokers, Topic: "out"}),
		Transform: func(_ context.Context, in *Record, out *Output) error {
			if strings.HasSuffix(string(in.Value), "9") {
				return errors.New("ends in nine")
			}
			out.Emit(in.Key, in.Value, Header{"from", fmt.Append(nil, in.Offset)})
			return nil
		},
		Trigger: RealTime(time.Minute), OutputMode: OutputUpdate, RealTimeEnabled: true,
		DeadLetter: dead, Checkpoint: ckpt, Logger: quiet,
	})
	require.NoError(t, err)
	produce(t, brokers, "in", 0, 100)
	// Records arrive long before the checkpoint of a minute.
	require.Eventually(t, func() bool { return len(consume(t, brokers, "out")) == 90 }, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, r.Stop(ctx))

	letters := consume(t, brokers, "dead")
	require.Len(t, letters, 10)
	headers := map[string]string{}
	for _, h := range letters[0].Headers {
		headers[h.Key] = string(h.Value)
	}
	require.Equal(t, "ends in nine", headers[HeaderReason])
	require.Equal(t, "q", headers[HeaderQuery])
	require.Equal(t, "in", headers[HeaderTopic])
	require.NotEmpty(t, headers[HeaderOffset])
	c, err := loadCheckpoint(ckpt, "q")
	require.NoError(t, err)
	require.Len(t, c.Offsets, 2, "Stop saves progress")
}

// TestExpiredRecordsAreAnError covers K02: a position that is no longer in the log
// is never taken for a reason to start somewhere else in silence.
func TestExpiredRecordsAreAnError_K02(t *testing.T) {
	_, brokers := broker(t, 1)
	produce(t, brokers, "in", 0, 10)
	sink := &memory{}
	o := KafkaSourceOptions{Brokers: brokers, Topics: []string{"in"}}
	q := Query{Name: "q", Source: NewKafkaSource(o), Sink: sink, Trigger: AvailableNow(), Checkpoint: t.TempDir()}
	require.NoError(t, run(t, q))
	produce(t, brokers, "in", 10, 30)
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	require.NoError(t, err)
	defer cl.Close()
	var upTo kadm.Offsets
	upTo.AddOffset("in", 0, 20, -1)
	_, err = kadm.NewClient(cl).DeleteRecords(t.Context(), upTo)
	require.NoError(t, err)

	require.ErrorIs(t, run(t, q), ErrDataLoss)
	o.AllowDataLoss = true
	q.Source = NewKafkaSource(o)
	require.NoError(t, run(t, q))
	require.Equal(t, append(numbers(0, 10), numbers(20, 30)...), sink.values())
}

// TestGroupMembersShareWithoutGapsOrRepeats runs two members against one sink
// that stores offsets, while partitions move between them. R06, K02.
func TestGroupMembersShareWithoutGapsOrRepeats_R06(t *testing.T) {
	_, brokers := broker(t, 4)
	sink := &memory{stores: true}
	member := func() *Running {
		own := &sharedSink{memory: sink}
		r, err := Start(t.Context(), Query{
			Name:   "q",
			Source: NewKafkaSource(KafkaSourceOptions{Brokers: brokers, Topics: []string{"in"}, Group: "g"}),
			Sink:   own, Trigger: ProcessingTime(10 * time.Millisecond), Logger: quiet,
		})
		require.NoError(t, err)
		return r
	}
	first := member()
	var sent int
	send := func(n int) {
		produce(t, brokers, "in", sent, sent+n)
		sent += n
	}
	send(200)
	second := member()
	for range 10 {
		send(100)
	}
	require.NoError(t, first.Stop(t.Context()))
	send(200)
	third := member()
	send(200)
	require.Eventually(t, func() bool { return len(sink.values()) >= sent }, 30*time.Second, 10*time.Millisecond)
	require.NoError(t, second.Stop(t.Context()))
	send(50)
	require.Eventually(t, func() bool { return len(sink.values()) >= sent }, 30*time.Second, 10*time.Millisecond)
	require.NoError(t, third.Stop(t.Context()))
	require.Equal(t, numbers(0, sent), byNumber(sink.values()))
}

// sharedSink is one writer's view of a memory that several writers share.
type sharedSink struct {
	*memory
	mine []string
}

func (s *sharedSink) Write(_ context.Context, recs []Record, _ func(*Record, error)) error {
	for i := range recs {
		s.mine = append(s.mine, string(recs[i].Value))
	}
	return nil
}

func (s *sharedSink) Commit(_ context.Context, e Epoch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, from := range e.From {
		if next, ok := s.offsets[p]; ok && next != from {
			return ErrFenced
		}
	}
	if s.offsets == nil {
		s.offsets = Offsets{}
	}
	for p, to := range e.To {
		s.offsets[p] = to
	}
	s.committed = append(s.committed, s.mine...)
	s.mine = nil
	return nil
}

func (s *sharedSink) Abort(context.Context) error {
	s.mine = nil
	return nil
}

func TestExactlyOnceKafkaSinkNeedsAGroup(t *testing.T) {
	sink := NewKafkaSink(KafkaSinkOptions{Brokers: []string{"x"}, Topic: "out", TransactionalID: "t"})
	err := (&Query{Name: "q", Source: NewFileSource("*"), Sink: sink}).Validate()
	require.ErrorIs(t, err, ErrInvalid)
	err = (&Query{Name: "q", Source: NewKafkaSource(KafkaSourceOptions{}), Sink: sink}).Validate()
	require.ErrorContains(t, err, "Group")
}

func exactlyOnce(brokers []string, id string) Query {
	return Query{
		Name:    "q",
		Source:  NewKafkaSource(KafkaSourceOptions{Brokers: brokers, Topics: []string{"in"}, Group: "g"}),
		Sink:    NewKafkaSink(KafkaSinkOptions{Brokers: brokers, Topic: "out", TransactionalID: id}),
		Trigger: RealTime(time.Minute), OutputMode: OutputUpdate, RealTimeEnabled: true, Logger: quiet,
	}
}

// TestKafkaExactlyOnceOverRebalancesAndAborts covers K10, R04: transactions are
// aborted by rebalances and by the broker, and the topic holds each record once.
func TestKafkaExactlyOnceOverRebalancesAndAborts_K10_R04(t *testing.T) {
	c, brokers := broker(t, 4)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	start := func(id string) *Running {
		r, err := Start(ctx, exactlyOnce(brokers, id))
		require.NoError(t, err)
		return r
	}
	var sent int
	send := func(n int) {
		produce(t, brokers, "in", sent, sent+n)
		sent += n
	}
	first := start("a")
	send(300)
	second := start("b")
	for range 5 {
		send(100)
	}
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.TxnOffsetCommit}, Err: kerr.RebalanceInProgress, Count: 2})
	send(100)
	require.NoError(t, first.Stop(ctx))
	send(100)
	third := start("a") // the same id again ends what its predecessor left
	send(100)
	require.Eventually(t, func() bool { return len(consume(t, brokers, "out")) >= sent }, 40*time.Second, 20*time.Millisecond)
	require.NoError(t, second.Stop(ctx))
	require.NoError(t, third.Stop(ctx))
	require.Equal(t, numbers(0, sent), sortedValues(consume(t, brokers, "out")))
}

// TestKafkaExactlyOnceSurvivesACrash kills a query in the middle of a
// transaction, without an abort.
func TestKafkaExactlyOnceSurvivesACrash(t *testing.T) {
	_, brokers := broker(t, 2)
	produce(t, brokers, "in", 0, 100)
	q := exactlyOnce(brokers, "a")
	var seen atomic.Int64
	q.Transform = func(_ context.Context, in *Record, out *Output) error {
		out.Emit(in.Key, in.Value)
		if seen.Add(1) == 50 {
			panic("crash")
		}
		return nil
	}
	require.ErrorIs(t, run(t, q), ErrPanic)
	q = exactlyOnce(brokers, "a")
	r, err := Start(t.Context(), q)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(consume(t, brokers, "out")) >= 100 }, 20*time.Second, 20*time.Millisecond)
	require.NoError(t, r.Stop(t.Context()))
	require.Equal(t, numbers(0, 100), sortedValues(consume(t, brokers, "out")))
	require.Greater(t, r.Counters().Epochs, int64(0))
}
