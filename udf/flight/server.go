package flight

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"time"

	arrowflight "github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/frazil/frazil/internal/ipccheck"
	"github.com/frazil/frazil/udf"
)

// defaultMessage is the size of the largest gRPC message that is taken.
const defaultMessage = 64 << 20

// grace is how long calls may go on after the server was told to stop.
const grace = time.Second

// Options are the choices of [Serve]. The zero value is the default.
type Options struct {
	// Addr is where to listen. Default "127.0.0.1:0": the loopback address,
	// any free port.
	Addr string
	// Run are the workers, memory and profiler of each call.
	Run udf.Options
	// GRPC are further options of the server: credentials, interceptors,
	// limits. Default: messages of at most 64 MiB.
	GRPC []grpc.ServerOption
	// Ready is called once the server listens, with its address.
	Ready func(net.Addr)
	// Log is where the address and failed calls are reported. Default:
	// slog.Default().
	Log *slog.Logger
}

// Serve offers functions, each by its name, until ctx ends. A function is a row
// of stages, as [udf.NewPlan] takes them; they are bound to the schema that the
// client sends. Serve returns nil when ctx ended, once all calls are over.
func Serve(ctx context.Context, functions map[string][]udf.Stage, o Options) error {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return fmt.Errorf("flight: %w", err)
	}
	opts := append([]grpc.ServerOption{grpc.MaxRecvMsgSize(defaultMessage)}, o.GRPC...)
	g := grpc.NewServer(opts...)
	arrowflight.RegisterFlightServiceServer(g, &server{ctx: ctx, functions: functions, o: o})
	o.Log.Info("serving functions over Arrow Flight", "addr", l.Addr().String(),
		"functions", slices.Sorted(maps.Keys(functions)))
	if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		o.Log.Warn("the address is not loopback: who reaches it can call the functions", "addr", a.String())
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		force := time.AfterFunc(grace, g.Stop)
		defer force.Stop()
		g.GracefulStop()
	})
	if o.Ready != nil {
		o.Ready(l.Addr())
	}
	err = g.Serve(l)
	if !stop() {
		<-stopped
		return nil
	}
	return fmt.Errorf("flight: %w", err)
}

// server is the Flight service. The methods that it does not have answer
// Unimplemented.
type server struct {
	arrowflight.BaseFlightServer
	ctx       context.Context // of the whole server
	functions map[string][]udf.Stage
	o         Options
}

// ListFlights lists the functions.
func (s *server) ListFlights(_ *arrowflight.Criteria, stream arrowflight.FlightService_ListFlightsServer) error {
	for _, name := range slices.Sorted(maps.Keys(s.functions)) {
		info := &arrowflight.FlightInfo{
			FlightDescriptor: &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorPATH, Path: []string{name}},
			TotalRecords:     -1,
			TotalBytes:       -1,
		}
		if err := stream.Send(info); err != nil {
			return err
		}
	}
	return nil
}

// DoExchange calls a function.
func (s *server) DoExchange(stream arrowflight.FlightService_DoExchangeServer) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	name, err := s.exchange(ctx, cancel, stream)
	if err != nil {
		s.o.Log.Error("function call failed", "function", name, "error", err)
		return status.Error(code(err), err.Error())
	}
	return nil
}

var errNoFunction = errors.New("flight: no such function")

// exchange runs one call. cancel ends ctx, which lets go of a client that neither
// sends nor hangs up.
func (s *server) exchange(ctx context.Context, cancel func(), stream arrowflight.FlightService_DoExchangeServer) (name string, err error) {
	defer cancel()
	in := &checkedStream{stream: stream}
	r, err := newReader(in)
	name = functionName(in.descriptor)
	if err != nil {
		return name, fmt.Errorf("%w: %w", udf.ErrStream, err)
	}
	defer r.Release()
	stages, ok := s.functions[name]
	if !ok {
		return name, fmt.Errorf("%w: %q", errNoFunction, name)
	}
	p, err := udf.NewPlan(r.Schema(), stages...)
	if err != nil {
		return name, err
	}
	w := arrowflight.NewRecordWriter(stream, ipc.WithSchema(p.Schema()))
	for b, err := range p.Run(ctx, udf.ReadStream(ctx, r), s.o.Run) {
		if err == nil {
			err = w.Write(b)
			b.Release()
		}
		if err != nil {
			cancel()
			return name, err
		}
	}
	return name, w.Close()
}

// newReader makes a reader of a stream; the library panics on some heads.
func newReader(in *checkedStream) (r *arrowflight.Reader, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return arrowflight.NewRecordReader(in)
}

// checkedStream checks the head of each message before the library sees it, and
// keeps the first descriptor.
type checkedStream struct {
	stream     arrowflight.FlightService_DoExchangeServer
	descriptor *arrowflight.FlightDescriptor
}

func (c *checkedStream) Recv() (*arrowflight.FlightData, error) {
	data, err := c.stream.Recv()
	if err != nil {
		return nil, err
	}
	if c.descriptor == nil {
		c.descriptor = data.FlightDescriptor
	}
	if len(data.DataHeader) > 0 {
		if _, err := ipccheck.Head(data.DataHeader); err != nil {
			return nil, err
		}
	}
	return data, nil
}

func functionName(d *arrowflight.FlightDescriptor) string {
	switch {
	case d == nil:
		return ""
	case len(d.Path) == 1:
		return d.Path[0]
	}
	return string(d.Cmd)
}

// code is the gRPC code of an error.
func code(err error) codes.Code {
	switch {
	case errors.Is(err, errNoFunction):
		return codes.NotFound
	case errors.Is(err, udf.ErrStream), errors.Is(err, udf.ErrType):
		return codes.InvalidArgument
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	}
	return codes.Internal
}
