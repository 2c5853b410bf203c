package variant

import (
	"encoding/base64"
	"math"
)

// AppendScalarJSON appends s as JSON: null, booleans, numbers and strings as such;
// what JSON has no form for as a string.
//
//	NaN, infinities    "NaN" "Infinity" "-Infinity"
//	timestamps         "2026-07-01 01:02:03.123456+00:00", the zone only where the kind has one
//	date, time         "2026-07-01" "01:02:03.123456"
//	binary             padded base64
//	uuid               "f24f9b64-81fa-49d1-b74e-8c09a6e31c56"
//
// Text that is not UTF-8 gets U+FFFD where it is not.
func AppendScalarJSON(dst []byte, s *Scalar) []byte {
	switch s.Kind {
	case KindNull, KindBool, KindInt8, KindInt16, KindInt32, KindInt64,
		KindDecimal4, KindDecimal8, KindDecimal16:
		return AppendScalarText(dst, s)
	case KindFloat, KindDouble:
		if !math.IsNaN(s.Float) && !math.IsInf(s.Float, 0) {
			return AppendScalarText(dst, s)
		}
	case KindString:
		return appendQuoted(dst, s.Bytes)
	case KindTimestamp, KindTimestampNanos:
		dst = AppendScalarText(append(dst, '"'), s)
		return append(dst, "+00:00\""...)
	case KindDate, KindTime, KindTimestampNTZ, KindTimestampNTZNanos, KindBinary, KindUUID,
		KindMissing, KindArray, KindObject:
	}
	return append(AppendScalarText(append(dst, '"'), s), '"')
}

// AppendScalarText appends s as text, the form of a cast to string, but for
// binary, which is in base64. Exact numbers lose the zeros behind their fraction;
// doubles and floats are the shortest that read back the same, in Java's notation,
// as Spark has them (1.0, 5.0E-5, 1.5E300); timestamps have no zone. Years beyond
// 9999 have a sign.
func AppendScalarText(dst []byte, s *Scalar) []byte {
	switch s.Kind {
	case KindNull:
		return append(dst, "null"...)
	case KindBool:
		if s.Int != 0 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return appendInt(dst, s.Int)
	case KindDecimal4, KindDecimal8, KindDecimal16:
		return s.Dec().appendTrimmed(dst)
	case KindFloat:
		return appendFloat(dst, s.Float, 32)
	case KindDouble:
		return appendFloat(dst, s.Float, 64)
	case KindString:
		return append(dst, s.Bytes...)
	case KindBinary:
		return base64.StdEncoding.AppendEncode(dst, s.Bytes)
	case KindUUID:
		return appendUUID(dst, s.Bytes)
	case KindDate:
		return appendDate(dst, s.Int)
	case KindTime:
		return appendClock(dst, floorMod(s.Int, microsPerDay)*1000)
	case KindTimestamp, KindTimestampNTZ:
		return appendStamp(dst, floorDiv(s.Int, microsPerDay), floorMod(s.Int, microsPerDay)*1000)
	case KindTimestampNanos, KindTimestampNTZNanos:
		return appendStamp(dst, floorDiv(s.Int, nanosPerDay), floorMod(s.Int, nanosPerDay))
	case KindMissing, KindArray, KindObject:
	}
	return dst
}

// appendUUID appends the usual text of 16 bytes.
func appendUUID(dst, id []byte) []byte {
	for i, x := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[x>>4], hexDigits[x&15])
	}
	return dst
}

const microsPerDay = 86_400_000_000

func floorMod(x, y int64) int64 {
	m := x % y
	if m < 0 {
		m += y
	}
	return m
}

func appendStamp(dst []byte, days, nanos int64) []byte {
	return appendClock(append(appendDate(dst, days), ' '), nanos)
}

// appendDate appends days since 1970-01-01 as year-month-day of the proleptic
// Gregorian calendar, whose years are counted here from March of year 0, so that
// leap days come last; 400 of them have 146,097 days.
func appendDate(dst []byte, days int64) []byte {
	const days400 = 146_097
	z := days + 719_468 // days since 0000-03-01
	era, doe := floorDiv(z, days400), floorMod(z, days400)
	yoe := (doe - doe/1460 + doe/36524 - doe/(days400-1)) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day := doy - (153*mp+2)/5 + 1
	year, month := era*400+yoe, mp+3
	if month > 12 {
		year, month = year+1, month-12
	}
	switch {
	case year > 9999:
		dst = append(dst, '+')
	case year < 0:
		dst, year = append(dst, '-'), -year
	}
	dst = appendPadded(dst, uint64(year), 4)
	dst = appendPadded(append(dst, '-'), uint64(month), 2)
	return appendPadded(append(dst, '-'), uint64(day), 2)
}

// appendClock appends nanoseconds since midnight, the fraction without the zeros at
// its end.
func appendClock(dst []byte, nanos int64) []byte {
	sec, frac := uint64(nanos)/1e9, uint64(nanos)%1e9
	dst = appendPadded(dst, sec/3600, 2)
	dst = appendPadded(append(dst, ':'), sec/60%60, 2)
	dst = appendPadded(append(dst, ':'), sec%60, 2)
	if frac == 0 {
		return dst
	}
	digits := 9
	for frac%10 == 0 {
		frac, digits = frac/10, digits-1
	}
	return appendPadded(append(dst, '.'), frac, digits)
}
