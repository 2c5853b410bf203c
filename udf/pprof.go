package udf

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"time"
)

// WritePprof writes the profiles in the format of go tool pprof: one function a
// sample, with its batches, rows, wall time, CPU time and allocated bytes as
// sample types (pprof -sample_index=wall, cpu, rows, ...). It is a gzipped
// profile.proto.
func (p *Profiler) WritePprof(w io.Writer) error {
	zw := gzip.NewWriter(w)
	if _, err := zw.Write(p.proto(time.Now())); err != nil {
		return err
	}
	return zw.Close()
}

// Field numbers of profile.proto.
const (
	profileSampleType  = 1
	profileSample      = 2
	profileLocation    = 4
	profileFunction    = 5
	profileStrings     = 6
	profileTime        = 9
	profileDefaultType = 14

	valueTypeType = 1
	valueTypeUnit = 2

	sampleLocations = 1
	sampleValues    = 2

	locationID   = 1
	locationLine = 4
	lineFunction = 1

	functionID         = 1
	functionName       = 2
	functionSystemName = 3
)

// proto encodes the profiles as a Profile message.
func (p *Profiler) proto(now time.Time) []byte {
	table := []string{""} // index 0 is the empty string
	text := func(s string) uint64 {
		table = append(table, s)
		return uint64(len(table) - 1)
	}
	var out message
	for _, t := range [][2]string{
		{"batches", "count"}, {"rows", "count"}, {"cpu", "nanoseconds"}, {"alloc", "bytes"}, {"wall", "nanoseconds"},
	} {
		out.message(profileSampleType, new(message).uint(valueTypeType, text(t[0])).uint(valueTypeUnit, text(t[1])))
	}
	out.uint(profileDefaultType, uint64(len(table)-2)) // wall
	for i, f := range p.Profiles() {
		id, name := uint64(i+1), text(f.Name)
		values := []int64{f.Batches, f.Rows, max(0, f.CPU.Nanoseconds()), f.Alloc, f.Wall.Nanoseconds()}
		sample := new(message).uint(sampleLocations, id)
		for _, x := range values {
			sample.uint(sampleValues, uint64(x))
		}
		out.message(profileSample, sample)
		line := new(message).uint(lineFunction, id)
		out.message(profileLocation, new(message).uint(locationID, id).message(locationLine, line))
		out.message(profileFunction, new(message).uint(functionID, id).uint(functionName, name).uint(functionSystemName, name))
	}
	for _, s := range table {
		out.bytes(profileStrings, []byte(s))
	}
	out.uint(profileTime, uint64(now.UnixNano()))
	return out.b
}

// message is a Protocol Buffers message in the making: varints and
// length-delimited fields are all that a profile needs.
type message struct{ b []byte }

func (m *message) uint(field int, x uint64) *message {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3)
	m.b = binary.AppendUvarint(m.b, x)
	return m
}

func (m *message) bytes(field int, b []byte) *message {
	m.b = binary.AppendUvarint(m.b, uint64(field)<<3|2)
	m.b = binary.AppendUvarint(m.b, uint64(len(b)))
	m.b = append(m.b, b...)
	return m
}

func (m *message) message(field int, sub *message) *message { return m.bytes(field, sub.b) }
