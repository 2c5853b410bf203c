package arrowvariant

import (
	arrowgo "github.com/apache/arrow-go/v18/parquet/variant"

	"github.com/frazil/frazil/variant"
)

// FromValue returns an arrow-go value as a view of the same bytes, after checking
// all of them: arrow-go accepts bytes that the encoding does not. An error Is
// variant.ErrCorrupt.
func FromValue(v arrowgo.Value) (variant.Value, error) {
	return variant.New(v.Metadata().Bytes(), v.Bytes())
}

// ToValue returns v as an arrow-go value over the same bytes. arrow-go refuses some
// valid values; its error is passed on. A missing value is an error that Is
// variant.ErrUsage.
func ToValue(v variant.Value) (arrowgo.Value, error) {
	if v.IsMissing() {
		return arrowgo.Value{}, variant.ErrUsage
	}
	return arrowgo.New(v.Metadata(), v.Bytes())
}
