package tradegen

// appendBad writes an event that must not become a row: text that is not one
// JSON object, or an object that lacks what every trade has.
func (g *Gen) appendBad(dst []byte, t *Trade) []byte {
	switch kind := g.rng.IntN(7); kind {
	case 0: // cut off in transfer
		from := len(dst)
		dst = g.appendEvent(dst, t, "")
		return dst[:from+1+g.rng.IntN(len(dst)-from-1)]
	case 1:
		return g.appendEvent(dst, t, "pricing_vector")
	case 2:
		return g.appendEvent(dst, t, "trade_id")
	case 3:
		return g.appendEvent(dst, t, "trade_date")
	case 4: // a number where an object belongs
		dst = g.appendEvent(dst, t, "pricing_vector")
		return append(dst[:len(dst)-1], `,"pricing_vector":12.5}`...)
	case 5: // two records glued together
		dst = g.appendEvent(dst, t, "")
		return append(dst, `{"trade_id":"T`...)
	default: // a byte that no UTF-8 text has
		dst = g.appendEvent(dst, t, "region")
		return append(dst[:len(dst)-1], ",\"comment\":\"caf\xe9\"}"...)
	}
}
