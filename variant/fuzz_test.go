package variant

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzMetadata: a dictionary is refused, or every name of it can be read and found,
// and no shorter cut of it is one.
func FuzzMetadata(f *testing.F) {
	seedEncoded(f, func(v Value) { f.Add(v.Metadata()) })
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMetadata(b)
		o := &oracle{}
		oracleErr := try(func() { o.metadata(b) })
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			require.Error(t, oracleErr)
			return
		}
		require.NoError(t, oracleErr)
		require.Equal(t, len(o.names), m.Len())
		for i, name := range o.names {
			require.Equal(t, name, m.Name(i))
			id, ok := m.ID(name)
			require.True(t, ok)
			require.Equal(t, name, m.Name(id))
			require.LessOrEqual(t, id, i)
		}
		require.ErrorIs(t, ValidateMetadata(b[:len(b)-1]), ErrCorrupt)
	})
}

// FuzzValue: bytes are refused, or read the same by every walk: JSON out parses, and
// events build a value that the oracle reads and that prints the same.
func FuzzValue(f *testing.F) {
	seedEncoded(f, func(v Value) { f.Add(v.Metadata(), v.Bytes()) })
	f.Fuzz(func(t *testing.T, meta, value []byte) {
		v, err := New(meta, value)
		u := Unchecked(meta, value)
		loose, looseErr := AppendJSON(nil, u)
		emitErr := u.Emit(discard{})
		walkAll(u, 0)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			if looseErr == nil {
				require.True(t, json.Valid(loose))
			}
			return
		}
		require.NoError(t, looseErr)
		require.NoError(t, emitErr)
		require.True(t, json.Valid(loose))
		b := NewBuilder()
		b.AppendValue(v)
		w, err := b.Value()
		require.NoError(t, err)
		require.NoError(t, w.Validate())
		_, err = oracleDecode(w.Metadata(), w.Bytes())
		require.NoError(t, err)
		require.ErrorIs(t, Validate(Unchecked(meta, value[:len(value)-1])), ErrCorrupt)
	})
}

// FuzzJSON: what encoding/json refuses is refused, what is taken decodes to what it
// sees, and prints as a text that gives the same value.
func FuzzJSON(f *testing.F) {
	for _, s := range corpus() {
		if len(s.text) < 4096 {
			f.Add([]byte(s.text))
		}
	}
	warm := NewEncoder(ParseOptions{})
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := warm.Encode(text)
		if err != nil {
			require.ErrorIs(t, err, ErrSyntax)
			loose, looseErr := NewEncoder(ParseOptions{LastKeyWins: true, ReplaceInvalid: true, NegativeZero: true}).Encode(text)
			if looseErr == nil {
				require.NoError(t, loose.Validate())
			}
			return
		}
		plain := bytes.TrimPrefix(text, []byte("\ufeff"))
		require.True(t, json.Valid(plain))
		want, err := oracleJSON(plain)
		require.NoError(t, err)
		got, err := oracleDecode(v.Metadata(), v.Bytes())
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.NoError(t, v.Validate())
		first := v.String()
		again, err := ParseJSON([]byte(first))
		require.NoError(t, err)
		var x, y any // as doubles: 1.0 of a double reads back as a decimal
		require.NoError(t, json.Unmarshal([]byte(first), &x))
		require.NoError(t, json.Unmarshal([]byte(again.String()), &y))
		require.Equal(t, x, y)
	})
}

// FuzzBuilder reads events from the input: whatever they are, the builder fails, or
// makes a value that the oracle reads as the tree the events describe.
func FuzzBuilder(f *testing.F) {
	f.Add([]byte("{a1b[123]c{}}"), false)
	f.Add([]byte("[{a1}{b1a2}{a3}]"), true)
	m := allNames()
	warm := NewBuilder()
	f.Fuzz(func(t *testing.T, in []byte, given bool) {
		warm.Reset()
		if given {
			warm.ResetMetadata(m)
		}
		b := NewBuilder()
		for _, c := range in {
			feed(warm, c)
			feed(b, c)
		}
		v, err := warm.Value()
		w, err2 := b.Value()
		if err2 != nil {
			require.Error(t, err)
			return
		}
		if err == nil {
			tree, err := oracleDecode(v.Metadata(), v.Bytes())
			require.NoError(t, err)
			want, err := oracleDecode(w.Metadata(), w.Bytes())
			require.NoError(t, err)
			require.Equal(t, want, tree)
			require.NoError(t, v.Validate())
		}
	})
}

// feed sends the event that a byte stands for.
func feed(b *Builder, c byte) {
	switch {
	case c == '{':
		b.Begin(KindObject)
	case c == '[':
		b.Begin(KindArray)
	case c == '}' || c == ']':
		b.End()
	case c >= 'a' && c <= 'z':
		b.Key([]byte{c, '0' + c%10})
	default:
		b.Int(int64(c))
	}
}

// walkAll reads everything that can be reached, through a bounded number of values.
func walkAll(v Value, depth int) {
	if depth > 20 {
		return
	}
	v.Scalar()
	v.Int64()
	v.Float64()
	v.Timestamp()
	v.Index(0)
	n := 0
	for name, x := range v.Fields() {
		v.Field(name)
		walkAll(x, depth+4)
		if n++; n > 5 {
			break
		}
	}
	for i, x := range v.Elements() {
		walkAll(x, depth+4)
		if i > 5 {
			break
		}
	}
}

// seedEncoded passes the encoded corpus to add.
func seedEncoded(f *testing.F, add func(Value)) {
	f.Helper()
	for _, s := range corpus() {
		if v, err := ParseJSON([]byte(s.text)); err == nil && len(v.Bytes()) < 4096 && len(v.Metadata()) < 4096 {
			add(v)
		}
	}
}

// try runs f and returns its panic as an error.
func try(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = ErrCorrupt
		}
	}()
	f()
	return nil
}
