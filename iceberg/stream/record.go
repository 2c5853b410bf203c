package stream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Record is one message on its way from a source to a sink. The bytes belong
// to the record and must not be changed; they may be kept.
type Record struct {
	Key     []byte
	Value   []byte
	Headers []Header

	// Where the record came from. Output records carry the place of the
	// record that they were made from.
	Partition Partition
	Offset    int64
	Timestamp time.Time // of the broker, or of the producer if the topic says so

	// control marks the end of a foreign transaction: it moves the position
	// and is never shown to a transform.
	control bool
	// width is how many offsets the record takes; 0 means one.
	width int64
}

// next is the offset after the record.
func (r *Record) next() int64 { return r.Offset + max(r.width, 1) }

// Header is a key and a value beside a record's own.
type Header struct {
	Key   string
	Value []byte
}

// Partition is one ordered log of a source.
type Partition struct {
	Topic string `json:"topic"`
	ID    int32  `json:"partition"`
}

// String is the topic with the id in brackets.
func (p Partition) String() string { return fmt.Sprintf("%s[%d]", p.Topic, p.ID) }

func (p Partition) compare(q Partition) int {
	return cmp.Or(cmp.Compare(p.Topic, q.Topic), cmp.Compare(p.ID, q.ID))
}

// Offsets gives for each partition the offset of the next record to read. Its
// text form is JSON: {"topic":{"0":15,"3":7}}.
type Offsets map[Partition]int64

// Clone copies o; the clone of nil is empty and not nil.
func (o Offsets) Clone() Offsets {
	c := make(Offsets, len(o))
	maps.Copy(c, o)
	return c
}

// Partitions lists the partitions by topic and number.
func (o Offsets) Partitions() []Partition {
	return slices.SortedFunc(maps.Keys(o), Partition.compare)
}

// MarshalJSON writes the text form, topics and partitions in order.
func (o Offsets) MarshalJSON() ([]byte, error) {
	byTopic := map[string]map[int32]int64{}
	for p, next := range o {
		if byTopic[p.Topic] == nil {
			byTopic[p.Topic] = map[int32]int64{}
		}
		byTopic[p.Topic][p.ID] = next
	}
	return json.Marshal(byTopic)
}

// UnmarshalJSON reads the text form. Negative partitions and offsets are
// errors.
func (o *Offsets) UnmarshalJSON(b []byte) error {
	var byTopic map[string]map[int32]int64
	if err := json.Unmarshal(b, &byTopic); err != nil {
		return fmt.Errorf("%w: offsets: %w", ErrCorrupt, err)
	}
	*o = Offsets{}
	for topic, parts := range byTopic {
		for id, next := range parts {
			if id < 0 || next < 0 {
				return fmt.Errorf("%w: offsets: %s[%d] at %d", ErrCorrupt, topic, id, next)
			}
			(*o)[Partition{topic, id}] = next
		}
	}
	return nil
}

// Output collects what a transform makes of one record.
type Output struct {
	origin *Record
	recs   []Record
}

// Emit sends a record to the sink. Key, value and headers must stay unchanged
// from then on; the input's own bytes may be passed through.
func (o *Output) Emit(key, value []byte, headers ...Header) {
	o.recs = append(o.recs, Record{
		Key: key, Value: value, Headers: headers,
		Partition: o.origin.Partition, Offset: o.origin.Offset, Timestamp: o.origin.Timestamp,
	})
}
