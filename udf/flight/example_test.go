package flight_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/frazil/frazil/udf"
	"github.com/frazil/frazil/udf/flight"
)

func ExampleServe() {
	double := udf.Scalar1("double", udf.Each(func(x float64) float64 { return 2 * x }), udf.ScalarOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	err := flight.Serve(ctx, map[string][]udf.Stage{"double": {udf.With("y", double, "x")}}, flight.Options{
		Log: slog.New(slog.DiscardHandler),
		Ready: func(a net.Addr) {
			fmt.Println("on loopback:", a.(*net.TCPAddr).IP.IsLoopback())
			cancel() // a real program waits for a signal
		},
	})
	fmt.Println(err)
	// Output:
	// on loopback: true
	// <nil>
}
