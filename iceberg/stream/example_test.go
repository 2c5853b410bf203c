package stream_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/frazil/frazil/iceberg"
	"github.com/frazil/frazil/iceberg/stream"
)

// A query reads the lines of files and gives each epoch's output to a function.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("ice\nwater\nsnow\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	err = stream.Run(context.Background(), stream.Query{
		Name:   "shout",
		Source: stream.NewFileSource(filepath.Join(dir, "*.txt")),
		Transform: func(_ context.Context, in *stream.Record, out *stream.Output) error {
			if string(in.Value) == "water" {
				return fmt.Errorf("%q is not frozen", in.Value)
			}
			out.Emit(nil, []byte(strings.ToUpper(string(in.Value))))
			return nil
		},
		Sink: stream.NewCallbackSink(func(_ context.Context, e stream.Epoch, recs []stream.Record) error {
			for _, r := range recs {
				fmt.Printf("epoch %d: %s\n", e.ID, r.Value)
			}
			return nil
		}),
		DeadLetter: stream.DeadLetterFunc(func(_ context.Context, _ string, r *stream.Record, reason error) error {
			fmt.Printf("set aside at %d: %v\n", r.Offset, reason)
			return nil
		}),
		Trigger:    stream.AvailableNow(),
		Checkpoint: filepath.Join(dir, "progress"),
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// set aside at 4: "water" is not frozen
	// epoch 1: ICE
	// epoch 1: SNOW
}

// A topic becomes a table, each record once.
func ExampleStart() {
	ctx := context.Background()
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "readings"))
	if err != nil {
		log.Fatal(err)
	}
	defer broker.Close()
	producer, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...))
	if err != nil {
		log.Fatal(err)
	}
	defer producer.Close()

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	catalog, err := iceberg.OpenWarehouse(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	columns, err := iceberg.ParseColumns("station:string,reading:variant")
	if err != nil {
		log.Fatal(err)
	}
	table, err := catalog.Create(ctx, "lab.readings", iceberg.TableSpec{Columns: columns})
	if err != nil {
		log.Fatal(err)
	}

	query, err := stream.Start(ctx, stream.Query{
		Name:    "readings",
		Source:  stream.NewKafkaSource(stream.KafkaSourceOptions{Brokers: broker.ListenAddrs(), Topics: []string{"readings"}}),
		Sink:    stream.NewIcebergSink(table, stream.IcebergSinkOptions{}),
		Trigger: stream.ProcessingTime(10 * time.Millisecond),
	})
	if err != nil {
		log.Fatal(err)
	}
	record := &kgo.Record{Topic: "readings", Value: []byte(`{"station":"K2","reading":{"temp":-31.5,"wind":{"kn":40}}}`)}
	if err := producer.ProduceSync(ctx, record).FirstErr(); err != nil {
		log.Fatal(err)
	}
	for query.Counters().Records == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := query.Stop(ctx); err != nil {
		log.Fatal(err)
	}

	if err := table.Refresh(ctx); err != nil {
		log.Fatal(err)
	}
	scan, err := table.Scan(ctx, iceberg.ScanOptions{Columns: []string{"station"}})
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Column(0))
		batch.Release()
	}
	// Output: ["K2"]
}

// A real-time trigger passes each record on at once, and says so: results are
// visible before the epoch that contains them is complete.
func ExampleRealTime() {
	q := stream.Query{
		Name:    "alerts",
		Source:  stream.NewKafkaSource(stream.KafkaSourceOptions{Brokers: []string{"localhost:9092"}, Topics: []string{"trades"}}),
		Sink:    stream.NewKafkaSink(stream.KafkaSinkOptions{Brokers: []string{"localhost:9092"}, Topic: "alerts"}),
		Trigger: stream.RealTime(time.Minute),
	}
	fmt.Println(q.Validate())
	q.RealTimeEnabled, q.OutputMode = true, stream.OutputUpdate
	fmt.Println(q.Validate())
	// Output:
	// query "alerts": stream: invalid query: the RealTime trigger needs Query.RealTimeEnabled = true
	// OUTPUT_MODE_NOT_SUPPORTED: stream: invalid query: the RealTime trigger writes in output mode update, not append
	// <nil>
}
