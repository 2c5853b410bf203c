package iceberg

import (
	"github.com/frazil/frazil/variant"
)

// temporal reads a date, time or timestamp.
func (c *cell) temporal(text []byte) (int64, bool) {
	switch c.kind {
	case variant.KindDate:
		days, n := scanDate(text)
		return days, n > 0 && n == len(text)
	case variant.KindTime:
		v, n := scanClock(text, microsPerSecond)
		return v, n > 0 && n == len(text)
	}
	days, n := scanDate(text)
	if n == 0 {
		return 0, false
	}
	v := days * secondsPerDay
	if v*c.perSecond/c.perSecond != v {
		return 0, false
	}
	v *= c.perSecond
	if n == len(text) { // midnight
		return v, true
	}
	if text[n] != 'T' && text[n] != ' ' {
		return 0, false
	}
	text = text[n+1:]
	clock, n := scanClock(text, c.perSecond)
	if n == 0 {
		return 0, false
	}
	zone, zoned, ok := scanZone(text[n:])
	isNTZ := c.kind == variant.KindTimestampNTZ || c.kind == variant.KindTimestampNTZNanos
	if !ok || zoned && isNTZ {
		return 0, false
	}
	sum := v + clock - zone*c.perSecond
	if v > 0 && sum < 0 && clock >= zone*c.perSecond {
		return 0, false // beyond the range of nanoseconds
	}
	return sum, true
}

// scanDate reads YYYY-MM-DD at the start of b as days since 1970-01-01 and
// gives its length, 0 when there is no valid date.
func scanDate(b []byte) (days int64, n int) {
	if len(b) < 10 || b[4] != '-' || b[7] != '-' || digits(b, 0) != 4 || digits(b, 5) != 2 || digits(b, 8) < 2 {
		return 0, 0
	}
	year, month, day := number4(b), number2(b[5:]), number2(b[8:])
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, 0
	}
	return daysFromCivil(year, month, day), 10
}

func number2(b []byte) int64 { return int64(b[0]-'0')*10 + int64(b[1]-'0') }
func number4(b []byte) int64 { return number2(b)*100 + number2(b[2:]) }

func daysIn(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysFromCivil is the inverse of civil.
func daysFromCivil(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	doy := (153*(month-3)+2)/5 + day - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146_097 + doe - 719_468
}

// scanClock reads HH:MM[:SS[.fraction]] at the start of b in units since
// midnight and gives its length, 0 when there is none.
func scanClock(b []byte, perSecond int64) (v int64, n int) {
	if len(b) < 5 || b[2] != ':' || digits(b, 0) != 2 || digits(b, 3) != 2 {
		return 0, 0
	}
	hour, minute := number2(b), number2(b[3:])
	if hour > 23 || minute > 59 {
		return 0, 0
	}
	v = (hour*60 + minute) * 60
	n = 5
	if len(b) < 8 || b[5] != ':' {
		return v * perSecond, n
	}
	if digits(b, 6) != 2 || number2(b[6:]) > 59 {
		return 0, 0
	}
	v, n = (v+number2(b[6:]))*perSecond, 8
	if len(b) <= 9 || b[8] != '.' {
		return v, n
	}
	count := digits(b, 9)
	if count == 0 || count > 9 {
		return 0, 0
	}
	unit := perSecond
	for _, c := range b[9 : 9+count] {
		unit /= 10
		v += int64(c-'0') * unit
	}
	return v, 9 + count
}

// scanZone reads the rest of a timestamp as an offset in seconds: nothing, Z,
// or +HH:MM, +HHMM, +HH.
func scanZone(b []byte) (seconds int64, zoned, ok bool) {
	if len(b) == 0 {
		return 0, false, true
	}
	if string(b) == "Z" || string(b) == "z" {
		return 0, true, true
	}
	if b[0] != '+' && b[0] != '-' || len(b) < 3 || digits(b, 1) < 2 {
		return 0, false, false
	}
	sign, rest := int64(1), b[3:]
	if b[0] == '-' {
		sign = -1
	}
	hours, minutes := number2(b[1:]), int64(0)
	if len(rest) > 0 && rest[0] == ':' {
		rest = rest[1:]
	}
	switch {
	case len(rest) == 2 && digits(rest, 0) == 2:
		minutes = number2(rest)
	case len(b) != 3:
		return 0, false, false
	}
	if hours > 18 || minutes > 59 {
		return 0, false, false
	}
	return sign * (hours*3600 + minutes*60), true, true
}
