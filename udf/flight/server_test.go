package flight

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowflight "github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/frazil/frazil/udf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var schema = arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)

func functions() map[string][]udf.Stage {
	double := udf.Scalar1("double", udf.Each(func(x float64) float64 { return 2 * x }), udf.ScalarOptions{})
	broken := udf.Scalar1("broken", func(_, _ []float64) error { return errors.New("no curve") }, udf.ScalarOptions{})
	return map[string][]udf.Stage{
		"double": {udf.With("y", double, "x")},
		"broken": {udf.With("y", broken, "x")},
		"sum":    {udf.GroupBy(nil, udf.Sum[float64]("sum", "x"))},
	}
}

// start serves for one test and returns a client.
func start(t *testing.T, o Options) (client arrowflight.Client, logged *bytes.Buffer) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	o.Run.Mem = mem
	logged = new(bytes.Buffer)
	o.Log = slog.New(slog.NewTextHandler(logged, nil))
	addr := make(chan net.Addr, 1)
	o.Ready = func(a net.Addr) { addr <- a }
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- Serve(ctx, functions(), o) }()
	client, err := arrowflight.NewClientWithMiddleware((<-addr).String(), nil, nil,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		cancel()
		require.NoError(t, <-done)
		mem.AssertSize(t, 0)
	})
	return client, logged
}

func batch(values ...float64) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Float64Builder).AppendValues(values, nil)
	return b.NewRecordBatch()
}

// call sends batches to a function and returns the last column of the results.
func call(t *testing.T, client arrowflight.Client, d *arrowflight.FlightDescriptor, batches ...arrow.RecordBatch) (string, error) {
	stream, err := client.DoExchange(context.Background())
	require.NoError(t, err)
	w := arrowflight.NewRecordWriter(stream, ipc.WithSchema(schema))
	w.SetFlightDescriptor(d)
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			break // the server has answered already
		}
	}
	if err := w.Close(); err == nil {
		require.NoError(t, stream.CloseSend())
	}
	r, err := arrowflight.NewRecordReader(stream)
	if err != nil {
		return "", err
	}
	defer r.Release()
	var out strings.Builder
	for r.Next() {
		b := r.RecordBatch()
		out.WriteString(b.Column(int(b.NumCols()) - 1).(interface{ String() string }).String())
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		return out.String(), err
	}
	return out.String(), nil
}

func path(name string) *arrowflight.FlightDescriptor {
	return &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorPATH, Path: []string{name}}
}

func TestExchange(t *testing.T) {
	client, logged := start(t, Options{})
	got, err := call(t, client, path("double"), batch(1, 2), batch(3))
	require.NoError(t, err)
	require.Equal(t, "[2 4][6]", got)
	got, err = call(t, client, path("sum"), batch(1, 2), batch(3))
	require.NoError(t, err)
	require.Equal(t, "[6]", got)
	got, err = call(t, client, path("double"))
	require.NoError(t, err)
	require.Empty(t, got)
	command := &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorCMD, Cmd: []byte("double")}
	got, err = call(t, client, command, batch(5))
	require.NoError(t, err)
	require.Equal(t, "[10]", got)
	require.Contains(t, logged.String(), "addr=127.0.0.1:", "loopback unless told otherwise, and it says so")
	require.NotContains(t, logged.String(), "not loopback")
}

func TestErrorsHaveCodes(t *testing.T) {
	client, _ := start(t, Options{})
	_, err := call(t, client, path("triple"), batch(1))
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = call(t, client, path("broken"), batch(1))
	require.Equal(t, codes.Internal, status.Code(err))
	require.ErrorContains(t, err, "function broken, batch 0: no curve")

	// A message head that is no flatbuffer.
	stream, err := client.DoExchange(context.Background())
	require.NoError(t, err)
	require.NoError(t, stream.Send(&arrowflight.FlightData{FlightDescriptor: path("double"), DataHeader: bytes.Repeat([]byte{0x7F}, 64)}))
	_, err = stream.Recv()
	require.Equal(t, codes.InvalidArgument, status.Code(err))

	// A function fails although the client neither sends more nor hangs up.
	stream, err = client.DoExchange(context.Background())
	require.NoError(t, err)
	w := arrowflight.NewRecordWriter(stream, ipc.WithSchema(schema))
	w.SetFlightDescriptor(path("broken"))
	require.NoError(t, w.Write(batch(1)))
	for err == nil {
		_, err = stream.Recv()
	}
	require.Equal(t, codes.Internal, status.Code(err))
}

func TestListFlights(t *testing.T) {
	client, _ := start(t, Options{})
	stream, err := client.ListFlights(context.Background(), &arrowflight.Criteria{})
	require.NoError(t, err)
	var names []string
	for {
		info, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names = append(names, info.FlightDescriptor.Path[0])
	}
	require.Equal(t, []string{"broken", "double", "sum"}, names)
}

// The server stops within its grace although a client holds a call open.
func TestServeStopsWithOpenCalls(t *testing.T) {
	client, _ := start(t, Options{})
	stream, err := client.DoExchange(context.Background())
	require.NoError(t, err)
	w := arrowflight.NewRecordWriter(stream, ipc.WithSchema(schema))
	w.SetFlightDescriptor(path("double"))
	require.NoError(t, w.Write(batch(1)))
	r, err := arrowflight.NewRecordReader(stream)
	require.NoError(t, err)
	require.True(t, r.Next())
	r.Release()
}

func TestServeRefusesBadAddress(t *testing.T) {
	require.Error(t, Serve(context.Background(), nil, Options{Addr: "no such host:x"}))
}
