package shred

import "github.com/frazil/frazil/variant"

// Texts that are dates or timestamps are shredded as such only where an option
// asks for it, because they come back as dates and timestamps, not as strings.

// temporalKind tells what a text is: KindDate for 2026-07-01, KindTimestamp for
// a date and a time with a zone, KindTimestampNTZ without, separated by T or a
// blank, with at most six digits of a fraction; KindString for everything else.
func temporalKind(b []byte) variant.Kind {
	const date, seconds = len("2026-07-01"), len("2026-07-01T01:02:03")
	if len(b) < date || !shaped(b[:date], "0000-00-00") {
		return variant.KindString
	}
	if len(b) == date {
		return variant.KindDate
	}
	if len(b) < seconds || b[date] != 'T' && b[date] != ' ' || !shaped(b[date+1:seconds], "00:00:00") {
		return variant.KindString
	}
	rest := b[seconds:]
	if len(rest) > 0 && rest[0] == '.' {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 1 || n > 7 {
			return variant.KindString
		}
		rest = rest[n:]
	}
	switch {
	case len(rest) == 0:
		return variant.KindTimestampNTZ
	case string(rest) == "Z", shaped(rest, "+00:00"), shaped(rest, "-00:00"):
		return variant.KindTimestamp
	}
	return variant.KindString
}

// shaped reports whether b has digits where the pattern has 0, and is equal to it
// elsewhere.
func shaped(b []byte, pattern string) bool {
	if len(b) != len(pattern) {
		return false
	}
	for i, c := range b {
		if pattern[i] == '0' {
			if c < '0' || c > '9' {
				return false
			}
		} else if c != pattern[i] {
			return false
		}
	}
	return true
}

// temporalTypes are the targets of the casts, by kind.
var temporalTypes = map[variant.Kind]variant.Type{
	variant.KindDate:         {ID: variant.TypeDate},
	variant.KindTimestamp:    {ID: variant.TypeTimestamp},
	variant.KindTimestampNTZ: {ID: variant.TypeTimestampNTZ},
}

// parseTemporal returns the value of a text of the given kind.
func parseTemporal(s *variant.Scalar, k variant.Kind) (variant.Scalar, bool) {
	if s.Kind != variant.KindString || temporalKind(s.Bytes) != k {
		return variant.Scalar{}, false
	}
	return variant.TryCastScalar(s, temporalTypes[k])
}
