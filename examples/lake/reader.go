package main

import (
	"context"
	"io"
)

// contextReader reads ahead in a goroutine of its own, so that a reader that
// waits for a terminal or a pipe gives up when the context ends.
type contextReader struct {
	ctx    context.Context
	blocks <-chan block
	free   chan<- []byte
	cur    block
	at     int
}

// block is what one read returned.
type block struct {
	data []byte
	err  error
}

const (
	blockSize  = 1 << 20
	blockCount = 3
)

func newContextReader(ctx context.Context, in io.Reader) *contextReader {
	blocks := make(chan block)
	free := make(chan []byte, blockCount)
	for range blockCount {
		free <- make([]byte, blockSize)
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case buf := <-free:
				n, err := in.Read(buf)
				select {
				case <-ctx.Done():
					return
				case blocks <- block{buf[:n], err}:
				}
				if err != nil {
					return
				}
			}
		}
	}()
	return &contextReader{ctx: ctx, blocks: blocks, free: free}
}

// Read implements io.Reader.
func (r *contextReader) Read(p []byte) (int, error) {
	for r.at == len(r.cur.data) {
		if r.cur.err != nil {
			return 0, r.cur.err
		}
		if r.cur.data != nil {
			r.free <- r.cur.data[:cap(r.cur.data)]
		}
		select {
		case <-r.ctx.Done():
			return 0, context.Cause(r.ctx)
		case r.cur = <-r.blocks:
			r.at = 0
		}
	}
	n := copy(p, r.cur.data[r.at:])
	r.at += n
	return n, nil
}
