package trade

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/frazil/frazil/internal/tradegen"
)

// TestDecodeAgreesWithTheGenerator: exactly the events that the generator calls
// bad are refused.
func TestDecodeAgreesWithTheGenerator(t *testing.T) {
	g := tradegen.New(5, tradegen.Options{Bad: 0.1})
	d := NewDecoder()
	for range 5000 {
		text, tr := g.AppendNext(nil)
		ev, err := d.Decode(text)
		if tr.Bad {
			require.ErrorIs(t, err, ErrBad, "%s", text)
			continue
		}
		require.NoError(t, err, "%s", text)
		require.Equal(t, tr.ID, ev.TradeID)
		require.Equal(t, tr.Desk, ev.Desk)
		require.Equal(t, tr.AssetClass, ev.AssetClass)
		require.Equal(t, tr.Notional, ev.Notional)
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	good := `{"trade_id":"T1","book_id":"B","desk":"D","execution_time":"2026-07-01T10:00:00.000Z",` +
		`"trade_date":"2026-07-01","notional":12.5,"pricing_vector":{"a":{"b":[1]}},"extra":[1]}`
	ev, err := NewDecoder().Decode([]byte(good))
	require.NoError(t, err)
	require.Equal(t, &Event{
		TradeID: "T1", BookID: "B", Desk: "D", ExecutionTime: "2026-07-01T10:00:00.000Z",
		TradeDate: "2026-07-01", Notional: 12.5, RiskWeight: 1, hasVector: true,
	}, ev)
	for _, c := range []struct{ old, new, reason string }{
		{`"T1"`, `null`, "trade_id is missing"},
		{`"T1"`, `7`, "string belongs"},
		{`"T1"`, `{}`, "plain value belongs"},
		{`12.5`, `"12.5"`, "number belongs"},
		{`12.5`, `-1`, "notional"},
		{`2026-07-01"`, `2026-02-30"`, "not a date"},
		{`.000Z`, `Z`, "execution_time"},
		{`{"a":{"b":[1]}}`, `[]`, "pricing_vector"},
		{`"extra"`, `"desk"`, "desk"},
	} {
		_, err := NewDecoder().Decode([]byte(strings.Replace(good, c.old, c.new, 1)))
		require.ErrorIs(t, err, ErrBad, c.new)
		require.ErrorContains(t, err, c.reason)
	}
	for n := range len(good) {
		_, err := NewDecoder().Decode([]byte(good[:n]))
		require.ErrorIs(t, err, ErrBad, good[:n])
	}
	for _, text := range []string{"[]", "7", `"x"`, good + good} {
		_, err := NewDecoder().Decode([]byte(text))
		require.ErrorIs(t, err, ErrBad, text)
	}
}
