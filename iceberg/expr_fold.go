package iceberg

import (
	"encoding/hex"
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	ice "github.com/apache/iceberg-go"
)

// fold gives the literal the type of the node's column and stores it, or turns
// the node into a constant when no value of the column can decide it otherwise:
// an int column is never equal to 1.5, and is below it exactly when it is at
// most 1. It returns what is wrong, or "".
func (n *boundNode) fold(l literal) string {
	c := n.left.class
	if l.kind == litRaw {
		n.lit = value{i: l.i, s: l.text}
		return ""
	}
	switch c.domain {
	case domainBool:
		return n.foldBool(l)
	case domainInt:
		return n.foldInt(l)
	case domainFloat:
		return n.foldFloat(l)
	case domainDecimal:
		num, ok := numberOf(l)
		if !ok {
			return mismatch(l, c)
		}
		n.foldUnits(num, c.scale, func(u *big.Int) (value, bool) {
			if u.BitLen() > 126 {
				return value{}, false
			}
			return value{d: decimal128.FromBigInt(u)}, true
		})
		return ""
	case domainBytes:
		return n.foldBytes(l)
	case domainNone:
	}
	return mismatch(l, c)
}

func mismatch(l literal, c class) string {
	return l.String() + " does not compare with a column of type " + c.typ.String()
}

func (n *boundNode) constant(v bool) {
	switch n.op {
	case opSame: // never null: unequal for every row
		*n = boundNode{op: opConst, value: triOf(v != n.neg)}
	default:
		*n = boundNode{op: opConst, value: triOf(v), has: true, left: n.left}
	}
}

func (n *boundNode) foldBool(l literal) string {
	switch {
	case l.kind == litBool:
		n.lit.i = int64(triOf(l.b) / 2)
	case l.kind == litText && strings.EqualFold(l.text, "true"):
		n.lit.i = 1
	case l.kind == litText && strings.EqualFold(l.text, "false"):
		n.lit.i = 0
	default:
		return mismatch(l, n.left.class)
	}
	return ""
}

// numberOf takes a number, or a text that reads as one.
func numberOf(l literal) (number, bool) {
	switch l.kind {
	case litNumber:
		return l.num, true
	case litText:
		return parseNumberText(l.text)
	case litNull, litBool, litBinary, litDate, litTimestamp, litTimestampNTZ:
	}
	return number{}, false
}

// foldUnits compares a column that counts units of 10^-scale with num: exactly
// when num is whole units, else with the next unit below it.
func (n *boundNode) foldUnits(num number, scale int, units func(*big.Int) (value, bool)) {
	floor, exact := num.floor(scale)
	v, fits := units(floor)
	n.foldFloor(v, fits, exact, num.coef.Sign() > 0)
}

// foldFloor finishes the fold: v is the largest unit not above the literal,
// fits says whether a column can hold it, exact whether it is the literal, and
// above on which side a literal that does not fit lies.
func (n *boundNode) foldFloor(v value, fits, exact, above bool) {
	if !fits {
		switch n.op {
		case opLt, opLe:
			n.constant(above)
		case opGt, opGe:
			n.constant(!above)
		default:
			n.constant(n.op == opNe)
		}
		return
	}
	n.lit = v
	if exact {
		return
	}
	switch n.op {
	case opLt:
		n.op = opLe
	case opGe:
		n.op = opGt
	case opLe, opGt:
	default:
		n.constant(n.op == opNe)
	}
}

func (n *boundNode) foldInt(l literal) string {
	c := n.left.class
	if isNumeric(c) {
		num, ok := numberOf(l)
		if !ok {
			return mismatch(l, c)
		}
		n.foldUnits(num, 0, func(u *big.Int) (value, bool) { return value{i: u.Int64()}, u.IsInt64() })
		return ""
	}
	perDay, ok := unitsPerDay(c.typ)
	if !ok {
		return mismatch(l, c)
	}
	if _, isTime := c.typ.(ice.TimeType); isTime {
		micros, ok := parseTime(l.text)
		if l.kind != litText || !ok {
			return mismatch(l, c)
		}
		n.lit.i = micros
		return ""
	}
	micros, ok := momentOf(l)
	if !ok {
		return mismatch(l, c)
	}
	const microsPerDay = secondsPerDay * microsPerSecond
	units := new(big.Int).Mul(big.NewInt(micros), big.NewInt(perDay))
	floor, rest := units.DivMod(units, big.NewInt(microsPerDay), new(big.Int))
	n.foldFloor(value{i: floor.Int64()}, floor.IsInt64(), rest.Sign() == 0, micros > 0)
	return ""
}

// unitsPerDay returns how many stored units of a date or time type make a day.
func unitsPerDay(t ice.Type) (int64, bool) {
	switch t.(type) {
	case ice.DateType:
		return 1, true
	case ice.TimeType, ice.TimestampType, ice.TimestampTzType:
		return secondsPerDay * microsPerSecond, true
	case ice.TimestampNsType, ice.TimestampTzNsType:
		return secondsPerDay * nanosPerSecond, true
	}
	return 0, false
}

// momentOf returns a date or timestamp literal, or a text that reads as one, in
// microseconds.
func momentOf(l literal) (int64, bool) {
	switch l.kind {
	case litDate:
		return l.i * secondsPerDay * microsPerSecond, true
	case litTimestamp, litTimestampNTZ:
		return l.i, true
	case litText:
		return parseTimestamp(l.text)
	case litNull, litBool, litNumber, litBinary:
	}
	return 0, false
}

func (n *boundNode) foldFloat(l literal) string {
	if l.kind == litText {
		switch strings.ToLower(strings.TrimSpace(l.text)) {
		case "nan":
			n.lit.f = math.NaN()
			return ""
		case "infinity", "inf", "+infinity", "+inf":
			n.lit.f = math.Inf(1)
			return ""
		case "-infinity", "-inf":
			n.lit.f = math.Inf(-1)
			return ""
		}
	}
	num, ok := numberOf(l)
	if !ok {
		return mismatch(l, n.left.class)
	}
	n.lit.f = num.f
	return ""
}

func (n *boundNode) foldBytes(l literal) string {
	c := n.left.class
	switch c.typ.(type) {
	case ice.StringType:
		if l.kind != litText {
			return mismatch(l, c) + "; write it in quotes"
		}
	case ice.UUIDType:
		raw, err := hex.DecodeString(strings.ReplaceAll(l.text, "-", ""))
		if l.kind != litText || err != nil || len(raw) != 16 {
			return mismatch(l, c)
		}
		n.lit.s = string(raw)
		return ""
	default:
		if l.kind != litBinary && l.kind != litText {
			return mismatch(l, c)
		}
	}
	n.lit.s = l.text
	return ""
}
