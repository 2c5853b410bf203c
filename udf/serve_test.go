package udf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func ipcStream(t testing.TB, schema *arrow.Schema, trades []trade, size int) []byte {
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema))
	for b := range streamOf(memory.DefaultAllocator, trades, size) {
		require.NoError(t, w.Write(b))
		b.Release()
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func TestServe(t *testing.T) {
	mem := checked(t)
	trades := randomTrades(1, 500)
	stages := []Stage{With("delta", double(), "delta"), Select("delta", "id")}
	want := collect(t, plan(t, stages...), streamOf(mem, trades, 500), Options{Mem: mem})
	for _, rows := range []int{0, 1, 500} {
		var out bytes.Buffer
		in := ipcStream(t, tradeSchema, trades[:rows], 70)
		require.NoError(t, Serve(context.Background(), bytes.NewReader(in), &out, Options{Mem: mem}, stages...))
		r, err := ipc.NewReader(&out)
		require.NoError(t, err)
		require.Equal(t, 2, r.Schema().NumFields(), "the schema is there without rows as well")
		var got []string
		for b, err := range ReadStream(context.Background(), r) {
			require.NoError(t, err)
			got = append(got, rowTexts(b)...)
			b.Release()
		}
		r.Release()
		require.Equal(t, want[:rows], append([]string{}, got...))
	}
}

// Broken input is an error: every strict prefix of a stream that lacks a whole
// message, and damaged bytes; never a panic.
func TestServeBrokenInput(t *testing.T) {
	in := ipcStream(t, tradeSchema, randomTrades(1, 40), 20)
	serve := func(b []byte) error {
		return Serve(context.Background(), bytes.NewReader(b), new(bytes.Buffer), Options{}, With("x", double(), "delta"))
	}
	require.NoError(t, serve(in))
	failed := 0
	for n := range len(in) {
		if err := serve(in[:n]); err != nil {
			require.ErrorIs(t, err, ErrStream, "%d bytes", n)
			failed++
		}
	}
	// A stream may end after any message.
	require.GreaterOrEqual(t, failed, len(in)-20)
	for i := range in {
		for _, flip := range []byte{0xFF, 0x80, 1} {
			b := bytes.Clone(in)
			b[i] ^= flip
			if err := serve(b); err != nil {
				require.NotErrorIs(t, err, ErrPanic, "byte %d", i)
			}
		}
	}
	require.ErrorIs(t, serve([]byte("this is no Arrow stream")), ErrStream)
}

type brokenPipe struct{ left int }

var errPipe = errors.New("broken pipe")

func (w *brokenPipe) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errPipe
	}
	return len(b), nil
}

func TestServeFailures(t *testing.T) {
	mem := checked(t)
	in := ipcStream(t, tradeSchema, randomTrades(1, 400), 20)
	for _, left := range []int{0, 500, 3000} {
		err := Serve(context.Background(), bytes.NewReader(in), &brokenPipe{left}, Options{Mem: mem}, With("x", double(), "delta"))
		require.ErrorIs(t, err, errPipe)
	}
	err := Serve(context.Background(), bytes.NewReader(in), new(bytes.Buffer), Options{Mem: mem}, With("x", double(), "gamma"))
	require.ErrorIs(t, err, ErrType)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = Serve(ctx, bytes.NewReader(in), new(bytes.Buffer), Options{Mem: mem}, With("x", double(), "delta"))
	require.ErrorIs(t, err, context.Canceled)
}

// A function that fails ends the call although the peer neither sends more nor
// hangs up.
func TestServeDoesNotWaitForASilentPeer(t *testing.T) {
	in := ipcStream(t, tradeSchema, randomTrades(1, 40), 20)
	pr, pw := io.Pipe()
	go func() { _, _ = pw.Write(in[:len(in)-8]) }() // without the mark of the end
	fails := Scalar1("fails", func(_, _ []float64) error { return errPipe }, ScalarOptions{})
	err := Serve(context.Background(), pr, new(bytes.Buffer), Options{}, With("x", fails, "delta"))
	require.ErrorIs(t, err, errPipe)
	require.NoError(t, pr.Close()) // the goroutine that reads ends
}

// FuzzServe mutates streams: an error or an answer, never a panic, and no memory
// that the bytes do not back, but for the one buffer that MaxMessage allows.
func FuzzServe(f *testing.F) {
	f.Add(ipcStream(f, tradeSchema, randomTrades(1, 40), 20))
	f.Add(ipcStream(f, tradeSchema, nil, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		err := Serve(context.Background(), bytes.NewReader(b), new(bytes.Buffer), Options{Workers: 1}, Select("id", "desk"))
		if err != nil {
			require.NotErrorIs(t, err, ErrPanic)
		}
	})
}
