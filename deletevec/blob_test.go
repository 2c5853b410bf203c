package deletevec

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// frame wraps the bytes of a vector into a blob with right length and CRC.
func frame(vector []byte) []byte {
	body := append([]byte(blobMagic), vector...)
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
}

// directory is a count and (key, bitmap) pairs.
func directory(count uint64, entries ...any) []byte {
	b := le.AppendUint64(nil, count)
	for i := 0; i < len(entries); i += 2 {
		b = le.AppendUint32(b, uint32(entries[i].(int)))
		b = append(b, entries[i+1].([]byte)...)
	}
	return b
}

// bitmapOf is a 32-bit bitmap with one array container, chunk 0.
func bitmapOf(lows ...uint16) []byte {
	b := le.AppendUint32(nil, cookieNoRuns)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, uint16(len(lows)-1))
	b = le.AppendUint32(b, 16)
	for _, x := range lows {
		b = le.AppendUint16(b, x)
	}
	return b
}

// runsOf is a 32-bit bitmap with one runs container of (first, length-1) pairs.
func runsOf(card int, pairs ...uint16) []byte {
	b := le.AppendUint32(nil, cookieRuns)
	b = append(b, 1)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, uint16(card-1))
	b = le.AppendUint16(b, uint16(len(pairs)/2))
	for _, x := range pairs {
		b = le.AppendUint16(b, x)
	}
	return b
}

func TestBlobRoundTrip(t *testing.T) {
	for name, positions := range shapes() {
		for how, build := range builders {
			t.Run(name+"/"+how, func(t *testing.T) {
				v := build(t, positions)
				b, err := AppendBlob([]byte("prefix"), v)
				require.NoError(t, err)
				got, err := ParseBlob(b[len("prefix"):])
				require.NoError(t, err)
				require.Equal(t, distinct(positions), slices.Collect(got.All()))
				require.Equal(t, v.Cardinality(), got.Cardinality())
				// The bytes depend on the set, not on how it was built.
				ref, err := AppendBlob(nil, builders["AddMany"](t, positions))
				require.NoError(t, err)
				require.Equal(t, ref, b[len("prefix"):])
			})
		}
	}
}

// The bytes of the spec, byte by byte: position 42 of a file.
func TestBlobBytes(t *testing.T) {
	b, err := AppendBlob(nil, builders["Add"](t, []int64{42}))
	require.NoError(t, err)
	want := "00000022" + "d1d33964" + // 34 bytes of magic and vector
		"0100000000000000" + "00000000" + // one bitmap, key 0
		"3a300000" + "01000000" + "0000" + "0000" + "10000000" + "2a00" // one array of one value at offset 16
	require.Equal(t, want, hex.EncodeToString(b[:len(b)-4]))
	require.Equal(t, crc32.ChecksumIEEE(b[4:len(b)-4]), binary.BigEndian.Uint32(b[len(b)-4:]))
	require.Len(t, b, 42)
}

// A container takes the smallest form, which shows in the size of the blob.
func TestContainerForms(t *testing.T) {
	const head = minBlob + 4 + 8 // frame, key, cookie and count
	for name, want := range map[string]int{
		"array limit": head + 8 + 2*4096,                // as large as a bitmap, still an array
		"bitmap":      head + 8 + bitsBytes,             //
		"whole chunk": minBlob + 4 + 4 + 1 + 4 + 2 + 4,  // runs cookie, flags, head, count, one run
		"runs":        minBlob + 4 + 4 + 1 + 8 + 14 + 6, // two containers, no offset table
	} {
		b, err := AppendBlob(nil, builders["AddMany"](t, shapes()[name]))
		require.NoError(t, err)
		require.Len(t, b, want, name)
	}
}

// Every strict prefix is an error, with and without a repaired frame.
func TestPrefixesFail(t *testing.T) {
	for name, positions := range shapes() {
		b, err := AppendBlob(nil, builders["AddMany"](t, positions))
		require.NoError(t, err)
		step := max(1, len(b)/500)
		for n := 0; n < len(b); n += step {
			_, err := ParseBlob(b[:n])
			require.ErrorIs(t, err, ErrCorrupt, "%s: %d of %d bytes", name, n, len(b))
		}
		vector := b[8 : len(b)-4]
		for n := 0; n < len(vector); n += step {
			_, err := ParseBlob(frame(vector[:n]))
			require.ErrorIs(t, err, ErrCorrupt, "%s: %d of %d bytes of the vector", name, n, len(vector))
		}
	}
}

// D09: order, repetition and counts of the directory, and the structure below.
func TestD09Directory(t *testing.T) {
	one := bitmapOf(1)
	good := directory(2, 0, one, 1, one)
	v, err := ParseBlob(frame(good))
	require.NoError(t, err)
	require.Equal(t, []int64{1, 1<<32 + 1}, slices.Collect(v.All()))

	bitmap := func(card int, fill byte) []byte {
		b := le.AppendUint32(nil, cookieNoRuns)
		b = le.AppendUint32(b, 1)
		b = le.AppendUint32(b, uint32(card-1)<<16)
		b = le.AppendUint32(b, 16)
		return append(b, slices.Repeat([]byte{fill}, bitsBytes)...)
	}
	twoChunks := func(a, b uint16) []byte {
		out := le.AppendUint32(nil, cookieNoRuns)
		out = le.AppendUint32(out, 2)
		out = le.AppendUint32(le.AppendUint32(out, uint32(a)), uint32(b))
		out = le.AppendUint32(le.AppendUint32(out, 24), 26)
		return append(out, 1, 0, 1, 0)
	}
	for name, vector := range map[string][]byte{
		"keys descend":           directory(2, 1, one, 0, one),
		"keys repeat":            directory(2, 0, one, 0, one),
		"key of 2^31":            directory(1, 0x80000000, one),
		"count 2^62":             directory(1<<62, 0, one),
		"count 2^64-1":           directory(math.MaxUint64, 0, one),
		"count too small":        directory(1, 0, one, 1, one),
		"count too large":        directory(3, 0, one, 1, one),
		"3 bytes after":          append(directory(1, 0, one), 0, 0, 0),
		"no bitmap":              directory(0),
		"only an empty bitmap":   directory(1, 0, []byte{0x3a, 0x30, 0, 0, 0, 0, 0, 0}),
		"unknown cookie":         directory(1, 0, []byte{1, 2, 3, 4, 0, 0, 0, 0}),
		"65,537 containers":      directory(1, 0, []byte{0x3a, 0x30, 0, 0, 1, 0, 1, 0}),
		"containers without end": directory(1, 0, []byte{0x3a, 0x30, 0, 0, 0, 0, 1, 0}),
		"array descends":         directory(1, 0, bitmapOf(5, 4)),
		"array repeats":          directory(1, 0, bitmapOf(5, 5)),
		"long array descends":    directory(1, 0, bitmapOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 3, 40000)),
		"bitmap of another card": directory(1, 0, bitmap(5000, 0xFF)),
		"runs overlap":           directory(1, 0, runsOf(20, 0, 9, 9, 9)),
		"runs descend":           directory(1, 0, runsOf(2, 9, 0, 3, 0)),
		"run past the chunk":     directory(1, 0, runsOf(11, 65530, 10)),
		"runs of another card":   directory(1, 0, runsOf(3, 0, 9)),
		"no runs":                directory(1, 0, runsOf(1)),
		"chunks descend":         directory(1, 0, twoChunks(1, 0)),
		"chunks repeat":          directory(1, 0, twoChunks(1, 1)),
		"offset table lies":      directory(1, 0, append(bitmapOf(7)[:12:12], 0x12, 0, 0, 0, 7, 0)),
	} {
		_, err := ParseBlob(frame(vector))
		require.ErrorIs(t, err, ErrCorrupt, name)
		var e *Error
		require.ErrorAs(t, err, &e, name)
	}
	v, err = ParseBlob(frame(directory(1, 0, bitmap(65536, 0xFF))))
	require.NoError(t, err)
	require.Equal(t, int64(65536), v.Cardinality())
}

// D11: engines that index bitmaps by key write empty ones between two that are
// used; a reader must take them, a writer must not make them.
func TestD11EmptyBitmapsBetweenKeys(t *testing.T) {
	empty := []byte{0x3a, 0x30, 0, 0, 0, 0, 0, 0}
	v, err := ParseBlob(frame(directory(4, 0, empty, 1, bitmapOf(3), 2, empty, 3, bitmapOf(9))))
	require.NoError(t, err)
	require.Equal(t, []int64{1<<32 + 3, 3<<32 + 9}, slices.Collect(v.All()))
	b, err := AppendBlob(nil, v)
	require.NoError(t, err)
	require.Equal(t, uint64(2), le.Uint64(b[8:]))
}

// D12: every field of the frame.
func TestD12Framing(t *testing.T) {
	good := frame(directory(1, 0, bitmapOf(1, 2, 3)))
	_, err := ParseBlob(good)
	require.NoError(t, err)
	change := func(at int, to ...byte) []byte {
		b := slices.Clone(good)
		copy(b[at:], to)
		return b
	}
	n := len(good)
	length := byte(n - 8)
	for name, c := range map[string]struct {
		blob   []byte
		offset int64
	}{
		"checksum":                     {change(n-1, good[n-1]^1), int64(n - 4)},
		"vector byte":                  {change(n-6, good[n-6]^1), int64(n - 4)},
		"length that counts the CRC":   {change(3, length+4), 0},
		"length that counts itself":    {change(3, length-4), 0},
		"little-endian length":         {change(0, length, 0, 0, 0), 0},
		"magic":                        {change(4, 0xD1^1), 4},
		"magic in little-endian order": {change(4, 0x64, 0x39, 0xD3, 0xD1), 4},
		"11 bytes":                     {good[:11], 0},
		"nothing":                      {nil, 0},
	} {
		_, err := ParseBlob(c.blob)
		require.ErrorIs(t, err, ErrCorrupt, name)
		var e *Error
		require.ErrorAs(t, err, &e, name)
		require.Equal(t, c.offset, e.Offset, name)
	}
	// Cardinality 0: a vector that deletes nothing says that something is wrong.
	empty, err := AppendBlob(nil, new(Vector))
	require.NoError(t, err)
	_, err = ParseBlob(empty)
	require.ErrorIs(t, err, ErrCorrupt)
}

// Comparing four values at a time must agree with one at a time, for every
// place and kind of fault.
func TestAscendsMatchesSlowScan(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 15, 16, 17, 18, 33, 34, 35, 70, 655} {
		for _, top := range []int{0, n / 2, n} { // where values pass 0x8000
			b := make([]byte, 2*n)
			for i := range n {
				x := uint16(i * 20)
				if i >= top {
					x |= 0x8000
				}
				le.PutUint16(b[2*i:], x)
			}
			require.True(t, ascends(b))
			for i := range n {
				x := le.Uint16(b[2*i:])
				for _, y := range []uint16{0, x - 1, x + 1, x ^ 0x8000, x - 20, x + 20, 0x7FFF, 0x8000, 0xFFFF} {
					le.PutUint16(b[2*i:], y)
					require.Equal(t, ascendsSlow(b), ascends(b), "%d values, value %d is %d", n, i, y)
				}
				le.PutUint16(b[2*i:], x)
			}
		}
	}
}
