package variant

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// trimSpace drops the bytes that Spark's casts drop at both ends: blanks and
// control characters.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isBlank(c byte) bool { return c <= ' ' || c == 0x7f }

// parseBool reads the words that Spark knows, in any case.
func parseBool(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 5 {
		return 0, false
	}
	var low [5]byte
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	switch string(low[:len(b)]) {
	case "t", "true", "y", "yes", "1":
		return 1, true
	case "f", "false", "n", "no", "0":
		return 0, true
	}
	return 0, false
}

// parseInt reads an optional sign and digits, nothing else.
func parseInt(b []byte) (int64, bool) {
	neg, b := takeSign(b)
	if len(b) == 0 {
		return 0, false
	}
	var x uint64
	for _, c := range b {
		if c < '0' || c > '9' || x > (1<<63)/10 {
			return 0, false
		}
		x = x*10 + uint64(c-'0')
	}
	if neg {
		return int64(-x), x <= 1<<63
	}
	return int64(x), x < 1<<63
}

func takeSign(b []byte) (neg bool, rest []byte) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		return b[0] == '-', b[1:]
	}
	return false, b
}

// parseFloat reads a decimal number, with a suffix d or f if need be, as Java does,
// or the names of infinity and NaN. It does not know Java's hexadecimal form.
func parseFloat(b []byte, bitSize int) (float64, bool) {
	if n := len(b) - 1; n > 0 && (b[n]|0x20 == 'd' || b[n]|0x20 == 'f') && (b[n-1]-'0' <= 9 || b[n-1] == '.') {
		b = b[:n]
	}
	if len(b) > 0 && !isNumberText(b) {
		switch _, word := takeSign(b); {
		case equalFold(word, "infinity"), equalFold(word, "inf"):
		case equalFold(b, "nan"):
		default:
			return 0, false
		}
	}
	x, err := strconv.ParseFloat(string(b), bitSize)
	if err != nil && (x == 0 || len(b) == 0) { // out of range gives an infinity, as in Java
		return 0, false
	}
	return x, err == nil || x > 1 || x < -1
}

// isNumberText keeps strconv's extras (hexadecimals, underscores) out.
func isNumberText(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}

func equalFold(b []byte, word string) bool {
	return len(b) == len(word) && strings.EqualFold(string(b), word)
}

// parseDecimal reads a decimal number, with an exponent or without, and rounds
// it half up to scale. It is exact for any number of digits.
func parseDecimal(b []byte, scale int) (Decimal, bool) {
	neg, b := takeSign(b)
	whole, frac, exp, ok := splitDecimal(b)
	if !ok {
		return Decimal{}, false
	}
	// The number is the digits of whole and frac, of which keep stay.
	n := len(whole) + len(frac)
	digit := func(i int) byte {
		if i < len(whole) {
			return whole[i] - '0'
		}
		return frac[i-len(whole)] - '0'
	}
	keep := len(whole) + exp + scale
	var hi, lo uint64
	for i := 0; i < min(keep, n); i++ {
		if hi, lo, ok = appendDigit(hi, lo, digit(i)); !ok {
			return Decimal{}, false
		}
	}
	for i := n; i < keep && hi|lo != 0; i++ {
		if hi, lo, ok = appendDigit(hi, lo, 0); !ok {
			return Decimal{}, false
		}
	}
	if keep >= 0 && keep < n && digit(keep) >= 5 {
		if lo++; lo == 0 {
			hi++
		}
	}
	return decimalOf(neg, hi, lo, uint8(scale)), fits38(hi, lo)
}

// ParseDecimal reads a number, with an exponent or without, and keeps its digits and
// its scale: -1.50, 12, .5 or 1.25e3. What needs more than 38 digits or a scale above
// 38 is an error that Is ErrRange, what is no number one that Is ErrCast.
func ParseDecimal(text string) (Decimal, error) {
	d, err := decimalOfText([]byte(text))
	switch {
	case errors.Is(err, ErrRange):
		return Decimal{}, fmt.Errorf("variant: %w: %.60q", err, text)
	case err != nil:
		return Decimal{}, &CastError{Kind: KindString, Value: fmt.Sprintf("%.60q", text), Type: "decimal"}
	}
	return d, nil
}

func decimalOfText(text []byte) (Decimal, error) {
	_, digits := takeSign(text)
	_, frac, exp, ok := splitDecimal(digits)
	if !ok {
		return Decimal{}, errNoCast
	}
	scale := len(frac) - exp
	if scale > MaxPrecision {
		return Decimal{}, ErrRange
	}
	d, ok := parseDecimal(text, max(scale, 0))
	if !ok {
		return Decimal{}, ErrRange
	}
	return d, nil
}

func appendDigit(hi, lo uint64, d byte) (uint64, uint64, bool) {
	hi, lo, ok := mul128(hi, lo, 10)
	if lo += uint64(d); lo < uint64(d) {
		hi++
	}
	return hi, lo, ok && fits38(hi, lo)
}

// splitDecimal splits digits[.digits][e[sign]digits]. Exponents are clamped: no
// text up to MaxSize has the digits to make up for more.
func splitDecimal(b []byte) (whole, frac []byte, exp int, ok bool) {
	i := countDigits(b)
	whole, b = b[:i], b[i:]
	if len(b) > 0 && b[0] == '.' {
		i = countDigits(b[1:])
		frac, b = b[1:1+i], b[1+i:]
	}
	if len(whole)+len(frac) == 0 {
		return nil, nil, 0, false
	}
	if len(b) == 0 {
		return whole, frac, 0, true
	}
	if b[0]|0x20 != 'e' {
		return nil, nil, 0, false
	}
	neg, b := takeSign(b[1:])
	if len(b) == 0 || countDigits(b) != len(b) {
		return nil, nil, 0, false
	}
	for _, c := range b {
		exp = min(exp*10+int(c-'0'), 200_000_000)
	}
	if neg {
		exp = -exp
	}
	return whole, frac, exp, true
}

func countDigits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

// parseDate reads [+-]yyyy, yyyy-m or yyyy-m-d with 4 to 7 digits of year; what
// follows a blank or T after the day is not looked at, as in Spark. The days have 32
// bits, so that dates end in the year 5881580.
func parseDate(b []byte) (int64, bool) {
	days, _, ok := splitDate(b, 7)
	return days, ok && days == int64(int32(days))
}

// splitDate reads a date, and leaves a rest from its separator on, which only a
// whole date can have.
func splitDate(b []byte, yearDigits int) (days int64, rest []byte, ok bool) {
	neg, b := takeSign(b)
	field := [3]int{1, 1, 1}
	for i := range field {
		n := countDigits(b)
		if i == 0 && (n < 4 || n > yearDigits) || i > 0 && (n < 1 || n > 2) {
			return 0, nil, false
		}
		field[i] = atoi(b[:n])
		b = b[n:]
		switch {
		case len(b) == 0 || i == 2 && (b[0] == ' ' || b[0] == 'T'):
			if neg {
				field[0] = -field[0]
			}
			days, ok = daysOf(field[0], field[1], field[2])
			return days, b, ok
		case i == 2 || b[0] != '-':
			return 0, nil, false
		}
		b = b[1:]
	}
	return 0, nil, false
}

// atoi is for digits that were counted.
func atoi(b []byte) int {
	x := 0
	for _, c := range b {
		x = x*10 + int(c-'0')
	}
	return x
}

// daysOf returns the days since 1970-01-01 of a day of the proleptic Gregorian
// calendar, and false when there is no such day.
func daysOf(year, month, day int) (int64, bool) {
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day || int(t.Month()) != month || day < 1 {
		return 0, false
	}
	return floorDiv(t.Unix(), 86400), true
}

// parseTimestamp reads what parseDate reads (years of 4 to 6 digits), then
// optionally a blank or T, h[h][:m[m][:s[s][.fraction]]] and, after seconds, a
// zone. Digits after the microseconds are cut off. It returns the days since the
// epoch, microseconds of the day, and those that the zone is ahead of UTC. Unlike Spark it takes no
// time without a date, which would mean today, and of zones only offsets: names
// of regions depend on the machine's zone files.
func parseTimestamp(b []byte) (days, clock, offset int64, ok bool) {
	days, rest, ok := splitDate(b, 6)
	if ok && len(rest) > 0 {
		clock, rest, ok = timestampClock(rest[1:])
	}
	if ok && len(rest) > 0 {
		offset, ok = parseZone(trimSpace(rest))
	}
	return days, clock, offset, ok
}

// addUnits returns n*unit + rest, where rest is less than two units in either
// direction; false where 64 bits do not hold it.
func addUnits(n, unit, rest int64) (int64, bool) {
	if n < 0 { // towards zero first, so that only the sum can overflow
		n, rest = n+1, rest-unit
	}
	if limit := math.MaxInt64 / unit; n > limit || n < -limit {
		return 0, false
	}
	sum := n*unit + rest
	return sum, (sum < n*unit) == (rest < 0)
}

// timestampClock reads the time of day and leaves the zone.
func timestampClock(b []byte) (us int64, rest []byte, ok bool) {
	limits := [3]int{24, 60, 60}
	units := [3]int64{3600e6, 60e6, 1e6}
	for i := range limits {
		n := countDigits(b)
		if n < 1 || n > 2 || atoi(b[:n]) >= limits[i] {
			return 0, nil, false
		}
		us += int64(atoi(b[:n])) * units[i]
		if b = b[n:]; len(b) == 0 {
			return us, nil, true
		}
		if i < 2 {
			if b[0] != ':' {
				return 0, nil, false
			}
			b = b[1:]
		}
	}
	if b[0] != '.' {
		return us, b, true
	}
	n := countDigits(b[1:])
	for i, unit := 0, int64(1e5); i < min(n, 6); i, unit = i+1, unit/10 {
		us += int64(b[1+i]-'0') * unit
	}
	return us, b[1+n:], true
}

// parseZone reads Z, UTC, GMT or UT, an offset ±h[h][[:]mm[[:]ss]], or both, and
// returns microseconds ahead of UTC, within 18 hours.
func parseZone(b []byte) (int64, bool) {
	if string(b) == "Z" {
		return 0, true
	}
	for _, name := range [...]string{"UTC", "GMT", "UT"} {
		if len(b) >= len(name) && string(b[:len(name)]) == name {
			if b = b[len(name):]; len(b) == 0 {
				return 0, true
			}
			break
		}
	}
	if len(b) == 0 || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	neg, b := takeSign(b)
	var seconds int64
	for i, unit := 0, int64(3600); i < 3 && len(b) > 0; i, unit = i+1, unit/60 {
		if i > 0 && b[0] == ':' {
			b = b[1:]
		}
		n := min(countDigits(b), 2)
		if n == 0 || i > 0 && (n != 2 || atoi(b[:n]) > 59) {
			return 0, false
		}
		seconds += int64(atoi(b[:n])) * unit
		b = b[n:]
	}
	if len(b) > 0 || seconds > 18*3600 {
		return 0, false
	}
	if neg {
		seconds = -seconds
	}
	return seconds * 1e6, true
}
