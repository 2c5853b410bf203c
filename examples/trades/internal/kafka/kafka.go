// Package kafka sets up what the jobs need of a broker: an embedded one, and
// topics whose records carry the broker's own time.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Partitions is the number of partitions of each topic that Create makes.
const Partitions = 4

// Embedded starts a broker in this process, listening on the loopback
// interface, and returns its address.
func Embedded() (brokers []string, stop func(), err error) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.BrokerConfigs(map[string]string{
		"group.initial.rebalance.delay.ms": "0",
	}))
	if err != nil {
		return nil, nil, fmt.Errorf("embedded kafka: %w", err)
	}
	return c.ListenAddrs(), c.Close, nil
}

// Split reads a list such as "host:9092,other:9092".
func Split(brokers string) []string {
	var out []string
	for b := range strings.SplitSeq(brokers, ",") {
		if b = strings.TrimSpace(b); b != "" {
			out = append(out, b)
		}
	}
	return out
}

// Create makes the topics that do not exist yet. Their records are stamped by
// the broker when they arrive, which is what latencies are measured by.
func Create(ctx context.Context, brokers []string, topics ...string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer cl.Close()
	stamp := "LogAppendTime"
	resps, err := kadm.NewClient(cl).CreateTopics(ctx, Partitions, -1, map[string]*string{"message.timestamp.type": &stamp}, topics...)
	if err != nil {
		return fmt.Errorf("kafka: create topics: %w", err)
	}
	for _, r := range resps.Sorted() {
		if r.Err != nil && !errors.Is(r.Err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("kafka: create topic %s: %w", r.Topic, r.Err)
		}
	}
	return nil
}

// Ends gives the present end of each partition of a topic.
func Ends(ctx context.Context, brokers []string, topic string) (map[int32]int64, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	defer cl.Close()
	listed, err := kadm.NewClient(cl).ListCommittedOffsets(ctx, topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("kafka: ends of %s: %w", topic, err)
	}
	ends := map[int32]int64{}
	listed.Each(func(o kadm.ListedOffset) { ends[o.Partition] = o.Offset })
	return ends, nil
}
