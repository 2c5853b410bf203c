package iceberg

import (
	"strconv"
	"strings"
	"time"
)

const (
	microsPerSecond = 1_000_000
	nanosPerSecond  = 1_000_000_000
	secondsPerDay   = 86_400
)

// appendDate appends days since 1970-01-01 as 2026-07-01. A year outside
// 0 to 9999 is written with its sign or all its digits.
func appendDate(dst []byte, days int64) []byte {
	year, month, day := civil(days)
	if year < 0 {
		dst, year = append(dst, '-'), -year
	}
	dst = appendPadded(dst, year, 4)
	dst = append(dst, '-')
	dst = appendPadded(dst, int64(month), 2)
	dst = append(dst, '-')
	return appendPadded(dst, int64(day), 2)
}

// civil converts days since 1970-01-01 to the proleptic Gregorian calendar. The
// year starts in March here, so that the leap day is its last.
func civil(days int64) (year int64, month, day int) {
	days += 719_468 // days from 0000-03-01
	era := floorDiv(days, 146_097)
	doe := days - era*146_097
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy-(153*mp+2)/5) + 1
	month = int(mp) + 3
	year = yoe + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// appendTimestamp appends units since 1970-01-01 as 2026-07-01T01:02:03.123456,
// with six digits for microseconds and nine for nanoseconds, without a zone.
func appendTimestamp(dst []byte, v, perSecond int64) []byte {
	seconds := floorDiv(v, perSecond)
	days := floorDiv(seconds, secondsPerDay)
	dst = append(appendDate(dst, days), 'T')
	return appendClock(dst, seconds-days*secondsPerDay, v-seconds*perSecond, perSecond)
}

// appendTime appends units since midnight as 01:02:03.123456.
func appendTime(dst []byte, v, perSecond int64) []byte {
	seconds := floorDiv(v, perSecond)
	return appendClock(dst, seconds, v-seconds*perSecond, perSecond)
}

func appendClock(dst []byte, seconds, fraction, perSecond int64) []byte {
	dst = appendPadded(dst, seconds/3600, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, seconds/60%60, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, seconds%60, 2)
	dst = append(dst, '.')
	if perSecond == nanosPerSecond {
		return appendPadded(dst, fraction, 9)
	}
	return appendPadded(dst, fraction*(microsPerSecond/perSecond), 6)
}

func appendPadded(dst []byte, v int64, width int) []byte {
	limit := int64(10)
	for n := 1; n < width; n++ {
		if v < limit {
			dst = append(dst, '0')
		}
		limit *= 10
	}
	return strconv.AppendInt(dst, v, 10)
}

// parseDate reads 2026-07-01 as days since 1970-01-01.
func parseDate(text string) (int64, bool) {
	t, err := time.Parse(time.DateOnly, strings.TrimSpace(text))
	if err != nil {
		return 0, false
	}
	return floorDiv(t.Unix(), secondsPerDay), true
}

var timestampLayouts = []string{
	"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04", time.DateOnly,
}

// parseTimestamp reads a date with an optional time, fraction and zone as
// microseconds since 1970-01-01; without a zone the text is UTC. Digits beyond
// the microsecond are dropped.
func parseTimestamp(text string) (int64, bool) {
	text = strings.TrimSpace(text)
	if len(text) > 10 && text[10] == ' ' {
		text = text[:10] + "T" + text[11:]
	}
	if len(text) > 3 && (text[len(text)-3] == '+' || text[len(text)-3] == '-') && strings.Contains(text, ":") {
		text += ":00"
	}
	for _, layout := range timestampLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMicro(), true
		}
	}
	return 0, false
}

// parseTime reads 01:02:03.123456 as microseconds since midnight.
func parseTime(text string) (int64, bool) {
	t, err := time.Parse("15:04:05.999999999", strings.TrimSpace(text))
	if err != nil {
		return 0, false
	}
	return int64(t.Hour())*3600*microsPerSecond + int64(t.Minute())*60*microsPerSecond +
		int64(t.Second())*microsPerSecond + int64(t.Nanosecond())/1000, true
}
